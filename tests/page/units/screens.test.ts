/** Screens: what the page shows and sends when the server, or the player, does something. */

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { document, textOf } from "./document.js";
import { after, GAME, position, snapshot, WILD } from "./matches.js";
import { WholePage } from "./whole.js";

const pages: WholePage[] = [];
afterEach(() => {
  for (const page of pages.splice(0)) page.close(); // or it would come back to the server of the next test
});

async function ann(...rest: Parameters<typeof WholePage.ofAnn>): Promise<WholePage> {
  const page = await WholePage.ofAnn(...rest);
  pages.push(page);
  return page;
}

const status = () => document.querySelector(".deck .status")!.textContent;
const label = (cell: number) => document.getElementById(`cell-${cell}`)!.getAttribute("aria-label");
const said = () => document.getElementById("said")!.textContent;

test("a move of the opponent is shown, announced, and makes it our turn", async () => {
  const page = await ann();
  await page.says(snapshot({ you: 1 }));
  assert.equal(status(), "Ann’s turn.");
  await page.says({ type: "played", match: "m1", seq: 2, at_ms: 0, side: 0, ply: 1, move: 4, position: position("....X....") });
  assert.equal(said(), "Ann played b2. Your turn: place O.");
  assert.equal(label(4), "b2, X, last move");
  await page.titled("● Your turn – Ann – Ben, Tic-tac-toe – here");
});

test("a tap sends the move once, and one out of turn is answered", async () => {
  const page = await ann();
  await page.says(snapshot());
  await page.tap(4);
  await page.tap(4);
  assert.deepEqual(page.of("play").map((each) => (each as { move?: number }).move), [4]);
  assert.equal(label(4), "b2, X, sending");
  await page.says({ type: "played", match: "m1", seq: 2, at_ms: 0, side: 0, ply: 1, move: 4, position: position("....X....") });
  await page.tap(0);
  await page.until(".toast", "It is not your turn.");
});

test("a mark falls to the lowest free cell of its column", async () => {
  const page = await ann();
  const game = { ...GAME, name: "connect4", shape: [2, 3], gravity: true, move_cells: [0, 1, 2, 3, 4, 5], move_names: ["1", "2", "3", "1", "2", "3"] };
  await page.says(snapshot({ game, position: { ...position("......"), legal: [3, 4, 5] } }));
  await page.tap(1);
  assert.equal((page.of("play")[0] as { move?: number }).move, 4);
});

test("a cell that means two moves asks which", async () => {
  const page = await ann();
  await page.says(snapshot({ game: WILD, position: { ...position("........."), legal: [4, 13], marks: ["XO", "XO"] } }));
  await page.tap(4);
  assert.equal(status(), "Which mark?");
  await page.press("Place O on b2");
  assert.equal((page.of("play")[0] as { move?: number }).move, 13);
});

test("in misère the sentence and the line belong to the loser", async () => {
  const page = await ann();
  await page.says(snapshot({ game: { ...GAME, name: "misere" }, moves: [0, 3, 1, 4, 2], position: position("XXXOO....", { line: [0, 1, 2] }) }));
  await page.says({ type: "ended", match: "m1", seq: 2, at_ms: 0, winner: 1, reason: "line" });
  assert.equal(status(), "You lost: You completed a line.");
  assert.ok(document.querySelector(".boards.loss"));
  assert.equal(label(0), "a3, X, losing line");
});

test("a watcher reads names as they are written", async () => {
  const page = await ann({}, "/m/m1");
  await page.says(snapshot({ you: undefined, players: [{ name: "ben" }, { name: "cleo" }] }));
  await page.until(".deck", "You are watching.");
  await page.says({ type: "ended", match: "m1", seq: 2, at_ms: 0, winner: 0, reason: "resign" });
  assert.equal(status(), "ben won: cleo resigned.");
});

test("the mark that vanishes next is marked", async () => {
  const page = await ann();
  await page.says(snapshot({ game: { ...GAME, name: "vanishing" }, moves: [0, 1, 4, 2, 5, 3], position: position("XOOOXX...") }));
  assert.equal(label(0), "a3, X, vanishes with the next move");
  assert.ok(document.querySelector("#cell-0.fading"));
});

test("offers are asked, answered by their number, and a decline is told", async () => {
  const page = await ann();
  await page.says(snapshot({ moves: [4, 0], position: position("O...X....") }));
  await page.says({ type: "offered", match: "m1", seq: 2, at_ms: 0, side: 1, kind: "takeback" });
  assert.equal(status(), "Ben asks to take back a move.");
  await page.press("Accept");
  assert.deepEqual(page.of("agree").map((each) => (each as { offer?: number }).offer), [2]);
  await page.says({ type: "declined", match: "m1", seq: 3, at_ms: 0, side: 1, kind: "takeback" });
  await page.press("Offer a draw");
  await page.says({ type: "offered", match: "m1", seq: 4, at_ms: 0, side: 0, kind: "draw" });
  await page.until(".deck .status", "You offered a draw.");
  await page.says({ type: "declined", match: "m1", seq: 5, at_ms: 0, side: 1, kind: "draw" });
  await page.until(".toast", "Ben declined the draw.");
});

test("a rated match of fewer than four moves is called off, and the win is not offered", async () => {
  const page = await ann();
  await page.says(snapshot({ moves: [4, 0], rated: true, position: position("O...X....") }));
  const away = (ms: number) => ({ type: "presence", match: "m1", side: 1, online: false, away: { side: 1, on_purpose: false, claim_in_ms: ms } });
  await page.says(away(12_900));
  await page.until(".deck .status", "Ben lost the connection. You can abort the match in 13 s.");
  await page.says(away(0));
  await page.press("Abort");
  assert.equal(page.of("claim").length, 1);
});

test("a rated match of fewer than four moves is called off, so that a crossing move cannot lose it", async () => {
  const page = await ann();
  for (const moves of [[4, 0], [4, 0, 1]]) {
    await page.says(snapshot({ moves, rated: true, position: after(moves) }));
    assert.throws(() => page.find("Resign"));
    await page.press("Abort");
  }
  assert.deepEqual([page.of("resign").length, page.of("abort").length], [0, 2]);
  await page.says(snapshot({ moves: [4, 0, 1, 7], rated: true, position: after([4, 0, 1, 7]) }));
  page.find("Resign");
  await page.says(snapshot({ moves: [4, 0, 1], rated: false, position: after([4, 0, 1]) }));
  page.find("Resign");
});

test("an absent opponent can be waited for, and then the win be claimed", async () => {
  const page = await ann();
  await page.says(snapshot({ moves: [4, 0], position: position("O...X....") }));
  const away = (ms: number) => ({ type: "presence", match: "m1", side: 1, online: false, away: { side: 1, on_purpose: false, claim_in_ms: ms } });
  await page.says(away(12_900));
  await page.until(".deck .status", "Ben lost the connection. You can claim the win in 13 s.");
  await page.says(away(0));
  await page.press("Claim the win");
  assert.equal(page.of("claim").length, 1);
});

test("an adjourned match goes on as soon as both players are here", async () => {
  const page = await ann();
  await page.says(snapshot({ adjourned: true, moves: [4, 0], position: position("O...X....") }));
  assert.equal(status(), "Adjourned. The match continues when both players are here.");
});

test("a coming restart is shown until it is called off", async () => {
  const page = await ann();
  await page.says(snapshot());
  await page.says({ type: "notice", text: "thanks for the new disks", restart_in_ms: 3_600_000 });
  await page.until(".banner", "Thanks for the new disks. The server restarts at");
  await page.says({ type: "notice", text: "The restart was called off." });
  await page.until(".toast", "The restart was called off.");
  assert.equal(document.querySelector(".banner"), null);
});

test("the trouble with the link is shown until it is back, and the match is safe", async () => {
  for (const [code, words] of [[4006, "the host has closed the server"], [1012, "the server is restarting"], [1006, "the connection dropped"]] as const) {
    const page = await ann();
    await page.says(snapshot());
    await page.closes(code);
    await page.until(".banner", `Reconnecting: ${words}. Your match is safe.`);
    await page.says();
    await page.until("main.match");
    page.close();
  }
});

test("a taken name is reported beside the field, and another one can be given", async () => {
  const page = await WholePage.open({}, "/", true);
  pages.push(page);
  page.player.comeIn("Ben");
  await page.refuses("hello", "name_taken", "there is a Ben already");
  await page.until("#trouble", "There is a Ben already.");
  assert.equal(localStorage.getItem("ttt_net.token"), null);
});

test("visitors whom the server does not know, or does not let in, read why", async () => {
  const page = await WholePage.open({ token: "of another server" }, "/", true);
  pages.push(page);
  await page.refuses("hello", "unknown_token", "unknown");
  await page.until("#trouble", "This server does not know you. Choose a name.");
  const banned = await WholePage.open({ token: "known" }, "/", true);
  pages.push(banned);
  await banned.refuses("hello", "banned", "banned for 2 hours");
  await banned.until("main", "Banned for 2 hours.");
  assert.equal(localStorage.getItem("ttt_net.token"), "known");
  banned.find("Try again");
});

test("a code that was used leads to the lobby with a sentence", async () => {
  const page = await WholePage.open({ token: "ann" }, "/j#NOPE99", true);
  pages.push(page);
  await page.greeted(1);
  await page.says({ type: "welcome", protocol: 1, server: "here", you: { name: "Ann" }, matches: [] });
  await page.refuses("join", "unknown_code", "no such code");
  await page.until("main.lobby");
  await page.until(".toast", "No such code.");
});

test("stored values are validated", async () => {
  for (const broken of ['{"game":', '"x"', "[1]", "null", '{"width":"9","height":1e9,"game":7,"row":-1,"theme":{},"untilMs":"x"}']) {
    const page = await ann({ choice: broken, settings: broken, invitation: broken, language: broken, puzzles: broken });
    await page.until("main.lobby");
    page.find("Tic-tac-toe");
    page.close();
  }
});

test("a browser that may keep nothing plays all the same", async () => {
  const page = await WholePage.open();
  pages.push(page);
  Object.defineProperty(globalThis, "localStorage", {
    configurable: true,
    get() {
      throw new DOMException("", "SecurityError");
    },
  });
  try {
    page.player.comeIn("Ann");
    await page.greeted(1);
    await page.says({ type: "welcome", protocol: 1, server: "here", you: { name: "Ann" }, matches: [] });
    await page.until("main.lobby");
    await page.press("Find an opponent");
    await page.until("[role=status]", "Looking for a person:");
  } finally {
    Object.defineProperty(globalThis, "localStorage", { configurable: true, writable: true, value: null });
  }
});

test("a row shrinks with the board that it has to fit on", async () => {
  const page = await ann();
  await page.press("Any size");
  for (const [name, value] of [["In a row", 5], ["Width", 3], ["Height", 4]] as const) {
    const field = [...document.querySelectorAll("label")].find((each) => each.textContent === name)!.querySelector("input")!;
    field.onchange?.({ target: { reportValidity: () => true, valueAsNumber: value } } as never);
    await page.says();
  }
  await page.until(".start", "4 in a row on a 3×4 board wins.");
  await page.press("Find an opponent");
  await page.until("[role=status]", "Looking for a person: 4 in a row on 3×4");
});

test("only bots that play the game are offered, with one tap", async () => {
  const page = await ann();
  await page.says({ type: "players", online: 1, players: [{ name: "Tom", bot: "random", free: 1, seeking: ["gomoku"] }] });
  assert.equal(textOf("section[aria-label='Play a bot']").length, 0);
  await page.press("Gomoku");
  await page.press("Play Tom");
  assert.deepEqual(page.of("challenge").map((each) => (each as { name?: string }).name), ["Tom"]);
});

test("only the challenger learns that a challenge was declined", async () => {
  const page = await ann();
  const challenged = (by: string, to: string, challenge: number) => ({ type: "challenged", challenge, by: { name: by }, to: { name: to }, game: "gomoku", expires_in_ms: 9000 });
  await page.says(challenged("Ann", "Ben", 1));
  await page.until(".challenge", "You challenged Ben: Gomoku");
  await page.says({ type: "challengeover", challenge: 1, reason: "later" });
  await page.until(".toast", "not now");
  await page.press("Close");
  await page.says(challenged("Ben", "Ann", 2));
  await page.until(".challenge", "Ben challenges you: Gomoku");
  await page.says({ type: "challengeover", challenge: 2, reason: "later" });
  assert.equal(textOf(".toast, .challenge").length, 0);
});

test("an empty analysis is requested again once automatically, and then by a tap", async () => {
  const page = await ann({}, "/", ["analyse"]);
  await page.says(snapshot({ moves: [0], position: position("X........") }));
  await page.says({ type: "ended", match: "m1", seq: 2, at_ms: 0, winner: 0, reason: "resign" });
  const nothing = { type: "analysis", match: "m1", moves: [], exact: false };
  await page.press("Analyse");
  await page.says(nothing);
  assert.equal(page.of("analyse").length, 2);
  await page.says(nothing);
  await page.until(".deck", "The computer is too busy to analyse this now.");
  assert.equal(page.of("analyse").length, 2);
  await page.press("Try again");
  assert.equal(page.of("analyse").length, 3);
});

test("players who look elsewhere are not taken back to the lesson by a later answer", async () => {
  const page = await ann({}, "/", ["analyse"]);
  await page.says(snapshot({ moves: [0, 3, 1], position: position("XX.O.....") }));
  await page.says({ type: "ended", match: "m1", seq: 2, at_ms: 0, winner: 1, reason: "resign" });
  const lesson = { ply: 2, side: 0, better: ["c3"], text: "", follows: [] };
  const found = { type: "analysis", match: "m1", moves: [], exact: true, lesson };
  await page.press("Where did I go wrong?");
  await page.says({ ...found, partial: true });
  await page.until(".deck .status", "Move 2 of 3");
  await page.press("one move back");
  await page.until(".deck .status", "Move 1 of 3");
  await page.says(found);
  await page.until(".deck .status", "Move 1 of 3");
});

test("players are muted and reported by their seat, where the server takes it", async () => {
  for (const [features, seat] of [[["seats"], { match: "m1", side: 1 }], [[], {}]] as const) {
    const page = await ann({}, "/", [...features]);
    await page.says(snapshot(), { type: "chat", match: "m1", by: { name: "Ben" }, text: "boo" });
    await page.press("Mute Ben");
    await page.until(".toast", "Ben is muted.");
    assert.equal(textOf(".spoken p").length, 0);
    await page.press("Cheating");
    const [[muted], [reported]] = [page.of("mute"), page.of("report")];
    assert.deepEqual(muted, { id: muted!.id, type: "mute", name: "Ben", on: true, ...seat });
    assert.deepEqual(reported, { id: reported!.id, type: "report", name: "Ben", reason: "cheating", match: "m1", ...seat });
    page.close();
  }
});

test("a player is blocked from their profile, and unblocked from the list in our own", async () => {
  const page = await ann({}, "/#player=Ben", ["blocks"]);
  const told = { since_ms: 0, online: false, won: 0, drawn: 0, lost: 0, ratings: [], live: [] };
  await page.says({ type: "profile", player: { name: "Ben" }, against: { won: 0, drawn: 0, lost: 0 }, blocked: false, ...told });
  await page.press("Block Ben");
  await page.until(".toast", "Ben is blocked: they cannot challenge you, and you do not see what they write.");
  await page.press("Unblock Ben");
  await page.until(".toast", "Ben is no longer blocked.");
  const blocks = page.of("block") as { name?: string; on?: boolean }[];
  assert.deepEqual(blocks.map(({ name, on }) => [name, on]), [["Ben", true], ["Ben", false]]);
  page.close();
  const own = await ann({}, "/#player=", ["blocks"]);
  await own.says({ type: "profile", player: { name: "Ann" }, against: null, ...told }, { type: "blocks", blocked: ["Ben"], muted: ["Cid"] });
  await own.press("Unblock Ben");
  await own.press("Unmute Cid");
  const ended = [...own.of("block"), ...own.of("mute")] as { name?: string; on?: boolean }[];
  assert.deepEqual(ended.map(({ name, on }) => [name, on]), [["Ben", false], ["Cid", false]]);
  own.close();
});

test("markup in any text of the server is text", async () => {
  const bait = "<img src=x onerror=window.caught=1>";
  const player = { name: bait, bot: bait };
  const game = { name: bait, title: bait, rule: bait, shape: [1, 2], gravity: false, move_cells: [0, 1], move_names: [bait, bait] };
  const lobby = [
    { type: "seeks", count: 1, seeks: [{ seek: 1, by: player, games: [bait] }] },
    { type: "players", online: 1, players: [{ ...player, free: 1 }, { name: `${bait}2` }] },
    { type: "live", count: 1, matches: [{ match: "k3V9pCD5", game: bait, players: [player, player], ply: 0, watchers: 0 }] },
    { type: "challenged", challenge: 1, by: player, to: player, game: bait, expires_in_ms: 9 },
    { type: "notice", text: bait },
  ];
  const shown = { ...position("<."), legal: [1], to_move: 0, marks: [bait, "<"] };
  const match = snapshot({ game, players: [player, player], moves: [0], last: 0, position: shown, offers: [{ side: 1, kind: bait }] });
  for (const [messages, screen, parts] of [[lobby, "main.lobby", [".bar", ".entry", ".challenge", ".toast"]], [[match], "main.match", ["h1", ".seat"]]] as const) {
    const page = await WholePage.open({ token: "ann" });
    pages.push(page);
    await page.greeted(1);
    await page.says({ type: "welcome", protocol: 1, server: bait, you: { name: bait }, matches: [], features: ["chat"] }, ...messages);
    await page.until(screen);
    for (const part of parts) assert.ok(document.querySelector(part)!.textContent.includes(bait), part);
    assert.equal(document.querySelectorAll("img").length, 0);
    page.close();
  }
});

test("two on one device play without a server", async () => {
  const page = await WholePage.open();
  pages.push(page);
  await page.press("Two on this device");
  for (const cell of [0, 3, 1, 4, 2]) await page.tap(cell);
  await page.until(".status", "X won.");
  assert.equal(document.querySelectorAll(".cell.won").length, 3);
  await page.press("New match");
  await page.until(".status", "X to move.");
  assert.deepEqual(page.sent, []);
});

test("a seek is sought again after a restart, and not after it was cancelled", async () => {
  const page = await ann();
  await page.press("Find an opponent");
  const welcome = { type: "welcome", protocol: 1, server: "here", you: { name: "Ann" }, matches: [] };
  await page.closes(1012);
  await page.greeted(2);
  await page.says(welcome);
  assert.equal(page.of("seek").length, 2);
  await page.press("Stop waiting");
  await page.closes(1012);
  await page.greeted(3);
  await page.says(welcome);
  assert.equal(page.of("seek").length, 2);
});

test("a guest logs in without a name, and a wrong name is reported while it is typed", async () => {
  const page = await WholePage.open();
  pages.push(page);
  const field = document.querySelector<HTMLInputElement>("#name")!;
  const type = async (value: string) => {
    field.oninput?.({ target: { value } } as never);
    await page.says();
    return document.querySelector("#trouble")!.textContent;
  };
  assert.equal(await type("Ann!"), "A name cannot contain “!”.");
  assert.equal(await type("A"), "", "there is more to come");
  assert.equal(await type("Ann"), "");
  await page.press("Play as a guest");
  assert.deepEqual(page.of("hello").map((each) => (each as { name?: string }).name), [undefined]);
});

test("between people a match is rated if both like it, where the server knows such seeks", async () => {
  for (const [features, asked] of [[["or_casual"], [true, true]], [[], [false, undefined]]] as const) {
    const page = await ann({ choice: '{"game":"gomoku"}' }, "/", [...features]);
    await page.press("Find an opponent");
    assert.equal(page.of("seek").length, 1, `${JSON.stringify(page.sent)} ${page.player.link.phase} ${document.getElementById("page")!.textContent}`);
    const { rated, or_casual: isEither } = page.of("seek")[0] as { rated?: boolean; or_casual?: boolean };
    assert.deepEqual([rated, isEither], asked);
    page.close();
  }
});

test("a long list of people shows its beginning and has a search field", async () => {
  const page = await ann({}, "/#find=Player 14");
  await page.says({ type: "players", online: 150, players: Array.from({ length: 150 }, (_, n) => ({ name: `Player ${n}` })) });
  const people = () => textOf("section[aria-label='People here'] li").length;
  assert.equal(people(), 11);
  const field = document.querySelector<HTMLInputElement>("input[type=search]")!;
  field.oninput?.({ target: { value: "" } } as never);
  await page.says();
  assert.equal(people(), 12);
  await page.press("Show 138 more");
  assert.equal(people(), 150);
});

test("a visitor who is invited sees the board, whose tap takes up the invitation, and is not asked to invite others", async () => {
  const { fetch } = globalThis;
  const offer = { by: { name: "Ben" }, title: "Tic-tac-toe", game: "tictactoe" };
  globalThis.fetch = (async () => ({ json: async () => offer })) as unknown as typeof fetch;
  const page = await WholePage.open({}, "/j#7KQ2MZ").finally(() => (globalThis.fetch = fetch));
  pages.push(page);
  await page.until("main", "Ben invites you");
  page.find("Play as a guest");
  assert.throws(() => page.find("Invite a friend"));
  await page.tap(4);
  await page.greeted(1);
  assert.equal((page.of("hello")[0] as { name?: string }).name, undefined);
  await page.says({ type: "welcome", protocol: 1, server: "here", you: { name: "Guest 1" }, matches: [] });
  assert.deepEqual(page.of("join").map((each) => (each as { code?: string }).code), ["7KQ2MZ"]);
  assert.deepEqual(page.of("play"), [], "the friend may have the first move");
});

test("a tap without a connection says so in a sentence", async () => {
  const page = await ann();
  await page.says(snapshot());
  await page.closes(1006);
  await page.tap(4);
  await page.until(".toast", "No connection; try again.");
});

test("a page that is loaded without a network says that this device is offline, and offers what works there", async (test) => {
  const page = await WholePage.open({ token: "ann" }, "/m/k3V9pCD5");
  pages.push(page);
  Object.defineProperty(navigator, "onLine", { value: false, configurable: true });
  test.after(() => Object.defineProperty(navigator, "onLine", { value: true, configurable: true }));
  await page.closes(1006);
  await page.until("main", "This device is offline.");
  page.find("Play the computer");
});
