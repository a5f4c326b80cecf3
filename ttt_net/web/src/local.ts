/** Two players on this device, with no server: the games of lines, whose rules are in the catalogue. */

import { page, ui } from "./app.js";
import { board, landing, type Look, sizes } from "./board.js";
import { CATALOGUE, type Listed } from "./catalogue.js";
import { button, h, type Tree } from "./dom.js";
import { f, w } from "./i18n.js";
import { bar, shelf } from "./lobby.js";
import { titleOf } from "./games.js";
import { lines } from "./lines.js";
import { go, place } from "./place.js";
import { movesAt, type Game, type Position } from "./state.js";
import { screen } from "./dom.js";
import { settings } from "./settings.js";
import { felt } from "./feel.js";

type Line = NonNullable<Listed["line"]>;
const SIDES = ["X", "O"] as const;
const ALL = CATALOGUE.filter((game): game is Listed & { line: Line } => !!game.line);
/** The match that is played here. */
let played = { game: "", moves: [] as number[], focus: -1, hover: -1 };

/** The game that the address names, or the first. */
function chosen(): Listed & { line: Line } {
  const { id } = place();
  return ALL.find(({ name }) => name === id) ?? ALL[0] ?? ({ name: "tictactoe", title: "", rule: "", shape: [3, 3], swap: false, rated: false, line: { row: 3, gravity: false, misere: false } });
}

/** The screen of it. */
export function localScreen(): Tree {
  const listed = ALL.map((game) => ({ ...game, asked: game.name, title: titleOf(game.name) }));
  const game = chosen();
  const now = listed.find(({ name }) => name === game.name) ?? listed[0]!;
  return screen("main.local", "here", bar([titleOf(game.name), h("span.quiet", ` ${w.onThisDevice}`)]), localBoard(), shelf(listed, now, (name) => go(`/#here=${name}`)));
}

/** The board, whose turn it is, and a new beginning. */
export function localBoard(): Tree {
  const listed = chosen();
  if (played.game !== listed.name) played = { game: listed.name, moves: [], focus: -1, hover: -1 };
  const game = gameOf(listed);
  const position = positionOf(game, listed.line, played.moves);
  const [, height, width] = sizes(game);
  const winner = winnerOf(position, listed.line);
  const look: Look = {
    game,
    position,
    last: played.moves[played.moves.length - 1] ?? -1,
    canMove: position.to_move !== null,
    ghost: landing(game, position, played.hover),
    ghostMark: position.marks[position.to_move ?? 0]!,
    isPending: false,
    focus: played.focus < 0 ? ((height - 1) >> 1) * width + ((width - 1) >> 1) : played.focus,
    fading: -1,
    hints: "",
    isLoss: position.line.length > 0 && listed.line.misere,
    isFlat: settings.isFlat,
  };
  const change = (changed: Partial<typeof played>) => {
    Object.assign(played, changed);
    page.draw();
  };
  const choose = (cell: number) => {
    const move = movesAt(game, position.legal, cell)[0];
    if (move === undefined) return;
    change({ moves: [...played.moves, move], hover: -1 });
    felt("placed");
  };
  const said = winner !== null ? f(w.won, SIDES[winner]!) + w.stop : position.to_move === null ? w.drawn : f(w.turnOf, SIDES[position.to_move]!);
  return h(
    "section.here",
    { label: w.onThisDevice },
    h("div.field", board(look, { choose, hover: (hover) => hover !== played.hover && change({ hover }), focus: (focus) => change({ focus }) })),
    h("p.status", { role: "status" }, said),
    h(
      "div.actions",
      button(w.newMatch, () => change({ moves: [] }), position.to_move === null && "primary", "", { disabled: !played.moves.length }),
      button(w.takeBack, () => change({ moves: played.moves.slice(0, -1) }), "", "", { disabled: !played.moves.length || ui.isClosed }),
    ),
  );
}

function gameOf({ name, title, rule, shape, line }: Listed & { line: Line }): Game {
  const cells = Array.from({ length: shape.reduce((product, side) => product * side, 1) }, (_, cell) => cell);
  return { name, title, rule, shape, gravity: line.gravity, move_cells: cells, move_names: cells.map(String) };
}

/** The position after the moves, each of which is the cell that it marks. */
function positionOf(game: Game, line: Line, moves: number[]): Position {
  const marks = game.move_cells.map(() => ".");
  moves.forEach((cell, n) => (marks[cell] = SIDES[n % 2]!));
  const last = moves[moves.length - 1] ?? -1;
  const completed = lines(game.shape, line.row, last).find((cells) => cells.every((cell) => marks[cell] === marks[last]));
  const legal = completed ? [] : game.move_cells.filter((cell) => marks[cell] === "." && rests(game, marks, cell));
  return { ply: moves.length, board: marks.join(""), to_move: legal.length ? moves.length % 2 : null, legal, line: completed ?? [], marks: ["X", "O"] };
}

/** Whether a mark stays in a cell: where marks fall, only on the ground or on another. */
function rests(game: Game, marks: string[], cell: number): boolean {
  const [layers, height, width] = sizes(game);
  const below = layers > 1 ? cell - height * width : cell + width;
  const isGround = layers > 1 ? below < 0 : below >= marks.length;
  return !game.gravity || isGround || marks[below] !== ".";
}

function winnerOf({ line, ply }: Position, { misere }: Line): number | null {
  if (!line.length) return null;
  return misere ? ply % 2 : 1 - (ply % 2);
}
