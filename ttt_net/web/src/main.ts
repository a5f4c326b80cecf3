/** The page: what it does with what it hears, and what it shows. */

import { analyseAgain, announce, fitChoice, hint, know, meetBot, notify, page, playWanted, review, sendMove, set, ui } from "./app.js";
import { h, patch, type Tree } from "./dom.js";
import { felt, feltEnd, showTurns, tellTurn } from "./feel.js";
import { titleOf } from "./games.js";
import { chooseLanguage, f, language, w } from "./i18n.js";
import { forgetInvitation, keepInvitation, recallInvitation } from "./invitation.js";
import { isKnown, keepUp, link, say } from "./link.js";
import { fetchInTime, later } from "./later.js";
import { localScreen } from "./local.js";
import { arrive, go, look, place, replace, see, shown } from "./place.js";
import type { Declined, MatchLesson, Notice, Played, Sanctioned } from "./protocol.js";
import { decided, declined, label, sentence, status } from "./sentences.js";
import { applyTheme, settings } from "./settings.js";
import { shieldResizes, watchShifts } from "./shield.js";
import { type Heard, hear, isMyTurn, type Match, mayHint, ownLive, state } from "./state.js";
import { tray } from "./tray.js";
import { askOffer, messageScreen, nameScreen } from "./welcome.js";

const TICK_MS = 100;
/** The longest that a timer of a browser can wait. */
const MOST_MS = 2 ** 31;
let isDrawing = false;

function heard(message: Heard): void {
  const id = "match" in message ? message.match : "";
  const before = state.matches.get(id);
  const was = { outcome: before?.outcome, isMine: before && isMyTurn(before), offers: before?.offers ?? [], lesson: before?.analysis?.lesson };
  // Who turned a challenge down knows that they did.
  const isOurs = message.type === "challengeover" && state.challenges.get(message.challenge)?.to.name === state.you?.name;
  hear(message);
  const match = state.matches.get(id);
  if (message.type === "welcome") welcomed(message.matches);
  if (message.type === "players") meetBot();
  if (message.type === "invitation") keepInvitation();
  if (message.type === "snapshot" && !before && match) seated(match);
  if (message.type === "challengeover" && (!isOurs || /expired|gone/.test(message.reason))) notify(declined(message.reason));
  if (message.type === "notice") noticed(message);
  if (message.type === "sanctioned") sanctioned(message);
  if (match && message.type === "declined") offerDeclined(match, message, was.offers);
  if (match && !was.isMine && isMyTurn(match)) {
    playWanted(match);
    if (isMyTurn(match)) {
      if (message.type !== "snapshot") tellTurn(match);
      if (settings.warns && mayHint(match) && match.moves.length) hint(match, "warning");
    }
  }
  if (match && match.outcome && before && !was.outcome) feltEnd(match);
  if (match && match === shown()) {
    if (message.type === "played" || message.type === "tookback" || message.type === "ended") ui.aim = -1;
    if (message.type === "played") heardMove(match, message);
    else if (match.outcome && before && !was.outcome) announce(status(match));
    // What is seen at a glance comes first, and the search may know better.
    if (message.type === "analysis") {
      learnt(match, was.lesson);
      analyseAgain(match);
    }
    if (message.type === "hint") announce(later()?.coachedWords(match.game, message) ?? "");
    if (message.type === "chat") announce(`${label(message.by)}: ${message.text}`);
  }
  draw();
}

/** Show the move that decided a match, unless it was shown before. */
function learnt(match: Match, before: MatchLesson | undefined): void {
  const { ply = null } = match.analysis?.lesson ?? {};
  if (ply === null || ply === before?.ply) return;
  review(match, ply);
  announce(later()?.noteOf(match, ply) ?? "");
}

function heardMove(match: Match, { side, move }: Played): void {
  const name = match.game.move_names[move] ?? "";
  felt(side === match.you ? "placed" : "heard");
  announce(`${side === match.you ? f(w.youPlayed, name) : f(w.theyPlayed, match.players[side]!.name, name)} ${status(match)}`);
}

/** Say that an offer was turned down, to the one who made it. */
function offerDeclined(match: Match, { side, kind }: Declined, offers: Match["offers"]): void {
  const isOurs = offers.some((offer) => offer.kind === kind && offer.side === match.you);
  if (isOurs && side !== match.you) notify(f(w.theyDeclined[kind] ?? "", match.players[side]!.name));
}

/** Tell what the host has decided; a mute is forgotten when it runs out. */
function sanctioned({ act, ends_in_ms: left }: Sanctioned): void {
  const { mute } = state;
  notify(act === "ban" ? "" : mute ? decided(mute) : w.heardAgain);
  if (act === "mute" && left && left < MOST_MS) setTimeout(() => state.mute === mute && know({ mute: null }), left);
}

/** Show a line from the host; while a restart is ahead it stays until the server is back, or stays after all. */
function noticed({ text, restart_in_ms: left }: Notice): void {
  if (left === undefined) {
    ui.closing = "";
    notify(text);
    return;
  }
  const at = new Date(Date.now() + left).toLocaleTimeString(language, { timeStyle: "short" });
  set({ closing: f(w.restartsAt, sentence(text), at) });
}

/** Take our seats again, and see again what we saw. */
function welcomed(own: string[]): void {
  const { matches } = state;
  const seen = shown();
  ui.closing = "";
  recallInvitation();
  for (const match of own)
    say({ type: "resume", match, seq: matches.get(match)?.seq ?? 0 }).then(() => {
      const now = matches.get(match);
      if (now?.pending) sendMove(now);
    });
  for (const id of matches.keys()) if (!own.includes(id) && id !== seen?.match) matches.delete(id);
  if (seen && !own.includes(seen.match)) see(seen.match);
  look();
}

/** Go to a match of ours that has just begun, unless another goes on here. */
function seated(match: Match): void {
  const seen = shown();
  const isInvited = place().kind === "j";
  if (match.you === undefined || match.outcome || match === seen) return;
  if (!state.invitation) forgetInvitation();
  if (state.unfinished.includes(match.match) && !isInvited) return;
  if (seen && seen.you !== undefined && !seen.outcome) return;
  if (isInvited) replace("/"); // a code is good once
  go(`/m/${match.match}`);
  announce(`${f(w.matchAgainst, match.game.title, label(match.players[1 - match.you]!))} ${status(match)}`);
}

function changed(trouble: string): void {
  if (trouble && !ui.trouble) ui.lostAt = performance.now();
  set({ trouble });
}

/** Step through a finished match by the arrow keys, where they mean nothing else. */
function stepped(event: KeyboardEvent): void {
  const match = shown();
  const { key, target } = event;
  if (!match?.outcome || event.ctrlKey || event.altKey || event.metaKey || (target as Element).closest("input, select, .cell, .sheet")) return;
  const { length } = match.moves;
  const now = ui.ply ?? length;
  const to = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: length }[key] ?? -1;
  if (to >= 0 && to <= length) review(match, to);
}

function isTicking(): boolean {
  const match = shown();
  return !!match && !match.outcome && !document.hidden && !!(match.clock || match.away);
}

function draw(): void {
  if (isDrawing) return;
  isDrawing = true;
  queueMicrotask(() => {
    isDrawing = false;
    const root = document.getElementById("page")!;
    const focused = document.activeElement;
    const match = shown();
    const shieldShifted = watchShifts();
    patch(root, h("div", screenNow(), ui.areSettingsOpen && later()?.settingsSheet(), ui.rules && later()?.rulesSheet(), match && ui.isChoosing && later()?.anotherSheet(match), tray()).children);
    root.querySelector("main")?.toggleAttribute("inert", !!root.querySelector(".sheet"));
    shieldShifted();
    if (!focused?.isConnected && document.activeElement === document.body) {
      // What had the focus is gone: the board has it now, or else the screen.
      const next = root.querySelector<HTMLElement>(".cell[tabindex='0']") ?? root.querySelector("main");
      next?.focus({ preventScroll: true });
    }
    showTurns(titleNow());
  });
}

function screenNow(): Tree {
  const { kind } = place();
  const match = shown();
  if (kind === "nowhere") return messageScreen();
  if (kind === "here") return localScreen();
  if (link === "stopped" || !state.you) return isKnown() ? messageScreen() : nameScreen();
  if (match) return later()?.matchScreen(match) ?? messageScreen();
  if (kind === "m" || kind === "j") return messageScreen();
  if (kind === "leaders") return later()?.leadersScreen() ?? messageScreen();
  if (kind === "puzzle") return later()?.puzzleScreen() ?? messageScreen();
  if (kind === "player") return later()?.playerScreen() ?? messageScreen();
  return later()?.lobbyScreen() ?? messageScreen();
}

function titleNow(): string {
  const { kind, id } = place();
  const match = shown();
  const titles: Record<string, string> = { leaders: `${w.leaderboard}, ${titleOf(ui.leaders.game)}`, here: w.onThisDevice, puzzle: w.puzzleOfDay, j: w.youAreInvited, player: id || (state.you?.name ?? "") };
  const title = match ? `${match.players.map(({ name }) => name).join(" – ")}, ${titleOf(match.game.name)}` : titles[kind];
  return title ? `${title} – ${state.server}` : state.server;
}

async function begin(): Promise<void> {
  applyTheme();
  fitChoice();
  await chooseLanguage();
  page.draw = draw;
  addEventListener("popstate", arrive);
  addEventListener("resize", draw);
  document.addEventListener("visibilitychange", draw);
  document.addEventListener("keydown", stepped);
  shieldResizes();
  setInterval(() => isTicking() && draw(), TICK_MS);
  keepUp({ heard, changed, isUrgent: () => ownLive().length > 0 });
  draw();
  if (isKnown()) later();
  else {
    askOffer();
    fetchInTime();
  }
}

export * from "./shared.js";
begin();
