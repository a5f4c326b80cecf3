/**
 * A board, for any game: from the shape, the moves and the board string that the server sends, and no rules.
 *
 * Each layer is a grid of buttons with one of them in the order of tabbing; arrow keys go on from there.
 *
 * @typedef {import("./state.js").Game} Game
 * @typedef {import("./state.js").Position} Position
 * @typedef {{game: Game, position: Position, last: number, canMove: boolean, ghost: number, ghostMark: string,
 *   isPending: boolean, focus: number}} Look
 *   `last`, `ghost` (a mark that is not there yet) and `focus` are cells, -1 for none
 * @typedef {{choose: (cell: number, event: any) => void, hover: (cell: number) => void, focus: (cell: number) => void}} On
 */

import { h, joined } from "./dom.js";
import { movesAt } from "./state.js";

/** Each key's step through layers, rows and columns. */
const STEPS = {
  ArrowLeft: [0, 0, -1],
  ArrowRight: [0, 0, 1],
  ArrowUp: [0, -1, 0],
  ArrowDown: [0, 1, 0],
  PageUp: [-1, 0, 0],
  PageDown: [1, 0, 0],
  Home: [0, 0, -99],
  End: [0, 0, 99],
};

const range = (count, make) => Array.from({ length: count }, (_, n) => make(n));

/** Layers, rows and columns. @param {Game} game */
export const sizes = (game) => (game.shape.length === 3 ? game.shape : [1, ...game.shape]);

/** Layer, row and column of a cell. @param {Game} game */
function placeOf(game, cell) {
  const [, height, width] = sizes(game);
  return [Math.floor(cell / (width * height)), Math.floor(cell / width) % height, cell % width];
}

/** @param {Look} look @param {On} on */
export function board(look, on) {
  const { game, position } = look;
  const [layers, height, width] = sizes(game);
  const legal = new Set(position.legal.map((move) => game.move_cells[move]));
  const kind = [
    layers > 1 ? "deep" : "flat",
    game.gravity && "gravity",
    game.block && "blocks",
    look.canMove && "mine",
    position.to_move === null && "over",
    position.line.length > 0 && "lined",
  ];
  return h(
    "div.boards",
    {
      class: kind,
      style: { "--w": width, "--h": height },
      onkeydown: (event) => travel(event, look, on),
      onpointerleave: () => on.hover(-1),
    },
    range(layers, (z) =>
      h(
        "div.layer",
        layers > 1 && h("p.quiet", { hidden: true }, `Layer ${z + 1}`),
        h(
          "div.plane",
          h(
            "div.grid",
            { role: "grid", label: layers > 1 ? `Layer ${z + 1}` : "Board" },
            range(height, (y) =>
              h("div", { role: "row" }, range(width, (x) => square(look, on, legal, (z * height + y) * width + x))),
            ),
          ),
          game.block && h("svg.above", { viewBox: `0 0 ${width} ${height}`, hidden: true }, blocks(look, legal)),
        ),
      ),
    ),
  );
}

/** @param {Look} look @param {On} on */
function square(look, on, legal, cell) {
  const { game, position } = look;
  const mark = position.board[cell];
  const isGhost = cell === look.ghost && mark === ".";
  const isWon = position.line.includes(cell);
  const isLast = cell === look.last;
  const words = [
    placeName(game, cell),
    mark !== "." ? mark : isGhost && look.isPending ? `${look.ghostMark}, on its way` : "empty",
    game.block && mark === "." && look.canMove && !legal.has(cell) && "not in play",
    isLast && "last move",
    isWon && "winning line",
  ];
  const isSpent = game.block && "XO".includes(position.blocks?.[blockOf(game, cell)] ?? " ");
  const classes = [isLast && "last", isWon && "won", legal.has(cell) && "free", isGhost && "ghost", isSpent && "spent"];
  return h(
    "button.cell",
    {
      key: cell,
      id: `cell-${cell}`,
      role: "gridcell",
      type: "button",
      class: classes,
      tabindex: cell === look.focus ? 0 : -1,
      label: joined(words, ", "),
      style: { "--row": placeOf(game, cell)[1] },
      onclick: (event) => on.choose(cell, event),
      onfocus: () => on.focus(cell),
      onpointerenter: (event) => event.pointerType === "mouse" && on.hover(cell),
    },
    (mark !== "." || isGhost) && symbol(isGhost ? look.ghostMark : mark, game.gravity),
  );
}

/** A mark, or several to choose from, as a picture: they differ by shape, whatever their colour. */
export function symbol(marks, isDisc = false) {
  const isOne = marks.length === 1;
  return h(
    "svg.mark",
    { key: marks, class: `mark-${isOne ? marks : "any"} ${isDisc ? "on-disc" : ""}`, viewBox: "0 0 100 100", hidden: true },
    isDisc && isOne && h("circle.disc", { cx: 50, cy: 50, r: 43 }),
    isOne ? stroke(marks) : [...marks].map((mark, n) => h("g", { transform: `translate(${n * 46} 22) scale(.56)` }, stroke(mark))),
  );
}

function stroke(mark) {
  if (mark === "X") return h("path.stroke", { pathLength: 1, d: "M28 28 L72 72 M72 28 L28 72" });
  if (mark === "O") return h("circle.stroke", { pathLength: 1, cx: 50, cy: 50, r: 24 });
  return h("rect.stroke", { pathLength: 1, x: 30, y: 30, width: 40, height: 40 });
}

/** Which small board a cell is in. */
function blockOf(game, cell) {
  const [, y, x] = placeOf(game, cell);
  const [down, across] = game.block;
  return Math.floor(y / down) * (sizes(game)[2] / across) + Math.floor(x / across);
}

/** The small boards: frames, of which those that may be played in stand out, and the marks of who has won them. @param {Look} look */
function blocks({ game, position }, legal) {
  const [, rows, columns] = sizes(game);
  const [down, across] = game.block ?? [1, 1];
  const open = new Set([...legal].map((cell) => blockOf(game, cell)));
  return range((rows / down) * (columns / across), (n) => {
    const [x, y] = [(n * across) % columns, Math.floor((n * across) / columns) * down];
    const place = { x: x + 0.05, y: y + 0.05, width: across - 0.1, height: down - 0.1 };
    const mark = position.blocks?.[n] ?? "";
    return [
      h("rect.block", { class: open.has(n) && "open", rx: 0.2, ...place }),
      /^[XO]$/.test(mark) && h("svg.big", { key: n, class: `mark-${mark}`, viewBox: "20 20 60 60", ...place }, stroke(mark)),
    ];
  });
}

/** Where a cell is, in words. */
function placeName(game, cell) {
  const [z, y, x] = placeOf(game, cell);
  if (game.block) return `board ${blockOf(game, cell) + 1} row ${(y % game.block[0]) + 1} column ${(x % game.block[1]) + 1}`;
  return `${game.shape.length === 3 ? "layer " + (z + 1) + " " : ""}row ${y + 1} column ${x + 1}`;
}

/** Move the focus by a key; digits choose columns where marks fall, and count the cells of a small board. */
function travel(event, look, on) {
  const { game } = look;
  const [layers, height, width] = sizes(game);
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const digit = /^[1-9]$/.test(event.key) && layers === 1 ? Number(event.key) - 1 : 99;
  if (digit < (game.gravity ? width : width * height <= 9 ? width * height : 0)) on.choose(digit, event);
  const step = STEPS[event.key];
  if (!step) return;
  event.preventDefault();
  const [z, y, x] = placeOf(game, Math.max(0, look.focus)).map((from, axis) =>
    Math.min([layers, height, width][axis] - 1, Math.max(0, from + step[axis])),
  );
  document.getElementById(`cell-${(z * height + y) * width + x}`)?.focus();
}

/** Where the mark of a move that a cell means would come to lie; -1 if there is none. */
export function landing(game, position, cell) {
  const moves = cell < 0 ? [] : movesAt(game, position.legal, cell);
  return moves.length ? game.move_cells[moves[0]] : -1;
}
