/** Signals beside the board: sounds, vibration, title, icon, and a notification while the page is hidden. */

import { afterPaint } from "./dom.js";
import { f, w } from "./i18n.js";
import { status } from "./sentences.js";
import { settings } from "./settings.js";
import type { Feeling } from "./sounds.js";
import { isMyTurn, type Match, ownLive } from "./store.js";


const BUZZ_MS: Record<Feeling, number[]> = { placed: [], heard: [12], turn: [30], won: [20, 60, 20, 60, 40], lost: [60], drawn: [30] };
let sounds: Promise<typeof import("./sounds.js")> | null = null;
let told: Notification | null = null;
/** The number of waiting matches that title and icon show. */
let shownTurns = -1;

/** Play a sound and vibrate, if the player wants that; browsers allow neither before the first tap. */
export function felt(feeling: Feeling): void {
  if (!settings.isLoud || !navigator.userActivation?.hasBeenActive) return;
  sounds ??= import("./sounds.js");
  Promise.all([sounds, new Promise<void>(afterPaint)]).then(([{ sound }]) => sound(feeling)).catch(() => (sounds = null));
  if (BUZZ_MS[feeling].length) navigator.vibrate?.(BUZZ_MS[feeling]);
}

/** Signal the end of a match. */
export function feltEnd({ outcome, you }: Match): void {
  if (!outcome || you === undefined) return;
  felt(outcome.winner === null ? "drawn" : outcome.winner === you ? "won" : "lost");
}

/** Signal our turn; notify if the page is hidden. */
export function tellTurn(match: Match): void {
  felt("turn");
  if (!document.hidden || !settings.tells || !("Notification" in window) || Notification.permission !== "granted") return;
  told?.close();
  told = new Notification(f(w.yourTurnAgainst, match.players[1 - (match.you ?? 0)]!.name), { body: status(match), tag: match.match });
  told.onclick = () => focus();
}

/** Show in title, icon and badge that a match waits for our move. */
export function showTurns(title: string): void {
  const waiting = ownLive().filter(isMyTurn).length;
  const named = waiting ? `● ${w.yourTurnTitle} – ${title}` : title;
  if (!document.hidden) told?.close();
  if (named === document.title && waiting === shownTurns) return;
  shownTurns = waiting;
  document.title = named;
  const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
  const wanted = icon?.href.replace(/icon(-turn)?\.svg/, waiting ? "icon-turn.svg" : "icon.svg");
  if (icon && wanted && icon.href !== wanted) icon.href = wanted;
  const { setAppBadge, clearAppBadge } = navigator as { setAppBadge?: (count: number) => Promise<void>; clearAppBadge?: () => Promise<void> };
  (waiting ? setAppBadge?.call(navigator, waiting) : clearAppBadge?.call(navigator))?.catch(() => {});
}
