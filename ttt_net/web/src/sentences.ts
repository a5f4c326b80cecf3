/** The state of a match, and names, dates and decisions, in sentences. */

import { isStones } from "./board.js";
import { either, f, language, w } from "./i18n.js";
import { type Decision, isMyTurn, type Match, type Player } from "./store.js";

export const isBot = (player: { bot?: string }): boolean => player.bot !== undefined;

export const label = (player: Pick<Player, "name" | "bot">): string => (isBot(player) ? f(w.nameOfBot, player.name) : player.name);

export const ratingOf = (player: { rating?: number; provisional?: boolean }): string =>
  player.rating ? `${player.rating}${player.provisional ? "?" : ""}` : "";

export const declined = (reason: string): string => f(w.challengeOver, w.declineReasons[reason] ?? reason.replace("_", " "));

export const capital = (text: string): string => text.charAt(0).toLocaleUpperCase(language) + text.slice(1);

export const sentence = (text: string): string => capital(text) + (/[.!?…。！？؟]$/.test(text) ? "" : ".");

/** Minutes and seconds, with tenths when few are left. */
export function clockFace(ms: number): string {
  const seconds = String(Math.floor(ms / 1000) % 60).padStart(2, "0");
  return `${Math.floor(ms / 60000)}:${seconds}${ms < 20000 ? "." + Math.floor((ms % 1000) / 100) : ""}`;
}

/** A day of UTC. */
export const dayOf = (ms: number): string => new Date(ms).toLocaleDateString(language, { dateStyle: "medium", timeZone: "UTC" });

/** A decision of the host about us: its meaning, its end and its reason. */
export function decided({ act, ends_in_ms: left, reason, heardAt }: Decision): string {
  const end = left === undefined || left === null ? w.forGood : f(w.untilThen, dateOf(heardAt + left));
  return f(act === "mute" ? w.youAreMuted : w.youAreBanned, end) + (reason ? ` ${f(w.theReason, sentence(reason))}` : "");
}

/** A date, as short as the language writes it. */
export const dateOf = (ms: number): string => new Date(ms).toLocaleString(language, { dateStyle: "medium", timeStyle: "short" });

/** How the grade of a move looks: bad, doubtful or good. */
export const gradeOf = (sign: string): string => (sign.startsWith("!") ? "good" : sign === "?!" ? "doubtful" : "bad");

/** The state of a match that has not ended, in one sentence. */
export function status(match: Match): string {
  const { game, players, position, pending } = match;
  if (match.adjourned) return w.adjournedNow;
  if (pending) return f(w.onItsWay, game.move_names[pending.move] ?? "");
  const side = position.to_move ?? 0;
  if (isMyTurn(match)) return isStones(game) || game.gravity || game.pieces ? w.yourTurnTitle + w.stop : f(w.yourTurnPlace, either([...(position.marks[side] ?? "")]));
  const { name } = players[side]!;
  return f(isBot(players[side]!) ? w.thinking : w.theirTurn, name);
}
