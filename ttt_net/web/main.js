/**
 * The page: what it knows, what the player has chosen, and what a tap does.
 *
 * @typedef {import("./state.js").Match} Match
 * @typedef {{pace: string, game: string, swap: boolean}} Choice
 * @typedef {{kind: "resign" | "mark" | "forget" | "rename", match?: string, moves?: number[]}} Question
 */

import { CATALOGUE } from "./catalogue.js";
import { Connection } from "./connection.js";
import { dialog } from "./dialog.js";
import { h, patch } from "./dom.js";
import { declined, lobbyScreen, PACES } from "./lobby.js";
import { ending, matchScreen } from "./match.js";
import { leadersScreen, playerScreen } from "./people.js";
import { isMyTurn, State } from "./state.js";
import { messageScreen, nameScreen } from "./welcome.js";
import { label, sentence, speedOf, status } from "./words.js";

const CHOICE = "ttt_net.choice";
const NOTICE_MS = 6000;
const REPLAY_PAGE = 32;
const WIDE = matchMedia("(min-width: 900px)");

export class App {
  constructor() {
    this.state = new State();
    this.ui = {
      /** @type {Choice} */
      choice: { pace: "none", game: "tictactoe", swap: false, ...JSON.parse(localStorage.getItem(CHOICE) ?? "{}") },
      name: "",
      chatText: "",
      /** @type {Question | null} */
      question: null,
      /** @type {number | null} */
      ply: null,
      hover: -1,
      aim: -1,
      focus: -1,
      leaders: { game: "connect4", speed: "untimed", bots: true, page: 1 },
    };
    this.notice = "";
    this.isDrawing = false;
    this.isListening = false;
    this.noticeTimer = 0;
    this.lostAt = 0;
    this.connection = new Connection(
      (message) => this.heard(message),
      (link, trouble) => this.linked(link, trouble),
    );
    this.connection.isUrgent = () => this.state.ownLive().length > 0;
    addEventListener("popstate", () => this.arrive());
    WIDE.addEventListener("change", () => this.draw());
    setInterval(() => this.isTicking() && this.draw(), 100);
  }

  start() {
    if (this.connection.isKnown) this.connection.start();
    this.draw();
  }

  // Where we are.

  /** @returns {{kind: "lobby" | "join" | "match" | "leaders" | "player", id: string}} */
  get place() {
    const [, kind, id] = /^\/([jm])\/([0-9A-Za-z-]+)$/.exec(location.pathname) ?? [];
    if (kind) return { kind: kind === "j" ? "join" : "match", id };
    const [, view, name] = /^#(leaders|me|player)(?:=(.*))?$/.exec(location.hash) ?? [];
    if (view === "leaders") return { kind: "leaders", id: "" };
    if (view) return { kind: "player", id: decodeURIComponent(name ?? "") };
    return { kind: "lobby", id: "" };
  }

  /** @param {string} address */
  go(address) {
    const before = this.place;
    history.pushState(null, "", address);
    const watched = before.kind === "match" ? this.state.matches.get(before.id) : undefined;
    if (watched && watched.you === undefined && before.id !== this.place.id) {
      this.connection.say("unwatch", { match: before.id });
      this.state.matches.delete(before.id);
    }
    this.arrive();
  }

  /** Ask for what the place needs, and draw it. */
  arrive() {
    Object.assign(this.ui, { ply: null, hover: -1, aim: -1, focus: -1, question: null, chatText: "" });
    scrollTo(0, 0);
    if (this.state.link === "online") this.fetch();
    this.draw();
  }

  fetch() {
    const { kind, id } = this.place;
    if (kind === "match" && !this.state.matches.has(id)) this.see(id);
    if (kind === "join") this.join(id);
    if (kind === "player") {
      const name = id || null;
      this.state.profile = this.state.history = null;
      this.request("profile", { name });
      this.request("history", { name, game: null, before: null });
    }
    if (kind === "leaders") this.request("leaderboard", this.ui.leaders);
    this.listen(kind === "lobby");
  }

  /** @param {boolean} isHere */
  listen(isHere) {
    if (isHere === this.isListening) return;
    this.isListening = isHere;
    this.connection.say("lobby", { on: isHere });
  }

  /** See a match: watch it, or take our seat in it. @param {string} id */
  async see(id) {
    let answer = await this.connection.say("watch", { match: id });
    if (answer.code === "not_watching") answer = await this.connection.say("resume", { match: id, seq: 0 });
    if (answer.type === "refused" && answer.code !== "lost") this.turnBack(answer.message);
  }

  /** @param {string} code */
  async join(code) {
    const answer = await this.connection.say("join", { code });
    if (answer.type === "refused" && answer.code !== "lost") this.turnBack(answer.message);
  }

  /** @param {string} why */
  turnBack(why) {
    history.replaceState(null, "", "/");
    this.arrive();
    this.notify(sentence(why));
  }

  // What we hear.

  /** @param {any} message */
  heard(message) {
    const { state } = this;
    const before = state.matches.get(message.match);
    const wasMyTurn = before ? isMyTurn(before) : false;
    const wasOver = Boolean(before?.outcome);
    state.hear(message, this.now());
    const match = state.matches.get(message.match);
    if (message.type === "welcome") this.welcomed(message.matches);
    if (message.type === "snapshot" && match) this.seated(match, !before);
    if (message.type === "challengeover") this.notify(declined(message.reason));
    if (match && message.match === this.place.id) {
      if (message.type === "played") this.announce(this.told(match, message, wasMyTurn));
      if (match.outcome && !wasOver && before) this.announce(ending(match));
      if (message.type === "chat") this.announce(`${label(message.by)}: ${message.text}`);
      if (message.type === "played" || message.type === "tookback" || message.type === "ended") this.ui.aim = -1;
    }
    if (state.notice) {
      this.notify(state.notice);
      state.notice = "";
    }
    this.draw();
  }

  /** @param {string[]} matches */
  welcomed(matches) {
    this.isListening = false;
    for (const id of matches) {
      const seq = this.state.matches.get(id)?.seq ?? 0;
      this.connection.say("resume", { match: id, seq }).then(() => this.again(id));
    }
    for (const match of [...this.state.matches.values()]) {
      if (!matches.includes(match.match) && match.match !== this.place.id) this.state.matches.delete(match.match);
      else if (!matches.includes(match.match)) this.see(match.match);
    }
    this.fetch();
  }

  /** Make the move again that was on its way when the link was lost: made twice, it counts once. @param {string} id */
  again(id) {
    const match = this.state.matches.get(id);
    if (match?.pending) this.sendMove(match, match.pending);
  }

  /**
   * @param {Match} match
   * @param {boolean} isNew
   */
  seated(match, isNew) {
    if (!isNew || match.you === undefined || match.outcome) return;
    if (this.state.unfinished.includes(match.match) && this.place.kind !== "join") return;
    const shown = this.place.kind === "match" ? this.state.matches.get(this.place.id) : undefined;
    if (shown && shown.you !== undefined && !shown.outcome) return;
    this.isListening = false;
    this.go(`/m/${match.match}`);
    this.announce(`${match.game.title} against ${label(match.players[1 - match.you])}. ${status(match)}`);
  }

  /**
   * @param {Match} match
   * @param {any} fact
   * @param {boolean} wasMine
   */
  told(match, fact, wasMine) {
    const name = match.game.move_names[fact.move];
    const who = wasMine && fact.side === match.you ? "You" : match.players[fact.side].name;
    return `${who} played ${name}. ${match.outcome ? "" : status(match)}`;
  }

  /**
   * @param {import("./connection.js").Link} link
   * @param {string} trouble
   */
  linked(link, trouble) {
    if (link === "lost" && this.state.link === "online") this.lostAt = performance.now();
    this.state.link = link;
    this.state.trouble = trouble;
    this.draw();
  }

  // What we say.

  /**
   * @param {string} type
   * @param {Record<string, any>} fields
   */
  async request(type, fields) {
    const answer = await this.connection.say(type, fields);
    if (answer.type === "refused") this.notify(sentence(answer.message));
    return answer.type === "ok";
  }

  /**
   * @param {Match} match
   * @param {number} move
   */
  play(match, move) {
    match.pending = { ply: match.position.ply, move };
    this.ui.aim = -1;
    this.ui.question = null;
    this.sendMove(match, match.pending);
    this.draw();
  }

  /**
   * @param {Match} match
   * @param {{ply: number, move: number}} pending
   */
  async sendMove(match, pending) {
    const answer = await this.connection.say("play", { match: match.match, ...pending });
    if (answer.type === "ok" || answer.code === "lost") return;
    const now = this.state.matches.get(match.match);
    if (now) now.pending = null;
    this.notify(sentence(answer.message));
  }

  get wish() {
    const { game, swap, pace } = this.ui.choice;
    const time = PACES.find((each) => each.key === pace)?.time ?? null;
    return { game: swap && canSwap(game) ? `${game}+swap` : game, time };
  }

  seek() {
    const { game, time } = this.wish;
    this.seekFor({ games: [game], time });
  }

  /** @param {Record<string, any>} wish */
  async seekFor(wish) {
    this.state.suggested = [];
    this.state.seeking = wish;
    this.draw();
    if (!(await this.request("seek", wish))) this.state.seeking = null;
    this.draw();
  }

  /** @param {Match} match */
  seekLike(match) {
    this.go("/");
    this.seekFor({ games: [match.game.name], time: match.time ?? null });
  }

  unseek() {
    this.state.seeking = null;
    this.connection.say("unseek");
    this.draw();
  }

  /** @param {any} seek */
  accept(seek) {
    this.request("accept", { seek: seek.seek });
  }

  /** @param {string} name */
  challenge(name) {
    this.request("challenge", { name, ...this.wish });
  }

  invite() {
    this.request("invite", this.wish);
  }

  forgetInvitation() {
    this.state.invitation = null;
    this.draw();
  }

  /** Show another part of the leaderboard. @param {Record<string, any>} change */
  rank(change) {
    this.ui.leaders = { ...this.ui.leaders, page: 1, ...change };
    this.request("leaderboard", this.ui.leaders);
    this.draw();
  }

  /** Show the next page of a history. */
  older() {
    const name = this.place.id || null;
    this.request("history", { name, game: null, before: this.state.history.before });
  }

  /** @param {Match} match */
  analyse(match) {
    match.analysis = "asked";
    this.draw();
    this.request("analyse", { match: match.match }).then((isTaken) => {
      if (!isTaken && match.analysis === "asked") match.analysis = null;
      this.draw();
    });
  }

  /**
   * @param {Match} match
   * @param {string} name
   */
  async mute(match, name) {
    if (!(await this.request("mute", { name, on: true }))) return;
    match.chat = match.chat.filter((line) => line.by.name !== name);
    this.notify(`You hear no more from ${name}.`);
  }

  /**
   * Show a finished match as it was after so many moves.
   *
   * @param {Match} match
   * @param {number} ply
   */
  review(match, ply) {
    match.review ??= { positions: [], ply: 0, last: match.moves.length, error: "" };
    this.ui.ply = ply === match.moves.length ? null : ply;
    if (this.ui.ply !== null && !match.review.positions[ply]) {
      this.request("replay", { match: match.match, ply: Math.floor(ply / REPLAY_PAGE) * REPLAY_PAGE });
    }
    this.draw();
  }

  // What belongs to this page alone.

  /** @param {Partial<Choice>} change */
  choose(change) {
    Object.assign(this.ui.choice, change);
    localStorage.setItem(CHOICE, JSON.stringify(this.ui.choice));
    this.draw();
  }

  /**
   * @param {"name" | "chatText"} field
   * @param {string} text
   */
  type(field, text) {
    this.ui[field] = text;
    this.draw();
  }

  /** @param {Question | null} question */
  ask(question) {
    this.ui.question = question;
    this.draw();
  }

  /** @param {number} cell */
  hover(cell) {
    if (this.ui.hover === cell) return;
    this.ui.hover = cell;
    this.draw();
  }

  /**
   * @param {Match} match
   * @param {number} cell
   */
  aim(match, cell) {
    this.ui.aim = cell;
    this.draw();
  }

  /** @param {Match} match */
  aimed(match) {
    return isMyTurn(match) && !match.pending ? this.ui.aim : -1;
  }

  /**
   * @param {Match} match
   * @param {number} cell
   */
  focus(match, cell) {
    this.ui.focus = cell;
    this.draw();
  }

  /** The cell that takes the focus: the last one that had it, or the middle of the board. @param {Match} match */
  focusOf(match) {
    const [height, width] = match.game.shape.slice(-2);
    return this.ui.focus >= 0 ? this.ui.focus : Math.floor((height - 1) / 2) * width + Math.floor((width - 1) / 2);
  }

  canShare() {
    return typeof navigator.share === "function";
  }

  /** @param {Match} match */
  share(match) {
    this.send(`${location.origin}/m/${match.match}`);
  }

  /** Hand an address to the share sheet or, without one, to the clipboard. @param {string} url */
  async send(url) {
    try {
      if (this.canShare()) await navigator.share({ url });
      else if (navigator.clipboard) {
        await navigator.clipboard.writeText(url);
        this.notify("The link is copied.");
      } else this.notify(`The link: ${url}`);
    } catch (error) {
      if (!(error instanceof DOMException && error.name === "AbortError")) this.notify(`The link: ${url}`);
    }
  }

  /** @param {string} text */
  notify(text) {
    this.notice = text;
    clearTimeout(this.noticeTimer);
    this.noticeTimer = setTimeout(() => this.notify(""), text ? NOTICE_MS : 0);
    if (!text) clearTimeout(this.noticeTimer);
    this.draw();
  }

  /** Have something read out. @param {string} text */
  announce(text) {
    const place = document.getElementById("said");
    if (place) place.textContent = text;
  }

  isWide() {
    return WIDE.matches;
  }

  now() {
    return performance.now();
  }

  /** The time that clocks show: it stands still while the link is lost. */
  clockNow() {
    return this.state.link === "online" ? performance.now() : this.lostAt;
  }

  isTicking() {
    const match = this.place.kind === "match" ? this.state.matches.get(this.place.id) : undefined;
    const isTimed = match?.clock?.running !== null && match?.clock !== undefined;
    return Boolean(match && !match.outcome && !document.hidden && (isTimed || match.away));
  }

  // What is shown.

  draw() {
    if (this.isDrawing) return;
    this.isDrawing = true;
    queueMicrotask(() => {
      this.isDrawing = false;
      const root = document.getElementById("page");
      if (root) patch(root, [this.banner(), this.toast(), this.screen(), dialog(this)].filter((tree) => tree !== null));
      const mine = this.state.ownLive().some(isMyTurn);
      document.title = `${mine ? "● Your turn – " : ""}${this.state.server || "ttt_net"}`;
    });
  }

  screen() {
    const { state } = this;
    if (state.parting && state.link === "stopped") {
      const isName = typeof state.parting.code === "string";
      if (isName || state.parting.code === 4004) return nameScreen(this);
      return messageScreen(this);
    }
    if (!state.you) return this.connection.isKnown ? messageScreen(this) : nameScreen(this);
    const { kind, id } = this.place;
    const match = kind === "match" ? state.matches.get(id) : undefined;
    if (match) return matchScreen(this, match);
    if (kind === "match" || kind === "join") return messageScreen(this);
    if (kind === "leaders") return leadersScreen(this);
    if (kind === "player") return playerScreen(this);
    return lobbyScreen(this);
  }

  banner() {
    if (this.state.link !== "lost" || !this.state.you) return null;
    const safe = this.state.ownLive().length ? "Your match is safe." : "";
    return h("div", { key: "banner", class: "banner", role: "status" }, `Reconnecting: ${this.state.trouble}. ${safe}`);
  }

  toast() {
    if (!this.notice) return null;
    return h(
      "div",
      { key: "toast", class: "toast", role: "status" },
      h("span", null, this.notice),
      h("button", { type: "button", class: "plain", "aria-label": "Close", onclick: () => this.notify("") }, "×"),
    );
  }

  /** How quick the way to the server is, in a word. */
  linkWord() {
    const { link } = this.state;
    const ms = this.connection.latencyMs;
    const word = link === "online" ? speedOf(ms) : "offline";
    const detail = ms === null ? "" : `${Math.round(ms)} ms`;
    return h("span", { class: `link link-${word.replace(" ", "-")}`, title: detail }, h("i", { "aria-hidden": "true" }), word);
  }
}

/** @param {string} game */
function canSwap(game) {
  return CATALOGUE.some((each) => each.name === game && each.swap);
}

new App().start();
