/**
 * The link to the server, kept up: it says hello, notices a dead link, comes back by itself, and measures the way.
 *
 * @typedef {"connecting" | "online" | "lost" | "stopped"} Link
 */

/** How long to wait before coming back: twice as long each time. */
const SOON_MS = 50;
const LATE_MS = 5000;
const URGENT_MS = 1500;
const OPEN_MS = 5000;
const PING_EVERY_MS = 5000;
const PING_TIMEOUT_MS = 4000;
/** Close codes after which the same again would end the same way. */
const GIVE_UP = [1002, 1003, 1007, 1008, 1009, 4001, 4005];
const FORGOTTEN = 4004;
const TOKEN = "ttt_net.token";
/** What this browser remembers from one visit to the next, or where it may not, for this visit. @type {Record<string, string>} */
export let kept = {};
try {
  kept = localStorage;
} catch {
  // it is told to keep nothing for this page
}
/** How a request is answered when there is no link to answer over. */
const LOST = { type: "refused", code: "lost", message: "there is no connection; try again" };

/** @type {Link} */
export let link = "connecting";
/** How long the way to the server and back is. @type {number | null} */
export let latencyMs = null;
/**
 * Who is told all that answers no request, and that the link has changed and why; and whether it is needed soon.
 *
 * @type {{heard: (message: any) => void, changed: (trouble: string) => void, isUrgent: () => boolean}}
 */
let on;
/** @type {WebSocket | null} */
let socket = null;
/** What a player wants to be called whom the server has not welcomed yet. */
let wanted = "";
let attempt = 0;
let lastId = 0;
const waiting = new Map();
let timer = 0;
let pingTimer = 0;

/** Keep a link from now on, if this browser is known to the server. @param {typeof on} told */
export function keep(told) {
  on = told;
  setInterval(ping, PING_EVERY_MS);
  addEventListener("online", hurry);
  addEventListener("pageshow", hurry);
  document.addEventListener("visibilitychange", () => document.hidden || hurry());
  if (isKnown()) start();
}

/** Whether this browser is known to the server. */
export const isKnown = () => !wanted && TOKEN in kept;

/**
 * Connect: as the one whose token is kept here, or else under a name, or without one as a guest.
 *
 * A new player's token is chosen here and kept before it is said: if the answer is lost, the same can be said again.
 */
export function start(name = "") {
  if (!isKnown()) {
    wanted = name;
    delete kept[TOKEN];
    if (name) kept[TOKEN] = crypto.getRandomValues(new Uint32Array(6)).join("-");
  }
  attempt = 0;
  open();
}

/**
 * Send a request, without the fields that are undefined; the promise gives its one answer, `ok` or `refused`.
 *
 * @param {string} type
 * @returns {Promise<any>}
 */
export function say(type, fields = {}) {
  if (socket?.readyState !== WebSocket.OPEN) return Promise.resolve(LOST);
  const id = ++lastId;
  return new Promise((resolve) => {
    waiting.set(id, resolve);
    socket?.send(JSON.stringify({ type, id, ...fields }));
  });
}

function open() {
  drop();
  socket = new WebSocket(location.origin.replace("http", "ws"));
  timer = setTimeout(lose, OPEN_MS);
  socket.onopen = hello;
  socket.onmessage = (event) => receive(JSON.parse(event.data));
  socket.onclose = ({ code, reason }) => {
    if (code === FORGOTTEN || GIVE_UP.includes(code)) stop(code, reason);
    else lose(code === 1012 ? "the server restarts" : "the link was cut");
  };
}

async function hello() {
  const who = { token: kept[TOKEN], name: wanted || undefined };
  const { type, code, message } = await say("hello", { protocols: [1], client: "page", ...who });
  if (type === "ok" || code === "lost") return;
  if (code === "restarting" || code === "storage") lose(message);
  else stop(code, message);
}

function receive(message) {
  const { type, id, token } = message;
  if (type === "ok" || type === "refused") {
    waiting.get(id)?.(message);
    waiting.delete(id);
    return;
  }
  if (type === "welcome") {
    clearTimeout(timer);
    if (token) kept[TOKEN] = token;
    wanted = "";
    attempt = 0;
    become("online");
    ping();
  }
  on.heard(message);
}

function lose(trouble = "no answer") {
  drop();
  const delay = Math.min(SOON_MS * 2 ** attempt++, on.isUrgent() ? URGENT_MS : LATE_MS);
  become("lost", trouble);
  timer = setTimeout(open, delay * (1 - Math.random() / 2));
}

/** Stay away until `start` is called; a token that is good for nothing is given up. */
function stop(code, message) {
  drop();
  if (wanted || code === FORGOTTEN || code === "unknown_token") delete kept[TOKEN];
  wanted = "";
  become("stopped");
  on.heard({ type: "parted", code, message });
}

function drop() {
  clearTimeout(timer);
  clearTimeout(pingTimer);
  if (socket) {
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }
  socket = null;
  for (const resolve of waiting.values()) resolve(LOST);
  waiting.clear();
}

/** Look at once whether the link is there: the machine slept, changed its network, or shows the page again. */
function hurry() {
  if (link === "lost") open();
  else ping();
}

async function ping() {
  if (link !== "online" || document.hidden) return;
  clearTimeout(pingTimer);
  const mine = (pingTimer = setTimeout(lose, PING_TIMEOUT_MS));
  const began = performance.now();
  const { type } = await say("ping");
  clearTimeout(mine);
  if (type !== "ok") return;
  const way = performance.now() - began;
  latencyMs = latencyMs === null ? way : 0.6 * latencyMs + 0.4 * way;
  on.changed("");
}

/** @param {Link} now */
function become(now, trouble = "") {
  link = now;
  on.changed(trouble);
}
