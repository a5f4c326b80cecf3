/**
 * A board for any game, from the shape, moves and board string that the server sends. It knows no rules.
 *
 * Each layer is a grid of buttons. Tab reaches one of them, and arrow keys move the focus from there.
 */

import { type Child, h, joined, type Tree } from "./dom.js";
import { f, language, listed, w } from "./i18n.js";
import { crossings, hash, stone, stroke, symbol } from "./pieces.js";
import { type Game, movesAt, type Position } from "./store.js";

/**
 * Everything to draw. `last`, `ghost` (a mark that is not confirmed yet), `fading` and `focus` are cells, -1 for none.
 */
export type Look = {
  game: Game;
  position: Position;
  last: number;
  canMove: boolean;
  ghost: number;
  ghostMark: string;
  isPending: boolean;
  focus: number;
  fading: number;
  /** Good cells, separated by commas, or in a review better ones than the last move. */
  hints: string;
  /** In a review, the arrow from the last move to a better one. */
  arrow?: Child;
  /** Cells, separated by commas, that the opponent threatens to take. */
  alarms: string;
  /** Whether the line is one that lost the match. */
  isLoss: boolean;
  /** Whether the layers of a cube lie side by side instead of one above the other. */
  isFlat: boolean;
  /** For hexagons: the width and height in cells, and the picture around them. */
  extent?: [number, number];
  around?: Tree;
  /** A prefix for the ids of cells, if there is another board. */
  prefix?: string;
};
export type On = { choose: (cell: number, event: Event) => void; hover: (cell: number) => void; focus: (cell: number) => void };

/** Each key's step through layers, rows and columns. */
const STEPS: Record<string, readonly [number, number, number]> = {
  ArrowLeft: [0, 0, -1],
  ArrowRight: [0, 0, 1],
  ArrowUp: [0, -1, 0],
  ArrowDown: [0, 1, 0],
  PageUp: [-1, 0, 0],
  PageDown: [1, 0, 0],
  Home: [0, 0, -99],
  End: [0, 0, 99],
};
/**
 * The geometry of a stack: a cell's height relative to its width, the lean of rows, and the distance between layers.
 */
const TILT = 0.5;
const LEAN = 0.5;
const GAP = 0.26;
/** Boards with at least this many rows and columns show stones on the crossings of lines. */
const STONES = 9;

const range = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

/** Layers, rows and columns. */
export function sizes({ shape }: Pick<Game, "shape">): [number, number, number] {
  const [layers, height, width] = shape.length === 3 ? shape : [1, ...shape];
  return [layers ?? 1, height ?? 1, width ?? 1];
}

/** Layer, row and column of a cell. */
function placeOf(game: Game, cell: number): [number, number, number] {
  const [, height, width] = sizes(game);
  return [Math.floor(cell / (width * height)), Math.floor(cell / width) % height, cell % width];
}

/** A mark on the board of a game, or its symbol beside a name. */
export const token = (game: Game, mark: string, isLying = false): Tree =>
  (isStones(game) || lookOf(game, mark) === "stone") && mark.length === 1 ? stone(mark) : symbol(mark, game.gravity || lookOf(game, mark) === "disc", isLying);

const lookOf = (game: Game, mark: string): string | undefined => game.pieces?.find((piece) => piece.mark === mark)?.look;

/** The colours of the two sides beside a board: those of its stones or discs, or the usual ones. */
export const colours = (game: Game): string => (game.gravity ? "racked" : isStones(game) ? "stony" : "");

export const isStones = ({ shape, gravity, block, geometry }: Game): boolean =>
  geometry ? geometry.cell === "point" : shape.length === 2 && !gravity && !block && Math.min(...shape) >= STONES;

/** Whether a tap plays, or has just played: what depends on it changes for all cells, so not in the picture of a tap. */
const isReady = (look: Look): boolean => look.canMove || look.isPending;

export function board(look: Look, on: On): Tree {
  const { game, position, prefix = "" } = look;
  const [layers, height, width] = sizes(game);
  acts.set(prefix, on);
  if (!squares.has(prefix)) squares.set(prefix, []);
  const legal = new Set(position.legal.map((move) => game.move_cells[move] ?? -1));
  const isStack = layers > 1 && !look.isFlat;
  const kind = [
    colours(game),
    layers > 1 ? "deep" : "flat",
    layers > 1 && (isStack ? "stack" : "sheets"),
    game.gravity ? "gravity" : isStones(game) ? "stones" : "marks",
    game.block && "blocks",
    look.extent && "hexes",
    look.canMove && "mine",
    isReady(look) && "ready",
    isReady(look) && legal.size < position.board.split(".").length - 1 && "picky",
    position.to_move === null && "over",
    position.line.length > 0 && "lined",
    look.isLoss && "loss",
  ];
  const [wide, high] = look.extent ?? (isStack ? stackSize(look.game) : [width, height]);
  return h(
    "div.boards",
    {
      class: kind,
      style: { "--w": width, "--h": height, "--layers": layers, "--wide": wide, "--high": high },
      onkeydown: (event: KeyboardEvent) => travel(event, look, on),
      onpointerleave: () => on.hover(-1),
    },
    range(layers, (z) => layer(look, legal, z)),
    isStack && position.line.length > 1 && h("svg.strike", { viewBox: `0 0 ${wide} ${high}`, hidden: true }, strike(position.line.map((cell) => stacked(game, cell)))),
    isStack && look.arrow && h("svg.better", { viewBox: `0 0 ${wide} ${high}`, hidden: true }, look.arrow),
  );
}

function layer(look: Look, legal: Set<number>, z: number): Tree {
  const { game, position, prefix = "" } = look;
  const [layers, height, width] = sizes(game);
  const [hints, alarms] = [look.hints.split(","), look.alarms.split(",")];
  const box = { viewBox: `0 0 ${width} ${height}`, hidden: true };
  const open = game.block ? `${look.canMove} ${[...legal]} ${position.blocks}` : "";
  const line = layers > 1 ? [] : game.block ? middles(game, position.line) : position.line.map((cell) => centre(game, cell));
  return h(
    "div.layer",
    layers > 1 && h("p.name", { hidden: true }, f(w.layer, z + 1)),
    layers > 1 && !look.isFlat && h("span.storey", { hidden: true }, z + 1),
    h(
      "div.plane",
      look.around,
      (isStones(game) || layers > 1 || !game.gravity) &&
        still(`${prefix}lines`, `${game.name} ${game.shape}`, () =>
          isStones(game) ? h("svg.lines", box, crossings(width, height)) : h("svg.hash", { ...box, preserveAspectRatio: "none" }, hash(width, height, game.block)),
        ),
      game.block && still(`${prefix}tints`, open, () => h("svg.above.tints", box, blocks(look, legal, true))), // below the marks
      h(
        "div.grid",
        { role: "grid", label: layers > 1 ? f(w.layer, z + 1) : w.board },
        range(height, (y) =>
          row(prefix, z * height + y, range(width, (x) => square(look, legal, hints, alarms, (z * height + y) * width + x))),
        ),
      ),
      game.block && still(`${prefix}blocks`, open, () => h("svg.above", box, blocks(look, legal))),
      line.length > 1 && h("svg.above.strike", box, strike(line)),
      layers === 1 && look.arrow && h("svg.above.better", box, look.arrow),
    ),
    // In a stack, only the bottom layer has labels.
    (layers === 1 ? !game.block : !look.isFlat && z === (game.gravity ? 0 : layers - 1)) && [
      still(`${prefix}columns`, `${game.name} ${game.shape}`, () => labels("columns", columnNames(game))),
      (layers > 1 || !game.gravity) && still(`${prefix}rows`, `${game.name} ${game.shape}`, () => labels("rows", rowNames(game))),
    ],
  );
}

const labels = (kind: string, names: string[]): Tree => h(`div.${kind}`, { hidden: true }, names.map((name, n) => h("span", { style: { "--n": n } }, name)));

/** The name of a move in a cell, without its mark or the cell that it comes from. */
const nameAt = (game: Game, cell: number): string => (game.move_names[game.move_cells.indexOf(cell)] ?? "").replace(/^([XO]|[a-z]+\d+)(?=[a-z])/, "");

/** Rows and columns as moves name them: games of other packages may count rows from the top. */
const columnNames = (game: Game): string[] => range(sizes(game)[2], (x) => /[a-z]+|\d+$/.exec(nameAt(game, x))?.[0] ?? "");

const rowNames = (game: Game): string[] => range(sizes(game)[1], (y) => /\d+$/.exec(nameAt(game, y * sizes(game)[2]))?.[0] ?? "");

/** Whether a cell is part of the winning line or of another reason of the win. */
const hasWonBy = ({ line, notes }: Position, cell: number): boolean => line.includes(cell) || !!notes?.some(({ kind, cells }) => kind === "win" && cells?.includes(cell));

/** The indentation of the row of a cell, in cells. */
const shiftOf = (game: Game, cell: number): number => (game.geometry?.runs[placeOf(game, cell)[1]]?.[2] ?? 0) / 2;

/** What is drawn of the cells of a board, by its prefix: cells that look as before are the same trees, and cost nothing. */
const squares = new Map<string, { shown: string; made: Tree }[]>();
const rows = new Map<string, Tree>();
const stills = new Map<string, { shown: string; made: Tree }>();
/** What a tap does on a board, by its prefix; it changes more often than cells do. */
const acts = new Map<string, On>();

/** A part of a board: the same tree as before while what it shows is. */
function still(part: string, shown: string, make: () => Tree): Tree {
  const known = stills.get(part);
  if (known?.shown === shown) return known.made;
  const made = make();
  stills.set(part, { shown, made });
  return made;
}

/** A row of cells: the same tree as before while its cells are. */
function row(prefix: string, y: number, cells: Tree[]): Tree {
  const key = prefix + y;
  const known = rows.get(key);
  if (known?.children.length === cells.length && cells.every((cell, x) => cell === known.children[x])) return known;
  const made = h("div", { role: "row" }, cells);
  rows.set(key, made);
  return made;
}

function square(look: Look, legal: Set<number>, hints: string[], alarms: string[], cell: number): Tree {
  const { game, position, prefix = "", ghostMark, isPending } = look;
  const mark = position.board[cell] ?? ".";
  const isEmpty = mark === ".";
  const isGhost = cell === look.ghost && isEmpty;
  const isWon = hasWonBy(position, cell);
  const isLast = cell === look.last;
  const isFree = legal.has(cell);
  const isFading = cell === look.fading && !isEmpty;
  const isHint = isEmpty && hints.includes(`${cell}`);
  const isAlarm = alarms.includes(`${cell}`);
  const isSpent = game.block && "XO".includes(position.blocks?.[blockOf(game, cell)] ?? " ");
  const isOut = game.block && isEmpty && isReady(look) && !isFree;
  const place = position.line.indexOf(cell);
  // The words are made only for a cell that looks different.
  const shown = [game.name, game.shape, look.isFlat, language, mark, isGhost && ghostMark + isPending, isWon && look.isLoss, isWon, isLast, isFree, isFading, isHint, isAlarm, isSpent, isOut, place, cell === look.focus].join();
  const known = squares.get(prefix)!;
  if (known[cell]?.shown === shown) return known[cell].made;
  const label = listed([
    placeName(game, cell),
    !isEmpty ? mark : isGhost && isPending ? f(w.onTheWay, ghostMark) : w.empty,
    isOut && w.notInPlay,
    isLast && w.lastMove,
    isWon && (look.isLoss ? w.losingLine : w.winningLine),
    isFading && w.vanishesNext,
  ]);
  const name = joined(
    [
      isLast && "last",
      isWon && "won",
      isFree && "free",
      isGhost && (isPending ? "pending" : "ghost"),
      isSpent && "spent",
      isFading && "fading",
      isHint && "hint",
      isAlarm && "alarm",
    ],
    " ",
  );
  const made = drawn(look, cell, name, label, place, isGhost ? ghostMark : mark);
  known[cell] = { shown, made };
  return made;
}

function drawn({ game, prefix = "", focus, isFlat }: Look, cell: number, name: string, label: string, place: number, mark: string): Tree {
  const on = (): On => acts.get(prefix)!;
  return h(
    "button.cell",
    {
      key: cell + 1,
      id: `${prefix}cell-${cell}`,
      role: "gridcell",
      type: "button",
      class: name,
      tabindex: cell === focus ? 0 : -1,
      label,
      style: { "--row": placeOf(game, cell)[1], "--n": place, "--shift": shiftOf(game, cell) },
      onclick: (event: Event) => on().choose(cell, event),
      onfocus: () => on().focus(cell),
      onpointerenter: (event: PointerEvent) => event.pointerType === "mouse" && on().hover(cell),
    },
    mark !== "." && token(game, mark, game.shape.length === 3 && !isFlat),
  );
}

/** The stroke through a completed line. */
function strike(points: [number, number][]): Child {
  const [first, last] = [points[0]!, points[points.length - 1]!];
  return [
    points.length > 2 && h("path.under", { d: `M${first} L${last}` }),
    h("path.over", { pathLength: 1, d: `M${first} L${last}` }),
  ];
}

/** The middle of a cell on a board that lies flat, in cells. */
export function centre(game: Game, cell: number): [number, number] {
  const [, y, x] = placeOf(game, cell);
  return [x + 0.5, y + 0.5];
}

/** The middles of the small boards that cells are in, in cells. */
function middles(game: Game, cells: number[]): [number, number][] {
  const [down = 1, across = 1] = game.block ?? [];
  const beside = sizes(game)[2] / across;
  const found = [...new Set(cells.map((cell) => blockOf(game, cell)))].sort((one, other) => one - other);
  return found.map((block) => [((block % beside) + 0.5) * across, (Math.floor(block / beside) + 0.5) * down]);
}

/** The width and height of a stack of layers, in cells. */
function stackSize(game: Game): [number, number] {
  const [layers, height, width] = sizes(game);
  return [width + height * TILT * LEAN, layers * (height * TILT + GAP)];
}

/** The middle of a cell in a stack of layers. */
export function stacked(game: Game, cell: number): [number, number] {
  const [, height] = sizes(game);
  const [z, y, x] = placeOf(game, cell);
  const down = (y + 0.5) * TILT;
  const from = game.gravity ? sizes(game)[0] - 1 - z : z; // where marks fall, the first layer is the bottom
  return [x + 0.5 + (height * TILT - down) * LEAN, from * (height * TILT + GAP) + down];
}

/** The small board of a cell. */
function blockOf(game: Game, cell: number): number {
  const [, y, x] = placeOf(game, cell);
  const [down = 1, across = 1] = game.block ?? [];
  return Math.floor(y / down) * (sizes(game)[2] / across) + Math.floor(x / across);
}

/** The frames of small boards, with the playable ones highlighted, and the marks of their winners. */
function blocks({ game, position, canMove }: Look, legal: Set<number>, isTint = false): Child {
  const [, rows, columns] = sizes(game);
  const [down = 1, across = 1] = game.block ?? [];
  const open = new Set([...legal].map((cell) => blockOf(game, cell)));
  return range((rows / down) * (columns / across), (n) => {
    const [x, y] = [(n * across) % columns, Math.floor((n * across) / columns) * down];
    const place = { x: x + 0.05, y: y + 0.05, width: across - 0.1, height: down - 0.1 };
    if (isTint) return open.has(n) && canMove && h("rect.tint", { key: n + 1, rx: 0.2, ...place });
    const mark = position.blocks?.[n] ?? "";
    return [
      h("rect.block", { key: n + 1, class: open.has(n) && "open", rx: 0.2, ...place }),
      /^[XO]$/.test(mark) && h("svg.big", { key: n + 1, class: `mark-${mark}`, viewBox: "20 20 60 60", ...place }, stroke(mark)),
    ];
  });
}

/** The name of a cell; where marks fall, several cells share the name of a move, so that it is described. */
function placeName(game: Game, cell: number): string {
  const [z, y, x] = placeOf(game, cell);
  if (!game.gravity) return nameAt(game, cell); // as moves are named
  return game.shape.length === 3 ? f(w.placeInLayer, z + 1, y + 1, x + 1) : f(w.placeOnBoard, y + 1, x + 1);
}

/** Move the focus by a key; digits choose columns where marks fall, or the cells of a small board. */
function travel(event: KeyboardEvent, look: Look, on: On): void {
  const { game } = look;
  const [layers, height, width] = sizes(game);
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const digit = /^[1-9]$/.test(event.key) && layers === 1 ? Number(event.key) - 1 : 99;
  if (digit < (game.gravity ? width : width * height <= 9 ? width * height : 0)) on.choose(digit, event);
  const step = STEPS[event.key];
  if (!step) return;
  event.preventDefault();
  const most = [layers, height, width];
  const from = Number((event.target as HTMLElement).id.split("cell-")[1]); // a new focus is drawn a little later
  const [z, y, x] = placeOf(game, from).map((at, axis) =>
    Math.min(most[axis]! - 1, Math.max(0, at + step[axis]!)),
  ) as [number, number, number];
  document.getElementById(`${look.prefix ?? ""}cell-${(z * height + y) * width + x}`)?.focus();
}

/** The cell where the mark of a cell's move would land; -1 without a move. */
export function landing(game: Game, position: Position, cell: number): number {
  const moves = cell < 0 ? [] : movesAt(game, position.legal, cell);
  return game.move_cells[moves[0] ?? -1] ?? -1;
}

/** The words for a move, with the mark where there is a choice: "O on b2". */
export function moveName(game: Game, move: number): string {
  const name = game.move_names[move] ?? "";
  const [, mark, place] = /^([XO])(.+)$/.exec(name) ?? [];
  return mark ? f(w.markAt, mark, place ?? "") : name;
}
