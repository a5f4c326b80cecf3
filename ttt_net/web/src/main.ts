/** The page: react to messages, and choose the screen. */

import { announce, clockNow, giveUpBeginning, hint, link, meetBot, notify, playWanted, resume, seekAgain, waitForBot } from "./actions.js";
import { afterPaint, h, nextFrame, patch, type Tree } from "./dom.js";
import { feltEnd, showTurns, tellTurn } from "./feel.js";
import { titleOf } from "./games.js";
import { chooseLanguage, f, language, w } from "./i18n.js";
import { forgetInvitation, keepInvitation, recallInvitation } from "./invitation.js";
import { keepApart, keptOfWindow } from "./kept.js";
import { fetchInTime, later, withLater } from "./later.js";
import type { Heard } from "./link.js";
import { KEPT_MATCH } from "./local.js";
import { ahead, arrive, go, look, lookAhead, place, replace, see, shown } from "./place.js";
import type { Notice, Sanctioned } from "./protocol.js";
import { clockFace, decided, declined, label, sentence, status } from "./sentences.js";
import { applyTheme, settings } from "./settings.js";
import { noteTaps, shieldShifted } from "./shield.js";
import { drawDue, drawWith, fitChoice, hear, hearing, isAhead, isMyTurn, know, leftMs, type Match, mayHint, ownLive, redraw, set, state, ui } from "./store.js";
import { tray } from "./tray.js";
import { askOffer, linkChanged, messageScreen, nameScreen } from "./welcome.js";

const TICK_MS = 100;
/** The maximal delay of a browser's timer. */
const MOST_MS = 2 ** 31;
/** How long a new visitor stays on the first screen before the page connects. */
const PREPARE_MS = 400;

function heard(message: Heard): void {
  hearing(() => {
    if ("match" in message) heardOfMatch(message);
    else heardOfAll(message);
    withLater((more) => more.follow(message));
    redraw();
  });
}

/** Handle a message that concerns no single match. */
function heardOfAll(message: Heard): void {
  const { seeking, you, challenges } = state;
  const known = [...state.matches.keys()];
  // No notice for the player who declined.
  const isOurs = message.type === "challengeover" && challenges.get(message.challenge)?.to.name === you?.name;
  hear(message, performance.now());
  switch (message.type) {
    case "welcome":
      // The seek has started a new match.
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
      if (ui.isInviting) withLater((more) => more.sendInvitation());
      ui.isInviting = false;
      break;
    case "tournament":
      if (place().kind !== "j") break; // otherwise the code was not that of an invitation
      replace(`/#t=${message.tournament}`);
      arrive();
      break;
    case "challengeover":
      giveUpBeginning();
      if (ui.opening.isRunning) break; // the match goes on here
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

/** Handle a message about a match. */
function heardOfMatch(message: Heard & { match: string }): void {
  const before = state.matches.get(message.match);
  if (before && isAhead(before, message)) {
    if (!before.isCatchingUp) catchUp(before);
    return;
  }
  const was = { outcome: before?.outcome, isMine: !!before && isMyTurn(before), offers: before?.offers ?? [], lesson: before?.analysis?.lesson };
  hear(message, performance.now());
  const match = state.matches.get(message.match);
  if (!match) return;
  if (message.type === "snapshot" && !before) seated(match);
  if (message.type === "declined") withLater((more) => more.offerDeclined(match, message, was.offers));
  if (!was.isMine && isMyTurn(match)) {
    playWanted(match);
    if (isMyTurn(match)) begunTurn(match, message.type === "snapshot");
  }
  const hasEnded = !!match.outcome && !!before && !was.outcome;
  if (hasEnded) feltEnd(match);
  if (match === shown()) withLater((more) => match.match === shown()?.match && more.heardOfShown(match, message, hasEnded, was.lesson));
}

/** Request missing events before a received one. */
function catchUp(match: Match): void {
  match.isCatchingUp = true;
  if (match.you === undefined) see(match.match);
  else resume(match.match);
}

/** Signal our turn, and request a warning for the position. */
function begunTurn(match: Match, isKnown: boolean): void {
  if (!isKnown) tellTurn(match);
  if (settings.warns && mayHint(match) && match.moves.length) hint(match, "warning");
}

/** Show the host's decision; a mute ends when it expires. */
function sanctioned({ act, ends_in_ms: left }: Sanctioned): void {
  const { mute } = state;
  notify(act === "ban" ? "" : mute ? decided(mute) : w.heardAgain);
  if (act === "mute" && left && left < MOST_MS) setTimeout(() => state.mute === mute && know({ mute: null }), left);
}

/**
 * Show a line from the host; an announced restart stays visible until the server is back or the restart is cancelled.
 */
function noticed({ text, restart_in_ms: left }: Notice): void {
  if (left === undefined) {
    ui.closing = "";
    notify(text);
    return;
  }
  const at = new Date(Date.now() + left).toLocaleTimeString(language, { timeStyle: "short" });
  set({ closing: f(w.restartsAt, sentence(text), at) });
}

/** Resume our matches and subscriptions. */
function welcomed(own: string[]): void {
  const { matches } = state;
  const seen = shown();
  ui.closing = "";
  recallInvitation();
  waitForBot();
  if (ui.isInviting) withLater((more) => more.invite());
  for (const match of own) if (match !== ahead) resume(match);
  for (const id of matches.keys()) if (!own.includes(id) && id !== seen?.match) matches.delete(id);
  if (seen && !own.includes(seen.match)) see(seen.match);
  look();
}

/** Show a match of ours that has just begun, unless another one is being played here. */
function seated(match: Match): void {
  if (!later() && keptOfWindow(KEPT_MATCH)) {
    // It may be the match of this device, which the later code restores.
    withLater(() => state.matches.has(match.match) && seated(state.matches.get(match.match)!));
    return;
  }
  const seen = shown();
  const isInvited = place().kind === "j";
  if (match.you === undefined || match.outcome || match === seen || later()?.tookOver(match)) return;
  if (!state.invitation) forgetInvitation();
  if (state.unfinished.includes(match.match) && !isInvited) return;
  if (seen && seen.you !== undefined && !seen.outcome) return;
  if (isInvited) replace("/"); // a code is valid only once
  ui.opening.isRunning = false;
  go(`/m/${match.match}`);
  announce(`${f(w.matchAgainst, match.game.title, label(match.players[1 - match.you]!))} ${status(match)}`);
}

/** What the clocks showed at the last tick. */
let faces = "";

/** Whether a clock shows something else than at the last tick. */
function hasTicked(): boolean {
  const match = shown();
  if (!match || match.outcome || document.hidden) return false;
  const now = clockNow();
  const before = faces;
  faces = `${[0, 1].map((side) => clockFace(leftMs(match, side, now) ?? 0))} ${match.away && Math.floor((now - match.awayAt) / 1000)}`;
  return faces !== before;
}

function draw(): void {
  const root = document.getElementById("page")!;
  const focused = document.activeElement;
  const match = shown();
  patch(root, h("div", screenNow(), ui.areSettingsOpen && later()?.settingsSheet(), ui.rules && later()?.rulesSheet(), match && ui.isChoosing && later()?.anotherSheet(match), tray()).children);
  root.querySelector("main")?.toggleAttribute("inert", !!root.querySelector(".sheet"));
  shieldShifted();
  if (!focused?.isConnected && document.activeElement === document.body) {
    // The focused element is gone: focus the board, or else the screen.
    const next = root.querySelector<HTMLElement>(".cell[tabindex='0']") ?? root.querySelector("main");
    next?.focus({ preventScroll: true });
  }
  if (document.hidden) showTurns(titleNow());
  else afterPaint(() => showTurns(titleNow()));
}

/** Whether a match of the first screen begins, or is played there without the server. */
const isOpening = (): boolean => ui.isBeginning || (ui.opening.isRunning && place().kind === "lobby");

/** Whether the server is about to know us: as the player of this browser, or as somebody who only watches. */
const isArriving = (): boolean => link.isKnown() || (place().kind === "m" && !state.parted);

function screenNow(): Tree {
  const { kind } = place();
  const match = shown();
  if (kind === "nowhere") return messageScreen();
  if (kind === "here") return later()?.localScreen() ?? messageScreen();
  if (kind === "puzzle" || kind === "guess") return later()?.puzzleScreen() ?? messageScreen();
  if (isOpening()) return nameScreen();
  if (kind === "wall" && !state.parted) return later()?.cups()?.wallScreen() ?? messageScreen();
  if (state.parted || !state.you) return isArriving() ? messageScreen() : nameScreen();
  if (match) return later()?.matchScreen(match) ?? messageScreen();
  if (kind === "m" || kind === "j") return messageScreen();
  if (kind === "leaders") return later()?.leadersScreen() ?? messageScreen();
  if (kind === "t") return later()?.cups()?.tournamentScreen() ?? messageScreen();
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
  know({ server: document.title });
  fitChoice();
  await chooseLanguage();
  drawWith(draw, nextFrame);
  addEventListener("popstate", arrive);
  addEventListener("resize", redraw);
  document.addEventListener("visibilitychange", () => {
    redraw();
    drawDue();
  });
  document.addEventListener("keydown", (event) => shown() && later()?.stepped(event));
  noteTaps();
  setInterval(() => hasTicked() && redraw(), TICK_MS);
  const isWall = place().kind === "wall";
  if (isWall) keepApart(); // the wall only watches: another window of this browser may be playing
  link.keepUp({ heard, changed: linkChanged, greeted: lookAhead, isUrgent: () => ownLive().length > 0 });
  addEventListener("online", () => link.hurry());
  addEventListener("offline", () => link.wentOffline());
  addEventListener("pageshow", () => link.hurry());
  document.addEventListener("visibilitychange", () => document.hidden || link.hurry());
  const isWatching = isWall || place().kind === "m"; // without a name
  if (isWatching && !link.isKnown()) link.start();
  draw();
  if (link.isKnown() || isWatching) later();
  else {
    askOffer();
    (keptOfWindow(KEPT_MATCH) ? later : fetchInTime)();
    // The server closes idle connections: reconnect at the next action.
    setTimeout(() => link.prepare(), PREPARE_MS);
    for (const sign of ["pointermove", "pointerdown", "focusin"]) addEventListener(sign, () => link.prepare());
  }
}

begin();
