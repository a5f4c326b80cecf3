/** The whole page before a server that the test plays: messages go in, and what stands on the screen comes out. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { compileFunction } from "node:vm";
import { document, newDocument, pass, until } from "./document.js";
import type * as Player from "./player.js";
import type { Request } from "../../../ttt_net/web/src/protocol.js";

type Sent = Request & { id: number };
const filename = fileURLToPath(new URL("./player.cjs", import.meta.url));
/** Compiled once, and run for each page that is opened: compiling takes longer than most tests. */
const run = compileFunction(readFileSync(filename, "utf8"), ["module"], { filename });
/** Node knows the lines of the sources only in modules that it has loaded itself. */
const needsLines = process.execArgv.includes("--enable-source-maps");

/** A page that has just been loaded. */
export async function freshPlayer(): Promise<typeof Player> {
  const made = {} as { exports: typeof Player };
  if (needsLines) {
    const load = createRequire(import.meta.url);
    Reflect.deleteProperty(load.cache, filename);
    made.exports = load(filename) as typeof Player;
  } else run(made);
  await pass(); // the page begins once its words are there
  return made.exports;
}

export class WholePage {
  player!: typeof Player;
  /** Everything that the page sent. */
  readonly sent: Sent[] = [];
  /** What followed a hello, which the server answers after the welcome. */
  private readonly early: Sent[] = [];
  private isWelcome = false;
  private socket!: { onopen?: () => void; onmessage?: (event: { data: string }) => void; onclose?: (event: { code: number; reason: string }) => void };

  private constructor(private readonly isSilent: boolean) {}

  /** Open the page for a visitor; `kept` is in the browser's storage. A server that is not silent answers every request with ok. */
  static async open(kept: Record<string, string> = {}, address = "/", isSilent = false): Promise<WholePage> {
    newDocument(address);
    for (const [name, text] of Object.entries(kept)) localStorage.setItem(`ttt_net.${name}`, text);
    const page = new WholePage(isSilent);
    const { sent } = page;
    const heard = (text: string) => page.heard(JSON.parse(text));
    Object.assign(globalThis, {
      WebSocket: class {
        constructor() {
          page.socket = this as typeof page.socket;
          queueMicrotask(() => page.socket.onopen?.());
        }
        send(text: string): void {
          sent.push(JSON.parse(text));
          heard(text);
        }
        close(): void {}
      },
    });
    page.player = await freshPlayer();
    return page;
  }

  /** Open it for Ann, who is in the lobby. */
  static async ofAnn(kept: Record<string, string> = {}, address = "/", features = ["chat", "puzzle", "or_casual"]): Promise<WholePage> {
    const page = await WholePage.open({ token: "ann", ...kept }, address);
    await page.greeted(1);
    await page.says({ type: "welcome", protocol: 1, server: "here", you: { name: "Ann" }, matches: [], features });
    return page;
  }

  private heard(said: Sent): void {
    if (said.type === "hello") this.isWelcome = false;
    if (this.isSilent) return;
    if (said.type === "hello" || this.isWelcome) queueMicrotask(() => this.socket.onmessage?.({ data: JSON.stringify({ type: "ok", id: said.id }) }));
    else this.early.push(said);
  }

  /** Have the server say something, and the page draw it. */
  async says(...messages: object[]): Promise<void> {
    for (const message of messages) {
      this.socket.onmessage?.({ data: JSON.stringify(message) });
      if (!("type" in message) || message.type !== "welcome") continue;
      this.isWelcome = true;
      const own = "matches" in message ? (message.matches as string[]) : [];
      for (const each of this.early.splice(0)) {
        if (each.type !== "resume" || own.includes(each.match)) this.heard(each);
        else await this.refuses("resume", "not_seated", "that match is not yours");
      }
    }
    await pass();
  }

  /** Refuse the last request of a kind. */
  async refuses(type: Request["type"], code: string, message: string): Promise<void> {
    await until(() => this.of(type).length > 0, () => type);
    await this.says({ type: "refused", id: this.of(type).at(-1)!.id, code, message });
  }

  /** Wait until so many connections have said hello. */
  async greeted(times: number): Promise<void> {
    await until(() => this.of("hello").length >= times, () => "a hello");
  }

  async closes(code: number, reason = ""): Promise<void> {
    this.socket.onclose?.({ code, reason });
    await pass();
  }

  of(type: Request["type"]): Sent[] {
    return this.sent.filter((each) => each.type === type);
  }

  /** The button or radio of that name. */
  find(name: string): HTMLElement {
    const all = [...document.querySelectorAll<HTMLElement>("button, label.option, label.check")];
    const found = all.find((each) => (each.getAttribute("aria-label") ?? each.textContent) === name);
    if (!found) throw new Error(`no ${name} among ${all.map((each) => each.getAttribute("aria-label") ?? each.textContent)}`);
    return found;
  }

  async press(name: string): Promise<void> {
    await click(this.find(name));
  }

  /** Write into the field of that label, as by typing. */
  async fill(label: string, value: string): Promise<HTMLInputElement> {
    const labelsOf = (each: HTMLInputElement) => [each.closest("label"), document.querySelector(`label[for="${each.id}"]`)].map((found) => found?.textContent);
    const field = [...document.querySelectorAll<HTMLInputElement>("input")].find((each) => [each.getAttribute("aria-label"), ...labelsOf(each)].includes(label));
    if (!field) throw new Error(`no field ${label}`);
    field.value = value;
    field.oninput?.({ target: field } as never);
    await pass();
    return field;
  }

  /** Write into the field of that label, and send its form. */
  async submit(label: string, value: string): Promise<void> {
    const field = await this.fill(label, value);
    const sent = field.closest("form")!;
    sent.onsubmit?.({ preventDefault: () => {}, target: sent } as never);
    await pass();
  }

  async tap(cell: number, prefix = ""): Promise<void> {
    await click(document.getElementById(`${prefix}cell-${cell}`)!);
  }

  /** Begin a match by a tap on the first screen; the page connects once the mark is on the screen. */
  async begins(cell: number): Promise<void> {
    tapOn(document.getElementById(`cell-${cell}`)!);
    await null; // the page draws in a microtask
    assert.ok(document.querySelector(`#cell-${cell}.pending`));
    assert.deepEqual(this.sent, []);
    await this.greeted(1);
  }

  /** Wait until that is on the screen. */
  async until(selector: string, text = ""): Promise<HTMLElement> {
    const find = () => [...document.querySelectorAll<HTMLElement>(selector)].find((each) => each.textContent?.includes(text));
    await until(() => !!find(), () => `${selector} with ${text}; there is ${document.getElementById("page")!.textContent}`);
    return find()!;
  }

  /** Wait until the window has that title, which is set after the picture. */
  async titled(title: string): Promise<void> {
    await until(() => document.title === title, () => `${title} instead of ${document.title}`);
  }

  /** Close the page, so that it neither comes back nor draws into the window of the next one. */
  close(): void {
    this.player.drawWith(
      () => {},
      () => {},
    );
    this.player.link.forgetWho();
    this.player.link.prepare = () => {}; // a newcomer is connected while idle
  }
}

function tapOn(element: HTMLElement): void {
  const input = element.querySelector?.("input");
  const event = { currentTarget: element, target: input ?? element, timeStamp: performance.now(), preventDefault: () => {} } as unknown as MouseEvent;
  if (input) {
    input.checked = input.type !== "checkbox" || !input.checked;
    input.onchange?.(event);
  } else element.onclick?.(event as PointerEvent);
}

async function click(element: HTMLElement): Promise<void> {
  tapOn(element);
  await pass();
}
