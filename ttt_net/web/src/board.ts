/**
 * A board, for any game: from the shape, the moves and the board string that the server sends, and no rules.
 *
 * Each layer is a grid of buttons with one of them in the order of tabbing; arrow keys go on from there.
 */

import { type Child, h, type Tree } from "./dom.js";
import { f, listed, w } from "./i18n.js";
import { type Game, movesAt, type Position } from "./state.js";

/** What is drawn. `last`, `ghost` (a mark that is not there yet), `fading` and `focus` are cells, -1 for none. */
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
  /** Cells, parted by commas, that would have been better. */
  hints: string;
  /** Whether a line of ours is one that we lost by. */
  isLoss: boolean;
  /** Whether the layers of a cube lie side by side, and not one above the other. */
  isFlat: boolean;
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
/** How a layer of a stack lies: a cell is so high for its width, rows lean by so much, and so much is between layers. */
const TILT = 0.5;
const LEAN = 0.5;
const GAP = 0.32;
/** From this many rows and columns on, marks are stones on the crossings of lines. */
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

const isStones = ({ shape, gravity, block }: Game): boolean => shape.length === 2 && !gravity && !block && Math.min(...shape) >= STONES;

export function board(look: Look, on: On): Tree {
  const { game, position } = look;
  const [layers, height, width] = sizes(game);
  const legal = new Set(position.legal.map((move) => game.move_cells[move] ?? -1));
  const isStack = layers > 1 && !look.isFlat;
  const kind = [
    layers > 1 ? "deep" : "flat",
    layers > 1 && (isStack ? "stack" : "sheets"),
    game.gravity ? "gravity" : isStones(game) ? "stones" : "marks",
    game.block && "blocks",
    look.canMove && "mine",
    position.to_move === null && "over",
    position.line.length > 0 && "lined",
    look.isLoss && "loss",
  ];
  const [wide, high] = isStack ? stackSize(look.game) : [width, height];
  return h(
    "div.boards",
    {
      class: kind,
      style: { "--w": width, "--h": height, "--layers": layers, "--wide": wide, "--high": high },
      onkeydown: (event: KeyboardEvent) => travel(event, look, on),
      onpointerleave: () => on.hover(-1),
    },
    range(layers, (z) => layer(look, on, legal, z)),
    isStack && position.line.length > 1 && h("svg.strike", { viewBox: `0 0 ${wide} ${high}`, hidden: true }, strike(position.line.map((cell) => stacked(game, cell)))),
  );
}

function layer(look: Look, on: On, legal: Set<number>, z: number): Tree {
  const { game, position } = look;
  const [layers, height, width] = sizes(game);
  const box = { viewBox: `0 0 ${width} ${height}`, hidden: true };
  const line = layers === 1 ? position.line.map((cell) => centre(game, cell)) : [];
  return h(
    "div.layer",
    layers > 1 && h("p.name", { hidden: true }, f(w.layer, z + 1)),
    h(
      "div.plane",
      isStones(game) && h("svg.lines", box, crossings(width, height)),
      h(
        "div.grid",
        { role: "grid", label: layers > 1 ? f(w.layer, z + 1) : w.board },
        range(height, (y) =>
          h("div", { role: "row" }, range(width, (x) => square(look, on, legal, (z * height + y) * width + x))),
        ),
      ),
      game.block && h("svg.above", box, blocks(look, legal)),
      line.length > 1 && h("svg.above.strike", box, strike(line)),
    ),
    layers === 1 && !game.block && [labels("columns", columnNames(game)), !game.gravity && labels("rows", rowNames(game))],
  );
}

const labels = (kind: string, names: string[]): Tree => h(`div.${kind}`, { hidden: true }, names.map((name) => h("span", name)));

const columnNames = (game: Game): string[] => range(sizes(game)[2], (x) => (game.gravity ? `${x + 1}` : String.fromCharCode(97 + x)));

const rowNames = (game: Game): string[] => range(sizes(game)[1], (y) => `${sizes(game)[1] - y}`);

function square(look: Look, on: On, legal: Set<number>, cell: number): Tree {
  const { game, position } = look;
  const mark = position.board[cell] ?? ".";
  const isGhost = cell === look.ghost && mark === ".";
  const isWon = position.line.includes(cell);
  const isLast = cell === look.last;
  const isFading = cell === look.fading && mark !== ".";
  const words = [
    placeName(game, cell),
    mark !== "." ? mark : isGhost && look.isPending ? f(w.onTheWay, look.ghostMark) : w.empty,
    game.block && mark === "." && look.canMove && !legal.has(cell) && w.notInPlay,
    isLast && w.lastMove,
    isWon && (look.isLoss ? w.losingLine : w.winningLine),
    isFading && w.vanishesNext,
  ];
  const isSpent = game.block && "XO".includes(position.blocks?.[blockOf(game, cell)] ?? " ");
  const classes = [
    isLast && "last",
    isWon && "won",
    legal.has(cell) && "free",
    isGhost && (look.isPending ? "pending" : "ghost"),
    isSpent && "spent",
    isFading && "fading",
    look.hints !== "" && mark === "." && look.hints.split(",").includes(`${cell}`) && "hint",
  ];
  return h(
    "button.cell",
    {
      key: cell + 1,
      id: `cell-${cell}`,
      role: "gridcell",
      type: "button",
      class: classes,
      tabindex: cell === look.focus ? 0 : -1,
      label: listed(words),
      style: { "--row": placeOf(game, cell)[1] },
      onclick: (event: Event) => on.choose(cell, event),
      onfocus: () => on.focus(cell),
      onpointerenter: (event: PointerEvent) => event.pointerType === "mouse" && on.hover(cell),
    },
    (mark !== "." || isGhost) && (isStones(game) ? stone(isGhost ? look.ghostMark : mark) : symbol(isGhost ? look.ghostMark : mark, game.gravity)),
  );
}

/** A mark, or several to choose from, as a picture: they differ by shape, whatever their colour. */
export function symbol(marks: string, isDisc = false): Tree {
  const isOne = marks.length === 1;
  return h(
    "svg.mark",
    { key: marks, class: `mark-${isOne ? marks : "any"} ${isDisc ? "on-disc" : ""}`, viewBox: "0 0 100 100", hidden: true },
    isDisc && isOne && [h("circle.disc", { cx: 50, cy: 50, r: 44 }), h("circle.rim", { cx: 50, cy: 50, r: 35 })],
    isOne ? stroke(marks) : [...marks].map((mark, n) => h("g", { key: mark, transform: `translate(${n * 46} 22) scale(.56)` }, stroke(mark))),
  );
}

/** A mark as a stone: black for X, white for O. */
const stone = (mark: string): Tree =>
  h(
    "svg.mark.stone",
    { key: mark, class: `mark-${mark}`, viewBox: "0 0 100 100", hidden: true },
    h("circle.body", { cx: 50, cy: 50, r: 45 }),
    h("ellipse.shine", { cx: 38, cy: 32, rx: 16, ry: 11 }),
  );

function stroke(mark: string): Child {
  if (mark === "X") {
    return [
      h("path.stroke.one", { pathLength: 1, d: "M28 28 L72 72" }),
      h("path.stroke.two", { pathLength: 1, d: "M72 28 L28 72" }),
    ];
  }
  if (mark === "O") return h("circle.stroke", { pathLength: 1, cx: 50, cy: 50, r: 24, transform: "rotate(-90 50 50)" });
  return h("rect.stroke", { pathLength: 1, x: 30, y: 30, width: 40, height: 40 });
}

/** The lines on whose crossings stones lie, and the points that help to count them. */
function crossings(width: number, height: number): Child {
  const across = range(height, (y) => `M.5 ${y + 0.5}H${width - 0.5}`);
  const down = range(width, (x) => `M${x + 0.5} .5V${height - 0.5}`);
  const third = (size: number): number[] => (size >= 13 ? [3, (size - 1) / 2, size - 4] : [2, (size - 1) / 2, size - 3]).filter(Number.isInteger);
  const points = third(width).flatMap((x) => third(height).map((y) => h("circle", { cx: x + 0.5, cy: y + 0.5, r: 0.1 })));
  return [h("path", { d: [...across, ...down].join("") }), points];
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
function centre(game: Game, cell: number): [number, number] {
  const [, y, x] = placeOf(game, cell);
  return [x + 0.5, y + 0.5];
}

/** The width and height of a stack of layers, in cells. */
function stackSize(game: Game): [number, number] {
  const [layers, height, width] = sizes(game);
  return [width + height * TILT * LEAN, layers * (height * TILT + GAP)];
}

/** The middle of a cell in a stack of layers. */
function stacked(game: Game, cell: number): [number, number] {
  const [, height] = sizes(game);
  const [z, y, x] = placeOf(game, cell);
  const down = (y + 0.5) * TILT;
  const from = game.gravity ? sizes(game)[0] - 1 - z : z; // where marks fall, the first layer is the ground
  return [x + 0.5 + (height * TILT - down) * LEAN, from * (height * TILT + GAP) + down];
}

/** Which small board a cell is in. */
function blockOf(game: Game, cell: number): number {
  const [, y, x] = placeOf(game, cell);
  const [down = 1, across = 1] = game.block ?? [];
  return Math.floor(y / down) * (sizes(game)[2] / across) + Math.floor(x / across);
}

/** The small boards: frames, of which those that may be played in stand out, and the marks of who has won them. */
function blocks({ game, position, canMove }: Look, legal: Set<number>): Child {
  const [, rows, columns] = sizes(game);
  const [down = 1, across = 1] = game.block ?? [];
  const open = new Set([...legal].map((cell) => blockOf(game, cell)));
  return range((rows / down) * (columns / across), (n) => {
    const [x, y] = [(n * across) % columns, Math.floor((n * across) / columns) * down];
    const place = { x: x + 0.05, y: y + 0.05, width: across - 0.1, height: down - 0.1 };
    const mark = position.blocks?.[n] ?? "";
    return [
      h("rect.block", { key: n + 1, class: [open.has(n) && "open", open.has(n) && canMove && "ours"], rx: 0.2, ...place }),
      /^[XO]$/.test(mark) && h("svg.big", { key: n + 1, class: `mark-${mark}`, viewBox: "20 20 60 60", ...place }, stroke(mark)),
    ];
  });
}

/** Where a cell is, in words. */
function placeName(game: Game, cell: number): string {
  const [z, y, x] = placeOf(game, cell);
  const [down = 1, across = 1] = game.block ?? [];
  if (game.block) return f(w.placeInBlock, blockOf(game, cell) + 1, (y % down) + 1, (x % across) + 1);
  return game.shape.length === 3 ? f(w.placeInLayer, z + 1, y + 1, x + 1) : f(w.placeOnBoard, y + 1, x + 1);
}

/** Move the focus by a key; digits choose columns where marks fall, and count the cells of a small board. */
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
  const [z, y, x] = placeOf(game, Math.max(0, look.focus)).map((from, axis) =>
    Math.min(most[axis]! - 1, Math.max(0, from + step[axis]!)),
  ) as [number, number, number];
  document.getElementById(`cell-${(z * height + y) * width + x}`)?.focus();
}

/** Where the mark of a move that a cell means would come to lie; -1 if there is none. */
export function landing(game: Game, position: Position, cell: number): number {
  const moves = cell < 0 ? [] : movesAt(game, position.legal, cell);
  return game.move_cells[moves[0] ?? -1] ?? -1;
}

/** A small picture of a game's board with a few marks on it. */
export function picture(shape: number[], isFalling: boolean): Tree {
  const [layers, height, width] = sizes({ shape });
  const isDeep = layers > 1;
  const few = Math.min(height, width, 9);
  const step = 30 / few;
  const lines = range(few + 1, (n) => `M0 ${n * step}H30M${n * step} 0V30`).join("");
  const marks = range(few, (n) => [isFalling ? (n * 3) % few : n, isFalling ? few - 1 - (n > few / 2 ? 1 : 0) : (n * n + 1) % few]);
  const dots = marks.slice(0, Math.max(3, few - 2)).map(([x = 0, y = 0], n) =>
    h("circle", { class: n % 2 ? "mark-O" : "mark-X", cx: (x + 0.5) * step, cy: (y + 0.5) * step, r: step * 0.36 }),
  );
  return h(
    "svg.picture",
    { viewBox: isDeep ? "-1 -11 42 44" : "-1 -1 32 32", hidden: true },
    isDeep && h("path.behind", { d: "M10 0V-10H40V20H30" }),
    h("path.lines", { d: lines }),
    dots,
  );
}

/** The words for a move, with the mark where there is a choice: "O on b2". */
export function moveName(game: Game, move: number): string {
  const name = game.move_names[move] ?? "";
  const [, mark, place] = /^([XO])(.+)$/.exec(name) ?? [];
  return mark ? f(w.markAt, mark, place ?? "") : name;
}

/** Whether a finger is wider than a cell. */
export const isSmall = (cell: HTMLElement, finger: number): boolean => Math.min(cell.offsetWidth, cell.offsetHeight) < finger;
