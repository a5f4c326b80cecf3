/** The page: what it does with what it hears, and what it shows. */

import { announce, notify, page, sendMove, set, ui } from "./app.js";
import { button, h, patch } from "./dom.js";
import { isKnown, keep, link, say } from "./link.js";
import { challenges, lobbyScreen } from "./lobby.js";
import { matchScreen } from "./match.js";
import { leadersScreen, playerScreen } from "./people.js";
import { arrive, go, look, place, see, shown } from "./place.js";
import { hear, isMyTurn, ownLive, state } from "./state.js";
import { messageScreen, nameScreen } from "./welcome.js";
import { declined, label, sentence, status } from "./words.js";

const TICK_MS = 100;
let isDrawing = false;

function heard(message) {
  const { type, match: id } = message;
  const before = state.matches.get(id);
  const wasOver = before?.outcome;
  hear(message);
  const match = state.matches.get(id);
  if (type === "welcome") welcomed(message.matches);
  if (type === "snapshot" && !before) seated(match);
  if (type === "challengeover") notify(declined(message.reason));
  if (type === "notice") noticed(message);
  if (match && match === shown()) {
    if (["played", "tookback", "ended"].includes(type)) ui.aim = -1;
    if (type === "played") {
      const who = message.side === match.you ? "You" : match.players[message.side].name;
      announce(`${who} played ${match.game.move_names[message.move]}. ${status(match)}`);
    } else if (match.outcome && !wasOver && before) announce(status(match));
    if (type === "chat") announce(`${label(message.by)}: ${message.text}`);
  }
  draw();
}

/** Show a line from the host; while a restart is ahead it stays until the server is back, or stays after all. */
function noticed({ text, restart_in_ms }) {
  if (restart_in_ms === undefined) {
    ui.closing = "";
    return notify(text);
  }
  const at = new Date(Date.now() + restart_in_ms).toLocaleTimeString([], { timeStyle: "short" });
  set({ closing: `${sentence(text)} The server restarts at ${at}; until then no match begins.` });
}

/** Take our seats again, and see again what we saw. @param {string[]} own */
function welcomed(own) {
  const { matches } = state;
  const seen = shown();
  ui.closing = "";
  for (const match of own)
    say("resume", { match, seq: matches.get(match)?.seq ?? 0 }).then(() => {
      const now = matches.get(match);
      if (now?.pending) sendMove(now);
    });
  for (const id of matches.keys()) if (!own.includes(id) && id !== seen?.match) matches.delete(id);
  if (seen && !own.includes(seen.match)) see(seen.match);
  look();
}

/** Go to a match of ours that has just begun, unless another goes on here. */
function seated(match) {
  const seen = shown();
  const isInvited = place().kind === "j";
  if (match.you === undefined || match.outcome || match === seen) return;
  if (state.unfinished.includes(match.match) && !isInvited) return;
  if (seen && seen.you !== undefined && !seen.outcome) return;
  if (isInvited) history.replaceState(null, "", "/"); // a code is good once
  go(`/m/${match.match}`);
  announce(`${match.game.title} against ${label(match.players[1 - match.you])}. ${status(match)}`);
}

function changed(trouble) {
  if (trouble && !ui.trouble) ui.lostAt = performance.now();
  set({ trouble });
}

function isTicking() {
  const match = shown();
  return match && !match.outcome && !document.hidden && (match.clock || match.away);
}

function draw() {
  if (isDrawing) return;
  isDrawing = true;
  queueMicrotask(() => {
    isDrawing = false;
    const root = /** @type {Element} */ (document.getElementById("page"));
    const focused = document.activeElement;
    patch(root, h("div", banner(), state.you && challenges(), screen(), toast()).children);
    if (!focused?.isConnected && document.activeElement === document.body) {
      // What had the focus is gone: the board has it now, or else the screen.
      const next = /** @type {any} */ (root.querySelector(".cell[tabindex='0']") ?? root.querySelector("main"));
      next.focus();
    }
    document.title = `${ownLive().some(isMyTurn) ? "● Your turn – " : ""}${state.server}`;
  });
}

function screen() {
  const { kind } = place();
  const match = shown();
  if (link === "stopped" || !state.you) return isKnown() ? messageScreen() : nameScreen();
  if (match) return matchScreen(match);
  if (kind === "m" || kind === "j") return messageScreen();
  return kind === "leaders" ? leadersScreen() : kind === "player" ? playerScreen() : lobbyScreen();
}

function banner() {
  const words = ui.trouble && state.you ? `Reconnecting: ${ui.trouble}. ${ownLive().length ? "Your match is safe." : ""}` : ui.closing;
  return words && h("div.banner", { role: "status" }, words);
}

function toast() {
  const close = button("×", () => notify(""), "plain", "Close");
  return ui.notice && h("div.toast", { role: "status" }, h("span", ui.notice), close);
}

page.draw = draw;
addEventListener("popstate", arrive);
setInterval(() => isTicking() && draw(), TICK_MS);
keep({ heard, changed, isUrgent: () => ownLive().length > 0 });
draw();
