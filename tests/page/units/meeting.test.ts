/** Ways to meet: invitations, seeks, challenges, bots and names; and what the host decides. */

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { document, textOf } from "./document.js";
import { after, CONNECT4, ended, QUBIC, snapshot } from "./matches.js";
import { WholePage } from "./whole.js";

const WELCOME = { type: "welcome", protocol: 1, server: "here", you: { name: "Ann" }, matches: [] as string[] };
const INVITATION = { type: "invitation", code: "ABC123", game: "tictactoe", expires_in_ms: 60_000 };
const BOT = { name: "Tom", bot: "random", level: 3, free: 1, seeking: ["tictactoe"] };
const pages: WholePage[] = [];
afterEach(() => {
  for (const page of pages.splice(0)) page.close();
});

async function ann(...rest: Parameters<typeof WholePage.ofAnn>): Promise<WholePage> {
  const page = await WholePage.ofAnn(...rest);
  pages.push(page);
  await page.until("main");
  return page;
}

async function visitor(...rest: Parameters<typeof WholePage.open>): Promise<WholePage> {
  const page = await WholePage.open(...rest);
  pages.push(page);
  return page;
}

const challenged = (by: string, to: string, challenge = 1, game = "tictactoe") => ({ type: "challenged", challenge, by: { name: by }, to: { name: to }, game, expires_in_ms: 9000 });
const people = (...players: object[]) => ({ type: "players", online: players.length, players });
const fields = (sent: object[], ...names: string[]): unknown[][] => sent.map((each) => names.map((name) => (each as Record<string, unknown>)[name]));

test("bots have a face and say what they are like, in the list and as a match begins; people have a letter", async () => {
  const page = await ann();
  await page.says(people({ name: "Ben" }, { name: "Viktor", bot: "expert", level: 6, any_level: true, free: 1, seeking: [] }, { ...BOT, about: "plays any cell" }, { ...BOT, name: "Zed" }));
  const entry = (name: string) => [...document.querySelectorAll(".entry")].find((each) => each.querySelector(".what span")?.textContent === name)!;
  const drawn = ["Viktor", "Tom", "Zed"].map((name) => entry(name).querySelector(".portrait svg")!.innerHTML);
  assert.equal(new Set(drawn).size, 3, "no two look the same");
  assert.ok(!/viktor|expert|level/i.test(entry("Viktor").querySelector(".quiet")!.textContent!));
  assert.deepEqual([entry("Viktor"), entry("Tom"), entry("Zed")].map((each) => each.querySelector(".quiet")!.textContent), ["“You can stop one threat. Can you stop two?”", "plays any cell", "random, level 3"]);
  assert.deepEqual([entry("Ben").querySelector(".face")!.textContent, entry("Ben").querySelector("svg")], ["B", null]);
  await page.says(snapshot({ players: [{ name: "Ann" }, { name: "Viktor", bot: "expert", level: 6 }] }));
  await page.until(".deck .voice", "Can you stop two?");
  assert.equal(document.querySelector(".seat .portrait svg")!.innerHTML, drawn[0], "one face everywhere");
  await page.says(snapshot({ seq: 3, players: [{ name: "Ann" }, { name: "Viktor", bot: "expert", level: 6 }], moves: [4, 0], position: after([4, 0]) }));
  assert.equal(document.querySelector(".deck .voice"), null);
});

test("the lobby has live boards: it watches the first matches, draws the cells that change, and leaves with them", async () => {
  const page = await ann();
  const row = (match: string) => ({ match, game: "tictactoe", players: [{ name: "Ben" }, { name: "Cleo" }], ply: 1, watchers: 0 });
  const live = (...matches: string[]) => ({ type: "live", count: matches.length, matches: matches.map(row) });
  await page.says(live("a", "b", "c"));
  assert.deepEqual(fields(page.of("watch"), "match"), [["a"], ["b"]]);
  const watched = snapshot({ match: "a", you: undefined, players: [{ name: "Ben" }, { name: "Cleo" }], seq: 2, moves: [4], last: 4, position: after([4]) });
  await page.says(watched);
  await page.until(".living figcaption", "Ben – Cleo");
  const cells = () => new Map([...document.querySelectorAll<HTMLElement>(".living .cell")].map((each) => [each.id, each.onclick]));
  const before = cells();
  await page.says({ type: "played", match: "a", seq: 3, at_ms: 0, side: 1, ply: 2, move: 0, position: after([4, 0]) });
  assert.deepEqual([...cells()].filter(([id, act]) => before.get(id) !== act).map(([id]) => id), ["a-cell-0", "a-cell-4"], "the new mark, and the last one before it");
  assert.equal(document.querySelectorAll(".living .cell .mark").length, 2);
  assert.equal(document.querySelector(".living .cell")!.closest("[inert]")?.getAttribute("aria-hidden"), "true", "the list has a button for it");
  await page.says(live("b", "c"));
  assert.deepEqual(fields(page.of("unwatch"), "match"), [["a"]]);
  assert.equal(document.querySelector(".living"), null);
  await page.says({ type: "players", online: 101, players: [] }, live("b", "c", "d"), { ...watched, match: "b" });
  assert.equal(document.querySelector(".living"), null, "in a crowd, every move would go to everybody");
  assert.deepEqual(fields(page.of("unwatch"), "match"), [["a"], ["b"]]);
  await page.says({ type: "players", online: 100, players: [] }, live("b", "c", "d"), { ...watched, match: "b" });
  document.querySelector<HTMLElement>(".living figure")!.onclick!({} as PointerEvent);
  await page.says();
  assert.equal(location.pathname, "/m/b");
});

test("installing is offered after the second match, once, where the browser can or says how", async () => {
  const events = new Map<string, (event: object) => void>();
  const { addEventListener } = globalThis;
  const page = await ann();
  globalThis.addEventListener = ((name: string, act: (event: object) => void) => void events.set(name, act)) as never;
  try {
    page.player.awaitOffer();
    let opened = 0;
    const offer = { preventDefault: () => {}, prompt: async () => void opened++ };
    events.get("beforeinstallprompt")!(offer);
    const offered = () => [...document.querySelectorAll(".panel")].some((each) => each.getAttribute("aria-label") === "Install");
    for (const [match, says] of [["m1", false], ["m2", true]] as const) {
      await page.says(snapshot({ match }));
      await page.says({ ...ended(0, "resign"), match });
      await page.until(".deck", "You won");
      await page.press("‹ Lobby");
      assert.equal(offered(), says, `after ${match}`);
    }
    await page.press("Install");
    assert.deepEqual([opened, offered()], [1, false]);
    page.close();
    const install = localStorage.getItem("ttt_net.install")!;
    const again = await ann({ install });
    again.player.awaitOffer();
    events.get("beforeinstallprompt")!(offer);
    await again.says();
    assert.ok(!offered(), "it was answered");
  } finally {
    globalThis.addEventListener = addEventListener;
  }
});

test("a phone that installs only by its own menu is told how, until it is installed or the player does not want it", async (test) => {
  const set = (standalone?: boolean) => Object.defineProperty(navigator, "standalone", { value: standalone, configurable: true });
  test.after(() => set());
  const install = JSON.stringify({ matches: 2, isAnswered: false });
  set(true);
  const installed = await ann({ install });
  assert.throws(() => installed.find("Not now"));
  installed.close();
  set(false);
  const page = await ann({ install });
  await page.until(".panel", "Tap Share, then “Add to Home Screen”.");
  assert.throws(() => page.find("Install"), "the page cannot do it");
  await page.press("Not now");
  assert.throws(() => page.find("Not now"));
});

test("a typed code starts a match, which the lobby lists afterwards", async () => {
  const page = await ann();
  await page.submit("Invitation code", " abc123 ");
  assert.deepEqual(fields(page.of("join"), "code"), [["abc123"]]);
  await page.says(snapshot({ you: 1, players: [{ name: "Ben" }, { name: "Ann" }] }));
  await page.until("main.match");
  await page.press("‹ Lobby");
  await page.until("main.lobby");
  page.find("Play on against Ben");
});

test("an invitation shows its address, its code and its terms, and is there after loading the page again", async () => {
  const page = await ann({ choice: '{"game":"gomoku","pace":"3+2"}' });
  await page.press("Invite a friend");
  assert.deepEqual(fields(page.of("invite"), "game", "time"), [["gomoku", { initial_ms: 180_000, increment_ms: 2000 }]]);
  await page.says({ ...INVITATION, game: "gomoku", time: { initial_ms: 180_000, increment_ms: 2000 } });
  await page.until(".waiting", "Gomoku, 3+2. The match starts when your friend opens the link.");
  const kept = localStorage.getItem("ttt_net.invitation")!;
  page.close();
  const again = await ann({ invitation: kept });
  await again.until(".code", "ABC123");
  await again.press("Back");
  again.find("Invite a friend");
  assert.equal(localStorage.getItem("ttt_net.invitation"), null);
});

test("an invitation is shown and works after a restart", async () => {
  const page = await ann();
  await page.says(INVITATION);
  await page.until(".code", "ABC123");
  await page.closes(1012);
  await page.until(".banner", "Reconnecting: the server is restarting.");
  await page.greeted(2);
  await page.says(WELCOME);
  await page.until(".code", "ABC123");
  assert.equal(document.querySelector(".banner"), null);
});

test("an address goes to the clipboard, by the old way without one, and is shown where neither works", async () => {
  const page = await ann();
  await page.says(INVITATION);
  const known = navigator as { clipboard?: object };
  const copied: string[] = [];
  let isAllowed = false;
  Object.assign(document, { execCommand: () => isAllowed });
  await page.press("Copy the link");
  const field = await page.until(".copied input");
  assert.equal((field as HTMLInputElement).value, "http://here/j?tictactoe#ABC123");
  isAllowed = true;
  await page.press("Copy the link");
  await page.until(".toast", "The link is copied.");
  await page.press("Close");
  Object.defineProperty(known, "clipboard", { configurable: true, value: { writeText: async (text: string) => void copied.push(text) } });
  try {
    await page.press("Copy the link");
    await page.until(".toast", "The link is copied.");
    assert.deepEqual(copied, ["http://here/j?tictactoe#ABC123"]);
  } finally {
    delete known.clipboard;
  }
});

test("a private match is watched by a link with its code", async () => {
  const page = await ann();
  await page.says(snapshot({ private: true, code: "ABC123" }));
  await page.press("Share a link to watch");
  const field = (await page.until(".copied input")) as HTMLInputElement;
  assert.equal(field.value, "http://here/m/m1#ABC123");
  page.close();
  const watcher = await ann({}, "/m/m1#ABC123");
  assert.deepEqual(fields(watcher.of("watch"), "match", "code"), [["m1", "ABC123"]]);
});

test("a seek on the list is taken by a tap", async () => {
  const page = await ann();
  await page.says({ type: "seeks", count: 1, seeks: [{ seek: 7, by: { name: "Ben" }, games: ["qubic"] }] });
  await page.press("Play Ben");
  assert.deepEqual(fields(page.of("accept"), "seek"), [[7]]);
  await page.says(snapshot({ game: QUBIC, position: { ...snapshot().position, board: ".".repeat(64) } }));
  await page.until("main.match");
  assert.equal(document.querySelectorAll(".layer").length, 4);
});

test("a seek says what is rated, and players who like no ratings seek a casual match", async () => {
  const page = await ann({ choice: '{"game":"gomoku"}' });
  await page.says({ type: "seeks", count: 2, seeks: [{ seek: 7, by: { name: "Ben" }, games: ["gomoku"], rated: true, or_casual: true }, { seek: 8, by: { name: "Cleo" }, games: ["connect:6x5,3+swap"] }] });
  await page.until(".entry", "rated or casual");
  await page.until(".entry", "Connect 3 on 6×5 with swap, no clock");
  await page.press("Casual");
  await page.press("Find an opponent");
  assert.deepEqual(fields(page.of("seek"), "games", "rated", "or_casual"), [[["gomoku"], false, undefined]]);
});

test("a game of any size is sought with its rules", async () => {
  const page = await ann();
  await page.press("Any size");
  await page.press("Marks fall");
  await page.press("The second player may swap sides after the first move");
  for (const [label, value] of [["Width", 6], ["Height", 5], ["In a row", 3]] as const) {
    const field = [...document.querySelectorAll("label")].find((each) => each.textContent === label)!.querySelector("input")!;
    field.onchange?.({ target: { reportValidity: () => true, valueAsNumber: value } } as never);
    await page.says();
  }
  await page.press("Find an opponent");
  assert.deepEqual(fields(page.of("seek"), "games"), [[["connect:6x5,3+swap"]]]);
  const cells = Array.from({ length: 30 }, (_, cell) => cell);
  await page.says(snapshot({ game: { ...CONNECT4, name: "connect:6x5,3+swap", shape: [5, 6], move_cells: cells, move_names: cells.map(String) }, position: { ...snapshot().position, board: ".".repeat(30) } }));
  await page.until("h1", "Connect 3 on 6×5");
  assert.equal(document.querySelectorAll(".cell").length, 30);
});

test("a challenge is declined by a tap, and one that is accepted leads to the match from any screen", async () => {
  const page = await ann();
  await page.says(people({ name: "Ben" }));
  await page.press("Challenge Ben");
  assert.deepEqual(fields(page.of("challenge"), "name", "game"), [["Ben", "tictactoe"]]);
  await page.says(challenged("Ben", "Ann"));
  await page.until(".challenge", "Ben challenges you: Tic-tac-toe, no clock.");
  await page.press("Not now");
  assert.deepEqual(fields(page.of("answer"), "challenge", "accept", "reason"), [[1, false, "later"]]);
  await page.says({ type: "challengeover", challenge: 1, reason: "later" });
  await page.press("Leaderboard");
  await page.until("h1", "Leaderboard");
  await page.says(challenged("Ben", "Ann", 2));
  await page.press("Accept");
  assert.deepEqual(fields(page.of("answer").slice(1), "challenge", "accept"), [[2, true]]);
  await page.says({ type: "challengeover", challenge: 2, reason: "accepted" }, snapshot());
  await page.until("main.match");
  assert.equal(document.querySelector(".challenge"), null);
});

test("a match that begins keeps challenges and invitations that others may still accept", async () => {
  const page = await ann();
  await page.says(INVITATION, challenged("Cleo", "Ann", 2), challenged("Ann", "Ben", 3), snapshot());
  await page.until("main.match");
  assert.deepEqual(textOf(".challenge p"), ["Cleo challenges you: Tic-tac-toe, no clock.", "You challenged Ben: Tic-tac-toe, no clock."]);
  await page.press("‹ Lobby");
  await page.until(".code", "ABC123");
  await page.says(snapshot({ match: "m2", code: "ABC123" }));
  await page.until("main.match");
  await page.press("‹ Lobby");
  await page.until("main.lobby");
  assert.equal(document.querySelector(".code"), null);
});

test("a watcher follows the players to the rematch", async () => {
  const page = await ann({}, "/m/m1");
  await page.says(snapshot({ you: undefined, players: [{ name: "Ben" }, { name: "Cleo" }] }));
  await page.until(".deck", "You are watching.");
  await page.says({ ...ended(null, "abort") });
  await page.until(".deck .status", "Aborted");
  await page.says({ type: "rematched", match: "m1", seq: 3, at_ms: 0, next: "m1-2" });
  await page.press("To the rematch");
  assert.equal(location.pathname, "/m/m1-2");
  assert.deepEqual(fields(page.of("watch"), "match"), [["m1"], ["m1-2"]]);
});

test("players who look for a person are offered a bot, and it is never played without a tap", async () => {
  const page = await ann();
  await page.says(people(BOT));
  await page.press("Find an opponent");
  assert.deepEqual(fields(page.of("seek"), "games", "opponents"), [[["tictactoe"], "people"]]);
  await page.until("[role=status]", "Looking for a person: Tic-tac-toe, no clock, rated or casual; or play a bot now");
  assert.equal(page.of("challenge").length, 0);
  await page.press("Play Tom");
  assert.deepEqual(fields(page.of("challenge"), "name", "game"), [["Tom", "tictactoe"]]);
  await page.says(snapshot({ players: [{ name: "Ann" }, { name: "Tom", bot: "random", level: 3 }] }));
  await page.until(".tag", "bot, level 3");
});

test("a match that was aborted leads to a new opponent for the same terms", async () => {
  const page = await ann();
  await page.says(people(BOT), snapshot({ game: CONNECT4, position: { ...snapshot().position, board: ".".repeat(42) }, time: { initial_ms: 180_000, increment_ms: 2000 } }));
  await page.press("Abort");
  assert.equal(page.of("abort").length, 1);
  await page.says(ended(null, "abort"));
  await page.press("New opponent");
  assert.deepEqual(fields(page.of("seek"), "games", "time"), [[["connect4"], { initial_ms: 180_000, increment_ms: 2000 }]]);
  await page.until("main.lobby", "Looking for a person");
});

test("a bot that has gone on to another player is challenged to the rematch", async () => {
  const page = await ann();
  await page.says(snapshot({ players: [{ name: "Ann" }, { name: "Tom", bot: "random", level: 3 }], present: [true, false] }));
  await page.says(ended(null, "abort"));
  assert.ok(!textOf("main").join().includes("has left"));
  assert.ok(!textOf("button").includes("Another game"));
  await page.press("Rematch");
  assert.deepEqual(fields(page.of("challenge"), "name", "game", "level"), [["Tom", "tictactoe", 3]]);
});

test("who beats a bot reads how much stronger the next level is in that game", async () => {
  const page = await ann();
  for (const [level, winner, says] of [[3, 0, "Level 4 is about 45 points stronger."], [8, 0, undefined], [3, 1, undefined]] as const) {
    await page.says(snapshot({ match: `m${level}${winner}`, players: [{ name: "Ann" }, { name: "Tom", bot: "random", level }] }));
    await page.says({ ...ended(winner, "resign"), match: `m${level}${winner}` });
    await page.until(".deck", winner ? "You lost" : "You won");
    assert.equal(document.querySelector(".said")?.textContent, says);
  }
});

test("a visitor plays a bot of the chosen strength before giving a name", async () => {
  const page = await visitor();
  await page.titled("Games on here");
  await page.press("Play the computer");
  await page.greeted(1);
  assert.deepEqual(fields(page.of("hello"), "name"), [[undefined]]);
  await page.says({ ...WELCOME, you: { name: "Guest 1" } }, people({ ...BOT, level: 5 }, { ...BOT, name: "Kim", any_level: true }));
  assert.deepEqual(fields(page.of("challenge"), "name", "level", "rated"), [["Kim", 3, false]]);
  await page.says(snapshot({ players: [{ name: "Guest 1" }, { name: "Kim", bot: "x", level: 3 }] }));
  await page.until(".tag", "bot, level 3");
  await page.press("‹ Lobby");
  await page.until("section[aria-label='Play a bot']");
  await page.press("8");
  await page.press("Play Kim");
  assert.deepEqual(fields(page.of("challenge").slice(1), "name", "level"), [["Kim", 8]]);
});

test("a visitor invites a friend by one tap, without a name, and the share sheet opens", async () => {
  const page = await visitor();
  const shared: string[] = [];
  Object.assign(navigator, { share: async ({ url }: { url: string }) => void shared.push(url) });
  try {
    await page.press("Invite a friend");
    await page.says({ ...WELCOME, you: { name: "Guest 1" } });
    assert.deepEqual(fields(page.of("invite"), "game"), [["tictactoe"]]);
    await page.says(INVITATION);
    await page.until(".code", "ABC123");
    assert.deepEqual(shared, ["http://here/j?tictactoe#ABC123"]);
    await page.says(INVITATION);
    assert.equal(shared.length, 1, "a later invitation is sent by hand");
  } finally {
    delete (navigator as { share?: unknown }).share;
  }
});

test("a link to watch shows the match before it asks for a name", async () => {
  const page = await visitor({}, "/m/m1");
  await page.greeted(1);
  assert.deepEqual(textOf("input"), []);
  await page.says({ ...WELCOME, you: { name: "Guest 1" } });
  assert.deepEqual(fields(page.of("watch"), "match"), [["m1"]]);
  await page.says(snapshot({ you: undefined }));
  await page.until("main.match");
});

test("the cell that was tapped on the first screen is the first move against the bot", async () => {
  const page = await visitor();
  await page.begins(4);
  const board = document.querySelector(".boards");
  await page.says({ ...WELCOME, you: { name: "Guest 1" } }, people(BOT));
  assert.deepEqual(fields(page.of("challenge"), "name", "side"), [["Tom", 0]]);
  await page.says(snapshot({ players: [{ name: "Guest 1" }, { name: "Tom", bot: "random" }] }));
  await page.until("main.first .deck");
  assert.equal(location.pathname, "/m/m1");
  assert.equal(document.querySelector(".boards"), board, "the same element at the same place");
  assert.deepEqual(textOf(".seat strong"), ["Tom", "Guest 1"]);
  assert.deepEqual(fields(page.of("play"), "move"), [[4]]);
  assert.equal(document.querySelector(".chat"), null, "nobody would read it");
});

test("players are renamed, and deleted once they have typed their own name", async () => {
  const page = await ann();
  await page.press("AAnn"); // with the letter of the face
  await page.says({ type: "profile", player: { name: "Ann" }, since_ms: 0, online: true, won: 0, drawn: 0, lost: 0, ratings: [], against: null, live: [] });
  await page.submit("New name", "Anna");
  assert.deepEqual(fields(page.of("rename"), "name"), [["Anna"]]);
  await page.says({ type: "renamed", you: { name: "Anna" } });
  await page.until("h1", "Anna");
  await page.submit("Your name", "Bob");
  await page.says({ type: "refused", id: page.of("forget").at(-1)!.id, code: "wrong_name", message: "write Anna to be forgotten" });
  await page.submit("Your name", "Anna");
  assert.deepEqual(fields(page.of("forget"), "name"), [["Bob"], ["Anna"]]);
  await page.closes(4004, "forgotten");
  await page.until("#trouble", "Your name and ratings were deleted.");
  assert.equal(localStorage.getItem("ttt_net.token"), null);
});

test("the token is sent in the first message and is part of no address", async () => {
  const urls: string[] = [];
  const page = await visitor({ token: "a secret" });
  const { WebSocket: Plain } = globalThis;
  class Noted extends Plain {
    constructor(url: string) {
      super(url);
      urls.push(url);
    }
  }
  Object.assign(globalThis, { WebSocket: Noted });
  await page.closes(1006);
  await page.greeted(2);
  assert.deepEqual(fields(page.of("hello"), "token"), [["a secret"], ["a secret"]]);
  assert.deepEqual(urls.filter((each) => each.includes("secret")), []);
  assert.ok(urls.length > 0);
});

test("a second tab takes over, and this one takes back, or plays under another name", async () => {
  const page = await ann();
  await page.closes(4001, "elsewhere");
  await page.until("h1", "You are playing in another tab");
  await page.until("p", "Only one tab can be active.");
  await page.press("Play here");
  await page.greeted(2);
  await page.says(WELCOME);
  await page.until("main.lobby");
  await page.closes(4001, "elsewhere");
  await page.press("Play here under another name");
  await page.until("label", "Choose a name");
  await page.submit("Choose a name", "Bob");
  await page.greeted(3);
  const { name, token } = page.of("hello").at(-1) as { name?: string; token?: string };
  assert.equal(name, "Bob");
  await page.says({ ...WELCOME, you: { name: "Bob" } });
  await page.until("main.lobby");
  assert.deepEqual([sessionStorage.getItem("ttt_net.token"), localStorage.getItem("ttt_net.token")], [token, "ann"], "each tab has its own player");
});

test("a device that is offline says so at once, and columns and rows have names", async () => {
  const page = await ann();
  await page.says(snapshot());
  assert.deepEqual([...textOf(".columns span"), ...textOf(".rows span")], ["a", "b", "c", "3", "2", "1"]);
  page.player.link.wentOffline();
  await page.until(".banner", "Reconnecting: this device is offline. Your match is safe.");
});

test("a player plays by phrases and by words, and reads both", async () => {
  const page = await ann();
  await page.says(snapshot());
  await page.press("Good luck!");
  await page.submit("To your opponent", " and to you ");
  assert.deepEqual(fields(page.of("chat"), "phrase", "text"), [["good_luck", undefined], [undefined, "and to you"]]);
  await page.says({ type: "chat", match: "m1", by: { name: "Ben" }, text: "Good luck!", phrase: "good_luck" }, { type: "chat", match: "m1", by: { name: "Ann" }, text: "<b>hi</b>" });
  assert.deepEqual(textOf(".spoken p > span"), ["Good luck!", "<b>hi</b>"]);
});

test("muted players read why, and write again once it is lifted or has run out", async () => {
  const page = await ann();
  await page.says(snapshot(), { type: "sanctioned", act: "mute", reason: "be kind", ends_in_ms: 300_000 });
  const told = await page.until(".chat .trouble", "Nobody sees what you write");
  assert.match(told.textContent!, /Reason: Be kind\./);
  assert.equal(document.querySelector("[aria-label='To your opponent']"), null);
  await page.says({ type: "sanctioned", act: "mute", lifted: true });
  await page.until(".toast", "Others can see what you write again.");
  await page.until("[aria-label='To your opponent']");
  await page.says({ type: "sanctioned", act: "mute", ends_in_ms: 20 });
  await page.until(".chat .trouble");
  await page.until("[aria-label='To your opponent']");
  assert.equal(document.querySelector(".chat .trouble"), null);
});

test("banned players read why and until when in their language, also when they come again", async () => {
  const page = await ann({ language: "fr" });
  await page.says({ type: "sanctioned", act: "ban", reason: "insultes", ends_in_ms: 7_200_000 });
  await page.closes(4005, "banned");
  const told = await page.until("main", "L’hôte vous a banni");
  assert.match(told.textContent!, /Motif : Insultes\./);
});

test("a profile has a report too", async () => {
  const page = await ann({}, "/#player=Ben");
  await page.says({ type: "profile", player: { name: "Ben" }, since_ms: 0, online: false, won: 1, drawn: 0, lost: 0, ratings: [], against: null, live: [] });
  await page.until("summary", "Report Ben");
  await page.press("Their name");
  assert.deepEqual(fields(page.of("report"), "name", "reason", "match"), [["Ben", "name", undefined]]);
  await page.until(".toast", "Thank you");
});

test("the graph of ratings ends with the current rating", async () => {
  const page = await ann({}, "/#player");
  const rated = (rating: number, at_ms: number) => ({ match: `m${at_ms}`, game: "gomoku", at_ms, players: [{ name: "Ann", rating }, { name: "Ben", rating: 1500 }], winner: 0, reason: "line", plies: 9, rated: true });
  const ratings = [{ game: "gomoku", speed: "untimed", rating: 1720, deviation: 90, games: 2, provisional: true }];
  await page.says({ type: "profile", player: { name: "Ann" }, since_ms: 0, online: true, won: 2, drawn: 0, lost: 0, ratings, against: null, live: [] });
  await page.says({ type: "history", player: { name: "Ann" }, matches: [rated(1650, 2), rated(1500, 1)], before: null });
  await page.until("figcaption", "Rating at Gomoku: from 1500 to 1720");
  assert.deepEqual(textOf(".plot span"), ["1720", "1500"]);
  await page.until("tbody td", "1720?");
});

test("filters and pages have addresses and titles", async () => {
  const page = await ann({}, "/#player=Ben&game=gomoku");
  await page.says({ type: "history", player: { name: "Ben" }, matches: [], before: null });
  assert.deepEqual(fields(page.of("history"), "name", "game"), [["Ben", "gomoku"]]);
  const chosen = document.querySelector<HTMLSelectElement>("select[aria-label='Game']")!;
  chosen.onchange?.({ target: { value: "tictactoe" } } as never);
  await page.says();
  assert.equal(location.hash, "#player=Ben&game=tictactoe");
  await page.titled("Ben – here");
  page.close();
  const ranks = await ann({}, "/#leaders=gomoku&speed=blitz");
  await ranks.until("h1", "Leaderboard");
  assert.deepEqual(fields(ranks.of("leaderboard"), "game", "speed", "page"), [["gomoku", "blitz", 1]]);
  await ranks.titled("Leaderboard, Gomoku – here");
});

test("an address that leads nowhere leads to the lobby", async () => {
  const page = await ann({}, "/nowhere");
  await page.until("h1", "There is nothing at this address");
  await page.press("To the lobby");
  await page.until("main.lobby");
  assert.equal(location.pathname, "/");
});

test("the page uses the first known language of the browser, or the chosen one", async () => {
  const known = navigator as { languages: readonly string[] };
  const before = Object.getOwnPropertyDescriptor(known, "languages");
  Object.defineProperty(known, "languages", { configurable: true, value: ["de-DE", "ru-RU", "en"] });
  try {
    const page = await visitor();
    await page.until("h1", "Крестики-нолики и их семья");
    await page.press("Настройки");
    const chosen = (await page.until("select")) as HTMLSelectElement;
    chosen.onchange?.({ target: { value: "ar" } } as never);
    await page.until("h1", "إكس أو وعائلتها");
    assert.deepEqual([document.documentElement.lang, document.documentElement.dir], ["ar", "rtl"]);
    const language = localStorage.getItem("ttt_net.language")!;
    page.close();
    await (await visitor({ language })).until("h1", "إكس أو وعائلتها");
  } finally {
    if (before) Object.defineProperty(known, "languages", before);
    else Object.defineProperty(known, "languages", { configurable: true, value: ["en"] });
  }
});

test("a player who comes back to a match or to the lobby requests it with the hello, and once", async () => {
  const page = await visitor({ token: "ann" }, "/m/m1", true);
  await page.greeted(1);
  assert.deepEqual(page.sent.map(({ type }) => type), ["hello", "resume"]);
  await page.says({ ...WELCOME, matches: ["m1"] }, { type: "ok", id: page.of("resume")[0]!.id }, snapshot());
  await page.until("main.match");
  assert.deepEqual([page.of("resume").length, page.of("watch").length], [1, 0]);
  const other = await visitor({ token: "ann" }, "/", true);
  await other.greeted(1);
  await other.says(WELCOME, { type: "ok", id: other.of("lobby")[0]!.id });
  await other.until("main.lobby");
  assert.equal(other.of("lobby").length, 1);
});

test("what the server refuses with the hello is requested again after the welcome", async () => {
  const page = await visitor({ token: "ann" }, "/", true);
  await page.greeted(1);
  await page.says(WELCOME);
  await page.refuses("lobby", "hello_first", "say hello first");
  assert.equal(page.of("lobby").length, 2);
});
