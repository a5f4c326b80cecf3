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
 *   position: Position, offers: any[], you?: number, time?: any, clock?: any, outcome?: any, adjourned?: boolean,
 *   private?: boolean, watchers?: number, away?: any, next?: string, rated?: boolean, score?: number[], code?: string,
 *   heardAt: number, awayAt: number, pending: {ply: number, move: number} | null, chat: any[], ratings: any[] | null,
 *   past: Position[], analysis: any}} Match
 *   a snapshot, and what the page keeps with it
 */

const MOST_LINES = 100;
/** Messages that are kept whole, under their names; and those of which one field is kept. */
const WHOLE = ["parted", "invitation", "profile", "history", "leaderboard"];
const PART = { seeks: "seeks", players: "players", live: "matches" };

export const state = {
  /** Why the server parted from us. @type {{code: string | number, message: string} | null} */
  parted: null,
  /** @type {Player | null} */
  you: null,
  server: "ttt_net",
  /** @type {string[]} */
  features: [],
  /** Whether the host lets players say more than the phrases. */
  chat: true,
  /** Our matches that were not over when we came. @type {string[]} */
  unfinished: [],
  /** @type {Map<string, Match>} */
  matches: new Map(),
  challenges: new Map(),
  seeking: null,
  seeks: [],
  players: [],
  live: [],
  invitation: null,
  profile: null,
  history: null,
  leaderboard: null,
};

/** Our live matches, those that wait for our move first. */
export function ownLive() {
  const own = [...state.matches.values()].filter((match) => match.you !== undefined && !match.outcome);
  return own.sort((one, other) => Number(isMyTurn(other)) - Number(isMyTurn(one)));
}

/** Take in one message, with the time of the local clock. */
export function hear(message, now = performance.now()) {
  const { type, challenge } = message;
  const { matches, challenges } = state;
  const match = matches.get(message.match);
  if (WHOLE.includes(type)) state[type] = message;
  else if (type in PART) state[type] = message[PART[type]];
  else if (type === "renamed") state.you = message.you;
  else if (type === "challenged") {
    const { by, to } = message; // there is one at most from one player to another
    challenges.forEach((each, id) => each.by.name === by.name && each.to.name === to.name && challenges.delete(id));
    challenges.set(challenge, message);
  } else if (["challengeover", "challengeaccepted"].includes(type)) challenges.delete(challenge);
  else if (type === "welcome") {
    const { you, server, features = [], chat = true, matches: unfinished, seek: seeking = null } = message;
    if (state.you?.name !== you.name) state.invitation = null; // else it is good after a restart, too
    Object.assign(state, { you, server, features, chat, unfinished, seeking, parted: null });
    challenges.clear();
  } else if (type === "snapshot") {
    if (message.you !== undefined && !match && !message.outcome) {
      state.seeking = null;
      if (message.code === state.invitation?.code) state.invitation = null; // else it is good for as long as it says
    }
    const { chat = [], ratings = null, past = [], analysis = null, pending = null } = match ?? {};
    matches.set(message.match, settled({ ...message, chat, ratings, past, analysis, pending, heardAt: now, awayAt: now }));
  } else if (match && message.seq === undefined) ofTheMoment(match, message, now);
  else if (match && message.seq > match.seq) follow(match, message, now);
}

/** Change a match by what has no number. @param {Match} match */
function ofTheMoment(match, message, now) {
  const { type } = message;
  if (type === "presence") {
    match.present[message.side] = message.online;
    if (message.side !== match.you) Object.assign(match, { away: message.away, awayAt: now });
  } else if (type === "chat") match.chat = [...match.chat, message].slice(-MOST_LINES);
  else if (type === "analysis") match.analysis = message;
  else if (type === "rated") match.ratings = message.ratings;
  else if (type === "watching") match.watchers = message.watchers;
  else if (type === "replay") message.positions.forEach((position) => (match.past[position.ply] = position));
}

/** Change a match by one numbered fact. @param {Match} match */
function follow(match, fact, now) {
  const { type, seq, clock, position } = fact;
  match.seq = seq;
  if (clock) Object.assign(match, { clock, heardAt: now });
  if (position) match.position = position;
  if (type === "offered") match.offers = [...match.offers, fact];
  else if (type === "declined") match.offers = match.offers.filter((offer) => offer.kind !== fact.kind);
  else match.offers = [];
  if (type === "played") match.moves = [...match.moves, fact.move];
  if (type === "tookback") match.moves = match.moves.slice(0, fact.ply);
  if (["played", "tookback", "adjourned"].includes(type)) match.adjourned = type === "adjourned";
  if (type === "ended") Object.assign(match, { outcome: fact, away: null, position: { ...match.position, to_move: null, legal: [] } });
  if (type === "rematched") match.next = fact.next;
  settled(match);
}

/** Forget the move on its way once the match has gone past it. */
function settled(match) {
  if (match.outcome || match.position.ply !== match.pending?.ply) match.pending = null;
  return match;
}

/** Whether we are to move, and no move of ours is on its way. @param {Match} match */
export const isMyTurn = ({ pending, position, you }) => !pending && position.to_move === you;

/** What is left to a side in milliseconds, or null without a clock. @param {Match} match */
export function leftMs({ clock, outcome, heardAt }, side, now) {
  if (!clock) return null;
  const spent = clock.running === side && !outcome ? Math.max(0, now - heardAt) : 0;
  return Math.max(0, clock.remaining_ms[side] - spent);
}

/** The legal moves that a cell means: those that mark it or, where marks fall, those of its column or peg. */
export function movesAt(/** @type {Game} */ game, /** @type {number[]} */ legal, /** @type {number} */ cell) {
  const cells = game.move_cells;
  if (!game.gravity) return legal.filter((move) => cells[move] === cell);
  const [height, width] = game.shape.slice(-2);
  const column = game.shape.length === 3 ? width * height : width;
  return legal.filter((move) => cells[move] >= 0 && cells[move] % column === cell % column);
}
