/**
 * The link to the server, kept up: it says hello, notices a dead link, comes back by itself, and measures the way.
 *
 * @typedef {"connecting" | "online" | "lost" | "stopped"} Link
 */

const DELAYS_MS = [50, 150, 300, 600, 1000, 1500, 3000, 5000];
const OPEN_MS = 5000;
const PING_EVERY_MS = 5000;
const PING_TIMEOUT_MS = 4000;
/** Close codes after which the same again would end the same way. */
const GIVE_UP = [1002, 1003, 1007, 1008, 1009, 4001, 4005];
const FORGOTTEN = 4004;
const TOKEN = "ttt_net.token";
/** How a request is answered when there is no link to answer over. */
const LOST = { type: "refused", code: "lost", message: "there is no connection at the moment; try again" };

export class Connection {
  /** @type {Link} */
  link = "connecting";
  /** @type {number | null} */
  latencyMs = null;
  isUrgent = () => false;
  /** @type {WebSocket | null} */
  #socket = null;
  #attempt = 0;
  #lastId = 0;
  #waiting = new Map();
  #name = "";
  #timer = 0;
  #pingTimer = 0;

  /**
   * @param {(message: any) => void} heard  called with all that answers no request
   * @param {(trouble: string) => void} changed
   */
  constructor(heard, changed) {
    this.heard = heard;
    this.changed = changed;
    setInterval(() => this.#ping(), PING_EVERY_MS);
    addEventListener("online", () => this.#hurry());
    addEventListener("pageshow", () => this.#hurry());
    document.addEventListener("visibilitychange", () => document.hidden || this.#hurry());
  }

  /** Whether this browser is known to the server. */
  get isKnown() {
    return localStorage.getItem(TOKEN) !== null;
  }

  /**
   * Connect: as the one whose token is kept here, or else under a name, or without one as a guest.
   *
   * A new player's token is chosen here and kept before it is said: if the answer is lost, the same can be said again.
   */
  start(name = "") {
    this.#name = this.isKnown ? "" : name;
    if (this.#name) localStorage.setItem(TOKEN, crypto.getRandomValues(new Uint32Array(6)).join("-"));
    this.#attempt = 0;
    this.#open();
  }

  /**
   * Send a request; the promise gives its one answer, `ok` or `refused`.
   *
   * @param {string} type
   * @returns {Promise<any>}
   */
  say(type, fields = {}) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return Promise.resolve(LOST);
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#socket?.send(JSON.stringify({ type, id, ...fields }));
    });
  }

  #open() {
    this.#drop();
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/`);
    this.#socket = socket;
    this.#timer = setTimeout(() => this.#lose("no answer"), OPEN_MS);
    socket.onopen = () => this.#hello();
    socket.onmessage = (event) => this.#receive(JSON.parse(event.data));
    socket.onclose = (event) => this.#closed(event.code, event.reason);
  }

  async #hello() {
    const token = localStorage.getItem(TOKEN);
    const name = this.#name;
    const answer = await this.say("hello", { protocols: [1], client: "page", ...(token && { token }), ...(name && { name }) });
    if (answer.type === "ok" || answer.code === "lost") return;
    if (answer.code === "restarting" || answer.code === "storage") return this.#lose(answer.message);
    if (answer.code === "unknown_token" || name) localStorage.removeItem(TOKEN);
    this.#stop(answer.code, answer.message);
  }

  #receive(message) {
    if (message.type === "ok" || message.type === "refused") {
      this.#waiting.get(message.id)?.(message);
      this.#waiting.delete(message.id);
      return;
    }
    if (message.type === "welcome") {
      clearTimeout(this.#timer);
      if (message.token) localStorage.setItem(TOKEN, message.token);
      this.#name = "";
      this.#attempt = 0;
      this.#tell("online");
      this.#ping();
    }
    this.heard(message);
  }

  #closed(code, reason) {
    if (code === FORGOTTEN) localStorage.removeItem(TOKEN);
    if (code === FORGOTTEN || GIVE_UP.includes(code)) this.#stop(code, reason);
    else this.#lose(code === 1012 ? "the server restarts" : "the link was cut");
  }

  #lose(trouble) {
    this.#drop();
    const delay = Math.min(DELAYS_MS[Math.min(this.#attempt++, DELAYS_MS.length - 1)], this.isUrgent() ? 1500 : 5000);
    this.#tell("lost", trouble);
    this.#timer = setTimeout(() => this.#open(), delay * (1 - Math.random() / 2));
  }

  /** Stay away until `start` is called. */
  #stop(code, message) {
    this.#drop();
    this.#tell("stopped");
    this.heard({ type: "parted", code, message });
  }

  #drop() {
    clearTimeout(this.#timer);
    clearTimeout(this.#pingTimer);
    const socket = this.#socket;
    this.#socket = null;
    if (socket) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
    for (const resolve of this.#waiting.values()) resolve(LOST);
    this.#waiting.clear();
  }

  /** Look at once whether the link is there: the machine slept, changed its network, or shows the page again. */
  #hurry() {
    if (this.link === "lost") this.#open();
    else this.#ping();
  }

  async #ping() {
    if (this.link !== "online" || document.hidden) return;
    clearTimeout(this.#pingTimer);
    const timer = (this.#pingTimer = setTimeout(() => this.#lose("no answer"), PING_TIMEOUT_MS));
    const began = performance.now();
    const answer = await this.say("ping");
    clearTimeout(timer);
    if (answer.type !== "ok") return;
    const way = performance.now() - began;
    this.latencyMs = this.latencyMs === null ? way : 0.6 * this.latencyMs + 0.4 * way;
    this.changed("");
  }

  /** @param {Link} link */
  #tell(link, trouble = "") {
    this.link = link;
    this.changed(trouble);
  }
}
