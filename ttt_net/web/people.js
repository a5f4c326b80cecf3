/**
 * Who somebody is, what he has played, and who plays best.
 *
 * @typedef {import("./main.js").App} App
 */

import { CATALOGUE } from "./catalogue.js";
import { h } from "./dom.js";
import { option, row, titleOf } from "./lobby.js";
import { dateOf, label, ratingOf, SPEEDS, timeName } from "./words.js";

/**
 * @param {App} app
 * @param {string} title
 * @param {...any} children
 */
function screen(app, title, ...children) {
  return h(
    "main",
    { key: `people ${title}`, class: "lobby people", tabindex: -1, focus: true },
    h(
      "header",
      { class: "bar" },
      h("button", { type: "button", class: "plain back", onclick: () => app.go("/") }, "‹ Lobby"),
      h("h1", null, title),
      app.linkWord(),
    ),
    children,
  );
}

/** @param {App} app */
export function playerScreen(app) {
  const { profile, history, you } = app.state;
  const isMe = !app.place.id || app.place.id === you?.name;
  const name = isMe ? (you?.name ?? "") : app.place.id;
  return screen(
    app,
    name,
    profile && person(app, profile, isMe),
    history && matches(app, history),
  );
}

/**
 * @param {App} app
 * @param {any} profile
 * @param {boolean} isMe
 */
function person(app, profile, isMe) {
  const { against } = profile;
  return h(
    "section",
    { key: "person", class: "panel", "aria-label": "About" },
    h("p", null, `Won ${profile.won}, drawn ${profile.drawn}, lost ${profile.lost}.`),
    !isMe && against && h("p", null, `Against you: won ${against.lost}, drawn ${against.drawn}, lost ${against.won}.`),
    profile.ratings.length > 0 &&
      h(
        "table",
        null,
        h("thead", null, h("tr", null, ["Game", "Clock", "Rating", "Matches"].map((word) => h("th", { scope: "col" }, word)))),
        h(
          "tbody",
          null,
          profile.ratings.map((/** @type {any} */ each) =>
            h("tr", { key: `${each.game} ${each.speed}` }, [titleOf(each.game), SPEEDS[each.speed], ratingOf(each), each.games].map((cell) => h("td", null, cell))),
          ),
        ),
      ),
    !isMe && profile.online && h("button", { type: "button", class: "primary", onclick: () => app.challenge(profile.player.name) }, "Challenge"),
  );
}

/**
 * @param {App} app
 * @param {any} history
 */
function matches(app, history) {
  const { name } = history.player;
  if (history.matches.length === 0) return h("p", { key: "none", class: "quiet" }, "No finished matches yet.");
  return h(
    "section",
    { key: "history", class: "panel", "aria-label": "Finished matches" },
    h("h2", null, "Finished matches"),
    h(
      "ul",
      { class: "entries" },
      history.matches.map((/** @type {any} */ match) => {
        const side = match.players.findIndex((/** @type {any} */ player) => player.name === name);
        const other = match.players[1 - side] ?? match.players[1];
        const how = match.winner === null ? "drawn" : match.winner === side ? "won" : "lost";
        return row(
          match.match,
          [h("strong", { class: how }, how), ` against ${label(other)}`],
          `${titleOf(match.game)} · ${timeName(match.time)} · ${match.plies} moves · ${dateOf(match.at_ms)}`,
          h("button", { type: "button", "aria-label": `Replay the match against ${other.name}`, onclick: () => app.go(`/m/${match.match}`) }, "Replay"),
        );
      }),
    ),
    history.before && h("button", { type: "button", onclick: () => app.older() }, "Older ones"),
  );
}

/** @param {App} app */
export function leadersScreen(app) {
  const { leaders } = app.ui;
  const shown = app.state.leaders;
  const pick = (/** @type {any} */ change) => () => app.rank(change);
  return screen(
    app,
    "Leaderboard",
    h(
      "section",
      { key: "choice", class: "panel" },
      h("label", { for: "game" }, "Game"),
      h(
        "select",
        { id: "game", onchange: (/** @type {any} */ event) => app.rank({ game: event.target.value }) },
        CATALOGUE.map((game) => h("option", { value: game.name, selected: game.name === leaders.game }, game.title)),
      ),
      h(
        "fieldset",
        { class: "choices" },
        h("legend", null, "Clock"),
        Object.entries(SPEEDS).map(([speed, word]) => option("speed", word, leaders.speed === speed, pick({ speed }))),
      ),
      h(
        "label",
        { class: "check" },
        h("input", { type: "checkbox", checked: leaders.bots, onchange: (/** @type {any} */ event) => app.rank({ bots: event.target.checked }) }),
        "with bots",
      ),
    ),
    shown && ranks(app, shown),
  );
}

/**
 * @param {App} app
 * @param {any} shown
 */
function ranks(app, shown) {
  if (shown.leaders.length === 0) return h("p", { key: "none", class: "quiet" }, "Nobody has a settled rating here yet.");
  return h(
    "section",
    { key: "ranks", class: "panel", "aria-label": "Ranks" },
    shown.you && h("p", null, `You are number ${shown.you}.`),
    h(
      "ol",
      { class: "entries ranks" },
      shown.leaders.map((/** @type {any} */ leader) =>
        row(
          leader.rank,
          [
            h("span", { class: "rank" }, leader.rank),
            h("button", { type: "button", class: "plain name", onclick: () => app.go(`/#player=${encodeURIComponent(leader.player.name)}`) }, label(leader.player)),
          ],
          `${leader.games} matches`,
          h("strong", { class: "rating" }, ratingOf(leader.player)),
        ),
      ),
    ),
    shown.pages > 1 &&
      h(
        "div",
        { class: "buttons" },
        h("button", { type: "button", disabled: shown.page <= 1, onclick: () => app.rank({ page: shown.page - 1 }) }, "Higher"),
        h("button", { type: "button", disabled: shown.page >= shown.pages, onclick: () => app.rank({ page: shown.page + 1 }) }, "Lower"),
      ),
  );
}
