/** Drawing: the least change of the document, text that stays text, and a large lobby that changes in one place. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { changesWhile, document, textOf } from "./document.js";
import { GAME, position } from "./matches.js";
import { board, type Look } from "../../../ttt_net/web/src/board.js";
import { h, patch } from "../../../ttt_net/web/src/dom.js";
import { bring } from "../../../ttt_net/web/src/i18n.js";
import { lobbyScreen } from "../../../ttt_net/web/src/lobby.js";
import { once, part } from "../../../ttt_net/web/src/parts.js";
import type { LiveMatch, ListedPlayer } from "../../../ttt_net/web/src/protocol.js";
import { hear, set, state } from "../../../ttt_net/web/src/store.js";
import { enMore } from "../../../ttt_net/web/src/words/en-more.js";

bring(enMore);
const CELLS = Array.from({ length: 225 }, (_, cell) => cell);
const GOMOKU = { ...GAME, name: "gomoku", shape: [15, 15], move_cells: CELLS, move_names: CELLS.map((cell) => `${"abcdefghijklmno"[cell % 15]}${15 - Math.floor(cell / 15)}`) };
const place = (): Element => document.body.appendChild(document.createElement("div"));
const items = (names: string[]) => [h("ul", names.map((name) => h("li", { key: name }, name)))];

test("an element that stays is the same element, wherever it goes", () => {
  const root = place();
  patch(root, items(["a", "b", "c"]));
  const [a, b, c] = root.querySelectorAll("li");
  patch(root, items(["c", "d", "a"]));
  const now = [...root.querySelectorAll("li")];
  assert.deepEqual(now.map((each) => each.textContent), ["c", "d", "a"]);
  assert.ok(now[0] === c && now[2] === a);
  assert.ok(!b?.isConnected);
});

test("an equal description changes nothing", () => {
  const root = place();
  const tree = () => [h("p.quiet", { label: "said", style: { "--n": 1 } }, "text", h("button", { disabled: true, class: ["large", false] }, "press"))];
  assert.ok(changesWhile(() => patch(root, tree())) > 0);
  assert.equal(changesWhile(() => patch(root, tree())), 0);
});

test("one property that changes is one change, and one that is gone is removed", () => {
  const root = place();
  patch(root, [h("p", { title: "one", id: "here" }, "text")]);
  assert.equal(changesWhile(() => patch(root, [h("p", { title: "two", id: "here" }, "text")])), 1);
  patch(root, [h("p", "text")]);
  assert.deepEqual([root.querySelector("p")!.getAttribute("title"), root.querySelector("p")!.getAttribute("id")], [null, null]);
});

test("text becomes text and never an element", () => {
  const root = place();
  patch(root, [h("p", { title: "<b>" }, "<img src=x>", ["<script>"], false, null, 0)]);
  assert.equal(root.querySelector("p")!.textContent, "<img src=x><script>0");
  assert.equal(root.querySelectorAll("img, script").length, 0);
});

test("a part is described again only when what it shows has changed", () => {
  let times = 0;
  const described = (shown: unknown[]) => part("of a test", shown, () => h("p", `${++times}`));
  const first = described([1, "a"]);
  assert.equal(described([1, "a"]), first);
  assert.notEqual(described([1, "b"]), first);
  assert.equal(times, 2);
  const entry = once((value: { name: string }) => h("li", value.name));
  const value = { name: "Ann" };
  assert.equal(entry(value, "en"), entry(value, "en"));
  assert.notEqual(entry(value, "en"), entry(value, "fr"));
});

const PLAYERS: ListedPlayer[] = Array.from({ length: 200 }, (_, n) => ({ name: `Player ${n}`, ...(n < 100 && { playing: 1 }) }) as ListedPlayer);
const live = (plies: number[]): LiveMatch[] =>
  plies.map((ply, n) => ({ match: `match${n}`, game: "gomoku", players: [{ name: `Player ${2 * n}` }, { name: `Player ${2 * n + 1}` }], ply, watchers: 0 }));
const draw = (): void => patch(document.getElementById("page")!, [lobbyScreen()]);
/** A message as it comes, with no value of the one before. */
const fresh = <T>(message: T): T => JSON.parse(JSON.stringify(message));

function fill(): number[] {
  const plies = Array.from({ length: 50 }, (_, n) => n);
  hear({ type: "welcome", protocol: 1, server: "here", you: { name: "Ann" }, matches: [], features: ["puzzle"] }, 0);
  hear({ type: "players", online: 200, players: fresh(PLAYERS) }, 0);
  hear({ type: "live", count: 50, matches: live(plies) }, 0);
  set({ all: "" });
  draw();
  return plies;
}

test("in a lobby of 200 players and 50 matches the same lists again change nothing", () => {
  const plies = fill();
  assert.equal(textOf(".entries li").length, 24, "the beginning of either list");
  const [players, matches] = [state.players, state.live];
  hear({ type: "players", online: 200, players: fresh(PLAYERS) }, 1);
  hear({ type: "live", count: 50, matches: live(plies) }, 1);
  assert.ok(state.players === players && state.live === matches);
  assert.equal(changesWhile(draw), 0);
});

test("a move in one of 50 matches changes the line of that match alone", () => {
  const plies = fill();
  plies[3] = 77;
  hear({ type: "live", count: 50, matches: live(plies) }, 1);
  assert.ok(changesWhile(draw) <= 3);
  assert.ok(textOf(".entries li").some((line) => line.includes("Player 6 – Player 7") && line.includes("move 77")));
});

test("a match that ends and one that begins change two lines of the list, and nothing else", () => {
  const plies = fill();
  const before = new Set(document.querySelectorAll("#page li"));
  const matches = live(plies).filter(({ match }) => match !== "match5");
  hear({ type: "live", count: 50, matches: [...matches, { ...live([0])[0]!, match: "new" }] }, 1);
  draw();
  const now = [...document.querySelectorAll("#page li")];
  assert.deepEqual([now.length, now.filter((each) => !before.has(each)).length], [24, 1]);
});

test("players who wait are listed once, with those who play behind the free", () => {
  fill();
  hear({ type: "seeks", count: 1, seeks: [{ seek: 1, by: { name: "Player 150" }, games: ["gomoku"] }] }, 1);
  draw();
  const people = textOf("section[aria-label='People here'] li");
  assert.ok(people.length === 12 && people.every((line) => line.includes("free")), people.join());
  set({ all: "People here" });
  draw();
  const all = textOf("section[aria-label='People here'] li");
  assert.equal(all.filter((line) => line.includes("Player 150")).length, 0);
  assert.equal(all.length, 199);
});

test("a move on a large board describes again only the cells that look different, and their taps are those of now", () => {
  const root = place();
  const said: string[] = [];
  const drawBoard = (cells: string, more: Partial<Look>, name: string) => {
    const look = { game: GOMOKU, position: position(cells), last: -1, canMove: true, ghost: -1, ghostMark: "X", isPending: false, focus: 0, fading: -1, hints: "", alarms: "", isLoss: false, isFlat: false, ...more } as Look;
    patch(root, [board(look, { choose: (cell) => said.push(`${name} ${cell}`), hover: () => {}, focus: () => {} })]);
  };
  const empty = ".".repeat(225);
  drawBoard(empty, {}, "first");
  const before = new Map([...root.querySelectorAll<HTMLElement>(".cell")].map((each) => [each.id, each.onclick]));
  drawBoard("." + "X" + ".".repeat(223), { last: 1 }, "second");
  const changed = [...root.querySelectorAll<HTMLElement>(".cell")].filter((each) => each.onclick !== before.get(each.id)).map((each) => each.id);
  assert.deepEqual(changed, ["cell-1"], "others are the trees from before");
  root.querySelector<HTMLElement>("#cell-7")!.onclick!({} as PointerEvent);
  assert.deepEqual(said, ["second 7"]);
});
