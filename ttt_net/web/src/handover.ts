/**
 * Hand a match of this device over to the server: challenge a house bot from its position. Draws nothing.
 *
 * The match goes on here until that of the server has begun, and if it never does.
 */

import { challengeTo, link, nearestBot, say } from "./actions.js";
import { sizes } from "./board.js";
import { isLost } from "./link.js";
import { type Game, type Match, type Position, state } from "./store.js";

/** How many times a match is offered. */
const MOST_OFFERS = 3;
/** How long the computer of the page waits for the answer of the server. */
const HELD_MS = 2000;
const NONE = { game: "", start: "" };
/** The position of a match that the server may begin, and how often the match on this device was offered. */
let offered = NONE;
let count = 0;
let isDue = false;
let answered = Promise.resolve();
let answer = (): void => {};

/** Whether the server has not answered yet. */
export const isOffering = (): boolean => isDue;

/** Resolves when no answer is due, or one has been due for too long. */
export const offerAnswered = (): Promise<void> => answered;

/** Offer a match in which we begin, at our turn, unless it was offered too often. */
export async function offer({ name: game, shape }: Game, { board }: Position): Promise<void> {
  const wish = { game, time: null, rated: false, side: 0 as const, start: written(shape, board) };
  const bot = link.isUp() && state.you && nearestBot(wish);
  if (isDue || count >= MOST_OFFERS || !bot) return;
  offered = wish;
  count++;
  isDue = true;
  answered = new Promise((resolve) => setTimeout((answer = resolve), HELD_MS));
  const said = await say(challengeTo(bot, wish));
  if (said.type === "ok") return;
  if (!isLost(said)) offered = NONE; // otherwise the match may come with the next connection
  settle();
}

/** The offer was accepted, declined or lost. */
export function settle(): void {
  isDue = false;
  answer();
}

/** Whether a match has begun by our offer, which is taken by asking. */
export function isTaken({ game, start }: Match): boolean {
  const isIt = game.name === offered.game && start === offered.start;
  if (isIt) offered = NONE;
  return isIt;
}

/** Another match has begun on this device. */
export const newOffers = (): void => void (count = 0);

/** A position as the server writes it: rows with `/` between them, and layers with `|`. */
export function written(shape: number[], board: string): string {
  const [, height, width] = sizes({ shape });
  const rows = board.match(new RegExp(`.{${width}}`, "g")) ?? [];
  return rows.map((row, n) => (n ? (n % height ? "/" : "|") : "") + row).join("");
}
