/** Requests to the server from screens that are loaded later. */

import { ask, notify, request, say, seek, wantBot } from "./actions.js";
import { wishOf } from "./games.js";
import { f, w } from "./i18n.js";
import { go } from "./place.js";
import type { ChatRequest, ClaimRequest, OfferInfo, OfferRequest, ReportRequest, SeekInfo } from "./protocol.js";
import { know, type Match, redraw, set, state, ui, type Wish } from "./store.js";

/** How long an automatic replay shows each move. */
const STEP_MS = 900;

const REPLAY_PAGE = 32;

export type Phrase = NonNullable<ChatRequest["phrase"]>;

export const offer = ({ match, position: { ply } }: Match, kind: OfferRequest["kind"]): Promise<boolean> => request({ type: "offer", match, kind, ply });

export const agree = ({ match }: Match, { seq }: OfferInfo): Promise<boolean> => request({ type: "agree", match, offer: seq! });

export const decline = ({ match }: Match, { kind, seq }: OfferInfo): Promise<boolean> => request({ type: "decline", match, kind, offer: seq! });

export const claim = ({ match }: Match, kind: ClaimRequest["kind"]): Promise<boolean> => request({ type: "claim", match, kind });

export const speakOf = ({ match }: Match, said: { text: string } | { phrase: Phrase }): Promise<boolean> => request({ type: "chat", match, ...said });

/** Accept an open seek; answer one for any game with a seek for the chosen game. */
export function accept({ seek: id, games, time }: SeekInfo): void {
  if (games.length) request({ type: "accept", seek: id });
  else seek({ game: wishOf(ui.choice).game, time: time ?? null, rated: false });
}

export function challenge(name: string, wish: Wish = wishOf(ui.choice)): void {
  request({ type: "challenge", name, ...wish });
}

/** Play a bot from a position of a finished match, as one of its sides. */
export async function playOnFrom({ match, game, starts }: Match, ply: number, side: 0 | 1): Promise<void> {
  if (starts[ply] === undefined) await request({ type: "replay", match, ply });
  const start = starts[ply];
  if (!start) return;
  wantBot({ game: game.name, time: null, rated: false, start, side });
  say({ type: "lobby", on: true });
}

/** Create an invitation, which is never rated. */
export function invite(): void {
  const { game, time } = wishOf(ui.choice);
  request({ type: "invite", game, time });
}

/** Show the rules of a game. */
export function explain(game: string): void {
  know({ rules: null });
  set({ rules: game });
  ask({ type: "rules", game });
}

export async function rename(name: string): Promise<void> {
  if (await request({ type: "rename", name })) notify(f(w.renamed, name));
}

export async function analyse(match: Match, isAgain = false): Promise<void> {
  match.analysis = { moves: null, exact: false, isAgain };
  redraw();
  if (!(await request({ type: "analyse", match: match.match }))) match.analysis = null;
  redraw();
}

/** Guess the moves of an analysed match: first get its positions with their legal moves, a page at a time. */
export async function guessMoves({ match, moves }: Match): Promise<void> {
  for (let ply = 0; ply <= moves.length; ply += REPLAY_PAGE) if (!(await request({ type: "replay", match, ply, legal: true }))) return;
  go(`/#guess=${match}`);
}

/** Request an analysis again that had no time to find anything: it may be more complete now. */
export function analyseAgain(match: Match): void {
  const { moves, exact, partial, lesson, isAgain } = match.analysis!;
  if (!moves?.length && !exact && !partial && !lesson && !isAgain) analyse(match, true);
}

/** The seat of a player in a match, for servers that support it: it stays valid when the player is renamed. */
function seatOf(name: string, match: Match | undefined): { match?: string; side?: 0 | 1 } {
  const side = match?.players.findIndex((player) => player.name === name) ?? -1;
  return match && side >= 0 && state.features.includes("seats") ? { match: match.match, side: side as 0 | 1 } : {};
}

export async function mute(match: Match, name: string): Promise<void> {
  if (!(await request({ type: "mute", name, on: true, ...seatOf(name, match) }))) return;
  match.chat = match.chat.filter((line) => line.by.name !== name);
  notify(f(w.muted, name));
}

/** Block or unblock a player, and update the profile and the list of blocked players. */
export async function block(name: string, on: boolean): Promise<void> {
  if (!(await request({ type: "block", name, on }))) return;
  notify(f(on ? w.blocked : w.unblocked, name));
  if (state.profile?.player.name === name) know({ profile: { ...state.profile, blocked: on } });
  else ask({ type: "blocks" });
}

export async function unmute(name: string): Promise<void> {
  if (await request({ type: "mute", name, on: false })) ask({ type: "blocks" });
}

/** Report a player to the host, with the last lines of the chat if it is about a match. */
export async function report(name: string, reason: ReportRequest["reason"], match?: Match): Promise<void> {
  if (await request({ type: "report", name, reason, match: match?.match, ...seatOf(name, match) })) notify(w.reported);
}

/** Show a finished match after a number of moves. */
export function review({ match, moves, past }: Match, ply: number): void {
  const first = ply - (ply % REPLAY_PAGE);
  if (!(first in past)) {
    past[first] = undefined; // one request per page
    ask({ type: "replay", match, ply: first });
  }
  set({ ply: ply === moves.length ? null : ply });
}

/** Start or stop an automatic replay of a finished match, from the shown move or from the beginning. */
export function autoplay(match: Match): void {
  const { length } = match.moves;
  if (ui.isPlaying) set({ isPlaying: false });
  else {
    set({ isPlaying: true });
    review(match, ui.ply === null ? 0 : ui.ply);
    setTimeout(() => playOn(match, length), STEP_MS);
  }
}

function playOn(match: Match, length: number): void {
  if (!ui.isPlaying) return;
  const ply = (ui.ply ?? length) + 1;
  if (ply >= length) set({ isPlaying: false });
  review(match, Math.min(ply, length));
  if (ui.isPlaying) setTimeout(() => playOn(match, length), STEP_MS);
}

/**
 * Pass an address or a text to the share sheet or, without one, to the clipboard; a page over plain HTTP has neither,
 * and shows it for manual copying.
 */
export async function send(what: string): Promise<void> {
  try {
    if ("share" in navigator) {
      await navigator.share(/\s/.test(what) ? { text: what } : { url: what });
      return;
    }
    await (navigator as Navigator).clipboard.writeText(what);
    notify(copiedWords(what));
  } catch (error) {
    if ((error as Error).name !== "AbortError" && !copyByHand(what)) set({ copied: what });
  }
}

const copiedWords = (what: string): string => (/\s/.test(what) ? w.resultCopied : w.linkCopied);

/** Copy with the old API, which needs no secure context; return whether it worked. */
function copyByHand(text: string): boolean {
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  let isDone = false;
  try {
    isDone = document.execCommand("copy");
  } catch {
    // it is shown instead
  }
  field.remove();
  if (isDone) notify(copiedWords(text));
  return isDone;
}
