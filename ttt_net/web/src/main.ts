/** The page: what it does with what it hears, and what it shows. */

import { announce, giveUpBeginning, hint, link, meetBot, notify, playWanted, say, seekAgain, sendMove, waitForBot } from "./actions.js";
import { h, patch, type Tree } from "./dom.js";
import { felt, feltEnd, showTurns, tellTurn } from "./feel.js";
import { titleOf } from "./games.js";
import { chooseLanguage, f, language, w } from "./i18n.js";
import { forgetInvitation, keepInvitation, recallInvitation } from "./invitation.js";
import { fetchInTime, fetchNow, later } from "./later.js";
import type { Heard } from "./link.js";
import { localScreen } from "./local.js";
import { arrive, go, look, place, replace, see, shown } from "./place.js";
import type { Declined, MatchLesson, Notice, Played, Sanctioned } from "./protocol.js";
import { decided, declined, label, sentence, status } from "./sentences.js";
import { applyTheme, settings } from "./settings.js";
import { shieldResizes, watchShifts } from "./shield.js";
import { drawDue, drawWith, fitChoice, hear, hearing, isMyTurn, know, type Match, mayHint, ownLive, redraw, set, state, ui } from "./store.js";
import { tray } from "./tray.js";
import { askOffer, messageScreen, nameScreen } from "./welcome.js";

const TICK_MS = 100;
/** The longest that a timer of a browser can wait. */
const MOST_MS = 2 ** 31;
/** A visitor who is not known is connected after so long on the first screen. */
const PREPARE_MS = 400;

function heard(message: Heard): void {
  hearing(() => {
    if ("match" in message) heardOfMatch(message);
    else heardOfAll(message);
    redraw();
  });
}

/** Take in what concerns no match alone. */
function heardOfAll(message: Heard): void {
  const { seeking, you, challenges } = state;
  const known = [...state.matches.keys()];
  // Players who decline a challenge know that they did.
  const isOurs = message.type === "challengeover" && challenges.get(message.challenge)?.to.name === you?.name;
  hear(message, performance.now());
  switch (message.type) {
    case "welcome":
      // A new match is what the seek led to.
      if (you?.name === state.you?.name) seekAgain(message.matches.every((each) => known.includes(each)) ? seeking : null);
      welcomed(message.matches);
      break;
    case "parted":
      set({ isBeginning: false });
      break;
    case "players":
      meetBot();
      break;
    case "invitation":
      keepInvitation();
      break;
    case "challengeover":
      giveUpBeginning();
      if (!isOurs || /expired|gone/.test(message.reason)) notify(declined(message.reason));
      break;
    case "notice":
      noticed(message);
      break;
    case "sanctioned":
      sanctioned(message);
      break;
  }
}

/** Take in what concerns a match. */
function heardOfMatch(message: Heard & { match: string }): void {
  const before = state.matches.get(message.match);
  const was = { outcome: before?.outcome, isMine: !!before && isMyTurn(before), offers: before?.offers ?? [], lesson: before?.analysis?.lesson };
  hear(message, performance.now());
  const match = state.matches.get(message.match);
  if (!match) return;
  if (message.type === "snapshot" && !before) seated(match);
  if (message.type === "declined") offerDeclined(match, message, was.offers);
  if (!was.isMine && isMyTurn(match)) {
    playWanted(match);
    if (isMyTurn(match)) begunTurn(match, message.type === "snapshot");
  }
  const hasEnded = !!match.outcome && !!before && !was.outcome;
  if (hasEnded) feltEnd(match);
  if (match === shown()) heardOfShown(match, message, hasEnded, was.lesson);
}

/** Tell of our turn, and have the coach look at the position. */
function begunTurn(match: Match, isKnown: boolean): void {
  if (!isKnown) tellTurn(match);
  if (settings.warns && mayHint(match) && match.moves.length) hint(match, "warning");
}

/** Show and read out what has happened in the match on the screen. */
function heardOfShown(match: Match, message: Heard, hasEnded: boolean, lesson: MatchLesson | undefined): void {
  if (message.type === "played" || message.type === "tookback" || message.type === "ended") ui.aim = -1;
  if (message.type === "played") heardMove(match, message);
  else if (hasEnded) announce(status(match));
  // What is seen at a glance comes first, and the search may know better.
  if (message.type === "analysis") {
    learnt(match, lesson);
    later()?.analyseAgain(match);
  }
  if (message.type === "hint") announce(later()?.coachedWords(match.game, message) ?? "");
  if (message.type === "chat") announce(`${label(message.by)}: ${message.text}`);
}

/** Show the move that decided a match, unless it was shown before. */
function learnt(match: Match, before: MatchLesson | undefined): void {
  const { ply = null } = match.analysis?.lesson ?? {};
  if (ply === null || ply === before?.ply) return;
  later()?.review(match, ply);
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
  waitForBot();
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
  if (ui.isBeginning) fetchNow().then(() => set({ isBeginning: false }));
  go(`/m/${match.match}`);
  announce(`${f(w.matchAgainst, match.game.title, label(match.players[1 - match.you]!))} ${status(match)}`);
}

/** Step through a finished match by the arrow keys, where they mean nothing else. */
function stepped(event: KeyboardEvent): void {
  const match = shown();
  const { key, target } = event;
  if (!match?.outcome || event.ctrlKey || event.altKey || event.metaKey || (target as Element).closest("input, select, .cell, .sheet")) return;
  const { length } = match.moves;
  const now = ui.ply ?? length;
  const to = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: length }[key] ?? -1;
  if (to >= 0 && to <= length) later()?.review(match, to);
}

function isTicking(): boolean {
  const match = shown();
  return !!match && !match.outcome && !document.hidden && !!(match.clock || match.away);
}

function draw(): void {
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
}

/** Draw with the next frame, or soon where no frames are shown: the title tells of our turn there. */
function nextFrame(act: () => void): void {
  if (document.hidden) setTimeout(act);
  else requestAnimationFrame(act);
}

function screenNow(): Tree {
  const { kind } = place();
  const match = shown();
  if (kind === "nowhere") return messageScreen();
  if (kind === "here") return localScreen();
  if (ui.isBeginning) return nameScreen();
  if (state.parted || !state.you) return link.isKnown() ? messageScreen() : nameScreen();
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
  drawWith(draw, nextFrame);
  addEventListener("popstate", arrive);
  addEventListener("resize", redraw);
  document.addEventListener("visibilitychange", () => {
    redraw();
    drawDue();
  });
  document.addEventListener("keydown", stepped);
  shieldResizes();
  setInterval(() => isTicking() && redraw(), TICK_MS);
  link.keepUp({ heard, changed: redraw, isUrgent: () => ownLive().length > 0 });
  addEventListener("online", () => link.hurry());
  addEventListener("offline", () => link.wentOffline());
  addEventListener("pageshow", () => link.hurry());
  document.addEventListener("visibilitychange", () => document.hidden || link.hurry());
  draw();
  if (link.isKnown()) later();
  else {
    askOffer();
    fetchInTime();
    // The server closes a connection that says nothing for long: it is opened again for the first who stirs.
    setTimeout(() => link.prepare(), PREPARE_MS);
    for (const sign of ["pointermove", "pointerdown", "focusin"]) addEventListener(sign, () => link.prepare());
  }
}

begin();
