/** Our mistakes as puzzles that return. The server keeps them, so that each is asked on whichever device we are. */

import { ask, say } from "./actions.js";
import type { Heard } from "./link.js";
import { isLost, PASSING } from "./link.js";
import type { MatchLesson, OwnMistake, OwnPuzzle, PuzzleReply } from "./protocol.js";
import { type Match, redraw, state } from "./store.js";

const DAY_MS = 86_400_000;
/** The days after which a solved mistake returns; after one more answer it is learned. As `OwnMistake.answered`. */
const RETURNS = [1, 3, 7, 21];
const LEARNED = RETURNS.length + 1;
/** Shorter matches have no lesson. As `LEAST_MOVES` of the terminal. */
const LEAST_MOVES = 3;
/** What the server accepts. */
const [MOST_BETTER, MOST_MOVES, MOST_TEXT] = [60, 400, 300];

/** Those that are due, the longest due first, and how many more the server has. */
let due: OwnMistake[] = [];
let more = 0;
/** The last puzzle of a day for which they were requested. */
let beside: PuzzleReply | null = null;
/** The mistake that was answered last, with its new progress. */
let answered: OwnMistake | null = null;
/** Those that the server may not have yet. */
const unsent = new Map<string, OwnMistake>();

const areKept = (): boolean => !!state.you && state.features.includes("mistakes");
const isAnswered = ({ right, solution }: PuzzleReply): boolean => typeof right === "boolean" || typeof solution === "number";
const keyOf = ({ game, moves = [], start }: OwnPuzzle): string => JSON.stringify([game, moves, start ?? null]);

/** Our mistakes that are due, without one of them. */
export const dueMistakes = (besides?: OwnPuzzle | null): OwnMistake[] => due.filter(({ puzzle }) => !besides || keyOf(puzzle) !== keyOf(besides));

/** The progress with a mistake after the last answer to it, if that counted: its next day, empty once it is learned. */
export const nextDay = (own: OwnPuzzle): string | null =>
  answered && keyOf(answered.puzzle) === keyOf(own) ? (answered.times === LEARNED ? "" : answered.due!) : null;

/** Ask for our mistakes that are due, once for each puzzle of a day, before it is answered. */
export function fetchMistakes(puzzle: PuzzleReply | null): void {
  if (!puzzle || puzzle === beside || !areKept()) return;
  beside = puzzle;
  if (!puzzle.own && !isAnswered(puzzle)) ask({ type: "mistakes" });
}

/** Keep the mistake of the lesson of a match, if it was ours and a better move is known. */
function keepMistake({ game, moves, start, you }: Match, { ply = null, side, better: names = [], text = "" }: Partial<MatchLesson> = {}): void {
  if (!areKept() || ply === null || you === undefined || side !== you) return;
  // Where marks fall, a column is the name of all its cells; the position allows one of them.
  const better = [...game.move_names.keys()].filter((move) => names.includes(game.move_names[move]!));
  if (!better.length || better.length > MOST_BETTER || ply > MOST_MOVES) return;
  const [reason = ""] = text.split(" What follows: ");
  send({ puzzle: { game: game.name, better, moves: moves.slice(0, ply - 1), ...(start && { start }) }, text: reason.slice(0, MOST_TEXT) });
}

/** Take up a message: a list of mistakes, the lesson of a match, on whatever screen we are, or the result of an answer. */
export function heardOfMistakes(message: Heard): void {
  if (message.type === "welcome") {
    due = [];
    if (areKept()) for (const mistake of unsent.values()) send(mistake);
  } else if (message.type === "mistakes") {
    due = message.mistakes.filter(({ times = 0, due: day = "" }) => times < LEARNED && day <= message.day);
    more = message.count - message.mistakes.length;
    redraw();
  } else if (message.type === "analysis") {
    const match = state.matches.get(message.match);
    if (match) keepMistake(match, message.lesson);
  } else if (message.type === "ended" && message.reason !== "abort") askLesson(state.matches.get(message.match));
  else if (message.type === "puzzle" && message.own) hearAnswer(message, message.own);
}

/** Ask for the lesson that needs no search, as the terminal does: a mistake is kept also if nobody wants to read of it. */
function askLesson(match: Match | undefined): void {
  if (match?.outcome && match.you !== undefined && match.moves.length >= LEAST_MOVES && areKept() && state.features.includes("hint")) say({ type: "analyse", match: match.match, brief: true });
}

/** Count the first answer to a mistake that is due: a right one moves it on, any other lets it begin again tomorrow. */
function hearAnswer(reply: PuzzleReply, own: OwnPuzzle): void {
  const known = due.find(({ puzzle }) => keyOf(puzzle) === keyOf(own));
  if (!known || !isAnswered(reply)) return;
  const { day, right } = reply;
  const times = right ? (known.times ?? 0) + 1 : 0;
  const next = new Date(Date.parse(day) + DAY_MS * (RETURNS[times - 1] ?? 1)).toISOString().slice(0, 10);
  answered = { ...known, due: next, times };
  due = due.filter((each) => each !== known);
  send(answered);
  if (!due.length && more > 0) ask({ type: "mistakes" });
}

/** Send a mistake, and again after the next welcome unless the server has kept or rejected it. */
async function send(mistake: OwnMistake): Promise<void> {
  const key = keyOf(mistake.puzzle);
  unsent.set(key, mistake);
  const answer = await say({ type: "learn", mistake });
  const isPassing = isLost(answer) || (answer.type === "refused" && PASSING.includes(answer.code));
  if (!isPassing && unsent.get(key) === mistake) unsent.delete(key);
}
