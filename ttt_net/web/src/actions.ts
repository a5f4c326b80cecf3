/** The link to the server, and what the first screen and every match ask over it. Draws nothing. */

import { wishOf } from "./games.js";
import { w } from "./i18n.js";
import { keep, kept } from "./kept.js";
import { isLost, Link } from "./link.js";
import type { ListedPlayer, Refused, Request } from "./protocol.js";
import { sentence } from "./sentences.js";
import { type Asked, know, type Match, movesAt, set, state, ui, type Wish } from "./store.js";

const TOKEN = "ttt_net.token";
const NOTICE_MS = 6000;
/** How long to wait for a bot. */
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
/** The site of the node where we are: the one that the page came from may be gone. */
export const site = (): string => new URL(link.nodes[0]!).origin.replace("ws", "http");
let noticeTimer = 0;
let asked: Promise<unknown> = Promise.resolve();

export function notify(notice: string): void {
  clearTimeout(noticeTimer);
  if (notice) noticeTimer = window.setTimeout(() => notify(""), NOTICE_MS);
  set({ notice });
}

/** Have something read out. */
export function announce(text: string): void {
  const place = document.getElementById("said");
  if (place) place.textContent = text;
}

/** The time that clocks show: it stands still while the link is lost. */
export const clockNow = (): number => (link.isUp() ? performance.now() : link.lostAtMs);

/** Say why the server did not carry out a request. */
export const refuse = ({ code, message }: Refused): void => notify(sentence(message || (code === "unknown_outcome" ? w.unknownOutcome : w.noConnection)));

/** Come in as the one whom this browser knows, or else under a name, or without one as a guest. */
export function comeIn(name = ""): void {
  know({ parted: null });
  link.start(name);
}

/** Send a request; return whether it was carried out. What is refused is shown. */
export async function request(message: Request, isWanted?: () => boolean): Promise<boolean> {
  const answer = await say(message, isWanted);
  if (answer.type === "refused") refuse(answer);
  return answer.type === "ok";
}

/** Send a request once those before it were answered: the server meters what its disk has to read. */
export function ask(message: Request): void {
  asked = asked.then(() => request(message));
}

export function play(match: Match, move: number): void {
  match.pending = { ply: match.position.ply, move };
  sendMove(match);
  set({ aim: -1 });
}

/** Take our seat in a match, from the last event that we know, and send the move again that has no answer. */
export async function resume(id: string): Promise<void> {
  const match = state.matches.get(id);
  if (match) match.isCatchingUp = true;
  await say({ type: "resume", match: id, seq: match?.seq ?? 0 });
  const now = state.matches.get(id);
  if (!now) return;
  now.isCatchingUp = false;
  if (now.pending) sendMove(now);
}

/** Say the move that is on its way: made twice, it counts once. */
export async function sendMove({ match, pending }: Match): Promise<void> {
  if (!pending) return;
  const answer = await say({ type: "play", match, ...pending });
  // On the next connection the match is resumed, and the move sent again.
  if (answer.type === "ok" || answer.code === "restarting" || !link.isUp()) return;
  if (isLost(answer)) return resume(match);
  const now = state.matches.get(match);
  if (now) now.pending = null;
  refuse(answer);
}

/** Look for a person: bots are challenged by who wants one. */
export async function seek({ game, ...rest }: Wish = wishOf(ui.choice)): Promise<void> {
  await seekFor({ games: [game], opponents: "people", ...rest });
}

/** Seek, and go on seeking when the link or the server is back: only a refusal or `unseek` ends it. */
async function seekFor(seeking: NonNullable<typeof state.seeking>): Promise<void> {
  const before = state.seeking;
  const isWanted = () => state.seeking === seeking;
  know({ seeking });
  const answer = await say({ type: "seek", ...seeking }, isWanted);
  if (answer.type === "ok" || isLost(answer) || !isWanted()) return;
  know({ seeking: before });
  refuse(answer);
}

/** After a welcome, have the server seek what is sought here, if it does not: it forgets a seek when it restarts or we are away for long. */
export function seekAgain(sought: typeof state.seeking): void {
  if (sought && !state.seeking) seekFor(sought);
  if (!sought && state.seeking) unseek();
}

export function unseek(): void {
  know({ seeking: null });
  say({ type: "unseek" });
}

/** Challenge a bot, for ratings only if they were asked for; one that plays at any level, at the one chosen, which is never for them. */
export function challengeBot({ name, any_level: isAny }: ListedPlayer, wish: Wish & Asked = wishOf(ui.choice)): Promise<boolean> {
  const { or_casual: isEither, ...asked } = wish;
  return request({ type: "challenge", name, ...asked, rated: asked.rated && !isEither && !isAny, ...(isAny && { level: ui.choice.level }) });
}

/** Whether a bot would play that now. */
export const plays = ({ bot, free, seeking }: ListedPlayer, { game }: Wish): boolean =>
  !!bot && !!free && !!seeking && (!seeking.length || seeking.includes(game));

/** The bot that is nearest to the strength that was chosen, of those that would play that now. */
export function nearestBot(wish: Wish): ListedPlayer | undefined {
  const far = ({ level = 4, any_level: isAny }: ListedPlayer) => Math.abs(level - ui.choice.level) + (isAny ? 0 : 8);
  return state.players.filter((each) => plays(each, wish)).sort((one, other) => far(one) - far(other))[0];
}

/** Play a bot as soon as it is known which are here. */
export function wantBot(wanted: Wish & Asked): void {
  ui.botWanted = wanted;
  if (state.you) waitForBot();
  if (state.players.length) meetBot();
}

/** Wait for a bot no longer than `BOT_MS` from now on. */
export function waitForBot(): void {
  if (ui.botWanted) setTimeout(() => meetBot(true), BOT_MS);
}

/** Forget the match that was to begin on the first screen. */
export const giveUpBeginning = (): void => set({ isBeginning: false, wantedCell: -1, botWanted: null });

/** Play the bot that is wanted, once it is known which are here. */
export async function meetBot(isLast = false): Promise<void> {
  const wish = ui.botWanted;
  if (!wish || !state.you) return;
  const bot = nearestBot(wish);
  if (!bot && !isLast) return; // those of a server that has just begun are on their way
  ui.botWanted = null;
  if (!bot) notify(w.noBotHere);
  if (!bot || !(await challengeBot(bot, wish))) giveUpBeginning();
}

/** Make the move that was tapped before there was a match, if it is still possible. */
export function playWanted(match: Match): void {
  const { wantedCell: cell } = ui;
  if (cell < 0) return;
  const [move, other] = movesAt(match.game, match.position.legal, cell);
  ui.wantedCell = -1;
  if (other !== undefined) ui.aim = cell; // which mark is asked
  else if (move !== undefined && match.position.ply < 2) play(match, move);
}

/** Ask for a good move, or for what to beware of. */
export const hint = ({ match }: Match, kind: "move" | "warning"): void => ask({ type: "hint", match, kind });
