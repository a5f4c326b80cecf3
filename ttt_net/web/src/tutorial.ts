/** Lessons: one or two positions of each game, played in twenty seconds. Knows no server. */

import { board, landing, type Look } from "./board.js";
import { confetti } from "./cheer.js";
import { button, h, type Tree } from "./dom.js";
import { f, w } from "./i18n.js";
import { lines } from "./lines.js";
import { cellNames } from "./local.js";
import { rests } from "./ondevice.js";
import { type Game, movesAt, redraw } from "./store.js";

type Words = "lessonWin" | "lessonBlock" | "lessonAvoid" | "lessonWild" | "lessonVanish" | "lessonSend";
/** One position: its marks, the right cells, and the sentence; X is to move. */
type Step = { words: Words; x: number[]; o: number[]; goal: number[]; legal?: number[]; mark?: string; fading?: number };
type Lesson = { shape: number[]; row: number; gravity?: boolean; block?: number[]; steps: Step[] };

const win = (x: number[], o: number[], goal: number[]): Step => ({ words: "lessonWin", x, o, goal });
const block = (x: number[], o: number[], goal: number[]): Step => ({ words: "lessonBlock", x, o, goal });
const THREE = { shape: [3, 3], row: 3 };
const LESSONS: Record<string, Lesson> = {
  tictactoe: { ...THREE, steps: [win([0, 1], [3, 4], [2]), block([0, 8], [4, 5], [3])] },
  misere: { ...THREE, row: 0, steps: [{ words: "lessonAvoid", x: [0, 1], o: [4, 8], goal: [3, 5, 6, 7] }] },
  wild: { ...THREE, steps: [{ words: "lessonWild", x: [8], o: [0, 1], goal: [2], mark: "O" }] },
  vanishing: { ...THREE, steps: [{ words: "lessonVanish", x: [1, 4, 6], o: [0, 2, 8], goal: [7], fading: 6 }] },
  connect4: { shape: [6, 7], row: 4, gravity: true, steps: [win([35, 36, 37], [28, 29, 41], [38]), block([35, 38, 41], [40, 33, 26], [19])] },
  gomoku: { shape: [9, 9], row: 5, steps: [win([38, 39, 40, 41], [29, 30, 48, 49], [37, 42]), block([31, 32, 49], [30, 40, 50], [20, 60])] },
  tictactoe3d: { shape: [3, 3, 3], row: 3, steps: [win([0, 13], [4, 8], [26]), block([13, 1], [0, 9], [18])] },
  qubic: { shape: [4, 4, 4], row: 4, steps: [win([0, 21, 42], [5, 10, 37], [63]), block([21, 22, 41], [3, 19, 35], [51])] },
  scorefour: { shape: [4, 4, 4], row: 4, gravity: true, steps: [win([0, 5, 10], [3, 6, 9], [15]), block([0, 1, 4], [5, 21, 37], [53])] },
  ultimate: {
    shape: [9, 9],
    row: 0,
    block: [3, 3],
    steps: [{ words: "lessonSend", x: [41, 0], o: [27, 60], goal: [10], legal: [1, 2, 9, 10, 11, 18, 19, 20] }],
  },
};

let now = { game: "", step: 0, made: -1, focus: 0, isWrong: false };

function change(changed: Partial<typeof now>): void {
  now = { ...now, ...changed };
  redraw();
}

/** Whether a game has a lesson. */
export const isTaught = (name: string): boolean => Object.hasOwn(LESSONS, name);

export const isLearning = (name: string): boolean => now.game === name;

/** Whether its lesson has just been completed. */
export const isLearnt = (name: string): boolean => isLearning(name) && now.step >= (LESSONS[name]?.steps.length ?? 0);

export const learn = (game: string): void => change({ game, step: 0, made: -1, isWrong: false });

export function lesson(name: string): Tree | null {
  const taught = LESSONS[name];
  const step = taught?.steps[now.step];
  if (!taught) return null;
  if (!step) return h("div.lesson", { key: "done" }, h("p", { role: "status" }, h("strong", w.lessonDone)), confetti());
  const isDone = now.made >= 0;
  const said = isDone ? w.lessonGood : now.isWrong ? w.lessonAgain : "";
  return h(
    "div.lesson",
    { key: `${now.step}` },
    h("p", f(w[step.words], step.words === "lessonWin" ? "X" : "O")),
    h("div.field", theBoard(name, taught, step)),
    h("p.verdict", { role: "status", class: isDone ? "won" : "lost" }, said),
    isDone && button(w.next, () => change({ step: now.step + 1, made: -1, isWrong: false }), "primary large"),
  );
}

function theBoard(name: string, { shape, row, gravity = false, block: small }: Lesson, step: Step): Tree {
  const count = shape.reduce((product, side) => product * side, 1);
  const cells = Array.from({ length: count }, (_, cell) => cell);
  const { x, o, goal, mark = "X", made } = { ...step, made: now.made };
  const signs = cells.map((cell) => (x.includes(cell) && !(made >= 0 && cell === step.fading) ? "X" : o.includes(cell) ? "O" : cell === made ? mark : "."));
  const game: Game = { name: `lesson ${name}`, title: "", rule: "", shape, gravity, move_cells: cells, move_names: cellNames(shape, gravity, small), ...(small && { block: small }) };
  const legal = made >= 0 ? [] : (step.legal ?? cells.filter((cell) => signs[cell] === "." && rests(game, signs, cell)));
  const line = made >= 0 && row ? (lines(shape, row, made).find((each) => each.every((cell) => signs[cell] === mark)) ?? []) : [];
  const look: Look = {
    game,
    position: { ply: x.length + o.length, board: signs.join(""), to_move: made >= 0 ? null : 0, legal, line, marks: ["X", "O"] },
    last: made,
    canMove: made < 0,
    ghost: -1,
    ghostMark: mark,
    isPending: false,
    focus: Math.min(now.focus, count - 1),
    fading: made >= 0 ? -1 : (step.fading ?? -1),
    hints: "",
    alarms: "",
    isLoss: false,
    isFlat: false,
    prefix: "lesson-",
  };
  const choose = (cell: number) => {
    const move = landing(game, look.position, cell);
    if (made >= 0 || !movesAt(game, legal, cell).length) return;
    if (goal.includes(move)) change({ made: move, isWrong: false });
    else change({ isWrong: true });
  };
  return board(look, { choose, hover: () => {}, focus: (focus) => change({ focus }) });
}
