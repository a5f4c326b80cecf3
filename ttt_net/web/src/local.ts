/** Boards of the page itself: the one on which a visitor begins, and those of matches on this device. */

import { shelf } from "./bar.js";
import { board, landing, type Look, sizes } from "./board.js";
import { CATALOGUE, type Listed } from "./catalogue.js";
import { afterPaint, type Child, choices, h, type Tree } from "./dom.js";
import { titleOf } from "./games.js";
import { f, w } from "./i18n.js";
import { capital } from "./sentences.js";
import { isFlat } from "./settings.js";
import { choose, type Game, hearing, redraw, type Position, ui } from "./store.js";

export type Line = NonNullable<Listed["line"]>;
export type LineGame = Listed & { line: Line };
const ALL = CATALOGUE.filter((game): game is LineGame => !!game.line);
/** Where a window keeps the match of this device while it is loaded again. */
export const KEPT_MATCH = "ttt_net.match";
/** Cells of the board that is shown: the focused one, the one below the pointer, and the one that the finger aims at. */
export const hand = { focus: -1, hover: -1, aim: -1 };

/** Change what the hand does, and draw it. */
export function moveHand(change: Partial<typeof hand>): void {
  Object.assign(hand, change);
  redraw();
}

const FIRST: LineGame = { name: "tictactoe", title: "", rule: "", shape: [3, 3], swap: false, rated: false, line: { row: 3, gravity: false, misere: false } };

/** The game of that name, or the first that is played on this device. */
export const chosen = (name: string): LineGame => ALL.find((game) => game.name === name) ?? ALL[0] ?? FIRST;

/** The choice of games: those playable on this device, or all against the computer. */
export function localShelf(name: string, choose: (name: string) => void, isAlone = false, isFixed = false): Tree {
  const listed = (isAlone ? CATALOGUE : ALL).map((game) => ({ ...game, asked: game.name, title: titleOf(game.name) }));
  return shelf(listed, listed.find((each) => each.name === name) ?? listed[0]!, choose, isFixed);
}

/** What the first screen offers above its board: the opponent, the game, and the level of the computer. */
export function offers({ game, isAlone }: typeof ui.opening, change: (changed: Partial<typeof ui.opening>) => void, isFixed: boolean): Child {
  const { level } = ui.choice;
  const oninput = ({ target }: Event) => choose({ level: (target as HTMLInputElement).valueAsNumber });
  const slider = { type: "range", min: 1, max: 8, value: level, label: w.strength, "aria-valuetext": f(w.level, level), oninput };
  return [
    choices(w.newMatch, [["alone", w.computer], ["two", w.onThisDevice]], isAlone ? "alone" : "two", (who) => change({ isAlone: who === "alone" }), isFixed),
    localShelf(game, (name) => afterPaint(() => change({ game: name })), isAlone, isFixed),
    isAlone && h("label.level", { inert: isFixed && "yes" }, capital(f(w.level, level)), h("input", slider)),
  ];
}

/**
 * A board before the first move, and the action of a tap. A tapped cell gets its mark immediately, which waits for the
 * match.
 */
export function aloneBoard(name: string, choose: (cell: number) => void, tapped = -1): Tree {
  const listed = CATALOGUE.find((game) => game.name === name) ?? FIRST;
  const { line = FIRST.line } = listed; // the server knows the rules
  const game = gameOf({ ...listed, line });
  const legal = game.move_cells.filter((cell) => below(game, cell) < 0);
  const position = { ply: 0, board: ".".repeat(game.move_cells.length), to_move: 0, legal, line: [], marks: ["X", "O"] } satisfies Position;
  return fieldOf(game, position, choose, {}, tapped < 0, tapped);
}

/** A board; an inviting one has a mark in its middle as a sign to begin. */
export function fieldOf(game: Game, position: Position, choose: (cell: number, event: Event) => void, known: Partial<Look> = {}, beckons = false, tapped = -1): Tree {
  const [, height, width] = sizes(game);
  const middle = ((height - 1) >> 1) * width + ((width - 1) >> 1);
  const { focus, hover, aim } = hand;
  const look: Look = {
    game,
    position,
    last: -1,
    canMove: true,
    ghost: aim >= 0 ? aim : landing(game, position, tapped >= 0 ? tapped : beckons && hover < 0 ? middle : hover),
    ghostMark: position.marks[position.to_move ?? 0]!,
    isPending: tapped >= 0,
    focus: focus < 0 ? middle : Math.min(focus, position.board.length - 1),
    fading: -1,
    hints: "",
    alarms: "",
    isLoss: false,
    isFlat: isFlat(),
    ...known,
  };
  const on = { choose, hover: (hover: number) => hover !== hand.hover && moveHand({ hover }), focus: (focus: number) => hearing(() => moveHand({ focus })) };
  return h("div.field", { class: beckons && "beckons" }, board(look, on));
}

export function gameOf({ name, title, rule, shape, block, line }: LineGame): Game {
  const cells = Array.from({ length: shape.reduce((product, side) => product * side, 1) }, (_, cell) => cell);
  return { name, title, rule, shape, gravity: line.gravity, move_cells: cells, move_names: cellNames(shape, line.gravity, block), ...(block && { block }) };
}

/**
 * The names of cells, as the server names their moves: a column where marks fall, otherwise letter and number, after the
 * number of the layer or small board, if any.
 */
export function cellNames(shape: number[], isFalling: boolean, block?: number[]): string[] {
  const [layers = 1, height = 1, width = 1] = shape.length === 3 ? shape : [1, ...shape];
  const [down = height, across = width] = block ?? [];
  const column = (x: number) => String.fromCharCode(97 + x);
  return Array.from({ length: layers * height * width }, (_, cell) => {
    const [z, y, x] = [Math.floor(cell / (width * height)), Math.floor(cell / width) % height, cell % width];
    if (layers === 1 && isFalling) return `${x + 1}`;
    const part = block ? Math.floor(y / down) * (width / across) + Math.floor(x / across) : z;
    return `${block || (layers > 1 && !isFalling) ? `${part + 1}:` : ""}${column(x % across)}${down - (y % down)}`;
  });
}

/** The cell that a mark rests on; -1 for none. */
export function below(game: Game, cell: number): number {
  const [layers, height, width] = sizes(game);
  const under = layers > 1 ? cell - height * width : cell + width;
  return game.gravity && under < game.move_cells.length ? under : -1;
}
