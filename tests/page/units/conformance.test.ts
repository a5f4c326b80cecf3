/** The page stands the scenarios of docs/conformance.json, which every client has to stand. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { newDocument, pass, until } from "./document.js";
import type * as Player from "./player.js";
import { freshPlayer } from "./whole.js";

type Message = Record<string, unknown>;
type Step = Message & { hears?: Message; says?: Message; may?: Message; as?: string; does?: string; knows?: Message; told?: string; quiet_ms?: number; closes?: number };
const { scenarios } = JSON.parse(readFileSync(process.env.CONFORMANCE ?? "", "utf8")) as { scenarios: { name: string; steps: Step[] }[] };
/** Requests that the page may send at any time. */
const ALWAYS: Message[] = ["ping", "analyse", "lobby", "unwatch", "hint"].map((type) => ({ type }));

/** A server at the other end of the WebSockets of the page. */
class Server {
  readonly sockets: FakeWebSocket[] = [];
  private accepted = 0;
  private readonly ids: Record<string, unknown> = {};
  private readonly may: Step[] = ALWAYS.map((may) => ({ may }));
  private readonly told: string[] = [];

  player!: typeof Player;

  private get here(): FakeWebSocket {
    return this.sockets[this.accepted - 1]!;
  }

  async take(step: Step): Promise<void> {
    if ("accepts" in step) {
      await until(() => this.sockets.length > this.accepted, () => "a connection");
      this.accepted++;
      this.here.onopen?.();
    } else if (step.hears) this.ids[step.as ?? ""] = (await this.hear(step.hears)).id;
    else if (step.says) {
      const { id } = step.says;
      this.here.onmessage?.({ data: JSON.stringify(typeof id === "string" ? { ...step.says, id: this.ids[id.slice(1)] } : step.says) });
      await pass();
      this.note();
    } else if (step.may) this.may.push(step);
    else if (step.does) await this.act(step.does, step);
    else if ("loses" in step) this.here.onclose?.({ code: 1006, reason: "" });
    else if (step.closes) this.here.onclose?.({ code: step.closes, reason: "" });
    else if (step.knows) await until(() => this.knows(step.knows!), () => JSON.stringify(step));
    else if (step.told) await until(() => this.wasTold(step.told!), () => `${step.told}, but ${this.told}`);
    else if (step.quiet_ms) await this.isQuiet(step.quiet_ms);
    else assert.fail(`no step: ${JSON.stringify(step)}`);
  }

  private async hear(wanted: Message): Promise<Message> {
    for (;;) {
      await until(() => this.here.sent.length > 0 || this.cameAgain(), () => JSON.stringify(wanted));
      const said = this.here.sent.shift()!;
      if (matches(said, wanted)) return said;
      this.answer(said);
    }
  }

  /** Accept the connection of a page that gave up the last one by itself. */
  private cameAgain(): boolean {
    if (!this.here.isClosed || this.sockets.length === this.accepted) return false;
    this.accepted++;
    this.here.onopen?.();
    return this.here.sent.length > 0;
  }

  private answer(said: Message): void {
    const allowed = this.may.find(({ may }) => matches(said, may!));
    assert.ok(allowed, `the page says ${JSON.stringify(said)}`);
    const { refused: code } = allowed as { refused?: string };
    const answer = code ? { type: "refused", id: said.id, code, message: code } : { type: "ok", id: said.id };
    this.here.onmessage?.({ data: JSON.stringify(answer) });
  }

  private async isQuiet(ms: number): Promise<void> {
    const { length } = this.sockets;
    await pass(ms);
    for (const said of this.here.sent.splice(0)) this.answer(said);
    const isGone = !this.here.onmessage;
    assert.ok(!isGone || this.sockets.length === length, "the page connects again");
  }

  private async act(action: string, { name, move, kind }: Step): Promise<void> {
    const { state, seek, unseek, challenge, play, offer, agree, decline, mute } = this.player;
    await until(() => state.you !== null, () => "a welcome");
    const match = state.matches.get("m1")!;
    const acts: Record<string, () => unknown> = {
      seek: () => seek({ game: "tictactoe", time: null, rated: false }),
      unseek,
      challenge: () => challenge(`${name}`, { game: "tictactoe", time: null, rated: false }),
      play: () => play(match, move as number),
      offer: () => offer(match, kind as "draw"),
      agree: () => agree(match, match.offers[0]!),
      decline: () => decline(match, match.offers[0]!),
      mute: () => mute(match, `${name}`),
    };
    assert.ok(acts[action], `nobody can ${action} here`);
    acts[action]();
  }

  private note(): void {
    const { notice } = this.player.ui;
    if (notice && this.told.at(-1) !== notice) this.told.push(notice);
  }

  private knows(facts: Message): boolean {
    const match = this.player.state.matches.get("m1");
    const seen: Message = { ply: match?.position.ply, over: !!match?.outcome, offers: match?.offers.length, chat: match?.chat.length };
    return !!match && Object.entries(facts).every(([key, value]) => seen[key] === value);
  }

  private wasTold(code: string): boolean {
    this.note();
    const words = code === "unknown_outcome" ? "before the server answered" : code;
    return this.told.some((each) => each.toLowerCase().includes(words));
  }
}

class FakeWebSocket {
  static server: Server;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number; reason: string }) => void) | null = null;
  readonly sent: Message[] = [];
  isClosed = false;

  constructor() {
    FakeWebSocket.server.sockets.push(this);
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(): void {
    this.isClosed = true;
  }
}

/** Whether a request has at least these fields; one that is left out is as good as null. */
const matches = (said: Message, wanted: Message): boolean => Object.entries(wanted).every(([key, value]) => (said[key] ?? null) === value);

for (const { name, steps } of scenarios) {
  test(name, async () => {
    newDocument();
    FakeWebSocket.server = new Server();
    const { server } = FakeWebSocket;
    Object.assign(globalThis, { WebSocket: FakeWebSocket });
    const player: typeof Player = (FakeWebSocket.server.player = await freshPlayer());
    player.comeIn("Ann");
    for (const step of steps) await server.take(step);
    // Or it would come back in the next scenario.
    player.drawWith(
      () => {},
      () => {},
    );
    player.link.forgetWho();
  });
}
