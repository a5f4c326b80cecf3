/**
 * The parts that games of other packages may show beside a board of squares: hexagons, owned edges, counters and notes.
 */

import { h, type Tree } from "./dom.js";
import type { Game, Match, Position } from "./store.js";

/** The distance between rows of hexagons, relative to their width. */
const PITCH = Math.sqrt(3) / 2;
const HIGH = 2 / Math.sqrt(3);

/** Whether the cells are hexagons, in rows that may begin at half cells. */
export const isHexes = ({ geometry }: Game): boolean => geometry?.step === 2;

/** The width and height of a board of hexagons, in cells. */
export function extent({ geometry }: Game): [number, number] {
  const runs = geometry?.runs ?? [];
  return [Math.max(...runs.map(([, , x, count]) => x / 2 + count)), (runs.length - 1) * PITCH + HIGH];
}

/** The edges of a board of hexagons in the colours of their owners, and the names of rows and columns. */
export function around(game: Game): Tree {
  const runs = game.geometry?.runs ?? [];
  const edges = game.geometry?.edges ?? {};
  const [wide, high] = extent(game);
  const last = runs.length - 1;
  const across = (row: number, isTop: boolean): string =>
    points(runs[row]?.[3] ?? 0, (n) => {
      const [x, y] = [(runs[row]?.[2] ?? 0) / 2 + n, row * PITCH];
      const [shoulder, tip] = isTop ? [y + HIGH / 4, y] : [y + (HIGH * 3) / 4, y + HIGH];
      return `${x} ${shoulder}L${x + 0.5} ${tip}L${x + 1} ${shoulder}`;
    });
  const down = (isLeft: boolean): string =>
    points(runs.length, (row) => {
      const [, , from = 0, count = 0] = runs[row] ?? [];
      const [x, y] = [from / 2 + (isLeft ? 0 : count), row * PITCH];
      return `${x} ${y + HIGH / 4}L${x} ${y + (HIGH * 3) / 4}`;
    });
  const edge = (name: string, d: string): Tree => h("path.edge", { key: name, class: `mark-${edges[name] ?? "any"}`, d: `M${d}` });
  const nameAt = (cell: number): string => game.move_names[game.move_cells.indexOf(cell)] ?? "";
  const firsts = runs.map((_, row) => runs.slice(0, row).reduce((sum, [, , , count]) => sum + count, 0));
  return h(
    "svg.around",
    { viewBox: `0 0 ${wide} ${high}`, hidden: true },
    [edge("top", across(0, true)), edge("bottom", across(last, false)), edge("left", down(true)), edge("right", down(false))],
    runs.map(([, , x], row) => h("text", { key: `row ${row}`, x: x / 2 - 0.35, y: row * PITCH + HIGH / 2 + 0.12 }, nameAt(firsts[row]!).replace(/^\D+/, ""))),
    Array.from({ length: runs[0]?.[3] ?? 0 }, (_, n) => h("text", { key: `column ${n}`, x: (runs[0]?.[2] ?? 0) / 2 + n + 0.5, y: -0.2 }, nameAt(n).replace(/\d+$/, ""))),
  );
}

const points = (count: number, at: (n: number) => string): string => Array.from({ length: count }, (_, n) => at(n)).join("L");

/** The counters beside the name of a side, such as captured pairs. */
export const counters = ({ position }: Match, side: number): Tree[] =>
  (position.counters ?? [])
    .filter((each) => each.side === side || (each.side === undefined && side === 0))
    .map(({ name, value, goal }) => h("span.counter", { key: name }, `${name}: ${value}${goal === undefined || goal === null ? "" : `/${goal}`}`));

/** The sentences of the notes on a position. */
export const notes = (position: Position): string => (position.notes ?? []).map(({ text }) => text ?? "").filter(Boolean).join("; ");
