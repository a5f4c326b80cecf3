/** Games of other packages: hexagons, edges with an owner, counters, notes, endings of their own and faults. */

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { document, textOf as textsOf } from "./document.js";
import { ended, GAME, position, snapshot } from "./matches.js";
import { WholePage } from "./whole.js";

const pages: WholePage[] = [];
afterEach(() => {
  for (const page of pages.splice(0)) page.close();
});

async function ann(): Promise<WholePage> {
  const page = await WholePage.ofAnn();
  pages.push(page);
  return page;
}

const HEX = {
  ...GAME,
  name: "hex3",
  title: "Hex 3×3",
  move_names: ["a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"],
  geometry: { runs: [[0, 0, 0, 3], [0, 1, 1, 3], [0, 2, 2, 3]], cell: "hexagon", step: 2, edges: { top: "X", bottom: "X", left: "O", right: "O" } },
  pieces: [{ mark: "X", name: "blue", look: "cross" }, { mark: "O", name: "red", look: "ring" }],
  endings: { connection: "{winner} connected both edges" },
};
const PENTE = { ...GAME, name: "pente3", title: "Pente 3×3", geometry: { runs: [[0, 0, 0, 3], [0, 1, 0, 3], [0, 2, 0, 3]], cell: "point" } };

const textOf = (selector: string): string => textsOf(selector).join(" ");
const style = (selector: string, name: string): string => `${document.querySelector<HTMLElement>(selector)!.style.getPropertyValue(name)}`;

test("each row of hexagons begins half a cell further to the right", async () => {
  const page = await ann();
  await page.says(snapshot({ game: HEX, position: position("X........", { to_move: 0 }) }));
  assert.deepEqual([0, 3, 6].map((cell) => style(`#cell-${cell}`, "--shift")), ["0", "0.5", "1"]);
  assert.equal(style(".boards", "--wide"), "4");
  assert.equal(Number(style(".boards", "--high")).toFixed(3), (Math.sqrt(3) + 2 / Math.sqrt(3)).toFixed(3));
  assert.ok(document.querySelector(".boards.hexes"));
});

test("each edge has the colour of the player who owns it, and rows and columns have the names of the moves", async () => {
  const page = await ann();
  await page.says(snapshot({ game: HEX }));
  const edges = [...document.querySelectorAll(".around .edge")].map((edge) => edge.getAttribute("class"));
  assert.deepEqual(edges.map((names) => names!.match(/mark-./)![0]), ["mark-X", "mark-X", "mark-O", "mark-O"]);
  assert.equal([...document.querySelectorAll(".around text")].map((each) => each.textContent).join(""), "123abc");
});

test("cells are announced by the names of their moves, and rows that count from the top are named so", async () => {
  const page = await ann();
  await page.says(snapshot({ game: HEX }));
  const spoken = (cell: number): string => document.querySelector(`#cell-${cell}`)!.getAttribute("aria-label")!.split(",")[0]!;
  assert.deepEqual([spoken(0), spoken(5)], ["a1", "c2"]);
  await page.says(snapshot({ game: { ...PENTE, geometry: undefined, move_names: HEX.move_names } }));
  assert.deepEqual([...document.querySelectorAll(".rows span")].map((each) => each.textContent), ["1", "2", "3"]);
});

test("where pieces move from cell to cell, cells and columns have the names of the second cells", async () => {
  const page = await ann();
  const names = HEX.move_names.map((to, cell) => `${HEX.move_names[(cell + 1) % 9]}${to}`);
  await page.says(snapshot({ game: { ...GAME, name: "walk", move_names: names } }));
  const spoken = (cell: number): string => document.querySelector(`#cell-${cell}`)!.getAttribute("aria-label")!.split(",")[0]!;
  assert.deepEqual([0, 2, 4, 8].map(spoken), ["a1", "c1", "b2", "c3"]);
  assert.deepEqual([...document.querySelectorAll(".columns span")].map((each) => each.textContent), ["a", "b", "c"]);
});

test("players of pieces read that it is their turn, and not which letter to place", async () => {
  const page = await ann();
  await page.says(snapshot({ game: HEX }));
  assert.match(textOf(".deck"), /Your turn\./);
  assert.doesNotMatch(textOf(".deck"), /place X/);
});

test("a tap on a hexagon plays it", async () => {
  const page = await ann();
  await page.says(snapshot({ game: HEX }));
  await page.tap(5);
  assert.equal((page.of("play")[0] as { move?: number }).move, 5);
});

test("a winning chain is marked without a line, and the end is described in the words of the game", async () => {
  const page = await ann();
  const won = position("X.OX.OX..", { to_move: null, legal: [], notes: [{ kind: "win", cells: [0, 3, 6] }] });
  await page.says(snapshot({ game: HEX }));
  await page.says({ type: "played", match: "m1", seq: 2, at_ms: 0, side: 0, ply: 5, move: 6, position: { ...won, ply: 5 } });
  await page.says(ended(0, "connection", 3));
  assert.deepEqual([...document.querySelectorAll(".cell.won")].map(({ id }) => id), ["cell-0", "cell-3", "cell-6"]);
  assert.equal(document.querySelector(".strike"), null);
  assert.match(textOf(".deck"), /You won[^]*Ann connected both edges/);
});

test("stones lie on points, and counters stand beside the names", async () => {
  const page = await ann();
  const counters = [{ name: "pairs", value: 1, goal: 5, side: 0 }, { name: "pairs", value: 0, goal: 5, side: 1 }];
  await page.says(snapshot({ game: PENTE, position: position("X........", { to_move: 0, counters }) }));
  assert.ok(document.querySelector(".boards.stones #cell-0 .stone"));
  assert.equal(textOf(".seat.of-X .counter"), "pairs: 1/5");
  assert.equal(textOf(".seat.of-O .counter"), "pairs: 0/5");
});

test("a side that can only pass has a button for it, and reads why", async () => {
  const page = await ann();
  const game = { ...GAME, name: "othello3", move_cells: [...GAME.move_cells, -1], move_names: [...GAME.move_names, "pass"] };
  const notes = [{ kind: "pass", text: "no move turns a disc: pass" }];
  await page.says(snapshot({ game, position: position("XO.......", { to_move: 0, legal: [9], notes }) }));
  assert.match(textOf(".deck .status"), /No move turns a disc: pass\.$/);
  await page.press("Play pass");
  assert.equal((page.of("play")[0] as { move?: number }).move, 9);
});

test("a game without a page of rules is explained by its rule, once", async () => {
  const page = await ann();
  await page.says(snapshot({ game: HEX }));
  await page.press("How to play");
  await page.says({ type: "rules", game: "hex3", title: "Hex 3×3", rule: "connect your two edges", goal: "Connect your two edges.", special: "", tips: [], example: null });
  assert.equal(textOf("[role=dialog]").split("Connect your two edges.").length, 2);
});

test("a match whose rules failed says so", async () => {
  const page = await ann();
  await page.says(snapshot({ game: HEX }));
  await page.says({ ...ended(null, "abort"), fault: "the rules of hex3 failed: Oops" });
  assert.match(textOf(".deck"), /does not count: The rules of hex3 failed: Oops\./);
});
