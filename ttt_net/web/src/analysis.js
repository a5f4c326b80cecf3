/**
 * A finished match as an engine sees it: a small chart over the moves, and where it turned.
 *
 * @typedef {import("./state.js").Match} Match
 */

import { analyse, review, ui } from "./app.js";
import { button, h, panel } from "./dom.js";
import { state } from "./state.js";

const [WIDE, HIGH, EDGE] = [300, 100, 12];
const VALUES = { 1: "won", 0: "level", "-1": "lost" };

/** @param {Match} match */
export function analysis(match) {
  const found = match.analysis;
  if (!found && !(state.features.includes("analyse") && match.moves.length)) return null;
  if (!found?.moves) {
    const words = found ? "Looking at each move …" : "Analyse";
    return button(words, () => analyse(match), "", "", { key: "analyse", disabled: !!found });
  }
  const turns = found.moves.filter((move) => move.turning);
  return panel(
    "Analysis",
    h("h2", "Analysis"),
    chart(match, found.moves),
    !found.moves.length && h("p.quiet", "It could not be looked at in time."),
    turns.length ? h("ul.turns", turns.map((move) => turn(match, move))) : found.exact && h("p.quiet", "No move gave anything away."),
    !found.exact && h("p.quiet", "Some values are estimates."),
  );
}

/** How good it is for the first player, from -1 to 1. */
function worth(move) {
  const own = move.score ?? move.value;
  return move.side ? -own : own;
}

/** @param {Match} match */
function chart(match, moves) {
  const { length } = match.moves;
  const x = (ply) => EDGE + (ply * (WIDE - 2 * EDGE)) / length;
  const y = (value) => HIGH / 2 - value * (HIGH / 2 - EDGE);
  const [first, second] = match.players;
  const values = moves.map((move) => `${match.game.move_names[move.move]} ${VALUES[move.value]}`).join(", ");
  const line = (name, x1, x2, y1, y2) => h("line", { class: name, x1, x2, y1, y2 });
  const now = x(ui.ply ?? length);
  return h(
    "figure",
    h("figcaption.quiet", `Above the middle is better for ${first.name}, below for ${second.name}.`),
    h(
      "svg.chart",
      { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", label: `What each move made of it for its player: ${values}` },
      line("even", 0, WIDE, HIGH / 2, HIGH / 2),
      h("polyline.course", { points: [`${x(0)},${y(0)}`, ...moves.map((move) => `${x(move.ply)},${y(worth(move))}`)].join(" ") }),
      line("now", now, now, 0, HIGH),
      moves.filter((move) => move.turning).map((move) => h("circle.turn", { cx: x(move.ply), cy: y(worth(move)), r: 5 })),
    ),
  );
}

/** @param {Match} match */
function turn(match, move) {
  const words = `Move ${move.ply}, ${match.game.move_names[move.move]}`;
  const better = move.best.length ? `; better was ${move.best.slice(0, 3).join(" or ")}` : "";
  const what = move.value === 0 ? "let the win go" : "was a losing move";
  return h("li", button(words, () => review(match, move.ply), "plain"), ` ${what}${better}.`);
}
