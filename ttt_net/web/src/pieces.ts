/** Marks, icons and small boards as SVG. Knows no match. */

import { type Child, h, type Tree } from "./dom.js";

type Little = { marks?: string; big?: string; stack?: [number, string]; line?: string };

/** Icons of 24 by 24, each a single stroke: those that the first screen needs. */
const ICONS = {
  back: "M15 5l-7 7 7 7",
  close: "M6 6l12 12M18 6L6 18",
  settings: "M4 8h8M18 8h2M4 16h2M12 16h8M15 5.5a2.5 2.5 0 1 0 0 5a2.5 2.5 0 1 0 0-5M9 13.5a2.5 2.5 0 1 0 0 5a2.5 2.5 0 1 0 0-5",
};

const range = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

export const icon = (name: keyof typeof ICONS): Tree => drawnIcon(name, ICONS[name]);

export const drawnIcon = (key: string, d: string): Tree => h("svg.icon", { key, viewBox: "0 0 24 24", hidden: true }, h("path", { d }));

/** The logo: an X and an O. */
export const emblem = (): Tree =>
  h(
    "svg.emblem",
    { viewBox: "0 0 64 64", hidden: true },
    h("rect", { width: 64, height: 64, rx: 16 }),
    h("path.mark-X", { d: "M14 25l14 14m0-14L14 39" }),
    h("circle.mark-O", { cx: 44, cy: 32, r: 8 }),
  );

/**
 * A mark, or several to choose from, as a picture: they differ by shape, not only by colour. A mark on a board fills
 * its cell.
 */
export function symbol(marks: string, isDisc = false, isLying = false): Tree {
  const isOne = marks.length === 1;
  return h(
    "svg.mark",
    {
      key: marks,
      class: `mark-${isOne ? marks : "any"} ${isDisc ? "on-disc" : ""}`,
      viewBox: "0 0 100 100",
      hidden: true,
      preserveAspectRatio: isLying && "none",
    },
    isDisc && isOne && [h("circle.disc", { cx: 50, cy: 50, r: 46 }), h("circle.rim", { cx: 50, cy: 50, r: 37 })],
    isOne ? stroke(marks) : [...marks].map((mark, n) => h("g", { key: mark, transform: `translate(${n * 46} 22) scale(.56)` }, stroke(mark))),
  );
}

/** Two pulsing marks: something is loading. */
export const pulse = (): Tree => h("div.pulse", { hidden: true }, symbol("X"), symbol("O"));

/** A mark as a stone: black for X, white for O. */
export const stone = (mark: string): Tree =>
  h(
    "svg.mark.stone",
    { key: mark, class: `mark-${mark}`, viewBox: "0 0 100 100", hidden: true },
    h("circle.body", { cx: 50, cy: 50, r: 46 }),
    h("ellipse.shine", { cx: 38, cy: 32, rx: 16, ry: 11 }),
  );

export function stroke(mark: string): Child {
  if (mark === "X") {
    return [
      h("path.stroke.one", { pathLength: 1, d: "M27 27 L73 73" }),
      h("path.stroke.two", { pathLength: 1, d: "M73 27 L27 73" }),
    ];
  }
  if (mark === "O") return h("circle.stroke", { pathLength: 1, cx: 50, cy: 50, r: 25, transform: "rotate(-90 50 50)" });
  return h("rect.stroke", { pathLength: 1, x: 30, y: 30, width: 40, height: 40 });
}

/** The lines on whose crossings stones lie, and the star points. */
export function crossings(width: number, height: number): Child {
  const across = range(height, (y) => `M.5 ${y + 0.5}H${width - 0.5}`);
  const down = range(width, (x) => `M${x + 0.5} .5V${height - 0.5}`);
  const third = (size: number): number[] => (size >= 13 ? [3, (size - 1) / 2, size - 4] : [2, (size - 1) / 2, size - 3]).filter(Number.isInteger);
  const points = third(width).flatMap((x) => third(height).map((y) => h("circle", { cx: x + 0.5, cy: y + 0.5, r: 0.1 })));
  return [h("path", { d: [...across, ...down].join("") }), points];
}

/** The lines between cells; on a board of small boards, the lines within each, on a separate card. */
export function hash(width: number, height: number, [down = height, across = width]: number[] = []): Child {
  return range(width / across, (bx) =>
    range(height / down, (by) => {
      const [x, y] = [bx * across, by * down];
      const isWhole = across === width;
      const end = isWhole ? 0.07 : 0.25;
      const lines = [
        range(across - 1, (n) => `M${x + n + 1} ${y + end}v${down - 2 * end}`),
        range(down - 1, (n) => `M${x + end} ${y + n + 1}h${across - 2 * end}`),
      ];
      const key = `${bx} ${by}`;
      return [
        !isWhole && h("rect.card", { key, x: x + 0.07, y: y + 0.07, width: across - 0.14, height: down - 0.14, rx: 0.22 }),
        h("path", { key, d: lines.flat().join("") }),
      ];
    }),
  );
}

/** A small position of each named game; a lower-case letter is a fading mark, `line` is struck through. */
const LITTLE: Record<string, Little> = {
  tictactoe: { marks: "XO.|OX.|..X", line: "M5 5L43 43" },
  misere: { marks: "O.X|.OX|O..", line: "" },
  wild: { marks: "XXO|.OX|..." },
  vanishing: { marks: "x.O|OX.|.oX" },
  connect4: { marks: ".......|.......|...O...|..XX...|.OXOO..|.XOXXO." },
  gomoku: { marks: ".......|....O..|...X...|..XO...|.XOXO..|X......|......." },
  ultimate: { big: "X..|.O*|..." },
  tictactoe3d: { stack: [3, "X........|....X....|O.......X"] },
  qubic: { stack: [4, "...............O|.X........O.....|.....X....X.....|O.............X."] },
  scorefour: { stack: [4, "....X.O.........|.O..XX.....O....|O....OX..X......|..X......X.O...."] },
};

const pictures = new Map<string, Tree>();

/** A small picture of a game's board with a few marks on it. */
export function picture(name: string, shape: number[], isFalling: boolean): Tree {
  const key = `${name} ${shape}`;
  const known = pictures.get(key);
  if (known) return known;
  const look = LITTLE[name] ?? { marks: name === "own" ? ".....|..O..|.XX..|.OX..|....O" : "...|.X.|..O" };
  const isRack = isFalling && shape.length < 3;
  const drawn = look.stack ? littleStack(...look.stack) : look.big !== undefined ? littleBlocks(look.big) : littleBoard(look, name === "gomoku", isRack);
  const made = h("svg.picture", { key: name, class: isRack && "racked", viewBox: "-1 -1 50 50", hidden: true }, drawn);
  pictures.set(key, made);
  return made;
}

function littleBoard({ marks = "", line }: Little, isStones: boolean, isRack: boolean): Child {
  const rows = marks.split("|");
  const wide = rows[0]?.length ?? 1;
  const step = 48 / wide;
  const top = (48 - step * rows.length) / 2;
  const grid = isStones
    ? range(wide, (n) => `M${(n + 0.5) * step} 3V45M3 ${(n + 0.5) * step}H45`)
    : range(wide - 1, (n) => `M${(n + 1) * step} 2V46M2 ${(n + 1) * step}H46`);
  const pieces = rows.flatMap((row, y) =>
    [...row].map((mark, x) => {
      const [cx, cy] = [(x + 0.5) * step, top + (y + 0.5) * step];
      if (isRack) return h("circle", { class: mark === "." ? "hole" : `disc mark-${mark}`, cx, cy, r: step * 0.38 });
      if (mark === ".") return null;
      return isStones ? h("circle", { class: `body mark-${mark}`, cx, cy, r: step * 0.44 }) : little(mark, cx, cy, step * 0.26);
    }),
  );
  return [
    isRack && h("rect.rack", { x: -1, y: top - 2, width: 50, height: 52 - 2 * top, rx: 4 }),
    isStones && h("rect.wood", { x: 0, y: 0, width: 48, height: 48, rx: 4 }),
    !isRack && h("path.grid", { d: grid.join("") }),
    pieces,
    line !== undefined && line !== "" && h("path.struck", { d: line }),
  ];
}

/** A mark around a point, in strokes. */
const little = (mark: string, x: number, y: number, r: number, flat = 1): Tree => {
  const name = `small mark-${mark.toUpperCase()} ${/[xo]/.test(mark) ? "faded" : ""}`;
  const [dx, dy] = [r, r * flat];
  if (/x/i.test(mark)) return h("path", { class: name, d: `M${x - dx} ${y - dy}l${2 * dx} ${2 * dy}m0 ${-2 * dy}l${-2 * dx} ${2 * dy}` });
  return h("ellipse", { class: name, cx: x, cy: y, rx: dx * 1.05, ry: dy * 1.05 });
};

function littleBlocks(big: string): Child {
  return big.split("|").flatMap((row, y) =>
    [...row].map((mark, x) => [
      h("rect", { class: mark === "*" ? "block lit" : "block", x: x * 16.4, y: y * 16.4, width: 15, height: 15, rx: 2.5 }),
      /[XO]/.test(mark) ? little(mark, x * 16.4 + 7.5, y * 16.4 + 7.5, 4.4) : (x + y) % 2 === 1 && little(x > y ? "X" : "O", x * 16.4 + 4, y * 16.4 + 4, 1.7),
    ]),
  );
}

function littleStack(side: number, marks: string): Child {
  const layers = marks.split("|");
  const high = 48 / layers.length;
  const deep = high * 0.82;
  const lean = 12;
  return layers.flatMap((layer, z) => {
    const at = (x: number, y: number): [number, number] => [((x * (48 - lean)) / side + lean - (y * lean) / side), z * high + 1 + (y * deep) / side];
    const corners = [at(0, 0), at(side, 0), at(side, side), at(0, side)];
    return [
      h("path.plate", { d: `M${corners.join("L")}Z` }),
      [...layer].map((mark, n) => mark !== "." && little(mark, ...at((n % side) + 0.5, Math.floor(n / side) + 0.5), 7 / side, 0.62)),
    ];
  });
}
