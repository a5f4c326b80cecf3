/** The link to the server, kept up: it says hello, notices a dead link, comes back by itself, and measures the way. */

import { keep, kept } from "./kept.js";
import type { Ok, Refused, Request, ServerMessage } from "./protocol.js";
import type { Heard } from "./state.js";
import { w } from "./i18n.js";

/** What answers a request. */
export type Answer = Ok | Refused;
/** Who is told all that answers no request, and that the link has changed and why; and whether it is needed soon. */
type Listener = { heard: (message: Heard) => void; changed: (trouble: string) => void; isUrgent: () => boolean };

/** How long to wait before coming back: twice as long each time. */
const SOON_MS = 50;
const LATE_MS = 5000;
/** So long when it matters. */
const URGENT_MS = 1500;
/** A request that is not answered for so long has the link looked at, which is looked at so often besides. */
const ANSWER_MS = 1500;
const PING_EVERY_MS = 5000;
/** How long the server is waited for. */
const WAIT_MS = 3000;
/** The same while it matters and there is another node to go to, over a way that takes no more than a third of it; and how often. */
const NODE_WAIT_MS = 700;
const NODE_PING_MS = 800;
/** Close codes after which the same again would end the same way. */
const CLOSED = 4006;
const GIVE_UP = [1002, 1003, 1007, 1008, 1009, 4001, 4005];
const FORGOTTEN = 4004;
/** A welcome takes a connection, its encryption, its upgrade and our hello. */
const OPENING_TRIPS = 5;
const TOKEN = "ttt_net.token";
/** How a request is answered when there is no link to answer over. */
const lost = (): Refused => ({ type: "refused", id: null, code: "lost", message: w.noConnection });

export let link: "connecting" | "online" | "lost" | "stopped" = "connecting";
/** How long the way to the server and back is. */
export let latencyMs: number | null = null;
let on: Listener;
let socket: WebSocket | null = null;
/** What a player wants to be called whom the server has not welcomed yet; null for one whom it knows. */
let wanted: string | null = null;
/** Where the server can be reached: first where we are, or go to next. */
let nodes = [location.origin.replace("http", "ws")];
/** The site of the node where we are: the one that the page came from may be gone. */
export const site = (): string => new URL(nodes[0]!).origin.replace("ws", "http");
let attempt = 0;
let lastId = 0;
const waiting = new Map<number, (answer: Answer) => void>();
let timer = 0;
let pingTimer = 0;

/** Keep a link from now on, if this browser is known to the server. */
export function keepUp(listener: Listener): void {
  on = listener;
  setInterval(() => canLeave() && ping(), NODE_PING_MS);
  setInterval(ping, PING_EVERY_MS);
  addEventListener("online", hurry);
  addEventListener("offline", () => link === "online" && lose(w.offlineHere));
  addEventListener("pageshow", hurry);
  document.addEventListener("visibilitychange", () => document.hidden || hurry());
  if (isKnown()) start();
}

/** Whether this browser is known to the server. */
export const isKnown = (): boolean => wanted === null && kept(TOKEN) !== null;

/**
 * Connect: as the one whose token is kept here, or else under a name, or without one as a guest.
 *
 * A new player's token is chosen here and kept before it is said: if the answer is lost, the same can be said again.
 */
export function start(name = ""): void {
  if (!isKnown()) {
    wanted = name;
    keep(TOKEN, name ? crypto.getRandomValues(new Uint32Array(6)).join("-") : null);
  }
  attempt = 0;
  open();
}

/** Be nobody whom the server knows, until a name is given. */
export function forgetWho(): void {
  wanted = null;
  become("connecting");
}

/** Send a request, without the fields that are undefined; the promise gives its one answer. */
export function say(request: Request): Promise<Answer> {
  if (socket?.readyState !== WebSocket.OPEN) return Promise.resolve(lost());
  const id = ++lastId;
  return new Promise((resolve) => {
    waiting.set(id, resolve);
    socket?.send(JSON.stringify({ id, ...request }));
    if (request.type !== "ping" && request.type !== "hello") setTimeout(() => waiting.has(id) && ping(), ANSWER_MS);
  });
}

function open(): void {
  drop();
  socket = new WebSocket(nodes[0]!);
  timer = setTimeout(lose, patience(OPENING_TRIPS));
  socket.onopen = hello;
  socket.onmessage = (event) => receive(JSON.parse(event.data));
  socket.onclose = ({ code, reason }) => {
    if (code === FORGOTTEN || GIVE_UP.includes(code)) stop(code, reason);
    else lose(code === CLOSED ? w.serverClosed : code === 1012 ? w.serverRestarts : w.linkCut);
  };
}

async function hello(): Promise<void> {
  const who = { token: kept(TOKEN) ?? undefined, name: wanted || undefined };
  const answer = await say({ type: "hello", protocols: [1], client: "page", ...who });
  if (answer.type === "ok" || answer.code === "lost") return;
  if (answer.code === "restarting" || answer.code === "storage") lose(answer.message);
  else stop(answer.code, answer.message);
}

function receive(message: ServerMessage): void {
  if (message.type === "ok" || message.type === "refused") {
    waiting.get(message.id ?? -1)?.(message);
    waiting.delete(message.id ?? -1);
    return;
  }
  if (message.type === "welcome") {
    clearTimeout(timer);
    if (message.token) keep(TOKEN, message.token);
    wanted = null;
    attempt = 0;
    // `wss:` comes after `ws:`: never from encrypted to clear
    nodes = [...new Set([nodes[0]!, ...(message.nodes ?? []).filter((node) => node > nodes[0]!.slice(0, 3))])];
    become("online");
    ping();
  }
  on.heard(message);
}

function lose(trouble: string = w.noAnswer): void {
  drop();
  nodes.push(nodes.shift()!);
  const delay = Math.min(SOON_MS * 2 ** attempt++, on.isUrgent() ? URGENT_MS : LATE_MS);
  become("lost", trouble);
  timer = setTimeout(open, delay * (1 - Math.random() / 2));
}

/** Stay away until `start` is called; a token that is good for nothing is given up. */
function stop(code: string | number, message: string): void {
  drop();
  if (wanted !== null || code === FORGOTTEN || code === "unknown_token") keep(TOKEN, null);
  wanted = null;
  become("stopped");
  on.heard({ type: "parted", code, message });
}

function drop(): void {
  clearTimeout(timer);
  clearTimeout(pingTimer);
  pingTimer = 0;
  if (socket) {
    socket.onmessage = socket.onclose = null; // one that is closed before it opens never opens
    socket.close();
  }
  socket = null;
  for (const resolve of waiting.values()) resolve(lost());
  waiting.clear();
}

/** Whether a silent node is left soon: a match of ours goes on, and there is another node. */
const canLeave = (): boolean => nodes.length > 1 && on.isUrgent();

/** How long an answer is waited for that takes so many trips to the server and back. */
function patience(trips = 1): number {
  const isSoon = canLeave() && latencyMs !== null;
  return isSoon ? Math.min(WAIT_MS, Math.max(NODE_WAIT_MS, 3 * latencyMs! * trips)) : WAIT_MS;
}

/** Look at once whether the link is there: the machine slept, changed its network, or shows the page again. */
function hurry(): void {
  if (link === "lost") open();
  else ping();
}

async function ping(): Promise<void> {
  if (link !== "online" || document.hidden || pingTimer) return;
  pingTimer = setTimeout(lose, patience());
  const began = performance.now();
  const answer = await say({ type: "ping" });
  if (answer.type === "refused" && answer.code === "lost") return; // with the link, the timer was dropped
  clearTimeout(pingTimer);
  pingTimer = 0;
  const way = performance.now() - began;
  latencyMs = latencyMs === null ? way : 0.6 * latencyMs + 0.4 * way;
  on.changed("");
}

function become(now: typeof link, trouble = ""): void {
  link = now;
  on.changed(trouble);
}
