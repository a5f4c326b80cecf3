/** Matches on this device: the computer of the page, and the first screen when the server is slow or does not answer. */

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { document, textOf } from "./document.js";
import { after, CONNECT4, position, QUBIC, snapshot } from "./matches.js";
import { computerMove } from "../../../ttt_net/web/src/computer.js";
import { lines } from "../../../ttt_net/web/src/lines.js";
import { written } from "../../../ttt_net/web/src/handover.js";
import { below, cellNames } from "../../../ttt_net/web/src/local.js";
import { WholePage } from "./whole.js";

const GAMES = {
  tictactoe: { shape: [3, 3], gravity: false, row: 3, misere: false },
  misere: { shape: [3, 3], gravity: false, row: 3, misere: true },
  connect4: { shape: [6, 7], gravity: true, row: 4, misere: false },
  gomoku: { shape: [15, 15], gravity: false, row: 5, misere: false },
  tictactoe3d: { shape: [3, 3, 3], gravity: false, row: 3, misere: false },
  qubic: { shape: [4, 4, 4], gravity: false, row: 4, misere: false },
  scorefour: { shape: [4, 4, 4], gravity: true, row: 4, misere: false },
};
type Name = keyof typeof GAMES;

const groundOf = ({ shape, gravity }: { shape: number[]; gravity: boolean }) => {
  const cells = Array.from({ length: shape.reduce((product, side) => product * side, 1) }, (_, cell) => cell);
  return { shape, below: cells.map((cell) => below({ name: "", title: "", rule: "", shape, gravity, move_cells: cells, move_names: [] }, cell)) };
};

const move = (name: Name, moves: number[], level = 8, random = () => 0.99) => computerMove(groundOf(GAMES[name]), GAMES[name], moves, level, random);

/** The side whose line the last move completed, or null. */
function winner(name: Name, moves: number[]): number | null {
  const side = (moves.length - 1) % 2;
  const own = moves.filter((_, n) => n % 2 === side);
  const { shape, row } = GAMES[name];
  return lines(shape, row, moves.at(-1) ?? -1).some((line) => line.every((cell) => own.includes(cell))) ? side : null;
}

test("the computer completes a line, and prevents one", () => {
  assert.equal(move("tictactoe", [0, 4, 1, 2, 8]), 6, "it wins");
  assert.equal(move("tictactoe", [0, 4, 1]), 2, "it blocks");
  assert.equal(move("connect4", [38, 31, 39, 24, 40], 3) % 7, 2, "X has three on the ground, free at both ends; column 7 is open too");
});

test("the computer avoids a line where a line loses", () => {
  const moves = [4, 0, 8, 1]; // O has a3 and b3
  const answer = move("misere", [...moves, 5]);
  assert.notEqual(answer, 2);
});

test("the strongest computer of the page does not lose tic-tac-toe, whatever the visitor plays", () => {
  let matches = 0;
  const visit = (moves: number[]): void => {
    for (let cell = 0; cell < 9; cell++) {
      if (moves.includes(cell)) continue;
      const ours = [...moves, cell];
      assert.notEqual(winner("tictactoe", ours), 0, `the visitor wins by ${ours}`);
      if (ours.length === 9) {
        matches++;
        continue;
      }
      const both = [...ours, move("tictactoe", ours)];
      if (winner("tictactoe", both) === 1) matches++;
      else visit(both);
    }
  };
  visit([]);
  assert.ok(matches > 40, `${matches}`);
});

for (const name of Object.keys(GAMES) as Name[]) {
  test(`the computer plays a legal match of ${name} against itself to its end`, () => {
    const { shape, gravity } = GAMES[name];
    const cells = groundOf(GAMES[name]).below.length;
    const under = shape.length === 3 ? -(cells / shape[0]!) : shape[1]!;
    const moves: number[] = [];
    while (moves.length < Math.min(cells, 40) && winner(name, moves) === null) {
      const cell = move(name, moves, 1 + (moves.length % 8), () => (moves.length * 0.37) % 1);
      assert.ok(cell >= 0 && cell < cells && !moves.includes(cell), `${moves}, then ${cell}`);
      const rest = cell + under;
      assert.ok(!gravity || rest < 0 || rest >= cells || moves.includes(rest), `${cell} floats`);
      moves.push(cell);
    }
    assert.ok(moves.length > 4);
  });
}

test("cells on this device have the names that the server gives their moves", () => {
  assert.deepEqual(cellNames([3, 3], false).slice(0, 4), ["a3", "b3", "c3", "a2"]);
  assert.deepEqual(cellNames([6, 7], true).slice(-2), ["6", "7"]);
  assert.deepEqual([40, 8, 72].map((cell) => cellNames([9, 9], false, [3, 3])[cell]), ["5:b2", "3:c3", "7:a1"]);
  assert.deepEqual([cellNames([4, 4, 4], false)[16], cellNames([4, 4, 4], true)[63]], ["2:a4", "d1"]);
});

const pages: WholePage[] = [];
afterEach(() => {
  for (const page of pages.splice(0)) page.close();
});

async function visitor(): Promise<WholePage> {
  const page = await WholePage.open({}, "/", true);
  pages.push(page);
  return page;
}

const marks = () => [document.querySelectorAll(".cell:not(.ghost, .pending) .mark-X").length, document.querySelectorAll(".cell .mark-O").length];

test("without a server the first tap is a move at once, the computer of the page answers, and the match ends here", async () => {
  const page = await visitor();
  await page.begins(4);
  const board = document.querySelector(".boards");
  assert.ok(document.querySelector("#cell-4 .mark-X"));
  await page.closes(1006);
  await page.until(".status", "Your turn.");
  assert.deepEqual(marks(), [1, 1]);
  assert.equal(document.querySelector(".boards"), board, "the board is the same element at the same place");
  page.find("Play as a guest"); // the rest of the first screen stays
  const isOver = () => /won|lost|Draw/.test(document.querySelector(".status")!.textContent ?? "");
  while (!isOver()) {
    const [first, next] = [...document.querySelectorAll(".cell.free")].map(({ id }) => Number(id.slice(5)));
    await page.tap(first!);
    if (next !== undefined && !isOver()) await page.tap(next); // during the computer's turn, it plays nothing
    const [x, o] = marks();
    assert.ok(x! - o! <= 1, `${x} and ${o}`);
    while (/thinking/.test(document.querySelector(".status")!.textContent ?? "")) await page.says();
  }
  assert.equal(document.querySelector<HTMLButtonElement>(".actions .primary")?.textContent, "New match");
});

test("a slow server is not waited for, and a match that it begins too late is called off", async () => {
  const page = await visitor();
  await page.begins(4);
  await page.until(".status", "The computer is thinking");
  assert.equal(page.of("challenge").length, 0);
  await page.until(".status", "Your turn.");
  await page.says({ type: "welcome", protocol: 1, server: "here", you: { name: "Guest 1" }, matches: [] });
  await page.until("main.first");
  assert.deepEqual(marks(), [1, 1], "no lobby flashes up");
  await page.says(snapshot({ players: [{ name: "Guest 1" }, { name: "Tom", bot: "random" }] }));
  assert.deepEqual(textOf("main.match"), []);
  assert.deepEqual(page.of("abort").map(({ type }) => type), ["abort"]);
  await page.press("To the lobby");
  await page.until("main.lobby");
});

test("a player whose server does not answer plays the computer on this device", async () => {
  const page = await WholePage.open({ token: "ann" }, "/", true);
  pages.push(page);
  await page.closes(1006);
  await page.until("p", "does not answer");
  await page.press("Play the computer");
  await page.tap(0);
  await page.until(".status", "Your turn.");
  assert.deepEqual(marks(), [1, 1]);
  await page.press("Take back");
  assert.deepEqual(marks(), [0, 0]);
});

test("positions are written as the server reads them", () => {
  assert.equal(written([3, 3], after([4, 0]).board), "O../.X./...");
  assert.equal(written(CONNECT4.shape, after([38, 31], 42).board), "......./......./......./......./...O.../...X...");
  assert.equal(written(QUBIC.shape, after([0, 63], 64).board), "X.../..../..../....|..../..../..../....|..../..../..../....|..../..../..../...O");
});

const GUEST = { name: "Guest 1" };
const TOM = { name: "Tom", bot: "casual player" };
const welcome = (more: object = {}) => ({ type: "welcome", protocol: 1, server: "here", you: GUEST, matches: [], features: ["hint"], token: "t", ...more });
const PLAYERS = { type: "players", online: 2, players: [GUEST, { ...TOM, seeking: [], free: 4, any_level: true }] };
const status = () => document.querySelector(".status")!.textContent ?? "";

/** A visitor who has played the centre, and has got an answer of the page's computer; then the server is there. */
async function withoutServer(): Promise<{ page: WholePage; board: Element; played: string }> {
  const page = await visitor();
  await page.begins(4);
  await page.until(".status", "Your turn.");
  return { page, board: document.querySelector(".boards")!, played: boardNow() };
}

/** The board as the screen shows it. */
const boardNow = (): string =>
  Array.from({ length: 9 }, (_, cell) => (document.querySelector(`#cell-${cell}:not(.ghost, .pending) .mark-X`) ? "X" : document.querySelector(`#cell-${cell} .mark-O`) ? "O" : ".")).join("");

const begun = (board: string, more: object = {}) =>
  snapshot({ players: [GUEST, TOM], start: written([3, 3], board), position: position(board, { ply: 0, to_move: 0 }), ...more });

const free = (): number[] => [...boardNow()].flatMap((mark, cell) => (mark === "." ? [cell] : []));

test("the server takes the match over once it is there: the board stays, and the next tap is played there", async () => {
  const { page, board, played } = await withoutServer();
  await page.says(welcome(), PLAYERS);
  const [challenge, ...more] = page.of("challenge") as unknown as Record<string, unknown>[];
  assert.deepEqual(more, []);
  assert.deepEqual({ ...challenge, id: 0 }, { id: 0, type: "challenge", name: "Tom", game: "tictactoe", time: null, rated: false, side: 0, start: written([3, 3], played), level: 3 });
  await page.says({ type: "ok", id: challenge!.id }, { type: "challenged", challenge: 1, by: GUEST, to: TOM, game: "tictactoe", expires_in_ms: 30_000 });
  assert.deepEqual(textOf(".challenge"), [], "the visitor has challenged nobody");
  await page.says({ type: "challengeaccepted", challenge: 1 }, begun(played));
  await page.until("main.first .deck .status", "Your turn");
  assert.equal(document.querySelector(".boards"), board, "the same element at the same place");
  assert.equal(boardNow(), played);
  assert.equal(document.querySelectorAll(".cell.last .mark-O").length, 1, "the last move is marked");
  assert.deepEqual(textOf("main.lobby, .toast"), []);
  assert.equal(location.pathname, "/m/m1");
  page.find("Hint");
  const [cell] = free();
  await page.tap(cell!);
  await page.tap(cell!);
  assert.deepEqual(page.of("play").map((each) => ({ ...each, id: 0 })), [{ id: 0, type: "play", match: "m1", ply: 0, move: cell }]);
});

test("a move that is made while the server begins the match is played there, and the page's computer leaves it alone", async () => {
  const { page, played } = await withoutServer();
  await page.says(welcome(), PLAYERS);
  const [cell] = free();
  await page.tap(cell!);
  await page.until(".status", "thinking");
  await page.says(begun(played));
  await page.until("main.first .deck");
  assert.deepEqual(page.of("play").map((each) => ({ ...each, id: 0 })), [{ id: 0, type: "play", match: "m1", ply: 0, move: cell }]);
  assert.deepEqual([...boardNow()].sort(), [...played].sort(), "no answer of the page's computer");
  assert.ok(document.querySelector(`#cell-${cell}.pending .mark-X`), "the move is on its way");
});

test("a match that the server refuses goes on here without a word, and is offered three times", async () => {
  const { page } = await withoutServer();
  await page.says(welcome(), PLAYERS);
  await page.refuses("challenge", "busy", "Tom plays elsewhere");
  assert.deepEqual(textOf(".toast, .banner"), []);
  for (const end of [() => page.says({ type: "challengeover", challenge: 1, reason: "later" }), () => page.says({ type: "challengeover", challenge: 2, reason: "gone" })]) {
    await page.says(PLAYERS);
    await end();
    assert.deepEqual(textOf(".toast, .banner"), []);
  }
  await page.says(PLAYERS);
  assert.equal(page.of("challenge").length, 3);
  await page.tap(free()[0]!);
  await page.until(".status", "thinking");
  await page.until(".status", "Your turn.");
  assert.deepEqual(marks(), [2, 2]);
  assert.equal(location.pathname, "/");
});

test("no bot is challenged for a match that two people play here, nor if none is free", async () => {
  const { page } = await withoutServer();
  await page.says(welcome(), { ...PLAYERS, players: [GUEST, { ...TOM, seeking: [], free: 0 }] });
  assert.deepEqual(page.of("challenge"), []);
  await page.press("Two on this device");
  await page.says(PLAYERS);
  assert.deepEqual(page.of("challenge"), []);
});

test("if the link breaks before the answer, the match goes on here, and the server's is taken with the next link if it fits", async () => {
  const { page, played } = await withoutServer();
  await page.says(welcome(), PLAYERS);
  await page.closes(1006);
  assert.match(status(), /Your turn/);
  await page.greeted(2);
  await page.says(welcome({ matches: ["m1"] }));
  assert.deepEqual(page.of("resume").map((each) => "match" in each && each.match), ["m1"]);
  await page.says(begun(played));
  await page.until("main.first .deck");
  assert.equal(boardNow(), played);
});

test("a match that the server has begun from a position that is past is called off", async () => {
  const { page, played } = await withoutServer();
  await page.says(welcome(), PLAYERS);
  await page.closes(1006);
  await page.tap(free()[0]!);
  await page.until(".status", "Your turn.");
  const now = boardNow();
  await page.greeted(2);
  await page.says(welcome({ matches: ["m1"] }), begun(played));
  assert.deepEqual(page.of("abort").map((each) => "match" in each && each.match), ["m1"]);
  assert.equal(boardNow(), now);
  assert.equal(location.pathname, "/");
});

test("a match that begins after the visitor has chosen another game is called off", async () => {
  const { page, played } = await withoutServer();
  await page.says(welcome(), PLAYERS);
  await page.press("New match");
  await page.says(begun(played));
  assert.equal(page.of("abort").length, 1);
  assert.equal(location.pathname, "/");
});

test("a finished match on the first screen leads to other games", async () => {
  const { page, played } = await withoutServer();
  await page.says(welcome(), PLAYERS, begun(played));
  await page.until("main.first .deck");
  assert.equal(document.querySelector<HTMLFieldSetElement>("fieldset.games")!.disabled, true);
  await page.says({ type: "ended", match: "m1", seq: 2, at_ms: 0, winner: 1, reason: "resign" });
  await page.press("Gomoku");
  await page.until("main.lobby");
  assert.equal(page.player.ui.choice.game, "gomoku");
});
