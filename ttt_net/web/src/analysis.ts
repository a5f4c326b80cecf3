/** The analysis of a finished match: a small chart over the moves, the turning points, and an arrow on the board. */

import { centre, type Look, sizes, stacked } from "./board.js";
import { button, type Child, h, panel, type Tree } from "./dom.js";
import { followsOf, reasonOf } from "./explained.js";
import { either, f, language, w } from "./i18n.js";
import type { AnalysedMove, MatchLesson } from "./protocol.js";
import { guessMoves, review } from "./requests.js";
import { capital, gradeOf } from "./sentences.js";
import { type Match, state, ui } from "./store.js";

const [WIDE, HIGH, EDGE] = [300, 100, 12];
/** An estimate closer to zero favours nobody. */
const LEVEL = 0.08;

export function analysis(match: Match): Tree | null {
  const found = match.analysis;
  if (!found) return null;
  if (!found.moves) return h("p.quiet", { role: "status", key: "looking" }, w.looking);
  if (!found.moves.length && !found.partial && !found.exact) return null; // the note about it is below the board
  const turns = found.moves.filter((move) => move.turning);
  return panel(
    w.analysis,
    h("h2", w.analysis),
    found.moves.length > 0 && chart(match, found.moves),
    found.partial && h("p.quiet", { role: "status", key: "looking" }, w.looking),
    turns.length ? h("ul.turns", turns.map((move) => turn(match, move))) : found.exact && !found.partial && h("p.quiet", w.nothingGiven),
    found.moves.length > 0 && !found.exact && !found.partial && h("p.quiet", w.estimates),
    found.moves.length > 0 && !found.partial && match.you !== undefined && state.features.includes("study") && button(w.guessMoves, () => guessMoves(match)),
  );
}

/** Whether a move has the sign of a bad move. */
export const isPoor = ({ sign = "" }: AnalysedMove): boolean => sign.startsWith("?");

/** The note on one move: it decided the match, with the reason for its player, or what it gave away. */
export function noteOf(match: Match, ply: number): string {
  const { lesson, moves } = match.analysis ?? {};
  if (lesson?.ply === ply) return lessonOf(match, lesson);
  const move = moves?.find((each) => each.ply === ply);
  return move && (move.turning || move.why) ? capital(whatOf(match, move)) : "";
}

function lessonOf(match: Match, { ply, side, better, text, why, follows }: MatchLesson): string {
  if (ply === null || side === null) return w.nothingGiven;
  const name = nameOf(match, ply);
  const instead = better.length ? f(w.betterWas, either(better.slice(0, 3))) : "";
  const reason = side === match.you ? reasonOf(why, text) : "";
  const ours = language === "en" ? reason : reason && f(w.because, f(w.moveNamed, ply, name), reason) + followsOf(follows);
  return ours || f(w.decidedBy, ply, name, match.players[side]!.name) + instead + w.stop;
}

const nameOf = ({ game, moves }: Match, ply: number): string => game.move_names[moves[ply - 1] ?? -1] ?? "";

/** The value for the first player, from -1 to 1. */
function worth(move: AnalysedMove): number {
  const own = move.score ?? move.value;
  return move.side ? -own : own;
}

/**
 * A bar beside the board of a finished match: how much of it is in a side's colour says how well that side stands after
 * the shown move. The colour of the player below the board is at the bottom.
 */
export function worthBar(match: Match): Tree | false {
  const { players, analysis: found, moves } = match;
  const ply = ui.ply ?? moves.length;
  const move = found?.moves?.find((each) => each.ply === ply);
  if (!match.outcome || !move) return false;
  const below = match.you ?? 0;
  const value = below ? -worth(move) : worth(move);
  const { name } = players[value > 0 ? below : 1 - below]!;
  const words = Math.abs(value) < LEVEL ? w.standsLevel : f(move.value ? w.standsWon : w.standsBetter, name);
  return h("div.worth", { role: "img", label: words, title: words, class: `of-${"XO"[below]}` }, h("i", { style: { "--share": (1 + value) / 2 } }));
}

function chart(match: Match, moves: AnalysedMove[]): Tree {
  const { length } = match.moves;
  const x = (ply: number) => EDGE + (ply * (WIDE - 2 * EDGE)) / length;
  const y = (value: number) => HIGH / 2 - value * (HIGH / 2 - EDGE);
  const [first, second] = match.players;
  const called: Record<number, string> = { 1: w.valueWon, 0: w.valueLevel, [-1]: w.valueLost };
  const values = moves.map((move) => `${match.game.move_names[move.move]} ${called[move.value]}`).join(w.comma);
  const line = (name: string, x1: number, x2: number, y1: number, y2: number) => h("line", { class: name, x1, x2, y1, y2 });
  const now = x(ui.ply ?? length);
  const points = [[x(0), y(0)], ...moves.map((move) => [x(move.ply), y(worth(move))])];
  return h(
    "figure",
    h("figcaption.quiet", f(w.chartCaption, first.name, second.name)),
    h(
      "svg.chart",
      { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", label: f(w.chartLabel, values) },
      h("path.area", { d: `M${x(0)} ${y(0)} ${points.map((each) => `L${each}`).join(" ")} L${points[points.length - 1]?.[0]} ${y(0)}Z` }),
      line("even", 0, WIDE, HIGH / 2, HIGH / 2),
      h("polyline.course", { points: points.join(" ") }),
      line("now", now, now, 0, HIGH),
      moves.filter((move) => move.turning).map((move) => h("circle.turn", { cx: x(move.ply), cy: y(worth(move)), r: 5 })),
    ),
  );
}

function turn(match: Match, move: AnalysedMove): Child {
  const named = button(f(w.moveNamed, move.ply, nameOf(match, move.ply)), () => review(match, move.ply), "plain");
  return h("li", { key: move.ply }, named, move.sign && h("strong.sign", { class: gradeOf(move.sign) }, move.sign), ` ${whatOf(match, move)}`);
}

/** The mistake of a move, with the reason for its player, and the better move. */
function whatOf(match: Match, move: AnalysedMove): string {
  const why = move.side === match.you ? reasonOf(move.why, move.text ?? "") : "";
  const what = why || (move.value === 0 ? w.letWinGo : w.wasLosing);
  const better = move.best.length && !why ? f(w.betterWas, either(move.best.slice(0, 3))) : "";
  return `${what}${better}${w.stop}`;
}

/** The arrow from the last move to the first cell that would have been better. */
export function betterArrow({ game, hints, last, isFlat }: Look): Child {
  const [better] = hints.split(",").filter(Boolean).map(Number);
  if (better === undefined || better < 0 || last < 0 || better === last) return null;
  const middle = sizes(game)[0] > 1 && !isFlat ? stacked : centre;
  const [[x, y], [toX, toY]] = [middle(game, last), middle(game, better)];
  const far = Math.hypot(toX - x, toY - y);
  const [dx, dy] = [(toX - x) / far, (toY - y) / far];
  const at = (along: number, aside: number): string => `${toX - dx * along - dy * aside} ${toY - dy * along + dx * aside}`;
  return [h("path.shaft", { d: `M${x + dx * 0.3} ${y + dy * 0.3}L${at(0.4, 0)}` }), h("path.tip", { d: `M${at(0.12, 0)}L${at(0.46, 0.2)}L${at(0.46, -0.2)}Z` })];
}
