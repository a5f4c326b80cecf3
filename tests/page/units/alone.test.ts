/** Matches on this device: the computer of the page, and the first screen when the server is slow or does not answer. */

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { document, textOf } from "./document.js";
import { snapshot } from "./matches.js";
import { computerMove } from "../../../ttt_net/web/src/computer.js";
import { lines } from "../../../ttt_net/web/src/lines.js";
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
  await page.tap(4);
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
  await page.tap(4);
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
