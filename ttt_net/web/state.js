/**
 * What the page knows, and how it changes with what is heard. Knows no document, no socket and no rules of play.
 *
 * The names of fields are those of docs/protocol.md.
 *
 * @typedef {{name: string, bot?: string, level?: number, rating?: number, provisional?: boolean}} Player
 * @typedef {{name: string, title: string, rule: string, shape: number[], gravity: boolean, move_cells: number[],
 *   move_names: string[], block?: number[]}} Game
 * @typedef {{ply: number, board: string, to_move: number | null, legal: number[], line: number[], marks: string[],
 *   blocks?: string}} Position
 * @typedef {{match: string, seq: number, game: Game, players: Player[], present: boolean[], moves: number[],
 *   position: Position, offers: any[], you?: number, last?: number | null, time?: any, clock?: any, outcome?: any,
 *   adjourned?: boolean, private?: boolean, watchers?: number, away?: any, next?: string, rated?: boolean,
 *   score?: number[], code?: string, heardAt: number, awayAt: number, pending: {ply: number, move: number} | null,
 *   chat: any[], ratings: any[] | null, past: Position[], analysis: any}} Match
 *   a snapshot, and what the page keeps with it
 */

const MOST_LINES = 100;

export class State {
  /** @type {{code: string | number, message: string} | null} */
  parting = null;
  /** @type {Player | null} */
  you = null;
  server = "";
  /** @type {string[]} */
  features = [];
  /** Whether the host lets players say more than the phrases. */
  mayType = true;
  /** @type {string[]} */
  unfinished = [];
  /** @type {Map<string, Match>} */
  matches = new Map();
  seeking = null;
  suggested = [];
  seeks = [];
  players = [];
  live = [];
  invitation = null;
  challenges = new Map();
  profile = null;
  history = null;
  leaders = null;

  /** Our live matches, those that wait for our move first. */
  ownLive() {
    const own = [...this.matches.values()].filter((match) => match.you !== undefined && !match.outcome);
    return own.sort((one, other) => Number(isMyTurn(other)) - Number(isMyTurn(one)));
  }

  /** Take in one message; `now` is in milliseconds of the local clock. */
  hear(message, now) {
    switch (message.type) {
      case "welcome":
        this.you = message.you;
        this.server = message.server;
        this.features = message.features ?? [];
        this.mayType = message.chat ?? true;
        this.unfinished = message.matches;
        this.seeking = message.seek ?? null;
        this.invitation = this.parting = null;
        this.challenges.clear();
        break;
      case "parted":
        this.parting = message;
        break;
      case "snapshot":
        this.#snapshot(message, now);
        break;
      case "seeks":
      case "players":
        this[message.type] = message[message.type];
        break;
      case "live":
        this.live = message.matches;
        break;
      case "suggestion":
        this.suggested = message.bots;
        break;
      case "invitation":
      case "profile":
      case "history":
        this[message.type] = message;
        break;
      case "leaderboard":
        this.leaders = message;
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
      default: {
        const match = this.matches.get(message.match);
        if (match && message.seq === undefined) ofTheMoment(match, message, now);
        else if (match && message.seq > match.seq) follow(match, message, now);
      }
    }
  }

  #snapshot(message, now) {
    const before = this.matches.get(message.match);
    if (message.you !== undefined && !before && !message.outcome) {
      this.seeking = this.invitation = null;
      this.suggested = [];
      this.challenges.clear();
    }
    const own = { chat: [], ratings: null, past: [], analysis: null, pending: null };
    if (before) for (const name in own) own[name] = before[name];
    const match = { ...message, ...own, heardAt: now, awayAt: now };
    settle(match);
    this.matches.set(message.match, match);
  }
}

/** Change a match by what has no number. @param {Match} match */
function ofTheMoment(match, message, now) {
  switch (message.type) {
    case "presence":
      match.present[message.side] = message.online;
      if (message.side === match.you) break;
      match.away = message.away ?? null;
      match.awayAt = now;
      break;
    case "watching":
      match.watchers = message.watchers;
      break;
    case "rated":
      match.ratings = message.ratings;
      break;
    case "chat":
      match.chat = [...match.chat, message].slice(-MOST_LINES);
      break;
    case "analysis":
      match.analysis = message;
      break;
    case "replay":
      message.positions.forEach((position) => (match.past[position.ply] = position));
  }
}

/** Change a match by one numbered fact. @param {Match} match */
function follow(match, fact, now) {
  match.seq = fact.seq;
  if (fact.clock) {
    match.clock = fact.clock;
    match.heardAt = now;
  }
  if (fact.position) match.position = fact.position;
  if (fact.type !== "offered" && fact.type !== "declined") match.offers = [];
  switch (fact.type) {
    case "played":
      match.moves = [...match.moves, fact.move];
      match.last = fact.move;
      match.adjourned = false;
      break;
    case "tookback":
      match.moves = match.moves.slice(0, fact.ply);
      match.last = match.moves.at(-1);
      match.adjourned = false;
      break;
    case "adjourned":
      match.adjourned = true;
      break;
    case "offered":
      match.offers = [...match.offers, fact];
      break;
    case "declined":
      match.offers = match.offers.filter((offer) => offer.kind !== fact.kind);
      break;
    case "ended":
      match.outcome = fact;
      match.position = { ...match.position, to_move: null, legal: [] };
      match.away = null;
      break;
    case "rematched":
      match.next = fact.next;
  }
  settle(match);
}

/** Forget the move on its way once the match has gone past it. */
function settle(match) {
  if (match.pending && (match.outcome || match.position.ply !== match.pending.ply)) match.pending = null;
}

/** @param {Match} match */
export function isMyTurn(match) {
  return !match.outcome && match.you !== undefined && match.position.to_move === match.you;
}

/** What is left to a side in milliseconds, or null without a clock. @param {Match} match */
export function leftMs(match, side, now) {
  if (!match.clock) return null;
  const spent = match.clock.running === side && !match.outcome ? Math.max(0, now - match.heardAt) : 0;
  return Math.max(0, match.clock.remaining_ms[side] - spent);
}

/** The legal moves that a cell means: those that mark it or, where marks fall, those of its column or peg. */
export function movesAt(/** @type {Game} */ game, /** @type {number[]} */ legal, /** @type {number} */ cell) {
  const cells = game.move_cells;
  if (!game.gravity) return legal.filter((move) => cells[move] === cell);
  const [height, width] = game.shape.slice(-2);
  const column = game.shape.length === 3 ? width * height : width;
  return legal.filter((move) => cells[move] >= 0 && cells[move] % column === cell % column);
}
