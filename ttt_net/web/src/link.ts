/**
 * The link to the server: a machine of six phases. It says hello, notices silence, reconnects, and measures the round trip.
 *
 * It knows no document: sockets, time, chance and storage are handed to it.
 */

import type { Ok, Refused, Request, ServerMessage } from "./protocol.js";

/**
 * `closed`: nobody wants a link, or the server said no for good. `opening`: TCP, TLS and the upgrade are under way. `greeting`: the socket
 * is open and the server has not welcomed us. `live`: welcomed. `silent`: welcomed, but the last ping is late. `retrying`: waiting to
 * open again.
 */
export type Phase = "closed" | "opening" | "greeting" | "live" | "silent" | "retrying";
/** Why there is no link: a name of a sentence, or the sentence that the server sent. */
export type Trouble = "noAnswer" | "offlineHere" | "serverRestarts" | "linkCut" | "serverClosed" | (string & {});
/** The answer to a request. */
export type Answer = Ok | Refused;
/** A server that has closed the link for good, and why: the code of a refusal or of a close. */
export type Parted = { type: "parted"; code: string | number; message: string };
export type Heard = ServerMessage | Parted;

/** The part of a WebSocket that the link needs. */
export type Socket = Pick<WebSocket, "send" | "close" | "onopen" | "onmessage" | "onclose">;
export type World = {
  connect: (url: string) => Socket;
  nowMs: () => number;
  /** Call something once after so many milliseconds; returns what `cancel` takes. */
  after: (ms: number, act: () => void) => number;
  cancel: (timer: number) => void;
  /** A number from 0 to 1. */
  random: () => number;
  isHidden: () => boolean;
  token: () => string | null;
  keepToken: (token: string | null) => void;
  newToken: () => string;
};
export type Listener = {
  /** Takes each message that answers no request. */
  heard: (message: Heard) => void;
  /** Called whenever phase, trouble or latency have changed. */
  changed: () => void;
  /** Whether a match of ours goes on. */
  isUrgent: () => boolean;
};

/** Pauses before reconnecting: each twice as long as the last, up to the second, or to the third while a match goes on. */
const SOON_MS = 50;
const LATE_MS = 5000;
const URGENT_MS = 1500;
/** How long TCP, TLS, upgrade and hello may take the first time; and an answer to a ping. Each wait in vain doubles both. */
const OPENING_MS = 8000;
const WAIT_MS = 3000;
const MOST_MS = 30_000;
/** The wait is at least this many round trips, at the latency measured last. */
const SLACK = 4;
/** A request without an answer for so long makes the link ping. A ping without one makes it silent. */
const ANSWER_MS = 1500;
const PING_EVERY_MS = 5000;
/** While a match goes on and there is another node: the shortest wait, and how often to ping. */
const NODE_WAIT_MS = 700;
const NODE_PING_MS = 800;
/** A connection takes so many round trips until the welcome. */
const OPENING_TRIPS = 5;
/** A request that is refused as too fast is sent again if it may be so soon, so many times. */
const RETRY_MS = 2000;
const RETRIES = 3;
/** Close codes: the same again would end the same way; the player was forgotten; the host closed the server; a restart. */
const GIVE_UP = [1002, 1003, 1007, 1008, 1009, 4001, 4005];
const FORGOTTEN = 4004;
const CLOSED = 4006;
const RESTART = 1012;
/** Refusals of a hello that are worth waiting for. */
const PASSING = ["restarting", "storage", "too_fast"];

/** Codes of our own: the request was not sent, or the connection dropped before its answer came, so nobody knows whether it was carried out. */
const LOST = "lost";
const UNKNOWN = "unknown_outcome";
const refused = (code: string): Refused => ({ type: "refused", id: null, code, message: "" });

/** Whether a request has no answer because there was no connection. */
export const isLost = (answer: Answer): boolean => answer.type === "refused" && (answer.code === LOST || answer.code === UNKNOWN);

export class Link {
  phase: Phase = "closed";
  trouble: Trouble = "";
  /** When the link was lost last. */
  lostAtMs = 0;
  latencyMs: number | null = null;
  /** Where the server can be reached: first where we are, or where we go next. */
  nodes: string[];
  readonly #world: World;
  #on!: Listener;
  #socket: Socket | null = null;
  /** The name of a player whom the server has not welcomed yet, empty for a guest; null for one whom it knows. */
  #wanted: string | null = null;
  #isIntroduced = false;
  /** Losses since the last welcome, and waits in vain since the last answer. */
  #losses = 0;
  #waits = 0;
  #lastId = 0;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #timer = 0;
  #pingTimer = 0;
  #silenceTimer = 0;

  constructor(world: World, node: string) {
    this.#world = world;
    this.nodes = [node];
  }

  /** Keep a link from now on, if this browser is known to the server. */
  keepUp(listener: Listener): void {
    this.#on = listener;
    this.#every(PING_EVERY_MS, () => this.#ping());
    this.#every(NODE_PING_MS, () => this.#canLeave() && this.#ping());
    if (this.isKnown()) this.#open();
  }

  /** Whether this browser is known to the server. */
  isKnown(): boolean {
    return this.#wanted === null && this.#world.token() !== null;
  }

  /** Whether requests can be sent. */
  isUp(): boolean {
    return this.phase === "live" || this.phase === "silent";
  }

  /** Connect without a hello, so that a visitor who comes in later waits for the hello alone. */
  prepare(): void {
    if (this.phase === "closed" && !this.isKnown()) this.#open();
  }

  /**
   * Come in: as the one whose token is kept here, or else under a name, or without one as a guest. A handshake that is under way goes on.
   *
   * A new player's token is chosen here and kept before it is sent: if the answer is lost, the same can be sent again.
   */
  start(name = ""): void {
    if (this.#isIntroduced && this.phase === "greeting") return;
    if (!this.isKnown()) {
      this.#wanted = name;
      this.#world.keepToken(name ? this.#world.newToken() : null);
    }
    if (this.phase === "greeting") this.#hello();
    else if (this.phase === "closed" || this.phase === "retrying") this.#openAnew();
    this.#on.changed();
  }

  /** Be nobody whom the server knows, until a name is given. */
  forgetWho(): void {
    this.#drop();
    this.#wanted = null;
    this.#become("closed");
  }

  /** Look at once whether the link is there: the machine slept, changed its network, or shows the page again. */
  hurry(): void {
    if (this.phase === "retrying") this.#openAnew();
    else this.#ping();
  }

  /** The device has lost its network. */
  wentOffline(): void {
    if (this.isUp()) this.#lose("offlineHere");
  }

  /**
   * Send a request, without the fields that are undefined, and return its one answer. A request that came too fast is sent again
   * if the server says that it soon may be and it is still wanted.
   */
  async say(request: Request, isWanted: () => boolean = () => true): Promise<Answer> {
    for (let tries = 1; ; tries++) {
      const answer = await this.#ask(request);
      const pauseMs = answer.type === "refused" && answer.code === "too_fast" ? (answer.retry_after_ms ?? Infinity) : Infinity;
      if (request.type === "hello" || pauseMs > RETRY_MS || tries > RETRIES) return answer;
      await new Promise<void>((resolve) => this.#world.after(pauseMs, resolve));
      if (!this.isUp() || !isWanted()) return answer;
    }
  }

  #ask(request: Request): Promise<Answer> {
    const socket = this.#socket;
    if (!socket || !(this.isUp() || request.type === "hello")) return Promise.resolve(refused(LOST));
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      socket.send(JSON.stringify({ id, ...request }));
      const isLate = () => this.#waiting.has(id) && this.#ping();
      if (request.type !== "ping" && request.type !== "hello") this.#world.after(this.#lateMs(), isLate);
    });
  }

  #openAnew(): void {
    this.#losses = 0;
    this.#open();
  }

  #open(): void {
    this.#drop();
    const socket = this.#world.connect(this.nodes[0]!);
    this.#socket = socket;
    this.#waitFor(OPENING_TRIPS);
    socket.onopen = () => {
      this.#world.cancel(this.#timer);
      this.#become("greeting");
      if (this.#wanted !== null || this.isKnown()) this.#hello();
    };
    socket.onmessage = (event) => this.#receive(JSON.parse(event.data));
    socket.onclose = ({ code, reason }) => this.#closed(code, reason);
    this.#become("opening");
  }

  #closed(code: number, reason: string): void {
    if (code === FORGOTTEN || GIVE_UP.includes(code)) this.#stop(code, reason);
    else this.#lose(code === CLOSED ? "serverClosed" : code === RESTART ? "serverRestarts" : "linkCut");
  }

  async #hello(): Promise<void> {
    const began = this.#world.nowMs();
    const socket = this.#socket;
    this.#isIntroduced = true;
    this.#waitFor(1, OPENING_MS);
    const who = { token: this.#world.token() ?? undefined, name: this.#wanted || undefined };
    const answer = await this.#ask({ type: "hello", protocols: [1], client: "page", ...who });
    if (this.#socket !== socket) return;
    if (answer.type === "ok") this.#measured(began);
    else if (PASSING.includes(answer.code)) this.#lose(answer.message, answer.retry_after_ms);
    else if (!isLost(answer)) this.#stop(answer.code, answer.message);
  }

  #receive(message: ServerMessage): void {
    if (message.type === "ok" || message.type === "refused") {
      this.#waiting.get(message.id ?? -1)?.(message);
      this.#waiting.delete(message.id ?? -1);
      return;
    }
    if (message.type === "welcome") this.#welcomed(message.token, message.nodes ?? []);
    this.#on.heard(message);
  }

  #welcomed(token: string | undefined, nodes: string[]): void {
    this.#world.cancel(this.#timer);
    if (token) this.#world.keepToken(token);
    this.#wanted = null;
    this.#losses = 0;
    const [here] = this.nodes as [string];
    // `wss:` comes after `ws:`: never from encrypted to clear
    this.nodes = [...new Set([here, ...nodes.filter((node) => node > here.slice(0, 3))])];
    this.#become("live");
    this.#ping();
  }

  #lose(trouble: Trouble, pauseMs = 0): void {
    const wasUp = this.isUp();
    this.#drop();
    if (this.#wanted === null && !this.isKnown()) {
      this.#become("closed"); // it was only prepared
      return;
    }
    this.nodes.push(this.nodes.shift()!);
    const delayMs = Math.min(SOON_MS * 2 ** this.#losses++, this.#on.isUrgent() ? URGENT_MS : LATE_MS);
    if (wasUp) this.lostAtMs = this.#world.nowMs();
    this.#timer = this.#world.after(Math.max(pauseMs, delayMs * (1 - this.#world.random() / 2)), () => this.#open());
    this.#become("retrying", trouble);
  }

  /** Stay away until `start` is called; a token that is good for nothing is given up. */
  #stop(code: string | number, message: string): void {
    this.#drop();
    if (this.#wanted !== null || code === FORGOTTEN || code === "unknown_token") this.#world.keepToken(null);
    this.#wanted = null;
    this.#become("closed");
    this.#on.heard({ type: "parted", code, message });
  }

  #drop(): void {
    for (const timer of [this.#timer, this.#pingTimer, this.#silenceTimer]) this.#world.cancel(timer);
    this.#pingTimer = 0;
    this.#isIntroduced = false;
    if (this.#socket) {
      this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null; // one that is closed before it opens never opens
      this.#socket.close();
    }
    this.#socket = null;
    for (const resolve of this.#waiting.values()) resolve(refused(UNKNOWN));
    this.#waiting.clear();
  }

  /** Whether a silent node is left soon: a match of ours goes on, and there is another node. */
  #canLeave(): boolean {
    return this.nodes.length > 1 && this.#on.isUrgent();
  }

  /** Lose the link unless what takes so many round trips is done in time. */
  #waitFor(trips: number, leastMs = trips > 1 ? OPENING_MS : WAIT_MS): void {
    this.#world.cancel(this.#timer);
    this.#timer = this.#world.after(this.#patienceMs(trips, leastMs), () => this.#gaveUp());
  }

  #gaveUp(): void {
    this.#waits++;
    this.#lose("noAnswer");
  }

  /** How long to wait for what takes so many round trips. */
  #patienceMs(trips: number, leastMs: number): number {
    const { latencyMs } = this;
    const isSoon = this.#canLeave() && latencyMs !== null;
    const usualMs = isSoon ? Math.min(WAIT_MS, Math.max(NODE_WAIT_MS, 3 * latencyMs * trips)) : Math.max(leastMs, SLACK * (latencyMs ?? 0) * trips);
    return Math.min(MOST_MS, usualMs * 2 ** this.#waits);
  }

  #lateMs(): number {
    return Math.max(ANSWER_MS, 2 * (this.latencyMs ?? 0));
  }

  async #ping(): Promise<void> {
    if (!this.isUp() || this.#world.isHidden() || this.#pingTimer) return;
    this.#pingTimer = this.#world.after(this.#patienceMs(1, WAIT_MS), () => this.#gaveUp());
    this.#silenceTimer = this.#world.after(this.#lateMs(), () => this.#become("silent"));
    const began = this.#world.nowMs();
    const answer = await this.#ask({ type: "ping" });
    if (isLost(answer)) return; // the timers went with the link
    this.#world.cancel(this.#pingTimer);
    this.#world.cancel(this.#silenceTimer);
    this.#pingTimer = 0;
    this.#waits = 0;
    this.#measured(began);
    this.#become("live");
  }

  #measured(beganMs: number): void {
    const tookMs = this.#world.nowMs() - beganMs;
    this.latencyMs = this.latencyMs === null ? tookMs : 0.6 * this.latencyMs + 0.4 * tookMs;
  }

  /** Enter a phase; until the link is there again, its trouble stays what it was. */
  #become(phase: Phase, trouble = phase === "live" || phase === "closed" ? "" : this.trouble): void {
    this.phase = phase;
    this.trouble = trouble;
    this.#on.changed();
  }

  #every(ms: number, act: () => void): void {
    this.#world.after(ms, () => {
      act();
      this.#every(ms, act);
    });
  }
}
