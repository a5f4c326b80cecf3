/**
 * What stands below the board of a match: one sentence, and what can be done now.
 *
 * It keeps its place whatever it says, so that nothing moves under a finger. The most urgent question comes first.
 */

import { explain, reasonOf } from "./explained.js";
import type { HintReply, RatingChange } from "./protocol.js";
import {
  analyse,
  autoplay,
  button,
  capital,
  type Child,
  claim,
  clockNow,
  decline,
  either,
  f,
  type Game,
  go,
  h,
  hint,
  icon,
  isMyTurn,
  kindOf,
  many,
  type Match,
  mayHint,
  moveName,
  movesAt,
  offer,
  play,
  playOnFrom,
  request,
  resultParts,
  review,
  seek,
  send,
  set,
  state,
  status,
  type Tree,
  ui,
  w,
} from "./shared.js";

/** One question: what it is called, its sentence, how it sounds, its buttons, and what stands above and below these. */
type Question = { key: string; text: Child; tone?: string; buttons: Child[]; more?: Child; below?: Child };

/** The moves that the cell means which a player has aimed at. */
export const aims = (match: Match): number[] => (isMyTurn(match) && ui.aim >= 0 ? movesAt(match.game, match.position.legal, ui.aim) : []);

export function deck(match: Match): Tree {
  const { key, text, tone, buttons, more, below } = match.outcome ? ended(match) : (question(match) ?? during(match));
  return h(
    "section.deck",
    { label: w.actions, class: tone, "data-shows": key },
    h("p.status", { class: [isMyTurn(match) && "turn"] }, text),
    more,
    h("div.actions", { key }, buttons),
    below,
  );
}

/** What wants an answer now. */
function question(match: Match): Question | null {
  const { game, players, you, offers, position } = match;
  const aimed = aims(match);
  if (aimed.length) {
    const name = moveName(game, aimed[0]!);
    const places = aimed.map((move) => button(f(w.placeAt, moveName(game, move)), () => play(match, move), "primary"));
    return { key: "aim", text: aimed.length > 1 ? w.whichMark : f(w.placeAtAsk, name), buttons: [places, button(w.cancel, () => set({ aim: -1 }))] };
  }
  if (ui.isResigning) {
    const resign = button(w.yesResign, () => request({ type: "resign", match: match.match }), "primary");
    return { key: "resign", text: w.resignAsk, buttons: [button(w.playOn, () => set({ isResigning: false })), resign] };
  }
  const theirs = you === undefined ? undefined : offers.find(({ side }) => side !== you);
  if (theirs) {
    const yes = button(w.accept, () => offer(match, theirs.kind), "primary");
    const text = f(w.theyOffer[theirs.kind] ?? "{0}", players[theirs.side]!.name);
    return { key: theirs.kind, text, tone: "asks", buttons: [yes, button(w.no, () => decline(match, theirs.kind))] };
  }
  const others = isMyTurn(match) ? position.legal.filter((move) => game.move_cells[move]! < 0) : [];
  if (others.length) {
    const named = (name: string) => (name === "swap" ? w.swapSides : f(w.playMove, name));
    return { key: "others", text: status(match), buttons: others.map((move) => button(named(game.move_names[move] ?? ""), () => play(match, move), "primary")) };
  }
  return absence(match);
}

/** The other player is away: how long to wait, and then what can be claimed. */
function absence(match: Match): Question | null {
  const { away, you, adjourned, awayAt, players, rated } = match;
  if (!away || you === undefined || adjourned || away.side === you) return null;
  const how = f(away.on_purpose ? w.hasLeft : w.lostConnection, players[away.side]!.name);
  const left = Math.ceil((away.claim_in_ms - (clockNow() - awayAt)) / 1000);
  if (left > 0) return { ...during(match), text: `${how} ${many(w.waitSoLong, left)}` };
  const answers = [
    button(w.claimWin, () => claim(match, "win"), "primary"),
    button(w.callDraw, () => claim(match, "draw")),
    !rated && button(w.goOnLater, () => claim(match, "adjourn")),
  ];
  return { key: "claim", text: how, tone: "asks", buttons: answers };
}

function during(match: Match): Question {
  const { you, offers, moves, watchers = 1 } = match;
  const text = status(match);
  if (you === undefined) {
    return { key: "watch", text, more: h("p.quiet", many(w.watching, Math.max(0, watchers - 1))), buttons: [] };
  }
  const mine = offers.find(({ side }) => side === you);
  if (mine) {
    const withdraw = button(w.withdraw, () => decline(match, mine.kind));
    return { key: "mine", text: `${text} ${w.youOffer[mine.kind] ?? ""}`, buttons: [withdraw, ending(match)] };
  }
  if (mayHint(match)) explain();
  const buttons = [
    button(w.draw, () => offer(match, "draw"), "", w.drawOffer),
    button(w.takeBack, () => offer(match, "takeback"), "", w.takeBackYours, { disabled: moves.length <= you }),
    ending(match),
    mayHint(match) && button(w.hint, () => hint(match, "move"), "", "", { disabled: !isMyTurn(match) }),
  ];
  return { key: "during", text, buttons, more: coached(match) };
}

/** What the coach says of the position. */
function coached({ hint: good, warning, game, position }: Match): Child {
  const known = [good, warning].filter((each) => each?.ply === position.ply && each.moves?.length);
  return known.map((each) => {
    return h("p.coached", { key: each!.kind, class: each!.kind === "warning" && "beware" }, coachedWords(game, each!));
  });
}

/** What a hint or a warning says; nothing of one that has found nothing. */
export function coachedWords(game: Game, { kind, moves = [], text = "", why }: HintReply): string {
  if (!moves.length) return "";
  const names = either(moves.slice(0, 3).map((move) => moveName(game, move)));
  return reasonOf(why, text) || f(kind === "warning" ? w.hintBeware : w.hintMove, names);
}

const ending = (match: Match): Tree =>
  match.moves.length < 2
    ? button(w.callOff, () => request({ type: "abort", match: match.match }))
    : button(w.resign, () => set({ isResigning: true }));

/** The result on one sheet: what comes next first, and where it turned. */
function ended(match: Match): Question {
  const { you, next, offers, present, players, outcome, moves } = match;
  const isSeated = you !== undefined;
  const isHere = isSeated && present[1 - you];
  const tone = !isSeated || outcome?.winner == null ? "even" : outcome.winner === you ? "victory" : "defeat";
  const theirs = offers.find(({ side, kind }) => kind === "rematch" && side !== you);
  const mine = offers.find(({ side }) => side === you);
  const first =
    (next && button(w.toRematch, () => go(`/m/${next}`), "primary large")) ||
    (theirs && isSeated && [
      button(w.accept, () => offer(match, "rematch"), "primary large"),
      button(w.no, () => decline(match, "rematch")),
    ]) ||
    (mine && button(w.withdraw, () => decline(match, "rematch"))) ||
    (isHere && button(w.rematch, () => offer(match, "rematch"), "primary large"));
  const canAnalyse = !match.analysis && moves.length > 0 && state.features.includes("analyse");
  const said =
    (theirs && isSeated && f(w.theyOffer.rematch, players[theirs.side]!.name)) ||
    (mine && w.youOffer.rematch) ||
    (isSeated && !isHere && !next && f(w.hasLeft, players[1 - you]!.name));
  return {
    key: `ended ${!!next} ${!!theirs} ${!!mine}`,
    text: ui.ply === null ? told(match) : f(w.moveOf, ui.ply, moves.length),
    tone,
    more: (said || match.ratings) && h("p.said", isSeated && match.ratings && change(match.ratings[you]!), said && h("span", said)),
    below: moves.length > 0 && slider(match),
    buttons: [
      first,
      isSeated && button(w.newOpponent, () => seekLike(match)),
      canAnalyse && button(tone === "defeat" ? w.whereWrong : w.analyse, () => analyse(match)),
      ui.ply === null || !match.starts[ui.ply] ? isHere && button(w.otherGame, () => set({ isChoosing: true })) : playOn(match, ui.ply),
    ],
  };
}

/** From the position that is shown, a bot plays on: against us, or else against who is to move there. */
function playOn(match: Match, ply: number): Tree {
  const side = match.you ?? match.past[ply]?.to_move ?? 0;
  return button(w.playFromHere, () => playOnFrom(match, ply, side as 0 | 1));
}

/** Who won, in large letters, and below it why; read aloud it is one sentence. */
function told(match: Match): Child {
  const [head, how] = resultParts(match);
  const [, between = "", end = ""] = /^(.*)\u0001(.*)$/.exec(f(w.because, "", "\u0001")) ?? [];
  const why = match.players.some(({ name }) => how.startsWith(name)) ? how : capital(how); // names stay as they are written
  return [h("strong.head", head), how && [h("span.unseen", between), why, end]];
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
  button(icon("share"), () => send(`${location.origin}/m/${match}${code ? "#" + code : ""}`), "plain share", w.shareToWatch);

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
