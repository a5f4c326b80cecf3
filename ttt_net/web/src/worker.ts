/**
 * The service worker: it opens the page when the server is unreachable, so that two people can play on one device in a
 * train.
 *
 * Its address contains the hash of the build, as does its cache. The page comes from the network if possible. From the
 * cache, it always comes with the files of its own build.
 */

/** The used part of the API of service workers, which the types of pages lack. */
interface Worker {
  readonly registration: { readonly navigationPreload?: { enable(): Promise<void> } };
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: "install" | "activate", react: (event: Waiting) => void): void;
  addEventListener(type: "fetch", react: (event: Fetching) => void): void;
}
interface Waiting {
  waitUntil(done: Promise<unknown>): void;
}
interface Fetching {
  readonly request: Request;
  readonly preloadResponse: Promise<Response | undefined>;
  respondWith(answer: Promise<Response>): void;
}

const worker = self as unknown as Worker;
/** The folder of this build, whose name is its hash. */
const FOLDER = new URL("./", location.href).pathname;
const ASSETS = "/assets/";
/** The addresses of the page; everything else on this server is for programs. */
const PLACES = /^\/(?:[jm](?:\/|$)|$)/;
/** The script in a page, of whichever build. */
const SCRIPT = /\/assets\/\w+\/app\.js/;
const LANGUAGE = location.search.slice(1);
const FILES = ["app.js", "more.js", "later.css", "thinker.js", "sounds.js", "icon.svg", "app.webmanifest", ...(LANGUAGE ? [`words-${LANGUAGE}.js`, `explained-${LANGUAGE}.js`] : [])];
const PUZZLES = "/puzzles";
const SERVER_ERROR = 500;
/** How long a page may take to come whole before the cached one is shown. */
const WHOLE_MS = 6000;

worker.addEventListener("install", (event) => event.waitUntil(install()));
worker.addEventListener("activate", (event) => event.waitUntil(activate()));
worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  if (request.mode === "navigate" && PLACES.test(pathname)) event.respondWith(openPage(event));
  else if (pathname.startsWith(ASSETS)) event.respondWith(openFile(request, pathname));
  else if (pathname === PUZZLES) event.respondWith(openPuzzles(request));
});

/** Cache the page and its files. Fails, and is retried at the next visit, if the server has another build by now. */
async function install(): Promise<void> {
  const cache = await caches.open(FOLDER);
  const page = await fetch("/");
  if (!(await page.clone().text()).includes(FOLDER)) throw new Error("the server has a newer page");
  await cache.addAll(FILES.map((name) => FOLDER + name));
  await cache.put("/", page);
  await keepPuzzles(fetch(PUZZLES));
  await worker.skipWaiting();
}

/** Delete the files of earlier builds, except the previous one, which an open window may still need. */
async function activate(): Promise<void> {
  const others = (await caches.keys()).filter((name) => name.startsWith(ASSETS) && name !== FOLDER);
  await Promise.all(others.slice(0, -1).map((name) => caches.delete(name)));
  await worker.registration.navigationPreload?.enable();
  await worker.clients.claim();
}

/** The page from the server, or the cached one if that does not come whole and in time or the server is restarting. */
async function openPage({ request, preloadResponse }: Fetching): Promise<Response> {
  const coming = (async () => whole((await preloadResponse) ?? (await fetch(request))))().catch(() => null);
  const answer = await Promise.race([coming, new Promise<null>((late) => setTimeout(() => late(null), WHOLE_MS))]);
  if (answer && answer.type !== "error" && answer.status < SERVER_ERROR) return answer; // Firefox resolves a preload that failed
  return (await caches.match("/", { cacheName: FOLDER }).catch(() => null)) ?? (await coming) ?? Response.error();
}

/**
 * A page of the server when all of it is here, and its script, which the browser keeps: if the link breaks before, the
 * visitor must not be left with an empty page. The script of this build is cached already.
 */
async function whole(page: Response): Promise<Response> {
  const script = SCRIPT.exec(await page.clone().text())?.[0];
  if (!script || script.startsWith(FOLDER)) return page;
  const answer = await fetch(script);
  await answer.blob();
  return answer.ok ? page : Promise.reject(new Error("the page has no script"));
}

/** A file of a build; files of this build are cached from now on. */
async function openFile(request: Request, pathname: string): Promise<Response> {
  const known = await caches.match(request).catch(() => null);
  if (known) return known;
  const answer = await fetch(request);
  if (answer.ok && pathname.startsWith(FOLDER)) await store(request, answer);
  return answer;
}

/** The puzzles of the next days from the server, or those that it sent last. */
async function openPuzzles(request: Request): Promise<Response> {
  const answer = await keepPuzzles(fetch(request));
  return answer?.ok ? answer : ((await caches.match(PUZZLES, { cacheName: FOLDER }).catch(() => null)) ?? answer ?? Response.error());
}

/** Keep the puzzles if they come. */
async function keepPuzzles(fetched: Promise<Response>): Promise<Response | null> {
  const answer = await fetched.catch(() => null);
  if (answer?.ok) await store(PUZZLES, answer);
  return answer;
}

/** Cache an answer of this build if the device has room for it; the visitor gets it in any case. */
async function store(what: Request | string, answer: Response): Promise<void> {
  const copy = answer.clone();
  await caches.open(FOLDER).then((cache) => cache.put(what, copy)).catch(() => null);
}
