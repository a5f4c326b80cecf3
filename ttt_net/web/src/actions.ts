/** The connection to the server, and the requests of the first screen and of every match. Draws nothing. */

import { wishOf } from "./games.js";
import { w } from "./i18n.js";
import { keep, keepApart, kept } from "./kept.js";
import { isLost, Link } from "./link.js";
import type { ListedPlayer, Refused, Request } from "./protocol.js";
import { sentence } from "./sentences.js";
import { type Asked, know, type Match, movesAt, set, state, ui, type Wish } from "./store.js";

const TOKEN = "ttt_net.token";
const NOTICE_MS = 6000;
/** How long to wait for a bot, in milliseconds. */
export const BOT_MS = 6000;
export const link = new Link(
  {
    connect: (url) => new WebSocket(url),
    nowMs: () => performance.now(),
    after: (ms, act) => window.setTimeout(act, ms),
    cancel: (timer) => clearTimeout(timer),
    random: Math.random,
    isHidden: () => document.hidden,
    token: () => kept(TOKEN),
    keepToken: (token) => keep(TOKEN, token),
    newToken: () => crypto.getRandomValues(new Uint32Array(6)).join("-"),
  },
  location.origin.replace("http", "ws"),
);
export const say: Link["say"] = (request, isWanted) => link.say(request, isWanted);
/** The web address of the current node: the one that served the page may be gone. */
export const site = (): string => new URL(link.nodes[0]!).origin.replace("ws", "http");
let noticeTimer = 0;
let asked: Promise<unknown> = Promise.resolve();

export function notify(notice: string): void {
  clearTimeout(noticeTimer);
  if (notice) noticeTimer = window.setTimeout(() => notify(""), NOTICE_MS);
  set({ notice });
}

/** Make screen readers announce a text. */
export function announce(text: string): void {
  const place = document.getElementById("said");
  if (place) place.textContent = text;
}

/** The time for clocks, which stops while the connection is lost. */
export const clockNow = (): number => (link.isUp() ? performance.now() : link.lostAtMs);

/** Show why the server rejected a request. */
export const refuse = ({ code, message }: Refused): void => notify(sentence(message || (code === "unknown_outcome" ? w.unknownOutcome : w.noConnection)));

/** Log in as the player known to this browser, or else under a name, or without one as a guest. */
export function comeIn(name = ""): void {
  know({ parted: null });
  link.start(name);
}

/** Use another player in this window, while the other windows keep theirs. */
export function playApart(): void {
  keepApart();
  state.matches.clear();
  know({ you: null, parted: null, seeking: null, invitation: null, unfinished: [] });
  link.forgetWho();
}

/** Send a request; return whether it was carried out. Show refusals. */
export async function request(message: Request, isWanted?: () => boolean): Promise<boolean> {
  const answer = await say(message, isWanted);
  if (answer.type === "refused") refuse(answer);
  return answer.type === "ok";
}

/** Send a request after the previous ones were answered, because the server limits queries of its disk. */
export function ask(message: Request): void {
  asked = asked.then(() => request(message));
}

export function play(match: Match, move: number): void {
  match.pending = { ply: match.position.ply, move };
  sendMove(match);
  set({ aim: -1 });
}

/** Resume our match from the last known event, and repeat an unanswered move. */
export async function resume(id: string): Promise<void> {
  const match = state.matches.get(id);
  if (match) match.isCatchingUp = true;
  await say({ type: "resume", match: id, seq: match?.seq ?? 0 });
  const now = state.matches.get(id);
  if (!now) return;
  now.isCatchingUp = false;
  if (now.pending) sendMove(now);
}

/** Send the pending move; the server counts a repeated move once. */
export async function sendMove({ match, pending }: Match): Promise<void> {
  if (!pending) return;
  const answer = await say({ type: "play", match, ...pending });
  // The next connection resumes the match and repeats the move.
  if (answer.type === "ok" || answer.code === "restarting" || !link.isUp()) return;
  if (isLost(answer)) return resume(match);
  const now = state.matches.get(match);
  if (now) now.pending = null;
  refuse(answer);
}

/** Seek a person; bots have to be challenged. */
export async function seek({ game, ...rest }: Wish = wishOf(ui.choice)): Promise<void> {
  await seekFor({ games: [game], opponents: "people", ...rest });
}

/** Seek, and renew the seek after reconnects and restarts: only a refusal or `unseek` ends it. */
async function seekFor(seeking: NonNullable<typeof state.seeking>): Promise<void> {
  const before = state.seeking;
  const isWanted = () => state.seeking === seeking;
  know({ seeking });
  const answer = await say({ type: "seek", ...seeking }, isWanted);
  if (answer.type === "ok" || isLost(answer) || !isWanted()) return;
  know({ seeking: before });
  refuse(answer);
}

/**
 * After a welcome, renew our seek unless the server has kept it: it forgets seeks when it restarts or we are away for
 * long.
 */
export function seekAgain(sought: typeof state.seeking): void {
  if (sought && !state.seeking) seekFor(sought);
  if (!sought && state.seeking) unseek();
}

export function unseek(): void {
  know({ seeking: null });
  say({ type: "unseek" });
}

/** A challenge to a bot, rated only on request; it asks a bot of any level for the chosen level, in a casual match. */
export function challengeTo({ name, any_level: isAny }: ListedPlayer, wish: Wish & Asked): Request {
  const { or_casual: isEither, ...asked } = wish;
  return { type: "challenge", name, ...asked, rated: asked.rated && !isEither && !isAny, ...(isAny && { level: ui.choice.level }) };
}

export const challengeBot = (bot: ListedPlayer, wish: Wish & Asked = wishOf(ui.choice)): Promise<boolean> => request(challengeTo(bot, wish));

/** Whether a bot would accept these terms now. */
export const plays = ({ bot, free, seeking }: ListedPlayer, { game }: Wish): boolean =>
  !!bot && !!free && !!seeking && (!seeking.length || seeking.includes(game));

/** The bot nearest to the chosen strength that would accept these terms now. */
export function nearestBot(wish: Wish): ListedPlayer | undefined {
  const far = ({ level = 4, any_level: isAny }: ListedPlayer) => Math.abs(level - ui.choice.level) + (isAny ? 0 : 8);
  return state.players.filter((each) => plays(each, wish)).sort((one, other) => far(one) - far(other))[0];
}

/** Play a bot as soon as the list of bots is known. */
export function wantBot(wanted: Wish & Asked): void {
  ui.botWanted = wanted;
  if (state.you) waitForBot();
  if (state.players.length) meetBot();
}

/** Stop waiting for a bot after `BOT_MS`. */
export function waitForBot(): void {
  if (ui.botWanted) setTimeout(() => meetBot(true), BOT_MS);
}

/** Forget the match that should begin on the first screen. */
export const giveUpBeginning = (): void => set({ isBeginning: false, wantedCell: -1, botWanted: null });

/** Challenge the wanted bot once the list of bots is known. */
export async function meetBot(isLast = false): Promise<void> {
  const wish = ui.botWanted;
  if (!wish || !state.you) return;
  const bot = nearestBot(wish);
  if (!bot && !isLast) return; // a server that has just started has no bots yet
  ui.botWanted = null;
  if (!bot) notify(w.noBotHere);
  if (!bot || !(await challengeBot(bot, wish))) giveUpBeginning();
}

/** Make the move that was tapped before the match began, if it is legal. Its cell is shown until the match is drawn. */
export function playWanted(match: Match): void {
  const { wantedCell: cell } = ui;
  if (cell < 0) return;
  const [move, other] = movesAt(match.game, match.position.legal, cell);
  if (other !== undefined) ui.aim = cell; // the player has to choose the mark
  else if (move !== undefined && match.position.ply < 2) play(match, move);
}

/** Request a hint or a warning. */
export const hint = ({ match }: Match, kind: "move" | "warning"): void => ask({ type: "hint", match, kind });
