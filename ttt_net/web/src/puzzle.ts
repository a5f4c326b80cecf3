/**
 * The puzzle of a day: a position in which one move wins, or saves.
 *
 * The server judges the moves of players whom it knows. For others, and without a connection, the page has the puzzles
 * of the next days with their solutions. This browser stores what was solved, and in how many tries.
 */

import { ask, link, site } from "./actions.js";
import { board, type Look, moveName, sizes, token } from "./board.js";
import { confetti } from "./cheer.js";
import { button, h, joined, panel, type Tree } from "./dom.js";
import { explain, reasonOf } from "./explained.js";
import { felt } from "./feel.js";
import { titleOf } from "./games.js";
import { guessScreen, missing } from "./guess.js";
import { f, many, w } from "./i18n.js";
import { keep, keptFields } from "./kept.js";
import { framed } from "./lobby.js";
import { dueMistakes, fetchMistakes, nextDay } from "./mistakes.js";
import { go, place } from "./place.js";
import type { OwnPuzzle, PuzzleReply } from "./protocol.js";
import { send } from "./requests.js";
import { capital, dayOf } from "./sentences.js";
import { isFlat } from "./settings.js";
import { type Game, movesAt, redraw, set, state, ui } from "./store.js";

const KEPT = "ttt_net.puzzles";
const DAY_MS = 86_400_000;
const MOST_DAYS = 400;
const MOST_TRIES = 12;
/** Tries, as they are kept and as they are shown. */
const SQUARES: Record<string, string> = { w: "🟥", r: "🟩", s: "⬜" };
/** The solved puzzles, those solved on their own day, and the tries at each, a letter for each. */
const solved = keptFields(KEPT, { days: [] as string[], timely: [] as string[], tries: {} as Record<string, string> });

/** The puzzles of the next days, as the server sends them. */
type Coming = { games: Record<string, Game>; puzzles: (Omit<PuzzleReply, "game"> & { game: string })[] };
let coming: Coming | null = null;
let isFetching = false;
/** The puzzle that the page itself judges, after the last try; and the last reply that was counted. */
let own: PuzzleReply | null = null;
let counted: PuzzleReply | null = null;

const dayBefore = (day: string): string => new Date(Date.parse(day) - DAY_MS).toISOString().slice(0, 10);
const today = (): string => new Date().toISOString().slice(0, 10);
const isAlone = (): boolean => !state.you || !link.isUp();

export function puzzleScreen(): Tree {
  explain();
  if (place().kind === "guess") return guessScreen();
  const known = puzzleNow();
  fetchMistakes(state.puzzle); // not where its message is heard: it may arrive before this code
  if (known && known !== counted) count(known);
  return framed(w.puzzleOfDay, "riddle", known ? shown(known) : coming && isAlone() && missing());
}

/** A mistake that the server asks; otherwise the puzzle of the address: from the server, or from what the page has. */
function puzzleNow(): PuzzleReply | null {
  const { id } = place();
  const day = id || today();
  const { puzzle } = state;
  if (puzzle?.own && !isAlone()) return puzzle;
  if (own?.day === day) return own;
  if (puzzle && state.you && (!id || puzzle.day === id)) return puzzle;
  if (!isAlone()) return null;
  fetchComing();
  const found = coming?.puzzles.find((each) => each.day === day);
  if (!found) return null;
  const { solution: _, text: __, why: ___, ...asked } = found;
  own = { ...asked, game: coming!.games[found.game]! } as PuzzleReply;
  return own;
}

function fetchComing(): void {
  if (coming || isFetching) return;
  isFetching = true;
  const fetched = fetch("/puzzles").then((answer) => answer.json());
  fetched
    .then(
      (found) => (coming = found),
      () => (coming = { games: {}, puzzles: [] }), // offline, and never kept
    )
    .then(redraw);
}

/** Answer with a move, or ask for the solution with null. */
function answer({ day, own: mistake }: PuzzleReply, made: number | null): void {
  if (mistake || own?.day !== day) {
    ask({ type: "puzzle", day, ...(mistake && { own: mistake }), ...(made === null ? { reveal: true } : { move: made }) });
    return;
  }
  const { solution, text, why } = coming!.puzzles.find((each) => each.day === day)!;
  const right = made === solution;
  own = { ...own, move: made, right: made === null ? null : right, ...((right || made === null) && { solution, text, why }) } as PuzzleReply;
  redraw();
}

const isSolved = (day: string): boolean => solved.days.includes(day);
const triesAt = (day: string): string => String(solved.tries[day] ?? "");

/** Count a try at a puzzle that is not over. */
function count(puzzle: PuzzleReply): void {
  counted = puzzle;
  const { day, right, solution, own: mistake } = puzzle;
  if (mistake) return; // the server counts these
  const done = right ? "right" : right === false ? "wrong" : typeof solution === "number" ? "shown" : "";
  const tries = triesAt(day);
  if (!done || isSolved(day) || tries.endsWith("s")) return;
  const days = Object.entries(solved.tries).slice(1 - MOST_DAYS);
  solved.tries = { ...Object.fromEntries(days), [day]: (tries + done[0]).slice(-MOST_TRIES) };
  if (right) {
    solved.days = [...solved.days, day].slice(-MOST_DAYS);
    if (day === today()) solved.timely = [...solved.timely, day].slice(-MOST_DAYS);
    felt("won");
  }
  keep(KEPT, JSON.stringify(solved));
}

const squaresOf = (day: string): string => [...triesAt(day)].map((letter) => SQUARES[letter] ?? "").join("");

/** The same, drawn, since not every device has pictures for them. */
const squares = (day: string): Tree => h("span.squares", h("span.unseen", squaresOf(day)), [...triesAt(day)].map((letter) => h("i", { hidden: true, class: `try-${letter}` })));

/** How many puzzles were solved on their own days, one day after the other, up to today or yesterday. */
function streak(): number {
  let day = solved.timely.includes(today()) ? today() : dayBefore(today());
  let days = 0;
  for (; solved.timely.includes(day); day = dayBefore(day)) days++;
  return days;
}

/** The result to send to others: how hard it was and how many tries it took, not the move. */
function result({ day, game, grade }: PuzzleReply): string {
  const days = streak();
  const about = `${titleOf(game.name) || game.title} ${"●".repeat(grade)}${"○".repeat(5 - grade)}`;
  return [`${w.puzzleOfDay}, ${dayOf(Date.parse(day))}`, about, joined([squaresOf(day), days > 1 && `🔥 ${days}`], "  "), `${site()}/#puzzle=${day}`].join("\n");
}

/** The move that was right, or the solution, or that the last one was wrong; empty before a try. */
function verdictOf({ game, solution, right, move }: PuzzleReply): string {
  const nameOf = (made: number | null | undefined) => moveName(game, made ?? -1);
  if (right) return f(w.puzzleRight, nameOf(move));
  if (typeof solution === "number") return f(w.hintMove, nameOf(solution));
  return right === false ? f(w.puzzleWrong, nameOf(move)) : "";
}

/** What is to be found, and by whom. */
function taskOf({ kind, own, position }: PuzzleReply): string {
  const mark = position.marks[position.to_move ?? 0] ?? "";
  return f(own ? w.ownQuestion : kind === "win" ? w.puzzleWin : w.puzzleSave, mark);
}

/** The button that shows the next of our mistakes. */
function mistakeButton({ own: mistake }: PuzzleReply): Tree | false {
  const [next, ...others] = dueMistakes(mistake);
  return next !== undefined && button(f(w.yourMistakes, others.length + 1), () => ask({ type: "puzzle", own: next.puzzle }), mistake ? "primary" : "");
}

function shown(puzzle: PuzzleReply): Tree {
  const { day, game, position, grade, solution, right, own: mistake } = puzzle;
  const mark = position.marks[position.to_move ?? 0] ?? "";
  const isOver = solution !== undefined && solution !== null;
  const choose = (made: number) => answer(puzzle, made);
  const days = streak();
  const verdict = verdictOf(puzzle);
  const aimed = ui.aim >= 0 && !isOver ? movesAt(game, position.legal, ui.aim) : [];
  const tries = mistake ? "" : triesAt(day);
  const about = [dayOf(Date.parse(day)), f(w.difficulty, grade), isSolved(day) && w.puzzleSolved].filter(Boolean).join(" · ");
  return h(
    "div.puzzle",
    { key: mistake ? JSON.stringify(mistake) : day },
    panel(
      mistake ? w.ownMistake : w.puzzleOfDay,
      h("h2", titleOf(game.name) || game.title),
      h("p", mark.length === 1 && token(game, mark), taskOf(puzzle)),
      h("p.quiet", mistake ? w.ownMistake : about),
      h("p.verdict", { role: "status", class: right ? "won" : verdict && "lost" }, tries && squares(day), verdict),
      !mistake && isOver && days > 1 && h("p.quiet.streak", many(w.streak, days)),
      isOver && h("p", mistake ? afterwards(mistake) : capital(reasonOf(puzzle.why, puzzle.text ?? ""))),
      h(
        "div.buttons",
        aimed.length > 1 && aimed.map((made) => button(f(w.placeAt, moveName(game, made)), () => choose(made), "primary")),
        !isOver && button(w.showSolution, () => answer(puzzle, null)),
        isOver && tries && button(w.shareResult, () => send(result(puzzle)), "primary tell"),
        (isOver || !mistake) && mistakeButton(puzzle),
        mistake ? button(w.puzzleOfDay, () => go("/#puzzle")) : button(w.dayBefore, () => go(`/#puzzle=${dayBefore(day)}`)),
        isOver && state.features.includes("study") && button(w.guessMoves, () => go("/#guess")),
      ),
    ),
    h("div.field", theBoard(puzzle, isOver, choose)),
    right && confetti(),
  );
}

/** When an answered mistake returns. */
function afterwards(mistake: OwnPuzzle): string {
  const day = nextDay(mistake);
  return day ? f(w.returnsOn, dayOf(Date.parse(day))) : day === "" ? w.learned : "";
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

