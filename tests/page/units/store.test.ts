/** The store: how what is known changes with what is heard, and how often that is drawn. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { settled } from "./world.js";
import type { Position, Snapshot } from "../../../ttt_net/web/src/protocol.js";
import { choose, drawWith, fadingCell, hear, hearing, isMyTurn, leftMs, mayHint, movesAt, ownLive, redraw, set, state, ui } from "../../../ttt_net/web/src/store.js";
import { lineSide } from "../../../ttt_net/web/src/results.js";

const CELLS = [0, 1, 2, 3, 4, 5, 6, 7, 8];

function position(board: string, more: Partial<Position> = {}): Position {
  const ply = [...board].filter((mark) => mark !== ".").length;
  const legal = CELLS.filter((cell) => board[cell] === ".");
  return { ply, board, to_move: ply % 2, legal, line: [], marks: ["X", "O"], ...more };
}

function snapshot(more: Partial<Snapshot> = {}): Snapshot {
  return {
    type: "snapshot",
    match: "m",
    seq: 1,
    game: { name: "tictactoe", title: "", rule: "", shape: [3, 3], gravity: false, move_cells: CELLS, move_names: CELLS.map((cell) => `c${cell}`) },
    players: [{ name: "Ann" }, { name: "Bob" }],
    present: [true, true],
    moves: [],
    last: null,
    position: position("........."),
    offers: [],
    you: 0,
    ...more,
  } as Snapshot;
}

function begin(more: Partial<Snapshot> = {}) {
  state.matches.clear();
  hear({ type: "welcome", protocol: 1, server: "here", you: { name: "Ann" }, matches: [] }, 0);
  hear(snapshot(more), 0);
  return state.matches.get("m")!;
}

const played = (seq: number, side: number, move: number, board: string, more: Partial<Position> = {}) =>
  hear({ type: "played", match: "m", seq, at_ms: 0, side, ply: seq - 1, move, position: position(board, more) }, 10 * seq);

test("moves apply in order, and repeated events change nothing", () => {
  const match = begin();
  played(2, 0, 4, "....X....");
  played(3, 1, 0, "O...X....");
  played(2, 0, 4, "....X....");
  assert.deepEqual([match.moves, match.position.board, match.seq], [[4, 0], "O...X....", 3]);
  assert.ok(isMyTurn(match));
});

test("a pending move waits for its answer and is dropped when the match has passed it", () => {
  const match = begin();
  match.pending = { ply: 0, move: 4 };
  assert.ok(!isMyTurn(match));
  hear(snapshot({ seq: 1 }), 5);
  assert.deepEqual(state.matches.get("m")!.pending, { ply: 0, move: 4 }, "the server knows nothing of it yet");
  played(2, 0, 4, "....X....");
  assert.equal(state.matches.get("m")!.pending, null);
});

test("offers stand until they are declined, answered by a move, or the match ends", () => {
  const match = begin();
  const offered = (seq: number, side: number, kind: "draw" | "takeback") => hear({ type: "offered", match: "m", seq, at_ms: 0, side, kind }, 0);
  offered(2, 1, "draw");
  offered(3, 0, "takeback");
  hear({ type: "declined", match: "m", seq: 4, at_ms: 0, side: 0, kind: "draw" }, 0);
  assert.deepEqual(match.offers.map(({ kind }) => kind), ["takeback"]);
  played(5, 0, 4, "....X....");
  assert.deepEqual(match.offers, []);
});

test("a take-back takes moves back", () => {
  const match = begin();
  played(2, 0, 4, "....X....");
  played(3, 1, 0, "O...X....");
  hear({ type: "tookback", match: "m", seq: 4, at_ms: 0, side: 0, ply: 0, position: position(".........") }, 50);
  assert.deepEqual([match.moves, match.position.ply], [[], 0]);
});

test("the end of a match leaves nobody to move and nobody away", () => {
  const match = begin();
  hear({ type: "presence", match: "m", side: 1, online: false, away: { side: 1, on_purpose: false, claim_in_ms: 30_000 } }, 7);
  assert.deepEqual([match.present, match.away?.side, match.awayAt], [[true, false], 1, 7]);
  hear({ type: "ended", match: "m", seq: 2, at_ms: 0, winner: 0, reason: "abandon" }, 8);
  assert.deepEqual([match.away, match.position.to_move, match.position.legal], [null, null, []]);
  assert.deepEqual(ownLive(), []);
});

test("a player who takes another name in the middle of a match has it in the match and in the chat", () => {
  const match = begin();
  hear({ type: "chat", match: "m", room: "players", by: { name: "Bob" }, text: "hello" }, 1);
  hear({ type: "playerrenamed", match: "m", side: 1, name: "Bobby" }, 2);
  assert.deepEqual(match.players, [{ name: "Ann" }, { name: "Bobby" }]);
  assert.deepEqual(match.chat.map(({ by }) => by.name), ["Bobby"]);
  assert.equal(match.seq, 1);
});

test("matches that wait for our move come first", () => {
  begin();
  hear(snapshot({ match: "theirs", position: position("X........") }), 0);
  hear(snapshot({ match: "ours" }), 0);
  assert.deepEqual(ownLive().map(({ match }) => match), ["m", "ours", "theirs"]);
});

test("the clock of the side to move runs from the last update, and never below zero", () => {
  const match = begin({ clock: { remaining_ms: [5000, 7000], running: 0 } });
  assert.deepEqual([leftMs(match, 0, 1200), leftMs(match, 1, 1200), leftMs(match, 0, 9000)], [3800, 7000, 0]);
  assert.equal(leftMs(begin(), 0, 1), null);
});

test("a welcome clears challenges, mutes and the farewell; under another name also the invitation", () => {
  begin();
  hear({ type: "challenged", challenge: 1, by: { name: "Bob" }, to: { name: "Ann" }, game: "tictactoe", expires_in_ms: 9 }, 0);
  hear({ type: "challenged", challenge: 2, by: { name: "Bob" }, to: { name: "Ann" }, game: "qubic", expires_in_ms: 9 }, 0);
  assert.deepEqual([...state.challenges.keys()], [2], "one at most from one player to another");
  hear({ type: "sanctioned", act: "mute", reason: "be kind" }, 0);
  hear({ type: "invitation", code: "ABC", game: "qubic", expires_in_ms: 9 }, 0);
  hear({ type: "parted", code: 4001, message: "" }, 0);
  hear({ type: "welcome", protocol: 1, server: "here", you: { name: "Ann" }, matches: [] }, 0);
  assert.deepEqual([state.challenges.size, state.mute, state.parted, state.invitation?.code], [0, null, null, "ABC"]);
  hear({ type: "welcome", protocol: 1, server: "here", you: { name: "Cleo" }, matches: [] }, 0);
  assert.equal(state.invitation, null);
});

test("a match that begins ends the search and uses up its own invitation alone", () => {
  begin();
  hear({ type: "invitation", code: "ABC", game: "qubic", expires_in_ms: 9 }, 0);
  state.seeking = { games: ["tictactoe"] };
  hear(snapshot({ match: "new" }), 0);
  assert.deepEqual([state.seeking, state.invitation?.code], [null, "ABC"]);
  hear(snapshot({ match: "invited", code: "ABC" }), 0);
  assert.equal(state.invitation, null);
});

test("a chat keeps its last hundred lines", () => {
  const match = begin();
  for (let n = 0; n < 120; n++) hear({ type: "chat", match: "m", by: { name: "Bob" }, text: `${n}` } as never, 0);
  assert.deepEqual([match.chat.length, match.chat[0]!.text], [100, "20"]);
});

test("hints are given in casual matches against bots alone, where the host gives them", () => {
  const bot = [{ name: "Ann" }, { name: "Tom", bot: "x" }] as Snapshot["players"];
  begin();
  state.features = ["hint"];
  const isGiven = (more: Partial<Snapshot>) => {
    hear(snapshot({ match: "h", ...more }), 0);
    return mayHint(state.matches.get("h")!);
  };
  assert.ok(isGiven({ players: bot }));
  assert.ok(!isGiven({ players: bot, rated: true }));
  assert.ok(!isGiven({}));
  state.features = [];
  assert.ok(!isGiven({ players: bot }));
});

test("where marks fall a cell means its column, on a cube its peg", () => {
  const game = { ...snapshot().game, shape: [2, 2], gravity: true, move_cells: [0, 1, 2, 3] };
  assert.deepEqual(movesAt(game, [2, 3], 0), [2]);
  const cube = { ...game, shape: [2, 2, 2], move_cells: [0, 1, 2, 3, 4, 5, 6, 7] };
  assert.deepEqual(movesAt(cube, [0, 5], 1), [5]);
  assert.deepEqual(movesAt({ ...game, gravity: false, move_cells: [0, 0, 1] }, [0, 1, 2], 0), [0, 1], "a cell may mean two moves");
});

test("the line of a misère match belongs to its loser", () => {
  const match = begin();
  played(2, 0, 2, "XXX......", { line: [0, 1, 2] });
  hear({ type: "ended", match: "m", seq: 3, at_ms: 0, winner: 1, reason: "line" }, 0);
  assert.equal(lineSide(match), 0);
});

test("the oldest of six marks goes next where marks vanish", () => {
  const match = begin({ game: { ...snapshot().game, name: "vanishing" }, moves: [0, 1, 4, 2, 5, 3], position: position("XOOOXX...") });
  assert.equal(fadingCell(match), 0);
  assert.equal(fadingCell(begin({ moves: [0, 1, 4, 2, 5, 3], position: position("XOOOXX...") })), -1);
});

test("a size of one's own is kept within what there is", () => {
  choose({ width: 3, height: 99, row: 50, level: 12 });
  assert.deepEqual([ui.choice.width, ui.choice.height, ui.choice.row, ui.choice.level], [3, 19, 19, 8]);
  choose({ height: Number.NaN, row: 4 });
  assert.deepEqual([ui.choice.height, ui.choice.row], [5, 4]);
});

test("changes of the player are drawn at once, and those of the server once a frame", async () => {
  let drawn = 0;
  const frames: (() => void)[] = [];
  drawWith(
    () => drawn++,
    (act) => frames.push(act),
  );
  for (let messages = 0; messages < 50; messages++) hearing(redraw);
  await settled();
  assert.deepEqual([drawn, frames.length], [0, 1]);
  frames.pop()!();
  assert.equal(drawn, 1);
  hearing(redraw);
  set({ aim: 3 });
  set({ aim: 4 });
  await settled();
  assert.equal(drawn, 2, "with what was heard");
  frames.pop()!();
  assert.equal(drawn, 2, "and not again with the frame");
});
