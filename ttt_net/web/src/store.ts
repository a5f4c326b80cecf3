/**
 * The store of the page: data from the server (`state`), the player's choices (`ui`), and the functions that change
 * both.
 *
 * Change it only with `set`, `know`, `hear` or `redraw`. It knows no document, no socket and no rules of play.
 */

import { keep, keptFields } from "./kept.js";
import type { Heard, Parted } from "./link.js";
import type * as wire from "./protocol.js";

/** A sanction, with the local time of its arrival. */
export type Decision = wire.Sanctioned & { heardAt: number };
export type Player = wire.PlayerInfo;
export type Game = wire.GameInfo;
export type Position = wire.Position;
/** A snapshot, updated by events, and the page's own data about the match. */
export type Match = Omit<wire.Snapshot, "type"> & {
  /** The local time of the last update of clocks, and of an absence. */
  heardAt: number;
  awayAt: number;
  /** Our unanswered move. */
  pending: { ply: number; move: number } | null;
  chat: wire.Chatted[];
  ratings: wire.RatingChange[] | null;
  /** The requested positions by ply. */
  past: (Position | undefined)[];
  /** The same as text, as starts of matches against bots; empty where none can begin. */
  starts: (string | undefined)[];
  /** The analysis by an engine; without moves while it runs. */
  analysis: { moves: wire.AnalysedMove[] | null; exact: boolean; lesson?: wire.MatchLesson; partial?: boolean; isAgain?: boolean } | null;
  /** The last hint and the last warning, each for the position of a ply. */
  hint?: wire.HintReply;
  warning?: wire.HintReply;
  /** Whether the missing events were requested. */
  isCatchingUp?: boolean;
};
export const KINDS = ["either", "rated", "casual"] as const;
export type MatchKind = (typeof KINDS)[number];
/** The chosen terms of a match; the numbers are for "any size". */
export type Choice = {
  pace: string;
  game: string;
  width: number;
  height: number;
  row: number;
  swap: boolean;
  /** Rated, casual, or whichever the opponent prefers. */
  kind: MatchKind;
  falls: boolean;
  /** The level for bots that play at any level. */
  level: number;
};
/** The terms of a match. With both `or_casual` and `rated`, a match between people is rated if both want that. */
export type Wish = { game: string; time: wire.TimeControl | null; rated: boolean; or_casual?: boolean | undefined };
/** Further terms for bots: a starting position, and our side. */
export type Asked = { start?: string; side?: 0 | 1 };

const MOST_LINES = 100;
const CHOSEN = "ttt_net.choice";
const USUAL: Choice = { pace: "No clock", game: "tictactoe", width: 5, height: 5, row: 4, swap: false, kind: "either", falls: false, level: 3 };
/**
 * The place of a match that was handed over to the server: the first screen goes on around it. Its height, so that nothing
 * scrolls; since when its position is shown; and the last move before.
 */
type Kept = { heightPx: number; sinceMs: number; last: number };
/** The state of the current screen, dropped with it. */
export const FRESH = { ply: null as number | null, hover: -1, aim: -1, aimedAtMs: 0, focus: -1, isResigning: false, isChoosing: false, isPlaying: false, all: "", kept: null as Kept | null };

export const ui = {
  ...FRESH,
  choice: keptFields(CHOSEN, USUAL),
  leaders: { game: "connect4", speed: "untimed" as "bullet" | "blitz" | "rapid" | "untimed", bots: true, page: 1 },
  notice: "",
  /** A text that could not be copied, for manual copying. */
  copied: "",
  /** The game on the first screen, whether it is against the computer, and whether that plays here, without the server. */
  opening: { game: "tictactoe", isAlone: true, isRunning: false },
  /** The match to play against a bot as soon as the bots are known. */
  botWanted: null as (Wish & Asked) | null,
  /** A match that was started on the first screen, which stays until the match arrives. */
  isBeginning: false,
  /** Whether a visitor wants an invitation to send, as soon as the server knows them. */
  isInviting: false,
  /** The cell to play as soon as a match begins; -1 for none. */
  wantedCell: -1,
  areSettingsOpen: false,
  /** The game whose rules are shown; empty without a sheet of rules. */
  rules: "",
  /** Why the typed name is not allowed. */
  fault: "",
  /** The host's announcement of a restart. */
  closing: "",
};

export const state = {
  parted: null as Parted | null,
  /** Decisions of the host about us. */
  mute: null as Decision | null,
  ban: null as Decision | null,
  you: null as Player | null,
  server: "",
  features: [] as string[],
  /** Whether the host allows chat beyond phrases. */
  chat: true,
  /** Our unfinished matches at the login. */
  unfinished: [] as string[],
  matches: new Map<string, Match>(),
  challenges: new Map<number, wire.Challenged>(),
  seeking: null as (Omit<wire.SeekRequest, "type" | "or_casual"> & { or_casual?: boolean | undefined }) | null,
  seeks: [] as wire.SeekInfo[],
  players: [] as wire.ListedPlayer[],
  live: [] as wire.LiveMatch[],
  online: 0,
  invitation: null as Omit<wire.InvitationReply, "type"> | null,
  profile: null as wire.ProfileReply | null,
  blocks: null as wire.BlockList | null,
  history: null as wire.HistoryReply | null,
  leaderboard: null as wire.LeaderboardReply | null,
  /** The rules of a game, for people. */
  rules: null as wire.RulesReply | null,
  /** The puzzle of a day, and the result of the answer. */
  puzzle: null as wire.PuzzleReply | null,
  /** A match of strong bots whose moves are guessed. */
  study: null as wire.StudyReply | null,
  /** The last received tournament, and the list of tournaments. */
  tournament: null as wire.TournamentReply | null,
  tournaments: null as wire.TournamentList | null,
};

let draw = (): void => {};
let onFrame = (act: () => void): void => queueMicrotask(act);
let due: "no" | "frame" | "now" = "no";
let isHearing = false;

/**
 * Call `act` after changes: immediately after changes by the player, and once per frame after changes by the server.
 */
export function drawWith(act: () => void, frame: typeof onFrame): void {
  draw = act;
  onFrame = frame;
}

/** Handle a message of the server, and schedule drawing. */
export function hearing(act: () => void): void {
  isHearing = true;
  try {
    act();
  } finally {
    isHearing = false;
  }
}

/** Schedule drawing the page. */
export function redraw(): void {
  if (due === "now" || (isHearing && due === "frame")) return;
  due = isHearing ? "frame" : "now";
  if (isHearing) onFrame(drawDue);
  else queueMicrotask(drawDue);
}

/** Draw pending changes. */
export function drawDue(): void {
  if (due === "no") return;
  due = "no";
  draw();
}

/** Change the player's choices or the screen. */
export function set(change: Partial<typeof ui>): void {
  Object.assign(ui, change);
  redraw();
}

/** Change the data from the server. */
export function know(change: Partial<typeof state>): void {
  Object.assign(state, change);
  redraw();
}

/** Choose the terms of a match, and store them for the next visit. */
export function choose(change: Partial<Choice>): void {
  Object.assign(ui.choice, change);
  fitChoice();
  keep(CHOSEN, JSON.stringify(ui.choice));
  redraw();
}

/** Restrict the choice to available options. */
export function fitChoice(): void {
  const { choice } = ui;
  const side = (value: number) => (Number.isInteger(value) ? Math.min(19, Math.max(1, value)) : 5);
  choice.width = side(choice.width);
  choice.height = side(choice.height);
  choice.row = Math.min(side(choice.row), Math.max(choice.width, choice.height));
  if (!KINDS.includes(choice.kind)) choice.kind = "either";
  choice.level = Math.min(8, side(choice.level));
}

/** Our live matches; those in which it is our turn come first. */
export function ownLive(): Match[] {
  const own = [...state.matches.values()].filter((match) => match.you !== undefined && !match.outcome);
  return own.sort((one, other) => Number(isMyTurn(other)) - Number(isMyTurn(one)));
}

/** Handle one message, given the local time. */
export function hear(message: Heard, now: number): void {
  const { matches, challenges } = state;
  switch (message.type) {
    case "parted":
    case "invitation":
    case "blocks":
    case "profile":
    case "history":
    case "leaderboard":
    case "rules":
    case "puzzle":
    case "study":
    case "tournament":
    case "tournaments":
      Object.assign(state, { [message.type]: message });
      break;
    case "sanctioned":
      state[message.act] = message.lifted ? null : { ...message, heardAt: Date.now() };
      break;
    case "seeks":
      state.seeks = shared(state.seeks, message.seeks, ({ seek }) => seek);
      break;
    case "players":
      state.players = shared(state.players, message.players, ({ name }) => name);
      state.online = message.online;
      break;
    case "live":
      state.live = shared(state.live, message.matches, ({ match }) => match);
      break;
    case "renamed":
      state.you = message.you;
      break;
    case "challenged": // each player has at most one challenge to another
      for (const [id, { by, to }] of challenges) if (by.name === message.by.name && to.name === message.to.name) challenges.delete(id);
      challenges.set(message.challenge, message);
      break;
    case "challengeover":
    case "challengeaccepted":
      challenges.delete(message.challenge);
      break;
    case "welcome":
      welcomed(message);
      break;
    case "snapshot":
      seated(message, now);
      break;
    default: {
      const match = "match" in message ? matches.get(message.match) : undefined;
      if (match && !("seq" in message)) changeUnnumbered(match, message, now);
      else if (match && isNumbered(message) && message.seq > match.seq) changeNumbered(match, message, now);
    }
  }
}

/**
 * The new list, with old values where they are equal, or the old list itself if all are, so that unchanged parts are
 * not drawn again.
 */
function shared<T>(old: T[], now: T[], keyOf: (each: T) => unknown): T[] {
  const known = new Map(old.map((each) => [keyOf(each), each]));
  const found = now.map((each) => {
    const before = known.get(keyOf(each));
    return before !== undefined && JSON.stringify(before) === JSON.stringify(each) ? before : each;
  });
  return found.length === old.length && found.every((each, n) => each === old[n]) ? old : found;
}

function welcomed({ you, server, features = [], chat = true, matches, seek }: wire.Welcome): void {
  if (state.you && state.you.name !== you.name) state.invitation = null; // otherwise it is valid even after a restart
  Object.assign(state, { you, server, features, chat, unfinished: matches, seeking: seek ?? null, parted: null, mute: null, ban: null });
  state.challenges.clear();
}

function seated(message: wire.Snapshot, now: number): void {
  const old = state.matches.get(message.match);
  if (message.you !== undefined && !old && !message.outcome) {
    state.seeking = null;
    if (message.code === state.invitation?.code) state.invitation = null; // otherwise it is valid until it expires
  }
  const { chat = [], ratings = null, past = [], starts = [], analysis = null, pending = null } = old ?? {};
  const { type: _, ...snapshot } = message;
  state.matches.set(message.match, settled({ ...snapshot, chat, ratings, past, starts, analysis, pending, heardAt: now, awayAt: now }));
}

/** Change a match by a message without a number. */
function changeUnnumbered(match: Match, message: wire.ServerMessage, now: number): void {
  if (message.type === "presence") {
    match.present[message.side] = message.online;
    if (message.side !== match.you) Object.assign(match, { away: message.away, awayAt: now });
  } else if (message.type === "playerrenamed") {
    const { name: old } = match.players[message.side]!;
    const renamed = (player: Player) => (player.name === old ? { ...player, name: message.name } : player);
    match.players = match.players.map(renamed) as Match["players"];
    match.chat = match.chat.map((line) => ({ ...line, by: renamed(line.by) }));
  } else if (message.type === "chat") match.chat = [...match.chat, message].slice(-MOST_LINES);
  else if (message.type === "analysis") match.analysis &&= { ...match.analysis, partial: false, ...message };
  else if (message.type === "hint") match[message.kind === "warning" ? "warning" : "hint"] = message;
  else if (message.type === "rated") match.ratings = message.ratings;
  else if (message.type === "watching") match.watchers = message.watchers;
  else if (message.type === "replay") {
    for (const position of message.positions) match.past[position.ply] = position;
    for (const [n, start] of (message.starts ?? []).entries()) match.starts[message.ply + n] = start;
  }
}

type Numbered = wire.Played | wire.Tookback | wire.Offered | wire.Declined | wire.Adjourned | wire.Ended | wire.Rematched;

const NUMBERED = ["played", "tookback", "offered", "declined", "adjourned", "ended", "rematched"];
const isNumbered = (message: Heard): message is Numbered => NUMBERED.includes(message.type);

/** Whether events before this one are missing. */
export const isAhead = (match: Match, message: Heard): boolean => isNumbered(message) && message.seq > match.seq + 1;

/** Change a match by one numbered event. */
function changeNumbered(match: Match, event: Numbered, now: number): void {
  match.seq = event.seq;
  if ("clock" in event && event.clock) Object.assign(match, { clock: event.clock, heardAt: now });
  if ("position" in event && event.position) match.position = event.position;
  if (event.type === "offered") match.offers = [...match.offers, event];
  else if (event.type === "declined") match.offers = match.offers.filter((offer) => offer.kind !== event.kind);
  else match.offers = [];
  if (event.type === "played") match.moves = [...match.moves, event.move];
  if (event.type === "tookback") match.moves = match.moves.slice(0, event.ply);
  if (event.type === "played" || event.type === "tookback" || event.type === "adjourned") match.adjourned = event.type === "adjourned";
  if (event.type === "ended") {
    Object.assign(match, { outcome: event, away: null, position: { ...match.position, to_move: null, legal: [] } });
  }
  if (event.type === "rematched") match.next = event.next;
  settled(match);
}

/** Drop the pending move once the match has passed it. */
function settled(match: Match): Match {
  if (match.outcome || match.position.ply !== match.pending?.ply) match.pending = null;
  return match;
}

/** Whether hints may be requested: in casual matches against bots, if the host allows them. */
export const mayHint = ({ you, rated, outcome, players, tournament }: Match): boolean =>
  you !== undefined && !outcome && !rated && !tournament && players[1 - you]!.bot !== undefined && state.features.includes("hint");

/** Whether it is our turn and no move of ours is pending. */
export const isMyTurn = ({ pending, position, you }: Match): boolean => !pending && you !== undefined && position.to_move === you;

/** The remaining time of a side in milliseconds, or null without a clock. */
export function leftMs({ clock, outcome, heardAt }: Match, side: number, now: number): number | null {
  if (!clock) return null;
  const spent = clock.running === side && !outcome ? Math.max(0, now - heardAt) : 0;
  return Math.max(0, clock.remaining_ms[side]! - spent);
}

/** The legal moves of a cell: those that mark it or, where marks fall, those of its column or peg. */
export function movesAt(game: Game, legal: number[], cell: number): number[] {
  const cells = game.move_cells;
  if (!game.gravity) return legal.filter((move) => cells[move] === cell);
  const [height = 1, width = 1] = game.shape.slice(-2);
  const column = game.shape.length === 3 ? width * height : width;
  return legal.filter((move) => cells[move]! >= 0 && cells[move]! % column === cell % column);
}

/**
 * The cell whose mark the next move removes, or -1. In vanishing tic-tac-toe, it is the oldest of three marks of the
 * side to move.
 */
export function fadingCell({ game, moves, position }: Pick<Match, "game" | "moves" | "position">): number {
  if (!game.name.startsWith("vanishing") || position.to_move === null || position.ply !== moves.length) return -1;
  return game.move_cells[moves[moves.length - 6] ?? -1] ?? -1;
}
