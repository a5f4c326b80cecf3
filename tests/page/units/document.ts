/** A document without a browser, for the code that draws: import this before anything that needs it. */

import { parseHTML } from "linkedom";
import { computerMove } from "../../../ttt_net/web/src/computer.js";
import type { Answer, Question } from "../../../ttt_net/web/src/thinker.js";
import { settled } from "./world.js";

const CATALOGUE = [
  { name: "tictactoe", title: "Tic-tac-toe", rule: "three in a row wins", shape: [3, 3], swap: false, rated: true, line: { row: 3, gravity: false, misere: false } },
  { name: "gomoku", title: "Gomoku", rule: "five in a row wins", shape: [15, 15], swap: true, rated: true, line: { row: 5, gravity: false, misere: false } },
];
const html = `<!doctype html><html><head><title>Games on here</title></head><body><script type="application/json" id="catalogue">${JSON.stringify(CATALOGUE)}</script>
  <div id="page"></div><div id="said"></div></body></html>`;
const PATIENCE_MS = 30_000;
const LOOK_MS = 2;
const DAY_MS = Date.parse("2026-01-01");
/** The window's clock, which only tests move, and its timers. */
let nowMs = 0;
let timers: { id: number; dueMs: number; everyMs: number | null; act: () => void }[] = [];
let lastTimer = 0;

function begin(act: () => void, ms: number, everyMs: number | null): number {
  timers.push({ id: ++lastTimer, dueMs: nowMs + Math.max(1, ms), everyMs, act });
  return lastTimer;
}

/** Let so many milliseconds go by, in which timers run in their order. */
export async function pass(ms = LOOK_MS): Promise<void> {
  const endMs = nowMs + ms;
  await settled();
  for (;;) {
    const next = timers.reduce((first, each) => (each.dueMs < first.dueMs ? each : first), { id: 0, dueMs: endMs + 1, everyMs: null as number | null, act: () => {} });
    if (!next.id) break;
    nowMs = next.dueMs;
    if (next.everyMs === null) timers.splice(timers.indexOf(next), 1);
    else next.dueMs += next.everyMs;
    next.act();
    await settled();
  }
  nowMs = endMs;
}

/** Let time go by until something holds. */
export async function until(holds: () => boolean, what: () => string): Promise<void> {
  const endMs = nowMs + PATIENCE_MS;
  while (!holds()) {
    if (nowMs > endMs) throw new Error(`it never comes: ${what()}`);
    await pass(Math.max(LOOK_MS, Math.min(endMs, ...timers.map(({ dueMs }) => dueMs)) - nowMs));
  }
}

/** The document that was made last. */
export let document: Document;

/** Make a window of it: nothing in it has a size, nothing scrolls, and it keeps nothing of the last one, whose timers end. */
export function newDocument(address = "/"): void {
  timers = [];
  performance.now = () => nowMs;
  Date.now = () => DAY_MS + nowMs;
  ({ document } = parseHTML(html) as unknown as { document: Document });
  const known = globalThis as { navigator?: object };
  known.navigator ??= { languages: ["en"] };
  Object.assign(Object.getPrototypeOf(document.createElement("i")), { scrollBy: () => {}, select: () => {}, reset: () => {} });
  Object.assign(globalThis, {
    window: globalThis,
    document,
    location: { origin: "http://here", pathname: "/", hash: "" },
    PointerEvent: class {},
    FormData: Form,
    Worker: Thinker,
    localStorage: newStorage(),
    sessionStorage: newStorage(),
    innerWidth: 1280,
    scrollX: 0,
    scrollY: 0,
    scrollTo: () => {},
    history: { pushState: (_: unknown, __: string, address: string) => go(address), replaceState: (_: unknown, __: string, address: string) => go(address) },
    addEventListener: () => {},
    setTimeout: (act: () => void, ms = 0) => begin(act, ms, null),
    setInterval: (act: () => void, ms: number) => begin(act, ms, ms),
    clearTimeout: (timer: number) => (timers = timers.filter(({ id }) => id !== timer)),
    requestAnimationFrame: (act: () => void) => setTimeout(act),
  });
  go(address);
  // Style sheets are there at once.
  const append = document.head.append.bind(document.head);
  document.head.append = (...nodes) => {
    append(...nodes);
    for (const node of nodes) queueMicrotask(() => (node as HTMLLinkElement).onload?.({} as Event));
  };
}

function newStorage(): Pick<Storage, "getItem" | "setItem" | "removeItem"> {
  const stored = new Map<string, string>();
  return { getItem: (name) => stored.get(name) ?? null, setItem: (name, text) => void stored.set(name, text), removeItem: (name) => void stored.delete(name) };
}

/** The worker in which the computer thinks; it answers a little later. */
class Thinker {
  onmessage: ((event: { data: Answer }) => void) | null = null;

  postMessage({ number, ground, rules, moves, level }: Question): void {
    setTimeout(() => this.onmessage?.({ data: { number, move: computerMove(ground, rules, moves, level) } }));
  }
}

/** The fields of a form by their names. */
class Form extends Map<string, string> {
  constructor(form: HTMLFormElement) {
    super([...form.querySelectorAll("input")].map((each) => [each.name, each.value] as const));
  }
}

function go(address: string): void {
  const { pathname, hash } = new URL(address, "http://here");
  Object.assign(location, { pathname, hash });
}

newDocument();

/** How often the document is changed while something is done. */
export function changesWhile(act: () => void): number {
  let count = 0;
  const undo: (() => void)[] = [];
  const kinds = [document.createElement("i"), document.createTextNode(""), document.createElementNS("http://www.w3.org/2000/svg", "svg")];
  const seen = new Set<object>();
  for (const kind of kinds) {
    for (let proto: Record<string, unknown> = Object.getPrototypeOf(kind); proto && proto !== Object.prototype && !seen.has(proto); proto = Object.getPrototypeOf(proto)) {
      seen.add(proto);
      for (const name of ["insertBefore", "setAttribute", "removeAttribute", "remove"]) {
        const own = Object.getOwnPropertyDescriptor(proto, name);
        if (typeof own?.value !== "function") continue;
        const { value } = own;
        proto[name] = function (this: unknown, ...rest: unknown[]) {
          count++;
          return value.apply(this, rest);
        };
        undo.push(() => Object.defineProperty(proto, name, own));
      }
    }
  }
  act();
  for (const each of undo) each();
  return count;
}

/** What an element shows. */
export const textOf = (selector: string): string[] => [...document.querySelectorAll(selector)].map((each) => each.textContent ?? "");
