/**
 * The sentences of the page.
 *
 * @typedef {import("./state.js").Match} Match
 */

import { CATALOGUE } from "./catalogue.js";
import { isMyTurn } from "./state.js";

export const OFFERS = { draw: "a draw", takeback: "to take a move back", rematch: "a rematch" };
export const SPEEDS = { bullet: "Bullet", blitz: "Blitz", rapid: "Rapid", untimed: "No clock" };
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
const DECLINED = {
  later: "not now",
  another_game: "another game, please",
  another_time: "another clock, please",
  no_bots: "no bots, please",
  generic: "no, thank you",
  expired: "no answer came in time",
  gone: "the other player has gone",
};
const HOW = {
  line: (winner) => `${winner} completed a line`,
  resign: (_, loser) => `${loser} resigned`,
  time: (_, loser) => `${loser === "you" ? "your" : `${loser}’s`} time ran out`,
  abandon: (_, loser) => `${loser} left the match`,
};

export const label = (player) => (player.bot === undefined ? player.name : `${player.name} (bot)`);

export const ratingOf = (player) => (player.rating ? `${player.rating}${player.provisional ? "?" : ""}` : "");

export const declined = (reason) => `The challenge came to nothing: ${DECLINED[reason] ?? reason}.`;

export function timeName(time) {
  if (!time) return "no clock";
  return time.per_move ? `${time.initial_ms / 1000} s a move` : `${time.initial_ms / 60000}+${(time.increment_ms ?? 0) / 1000}`;
}

export function titleOf(name) {
  const base = name.replace(/\+swap$/, "");
  const title = CATALOGUE.find((game) => game.name === base)?.title ?? base;
  return base === name ? title : `${title} with swap`;
}

/** A seek or a challenge in words. */
export function terms(games, time, isRated) {
  return `${games.map(titleOf).join(", ") || "any game"}, ${timeName(time)}${isRated ? ", rated" : ""}`;
}

export function clockFace(ms) {
  const two = (number) => String(Math.floor(number)).padStart(2, "0");
  if (ms < 20000) return `0:${two(ms / 1000)}.${Math.floor((ms % 1000) / 100)}`;
  const seconds = ms / 1000;
  const minutes = `${two(seconds / 60 % 60)}:${two(seconds % 60)}`;
  return seconds < 3600 ? minutes.replace(/^0/, "") : `${Math.floor(seconds / 3600)}:${minutes}`;
}

/** How long the way to the server is, in a word. */
export function speedOf(ms) {
  if (ms === null) return "";
  return ms < 80 ? "fast" : ms < 200 ? "good" : ms < 500 ? "slow" : "very slow";
}

export function sentence(text) {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(whole) ? whole : `${whole}.`;
}

/** How a match ended. @param {Match} match */
function result(match) {
  const { winner, reason } = match.outcome;
  if (reason === "abort") return "Called off: it does not count.";
  if (winner === null) return reason === "agreement" ? "A draw, by agreement." : "A draw: nobody can win any more.";
  const names = match.players.map((player, side) => (side === match.you ? "you" : player.name));
  const head = match.you === undefined ? `${names[winner]} won` : winner === match.you ? "You won" : "You lost";
  const how = HOW[reason]?.(names[winner], names[1 - winner]);
  return sentence(how ? `${head}: ${how}` : head);
}

/** What is the matter now. @param {Match} match */
export function status(match) {
  if (match.outcome) return result(match);
  if (match.adjourned) return "Adjourned; the next move, with both here, goes on.";
  if (match.pending) return `Your move ${match.game.move_names[match.pending.move]} is on its way …`;
  const side = match.position.to_move ?? 0;
  if (isMyTurn(match)) return `Your turn: place ${[...match.position.marks[side]].join(" or ")}.`;
  const { name, bot } = match.players[side];
  return bot === undefined ? `${name}’s turn.` : `${name} is thinking …`;
}

/** A date, or the time of day if it is today. */
export function dateOf(ms) {
  const date = new Date(ms);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? date.toLocaleTimeString([], { timeStyle: "short" }) : date.toLocaleDateString([], { dateStyle: "medium" });
}
