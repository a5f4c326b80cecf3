/** The end of a match, and learning: replays, analyses, lessons, hints, puzzles; and what is heard and felt. */

import assert from "node:assert/strict";
import { afterEach, mock, test } from "node:test";
import { document, textOf, until } from "./document.js";
import { after, CONNECT4, ended, finished, position, QUBIC, replay, snapshot } from "./matches.js";
import { WholePage } from "./whole.js";

const BOT = { name: "Tom", bot: "random", level: 3, free: 1, seeking: [] as string[] };
const LINE = [0, 3, 1, 4, 2];
const pages: WholePage[] = [];
afterEach(() => {
  mock.restoreAll();
  for (const page of pages.splice(0)) page.close();
});

async function ann(...rest: Parameters<typeof WholePage.ofAnn>): Promise<WholePage> {
  const page = await WholePage.ofAnn(...rest);
  pages.push(page);
  await page.until("main");
  return page;
}

/** Somebody whose match of these moves has been shown to its end, and who may analyse it. */
async function learner(moves: number[], winner: number | null, more: Parameters<typeof finished>[2] = {}, kept: Record<string, string> = {}): Promise<WholePage> {
  const page = await ann(kept, "/m/m1", ["analyse", "chat"]);
  const size = (more.game ?? snapshot().game).shape.reduce((product, side) => product * side);
  await page.says(finished(moves, winner, more), replay(moves, size, moves.map(() => "start")));
  await page.until("main.match");
  return page;
}

const status = () => document.querySelector(".deck .status")!.textContent!;
const marks = () => document.querySelectorAll(".cell .mark").length;
const fields = (sent: object[], ...names: string[]): unknown[][] => sent.map((each) => names.map((name) => (each as Record<string, unknown>)[name]));
const press = (key: string) => document.body.dispatchEvent(Object.assign(new (document.defaultView as unknown as { Event: typeof Event }).Event("keydown", { bubbles: true }), { key }));

async function slideTo(page: WholePage, ply: number): Promise<void> {
  document.querySelector<HTMLInputElement>("input[type=range]")!.oninput?.({ target: { value: `${ply}` } } as never);
  await page.says();
}

test("the end is one sheet with the rating and one dominant button", async () => {
  for (const [you, tone, gain, after] of [[0, "victory", "1500 → 1520 (+20)", "New opponent"], [1, "defeat", "1500 → 1480 (−20)", "Where did I go wrong?"]] as const) {
    const page = await ann({}, "/", ["analyse"]);
    await page.says(snapshot({ you, moves: LINE, position: after5(), rated: true, players: you ? [{ name: "Ben" }, { name: "Ann" }] : [{ name: "Ann" }, { name: "Ben" }] }));
    await page.says(ended(0, "line"), { type: "rated", match: "m1", ratings: [{ before: 1500, after: 1520 }, { before: 1500, after: 1480 }] });
    await page.until(`.deck.${tone} .gain`, gain);
    assert.deepEqual(textOf(".deck button.primary"), ["Rematch"]);
    page.find(after);
    assert.equal(document.querySelectorAll(".above.strike .over").length, 1);
    assert.equal(document.querySelectorAll(".confetti").length, you ? 0 : 1, "the winner alone celebrates");
    page.close();
    const again = await learner(LINE, 0, { line: [0, 1, 2], you });
    assert.equal(document.querySelector(".confetti"), null, "a match that is opened again was celebrated before");
    again.close();
  }
});

const after5 = () => after(LINE, 9, { to_move: null, legal: [], line: [0, 1, 2] });

test("a bar beside the board shows who stands better after each move of a match that was analysed", async () => {
  const move = (ply: number, value: number, more: object = {}) => ({ ply, move: LINE[ply - 1], side: (ply - 1) % 2, value, best: [] as string[], ...more });
  for (const [you, shares] of [[0, [0.5, 0.3, 1]], [1, [0.5, 0.7, 0]]] as const) {
    const page = await learner(LINE, 0, { line: [0, 1, 2], you, players: you ? [{ name: "Ben" }, { name: "Ann" }] : [{ name: "Ann" }, { name: "Ben" }] });
    assert.equal(document.querySelector(".worth"), null, "nothing is known yet");
    const [first, second] = you ? ["Ben", "Ann"] : ["Ann", "Ben"];
    await page.press(you ? "Where did I go wrong?" : "Analyse");
    await page.says({ type: "analysis", match: "m1", exact: true, moves: [move(1, 0, { score: 0 }), move(2, 0, { score: 0.4 }), move(3, 1), move(5, 1)] });
    for (const [ply, share, words] of [[1, shares[0], "Nobody is ahead"], [2, shares[1], `${second} is better placed`], [3, shares[2], `${first} is winning`]] as const) {
      await slideTo(page, ply);
      const bar = document.querySelector<HTMLElement>(".field .worth")!;
      assert.equal(bar.getAttribute("aria-label"), words);
      assert.equal(Number(bar.querySelector("i")!.style.getPropertyValue("--share")).toFixed(2), share.toFixed(2), `after move ${ply}`);
    }
    await slideTo(page, 4);
    assert.equal(document.querySelector(".worth"), null, "this move was not analysed");
    page.close();
  }
});

test("the rematch is offered and accepted, or may be another game", async () => {
  const page = await learner(LINE, 0, { line: [0, 1, 2] });
  await page.press("Rematch");
  assert.deepEqual(fields(page.of("offer"), "kind"), [["rematch"]]);
  await page.says({ type: "offered", match: "m1", seq: 2, at_ms: 0, side: 1, kind: "rematch" });
  await page.until(".said", "Ben offers a rematch.");
  await page.press("Accept");
  assert.deepEqual(fields(page.of("agree"), "offer"), [[2]]);
  page.close();
  const other = await learner(LINE, 0, { line: [0, 1, 2] });
  await other.press("Another game");
  await other.until("[role=dialog]", "Gomoku");
  const chosen = [...document.querySelectorAll<HTMLElement>("[role=dialog] label.option")].find((each) => each.textContent === "Gomoku")!;
  chosen.querySelector("input")!.onchange?.({} as Event);
  await other.says();
  assert.deepEqual(fields(other.of("challenge"), "name", "game"), [["Ben", "gomoku"]]);
});

test("the rematch counts the series", async () => {
  const page = await ann();
  await page.says(snapshot({ match: "m1-2", previous: "m1", score: [1, 0], you: 1, players: [{ name: "Ben" }, { name: "Ann" }] }));
  await page.until("main.match");
  assert.deepEqual(textOf(".score"), ["1", "0"]);
});

test("a finished match is replayed by the slider, the arrow keys and automatically", async () => {
  const page = await learner(LINE, 0, { line: [0, 1, 2] });
  assert.equal(status(), "You won: You completed a line.");
  assert.equal(document.querySelectorAll(".cell.won").length, 3);
  await page.press("one move back");
  assert.match(status(), /^Move 4 of 5/);
  assert.equal(document.getElementById("cell-2")!.getAttribute("aria-label"), "c3, empty");
  await slideTo(page, 1);
  assert.equal(marks(), 1);
  await slideTo(page, 5);
  assert.match(status(), /^You won/);
  press("ArrowLeft");
  await page.says();
  assert.match(status(), /^Move 4 of 5/);
  press("Home");
  await page.says();
  assert.match(status(), /^Move 0 of 5/);
  const seen: string[] = [];
  const { setTimeout: later } = globalThis;
  Object.assign(globalThis, { setTimeout: (act: () => void, ms: number) => (ms === 900 ? later(() => (seen.push(status()), act()), 4) : later(act, ms)) });
  try {
    await page.press("Play all moves");
    await page.until(".deck .status", "You won");
  } finally {
    Object.assign(globalThis, { setTimeout: later });
  }
  assert.deepEqual(seen.map((each) => each.slice(0, 6)), ["Move 0", "Move 1", "Move 2", "Move 3", "Move 4"]);
  page.find("Play all moves");
});

const ANALYSED = [
  { ply: 1, move: 4, value: 0, best: ["b2"] },
  { ply: 2, move: 0, value: 0, best: ["a3"], side: 1 },
  { ply: 3, move: 1, value: 0, best: ["b3"] },
  { ply: 4, move: 2, value: -1, best: ["b1"], side: 1, turning: true, sign: "??", text: "you had to block at b1: they had two in a row", why: { kind: "block", moves: ["b1"] } },
  { ply: 5, move: 7, value: 1, best: ["b1"] },
];
const ANALYSIS = { type: "analysis", match: "m1", exact: true, moves: ANALYSED };
const LESSON = { type: "lesson", ply: 4, side: 1, better: ["b1"], text: "At move 4, c3, you had to block at b1: they had two in a row." };
const LOST = { line: [1, 4, 7], you: 1, players: [{ name: "Ben" }, { name: "Ann" }] };

test("an analysis opens at the move that decided, with the reason for the player who made it", async () => {
  const page = await learner([4, 0, 1, 2, 7], 0, LOST);
  await page.press("Where did I go wrong?");
  assert.equal(page.of("analyse").length, 1);
  await page.says({ ...ANALYSIS, lesson: LESSON });
  assert.match(status(), /^Move 4 of 5/);
  assert.deepEqual([document.querySelectorAll("circle.turn").length, textOf(".moves .sign")], [1, ["??"]]);
  assert.equal([...document.querySelectorAll(".cell.hint")].map(({ id }) => id).join(), "cell-7", "where the better move is");
  await page.until(".learnt", "you had to block at b1: they had two in a row");
  await page.until(".better");
  await slideTo(page, 5);
  await page.press("Move 4, c3");
  assert.match(status(), /^Move 4 of 5/);
  await page.press("Try again from there");
  assert.deepEqual([...page.of("replay"), ...page.of("lobby")].length > 0, true);
  await page.says({ type: "players", online: 1, players: [BOT] });
  assert.deepEqual(fields(page.of("challenge"), "name", "side", "start"), [["Tom", 1, "start"]]);
});

test("the other player reads what decided the match, and has nothing to try again", async () => {
  const page = await learner([4, 0, 1, 2, 7], 0, { line: [1, 4, 7] });
  await page.press("Analyse");
  await page.says({ ...ANALYSIS, lesson: LESSON });
  await page.until(".learnt", "Move 4, c3 by Ben, decided the match; better was b1.");
  assert.ok(!textOf("button").includes("Try again from there"));
});

test("the lesson is shown though the match had turned before", async () => {
  const page = await learner([4, 0, 1, 2, 7], 0, LOST);
  await page.press("Where did I go wrong?");
  await page.says({ ...ANALYSIS, moves: ANALYSED.map((each) => (each.ply === 2 ? { ...each, turning: true, value: -1, best: ["c1"] } : each)), lesson: LESSON });
  await page.until(".turns", "Move 2, a3");
  assert.match(status(), /^Move 4 of 5/);
  assert.ok(document.querySelector("#cell-7.hint"));
});

test("an arrow leads through the layers to what was better", async () => {
  const page = await learner([0, 1, 21, 2, 42, 3, 63], 0, { game: QUBIC, ...LOST, line: [0, 21, 42, 63] });
  await page.press("Where did I go wrong?");
  await page.says({ type: "analysis", match: "m1", exact: true, moves: [], lesson: { ...LESSON, ply: 6, better: ["4:d1"], text: "you had to block at 4:d1" } });
  await page.until(".learnt", "you had to block at 4:d1");
  assert.ok(document.querySelector("#cell-63.hint"));
  assert.ok(document.querySelector(".stack > .better .tip"));
});

test("where marks fall, the lesson points to the cell of the better mark", async () => {
  const page = await learner([38, 37, 31, 30, 24, 36, 17], 0, { game: CONNECT4, ...LOST, line: [38, 31, 24, 17] });
  await page.press("Where did I go wrong?");
  await page.says({ type: "analysis", match: "m1", exact: true, moves: [], lesson: { ...LESSON, ply: 6, better: ["4"], text: "you had to block at 4" } });
  assert.deepEqual([...document.querySelectorAll(".hint")].map(({ id }) => id), ["cell-17"]);
});

test("a lesson is shown in the language of the page", async () => {
  const page = await learner([0, 8, 1, 5, 4, 2], 1, { line: [2, 5, 8] }, { language: "fr" });
  await page.press("Où me suis-je trompé ?");
  const lesson = { type: "lesson", ply: 5, side: 0, better: ["c3"], text: "", why: { kind: "missed_win", moves: ["c3"] } };
  await page.says({ type: "analysis", match: "m1", exact: true, moves: [], lesson });
  await page.until(".learnt", "Coup 5, b2 : vous pouviez gagner tout de suite avec c3.");
});

test("the coach of a match against a bot hints and warns, and a bot plays on from any position", async () => {
  const page = await ann({}, "/", ["hint"]);
  const match = { players: [{ name: "Ann" }, { name: "Tom", bot: "random", level: 3 }] };
  await page.says(snapshot({ ...match, moves: [4, 0], position: after([4, 0]) }));
  assert.deepEqual(fields(page.of("hint"), "kind"), [["warning"]]);
  await page.press("Hint");
  await page.says({ type: "hint", match: "m1", ply: 2, kind: "move", moves: [2], text: "Take the corner." }, { type: "hint", match: "m1", ply: 2, kind: "warning", moves: [6] });
  assert.deepEqual(textOf(".coached"), ["Take the corner.", "Beware of a1."]);
  assert.deepEqual([document.querySelector(".cell.hint")!.id, document.querySelector(".cell.alarm")!.id], ["cell-2", "cell-6"]);
  await page.press("Resign");
  await page.press("Play on");
  await page.press("Resign");
  await page.press("Yes, resign");
  assert.equal(page.of("resign").length, 1);
  await page.says(ended(1, "resign"));
  await slideTo(page, 1);
  await page.says({ type: "players", online: 1, players: [BOT] }, replay([4, 0], 9, ["", "after one"]));
  await page.press("Play on from here");
  assert.deepEqual(fields(page.of("challenge"), "name", "start", "side"), [["Tom", "after one", 0]]);
  await page.says(snapshot({ ...match, match: "m2", moves: [], position: position("....X....", { to_move: 1 }), start: "after one" }));
  assert.equal(document.querySelectorAll("#cell-4 .mark-X").length, 1);
});

test("players who have finished a lesson play the game with one tap", async () => {
  const page = await ann();
  await page.press("How to play");
  assert.deepEqual(fields(page.of("rules"), "game"), [["tictactoe"]]);
  await page.says({ type: "rules", game: "tictactoe", title: "Tic-tac-toe", rule: "three in a row wins", goal: "Three in a row wins.", special: "", tips: ["Take the middle."], example: null });
  await page.until("[role=dialog]", "Take the middle.");
  await page.press("Try it");
  for (const cell of [2, 3]) {
    await page.tap(cell, "lesson-");
    await page.press("Next");
  }
  await page.until("[role=dialog]", "You know the game.");
  await page.says({ type: "players", online: 1, players: [BOT] });
  const play = [...document.querySelectorAll<HTMLElement>("[role=dialog] button")].find(({ textContent }) => textContent === "Play the computer")!;
  play.onclick?.({ currentTarget: play } as never);
  await page.says();
  assert.deepEqual(fields(page.of("challenge"), "name", "game"), [["Tom", "tictactoe"]]);
});

test("the puzzle of a day is answered, remembered, and leads to the day before", async () => {
  const page = await ann();
  await page.press("Puzzle of the day");
  const puzzle = { type: "puzzle", day: "2023-01-03", game: snapshot().game, position: position("XX.OO...."), start: "", kind: "win", plies: 1, grade: 2 };
  await page.says(puzzle);
  await page.until(".puzzle", "Jan 3, 2023 · Difficulty 2 of 5");
  await page.tap(8);
  assert.deepEqual(fields(page.of("puzzle").slice(-1), "day", "move"), [["2023-01-03", 8]]);
  await page.says({ ...puzzle, move: 8, right: false });
  await page.until(".verdict", "c1 is not the move. Try another.");
  await page.tap(2);
  await page.says({ ...puzzle, move: 2, right: true, solution: 2, text: "it completes a line." });
  await page.until(".verdict", "Correct: c3!");
  await page.until(".puzzle", "Solved");
  const puzzles = localStorage.getItem("ttt_net.puzzles")!;
  page.close();
  const again = await ann({ puzzles }, "/#puzzle=2023-01-03");
  await again.says(puzzle);
  await again.until(".puzzle", "Solved");
  await again.press("Previous puzzle");
  assert.equal(location.hash, "#puzzle=2023-01-02");
  assert.deepEqual(fields(again.of("puzzle").slice(-1), "day"), [["2023-01-02"]]);
  await again.says({ ...puzzle, day: "2023-01-02" });
  await again.press("Show the solution");
  assert.deepEqual(fields(again.of("puzzle").slice(-1), "day", "reveal"), [["2023-01-02", true]]);
  await again.says({ ...puzzle, day: "2023-01-02", solution: 2 });
  await again.until(".verdict", "A good move: c3.");
});

const COMING = {
  games: { tictactoe: snapshot().game },
  puzzles: ["2023-01-03", "2023-01-04"].map((day) => ({ type: "puzzle", day, game: "tictactoe", position: position("XX.OO...."), start: "", kind: "win", plies: 1, grade: 2, solution: 2, text: "it completes a line." })),
};

/** Has a fixed time, and the server's puzzles of the next days where `isUp`; `undo` ends it. */
function fetching(now: string, isUp = true): { asked: string[]; undo: () => void } {
  const asked: string[] = [];
  const { fetch } = globalThis;
  mock.timers.enable({ apis: ["Date"], now: Date.parse(now) });
  globalThis.fetch = (async (path: string) => {
    asked.push(path);
    if (!isUp) throw new TypeError("no link");
    return new Response(JSON.stringify(COMING));
  }) as typeof fetch;
  const undo = () => {
    globalThis.fetch = fetch;
    mock.timers.reset();
  };
  return { asked, undo };
}

test("the page judges the puzzle itself for visitors and without a server, and the result can be shared without the move", async () => {
  const { asked, undo } = fetching("2023-01-03T12:00Z");
  const copied: string[] = [];
  Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText: async (text: string) => void copied.push(text) } });
  try {
    const page = await WholePage.open({}, "/#puzzle", true);
    pages.push(page);
    await page.until(".puzzle", "Jan 3, 2023");
    await page.tap(8);
    await page.until(".verdict", "c1 is not the move. Try another.");
    assert.equal(page.of("puzzle").length, 0, "the solution is here");
    assert.ok(![...document.querySelectorAll("button")].some((each) => each.textContent === "Share the result"), "nothing to tell yet");
    await page.tap(2);
    await page.until(".verdict", "Correct: c3!");
    await page.until(".squares", "🟥🟩");
    await page.press("Share the result");
    assert.equal(copied[0], "Puzzle of the day, Jan 3, 2023\nTic-tac-toe ●●○○○\n🟥🟩\nhttp://here/#puzzle=2023-01-03");
    await page.until(".toast", "The result is copied.");
    await page.press("Previous puzzle");
    await page.until("main", "This puzzle needs a connection.");
    await page.greeted(1);
    assert.deepEqual(asked, ["/puzzles"], "one request for all days");
  } finally {
    undo();
    delete (navigator as { clipboard?: object }).clipboard;
  }
});

test("puzzles solved on their own days one after the other are a streak, and a solution that was shown counts as none", async () => {
  let kept: Record<string, string> = {};
  for (const [now, address, says, squares] of [
    ["2023-01-03T12:00Z", "/#puzzle=2023-01-03", null, "🟩"],
    ["2023-01-04T12:00Z", "/#puzzle", "2 days in a row", "🟩"],
    ["2023-01-07T12:00Z", "/#puzzle=2023-01-03", null, "🟩"],
  ] as const) {
    const { undo } = fetching(now);
    try {
      const page = await WholePage.open(kept, address, true);
      pages.push(page);
      await page.until(".puzzle");
      await page.tap(2);
      await page.until(".squares", squares);
      assert.equal(document.querySelector(".streak")?.textContent ?? null, says);
      kept = { puzzles: localStorage.getItem("ttt_net.puzzles")! };
      page.close();
    } finally {
      undo();
    }
  }
  const { undo } = fetching("2023-01-04T12:00Z", true);
  try {
    const page = await WholePage.open({}, "/#puzzle", true);
    pages.push(page);
    await page.until(".puzzle");
    await page.press("Show the solution");
    await page.until(".squares", "⬜");
    assert.equal(document.querySelector(".squares")!.textContent, "⬜");
  } finally {
    undo();
  }
});

/** A match of strong bots that Sophia wins with X. */
function study(number: number) {
  const moves = [4, 0, 2, 1, 6];
  const { positions } = replay(moves);
  const last = finished(moves, 0, { match: `study-${number}`, players: [{ name: "Sophia", bot: "alphabeta", level: 8 }, { name: "Viktor", bot: "alphabeta", level: 6 }], you: undefined });
  const judged = moves.map((move, ply) => ({ ply: ply + 1, side: ply % 2, move, value: 1, best: [], ...(ply === 2 && { keeping: ["c3", "a1"] }) }));
  return { type: "study", number, count: 20, side: 0, snapshot: last, positions: [...positions.slice(0, -1), last.position], moves: judged };
}

test("moves of strong bots are guessed before they are shown, judged and counted", async () => {
  const page = await ann({}, "/#puzzle", ["study"]);
  await page.says({ type: "puzzle", day: "2023-01-03", game: snapshot().game, position: position("XX.OO...."), start: "", kind: "win", plies: 1, grade: 2, move: 2, right: true, solution: 2, text: "it completes a line." });
  await page.press("Guess the moves");
  assert.equal(location.hash, "#guess");
  assert.deepEqual(fields(page.of("study").slice(-1), "number"), [[null]]);
  await page.says(study(3));
  await page.until(".puzzle", "Move 1 of 5: what did Sophia play?");
  assert.ok(!document.querySelector(".verdict"), "nothing is shown yet");
  await page.tap(0);
  await page.until(".verdict", "a3 is as good. Sophia played b2.");
  await page.press("Next");
  await page.until(".puzzle", "Move 3 of 5: what did Sophia play?");
  await page.tap(8);
  await page.until(".verdict", "c1 gives the win away. Sophia played c3.");
  await page.press("Next");
  await page.tap(6);
  await page.until(".verdict", "Correct: a1!");
  await page.until(".puzzle", "You found 1 of 3 moves. As good as theirs: 1.");
  await page.press("Another match");
  assert.equal(location.hash, "#guess=4");
  assert.deepEqual(fields(page.of("study").slice(-1), "number"), [[4]]);
  await page.says(study(4));
  await page.press("Show the move");
  await page.until(".verdict", "Sophia played b2.");
});

test("a visitor who follows a link to a puzzle of another day or to a match to guess gets it as a guest", async () => {
  const { undo } = fetching("2023-01-03T12:00Z");
  try {
    for (const [address, type, asks] of [
      ["/#puzzle=2022-12-24", "puzzle", ["2022-12-24", undefined]],
      ["/#guess=4", "study", [undefined, 4]],
    ] as const) {
      const page = await WholePage.open({}, address);
      pages.push(page);
      await page.greeted(1);
      await page.says({ type: "welcome", protocol: 1, server: "here", you: { name: "guest-warm-koala", guest: true }, matches: [], features: ["puzzle", "study"] });
      await until(() => page.of(type).length > 0, () => address);
      assert.deepEqual(fields(page.of(type), "day", "number"), [asks]);
      assert.equal(page.of("hello").length, 1);
      page.close();
    }
  } finally {
    undo();
  }
});

test("the moves of an analysed match of one's own are guessed, too", async () => {
  const moves = [4, 0, 2, 1, 6];
  const page = await ann({}, "/m/m1", ["analyse", "study"]);
  await page.says(finished(moves, 0));
  await page.until("main.match");
  await page.press("Analyse");
  await page.says({ type: "analysis", match: "m1", exact: true, moves: moves.map((move, ply) => ({ ply: ply + 1, side: ply % 2, move, value: 0, best: [], ...(ply === 2 && { keeping: ["c3"] }) })) });
  await page.press("Guess the moves");
  assert.deepEqual(fields(page.of("replay").slice(-1), "match", "ply", "legal"), [["m1", 0, true]]);
  await page.says(replay(moves));
  await page.until(".puzzle", "Move 1 of 5: what did Ann play?");
  assert.equal(location.hash, "#guess=m1");
  assert.equal(page.of("study").length, 0);
  await page.tap(4);
  await page.until(".verdict", "Correct: b2!");
  await page.press("Next");
  await page.tap(8);
  await page.until(".verdict", "c1 loses. Ann played c3.");
  assert.ok(![...document.querySelectorAll("button")].some((each) => each.textContent === "Another match"));
});

/** Has what a browser can sound, shake and show noted in a list. */
function listen(): { felt: string[]; undo: () => void } {
  const felt: string[] = [];
  const ramp = { setValueAtTime: () => {}, linearRampToValueAtTime: () => {}, exponentialRampToValueAtTime: () => {} };
  class Tone {
    gain = ramp;
    connect = (next: unknown) => next;
    start = () => {};
    stop = () => {};
  }
  class AudioContext {
    currentTime = 0;
    constructor() {
      felt.push("sound");
    }
  }
  class Notification {
    static permission = "granted";
    constructor(title: string) {
      felt.push(title);
    }
    close() {}
  }
  Object.assign(globalThis, { AudioContext, OscillatorNode: Tone, GainNode: Tone, Notification });
  const felts = { userActivation: { hasBeenActive: true }, vibrate: (pattern: number[]) => felt.push(`vibration of ${pattern.length}`), setAppBadge: async (count: number) => void felt.push(`badge ${count}`), clearAppBadge: async () => {} };
  for (const [name, value] of Object.entries(felts)) Object.defineProperty(navigator, name, { configurable: true, value });
  const undo = () => {
    for (const name of Object.keys(felts)) Reflect.deleteProperty(navigator, name);
    for (const name of ["AudioContext", "OscillatorNode", "GainNode", "Notification"]) Reflect.deleteProperty(globalThis, name);
  };
  return { felt, undo };
}

const LOUD = { settings: '{"isLoud":true,"tells":true}' };

test("our turn plays a sound, vibrates, and notifies while the page is hidden", async () => {
  const { felt, undo } = listen();
  try {
    const page = await ann(LOUD);
    const icon = Object.assign(document.createElement("link"), { rel: "icon", href: "http://here/icon.svg" });
    document.head.append(icon);
    await page.says(snapshot({ moves: [4], position: after([4]) }));
    Object.defineProperty(document, "hidden", { configurable: true, value: true });
    await page.says({ type: "played", match: "m1", seq: 2, at_ms: 0, side: 1, ply: 2, move: 0, position: after([4, 0]) });
    await until(() => felt.includes("sound"), () => "a sound");
    for (const each of ["Your turn against Ben", "vibration of 1", "badge 1"]) assert.ok(felt.includes(each), `${each} among ${felt}`);
    assert.match(document.title, /^● Your turn/);
    assert.match(icon.href, /icon-turn\.svg$/);
    await page.tap(8);
    await page.says({ type: "played", match: "m1", seq: 3, at_ms: 0, side: 0, ply: 3, move: 8, position: after([4, 0, 8]) });
    assert.match(icon.href, /icon\.svg$/);
  } finally {
    undo();
  }
});

test("sounds are on from the first tap, and silent before it", async () => {
  const { felt, undo } = listen();
  try {
    Object.assign(navigator.userActivation, { hasBeenActive: false });
    const page = await ann();
    await page.says(snapshot({ moves: [4], position: after([4]) }));
    await page.says({ type: "played", match: "m1", seq: 2, at_ms: 0, side: 1, ply: 2, move: 0, position: after([4, 0]) });
    assert.ok(!felt.includes("sound"), `${felt}`);
    Object.assign(navigator.userActivation, { hasBeenActive: true });
    await page.says({ type: "tookback", match: "m1", seq: 3, at_ms: 0, ply: 1, position: after([4]) });
    await page.says({ type: "played", match: "m1", seq: 4, at_ms: 0, side: 1, ply: 2, move: 1, position: after([4, 1]) });
    await until(() => felt.includes("sound"), () => "a sound");
  } finally {
    undo();
  }
});

test("a win vibrates in five parts, also on one device without a server", async () => {
  const { felt, undo } = listen();
  try {
    const page = await WholePage.open(LOUD, "/#here=tictactoe");
    pages.push(page);
    await page.until("#cell-0");
    for (const cell of LINE) await page.tap(cell);
    await page.until(".status .head", "X won.");
    await page.until(".confetti i");
    assert.deepEqual(felt.filter((each) => each.startsWith("vibration")), ["vibration of 5"]);
    assert.equal(document.querySelector(".link"), null);
  } finally {
    undo();
  }
});

/** The texts that the page saves as files. */
function savedTexts(): Promise<string>[] {
  const texts: Promise<string>[] = [];
  mock.method(URL, "createObjectURL", (file: Blob) => {
    texts.push(file.text());
    return "blob:saved";
  });
  return texts;
}

test("the record of a finished match is saved as the server writes it", async () => {
  const saved = savedTexts();
  const page = await ann({}, "/m/m1");
  await page.says(snapshot({ moves: [0], position: after([0]) }));
  await page.until(".moves-panel");
  assert.throws(() => page.find("Download"), "only finished matches have a record");
  await page.says(finished(LINE, 0, { line: [0, 1, 2] }));
  await page.press("Download");
  assert.deepEqual(fields(page.of("record"), "match"), [["m1"]]);
  await page.says({ type: "record", match: "m1", text: "[Game \"tictactoe\"]\n1. a3" });
  assert.deepEqual(await Promise.all(saved), ['[Game "tictactoe"]\n1. a3']);
});

test("a player saves all that the server stores about them, page by page, while the list on the screen stays", async () => {
  const saved = savedTexts();
  const page = await ann({}, "/#player", ["chat", "puzzle", "or_casual", "mistakes"]);
  const entry = (match: string) => ({ match, game: "tictactoe", players: [{ name: "Ann" }, { name: "Ben" }], winner: 0, reason: "line", plies: 5, at_ms: 0, rated: false });
  const history = (match: string, before: string | null) => ({ type: "history", player: { name: "Ann" }, matches: [entry(match)], before });
  const profile = { type: "profile", player: { name: "Ann" }, won: 2, drawn: 0, lost: 0, ratings: [], online: true, since_ms: 0 };
  await page.says(profile, history("m9", null));
  await page.press("Download my data");
  const answer = async (kind: "profile" | "blocks" | "mistakes" | "history" | "record", count: number, reply: object) => {
    await until(() => page.of(kind).length === count, () => `request ${count} of ${kind}`);
    await page.says(reply);
  };
  const before = { profile: page.of("profile").length, history: page.of("history").length, blocks: page.of("blocks").length };
  await answer("profile", before.profile, profile);
  await answer("blocks", before.blocks + 1, { type: "blocks", blocked: ["Eve"], muted: [] });
  const kept = ["connect4", "gomoku"].map((game) => ({ puzzle: { game, better: [1] }, times: 5 }));
  for (const [n, mistake] of kept.entries()) await answer("mistakes", n + 1, { type: "mistakes", day: "2023-01-03", mistakes: [mistake], count: 2, page: n + 1 });
  assert.deepEqual(fields(page.of("mistakes"), "all", "page"), [[true, 1], [true, 2]]);
  await answer("history", before.history + 1, history("m2", "older"));
  await until(() => page.of("record").length === 1, () => "the request for the first record");
  await page.says({ type: "record", match: "m7", text: "of a match that is looked at meanwhile" });
  assert.equal(await saved.shift(), "of a match that is looked at meanwhile");
  await answer("record", 1, { type: "record", match: "m2", text: "first" });
  await page.until("button:disabled", "Download my data (1)");
  await answer("history", before.history + 2, history("m1", null));
  assert.equal(fields(page.of("history"), "before").at(-1)![0], "older");
  await answer("record", 2, { type: "record", match: "m1", text: "second" });
  await until(() => saved.length > 0, () => "a file");
  const data = JSON.parse((await saved[0])!);
  assert.equal(data.profile.won, 2);
  assert.deepEqual(data.blocks.blocked, ["Eve"]);
  assert.deepEqual(data.mistakes, kept);
  assert.deepEqual(data.matches.map((each: { match: { match: string }; record: string }) => [each.match.match, each.record]), [["m2", "first"], ["m1", "second"]]);
  assert.equal(page.player.state.history!.matches[0]!.match, "m9");
  await page.until("button:not(:disabled)", "Download my data");
});

const MISTAKE = { game: "tictactoe", better: [8], moves: [0, 1, 4, 2] };
const OF_THE_DAY = { type: "puzzle", day: "2023-01-03", game: snapshot().game, position: position("XX.OO...."), start: "", kind: "win", plies: 1, grade: 2 };
const AS_PUZZLE = { ...OF_THE_DAY, kind: "own", plies: 0, grade: 0, position: position("XOO.X...."), own: MISTAKE };

test("the mistake of a lost match goes to the server that keeps mistakes", async () => {
  for (const features of [["analyse"], ["analyse", "mistakes"]]) {
    const page = await ann({}, "/m/m1", features);
    await page.says(finished([0, 1, 4, 2, 3], 1), replay([0, 1, 4, 2, 3], 9, []));
    await page.until("main.match");
    const told = { type: "analysis", match: "m1", moves: [], exact: false, partial: true };
    await page.says({ ...told, lesson: { ply: 4, side: 1, better: ["b2"], text: "of the other side" } });
    await page.says({ ...told, lesson: { ply: 5, side: 0, better: ["c1", "x"], text: "Move 5: c1 wins. What follows: c1." } });
    const expected = features.includes("mistakes") ? [[{ puzzle: MISTAKE, text: "Move 5: c1 wins." }]] : [];
    assert.deepEqual(fields(page.of("learn"), "mistake"), expected);
    await page.press("‹ Lobby");
    await page.says({ ...told, lesson: { ply: 5, side: 0, better: ["c1"], text: "" } });
    const more = features.includes("mistakes") ? [[{ puzzle: MISTAKE, text: "" }]] : [];
    assert.deepEqual(fields(page.of("learn"), "mistake"), [...expected, ...more], "though the match is not on the screen");
    page.close();
  }
});

test("the lesson of a match that ends is asked for unseen, and its mistake is kept", async () => {
  const cases = [["line", LINE, ["hint", "mistakes"], 1], ["line", LINE, ["mistakes"], 0], ["line", LINE, ["hint"], 0], ["abort", LINE, ["hint", "mistakes"], 0], ["resign", [0, 3], ["hint", "mistakes"], 0]] as const;
  for (const [reason, moves, features, times] of cases) {
    const page = await ann({}, "/m/m1", ["analyse", ...features]);
    await page.says(snapshot({ you: 1, moves: [...moves], position: after([...moves]) }));
    await page.says(ended(0, reason));
    assert.deepEqual(fields(page.of("analyse"), "match", "brief"), times ? [["m1", true]] : [], `${reason} ${features}`);
    if (times) {
      const before = document.querySelector(".deck")!.textContent;
      await page.says({ type: "analysis", match: "m1", moves: [], exact: false, partial: true, lesson: { ply: 4, side: 1, better: ["c3"], text: "why" } });
      assert.deepEqual(fields(page.of("learn"), "mistake"), [[{ puzzle: { game: "tictactoe", better: [2], moves: LINE.slice(0, 3) }, text: "why" }]]);
      assert.equal(document.querySelector(".deck")!.textContent, before, "the result stays, and the analysis can be asked for");
      page.find("Where did I go wrong?");
    }
    page.close();
  }
});

test("a mistake whose answer was lost, or that the disk had no room for, is sent again on the next connection", async () => {
  const page = await WholePage.open({ token: "ann" }, "/m/m1", true);
  pages.push(page);
  const welcome = { type: "welcome", protocol: 1, server: "here", you: { name: "Ann" }, matches: [], features: ["analyse", "mistakes"] };
  await page.greeted(1);
  await page.says(welcome, finished([0, 1, 4, 2, 3], 1), replay([0, 1, 4, 2, 3], 9, []));
  await page.until("main.match");
  await page.says({ type: "analysis", match: "m1", moves: [], exact: false, partial: true, lesson: { ply: 5, side: 0, better: ["c1"], text: "" } });
  await page.closes(1006);
  await page.greeted(2);
  await page.says(welcome);
  assert.deepEqual(fields(page.of("learn"), "mistake"), [[{ puzzle: MISTAKE, text: "" }], [{ puzzle: MISTAKE, text: "" }]]);
  await page.says({ type: "refused", id: page.of("learn")[1]!.id, code: "storage", message: "" });
  await page.closes(1006);
  await page.greeted(3);
  await page.says(welcome);
  assert.equal(page.of("learn").length, 3);
  await page.says({ type: "ok", id: page.of("learn")[2]!.id });
  await page.closes(1006);
  await page.greeted(4);
  await page.says(welcome);
  assert.equal(page.of("learn").length, 3);
});

test("our mistakes that are due are asked on the page, and the first answer to each goes to the server", async () => {
  const page = await ann({}, "/#puzzle", ["mistakes"]);
  await page.says(OF_THE_DAY);
  await page.until(".puzzle", "Jan 3, 2023");
  assert.deepEqual(fields(page.of("mistakes"), "all"), [[undefined]]);
  const other = { puzzle: { ...MISTAKE, moves: [0] }, due: "2023-01-02", times: 4 };
  const learnt = { puzzle: { ...MISTAKE, moves: [1] }, due: "2023-01-01", times: 5 };
  const later = { puzzle: { ...MISTAKE, moves: [2] }, due: "2023-01-04" };
  await page.says({ type: "mistakes", day: "2023-01-03", mistakes: [{ puzzle: MISTAKE, text: "why" }, other, learnt, later], count: 5, page: 1 });
  await page.press("Your mistakes (2)");
  assert.deepEqual(fields(page.of("puzzle").slice(-1), "own"), [[MISTAKE]]);
  await page.says(AS_PUZZLE);
  await page.until(".puzzle", "A mistake of yours");
  assert.match(document.querySelector(".puzzle")!.textContent!, /X to move: you went wrong here\. Find a better move\./);
  assert.doesNotMatch(document.querySelector(".puzzle")!.textContent!, /Difficulty|Your mistakes/);
  await page.tap(8);
  assert.deepEqual(fields(page.of("puzzle").slice(-1), "own", "move"), [[MISTAKE, 8]]);
  await page.says({ ...AS_PUZZLE, move: 8, right: true, solution: 8 });
  await page.until(".puzzle", "It returns on Jan 4, 2023.");
  assert.deepEqual(fields(page.of("learn"), "mistake"), [[{ puzzle: MISTAKE, text: "why", due: "2023-01-04", times: 1 }]]);
  await page.press("Your mistakes (1)");
  const second = { ...AS_PUZZLE, own: other.puzzle };
  await page.says({ ...second });
  await page.press("Show the solution");
  assert.deepEqual(fields(page.of("puzzle").slice(-1), "own", "reveal"), [[other.puzzle, true]]);
  await page.says({ ...second, move: 3, right: false });
  await page.says({ ...second, move: 8, right: true, solution: 8 });
  assert.deepEqual(fields(page.of("learn").slice(1), "mistake"), [[{ ...other, due: "2023-01-04", times: 0 }]], "the first answer counts");
  assert.equal(page.of("mistakes").length, 2, "one more is on the server");
  assert.equal(localStorage.getItem("ttt_net.puzzles"), null, "none of them is the puzzle of the day");
});

test("the fifth right answer in a row has learned a mistake, and one before it is followed by longer and longer waits", async () => {
  const page = await ann({}, "/#puzzle", ["mistakes"]);
  for (const [times, due, words] of [[1, "2023-01-06", "It returns on Jan 6, 2023."], [2, "2023-01-10", ""], [3, "2023-01-24", ""], [4, "2023-01-04", "You have learned it."]] as const) {
    await page.says(OF_THE_DAY, { type: "mistakes", day: "2023-01-03", mistakes: [{ puzzle: MISTAKE, times, due: "2023-01-01" }], count: 1, page: 1 });
    await page.says({ ...AS_PUZZLE, move: 8, right: true, solution: 8 });
    await page.until(".puzzle", words);
    assert.deepEqual(fields(page.of("learn").slice(-1), "mistake"), [[{ puzzle: MISTAKE, times: times + 1, due }]]);
  }
  await page.press("Puzzle of the day");
  assert.deepEqual(fields(page.of("puzzle").slice(-1), "day", "own"), [[null, undefined]]);
});

test("a mistake is asked in place of any puzzle of a day, also of one that the page judged before it was connected", async () => {
  const { undo } = fetching("2023-01-03T12:00Z");
  try {
    for (const address of ["/#puzzle", "/#puzzle=2023-01-04"]) {
      const page = await WholePage.open({ token: "ann" }, address);
      pages.push(page);
      await page.until(".puzzle", "Difficulty 2 of 5");
      await page.greeted(1);
      await page.says({ type: "welcome", protocol: 1, server: "here", you: { name: "Ann" }, matches: [], features: ["mistakes"] });
      await page.says(OF_THE_DAY, { type: "mistakes", day: "2023-01-03", mistakes: [{ puzzle: MISTAKE }], count: 1, page: 1 });
      await page.press("Your mistakes (1)");
      await page.says(AS_PUZZLE);
      await page.until(".puzzle", "A mistake of yours");
      await page.tap(8);
      assert.deepEqual(fields(page.of("puzzle").slice(-1), "own", "move"), [[MISTAKE, 8]]);
      await page.closes(1006);
      await page.until(".puzzle", "Difficulty 2 of 5");
      page.close();
    }
  } finally {
    undo();
  }
});
