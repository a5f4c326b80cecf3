/** What the player has chosen, and what a tap has said. Draws nothing. */

import { type Choice, chosenOf, KINDS, wishOf, type Wish } from "./games.js";
import { w, f } from "./i18n.js";
import { keep, keptFields } from "./kept.js";
import { link, say } from "./link.js";
import type { ClaimRequest, ListedPlayer, OfferInfo, OfferRequest, ReportRequest, Request, SeekInfo } from "./protocol.js";
import type { Phrase } from "./chat.js";
import { sentence } from "./sentences.js";
import { type Match, movesAt, state } from "./state.js";

const CHOSEN = "ttt_net.choice";
const NOTICE_MS = 6000;
const REPLAY_PAGE = 32;
/** So long a bot is waited for. */
export const BOT_MS = 6000;
/** So long a move of a replay is shown that plays by itself. */
const STEP_MS = 900;
/** What belongs to the screen that is shown, and is forgotten with it. */
export const FRESH = { ply: null as number | null, hover: -1, aim: -1, focus: -1, isResigning: false, isChoosing: false, isPlaying: false, all: "" };

const USUAL: Choice = { pace: "No clock", game: "tictactoe", width: 5, height: 5, row: 4, swap: false, kind: "either", falls: false, level: 3 };

/** What a bot may be asked besides: to play on from a position, and to leave a side to us. */
type Asked = { start?: string; side?: 0 | 1 };

export const ui = {
  ...FRESH,
  choice: keptFields(CHOSEN, USUAL),
  leaders: { game: "connect4", speed: "untimed" as "bullet" | "blitz" | "rapid" | "untimed", bots: true, page: 1 },
  notice: "",
  /** Text that could not be copied, for the player to copy by hand. */
  copied: "",
  /** What is played on the first screen, and whether against the computer. */
  opening: { game: "tictactoe", isAlone: true },
  /** What is to be played against a bot as soon as it is known which are here, and the cell that is to be played then; -1 for none. */
  botWanted: null as (Wish & Asked) | null,
  wantedCell: -1,
  areSettingsOpen: false,
  /** The game whose rules are shown; none for no sheet of rules. */
  rules: "",
  /** What is wrong with the name that is being typed. */
  fault: "",
  /** Why there is no link. */
  trouble: "",
  lostAt: 0,
  /** What the host has said about a restart. */
  closing: "",
};
/** What there is to draw the page anew: set by who does. */
export const page = { draw: (): void => {} };
let noticeTimer = 0;
let asked: Promise<unknown> = Promise.resolve();

/** Change something of the page, and draw it. */
export function set(change: Partial<typeof ui>): void {
  Object.assign(ui, change);
  page.draw();
}

/** Change something of what we know, and draw it. */
export function know(change: Partial<typeof state>): void {
  Object.assign(state, change);
  page.draw();
}

export function choose(change: Partial<Choice>): void {
  Object.assign(ui.choice, change);
  fitChoice();
  keep(CHOSEN, JSON.stringify(ui.choice));
  page.draw();
}

/** Keep what was chosen within what there is. */
export function fitChoice(): void {
  const { choice } = ui;
  const side = (value: number) => (Number.isInteger(value) ? Math.min(19, Math.max(1, value)) : 5);
  choice.width = side(choice.width);
  choice.height = side(choice.height);
  choice.row = Math.min(side(choice.row), Math.max(choice.width, choice.height));
  if (!KINDS.includes(choice.kind)) choice.kind = "either";
  choice.level = Math.min(8, side(choice.level));
  choice.game = chosenOf(choice).name;
}

export function notify(notice: string): void {
  clearTimeout(noticeTimer);
  if (notice) noticeTimer = setTimeout(() => notify(""), NOTICE_MS);
  set({ notice });
}

/** Have something read out. */
export function announce(text: string): void {
  const place = document.getElementById("said");
  if (place) place.textContent = text;
}

/** The time that clocks show: it stands still while the link is lost. */
export const clockNow = (): number => (link === "online" ? performance.now() : ui.lostAt);

/** Send a request; return whether it was carried out. What is refused is shown. */
export async function request(message: Request): Promise<boolean> {
  const answer = await say(message);
  if (answer.type === "refused") notify(sentence(answer.message));
  return answer.type === "ok";
}

/** Send a request once those before it were answered: the server meters what its disk has to read. */
export function ask(message: Request): void {
  asked = asked.then(() => request(message));
}

export const offer = ({ match, position: { ply } }: Match, kind: OfferRequest["kind"]): Promise<boolean> => request({ type: "offer", match, kind, ply });
export const agree = ({ match }: Match, { seq }: OfferInfo): Promise<boolean> => request({ type: "agree", match, offer: seq! });
export const decline = ({ match }: Match, { kind, seq }: OfferInfo): Promise<boolean> => request({ type: "decline", match, kind, offer: seq! });
export const claim = ({ match }: Match, kind: ClaimRequest["kind"]): Promise<boolean> => request({ type: "claim", match, kind });
export const speakOf = ({ match }: Match, said: { text: string } | { phrase: Phrase }): Promise<boolean> => request({ type: "chat", match, ...said });

export function play(match: Match, move: number): void {
  match.pending = { ply: match.position.ply, move };
  sendMove(match);
  set({ aim: -1 });
}

/** Say the move that is on its way: made twice, it counts once. */
export async function sendMove({ match, pending }: Match): Promise<void> {
  if (!pending) return;
  const answer = await say({ type: "play", match, ...pending });
  if (answer.type === "ok" || answer.code === "lost") return;
  const now = state.matches.get(match);
  if (now) now.pending = null;
  notify(sentence(answer.message));
}

/** Look for a person: bots are challenged by who wants one. */
export async function seek({ game, ...rest }: Wish = wishOf(ui.choice)): Promise<void> {
  const seeking = { games: [game], opponents: "people" as const, ...rest };
  know({ seeking });
  if (!(await request({ type: "seek", ...seeking }))) know({ seeking: null });
}

export function unseek(): void {
  know({ seeking: null });
  say({ type: "unseek" });
}

/** Be paired with a standing seek; one for any game is met with a seek for the chosen one. */
export function accept({ seek: id, games, time }: SeekInfo): void {
  if (games.length) request({ type: "accept", seek: id });
  else seek({ game: wishOf(ui.choice).game, time: time ?? null, rated: false });
}

export function challenge(name: string, wish: Wish = wishOf(ui.choice)): void {
  request({ type: "challenge", name, ...wish });
}

/** Challenge a bot, for ratings only if they were asked for; one that plays at any level, at the one chosen, which is never for them. */
export function challengeBot({ name, any_level: isAny }: ListedPlayer, wish: Wish & Asked = wishOf(ui.choice)): void {
  const { or_casual: isEither, ...asked } = wish;
  request({ type: "challenge", name, ...asked, rated: asked.rated && !isEither && !isAny, ...(isAny && { level: ui.choice.level }) });
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
  setTimeout(() => meetBot(true), BOT_MS);
  if (state.players.length) meetBot();
}

/** Play the bot that is wanted, once it is known which are here. */
export function meetBot(isLast = false): void {
  const wish = ui.botWanted;
  if (!wish || !state.you) return;
  const bot = nearestBot(wish);
  if (!bot && !isLast) return; // those of a server that has just begun are on their way
  ui.botWanted = null;
  if (bot) challengeBot(bot, wish);
  else notify(w.noBotHere);
}

/** Play a bot from a position of a finished match on, as one of its sides. */
export async function playOnFrom({ match, game, starts }: Match, ply: number, side: 0 | 1): Promise<void> {
  if (starts[ply] === undefined) await request({ type: "replay", match, ply });
  const start = starts[ply];
  if (!start) return;
  wantBot({ game: game.name, time: null, rated: false, start, side });
  say({ type: "lobby", on: true });
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

/** Invitations are never for ratings. */
export function invite(): void {
  const { game, time } = wishOf(ui.choice);
  request({ type: "invite", game, time });
}

/** Show the rules of a game. */
export function explain(game: string): void {
  know({ rules: null });
  set({ rules: game });
  ask({ type: "rules", game });
}

export async function rename(name: string): Promise<void> {
  if (await request({ type: "rename", name })) notify(f(w.renamed, name));
}

export async function analyse(match: Match, isAgain = false): Promise<void> {
  match.analysis = { moves: null, exact: false, isAgain };
  page.draw();
  if (!(await request({ type: "analyse", match: match.match }))) match.analysis = null;
  page.draw();
}

/** Ask once more for an analysis that had no time to find anything: there may be more of it now. */
export function analyseAgain(match: Match): void {
  const { moves, exact, partial, lesson, isAgain } = match.analysis!;
  if (!moves?.length && !exact && !partial && !lesson && !isAgain) analyse(match, true);
}

/** Ask for a good move, or for what to beware of. */
export const hint = ({ match }: Match, kind: "move" | "warning"): void => ask({ type: "hint", match, kind });

export async function mute(match: Match, name: string): Promise<void> {
  if (!(await request({ type: "mute", name, on: true }))) return;
  match.chat = match.chat.filter((line) => line.by.name !== name);
  notify(f(w.muted, name));
}

/** Tell the host what somebody does; of a match that we hear, with the last lines of its chat. */
export async function report(name: string, reason: ReportRequest["reason"], match?: string): Promise<void> {
  if (await request({ type: "report", name, reason, match })) notify(w.reported);
}

/** Show a finished match as it was after so many moves. */
export function review({ match, moves, past }: Match, ply: number): void {
  const first = ply - (ply % REPLAY_PAGE);
  if (!(first in past)) {
    past[first] = undefined; // one question for each page
    ask({ type: "replay", match, ply: first });
  }
  set({ ply: ply === moves.length ? null : ply });
}

/** Step through a finished match by itself, from where it is shown or from its beginning; or stop doing so. */
export function autoplay(match: Match): void {
  const { length } = match.moves;
  if (ui.isPlaying) set({ isPlaying: false });
  else {
    set({ isPlaying: true });
    review(match, ui.ply === null ? 0 : ui.ply);
    setTimeout(() => playOn(match, length), STEP_MS);
  }
}

function playOn(match: Match, length: number): void {
  if (!ui.isPlaying) return;
  const ply = (ui.ply ?? length) + 1;
  if (ply >= length) set({ isPlaying: false });
  review(match, Math.min(ply, length));
  if (ui.isPlaying) setTimeout(() => playOn(match, length), STEP_MS);
}

/**
 * Hand an address to the share sheet or, without one, to the clipboard; a page over plain HTTP has neither, and shows it to be
 * copied by hand.
 */
export async function send(url: string): Promise<void> {
  try {
    if ("share" in navigator) {
      await navigator.share({ url });
      return;
    }
    await (navigator as Navigator).clipboard.writeText(url);
    notify(w.linkCopied);
  } catch (error) {
    if ((error as Error).name !== "AbortError" && !copyByHand(url)) set({ copied: url });
  }
}

/** Copy by the old way, which needs no secure context; return whether it went. */
function copyByHand(text: string): boolean {
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  let isDone = false;
  try {
    isDone = document.execCommand("copy");
  } catch {
    // it is shown instead
  }
  field.remove();
  if (isDone) notify(w.linkCopied);
  return isDone;
}
