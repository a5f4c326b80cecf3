/**
 * The link to the server, kept up: it says hello, notices a dead link, comes back by itself, and measures the way.
 *
 * @typedef {{type: string} & Record<string, any>} Message
 * @typedef {"connecting" | "online" | "lost" | "stopped"} Link
 */

const PROTOCOL = 1;
const DELAYS_MS = [50, 150, 300, 600, 1000, 1500, 3000, 5000];
const OPEN_MS = 5000;
const PING_EVERY_MS = 5000;
const PING_TIMEOUT_MS = 4000;
const GIVE_UP = new Set([1002, 1003, 1007, 1008, 1009]);
const REPLACED = 4001;
const FORGOTTEN = 4004;
const TOKEN = "ttt_net.token";

/** What the request would have been told if there had been a link to tell it over. */
const LOST = { type: "refused", code: "lost", message: "the link was lost before the answer came" };

export class Connection {
  /**
   * @param {(message: Message) => void} heard  called with all that answers no request
   * @param {(link: Link, trouble: string) => void} changed
   */
  constructor(heard, changed) {
    this.heard = heard;
    this.changed = changed;
    /** @type {Link} */
    this.link = "connecting";
    this.attempt = 0;
    /** @type {number | null} */
    this.latencyMs = null;
    this.isUrgent = () => false;
    /** @type {WebSocket | null} */
    this.socket = null;
    this.lastId = 0;
    /** @type {Map<number, (answer: Message) => void>} */
    this.waiting = new Map();
    /** @type {{name?: string} | null} */
    this.who = null;
    this.timer = 0;
    this.pingTimer = 0;
    setInterval(() => this.ping(), PING_EVERY_MS);
    addEventListener("online", () => this.hurry());
    addEventListener("pageshow", () => this.hurry());
    document.addEventListener("visibilitychange", () => document.hidden || this.hurry());
  }

  /** Whether this browser is known to the server. */
  get isKnown() {
    return localStorage.getItem(TOKEN) !== null;
  }

  /**
   * Connect: as the one whose token is kept here, or else under a name, or as a guest.
   *
   * @param {{name?: string}} [who]
   */
  start(who = {}) {
    this.who = who;
    this.attempt = 0;
    this.open();
  }

  /** Forget who this browser was. */
  forget() {
    localStorage.removeItem(TOKEN);
  }

  /**
   * Send a request; the promise gives its one answer, `ok` or `refused`.
   *
   * @param {string} type
   * @param {Record<string, any>} [fields]
   * @returns {Promise<Message>}
   */
  say(type, fields = {}) {
    const socket = this.socket;
    if (!socket || socket.readyState !== WebSocket.OPEN) return Promise.resolve(LOST);
    const id = ++this.lastId;
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      socket.send(JSON.stringify({ type, id, ...fields }));
    });
  }

  open() {
    this.drop();
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/`);
    this.socket = socket;
    this.timer = setTimeout(() => this.lose("no answer"), OPEN_MS);
    socket.onopen = () => this.hello();
    socket.onmessage = (event) => this.receive(event.data);
    socket.onclose = (event) => this.closed(event.code, event.reason);
  }

  async hello() {
    const token = localStorage.getItem(TOKEN);
    const who = token ? { token } : this.who?.name ? { name: this.who.name } : {};
    const answer = await this.say("hello", { protocols: [PROTOCOL], client: "page", ...who });
    if (answer.type === "ok" || answer.code === "lost") return;
    if (answer.code === "restarting" || answer.code === "storage") return this.lose(answer.message);
    if (answer.code === "unknown_token") this.forget();
    this.stop();
    this.heard({ type: "rejected", code: answer.code, message: answer.message });
  }

  /** @param {string} text */
  receive(text) {
    /** @type {Message} */
    const message = JSON.parse(text);
    if (message.type === "ok" || message.type === "refused") {
      this.waiting.get(message.id)?.(message);
      this.waiting.delete(message.id);
      return;
    }
    if (message.type === "welcome") {
      clearTimeout(this.timer);
      if (message.token) localStorage.setItem(TOKEN, message.token);
      this.attempt = 0;
      this.tell("online", "");
      this.ping();
    }
    this.heard(message);
  }

  /**
   * @param {number} code
   * @param {string} reason
   */
  closed(code, reason) {
    if (code === REPLACED || code === FORGOTTEN || GIVE_UP.has(code)) {
      if (code === FORGOTTEN) this.forget();
      this.stop();
      this.heard({ type: "parted", code, message: reason });
    } else this.lose(code === 1012 ? "the server restarts" : "the link was cut");
  }

  /**
   * Take the link for lost, and come back in a moment.
   *
   * @param {string} trouble
   */
  lose(trouble) {
    this.drop();
    const longest = this.isUrgent() ? 1500 : 5000;
    const delay = Math.min(DELAYS_MS[Math.min(this.attempt, DELAYS_MS.length - 1)], longest);
    this.attempt += 1;
    this.tell("lost", trouble);
    this.timer = setTimeout(() => this.open(), delay * (1 - Math.random() / 2));
  }

  /** Stay away until `start` is called. */
  stop() {
    this.drop();
    this.tell("stopped", "");
  }

  drop() {
    clearTimeout(this.timer);
    clearTimeout(this.pingTimer);
    const socket = this.socket;
    this.socket = null;
    if (socket) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
    for (const resolve of this.waiting.values()) resolve(LOST);
    this.waiting.clear();
  }

  /** Look at once whether the link is there: the machine slept, changed its network, or shows the page again. */
  hurry() {
    if (this.link === "lost") this.open();
    else if (this.link === "online") this.ping();
  }

  async ping() {
    if (this.link !== "online" || document.hidden) return;
    clearTimeout(this.pingTimer);
    this.pingTimer = setTimeout(() => this.lose("no answer"), PING_TIMEOUT_MS);
    const began = performance.now();
    const timer = this.pingTimer;
    const answer = await this.say("ping");
    clearTimeout(timer);
    if (answer.type !== "ok") return;
    const way = performance.now() - began;
    this.latencyMs = this.latencyMs === null ? way : 0.6 * this.latencyMs + 0.4 * way;
    this.changed(this.link, "");
  }

  /**
   * @param {Link} link
   * @param {string} trouble
   */
  tell(link, trouble) {
    this.link = link;
    this.changed(link, trouble);
  }
}
