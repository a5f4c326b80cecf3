/** A world for the link without a network: sockets that the test plays the server of, and a clock that it moves. */

import { Link, type Listener, type Parted, type Socket, type World } from "../../../ttt_net/web/src/link.js";
import type { Request, ServerMessage } from "../../../ttt_net/web/src/protocol.js";

type Sent = Request & { id: number };

export class FakeSocket implements Socket {
  onopen: Socket["onopen"] = null;
  onmessage: Socket["onmessage"] = null;
  onclose: Socket["onclose"] = null;
  isClosed = false;
  readonly sent: Sent[] = [];

  constructor(readonly url: string) {}

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(): void {
    this.isClosed = true;
  }

  /** The handshake is done. */
  open(): void {
    this.onopen?.call(this as never, {} as Event);
  }

  say(message: ServerMessage | Parted): void {
    this.onmessage?.call(this as never, { data: JSON.stringify(message) } as MessageEvent);
  }

  drop(code = 1006, reason = ""): void {
    this.onclose?.call(this as never, { code, reason } as CloseEvent);
  }

  /** The requests of one kind. */
  of(type: Request["type"]): Sent[] {
    return this.sent.filter((each) => each.type === type);
  }

  /** Answer the last request of a kind with ok. */
  ok(type: Request["type"]): void {
    this.say({ type: "ok", id: this.of(type).at(-1)!.id });
  }

  refuse(type: Request["type"], code: string, more: { message?: string; retry_after_ms?: number } = {}): void {
    this.say({ type: "refused", id: this.of(type).at(-1)!.id, code, message: more.message ?? code, ...more });
  }

  /** Answer the hello and the first ping. */
  async welcome(more: object = {}): Promise<void> {
    this.ok("hello");
    this.say({ type: "welcome", protocol: 1, server: "here", you: { name: "Ann" }, matches: [], ...more } as ServerMessage);
    await settled();
    this.ok("ping");
    await settled();
  }
}

/** Let all promises that can be resolved be resolved. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class Test implements World {
  nowMsNow = 0;
  hidden = false;
  kept: string | null = null;
  urgent = false;
  greeted: Listener["greeted"] = () => {};
  readonly sockets: FakeSocket[] = [];
  readonly heard: (ServerMessage | Parted)[] = [];
  /** The phases that were entered, each once in a row. */
  readonly phases: string[] = [];
  private timers: { id: number; dueMs: number; act: () => void }[] = [];
  private lastTimer = 0;
  readonly link: Link;

  constructor(token: string | null = null) {
    this.kept = token;
    this.link = new Link(this, "ws://here");
    this.link.keepUp({
      heard: (message) => this.heard.push(message),
      changed: () => this.phases.at(-1) !== this.link.phase && this.phases.push(this.link.phase),
      isUrgent: () => this.urgent,
      greeted: (say) => this.greeted(say),
    });
  }

  get socket(): FakeSocket {
    return this.sockets.at(-1)!;
  }

  connect(url: string): FakeSocket {
    this.sockets.push(new FakeSocket(url));
    return this.socket;
  }

  nowMs = (): number => this.nowMsNow;
  random = (): number => 0;
  isHidden = (): boolean => this.hidden;
  token = (): string | null => this.kept;
  newToken = (): string => "a new token";

  keepToken(token: string | null): void {
    this.kept = token;
  }

  after(ms: number, act: () => void): number {
    this.timers.push({ id: ++this.lastTimer, dueMs: this.nowMsNow + ms, act });
    return this.lastTimer;
  }

  cancel(timer: number): void {
    this.timers = this.timers.filter(({ id }) => id !== timer);
  }

  /** Have so many milliseconds go by. */
  async pass(ms: number): Promise<void> {
    const endMs = this.nowMsNow + ms;
    for (;;) {
      const next = this.timers.filter(({ dueMs }) => dueMs <= endMs).sort((one, other) => one.dueMs - other.dueMs)[0];
      if (!next) break;
      this.nowMsNow = next.dueMs;
      this.cancel(next.id);
      next.act();
      await settled();
    }
    this.nowMsNow = endMs;
  }
}

/** A link of somebody whom the server has welcomed. */
export async function welcomed(more: object = {}): Promise<Test> {
  const test = new Test("known");
  test.socket.open();
  await test.socket.welcome(more);
  return test;
}
