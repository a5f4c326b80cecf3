/**
 * A finished match as an engine sees it: a small chart over the moves, and where it turned.
 *
 * @typedef {import("./state.js").Match} Match
 * @typedef {import("./state.js").Judged} Judged
 * @typedef {import("./main.js").App} App
 */

import { h } from "./dom.js";

const [WIDE, HIGH, EDGE] = [300, 100, 12];
const VALUES = /** @type {Record<number, string>} */ ({ 1: "winning", 0: "level", "-1": "losing" });

/**
 * @param {App} app
 * @param {Match} match
 */
export function analysis(app, match) {
  const found = match.analysis;
  const canAsk = app.state.features.includes("analyse") && match.moves.length > 0;
  if (!found && !canAsk) return null;
  if (!found || found === "asked") {
    const word = found ? "Looking at every move …" : "Analyse";
    return h("button", { key: "analyse", type: "button", disabled: Boolean(found), onclick: () => app.analyse(match) }, word);
  }
  const turning = found.moves.filter((move) => move.turning);
  return h(
    "section",
    { key: "analysis", class: "panel analysis" },
    h("h2", null, "Analysis"),
    chart(app, match, found.moves),
    turning.length
      ? h("ul", { class: "turns" }, turning.map((move) => turn(app, match, move)))
      : h("p", { class: "quiet" }, "No move gave anything away."),
    !found.exact && h("p", { class: "quiet" }, "Some values are estimates."),
  );
}

/** How good it is for the first player, from -1 to 1. @param {Judged} move */
function worth(move) {
  const own = move.score ?? move.value;
  return move.ply % 2 ? own : -own;
}

/**
 * @param {App} app
 * @param {Match} match
 * @param {Judged[]} moves
 */
function chart(app, match, moves) {
  const at = app.ui.ply ?? match.moves.length;
  const x = (/** @type {number} */ ply) => EDGE + (ply * (WIDE - 2 * EDGE)) / Math.max(1, match.moves.length);
  const y = (/** @type {number} */ value) => HIGH / 2 - value * (HIGH / 2 - EDGE);
  const points = moves.map((move) => `${x(move.ply)},${y(worth(move))}`).join(" ");
  const seek = (/** @type {any} */ event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const place = ((event.clientX - box.left) / box.width) * WIDE;
    const ply = Math.round(((place - EDGE) * match.moves.length) / (WIDE - 2 * EDGE));
    app.review(match, Math.min(match.moves.length, Math.max(0, ply)));
  };
  const [first, second] = match.players;
  return h(
    "figure",
    null,
    h("figcaption", { class: "quiet" }, `Above the middle it is better for ${first.name}, below for ${second.name}.`),
    h(
      "svg",
      { class: "chart", viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": described(match, moves), onclick: seek },
      h("line", { class: "even", x1: 0, x2: WIDE, y1: HIGH / 2, y2: HIGH / 2 }),
      h("polyline", { class: "course", points: `${x(0)},${y(0)} ${points}` }),
      h("line", { class: "now", x1: x(at), x2: x(at), y1: 0, y2: HIGH }),
      moves
        .filter((move) => move.turning)
        .map((move) => h("circle", { class: "turn", cx: x(move.ply), cy: y(worth(move)), r: 5 })),
    ),
  );
}

/**
 * @param {Match} match
 * @param {Judged[]} moves
 */
function described(match, moves) {
  const value = (/** @type {Judged} */ move) => `${match.game.move_names[move.move]} ${VALUES[move.value]}`;
  return `Value of each move for who made it: ${moves.map(value).join(", ")}`;
}

/**
 * @param {App} app
 * @param {Match} match
 * @param {Judged} move
 */
function turn(app, match, move) {
  const name = match.game.move_names[move.move];
  const best = move.best.length ? `; better was ${move.best.slice(0, 3).join(" or ")}` : "";
  const now = move.value === 0 ? "let the win go" : "lost the match";
  return h(
    "li",
    null,
    h("button", { type: "button", class: "plain", onclick: () => app.review(match, move.ply) }, `Move ${move.ply}, ${name}`),
    ` ${now}${best}.`,
  );
}
