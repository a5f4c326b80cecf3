/** The service worker: what it keeps, and what it answers with and without a server. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { runInNewContext } from "node:vm";

const HOST = "http://here";
const NEW = "/assets/new/";

type React = (event: object) => void;

/** A cache of answers by their address, as far as the worker uses it. */
class Cache {
  readonly kept = new Map<string, Response>();
  isFull = false;

  constructor(readonly fetch: (path: string) => Promise<Response>) {}

  async match(what: string | Request): Promise<Response | undefined> {
    return this.kept.get(pathOf(what))?.clone();
  }

  async put(what: string | Request, answer: Response): Promise<void> {
    if (this.isFull) throw new DOMException("no room", "QuotaExceededError");
    this.kept.set(pathOf(what), answer);
  }

  async addAll(paths: string[]): Promise<void> {
    for (const path of paths) {
      const answer = await this.fetch(path);
      if (!answer.ok) throw new Error(path);
      this.kept.set(path, answer);
    }
  }
}

const pathOf = (what: string | Request): string => new URL(typeof what === "string" ? what : what.url, HOST).pathname;

/** The browser around a worker, and the server: every address answers with its own path, except those in `told`. */
class Browser {
  readonly stores = new Map<string, Cache>();
  readonly asked: string[] = [];
  readonly told = new Map<string, Response>([["/", new Response(`<script src="${NEW}app.js">`)]]);
  isUp = true;
  /** What the worker does when its patience ends. */
  readonly timers: (() => void)[] = [];
  #reactions = new Map<string, React>();

  constructor(search = "") {
    const caches = {
      open: async (name: string) => this.stores.get(name) ?? this.stores.set(name, new Cache(this.fetch)).get(name)!,
      keys: async () => [...this.stores.keys()],
      delete: async (name: string) => this.stores.delete(name),
      match: async (what: string | Request, { cacheName }: { cacheName?: string } = {}) => {
        const stores = cacheName ? [this.stores.get(cacheName)!] : [...this.stores.values()];
        return (await Promise.all(stores.map((store) => store.match(what)))).find((each) => each);
      },
    };
    const self = {
      registration: {},
      clients: { claim: async () => {} },
      skipWaiting: async () => {},
      addEventListener: (type: string, react: React) => this.#reactions.set(type, react),
    };
    const location = { href: `${HOST}${NEW}worker.js${search}`, origin: HOST, search };
    const setTimeout = (act: () => void) => this.timers.push(act);
    runInNewContext(readFileSync(process.env["WORKER"]!, "utf8"), { self, caches, location, fetch: this.fetch, setTimeout, URL, Response });
  }

  fetch = async (what: string | Request): Promise<Response> => {
    this.asked.push(pathOf(what));
    if (!this.isUp) throw new TypeError("no link");
    return this.told.get(pathOf(what))?.clone() ?? new Response(pathOf(what));
  };

  async happen(type: "install" | "activate"): Promise<void> {
    let done: Promise<unknown> = Promise.resolve();
    this.#reactions.get(type)!({ waitUntil: (until: Promise<unknown>) => (done = until) });
    await done;
  }

  /** Return the text of the answer; undefined if the worker leaves the request alone. */
  async open(path: string, mode = "cors", method = "GET", preloaded?: Response): Promise<string | undefined> {
    let answer: Promise<Response> | undefined;
    const request = { url: new URL(path, HOST).href, mode, method };
    this.#reactions.get("fetch")!({ request, preloadResponse: Promise.resolve(preloaded), respondWith: (it: Promise<Response>) => (answer = it) });
    return (await answer)?.text();
  }
}

const installed = async (search = ""): Promise<Browser> => {
  const browser = new Browser(search);
  await browser.happen("install");
  await browser.happen("activate");
  browser.asked.length = 0;
  return browser;
};

test("the page comes from the server while it can be reached, and from the cache when it cannot", async () => {
  const browser = await installed();
  browser.told.set("/", new Response("a newer page"));
  assert.equal(await browser.open("/", "navigate"), "a newer page");
  browser.isUp = false;
  for (const path of ["/", "/m/k3V9pCD5", "/j"]) assert.match((await browser.open(path, "navigate"))!, /new\/app\.js/);
  assert.equal(await browser.open(`${NEW}app.js`), `${NEW}app.js`);
});

test("a preload that failed, which Firefox hands over as an answer, does not hide the page that is kept", async () => {
  const browser = await installed();
  assert.match((await browser.open("/", "navigate", "GET", Response.error()))!, /new\/app\.js/);
});

test("a server that restarts does not hide the page that is kept", async () => {
  const browser = await installed();
  browser.told.set("/", new Response("restarting", { status: 503 }));
  assert.match((await browser.open("/", "navigate"))!, /new\/app\.js/);
});

test("a page that does not come whole, or whose newer script does not come, does not hide the one that is kept", async () => {
  const newer = () => new Response('<script src="/assets/newest/app.js">');
  const cut = () => new Response(new ReadableStream({ pull: (body) => body.error(new TypeError("the link broke")) }));
  const cases: [string, Response][] = [["/", cut()], ["/assets/newest/app.js", cut()], ["/assets/newest/app.js", new Response("no", { status: 404 })]];
  for (const [path, answer] of cases) {
    const browser = await installed();
    browser.told.set("/", newer());
    assert.match((await browser.open("/", "navigate"))!, /newest/);
    browser.told.set(path, answer);
    assert.match((await browser.open("/", "navigate"))!, /new\/app\.js/);
  }
});

test("a page or a newer script that does not come in time gives way to the page that is kept", async () => {
  const never = () => new Response(new ReadableStream());
  for (const path of ["/", "/assets/newest/app.js"]) {
    const browser = await installed();
    browser.told.set("/", new Response('<script src="/assets/newest/app.js">'));
    browser.told.set(path, never());
    const opening = browser.open("/", "navigate");
    assert.equal(browser.timers.length, 1);
    browser.timers[0]!();
    assert.match((await opening)!, /new\/app\.js/);
  }
});

test("a slow page is waited for where none is kept", async () => {
  const browser = await installed();
  browser.stores.get(NEW)!.kept.clear();
  let send: ReadableStreamDefaultController<Uint8Array>;
  browser.told.set("/", new Response(new ReadableStream({ start: (body) => void (send = body) })));
  const opening = browser.open("/", "navigate");
  browser.timers[0]!();
  send!.enqueue(new TextEncoder().encode("a slow page"));
  send!.close();
  assert.equal(await opening, "a slow page");
});

test("a device without room for more shows what the server sends, and what it kept before", async () => {
  const browser = await installed();
  browser.stores.get(NEW)!.isFull = true;
  browser.told.set("/puzzles", new Response("tomorrow"));
  assert.equal(await browser.open("/puzzles"), "tomorrow");
  assert.equal(await browser.open(`${NEW}qr.js`), `${NEW}qr.js`);
  browser.isUp = false;
  assert.equal(await browser.open("/puzzles"), "/puzzles");
  assert.match((await browser.open("/", "navigate"))!, /new\/app\.js/);
});

test("a page is never kept with the files of another build", async () => {
  const browser = new Browser();
  browser.told.set("/", new Response('<script src="/assets/newest/app.js">'));
  await assert.rejects(browser.happen("install"));
  assert.deepEqual([...(browser.stores.get(NEW)?.kept.keys() ?? [])], []);
});

test("files of the build before stay for windows that are open, and older ones go", async () => {
  const browser = new Browser();
  for (const name of ["/assets/oldest/", "/assets/old/", "of another program"]) browser.stores.set(name, new Cache(browser.fetch));
  await browser.stores.get("/assets/old/")!.addAll(["/assets/old/qr.js"]);
  await browser.happen("install");
  await browser.happen("activate");
  assert.deepEqual([...browser.stores.keys()], ["/assets/old/", "of another program", NEW]);
  browser.isUp = false;
  assert.equal(await browser.open("/assets/old/qr.js"), "/assets/old/qr.js");
});

test("the sentences of the language are kept too, and a file that is used later", async () => {
  const browser = await installed("?ru");
  await browser.open(`${NEW}qr.js`);
  browser.isUp = false;
  for (const name of ["words-ru.js", "explained-ru.js", "qr.js"]) assert.equal(await browser.open(NEW + name), NEW + name);
});

test("a file that is kept costs no request, and one that is missing is not kept", async () => {
  const browser = await installed();
  await browser.open(`${NEW}app.js`);
  assert.deepEqual(browser.asked, []);
  browser.told.set(`${NEW}lost.js`, new Response("no", { status: 404 }));
  await browser.open(`${NEW}lost.js`);
  assert.ok(!browser.stores.get(NEW)!.kept.has(`${NEW}lost.js`));
});

test("the puzzles of the next days come from the server while it can be reached, and then from what was kept", async () => {
  const browser = await installed();
  browser.told.set("/puzzles", new Response("today"));
  assert.equal(await browser.open("/puzzles"), "today");
  browser.told.set("/puzzles", new Response("tomorrow"));
  assert.equal(await browser.open("/puzzles"), "tomorrow");
  browser.told.set("/puzzles", new Response("too fast", { status: 429 }));
  assert.equal(await browser.open("/puzzles"), "tomorrow");
  browser.isUp = false;
  assert.equal(await browser.open("/puzzles"), "tomorrow");
});

test("requests of programs, to other sites and with other methods are not handled", async () => {
  const browser = await installed();
  assert.equal(await browser.open("/api/live", "navigate"), undefined);
  assert.equal(await browser.open("/j", "cors"), undefined);
  assert.equal(await browser.open("http://elsewhere/assets/x.js"), undefined);
  assert.equal(await browser.open(`${NEW}app.js`, "cors", "HEAD"), undefined);
});
