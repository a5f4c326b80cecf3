/** Show and announce news of the match on screen. Loaded with the screen of a match. */

import { announce, notify } from "./actions.js";
import { noteOf } from "./analysis.js";
import { coachedWords } from "./deck.js";
import { received } from "./download.js";
import { felt } from "./feel.js";
import { settle } from "./handover.js";
import { f, w } from "./i18n.js";
import { finishedMatch } from "./install.js";
import type { Heard } from "./link.js";
import { followLive } from "./lobby.js";
import { heardOfMistakes } from "./mistakes.js";
import { beginInPlace, handOver } from "./ondevice.js";
import { shown } from "./place.js";
import type { Declined, MatchLesson, Played } from "./protocol.js";
import { analyseAgain, review } from "./requests.js";
import { stateOf } from "./results.js";
import { label } from "./sentences.js";
import { type Match, ui } from "./store.js";

/** Do what follows from any message. */
export function follow(message: Heard): void {
  beginInPlace();
  received(message);
  heardOfMistakes(message);
  followLive();
  if (message.type === "challengeover" || message.type === "welcome") settle();
  handOver();
}

/** Show and announce what happened in the match on screen. */
export function heardOfShown(match: Match, message: Heard, hasEnded: boolean, lesson: MatchLesson | undefined): void {
  if (message.type === "played" || message.type === "tookback" || message.type === "ended") ui.aim = -1;
  if (hasEnded && match.you !== undefined) finishedMatch();
  if (message.type === "played") heardMove(match, message);
  else if (hasEnded) announce(stateOf(match));
  // A quick lesson arrives first; the search may find a better one.
  if (message.type === "analysis" && match.analysis) {
    learnt(match, lesson);
    analyseAgain(match);
  }
  if (message.type === "hint") announce(coachedWords(match.game, message) ?? "");
  if (message.type === "chat") announce(`${label(message.by)}: ${message.text}`);
}

/** Show the move that decided a match, unless it was shown before. */
function learnt(match: Match, before: MatchLesson | undefined): void {
  const { ply = null } = match.analysis?.lesson ?? {};
  if (ply === null || ply === before?.ply) return;
  review(match, ply);
  announce(noteOf(match, ply) ?? "");
}

function heardMove(match: Match, { side, move }: Played): void {
  const name = match.game.move_names[move] ?? "";
  felt(side === match.you ? "placed" : "heard");
  announce(`${side === match.you ? f(w.youPlayed, name) : f(w.theyPlayed, match.players[side]!.name, name)} ${stateOf(match)}`);
}

/** Show that the player's offer was declined. */
export function offerDeclined(match: Match, { side, kind }: Declined, offers: Match["offers"]): void {
  const isOurs = offers.some((offer) => offer.kind === kind && offer.side === match.you);
  if (isOurs && side !== match.you) notify(f(w.theyDeclined[kind] ?? "", match.players[side]!.name));
}

/** Step through a finished match with the arrow keys, where they have no other meaning. */
export function stepped(event: KeyboardEvent): void {
  const match = shown();
  const { key, target } = event;
  if (!match?.outcome || event.ctrlKey || event.altKey || event.metaKey || (target as Element).closest("input, select, .cell, .sheet")) return;
  const { length } = match.moves;
  const now = ui.ply ?? length;
  const to = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: length }[key] ?? -1;
  if (to >= 0 && to <= length) review(match, to);
}
