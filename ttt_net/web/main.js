/**
 * The page: what it knows, what the player has chosen, and what a tap does.
 *
 * @typedef {import("./state.js").Match} Match
 */

import { CATALOGUE } from "./catalogue.js";
import { Connection } from "./connection.js";
import { dialog } from "./dialog.js";
import { h, patch } from "./dom.js";
import { challenges, lobbyScreen, timeOf } from "./lobby.js";
import { matchScreen } from "./match.js";
import { leadersScreen, playerScreen } from "./people.js";
import { isMyTurn, State } from "./state.js";
import { messageScreen, nameScreen } from "./welcome.js";
import { declined, label, sentence, speedOf, status } from "./words.js";

const CHOICE = "ttt_net.choice";
const NOTICE_MS = 6000;
const TICK_MS = 100;
const REPLAY_PAGE = 32;
const WIDE = matchMedia("(min-width: 900px)");
/** What belongs to the screen that is shown, and is forgotten with it. */
const FRESH = { ply: null, hover: -1, aim: -1, focus: -1, question: null, chatText: "" };

export class App {
  state = new State();
  connection = new Connection((message) => this.#heard(message), (trouble) => this.#linked(trouble));
  ui = {
    ...FRESH,
    choice: { pace: "No clock", game: "tictactoe", swap: false, rated: false, ...JSON.parse(localStorage.getItem(CHOICE) ?? "{}") },
    leaders: { game: "connect4", speed: "untimed", bots: true, page: 1 },
    name: "",
    notice: "",
    trouble: "",
  };
  #isDrawing = false;
  #isListening = false;
  #noticeTimer = 0;
  #lostAt = 0;
  /** @type {Promise<any>} */
  #asked = Promise.resolve();

  start() {
    this.connection.isUrgent = () => this.state.ownLive().length > 0;
    addEventListener("popstate", () => this.#arrive());
    WIDE.addEventListener("change", () => this.#draw());
    setInterval(() => this.#isTicking && this.#draw(), TICK_MS);
    if (this.connection.isKnown) this.connection.start();
    this.#draw();
  }

  // Where we are.

  /** @returns {{kind: "lobby" | "join" | "match" | "leaders" | "player", id: string}} */
  get place() {
    const [, kind, id] = /^\/([jm])\/([0-9A-Za-z-]+)$/.exec(location.pathname) ?? [];
    if (kind) return { kind: kind === "j" ? "join" : "match", id };
    const [, view, name] = /^#(leaders|me|player)(?:=(.*))?$/.exec(location.hash) ?? [];
    if (!view) return { kind: "lobby", id: "" };
    return view === "leaders" ? { kind: "leaders", id: "" } : { kind: "player", id: decodeURIComponent(name ?? "") };
  }

  /** The match on the screen. */
  get #shown() {
    const { kind, id } = this.place;
    return kind === "match" ? this.state.matches.get(id) : undefined;
  }

  /** @param {string} address */
  go(address) {
    const before = this.#shown;
    history.pushState(null, "", address);
    if (before && before.you === undefined && before !== this.#shown) {
      this.connection.say("unwatch", { match: before.match });
      this.state.matches.delete(before.match);
    }
    this.#arrive();
  }

  #arrive() {
    scrollTo(0, 0);
    if (this.connection.link === "online") this.#fetch();
    this.set(FRESH);
  }

  /** Ask for what the place needs. */
  #fetch() {
    const { kind, id } = this.place;
    if (kind === "match" && !this.#shown) this.#see(id);
    if (kind === "join") this.#try("join", { code: id });
    if (kind === "leaders") this.#ask("leaderboard", this.ui.leaders);
    if (kind === "player") {
      this.know({ profile: null, history: null });
      this.#ask("profile", { name: id || null });
      this.fetchHistory();
    }
    if (this.#isListening !== (kind === "lobby")) {
      this.#isListening = !this.#isListening;
      this.connection.say("lobby", { on: this.#isListening });
    }
  }

  fetchHistory(before = null) {
    this.#ask("history", { name: this.place.id || null, game: null, before });
  }

  /** Watch a match or, if it is ours, take our seat in it; a private one opens to its code. */
  async #see(match) {
    const code = location.hash.slice(1);
    const answer = await this.connection.say("watch", { match, ...(code && { code }) });
    if (answer.code === "not_watching") this.#try("resume", { match, seq: 0 });
    else this.#turnBack(answer);
  }

  async #try(type, fields) {
    this.#turnBack(await this.connection.say(type, fields));
  }

  #turnBack({ type, code, message }) {
    if (type === "ok" || code === "lost") return;
    history.replaceState(null, "", "/");
    this.#arrive();
    this.notify(sentence(message));
  }

  // What we hear.

  #heard(message) {
    const { state } = this;
    const before = state.matches.get(message.match);
    const wasOver = before?.outcome;
    state.hear(message, performance.now());
    const match = state.matches.get(message.match);
    if (message.type === "welcome") this.#welcomed(message.matches);
    if (message.type === "snapshot" && !before) this.#seated(match);
    if (message.type === "challengeover") this.notify(declined(message.reason));
    if (message.type === "notice") this.notify(message.text);
    if (message.type === "restarting") this.notify("The server restarts; your match waits as it is.");
    if (match && match === this.#shown) {
      if (["played", "tookback", "ended"].includes(message.type)) this.ui.aim = -1;
      if (message.type === "played") this.announce(`${this.#who(match, message.side)} played ${match.game.move_names[message.move]}. ${status(match)}`);
      else if (match.outcome && !wasOver && before) this.announce(status(match));
      if (message.type === "chat") this.announce(`${label(message.by)}: ${message.text}`);
    }
    this.#draw();
  }

  #who(match, side) {
    return side === match.you ? "You" : match.players[side].name;
  }

  /** Take our seats again, and see again what we saw. @param {string[]} own */
  #welcomed(own) {
    const { matches } = this.state;
    this.#isListening = false;
    for (const match of own) {
      const resumed = this.connection.say("resume", { match, seq: matches.get(match)?.seq ?? 0 });
      resumed.then(() => this.#again(matches.get(match)));
    }
    const shown = this.#shown;
    for (const id of matches.keys()) if (!own.includes(id) && id !== shown?.match) matches.delete(id);
    if (shown && !own.includes(shown.match)) this.#see(shown.match);
    this.#fetch();
  }

  /** Make the move again that was on its way when the link was lost: made twice, it counts once. */
  #again(match) {
    if (match?.pending) this.#sendMove(match);
  }

  /** Go to a match of ours that has just begun, unless another goes on here. */
  #seated(match) {
    if (match.you === undefined || match.outcome || match === this.#shown) return;
    if (this.state.unfinished.includes(match.match) && this.place.kind !== "join") return;
    if (this.#shown && this.#shown.you !== undefined && !this.#shown.outcome) return;
    this.#isListening = false;
    if (this.place.kind === "join") history.replaceState(null, "", "/"); // a code is good once
    this.go(`/m/${match.match}`);
    this.announce(`${match.game.title} against ${label(match.players[1 - match.you])}. ${status(match)}`);
  }

  #linked(trouble) {
    if (this.connection.link === "lost" && !this.ui.trouble) this.#lostAt = performance.now();
    this.set({ trouble: this.connection.link === "lost" ? trouble : "" });
  }

  // What we say.

  /** Send a request; what is refused is shown. @param {string} type */
  async request(type, fields) {
    const answer = await this.connection.say(type, fields);
    if (answer.type === "refused") this.notify(sentence(answer.message));
    return answer.type === "ok";
  }

  /** Ask about the past: the server answers one such question at a time. */
  #ask(type, fields) {
    this.#asked = this.#asked.then(() => this.request(type, fields));
  }

  /** @param {Match} match @param {number} move */
  play(match, move) {
    match.pending = { ply: match.position.ply, move };
    this.#sendMove(match);
    this.set({ aim: -1, question: null });
  }

  async #sendMove({ match, pending }) {
    const answer = await this.connection.say("play", { match, ...pending });
    if (answer.type === "ok" || answer.code === "lost") return;
    const now = this.state.matches.get(match);
    if (now) now.pending = null;
    this.notify(sentence(answer.message));
  }

  /** The chosen game, its clock, and whether it is for ratings. @returns {any} */
  get wish() {
    const { game, swap, pace, rated } = this.ui.choice;
    const known = CATALOGUE.find((each) => each.name === game);
    return { game: swap && known?.swap ? `${game}+swap` : game, time: timeOf(pace), ...(rated && known?.rated && { rated }) };
  }

  async seek({ game, ...rest } = this.wish) {
    const wish = { games: [game], ...rest };
    this.know({ suggested: [], seeking: wish });
    if (!(await this.request("seek", wish))) this.know({ seeking: null });
  }

  /** @param {Match} match */
  seekLike(match) {
    this.go("/");
    this.seek({ game: match.game.name, time: match.time ?? null, ...(match.rated && { rated: true }) });
  }

  unseek() {
    this.know({ seeking: null });
    this.connection.say("unseek");
  }

  /** Be paired with a standing seek; one for any game is met with a seek for the chosen one. */
  accept({ seek, games, time }) {
    if (games.length) this.request("accept", { seek });
    else this.seek({ game: this.wish.game, time: time ?? null });
  }

  challenge(name, wish = this.wish) {
    this.request("challenge", { name, ...wish });
  }

  /** Invitations are never for ratings. */
  invite() {
    const { game, time } = this.wish;
    this.request("invite", { game, time });
  }

  async rename(name) {
    if (await this.request("rename", { name })) this.notify(`You are called ${name} now.`);
  }

  /** @param {Match} match */
  async analyse(match) {
    match.analysis = { moves: null };
    this.#draw();
    if (!(await this.request("analyse", { match: match.match }))) match.analysis = null;
    this.#draw();
  }

  /** @param {Match} match */
  async mute(match, name) {
    if (!(await this.request("mute", { name, on: true }))) return;
    match.chat = match.chat.filter((line) => line.by.name !== name);
    this.notify(`You hear no more from ${name}.`);
  }

  /** Show a finished match as it was after so many moves. @param {Match} match */
  review(match, wanted) {
    const { length } = match.moves;
    const ply = Math.min(length, Math.max(0, Math.round(wanted)));
    const page = ply - (ply % REPLAY_PAGE);
    if (!(page in match.past)) {
      match.past[page] = undefined; // one question for each page
      this.#ask("replay", { match: match.match, ply: page });
    }
    this.set({ ply: ply === length ? null : ply });
  }

  rank(change) {
    this.set({ leaders: { ...this.ui.leaders, page: 1, ...change } });
    this.#ask("leaderboard", this.ui.leaders);
  }

  // What belongs to this page alone.

  /** Change something of the page, and draw it. */
  set(change) {
    Object.assign(this.ui, change);
    this.#draw();
  }

  /** Change something of what we know, and draw it. */
  know(change) {
    Object.assign(this.state, change);
    this.#draw();
  }

  choose(change) {
    Object.assign(this.ui.choice, change);
    localStorage.setItem(CHOICE, JSON.stringify(this.ui.choice));
    this.#draw();
  }

  /** @param {Match} match */
  share(match) {
    this.send(`${location.origin}/m/${match.match}${match.code ? `#${match.code}` : ""}`);
  }

  /** Hand an address to the share sheet or, without one, to the clipboard, which pages over plain HTTP lack. @param {string} url */
  async send(url) {
    const { clipboard } = navigator;
    try {
      if ("share" in navigator) await navigator.share({ url });
      else {
        await clipboard.writeText(url);
        this.notify("The link is copied.");
      }
    } catch (error) {
      if (!(error instanceof DOMException && error.name === "AbortError")) this.notify(`The link: ${url}`);
    }
  }

  notify(notice) {
    clearTimeout(this.#noticeTimer);
    if (notice) this.#noticeTimer = setTimeout(() => this.notify(""), NOTICE_MS);
    this.set({ notice });
  }

  /** Have something read out. */
  announce(text) {
    const place = document.getElementById("said");
    if (place) place.textContent = text;
  }

  get isWide() {
    return WIDE.matches;
  }

  /** The time that clocks show: it stands still while the link is lost. */
  clockNow() {
    return this.connection.link === "online" ? performance.now() : this.#lostAt;
  }

  get #isTicking() {
    const match = this.#shown;
    return match && !match.outcome && !document.hidden && ((match.clock?.running ?? null) !== null || match.away);
  }

  // What is shown.

  #draw() {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    queueMicrotask(() => {
      this.#isDrawing = false;
      const root = document.getElementById("page");
      const shown = h("div", this.#banner(), this.state.you && challenges(this), this.#screen(), dialog(this), this.#toast());
      if (root) patch(root, shown.children);
      const isMine = this.state.ownLive().some(isMyTurn);
      document.title = `${isMine ? "● Your turn – " : ""}${this.state.server || "ttt_net"}`;
    });
  }

  #screen() {
    const { you } = this.state;
    const { link, isKnown } = this.connection;
    if (!isKnown && (link === "stopped" || !you)) return nameScreen(this);
    if (link === "stopped" || !you) return messageScreen(this);
    const { kind } = this.place;
    if (this.#shown) return matchScreen(this, this.#shown);
    if (kind === "match" || kind === "join") return messageScreen(this);
    return kind === "leaders" ? leadersScreen(this) : kind === "player" ? playerScreen(this) : lobbyScreen(this);
  }

  #banner() {
    const safe = this.state.ownLive().length ? "Your match is safe." : "";
    return this.ui.trouble && this.state.you && h("div.banner", { role: "status" }, `Reconnecting: ${this.ui.trouble}. ${safe}`);
  }

  #toast() {
    const close = { type: "button", label: "Close", onclick: () => this.notify("") };
    return this.ui.notice && h("div.toast", { key: "toast", role: "status" }, h("span", this.ui.notice), h("button.plain", close, "×"));
  }

  /** How quick the way to the server is, in a word. */
  linkWord() {
    const ms = this.connection.latencyMs;
    const words = this.connection.link === "online" ? speedOf(ms) : "offline";
    return h("span.link", { class: `link-${words.split(" ").at(-1)}`, title: ms && `${Math.round(ms)} ms` }, h("i", { hidden: true }), words);
  }
}

new App().start();
