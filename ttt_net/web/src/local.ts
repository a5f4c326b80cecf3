/** Two players on this device, without a server: the line games, whose rules are in the catalogue. */

import { bar, shelf } from "./bar.js";
import { board, landing, type Look, sizes, token } from "./board.js";
import { CATALOGUE, type Listed } from "./catalogue.js";
import { button, type Child, h, screen, type Tree } from "./dom.js";
import { felt } from "./feel.js";
import { titleOf } from "./games.js";
import { f, w } from "./i18n.js";
import { later } from "./later.js";
import { lines } from "./lines.js";
import { go, place } from "./place.js";
import { isFlat } from "./settings.js";
import { type Game, movesAt, redraw, type Position } from "./store.js";

type Line = NonNullable<Listed["line"]>;
const SIDES = ["X", "O"] as const;
const ALL = CATALOGUE.filter((game): game is Listed & { line: Line } => !!game.line);
/** The current match on this device. */
let played = { game: "", moves: [] as number[], focus: -1, hover: -1 };

const FIRST: Listed & { line: Line } = { name: "tictactoe", title: "", rule: "", shape: [3, 3], swap: false, rated: false, line: { row: 3, gravity: false, misere: false } };

const chosen = (name: string): Listed & { line: Line } => ALL.find((game) => game.name === name) ?? ALL[0] ?? FIRST;

/** The screen of the match: the address names the game. */
export function localScreen(): Tree {
  const { name } = chosen(place().id);
  const title = [h("span", titleOf(name)), h("span.quiet", w.onThisDevice)];
  return screen("main.local", "here", bar(title), h("section.here", { label: w.onThisDevice }, localBoard(name)), localShelf(name, (game) => go(`/#here=${game}`)));
}

/** The choice of games: those playable on this device, or all against the computer. */
export function localShelf(name: string, choose: (name: string) => void, isAlone = false, isFixed = false): Tree {
  const listed = (isAlone ? CATALOGUE : ALL).map((game) => ({ ...game, asked: game.name, title: titleOf(game.name) }));
  return shelf(listed, listed.find((each) => each.name === name) ?? listed[0]!, choose, isFixed);
}

/**
 * A board before the first move, and the action of a tap. A tapped cell gets its mark immediately, which waits for the
 * match.
 */
export function aloneBoard(name: string, choose: (cell: number) => void, tapped = -1): Tree {
  const listed = CATALOGUE.find((game) => game.name === name) ?? FIRST;
  const { line = FIRST.line } = listed; // the server knows the rules
  const game = gameOf({ ...listed, line });
  return fieldOf({ line }, game, positionOf(game, line, []), choose, tapped < 0, tapped);
}

/** The board, the side to move, and a button to start again. */
export function localBoard(name: string): Child {
  const listed = chosen(name);
  if (played.game !== listed.name) played = { game: listed.name, moves: [], focus: -1, hover: -1 };
  const game = gameOf(listed);
  const position = positionOf(game, listed.line, played.moves);
  const winner = winnerOf(position, listed.line);
  const choose = (cell: number) => {
    const move = movesAt(game, position.legal, cell)[0];
    if (move === undefined) return;
    change({ moves: [...played.moves, move], hover: -1 });
    const { to_move: next, line } = positionOf(game, listed.line, played.moves);
    felt(next !== null ? "placed" : line.length ? "won" : "drawn");
  };
  const side = winner ?? position.to_move;
  const said = winner !== null ? f(w.won, SIDES[winner]!) + w.stop : position.to_move === null ? w.drawn : f(w.turnOf, SIDES[position.to_move]!);
  return [
    fieldOf(listed, game, position, choose),
    h("p.status", { role: "status" }, side !== null && token(game, SIDES[side]!), winner === null ? said : h("strong.head", said)),
    winner !== null && later()?.confetti(),
    h(
      "div.actions",
      button(w.newMatch, () => change({ moves: [] }), position.to_move === null && "primary", "", { disabled: !played.moves.length }),
      button(w.takeBack, () => change({ moves: played.moves.slice(0, -1) }), "", "", { disabled: !played.moves.length }),
    ),
  ];
}

function change(changed: Partial<typeof played>): void {
  Object.assign(played, changed);
  redraw();
}

/** A board; an inviting one has a mark in its middle as a sign to begin. */
function fieldOf({ line }: { line: Line }, game: Game, position: Position, choose: (cell: number) => void, beckons = false, tapped = -1): Tree {
  const [, height, width] = sizes(game);
  const middle = ((height - 1) >> 1) * width + ((width - 1) >> 1);
  const look: Look = {
    game,
    position,
    last: position.ply ? (played.moves[position.ply - 1] ?? -1) : -1,
    canMove: position.to_move !== null,
    ghost: landing(game, position, tapped >= 0 ? tapped : beckons && played.hover < 0 ? middle : played.hover),
    ghostMark: position.marks[position.to_move ?? 0]!,
    isPending: tapped >= 0,
    focus: played.focus < 0 ? middle : Math.min(played.focus, position.board.length - 1),
    fading: -1,
    hints: "",
    alarms: "",
    isLoss: position.line.length > 0 && line.misere,
    isFlat: isFlat(),
  };
  const on = { choose, hover: (hover: number) => hover !== played.hover && change({ hover }), focus: (focus: number) => change({ focus }) };
  return h("div.field", { class: beckons && "beckons" }, board(look, on));
}

function gameOf({ name, title, rule, shape, block, line }: Listed & { line: Line }): Game {
  const cells = Array.from({ length: shape.reduce((product, side) => product * side, 1) }, (_, cell) => cell);
  return { name, title, rule, shape, gravity: line.gravity, move_cells: cells, move_names: cells.map(String), ...(block && { block }) };
}

/** The position after the moves, each of which is the cell that it marks. */
function positionOf(game: Game, line: Line, moves: number[]): Position {
  const marks = game.move_cells.map(() => ".");
  for (const [n, cell] of moves.entries()) marks[cell] = SIDES[n % 2]!;
  const last = moves[moves.length - 1] ?? -1;
  const completed = lines(game.shape, line.row, last).find((cells) => cells.every((cell) => marks[cell] === marks[last]));
  const legal = completed ? [] : game.move_cells.filter((cell) => marks[cell] === "." && rests(game, marks, cell));
  return { ply: moves.length, board: marks.join(""), to_move: legal.length ? moves.length % 2 : null, legal, line: completed ?? [], marks: ["X", "O"] };
}

/** Whether a mark can rest in a cell: where marks fall, only at the bottom or on another mark. */
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
