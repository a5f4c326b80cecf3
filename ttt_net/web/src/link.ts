/**
 * The connection to the server: a state machine with six phases. It logs in, detects silence, reconnects, and measures
 * the round trip.
 *
 * It knows no document: sockets, time, randomness and storage are passed in.
 */

import type { Ok, Refused, Request, ServerMessage } from "./protocol.js";

/**
 * `closed`: no connection is wanted, or the server rejected us for good. `opening`: TCP, TLS and the upgrade are in
 * progress. `greeting`: the socket is open and the server has not welcomed us. `live`: welcomed. `silent`: welcomed,
 * but the last ping is late. `retrying`: waiting to open again.
 */
export type Phase = "closed" | "opening" | "greeting" | "live" | "silent" | "retrying";
/** Why there is no connection: the name of a sentence, or the server's sentence. */
export type Trouble = "noAnswer" | "offlineHere" | "serverRestarts" | "linkCut" | "serverClosed" | (string & {});
/** The answer to a request. */
export type Answer = Ok | Refused;
/** The end of the connection for good, with the code of a refusal or of a close. */
export type Parted = { type: "parted"; code: string | number; message: string };
export type Heard = ServerMessage | Parted;

/** The part of a WebSocket that the connection needs. */
export type Socket = Pick<WebSocket, "send" | "close" | "onopen" | "onmessage" | "onclose">;
export type World = {
  connect: (url: string) => Socket;
  nowMs: () => number;
  /** Call a function once after some milliseconds; returns the argument for `cancel`. */
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
  /** Called with each message that is not the answer to a request. */
  heard: (message: Heard) => void;
  /** Called after changes of phase, trouble or latency. */
  changed: () => void;
  /** Whether a match of ours is live. */
  isUrgent: () => boolean;
  /** Called with each hello: what is sent by `say` follows it at once, and is carried out after the welcome. */
  greeted: (say: (request: Request) => Promise<Answer>) => void;
};

/**
 * The pauses before reconnecting: each is twice as long as the last, up to the second value, or the third during a
 * match.
 */
const SOON_MS = 50;
const LATE_MS = 5000;
const URGENT_MS = 1500;
/** The initial timeouts of TCP, TLS, upgrade and hello, and of a ping. Each timeout doubles both. */
const OPENING_MS = 8000;
const WAIT_MS = 3000;
const MOST_MS = 30_000;
/** A timeout is at least this many round trips, by the last measured latency. */
const SLACK = 4;
/**
 * After this time without an answer to a request, send a ping. Without an answer to the ping, the phase becomes
 * `silent`.
 */
const ANSWER_MS = 1500;
const PING_EVERY_MS = 5000;
/** During a match on a server with several nodes: the minimal timeout, and how often to ping. */
const NODE_WAIT_MS = 700;
const NODE_PING_MS = 800;
/** The round trips of a connection until the welcome. */
const OPENING_TRIPS = 5;
/** A request that is rejected as too fast is repeated if the wait is at most this, at most this many times. */
const RETRY_MS = 2000;
const RETRIES = 3;
/** Close codes: a retry would fail the same way; the player was deleted; the host closed the server; a restart. */
const GIVE_UP = [1002, 1003, 1007, 1008, 1009, 4001, 4005];
const FORGOTTEN = 4004;
const CLOSED = 4006;
const RESTART = 1012;
/** Refusals of a hello after which waiting helps. */
export const PASSING = ["restarting", "storage", "too_fast"];

/** Our own codes: the request was not sent, or the connection dropped before the answer, so the outcome is unknown. */
const LOST = "lost";
const UNKNOWN = "unknown_outcome";
const refused = (code: string): Refused => ({ type: "refused", id: null, code, message: "" });

/** Whether a request has no answer because there was no connection. */
export const isLost = (answer: Answer): boolean => answer.type === "refused" && (answer.code === LOST || answer.code === UNKNOWN);

export class Link {
  phase: Phase = "closed";
  trouble: Trouble = "";
  /** When the connection last dropped. */
  lostAtMs = 0;
  latencyMs: number | null = null;
  /** The addresses of the server's nodes: the current or next one first. */
  nodes: string[];
  readonly #world: World;
  #on!: Listener;
  #socket: Socket | null = null;
  /** The name of a player who is not registered yet, empty for a guest; null for a known player. */
  #wanted: string | null = null;
  #isIntroduced = false;
  /** Dropped connections since the last welcome, and timeouts since the last answer. */
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

  /** Keep a connection from now on, if this browser has a player on the server. */
  keepUp(listener: Listener): void {
    this.#on = listener;
    this.#every(PING_EVERY_MS, () => this.#ping());
    this.#every(NODE_PING_MS, () => this.#canLeave() && this.#ping());
    if (this.isKnown()) this.#open();
  }

  /** Whether this browser has a player on the server. */
  isKnown(): boolean {
    return this.#wanted === null && this.#world.token() !== null;
  }

  /** Whether requests can be sent. */
  isUp(): boolean {
    return this.phase === "live" || this.phase === "silent";
  }

  /** Connect without a hello, so that a visitor who logs in later waits only for the hello. */
  prepare(): void {
    if (this.phase === "closed" && !this.isKnown()) this.#open();
  }

  /**
   * Log in: as the player whose token is stored here, or else under a name, or without one as a guest. A handshake in
   * progress continues.
   *
   * A new player's token is chosen here and stored before it is sent: if the answer is lost, the same hello can be
   * repeated.
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

  /** Forget the player, and stay logged out until a name is given. */
  forgetWho(): void {
    this.#drop();
    this.#wanted = null;
    this.#become("closed");
  }

  /** Check the connection immediately: the machine slept, changed its network, or shows the page again. */
  hurry(): void {
    if (this.phase === "retrying") this.#openAnew();
    else this.#ping();
  }

  /** The device has lost its network. */
  wentOffline(): void {
    if (this.isUp()) this.#lose("offlineHere");
  }

  /**
   * Send a request, without undefined fields, and return its answer. A request that was too fast is repeated if the
   * server allows it soon and it is still wanted.
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

  #ask(request: Request, isSent = this.isUp()): Promise<Answer> {
    const socket = this.#socket;
    if (!socket || !isSent) return Promise.resolve(refused(LOST));
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
    const asked = this.#ask({ type: "hello", protocols: [1], client: "page", ...who }, true);
    this.#on.greeted((request) => this.#ask(request, true));
    const answer = await asked;
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
    // `wss:` sorts after `ws:`: never go from encrypted to unencrypted
    this.nodes = [...new Set([here, ...nodes.filter((node) => node > here.slice(0, 3))])];
    this.#become("live");
    this.#ping();
  }

  #lose(trouble: Trouble, pauseMs = 0): void {
    const wasUp = this.isUp();
    this.#drop();
    if (this.#wanted === null && !this.isKnown()) {
      this.#become("closed"); // the connection was only prepared
      return;
    }
    this.nodes.push(this.nodes.shift()!);
    const delayMs = Math.min(SOON_MS * 2 ** this.#losses++, this.#on.isUrgent() ? URGENT_MS : LATE_MS);
    if (wasUp) this.lostAtMs = this.#world.nowMs();
    this.#timer = this.#world.after(Math.max(pauseMs, delayMs * (1 - this.#world.random() / 2)), () => this.#open());
    this.#become("retrying", trouble);
  }

  /** Stop until `start` is called; drop a useless token. */
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
      this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null; // so it never opens
      this.#socket.close();
    }
    this.#socket = null;
    for (const resolve of this.#waiting.values()) resolve(refused(UNKNOWN));
    this.#waiting.clear();
  }

  /** Whether to leave a silent node soon: during a match of ours, if there is another node. */
  #canLeave(): boolean {
    return this.nodes.length > 1 && this.#on.isUrgent();
  }

  /** Drop the connection unless something that takes this many round trips is done in time. */
  #waitFor(trips: number, leastMs = trips > 1 ? OPENING_MS : WAIT_MS): void {
    this.#world.cancel(this.#timer);
    this.#timer = this.#world.after(this.#patienceMs(trips, leastMs), () => this.#gaveUp());
  }

  #gaveUp(): void {
    this.#waits++;
    this.#lose("noAnswer");
  }

  /** The timeout for something that takes this many round trips. */
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
    if (isLost(answer)) return; // the timers ended with the connection
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

  /** Enter a phase; the trouble stays until the connection is back. */
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
