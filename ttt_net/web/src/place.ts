/** The address of the page, and the requests of each place. */

import { ask, comeIn, link, notify, playApart, say } from "./actions.js";
import { isLost } from "./link.js";
import { sentence } from "./sentences.js";
import { FRESH, know, type Match, redraw, set, state, ui } from "./store.js";

const VIEWS = ["leaders", "player", "here", "puzzle", "guess", "t", "wall"] as const;
export type Kind = "j" | "m" | "lobby" | "nowhere" | (typeof VIEWS)[number];

/**
 * `j` is an invitation by its code, `m` a match by its id, as in the address; `player` without an id is ourselves; `t`
 * and `wall` are a tournament. The code follows a `#`, so that it is never sent or logged; in older links it is part of
 * the path.
 */
export function place(): { kind: Kind; id: string } {
  const [, code] = (location.pathname === "/j" && /^#([0-9A-Za-z]+)$/.exec(location.hash)) || [];
  const [, kind, id] = code ? ["", "j", code] : /^\/([jm])\/([0-9A-Za-z-]+)$/.exec(location.pathname) ?? [];
  if (kind && id) return { kind: kind as Kind, id };
  if (location.pathname !== "/") return { kind: "nowhere", id: "" };
  const hash = filters();
  const view = VIEWS.find((each) => hash.has(each));
  return { kind: view ?? "lobby", id: hash.get(view ?? "") ?? "" };
}

/** The rest of the address: filters, order and page of a list. */
export const filters = (): URLSearchParams => new URLSearchParams(location.hash.slice(1));

/** Store the filter of a list in the address, with or without an entry in the history. */
export function filter(changed: Record<string, string>, isStep = false): void {
  const now = filters();
  for (const [name, value] of Object.entries(changed)) {
    if (value) now.set(name, value);
    else now.delete(name);
  }
  const said = `${now}`.replace(/=(?=&|$)/g, "");
  const address = said ? `/#${said}` : "/";
  if (isStep) go(address);
  else replace(address);
  redraw();
}

/** The match on the screen. */
export function shown(): Match | undefined {
  const { kind, id } = place();
  return kind === "m" ? state.matches.get(id) : undefined;
}

export function go(address: string): void {
  history.pushState(null, "", address);
  arrive();
}

/** Correct the address without an entry in the history. */
export function replace(address: string): void {
  history.replaceState(null, "", address);
}

export function arrive(): void {
  if (!ui.isBeginning) scrollTo(0, 0); // otherwise the first screen stays
  set(FRESH);
  if (link.isUp()) look();
}

/** What was requested with the hello: a match by its id, or the lobby. */
export let ahead = "";

/** Request the match or the lobby of the address with the hello, which saves a round trip. */
export async function lookAhead(ask: typeof say): Promise<void> {
  const { kind, id } = place();
  if (shown() || !/^(m|lobby)$/.test(kind)) return;
  ahead = id || kind;
  const answer = await ask(!id ? { type: "lobby", on: true } : link.isKnown() ? { type: "resume", match: id, seq: 0 } : { type: "watch", match: id, code: codeOf() });
  ahead = "";
  if (answer.type === "refused") look();
}

/** Request what the place needs, and stop subscriptions that it does not need. */
export function look(): void {
  const { kind, id } = place();
  const match = shown();
  for (const each of state.matches.values()) if (each.you === undefined && each !== match) unsee(each);
  if (kind === "m" && !match && id !== ahead) see(id);
  if (kind === "j") join(id);
  if (kind === "leaders") askLeaders();
  if (kind === "puzzle") ask({ type: "puzzle", day: id || null });
  if (kind === "guess" && !state.matches.has(id)) ask({ type: "study", number: /^\d+$/.test(id) ? Number(id) : null });
  if (kind === "player") {
    know({ profile: null, history: null });
    ask({ type: "profile", name: id || null });
    if (!id && state.features.includes("blocks")) ask({ type: "blocks" });
    lookBack();
  }
  if (kind !== ahead) say({ type: "lobby", on: kind === "lobby" });
}

function askLeaders(): void {
  const hash = filters();
  const { leaders } = ui;
  const number = Number(hash.get("page"));
  if (hash.get("leaders")) leaders.game = hash.get("leaders")!;
  if (hash.get("speed")) leaders.speed = hash.get("speed") as typeof leaders.speed;
  leaders.bots = hash.get("bots") !== "no";
  leaders.page = number > 0 ? Math.floor(number) : 1;
  ask({ type: "leaderboard", ...leaders });
}

/** Request the finished matches that the address selects. */
function lookBack(): void {
  const said = filters();
  ask({ type: "history", name: place().id || null, game: said.get("game"), before: said.get("before") });
}

/** Take up an invitation, or enter a tournament: where only guests play, as a guest of this window. */
async function join(code: string): Promise<void> {
  const answer = await say({ type: "join", code });
  if (answer.type === "ok" || answer.code !== "guests_only") return turnBack(answer);
  playApart();
  comeIn();
}

const codeOf = (): string | undefined => location.hash.slice(1) || undefined;

/** Watch a match, or resume it if it is ours; a private one needs its code. */
export async function see(match: string): Promise<void> {
  const answer = await say({ type: "watch", match, code: codeOf() });
  const isOurs = answer.type === "refused" && answer.code === "not_watching";
  turnBack(isOurs ? await say({ type: "resume", match, seq: 0 }) : answer);
}

function unsee({ match }: Match): void {
  say({ type: "unwatch", match });
  state.matches.delete(match);
}

export function turnBack(answer: Awaited<ReturnType<typeof say>>): void {
  if (answer.type === "ok" || isLost(answer)) return;
  replace("/");
  arrive();
  notify(sentence(answer.message));
}
