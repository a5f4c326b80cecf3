/**
 * The sentences of the page.
 *
 * @typedef {import("./state.js").Match} Match
 * @typedef {import("./state.js").Player} Player
 * @typedef {import("./state.js").Time} Time
 */

import { isMyTurn } from "./state.js";

/** @param {Player} player */
export function label(player) {
  return player.bot === undefined ? player.name : `${player.name} (bot)`;
}

/** @param {Player} player */
export function ratingOf(player) {
  return player.rating === undefined ? "" : `${player.rating}${player.provisional ? "?" : ""}`;
}

/** @param {Time | null | undefined} time */
export function timeName(time) {
  if (!time) return "no clock";
  if (time.per_move) return `${time.initial_ms / 1000} s a move`;
  return `${time.initial_ms / 60000}+${(time.increment_ms ?? 0) / 1000}`;
}

/** @param {number} ms */
export function clockFace(ms) {
  const two = (/** @type {number} */ number) => String(number).padStart(2, "0");
  if (ms < 20000) return `0:${two(Math.floor(ms / 1000))}.${Math.floor((ms % 1000) / 100)}`;
  const seconds = Math.floor(ms / 1000);
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** @param {number | null} ms */
export function speedOf(ms) {
  if (ms === null) return "";
  if (ms < 80) return "fast";
  if (ms < 200) return "good";
  return ms < 500 ? "slow" : "very slow";
}

/**
 * The mark of a side, or those that it may choose from.
 *
 * @param {Match} match
 * @param {number} side
 */
export function markOf(match, side) {
  return [...match.position.marks[side]].join(" or ");
}

/**
 * A side in a sentence: you, or a name.
 *
 * @param {Match} match
 * @param {number} side
 */
export function nameOf(match, side) {
  return side === match.you ? "you" : match.players[side].name;
}

/** @param {string} text */
export function sentence(text) {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(whole) ? whole : `${whole}.`;
}

/** @type {Record<string, (winner: string, loser: string, isYou: boolean) => string>} */
const HOW = {
  line: (winner) => `${winner} completed a line`,
  resign: (_, loser) => `${loser} resigned`,
  time: (_, loser, isYou) => (isYou ? "your time ran out" : `${loser}’s time ran out`),
  abandon: (_, loser) => `${loser} left the match`,
};

/**
 * How a match ended: a headline, and the reason in a few words.
 *
 * @param {Match} match
 * @returns {[string, string]}
 */
export function result(match) {
  const outcome = match.outcome;
  if (!outcome) return ["", ""];
  if (outcome.reason === "abort") return ["Called off", "it does not count"];
  if (outcome.winner === null) return ["A draw", outcome.reason === "agreement" ? "by agreement" : "nobody can win any more"];
  const loser = 1 - outcome.winner;
  const wonByLine = outcome.reason === "line" && match.position.line.length === 0;
  const how = wonByLine ? "" : (HOW[outcome.reason]?.(nameOf(match, outcome.winner), nameOf(match, loser), loser === match.you) ?? "");
  if (match.you === undefined) return [`${match.players[outcome.winner].name} won`, how];
  return [outcome.winner === match.you ? "You won" : "You lost", how];
}

/**
 * What is the matter now, in one sentence.
 *
 * @param {Match} match
 */
export function status(match) {
  if (match.outcome) {
    const [head, how] = result(match);
    return sentence(how ? `${head}: ${how}` : head);
  }
  if (match.adjourned) return "Adjourned; the next move, with both here, goes on.";
  if (match.pending) return `Your move ${match.game.move_names[match.pending.move]} is on its way …`;
  if (isMyTurn(match)) return `Your turn: place ${markOf(match, match.you ?? 0)}.`;
  const side = match.position.to_move ?? 0;
  const player = match.players[side];
  return player.bot === undefined ? `${player.name}’s turn.` : `${player.name} is thinking …`;
}

/** @type {Record<string, string>} */
export const OFFERS = { draw: "a draw", takeback: "to take a move back", rematch: "a rematch" };

/** What can be said without typing, by the names that the protocol has for it. */
export const PHRASES = {
  hello: "Hello!",
  good_luck: "Good luck!",
  well_played: "Well played!",
  good_game: "Good game!",
  thanks: "Thanks!",
  sorry: "Sorry!",
  oops: "Oops!",
  one_moment: "One moment …",
};

/** @type {Record<string, string>} */
export const DECLINED = {
  later: "not now",
  another_game: "another game, please",
  another_time: "another clock, please",
  no_bots: "no bots, please",
  generic: "no, thank you",
  expired: "no answer came in time",
  gone: "the other player has gone",
};

/** @type {Record<string, string>} */
export const SPEEDS = { bullet: "Bullet", blitz: "Blitz", rapid: "Rapid", untimed: "No clock" };

/**
 * A date, and the time of day if it is today.
 *
 * @param {number} ms
 */
export function dateOf(ms) {
  const date = new Date(ms);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? date.toLocaleTimeString([], { timeStyle: "short" }) : date.toLocaleDateString([], { dateStyle: "medium" });
}
