/** The puzzle of a day: a position in which one move wins, or saves. This browser stores the solved ones. */

import { ask } from "./actions.js";
import { board, type Look, moveName, sizes, token } from "./board.js";
import { confetti } from "./cheer.js";
import { button, h, panel, type Tree } from "./dom.js";
import { explain, reasonOf } from "./explained.js";
import { felt } from "./feel.js";
import { titleOf } from "./games.js";
import { f, w } from "./i18n.js";
import { keep, keptFields } from "./kept.js";
import { framed } from "./lobby.js";
import { go, place } from "./place.js";
import type { PuzzleReply } from "./protocol.js";
import { capital, dayOf } from "./sentences.js";
import { isFlat } from "./settings.js";
import { movesAt, set, state, ui } from "./store.js";

const KEPT = "ttt_net.puzzles";
const DAY_MS = 86_400_000;
const solved = keptFields(KEPT, { days: [] as string[] });

export function puzzleScreen(): Tree {
  const { puzzle } = state;
  const { id } = place();
  const known = puzzle && (!id || puzzle.day === id) ? puzzle : null;
  explain();
  if (known?.right && !isSolved(known.day)) {
    remember(known.day);
    felt("won");
  }
  return framed(w.puzzleOfDay, "riddle", known && shown(known));
}

const isSolved = (day: string): boolean => solved.days.includes(day);

function remember(day: string): void {
  solved.days = [...solved.days, day].slice(-400);
  keep(KEPT, JSON.stringify(solved));
}

function shown(puzzle: PuzzleReply): Tree {
  const { day, game, position, kind, grade, solution, right, move } = puzzle;
  const own = position.marks[position.to_move ?? 0] ?? "";
  const before = new Date(Date.parse(day) - DAY_MS).toISOString().slice(0, 10);
  const isOver = solution !== undefined && solution !== null;
  const answer = (made: number) => ask({ type: "puzzle", day, move: made });
  const nameOf = (made: number | null | undefined) => moveName(game, made ?? -1);
  const verdict = right ? f(w.puzzleRight, nameOf(move)) : isOver ? f(w.hintMove, nameOf(solution)) : right === false ? f(w.puzzleWrong, nameOf(move)) : "";
  const aimed = ui.aim >= 0 && !isOver ? movesAt(game, position.legal, ui.aim) : [];
  return h(
    "div.puzzle",
    { key: day },
    panel(
      w.puzzleOfDay,
      h("h2", titleOf(game.name) || game.title),
      h("p", own.length === 1 && token(game, own), f(kind === "win" ? w.puzzleWin : w.puzzleSave, own)),
      h("p.quiet", [dayOf(Date.parse(day)), f(w.difficulty, grade), isSolved(day) && w.puzzleSolved].filter(Boolean).join(" · ")),
      h("p.verdict", { role: "status", class: right ? "won" : verdict && "lost" }, verdict),
      isOver && h("p", capital(reasonOf(puzzle.why, puzzle.text ?? ""))),
      h(
        "div.buttons",
        aimed.length > 1 && aimed.map((made) => button(f(w.placeAt, nameOf(made)), () => answer(made), "primary")),
        !isOver && button(w.showSolution, () => ask({ type: "puzzle", day, reveal: true })),
        button(w.dayBefore, () => go(`/#puzzle=${before}`)),
      ),
    ),
    h("div.field", theBoard(puzzle, isOver, answer)),
    right && confetti(),
  );
}

function theBoard({ game, position, solution, move, right }: PuzzleReply, isOver: boolean, answer: (move: number) => void): Tree {
  const [, height, width] = sizes(game);
  const found = game.move_cells[solution ?? -1] ?? -1;
  const tried = right === false ? (game.move_cells[move ?? -1] ?? -1) : -1;
  const own = position.marks[position.to_move ?? 0] ?? "X";
  const marked = isOver && found >= 0 ? [...position.board].map((mark, cell) => (cell === found ? own[0] : mark)).join("") : position.board;
  const look: Look = {
    game,
    position: { ...position, board: marked },
    last: isOver ? found : -1,
    canMove: !isOver,
    ghost: isOver ? -1 : tried,
    ghostMark: own,
    isPending: false,
    focus: ui.focus < 0 ? ((height - 1) >> 1) * width + ((width - 1) >> 1) : ui.focus,
    fading: -1,
    hints: "",
    alarms: "",
    isLoss: false,
    isFlat: isFlat(),
  };
  const choose = (cell: number) => {
    const moves = isOver ? [] : movesAt(game, position.legal, cell);
    if (moves.length > 1) set({ aim: cell });
    else if (moves[0] !== undefined) answer(moves[0]);
  };
  return board(look, { choose, hover: () => {}, focus: (focus) => set({ focus }) });
}

