/**
 * What the page knows, and how it changes with what is heard. Knows no document, no socket and no rules of play.
 *
 * @typedef {import("./connection.js").Message} Message
 * @typedef {{name: string, bot?: string, level?: number, rating?: number, provisional?: boolean}} Player
 * @typedef {{initial_ms: number, increment_ms?: number, per_move?: boolean}} Time
 * @typedef {{name: string, title: string, rule: string, shape: number[], gravity: boolean, move_cells: number[],
 *   move_names: string[], block?: number[]}} Game
 * @typedef {{ply: number, board: string, to_move: number | null, legal: number[], line: number[],
 *   marks: [string, string], blocks?: string}} Position
 * @typedef {{room: string, by: Player, text: string}} Line
 * @typedef {{ply: number, move: number, value: number, best: string[], turning?: boolean, score?: number | null}} Judged
 * @typedef {{positions: Position[], ply: number, last: number, error: string}} Review
 * @typedef {{match: string, seq: number, game: Game, players: [Player, Player], present: [boolean, boolean],
 *   moves: number[], position: Position, offers: {side: number, kind: string}[], you?: number, last?: number | null,
 *   time?: Time, clock?: {remaining_ms: [number, number], running: number | null},
 *   outcome?: {winner: number | null, reason: string}, adjourned?: boolean, private?: boolean, watchers?: number,
 *   away?: {side: number, on_purpose: boolean, claim_in_ms: number} | null, previous?: string, next?: string,
 *   rated?: boolean, score?: [number, number], code?: string}} Snapshot
 * @typedef {Snapshot & {heardAt: number, awayAt: number, pending: {ply: number, move: number} | null, chat: Line[],
 *   ratings: {before: number, after: number}[] | null, review: Review | null,
 *   analysis: {moves: Judged[], exact: boolean} | "asked" | null}} Match
 */

const MOST_LINES = 100;

export class State {
  constructor() {
    /** @type {import("./connection.js").Link} */
    this.link = "connecting";
    this.trouble = "";
    /** @type {{code: string | number, message: string} | null} */
    this.parting = null;
    /** @type {Player | null} */
    this.you = null;
    this.server = "";
    /** @type {string[]} */
    this.features = [];
    /** @type {string[]} */
    this.unfinished = [];
    /** @type {Map<string, Match>} */
    this.matches = new Map();
    /** @type {any} */
    this.seeking = null;
    /** @type {any[]} */
    this.suggested = [];
    /** @type {any[] | null} */
    this.seeks = null;
    /** @type {any[] | null} */
    this.players = null;
    this.online = 0;
    /** @type {any[] | null} */
    this.live = null;
    /** @type {any} */
    this.invitation = null;
    /** @type {Map<number, any>} */
    this.challenges = new Map();
    /** @type {any} */
    this.profile = null;
    /** @type {any} */
    this.history = null;
    /** @type {any} */
    this.leaders = null;
    this.notice = "";
    this.said = "";
  }

  /** Our live matches, those that wait for our move first. */
  ownLive() {
    const own = [...this.matches.values()].filter((match) => match.you !== undefined && !match.outcome);
    return own.sort((one, other) => Number(isMyTurn(other)) - Number(isMyTurn(one)));
  }

  /**
   * Take in one message.
   *
   * @param {Message} message
   * @param {number} now  milliseconds of the local clock
   */
  hear(message, now) {
    switch (message.type) {
      case "welcome":
        this.you = message.you;
        this.server = message.server;
        this.features = message.features ?? [];
        this.unfinished = message.matches;
        this.seeking = message.seek ?? null;
        this.invitation = null;
        this.challenges.clear();
        this.parting = null;
        for (const match of this.matches.values()) {
          if (match.you !== undefined && !match.outcome && !message.matches.includes(match.match)) match.pending = null;
        }
        break;
      case "rejected":
      case "parted":
        this.parting = { code: message.code, message: message.message };
        break;
      case "snapshot":
        this.snapshot(message, now);
        break;
      case "seeks":
        this.seeks = message.seeks;
        break;
      case "players":
        this.players = message.players;
        this.online = message.online;
        break;
      case "live":
        this.live = message.matches;
        break;
      case "suggestion":
        this.suggested = message.bots;
        break;
      case "invitation":
        this.invitation = message;
        break;
      case "challenged":
        this.challenges.set(message.challenge, message);
        break;
      case "challengeover":
        this.challenges.delete(message.challenge);
        break;
      case "renamed":
        this.you = message.you;
        break;
      case "profile":
      case "history":
        this[message.type] = message;
        break;
      case "leaderboard":
        this.leaders = message;
        break;
      case "restarting":
        this.notice = "The server restarts; your match waits as it is.";
        break;
      default:
        this.about(this.matches.get(message.match), message, now);
    }
  }

  /**
   * @param {any} message
   * @param {number} now
   */
  snapshot(message, now) {
    const before = this.matches.get(message.match);
    const isNew = message.you !== undefined && !before && !message.outcome;
    if (isNew) {
      this.seeking = null;
      this.suggested = [];
      this.invitation = null;
    }
    const own = { chat: [], ratings: null, review: null, analysis: null, pending: null, ...pick(before) };
    const match = { ...message, ...own, heardAt: now, awayAt: now };
    if (match.outcome && match.review && match.review.last < match.position.ply) match.review = null;
    this.matches.set(message.match, settled(match));
  }

  /**
   * @param {Match | undefined} match
   * @param {Message} message
   * @param {number} now
   */
  about(match, message, now) {
    if (!match) return;
    if (message.seq !== undefined) {
      if (message.seq <= match.seq) return;
      follow(match, message, now);
      settled(match);
      return;
    }
    switch (message.type) {
      case "presence":
        match.present[message.side] = message.online;
        if (message.side !== match.you) {
          match.away = message.away ?? null;
          match.awayAt = now;
        }
        break;
      case "watching":
        match.watchers = message.watchers;
        break;
      case "rated":
        match.ratings = message.ratings;
        break;
      case "chat":
        match.chat = [...match.chat, { room: message.room, by: message.by, text: message.text }].slice(-MOST_LINES);
        break;
      case "analysis":
        match.analysis = { moves: message.moves, exact: message.exact };
        break;
      case "replay":
        if (match.review) {
          match.review.positions.splice(message.ply, message.positions.length, ...message.positions);
          match.review.last = message.last;
        }
        break;
    }
  }
}

/** @param {Match | undefined} match */
function pick(match) {
  if (!match) return {};
  const { chat, ratings, review, analysis, pending } = match;
  return { chat, ratings, review, analysis, pending };
}

/**
 * Change a match by one numbered fact.
 *
 * @param {Match} match
 * @param {Message} fact
 * @param {number} now
 */
function follow(match, fact, now) {
  match.seq = fact.seq;
  if (fact.clock) {
    match.clock = fact.clock;
    match.heardAt = now;
  }
  switch (fact.type) {
    case "played":
      match.moves = [...match.moves, fact.move];
      match.position = fact.position ?? match.position;
      match.last = fact.move;
      match.offers = [];
      match.adjourned = false;
      break;
    case "tookback":
      match.moves = match.moves.slice(0, fact.ply);
      match.position = fact.position ?? match.position;
      match.last = match.moves.at(-1) ?? null;
      match.offers = [];
      break;
    case "adjourned":
      match.adjourned = true;
      match.offers = [];
      break;
    case "offered":
      match.offers = [...match.offers, { side: fact.side, kind: fact.kind }];
      break;
    case "declined":
      match.offers = match.offers.filter((offer) => offer.kind !== fact.kind);
      break;
    case "ended":
      match.outcome = { winner: fact.winner, reason: fact.reason };
      match.position = { ...match.position, to_move: null, legal: [] };
      match.offers = [];
      match.away = null;
      break;
    case "rematched":
      match.next = fact.next;
      match.offers = [];
      break;
  }
}

/**
 * Forget the move on its way once the match has gone past it.
 *
 * @param {Match} match
 */
function settled(match) {
  if (match.pending && (match.outcome || match.position.ply !== match.pending.ply)) match.pending = null;
  return match;
}

/** @param {Match} match */
export function isMyTurn(match) {
  return !match.outcome && match.you !== undefined && match.position.to_move === match.you;
}

/**
 * What is left to a side, in milliseconds; null without a clock. It stands still while the link is lost.
 *
 * @param {Match} match
 * @param {number} side
 * @param {number} now
 */
export function leftMs(match, side, now) {
  if (!match.clock) return null;
  const spent = match.clock.running === side && !match.outcome ? Math.max(0, now - match.heardAt) : 0;
  return Math.max(0, match.clock.remaining_ms[side] - spent);
}

/**
 * The legal moves that a cell means: those that mark it or, where marks fall, those of its column or peg.
 *
 * @param {Game} game
 * @param {number[]} legal
 * @param {number} cell
 */
export function movesAt(game, legal, cell) {
  const cells = game.move_cells;
  if (!game.gravity) return legal.filter((move) => cells[move] === cell);
  const [height, width] = game.shape.slice(-2);
  const column = game.shape.length === 3 ? width * height : width;
  return legal.filter((move) => cells[move] >= 0 && cells[move] % column === cell % column);
}
