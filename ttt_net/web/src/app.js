/**
 * What the page knows and what the player has chosen, and what he can have said. Draws nothing.
 *
 * @typedef {import("./state.js").Match} Match
 */

import { wishOf } from "./games.js";
import { kept, link, say } from "./link.js";
import { state } from "./state.js";
import { sentence } from "./words.js";

const CHOSEN = "ttt_net.choice";
const NOTICE_MS = 6000;
const REPLAY_PAGE = 32;
/** What belongs to the screen that is shown, and is forgotten with it. */
export const FRESH = { ply: null, hover: -1, aim: -1, focus: -1, isResigning: false };

export const ui = {
  ...FRESH,
  /** What to play, where what is not chosen is off; the numbers are for a size of one's own. */
  choice: {
    pace: "No clock",
    game: "tictactoe",
    width: 5,
    height: 5,
    row: 4,
    ...JSON.parse(kept[CHOSEN] ?? "{}"),
  },
  leaders: { game: "connect4", speed: "untimed", bots: true, page: 1 },
  notice: "",
  /** Why there is no link. */
  trouble: "",
  lostAt: 0,
  /** What the host has said about a restart. */
  closing: "",
};
/** What there is to draw the page anew: set by who does. */
export const page = { draw: () => {} };
let noticeTimer = 0;
/** @type {Promise<any>} */
let asked = Promise.resolve();

/** Change something of the page, and draw it. */
export function set(/** @type {Partial<typeof ui>} */ change) {
  Object.assign(ui, change);
  page.draw();
}

/** Change something of what we know, and draw it. */
export function know(change) {
  Object.assign(state, change);
  page.draw();
}

export function choose(change) {
  const { width, height, row } = Object.assign(ui.choice, change);
  ui.choice.row = Math.min(row, Math.max(width, height));
  kept[CHOSEN] = JSON.stringify(ui.choice);
  page.draw();
}

export function notify(notice) {
  clearTimeout(noticeTimer);
  if (notice) noticeTimer = setTimeout(notify, NOTICE_MS, "");
  set({ notice });
}

/** Have something read out. */
export function announce(text) {
  const place = document.getElementById("said");
  if (place) place.textContent = text;
}

/** The time that clocks show: it stands still while the link is lost. */
export const clockNow = () => (link === "online" ? performance.now() : ui.lostAt);

/** Send a request; what is refused is shown. @param {string} type */
export async function request(type, fields = {}) {
  const answer = await say(type, fields);
  if (answer.type === "refused") notify(sentence(answer.message));
  return answer.type === "ok";
}

/** Say something about a match. @param {Match} match @param {string} type */
export const tell = ({ match }, type, fields = {}) => request(type, { match, ...fields });

/** Ask about the past: the server answers one such question at a time. */
export function ask(type, fields) {
  asked = asked.then(() => request(type, fields));
}

/** @param {Match} match @param {number} move */
export function play(match, move) {
  match.pending = { ply: match.position.ply, move };
  sendMove(match);
  set({ aim: -1 });
}

/** Say the move that is on its way: made twice, it counts once. */
export async function sendMove({ match, pending }) {
  const { type, code, message } = await say("play", { match, ...pending });
  if (type === "ok" || code === "lost") return;
  const now = state.matches.get(match);
  if (now) now.pending = null;
  notify(sentence(message));
}

/** Look for a person: bots are challenged by who wants one. */
export async function seek({ game, ...rest } = wishOf(ui.choice)) {
  const seeking = { games: [game], opponents: "people", ...rest };
  know({ seeking });
  if (!(await request("seek", seeking))) know({ seeking: null });
}

export function unseek() {
  know({ seeking: null });
  say("unseek");
}

/** Be paired with a standing seek; one for any game is met with a seek for the chosen one. */
export function accept({ seek: id, games, time = null }) {
  if (games.length) request("accept", { seek: id });
  else seek({ game: wishOf(ui.choice).game, time });
}

export function challenge(name, wish = wishOf(ui.choice)) {
  request("challenge", { name, ...wish });
}

/** Invitations are never for ratings. */
export function invite() {
  const { game, time } = wishOf(ui.choice);
  request("invite", { game, time });
}

export async function rename(name) {
  if (await request("rename", { name })) notify(`You are called ${name} now.`);
}

/** @param {Match} match */
export async function analyse(match) {
  match.analysis = { moves: null };
  page.draw();
  if (!(await tell(match, "analyse"))) match.analysis = null;
  page.draw();
}

/** @param {Match} match */
export async function mute(match, name) {
  if (!(await request("mute", { name, on: true }))) return;
  match.chat = match.chat.filter((line) => line.by.name !== name);
  notify(`You hear no more from ${name}.`);
}

/** Show a finished match as it was after so many moves. @param {Match} match */
export function review({ match, moves, past }, ply) {
  const first = ply - (ply % REPLAY_PAGE);
  if (!(first in past)) {
    past[first] = undefined; // one question for each page
    ask("replay", { match, ply: first });
  }
  set({ ply: ply === moves.length ? null : ply });
}

export function rank(change) {
  set({ leaders: { ...ui.leaders, page: 1, ...change } });
  ask("leaderboard", ui.leaders);
}

/** Hand an address to the share sheet or, without one, to the clipboard, which pages over plain HTTP lack. @param {string} url */
export async function send(url) {
  const { clipboard } = navigator;
  try {
    if ("share" in navigator) await navigator.share({ url });
    else {
      await clipboard.writeText(url);
      notify("The link is copied.");
    }
  } catch (error) {
    if (error.name !== "AbortError") notify(`The link: ${url}`);
  }
}
