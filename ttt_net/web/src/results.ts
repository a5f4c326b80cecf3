/** How matches ended, in sentences. */

import { f, w } from "./i18n.js";
import { status } from "./sentences.js";
import type { Match } from "./store.js";

/** How a match ended: the winner, and the reason, if there is one to add. */
export function resultParts(match: Match): [string, string] {
  const { outcome, players, you } = match;
  if (outcome?.fault) return [w.calledOff.replace(/[.。]$/, ""), outcome.fault];
  if (!outcome || outcome.reason === "abort") return [w.calledOff, ""];
  const { winner, reason } = outcome;
  if (winner === null) return [reason === "agreement" ? w.drawAgreed : w.drawn, ""];
  const loser = 1 - winner;
  const head = you === undefined ? f(w.won, players[winner]!.name) : winner === you ? w.youWon : w.youLost;
  const own = match.game.endings?.[reason];
  if (own) {
    const [first, second] = [players[winner]!.name, players[loser]!.name];
    return [head, own.replace("{winner}", first).replace("{losers}", `${second}'s`).replace("{loser}", second)];
  }
  const acted = reason === "line" ? (lineSide(match) ?? winner) : loser;
  const how = (acted === you ? w.youDid : w.theyDid)[reason];
  return how ? [head, f(how, players[acted]!.name)] : [`${head}${w.stop}`, ""];
}

/** The state of a match, or how it ended, in one sentence. */
export function stateOf(match: Match): string {
  if (!match.outcome) return status(match);
  const [head, how] = resultParts(match);
  return how ? f(w.because, head, how) : head;
}

/** The side that completed the line, whether that wins or loses; null without a line. */
export function lineSide({ position, outcome }: Match): number | null {
  const mark = position.board[position.line[0] ?? -1];
  if (mark === undefined || !outcome || outcome.winner === null) return null;
  const [first, second] = position.marks;
  if (first === second) return outcome.winner; // both place any mark: the last to move completed it
  return first.includes(mark) ? 0 : 1;
}
