/** Matches on this device, without a server, by two players or against the computer: the games of lines. */

import { giveUpBeginning, play, say } from "./actions.js";
import { AIMED_MS, needsAim } from "./aim.js";
import { bar } from "./bar.js";
import { token } from "./board.js";
import { confetti } from "./cheer.js";
import { button, type Child, choices, h, screen, type Tree } from "./dom.js";
import { felt } from "./feel.js";
import { titleOf } from "./games.js";
import { isTaken, newOffers, offer, offerAnswered, settle } from "./handover.js";
import { f, w } from "./i18n.js";
import { keepInWindow, keptFields, keptOfWindow } from "./kept.js";
import { lines } from "./lines.js";
import { below, chosen, fieldOf, gameOf, hand, KEPT_MATCH, type Line, localShelf, moveHand } from "./local.js";
import { ownScript } from "./offline.js";
import { arrive, go, look, place, shown } from "./place.js";
import { isBot } from "./sentences.js";
import { shield, touchedAtMs } from "./shield.js";
import { drawDue, FRESH, type Game, type Match, movesAt, redraw, type Position, set, ui } from "./store.js";
import type { Answer, Question } from "./thinker.js";

const SIDES = ["X", "O"] as const;
/** How long the computer takes for a move, so that the eye can follow. */
const THINK_MS = 350;
/** After which time the worker of the computer is requested again, if it did not come. */
const AGAIN_MS = 2000;
let thinker: Worker | null = null;
/** The number of the last question to the worker. */
let questions = 0;
/** The current match: since when its position is shown, when the finger aimed, and the computer's level, 0 for two players. */
let played = { game: "", moves: [] as number[], sinceMs: 0, aimedAtMs: 0, level: 0 };

/** The screen of the match: the address names the game. */
export function localScreen(): Tree {
  const { name } = chosen(place().id);
  const title = [h("span", titleOf(name)), h("span.quiet", played.level ? w.computer : w.onThisDevice)];
  const opponents = choices(w.newMatch, [["alone", w.computer], ["two", w.onThisDevice]], played.level ? "alone" : "two", (who) => beginHere(name, who === "alone" ? ui.choice.level : 0));
  return screen("main.local", "here", bar(title), h("section.here", { label: w.onThisDevice }, opponents, localBoard(name)), localShelf(name, (game) => go(`/#here=${game}`)));
}

function renew(game: string, level: number): void {
  played = { game, moves: [], sinceMs: 0, aimedAtMs: 0, level };
  newOffers();
  Object.assign(hand, { focus: -1, hover: -1, aim: -1 });
}

/** Keep the match while this window is loaded again, and go on with the one that was kept. */
export function keepMatch(): void {
  const { game, moves, level, isAlone, isRunning } = keptFields(KEPT_MATCH, { ...played, isAlone: true, isRunning: false }, keptOfWindow);
  addEventListener("pagehide", () => keepInWindow(KEPT_MATCH, played.moves.length ? JSON.stringify({ ...played, ...ui.opening, game: played.game }) : ""));
  const listed = chosen(game);
  const ours = gameOf(listed);
  const isSound = new Set(moves).size === moves.length && moves.every((cell) => ours.move_cells.includes(cell));
  if (!moves.length || !isSound || played.moves.length || ui.isBeginning) return;
  renew(listed.name, level);
  show(moves);
  set({ opening: { game: listed.name, isAlone, isRunning } });
  if (level && positionOf(ours, listed.line, moves).to_move === 1) answer(ours, listed.line, played.moves);
}

/** Begin a match against the computer at a level, or of two players (0), with a cell as the first move unless it is -1. */
export function beginHere(name: string, level: number, cell = -1): void {
  renew(name, level);
  const listed = chosen(name);
  const game = gameOf(listed);
  const move = movesAt(game, positionOf(game, listed.line, []).legal, cell)[0];
  if (move === undefined) redraw();
  else playHere(game, listed.line, move);
}

/** Make a move; the computer answers a little later. */
function playHere(game: Game, line: Line, move: number): void {
  const { level } = played;
  show([...played.moves, move]);
  const { moves } = played;
  const position = positionOf(game, line, moves);
  const winner = winnerOf(position, { line });
  felt(position.to_move !== null ? "placed" : winner === null ? "drawn" : level && winner ? "lost" : "won");
  if (level && position.to_move === 1) answer(game, line, moves);
  handOver();
}

/** Whether the first screen shows the match, which is handed over to the server once that is there. */
const isFirst = (): boolean => ui.opening.isRunning && place().kind === "lobby";

/** Offer the match of the first screen to the server at our turns. */
export function handOver(): void {
  const { game, moves } = played;
  if (!isFirst() || !moves.length) return;
  const listed = chosen(game);
  const ours = gameOf(listed);
  const position = positionOf(ours, listed.line, moves);
  if (position.to_move === 0) offer(ours, position);
}

/**
 * Go on in a match that the server has begun for the first screen, at the same place and with the move that was made
 * meanwhile. If the board shows something else by now, call that match off. Return whether it is such a match.
 */
export function tookOver(match: Match): boolean {
  const isHere = isFirst() && isBot(match.players[1 - match.you!]!);
  if (!isTaken(match) && !isHere) return false;
  settle();
  const since = isHere ? movesSince(match) : null;
  if (since) goOnIn(match, since[0]);
  else if (!match.moves.length) say({ type: "abort", match: match.match });
  return true;
}

/** Our move since the beginning of such a match, if any; null if the board shows something else. */
function movesSince({ game, you, moves, position }: Match): number[] | null {
  const listed = chosen(played.game);
  const count = [...position.board].filter((mark) => mark !== ".").length;
  const before = positionOf(gameOf(listed), listed.line, played.moves.slice(0, count));
  const since = played.moves.slice(count);
  return game.name === listed.name && you === 0 && !moves.length && before.board === position.board && since.length < 2 ? since : null;
}

function goOnIn(match: Match, since = -1): void {
  const { moves, sinceMs, aimedAtMs } = played;
  const { aim } = hand;
  history.pushState(null, "", `/m/${match.match}`);
  look();
  stayFor({ aim, aimedAtMs }, { sinceMs, last: moves.filter((cell) => cell !== since).at(-1) ?? -1 });
  const [made] = movesAt(match.game, match.position.legal, since);
  if (made !== undefined) play(match, made);
}

/** Show the match that a tap on the first screen has begun, at the place of its board, once the address names it. */
export function beginInPlace(): void {
  const match = ui.isBeginning && shown();
  if (!match) return;
  const { aim, aimedAtMs, opening } = ui;
  giveUpBeginning();
  if (match.game.name === opening.game) stayFor({ aim, aimedAtMs }, { sinceMs: 0, last: -1 });
  else arrive();
}

/** Show a match in the place of the first screen, whose board keeps its size and place. */
function stayFor(aimed: { aim: number; aimedAtMs: number }, before: { sinceMs: number; last: number }): void {
  const { offsetHeight: heightPx } = document.querySelector("main")!;
  const { focus, hover } = hand;
  renew(played.game, played.level);
  set({ ...FRESH, ...aimed, focus, hover, kept: { heightPx, ...before }, opening: { ...ui.opening, isRunning: false } });
  // No tap may come between the change and its picture.
  queueMicrotask(() => {
    drawDue();
    document.querySelectorAll<HTMLElement>(".deck").forEach(shield);
  });
}

/** Start the worker in which the computer thinks; it should be here before it is needed, because the server may go. */
export function wakeComputer(): Worker {
  thinker ??= new Worker(ownScript("thinker.js"));
  thinker.onerror = () => (thinker = null);
  return thinker;
}

/**
 * Play the computer's move, unless another match has begun, or a move was taken back. While the server may take the match,
 * the move waits a little.
 */
function answer(game: Game, line: Line, moves: number[]): void {
  const [number, fromMs] = [++questions, performance.now()];
  const then = (act: () => void, atMs: number): unknown => setTimeout(() => played.moves === moves && act(), atMs - performance.now());
  const worker = wakeComputer();
  worker.onmessage = ({ data }: MessageEvent<Answer>) => data.number === number && offerAnswered().then(() => then(() => playHere(game, line, data.move), fromMs + THINK_MS));
  worker.onerror = () => {
    thinker = null;
    then(() => answer(game, line, moves), fromMs + AGAIN_MS);
  };
  const ground = { shape: game.shape, below: game.move_cells.map((cell) => below(game, cell)) };
  worker.postMessage({ number, ground, rules: line, moves, level: played.level } satisfies Question);
}

/** The board, the side to move, and buttons to start again and to take back. */
export function localBoard(name: string, again: () => void = () => show([])): Child {
  const listed = chosen(name);
  if (played.game !== listed.name) renew(listed.name, played.level);
  const game = gameOf(listed);
  const { moves, level } = played;
  const position = positionOf(game, listed.line, moves);
  const { to_move: next } = position;
  const winner = winnerOf(position, listed);
  const choose = (cell: number, event: Event) => {
    const move = movesAt(game, position.legal, cell)[0];
    const atMs = touchedAtMs(event);
    if (move === undefined || (level && next) || atMs < played.sinceMs) return;
    if (!needsAim(game, event)) playHere(game, listed.line, move);
    else if (hand.aim !== move) {
      played.aimedAtMs = atMs;
      moveHand({ aim: move });
    }
    else if (atMs - played.aimedAtMs >= AIMED_MS) playHere(game, listed.line, move);
  };
  const side = winner ?? next;
  const mark = SIDES[side ?? 0];
  const end = winner === null ? w.drawn : (level ? (winner ? w.youLost : w.youWon) : f(w.won, mark)) + w.stop;
  const turn = !level ? f(w.turnOf, mark) : next ? f(w.thinking, w.computer) : w.yourTurnTitle + w.stop;
  const isOver = next === null;
  // Against the computer, a step back is to our own last move.
  const before = () => moves.slice(0, level && moves.length % 2 === 0 ? -2 : -1);
  return [
    fieldOf(game, position, choose, {
      last: moves[moves.length - 1] ?? -1,
      canMove: next !== null && !(level && next),
      isLoss: winner !== null && (level ? winner === 1 : listed.line.misere),
    }),
    h("p.status", { role: "status" }, side !== null && token(game, mark), winner === null ? (isOver ? end : turn) : h("strong.head", end)),
    winner !== null && !(level && winner) && confetti(),
    h(
      "div.actions",
      button(w.newMatch, again, isOver && "primary", "", { disabled: !moves.length }),
      button(w.takeBack, () => show(before()), "", "", { disabled: !moves.length || (!!level && !!next) }),
    ),
  ];
}

/** Show the position after some moves. */
function show(moves: number[]): void {
  Object.assign(played, { moves, sinceMs: performance.now() });
  moveHand({ hover: -1, aim: -1 });
}

/** The position after the moves, each of which is the cell that it marks. */
function positionOf(game: Game, line: Line, moves: number[]): Position {
  const marks = game.move_cells.map(() => ".");
  for (const [n, cell] of moves.entries()) marks[cell] = SIDES[n % 2]!;
  const last = moves[moves.length - 1] ?? -1;
  const completed = lines(game.shape, line.row, last).find((cells) => cells.every((cell) => marks[cell] === marks[last]));
  const legal = completed ? [] : game.move_cells.filter((cell) => marks[cell] === "." && rests(game, marks, cell));
  return { ply: moves.length, board: marks.join(""), to_move: legal.length ? moves.length % 2 : null, legal, line: completed ?? [], marks: ["X", "O"] };
}

/** Whether a mark can rest in a cell: where marks fall, only at the bottom or on another mark. */
export function rests(game: Game, marks: string[], cell: number): boolean {
  const under = below(game, cell);
  return under < 0 || marks[under] !== ".";
}

function winnerOf({ line, ply }: Position, rules: { line: Line }): number | null {
  if (!line.length) return null;
  return rules.line.misere ? ply % 2 : 1 - (ply % 2);
}
