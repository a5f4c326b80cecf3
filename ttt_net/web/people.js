/**
 * Who somebody is, what he has played, and who plays best.
 *
 * @typedef {import("./main.js").App} App
 */

import { CATALOGUE } from "./catalogue.js";
import { button, h } from "./dom.js";
import { entry, option, person } from "./lobby.js";
import { dateOf, label, ratingOf, SPEEDS, timeName, titleOf } from "./words.js";

/** @param {App} app */
function screen(app, title, ...children) {
  return h(
    "main.lobby",
    { key: `people ${title}`, tabindex: -1, focus: true },
    h("header.bar", button("‹ Lobby", () => app.go("/"), "plain back"), h("h1", title), app.linkWord()),
    children,
  );
}

/** @param {App} app */
export function playerScreen(app) {
  const { profile, history, you } = app.state;
  const isMe = !app.place.id || app.place.id === you?.name;
  return screen(app, isMe ? you?.name : app.place.id, profile && about(app, profile, isMe), history && matches(app, history));
}

/** @param {App} app */
function about(app, { player, won, drawn, lost, ratings, against, online }, isMe) {
  const cells = (tag, words) => h("tr", words.map((word) => h(tag, tag === "th" ? { scope: "col" } : {}, word)));
  return h(
    "section.panel",
    { key: "about", label: "About" },
    h("p", `Won ${won}, drawn ${drawn}, lost ${lost}.`),
    !isMe && against && h("p", `You against ${player.name}: won ${against.won}, drawn ${against.drawn}, lost ${against.lost}.`),
    ratings.length > 0 &&
      h(
        "table",
        h("thead", cells("th", ["Game", "Clock", "Rating", "Matches"])),
        h("tbody", ratings.map((each) => cells("td", [titleOf(each.game), SPEEDS[each.speed], ratingOf(each), each.games]))),
      ),
    isMe &&
      h(
        "form.row",
        { onsubmit: (event) => (event.preventDefault(), app.rename(app.ui.name.trim())) },
        h("input", { type: "text", maxlength: 20, label: "Another name", placeholder: "Another name", value: app.ui.name, oninput: (event) => app.set({ name: event.target.value }) }),
        h("button", "Take it"),
      ),
    !isMe && online && button("Challenge", () => app.challenge(player.name), "primary"),
  );
}

/** @param {App} app */
function matches(app, history) {
  if (!history.matches.length) return h("p.quiet", { key: "none" }, "No finished matches yet.");
  const row = (match) => {
    const side = match.players.findIndex((player) => player.name === history.player.name);
    const other = match.players[side === 1 ? 0 : 1];
    const how = match.winner === null ? "drawn" : match.winner === side ? "won" : "lost";
    const replay = button("Replay", () => app.go(`/m/${match.match}`), "", `Replay the match against ${other.name}`);
    const detail = [titleOf(match.game), timeName(match.time), `${match.plies} moves`, dateOf(match.at_ms)].join(" · ");
    return entry(match.match, [h("strong", { class: how }, how), ` against ${label(other)}`], detail, replay);
  };
  return h(
    "section.panel",
    { key: "history", label: "Finished matches" },
    h("h2", "Finished matches"),
    h("ul.entries", history.matches.map(row)),
    history.before && button("Older ones", () => app.fetchHistory(history.before)),
  );
}

/** @param {App} app */
export function leadersScreen(app) {
  const { leaders } = app.ui;
  const shown = app.state.leaders;
  const games = CATALOGUE.filter((game) => game.rated).map((game) => h("option", { value: game.name, selected: game.name === leaders.game }, game.title));
  return screen(
    app,
    "Leaderboard",
    h(
      "section.panel",
      { key: "choice", label: "Which" },
      h("select", { label: "Game", onchange: (event) => app.rank({ game: event.target.value }) }, games),
      h(
        "fieldset.choices",
        h("legend", "Clock"),
        Object.entries(SPEEDS).map(([speed, word]) => option("speed", word, leaders.speed === speed, () => app.rank({ speed }))),
      ),
      h(
        "label.check",
        h("input", { type: "checkbox", checked: leaders.bots, onchange: (event) => app.rank({ bots: event.target.checked }) }),
        "with bots",
      ),
    ),
    shown && ranks(app, shown),
  );
}

/** @param {App} app */
function ranks(app, { leaders, you, page, pages }) {
  if (!leaders.length) return h("p.quiet", { key: "none" }, "Nobody has a settled rating here yet.");
  return h(
    "section.panel",
    { key: "ranks", label: "Ranks" },
    you && h("p", `You are number ${you}.`),
    h(
      "ol.entries",
      leaders.map(({ rank, player, games }) =>
        entry(rank, [h("span.rank", rank), person(app, player)], `${games} rated ${games === 1 ? "match" : "matches"}`, h("strong.rating", ratingOf(player))),
      ),
    ),
    pages > 1 &&
      h(
        "div.buttons",
        button("Higher", () => app.rank({ page: page - 1 }), "", "", { disabled: page <= 1 }),
        button("Lower", () => app.rank({ page: page + 1 }), "", "", { disabled: page >= pages }),
      ),
  );
}
