/** Tournaments on the page: entered by a link, our match first, the way back to it, and the wall. */

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { document } from "./document.js";
import { snapshot } from "./matches.js";
import { WholePage } from "./whole.js";

const pages: WholePage[] = [];
afterEach(() => {
  for (const page of pages.splice(0)) page.close();
});

const FRIDAY = {
  type: "tournament", tournament: "BCDFG", seq: 1, name: "Friday", kind: "swiss", game: "tictactoe", time: { initial_ms: 180000 },
  state: "open", round: 0, rounds: 3, players: 2, page: 1, pages: 1, tie_breaks: ["buchholz"], boards: [], open_boards: 0,
  standings: [{ place: 1, player: "Ann", score: 0 }, { place: 1, player: "Ben", score: 0 }],
};
const BOARDS = [
  { board: 1, first: "Ann", second: "Ben", match: "m1" },
  { board: 2, first: "Cleo", second: "Dan", match: "m2" },
];
const RUNNING = { ...FRIDAY, seq: 9, state: "running", round: 1, players: 4, boards: BOARDS, open_boards: 2 };
const ENDED = { ...RUNNING, seq: 12, boards: BOARDS.map((each) => ({ ...each, result: "1-0" })), open_boards: 0, next_in_ms: 12000 };

async function ann(address = "/"): Promise<WholePage> {
  const page = await WholePage.ofAnn({}, address, ["tournaments"]);
  pages.push(page);
  return page;
}

test("a link with the code of a tournament enters it and shows it", async () => {
  const page = await ann("/j#BCDFG");
  assert.deepEqual(page.of("join").map((each) => (each as { code?: string }).code), ["BCDFG"]);
  await page.says(FRIDAY);
  await page.until("main", "You are in.");
  await page.until("main", "It starts when the host says so.");
  assert.equal(location.hash, "#t=BCDFG");
  assert.equal(page.of("attend").length, 1);
});

test("a visitor who follows the address of a tournament is invited, and sees it once they are in", async () => {
  const page = await WholePage.open({}, "/#t=BCDFG");
  pages.push(page);
  await page.until("h1", "You are invited");
  assert.equal(document.querySelectorAll(".cell").length, 0);
  await page.press("Play as a guest");
  await page.greeted(1);
  await page.says({ type: "welcome", protocol: 1, server: "here", you: { name: "guest-blue-fox", guest: true }, matches: [], features: ["tournaments"] }, FRIDAY);
  await page.until("main", "Friday");
  assert.equal(page.of("attend").length, 1);
});

test("in a tournament of guests, somebody with a name plays as a guest of this tab, and keeps the name elsewhere", async () => {
  const page = await WholePage.open({ token: "ann" }, "/#t=BCDFG", true);
  pages.push(page);
  const answer = (type: "hello" | "join") => page.says({ type: "ok", id: page.of(type).at(-1)!.id });
  const welcome = { type: "welcome", protocol: 1, server: "here", matches: [], features: ["tournaments"] };
  await page.greeted(1);
  await answer("hello");
  await page.says({ ...welcome, you: { name: "Ann" } }, { ...FRIDAY, standings: [], anonymous: true });
  await page.until("main", "Play as a guest");
  await page.press("Play as a guest");
  await page.refuses("join", "guests_only", "in that tournament all players are guests");
  await page.greeted(2);
  const { name, token } = page.of("hello").at(-1) as { name?: string; token?: string };
  assert.deepEqual([name, token], [undefined, undefined]);
  await answer("hello");
  await page.says({ ...welcome, you: { name: "guest-blue-fox" }, token: "fox" });
  assert.equal(page.of("join").length, 2);
  await answer("join");
  await page.says({ ...FRIDAY, standings: [{ place: 1, player: "guest-blue-fox", score: 0 }], anonymous: true });
  await page.until("main", "guest-blue-fox · You are in.");
  assert.deepEqual([sessionStorage.getItem("ttt_net.token"), localStorage.getItem("ttt_net.token")], ["fox", "ann"]);
});

test("the link of a tournament of guests asks a visitor for no name", async () => {
  const { fetch } = globalThis;
  globalThis.fetch = (async () => ({ json: async () => ({ guests_only: true }) })) as unknown as typeof fetch;
  const page = await WholePage.open({}, "/j#BCDFG").finally(() => (globalThis.fetch = fetch));
  pages.push(page);
  await page.until("main", "Play as a guest");
  assert.equal(document.querySelectorAll("input").length, 0);
  await page.press("Play as a guest");
  await page.greeted(1);
  assert.equal((page.of("hello")[0] as { name?: string }).name, undefined);
});

test("somebody who enters a tournament looks for no other match", async () => {
  const page = await ann();
  page.player.seek({ game: "tictactoe", time: null, rated: false });
  location.hash = "#t=BCDFG";
  await page.says({ ...FRIDAY, standings: [] });
  await page.until("main", "Play in this tournament");
  await page.press("Play in this tournament");
  assert.equal(page.of("unseek").length, 1);
});

test("the lobby lists the tournaments that are not over", async () => {
  const page = await ann();
  const { tournament, name, kind, game, time, players } = FRIDAY;
  const row = { tournament, name, kind, game, time, players, state: "open", round: 0, rounds: 3 };
  await page.says({ type: "tournaments", count: 2, tournaments: [row, { ...row, tournament: "BBBBB", name: "Last week", state: "over" }] });
  await page.until("main", "Friday");
  assert.doesNotMatch(document.querySelector("main")!.textContent!, /Last week/);
  await page.press("Friday");
  assert.equal(location.hash, "#t=BCDFG");
});

test("our match comes first, a round seats us at once, and its end leads back", async () => {
  const page = await ann("/#t=BCDFG");
  await page.says(RUNNING);
  await page.until("main", "Your match against Ben");
  await page.says({ ...snapshot(), tournament: { tournament: "BCDFG", round: 1, board: 1 } });
  assert.equal(location.pathname, "/m/m1");
  await page.says({ type: "ended", match: "m1", seq: 2, at_ms: 0, winner: 0, reason: "resign" });
  await page.until(".deck", "Back to the tournament");
  assert.doesNotMatch(document.querySelector(".deck")!.textContent!, /Rematch|New opponent/);
  await page.press("Back to the tournament");
  await page.says(ENDED);
  await page.until("main", "You won against Ben.");
  await page.until("main", "Round 2 begins in 0:12.");
});

test("a board of a private tournament is watched with its code", async () => {
  const page = await ann("/#t=BCDFG");
  await page.says({ ...RUNNING, private: true });
  await page.until("main", "Cleo – Dan");
  await page.press("Watch Cleo – Dan");
  assert.deepEqual(page.of("watch").map((each) => (each as { code?: string }).code), ["BCDFG"]);
});

test("our own board is played on, and a finished one is replayed", async () => {
  const page = await ann("/#t=BCDFG");
  await page.says({ ...RUNNING, boards: [...BOARDS, { board: 3, first: "Eve", second: "Finn", match: "m3", result: "1-0" }] });
  await page.until("main", "Eve – Finn");
  page.find("Replay Eve – Finn");
  await page.press("Play on Ann – Ben");
  assert.equal(location.pathname, "/m/m1");
});

test("leaving a tournament takes a second tap", async () => {
  const page = await ann("/#t=BCDFG");
  await page.says(RUNNING);
  await page.until("main", "Leave the tournament");
  await page.press("Leave the tournament");
  assert.equal(page.of("withdraw").length, 0);
  await page.until("main", "You get no more opponents.");
  await page.press("Leave the tournament");
  assert.equal(page.of("withdraw").length, 1);
});

test("the wall needs no name, and watches the boards that are being played", async () => {
  const page = await WholePage.open({}, "/#wall=BCDFG");
  pages.push(page);
  await page.greeted(1);
  assert.equal((page.of("hello")[0] as { name?: string }).name, undefined);
  await page.says({ type: "welcome", protocol: 1, server: "here", you: { name: "guest" }, token: "guest", matches: [], features: ["tournaments"] }, RUNNING);
  await page.until("main", "Not finished: Ann – BenCleo – Dan");
  assert.deepEqual(page.of("watch").map((each) => (each as { match?: string }).match), ["m1", "m2"]);
  await page.says({ ...snapshot({ you: undefined }), tournament: { tournament: "BCDFG", round: 1, board: 1 } });
  assert.equal(document.querySelectorAll(".boards .cell").length, 9);
  await page.says({ ...RUNNING, seq: 10, boards: [{ ...BOARDS[0]!, result: "1-0" }, BOARDS[1]!], open_boards: 1 });
  assert.deepEqual(page.of("unwatch").map((each) => (each as { match?: string }).match), ["m1"]);
  await page.says(ENDED);
  await page.until("main", "Round 2 begins in 0:12.");
});

test("a king of the table shows its queue, also on the wall", async () => {
  const page = await ann("/#t=BCDFG");
  const boards = [{ board: 2, first: "Ben", second: "Cleo", match: "m2" }, { board: 1, first: "Dan", second: "Cleo", match: "m1", result: "0-0", void: true }];
  const king = { ...RUNNING, kind: "king", rounds: 0, tie_breaks: ["in_a_row"], boards, open_boards: 1, waiting: ["Dan", "Ann"], ends_in_ms: 90000 };
  await page.says(king);
  await page.until("main", "1 match being played");
  for (const said of ["1 player before you.", "It lasts 1:30 more.", "Next at the table", "does not count"]) await page.until("main", said);
  location.hash = "#wall=BCDFG";
  await page.says({ ...king, seq: 10, waiting: ["Ann"] });
  await page.until("main.wall", "Next at the table: Ann");
});

test("a player makes a tournament, directs it and corrects a result", async () => {
  const page = await ann("/#t=new");
  await page.until("main", "Arena");
  await page.submit("Name", "Friday");
  const made = page.of("organise")[0] as unknown as Record<string, unknown>;
  assert.deepEqual([made.kind, made.rounds, made.time, made.name], ["swiss", 5, { initial_ms: 180000, increment_ms: 2000 }, "Friday"]);
  await page.says({ ...FRIDAY, organiser: "Ann" });
  await page.until("main", "For the organiser");
  assert.equal(location.hash, "#t=BCDFG");
  await page.press("Start it");
  await page.says({ ...ENDED, organiser: "Ann" });
  await page.until("main", "Next round");
  await page.press("Next round");
  await page.press("Correct: 1");
  await page.submit("Note", "typed wrongly");
  const acts = page.of("direct").map((each) => each as unknown as Record<string, unknown>);
  assert.deepEqual(acts.map(({ act }) => act), ["start", "next", "correct"]);
  assert.deepEqual([acts[2]!.round, acts[2]!.board, acts[2]!.result, acts[2]!.note], [1, 1, "1-0", "typed wrongly"]);
});

test("a profile lists the tournaments of a player, and leads to them", async () => {
  const page = await ann("/#player=Ben");
  const profile = { type: "profile", player: { name: "Ben" }, since_ms: 0, online: false, won: 0, drawn: 0, lost: 0, ratings: [], against: null, live: [] };
  const friday = { tournament: "BCDFG", name: "Friday", kind: "swiss", game: "connect4", at_ms: 0, place: 3, players: 25 };
  await page.says({ ...profile, tournaments: [friday, { ...friday, tournament: "BCDFH", name: "Saturday", place: 1, over: false }] });
  await page.until("main", "number 3 of 25");
  await page.until("main", "number 1 of 25 so far");
  await page.press("Watch Friday");
  assert.equal(location.hash, "#t=BCDFG");
});

test("the form asks for guests only and for the matches of a pairing, and is hidden where the host forbids it", async () => {
  const page = await ann("/#t=new");
  await page.until("main", "Matches of each pairing");
  for (const label of ["2", "Only guests, under made-up names, without chat"]) {
    const option = [...document.querySelectorAll("label")].find((each) => each.textContent === label)!;
    option.querySelector("input")!.onchange!({ target: { checked: true } } as never);
  }
  await page.submit("Name", "Class");
  const asked = page.of("organise")[0] as unknown as Record<string, unknown>;
  assert.deepEqual([asked.legs, asked.anonymous], [2, true]);
  location.hash = "#";
  await page.says({ type: "players", online: 1, players: [] });
  await page.until("main", "Leaderboard");
  assert.doesNotMatch(document.querySelector("main")!.textContent!, /Make a tournament/);
  await page.says({ type: "welcome", protocol: 1, server: "here", you: { name: "Ann" }, matches: [], features: ["tournaments", "organise"] });
  await page.until("main", "Make a tournament");
});

test("a pairing of two matches shows its score, also on the wall", async () => {
  const page = await ann("/#t=BCDFG");
  const legs = { ...RUNNING, boards: [{ ...BOARDS[0], legs: [1, 1] }, { ...BOARDS[1], result: "1-0", legs: [3, 1] }], open_boards: 1 };
  await page.says(legs);
  await page.until("main", "Cleo won · 1.5–0.5");
  await page.until("main", "playing · 0.5–0.5");
  location.hash = "#wall=BCDFG";
  await page.says({ ...legs, seq: 10 });
  await page.until("main.wall figcaption", "Ann0.5");
});
