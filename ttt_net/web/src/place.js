/** Where in the page we are, by its address, and what the server is asked for there. */

import { ask, FRESH, know, notify, set, ui } from "./app.js";
import { link, say } from "./link.js";
import { state } from "./state.js";
import { sentence } from "./words.js";

/** `j` is an invitation by its code, `m` a match by its id, as in the address; `player` without an id is ourselves. */
export function place() {
  const [, kind, id] = /^\/([jm])\/(.+)/.exec(location.pathname) ?? [];
  if (kind) return { kind, id };
  const hash = new URLSearchParams(location.hash.slice(1));
  const view = ["leaders", "player"].find((each) => hash.has(each)) ?? "lobby";
  return { kind: view, id: hash.get(view) ?? "" };
}

/** The match on the screen. */
export function shown() {
  const { kind, id } = place();
  return kind === "m" ? state.matches.get(id) : undefined;
}

/** @param {string} address */
export function go(address) {
  history.pushState(null, "", address);
  arrive();
}

export function arrive() {
  scrollTo(0, 0);
  if (link === "online") look();
  set(FRESH);
}

/** Ask for what the place needs, and hear no more from what it does not. */
export function look() {
  const { kind, id } = place();
  const match = shown();
  for (const each of state.matches.values()) if (each.you === undefined && each !== match) unsee(each);
  if (kind === "m" && !match) see(id);
  if (kind === "j") say("join", { code: id }).then(turnBack);
  if (kind === "leaders") ask("leaderboard", ui.leaders);
  if (kind === "player") {
    know({ profile: null, history: null });
    ask("profile", { name: id || null });
    lookBack();
  }
  say("lobby", { on: kind === "lobby" });
}

/** Ask for finished matches from before one that we know. */
export function lookBack(before = null) {
  ask("history", { name: place().id || null, before });
}

/** Watch a match or, if it is ours, take our seat in it; a private one opens to its code. */
export async function see(match) {
  const answer = await say("watch", { match, code: location.hash.slice(1) || undefined });
  turnBack(answer.code === "not_watching" ? await say("resume", { match, seq: 0 }) : answer);
}

function unsee({ match }) {
  say("unwatch", { match });
  state.matches.delete(match);
}

function turnBack({ type, code, message }) {
  if (type === "ok" || code === "lost") return;
  history.replaceState(null, "", "/");
  arrive();
  notify(sentence(message));
}
