/**
 * The deck below the board of a match: one sentence, and the actions that are possible now.
 *
 * It never moves, so that nothing shifts under a finger. The most urgent question comes first.
 */

import { clockNow, hint, play, request, seek, site } from "./actions.js";
import { notes } from "./added.js";
import { noteOf } from "./analysis.js";
import { moveName } from "./board.js";
import { cups } from "./cups.js";
import { button, type Child, h, joined, type Tree } from "./dom.js";
import { explain, reasonOf } from "./explained.js";
import { voice } from "./faces.js";
import { kindOf } from "./games.js";
import { either, f, many, w } from "./i18n.js";
import { icon } from "./icons.js";
import { ELO } from "./levels.js";
import { go } from "./place.js";
import type { HintReply, RatingChange } from "./protocol.js";
import { agree, analyse, autoplay, claim, decline, offer, playOnFrom, review, send } from "./requests.js";
import { resultParts, stateOf } from "./results.js";
import { capital, gradeOf, sentence } from "./sentences.js";
import { type Game, isMyTurn, type Match, mayHint, movesAt, set, state, ui } from "./store.js";

/** One question: its key, sentence, tone and buttons, and further parts above and below them. */
type Question = { key: string; text: Child; tone?: string; buttons: Child[]; more?: Child; below?: Child };

/** A match of fewer moves can be called off. */
const OPENING_PLIES = 2;
/** A rated match of fewer moves is called off when it ends, instead of being rated. */
const RATED_PLIES = 4;

/** Whether the server would call off a match that ended now by one player's will. */
const isTooShort = ({ rated, tournament, moves }: Match): boolean => !!rated && !tournament && moves.length < RATED_PLIES;

/** The moves of the cell that the player has aimed at. */
export const aims = (match: Match): number[] => (isMyTurn(match) && ui.aim >= 0 ? movesAt(match.game, match.position.legal, ui.aim) : []);

export function deck(match: Match): Tree {
  const { key, text, tone, buttons, more, below } = match.outcome ? ended(match) : (question(match) ?? during(match));
  return h(
    "section.deck",
    { label: w.actions, class: tone, "data-shows": key },
    h("p.status", { class: isMyTurn(match) && "turn" }, text),
    more,
    h("div.actions", { key }, buttons),
    below,
  );
}

/** The question that needs an answer now, if any. */
function question(match: Match): Question | null {
  const { game, players, you, offers, position } = match;
  const aimed = aims(match);
  if (aimed.length) {
    const name = moveName(game, aimed[0]!);
    const places = aimed.map((move) => button(f(w.placeAt, moveName(game, move)), () => play(match, move), "primary"));
    return { key: "aim", text: aimed.length > 1 ? w.whichMark : f(w.placeAtAsk, name), buttons: [places, button(w.cancel, () => set({ aim: -1 }))] };
  }
  if (ui.isResigning) {
    // A second tap where "Resign" was plays on: "Yes, resign" is at the other end of the row.
    const resign = button(w.yesResign, () => request({ type: "resign", match: match.match }), "primary");
    return { key: "resign", text: w.resignAsk, buttons: [resign, button(w.playOn, () => set({ isResigning: false }))] };
  }
  const theirs = you === undefined ? undefined : offers.find(({ side }) => side !== you);
  if (theirs) {
    const yes = button(w.accept, () => agree(match, theirs), "primary");
    const text = f(w.theyOffer[theirs.kind] ?? "{0}", players[theirs.side]!.name);
    return { key: theirs.kind, text, tone: "asks", buttons: [yes, button(w.no, () => decline(match, theirs))] };
  }
  const others = isMyTurn(match) ? position.legal.filter((move) => game.move_cells[move]! < 0) : [];
  if (others.length) {
    const named = (name: string) => (name === "swap" ? w.swapSides : f(w.playMove, name));
    return { key: "others", text: joined([stateOf(match), notes(position) && sentence(notes(position))], " "), buttons: others.map((move) => button(named(game.move_names[move] ?? ""), () => play(match, move), "primary")) };
  }
  return absence(match);
}

/** The question while the opponent is away: how long to wait, and then the possible claims. */
function absence(match: Match): Question | null {
  const { away, you, adjourned, awayAt, players, rated } = match;
  if (!away || you === undefined || adjourned || match.tournament || away.side === you) return null;
  const how = f(away.on_purpose ? w.hasLeft : w.lostConnection, players[away.side]!.name);
  const left = Math.ceil((away.claim_in_ms - (clockNow() - awayAt)) / 1000);
  if (left > 0) return { ...during(match), text: `${how} ${many(isTooShort(match) ? w.callOffSoon : w.waitSoLong, left)}` };
  if (isTooShort(match)) return { key: "claim", text: how, tone: "asks", buttons: [button(w.callOff, () => claim(match, "draw"), "primary")] };
  const answers = [
    button(w.claimWin, () => claim(match, "win"), "primary"),
    button(w.callDraw, () => claim(match, "draw")),
    !rated && button(w.goOnLater, () => claim(match, "adjourn")),
  ];
  return { key: "claim", text: how, tone: "asks", buttons: answers };
}

function during(match: Match): Question {
  const { you, offers, moves, watchers = 1 } = match;
  const text = stateOf(match);
  if (you === undefined) {
    return { key: "watch", text, more: h("p.quiet", many(w.watching, Math.max(0, watchers - 1))), buttons: [back(match)] };
  }
  const mine = offers.find(({ side }) => side === you);
  if (mine) {
    const withdraw = button(w.withdraw, () => decline(match, mine));
    return { key: "mine", text: `${text} ${w.youOffer[mine.kind] ?? ""}`, buttons: [withdraw, ending(match)] };
  }
  if (mayHint(match)) explain();
  const buttons = [
    button(w.draw, () => offer(match, "draw"), "", w.drawOffer),
    !match.tournament && button(w.takeBack, () => offer(match, "takeback"), "", w.takeBackYours, { disabled: moves.length <= you }),
    ending(match),
    mayHint(match) && button(w.hint, () => hint(match, "move"), "", "", { disabled: !isMyTurn(match) }),
  ];
  return { key: "during", text, buttons, more: coached(match) || greeting(match) };
}

/** What a bot says as a match begins. */
const greeting = ({ moves, players, you = 0 }: Match): Child => moves.length < 2 && h("p.coached.voice", { key: "voice" }, voice(players[1 - you]!));

/** Hints and warnings for the position. */
function coached({ hint: good, warning, game, position }: Match): Child {
  const known = [good, warning].filter((each) => each?.ply === position.ply && each.moves?.length);
  return known.length > 0 && known.map((each) => {
    return h("p.coached", { key: each!.kind, class: each!.kind === "warning" && "beware" }, coachedWords(game, each!));
  });
}

/** A hint or a warning in words; empty if it found nothing. */
export function coachedWords(game: Game, { kind, moves = [], text = "", why }: HintReply): string {
  if (!moves.length) return "";
  const names = either(moves.slice(0, 3).map((move) => moveName(game, move)));
  return reasonOf(why, text) || f(kind === "warning" ? w.hintBeware : w.hintMove, names);
}

function ending(match: Match): Tree {
  const isOpening = match.moves.length < OPENING_PLIES && !match.tournament;
  if (!isOpening && !isTooShort(match)) return button(w.resign, () => set({ isResigning: true }));
  return button(w.callOff, () => request({ type: "abort", match: match.match }));
}

/** The result on one sheet: the next match first, then the turning point. */
function ended(match: Match): Question {
  const { you, next, offers, present, players, outcome, moves } = match;
  const isSeated = you !== undefined;
  const isHere = isSeated && present[1 - you];
  const tone = !isSeated || outcome?.winner == null ? "even" : outcome.winner === you ? "victory" : "defeat";
  const theirs = offers.find(({ side, kind }) => kind === "rematch" && side !== you);
  const mine = offers.find(({ side }) => side === you);
  const again = ui.ply !== null && tryAgain(match, ui.ply);
  const first = match.tournament ? back(match) : toRematch(match, !again);
  const said =
    (theirs && isSeated && f(w.theyOffer.rematch, players[theirs.side]!.name)) ||
    (mine && !hasGoneOn(match) && w.youOffer.rematch) ||
    (isSeated && !isHere && !next && !hasGoneOn(match) && f(w.hasLeft, players[1 - you]!.name));
  const key = `ended ${!!next} ${!!theirs} ${!!mine}`;
  const below = moves.length > 0 && slider(match);
  const anew = isSeated && !match.tournament && button(w.newOpponent, () => seekLike(match));
  if (ui.ply !== null) {
    const note = noteOf(match, ui.ply);
    return {
      key: `${key} ${!!again}`,
      text: moveNow(match, ui.ply),
      tone: `${tone} past`,
      more: [note && h("p.learnt", note), said && h("p.said", said)],
      below,
      buttons: [again, first, anew, !again && (match.starts[ui.ply] ? playOn(match, ui.ply) : isHere && another(match))],
    };
  }
  const more = [said, nothingFound(match), tone === "victory" && nextLevel(match)].filter(Boolean);
  return {
    key,
    text: told(match),
    tone,
    more: more.length > 0 && h("p.said", more.map((each) => h("span", each))),
    below,
    buttons: [first, anew, moves.length > 0 && toLesson(match, tone === "defeat" ? w.whereWrong : w.analyse), isHere && !theirs && another(match)],
  };
}

/** How much stronger the level above the beaten one is in this game, if that has been measured. */
function nextLevel({ game, players, you }: Match): string {
  const { level = 8 } = players[1 - you!]!;
  const [own, next] = ELO[game.name.split("+")[0]!]?.slice(level - 1, level + 1) ?? [];
  return next === undefined ? "" : f(w.stronger, level + 1, next - own!);
}

/** The way back to the tournament of a match. */
const back = (match: Match): Child => !!match.tournament && cups()?.toTournament(match);

/** The rematch with the same player; it stands out if nothing else does. */
function toRematch(match: Match, isLarge: boolean): Child {
  const { you, next, offers, present } = match;
  const look = isLarge ? "primary large" : "primary";
  if (next) return button(w.toRematch, () => go(`/m/${next}`), look);
  if (you === undefined) return null;
  if (hasGoneOn(match)) return button(w.rematch, () => challengeAgain(match), isLarge && look);
  const offered = offers.find(({ kind, side }) => side === you || kind === "rematch");
  if (offered && offered.side !== you) {
    return [button(w.accept, () => agree(match, offered), look), button(w.no, () => decline(match, offered))];
  }
  if (offered) return button(w.withdraw, () => decline(match, offered));
  return !!present[1 - you] && button(w.rematch, () => offer(match, "rematch"), isLarge && look);
}

/** Whether the opponent was a bot that has left the match, so that it answers no offer here. */
const hasGoneOn = ({ you, players, present }: Match): boolean => you !== undefined && !!players[1 - you]?.bot && !present[1 - you];

function challengeAgain({ you, players, game, time, rated = false, start }: Match): void {
  const { name, level } = players[1 - you!]!;
  request({ type: "challenge", name, game: game.name, time: time ?? null, rated, level: (!rated && level) || null, start: start ?? null });
}

const another = ({ tournament }: Match): Child => !tournament && button(w.otherGame, () => set({ isChoosing: true }));

/** A button that requests the analysis, waits for it, and then shows the turning point. */
function toLesson(match: Match, words: string): Child {
  const { analysis: found } = match;
  const { ply } = found?.lesson ?? {};
  if (!found) return state.features.includes("analyse") && button(words, () => analyse(match));
  if (ply) return button(words, () => review(match, ply));
  if (!found.moves || found.partial) return button(w.looking, () => {}, "", "", { disabled: true });
  return !found.moves.length && !found.exact && button(w.tryAgain, () => analyse(match));
}

/** A sentence if the engine found no mistake or had no time. */
function nothingFound({ analysis: found }: Match): string {
  if (!found?.moves || found.partial || found.lesson?.ply) return "";
  if (!found.moves.length && !found.exact) return w.notInTime;
  return found.moves.some(({ turning }) => turning) ? "" : w.nothingGiven;
}

/** The number of the move that is shown, and its sign. */
function moveNow({ analysis: found, moves, game }: Match, ply: number): Child {
  const sign = found?.moves?.find((each) => each.ply === ply)?.sign;
  return [h("span", f(w.moveOf, ply, moves.length)), ply > 0 && h("strong.made", h("bdi", game.move_names[moves[ply - 1]!]), sign && h("span.sign", { class: gradeOf(sign) }, sign))];
}

/** At the move that decided the match: a button to play on from before it against a bot. */
function tryAgain(match: Match, ply: number): Tree | false {
  const { lesson } = match.analysis ?? {};
  const isOurs = lesson?.ply === ply && lesson.side === match.you && match.starts[ply - 1] !== "";
  return isOurs && button(w.tryAgainHere, () => playOnFrom(match, ply - 1, lesson.side as 0 | 1), "primary");
}

/** A button to play on from the position on screen against a bot, as ourselves or as the side to move. */
function playOn(match: Match, ply: number): Tree {
  const side = match.you ?? match.past[ply]?.to_move ?? 0;
  return button(w.playFromHere, () => playOnFrom(match, ply, side as 0 | 1));
}

/** The winner in large letters, the reason below it, and our rating change; read aloud it is one sentence. */
function told(match: Match): Child {
  const [head, how] = resultParts(match);
  const [between = "", end = ""] = f(w.because, "", "\u0001").split("\u0001");
  const why = match.players.some(({ name }) => how.startsWith(name)) ? how : capital(how); // names are not capitalized
  const rated = match.you !== undefined && match.ratings?.[match.you];
  return [h("strong.head", head), how && h("span.how", h("span.unseen", between), why, end), rated && h("span.gain", change(rated))];
}

const change = ({ before, after }: RatingChange): Child => [
  h("span", `${before} → `),
  h("strong", { class: after < before ? "lost" : "won" }, after, ` (${after < before ? "−" : "+"}${Math.abs(after - before)})`),
];

function seekLike({ game, time, rated = false }: Match): void {
  go("/");
  seek({ game: game.name, time: time ?? null, ...kindOf(rated ? "either" : "casual") });
}

export const share = ({ match, code }: Match): Tree =>
  button(icon("share"), () => send(`${site()}/m/${match}${code ? "#" + code : ""}`), "plain share", w.shareToWatch);

/** The slider through a finished match. */
function slider(match: Match): Tree {
  const { length } = match.moves;
  const ply = ui.ply ?? length;
  const step = (words: string, label: string, to: number) =>
    button(words, () => review(match, to), "plain", label, { disabled: to < 0 || to > length });
  const oninput = (event: Event) => review(match, Number((event.target as HTMLInputElement).value));
  return h(
    "div.review",
    { role: "group", label: w.replay },
    step("‹", w.oneBack, ply - 1),
    h("input", { type: "range", min: 0, max: length, value: ply, label: w.move, "aria-valuetext": f(w.moveOf, ply, length), oninput }),
    step("›", w.oneOn, ply + 1),
    button(icon(ui.isPlaying ? "pause" : "play"), () => autoplay(match), "plain", ui.isPlaying ? w.pause : w.playThrough),
  );
}
