/**
 * The sentences of the page.
 *
 * @typedef {import("./state.js").Match} Match
 */

import { isMyTurn } from "./state.js";

const DECLINED = {
  later: "not now",
  generic: "no, thank you",
  expired: "no answer came in time",
  gone: "the other player has gone",
};
const HOW = { line: "completed a line", resign: "resigned", time: "ran out of time", abandon: "left the match" };

export const isBot = (player) => player.bot !== undefined;

export const label = (player) => (isBot(player) ? `${player.name} (bot)` : player.name);

export const ratingOf = (player) => (player.rating ? `${player.rating}${player.provisional ? "?" : ""}` : "");

export const declined = (reason) => `The challenge came to nothing: ${DECLINED[reason] ?? reason.replace("_", " ")}.`;

/** @param {string} text */
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export const sentence = (text) => capital(text) + (/[.!?…]$/.test(text) ? "" : ".");

/** Minutes and seconds, with tenths when few are left. */
export function clockFace(ms) {
  const seconds = String(Math.floor(ms / 1000) % 60).padStart(2, "0");
  return `${Math.floor(ms / 60000)}:${seconds}${ms < 20000 ? "." + Math.floor((ms % 1000) / 100) : ""}`;
}

/** How a match ended. @param {Match} match */
function result({ outcome: { winner, reason }, players, you }) {
  if (reason === "abort") return "Called off: it does not count.";
  if (winner === null) return reason === "agreement" ? "A draw, by agreement." : "A draw: nobody can win any more.";
  const names = players.map((player, side) => (side === you ? "you" : player.name));
  const head = you === undefined ? `${names[winner]} won` : winner === you ? "You won" : "You lost";
  const how = HOW[reason] && `: ${names[reason === "line" ? winner : 1 - winner]} ${HOW[reason]}`;
  return `${head}${how ?? ""}.`;
}

/** What is the matter now. @param {Match} match */
export function status(match) {
  const { game, players, position, pending } = match;
  if (match.outcome) return result(match);
  if (match.adjourned) return "Adjourned; the next move, with both here, goes on.";
  if (pending) return `Your move ${game.move_names[pending.move]} is on its way …`;
  const side = position.to_move ?? 0;
  if (isMyTurn(match)) return `Your turn: place ${[...position.marks[side]].join(" or ")}.`;
  const { name } = players[side];
  return isBot(players[side]) ? `${name} is thinking …` : `${name}’s turn.`;
}
