/**
 * A board, for any game: from the shape, the moves and the board string that the server sends, and no rules.
 *
 * Each layer is a grid of buttons with one of them in the order of tabbing; arrow keys go on from there.
 *
 * @typedef {import("./state.js").Game} Game
 * @typedef {import("./state.js").Position} Position
 * @typedef {import("./dom.js").Tree} Tree
 * @typedef {{game: Game, position: Position, last: number, canMove: boolean, ghost: number, ghostMark: string,
 *   isPending: boolean, focus: number}} Look
 *   `last`, `ghost` and `focus` are cells, -1 for none
 * @typedef {{choose: (cell: number, event: any) => void, hover: (cell: number) => void, focus: (cell: number) => void}} On
 */

import { h } from "./dom.js";
import { movesAt } from "./state.js";

/**
 * @param {Look} look
 * @param {On} on
 */
export function board(look, on) {
  const { game, position } = look;
  const [layers, height, width] = sizes(game);
  const legal = new Set(position.legal.map((move) => game.move_cells[move]));
  const kind = [game.gravity ? "gravity" : "", layers > 1 ? "deep" : "flat", game.block ? "blocks" : ""].join(" ");
  return h(
    "div",
    {
      key: "board",
      class: `boards ${kind} ${look.canMove ? "mine" : ""} ${position.to_move === null ? "over" : ""}`,
      style: { "--w": width, "--h": height },
      onkeydown: (/** @type {KeyboardEvent} */ event) => travel(event, look, on),
      onpointerleave: () => on.hover(-1),
    },
    Array.from({ length: layers }, (_, z) => layer(look, on, legal, z)),
  );
}

/** @param {Game} game */
export function sizes(game) {
  return game.shape.length === 3 ? game.shape : [1, ...game.shape];
}

/**
 * @param {Look} look
 * @param {On} on
 * @param {Set<number>} legal
 * @param {number} z
 */
function layer(look, on, legal, z) {
  const { game } = look;
  const [layers, height, width] = sizes(game);
  const name = layers > 1 ? `Layer ${z + 1}` : "";
  const rows = Array.from({ length: height }, (_, y) =>
    h(
      "div",
      { role: "row" },
      Array.from({ length: width }, (_, x) => square(look, on, legal, (z * height + y) * width + x)),
    ),
  );
  return h(
    "div",
    { class: "layer" },
    name && h("p", { class: "layer-name", "aria-hidden": "true" }, name),
    h(
      "div",
      { class: "plane" },
      game.block && h("div", { class: "under", "aria-hidden": "true" }, blocks(look, legal)),
      h("div", { role: "grid", "aria-label": name || "Board", class: "grid" }, rows),
      h("svg", { class: "above", viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }, above(look, z)),
    ),
  );
}

/**
 * @param {Look} look
 * @param {On} on
 * @param {Set<number>} legal
 * @param {number} cell
 */
function square(look, on, legal, cell) {
  const { game, position } = look;
  const mark = position.board[cell];
  const isGhost = cell === look.ghost && mark === ".";
  const isWon = position.line.includes(cell);
  const words = [
    placeName(game, cell),
    mark === "." ? (isGhost && look.isPending ? `${look.ghostMark}, on its way` : "empty") : mark,
    game.block && mark === "." && look.canMove && !legal.has(cell) && "not in play",
    cell === look.last && "last move",
    isWon && "winning line",
  ];
  const classes = ["cell", cell === look.last && "last", isWon && "won", legal.has(cell) && "free", isGhost && "ghost"];
  return h(
    "button",
    {
      key: cell,
      id: `cell-${cell}`,
      role: "gridcell",
      type: "button",
      class: classes.filter(Boolean).join(" "),
      tabindex: cell === look.focus ? 0 : -1,
      "aria-label": words.filter(Boolean).join(", "),
      style: { "--row": Math.floor(cell / sizes(game)[2]) % sizes(game)[1] },
      onclick: (/** @type {any} */ event) => on.choose(cell, event),
      onfocus: () => on.focus(cell),
      onpointerenter: (/** @type {PointerEvent} */ event) => event.pointerType === "mouse" && on.hover(cell),
    },
    (mark !== "." || isGhost) && symbol(isGhost ? look.ghostMark : mark, game.gravity),
  );
}

/**
 * A mark as a picture: X and O differ by their shape, whatever their colour.
 *
 * @param {string} mark
 * @param {boolean} [isDisc]
 * @returns {Tree}
 */
export function symbol(mark, isDisc = false) {
  const marks = [...mark];
  const children = isDisc && marks.length === 1 ? [h("circle", { class: "disc", cx: 50, cy: 50, r: 43 })] : [];
  if (marks.length === 1) children.push(stroke(mark));
  else children.push(...marks.map((each, n) => h("g", { transform: `translate(${n * 46} 22) scale(.56)` }, stroke(each))));
  const kind = marks.length === 1 ? `mark-${kindOf(mark)}` : "mark-any";
  return h(
    "svg",
    { key: mark, class: `mark ${kind} ${isDisc ? "on-disc" : ""}`, viewBox: "0 0 100 100", "aria-hidden": "true" },
    children,
  );
}

/** @param {string} mark */
function kindOf(mark) {
  return mark === "X" ? "x" : mark === "O" ? "o" : "any";
}

/** @param {string} mark */
function stroke(mark) {
  if (mark === "X") return h("path", { class: "stroke", pathLength: 1, d: "M28 28 L72 72 M72 28 L28 72" });
  if (mark === "O") return h("circle", { class: "stroke", pathLength: 1, cx: 50, cy: 50, r: 24 });
  return h("rect", { class: "stroke", pathLength: 1, x: 30, y: 30, width: 40, height: 40 });
}

/**
 * The small boards below the cells; those that may be played in stand out.
 *
 * @param {Look} look
 * @param {Set<number>} legal
 */
function blocks(look, legal) {
  const [, height, width] = sizes(look.game);
  const [down, across] = look.game.block ?? [1, 1];
  const open = new Set([...legal].map((cell) => blockOf(look.game, cell)));
  return Array.from({ length: (height / down) * (width / across) }, (_, n) => {
    const perRow = width / across;
    const place = { left: `${((n % perRow) * 100) / perRow}%`, top: `${(Math.floor(n / perRow) * 100 * down) / height}%` };
    const size = { width: `${(100 * across) / width}%`, height: `${(100 * down) / height}%` };
    const won = look.position.blocks?.[n] ?? ".";
    return h("div", { class: `block ${open.has(n) ? "open" : ""} block-${kindOf(won)}`, style: { ...place, ...size } });
  });
}

/**
 * @param {Game} game
 * @param {number} cell
 */
function blockOf(game, cell) {
  const [, height, width] = sizes(game);
  const [down, across] = game.block ?? [height, width];
  return Math.floor(Math.floor(cell / width) / down) * (width / across) + Math.floor((cell % width) / across);
}

/**
 * What lies above the cells: small boards that are won, and the line that won.
 *
 * @param {Look} look
 * @param {number} z
 */
function above(look, z) {
  const { game, position } = look;
  const [layers, height, width] = sizes(game);
  const drawn = [];
  if (game.block && position.blocks) {
    const [down, across] = game.block;
    [...position.blocks].forEach((mark, n) => {
      if (mark !== "X" && mark !== "O") return;
      const [x, y] = [(n % (width / across)) * across, Math.floor(n / (width / across)) * down];
      const scale = `translate(${x} ${y}) scale(${across / 100} ${down / 100})`;
      drawn.push(h("g", { key: `${n}${mark}`, class: `big mark-${kindOf(mark)}`, transform: scale }, stroke(mark)));
    });
  }
  const ends = layers === 1 && z === 0 ? straight(position.line, width) : null;
  if (ends) {
    const at = (/** @type {number} */ cell) => [(cell % width) + 0.5, Math.floor(cell / width) + 0.5];
    const [[x1, y1], [x2, y2]] = ends.map(at);
    const [dx, dy] = [Math.sign(x2 - x1) * 0.25, Math.sign(y2 - y1) * 0.25];
    const line = { x1: x1 - dx, y1: y1 - dy, x2: x2 + dx, y2: y2 + dy };
    drawn.push(h("line", { key: "line", class: "winning", pathLength: 1, ...line }));
  }
  return drawn;
}

/**
 * The first and last cell of a line, if the cells stand in one.
 *
 * @param {number[]} cells
 * @param {number} width
 */
function straight(cells, width) {
  if (cells.length < 2) return null;
  const step = cells[1] - cells[0];
  const across = (cells[1] % width) - (cells[0] % width);
  const isOne = cells.every((cell, n) => cell === cells[0] + n * step && (cell % width) === (cells[0] % width) + n * across);
  return isOne && Math.abs(across) <= 1 && step <= width + 1 ? [cells[0], cells[cells.length - 1]] : null;
}

/**
 * Where a cell is, in words.
 *
 * @param {Game} game
 * @param {number} cell
 */
export function placeName(game, cell) {
  const [layers, height, width] = sizes(game);
  const [z, y, x] = [Math.floor(cell / (width * height)), Math.floor(cell / width) % height, cell % width];
  if (game.block) {
    return `board ${blockOf(game, cell) + 1} row ${(y % game.block[0]) + 1} column ${(x % game.block[1]) + 1}`;
  }
  return `${layers > 1 ? `layer ${z + 1} ` : ""}row ${y + 1} column ${x + 1}`;
}

/** @type {Record<string, [number, number, number]>} */
const STEPS = {
  ArrowLeft: [0, 0, -1],
  ArrowRight: [0, 0, 1],
  ArrowUp: [0, -1, 0],
  ArrowDown: [0, 1, 0],
  PageUp: [-1, 0, 0],
  PageDown: [1, 0, 0],
};

/**
 * Move the focus by a key, or choose by a digit where digits name columns, or count the cells of a small board.
 *
 * @param {KeyboardEvent} event
 * @param {Look} look
 * @param {On} on
 */
function travel(event, look, on) {
  const { game } = look;
  const [layers, height, width] = sizes(game);
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (/^[1-9]$/.test(event.key) && layers === 1) {
    const cell = Number(event.key) - 1;
    if (game.gravity ? cell < width : width * height <= 9 && cell < width * height) on.choose(cell, event);
    return;
  }
  const from = Math.max(0, look.focus);
  let [z, y, x] = [Math.floor(from / (width * height)), Math.floor(from / width) % height, from % width];
  const step = STEPS[event.key];
  if (step) [z, y, x] = [z + step[0], y + step[1], x + step[2]];
  else if (event.key === "Home") x = 0;
  else if (event.key === "End") x = width - 1;
  else return;
  event.preventDefault();
  if (z < 0 || z >= layers || y < 0 || y >= height || x < 0 || x >= width) return;
  document.getElementById(`cell-${(z * height + y) * width + x}`)?.focus();
}

/**
 * Where the mark of a move that a cell means would come to lie; -1 if there is none.
 *
 * @param {Game} game
 * @param {Position} position
 * @param {number} cell
 */
export function landing(game, position, cell) {
  const moves = cell < 0 ? [] : movesAt(game, position.legal, cell);
  return moves.length ? game.move_cells[moves[0]] : -1;
}
