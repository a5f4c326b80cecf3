/**
 * Who somebody is, what he has played, and who plays best.
 */

import { challenge, rank, rename, request, ui } from "./app.js";
import { CATALOGUE } from "./catalogue.js";
import { button, check, choices, form, h, joined, line, panel } from "./dom.js";
import { timeName, titleOf } from "./games.js";
import { entry, page, person } from "./lobby.js";
import { go, lookBack, place } from "./place.js";
import { state } from "./state.js";
import { capital, label, ratingOf } from "./words.js";

const SPEEDS = ["bullet", "blitz", "rapid", "untimed"];

const record = ({ won, drawn, lost }) => `won ${won}, drawn ${drawn}, lost ${lost}.`;

export function playerScreen() {
  const { profile, history, you } = state;
  const { id } = place();
  const isMe = !id || id === you?.name;
  return page(isMe ? you?.name : id, profile && about(profile, isMe), history && matches(history), isMe && forgetting());
}

function about(profile, isMe) {
  const { player, ratings, against, online } = profile;
  const cells = (tag, words) => h("tr", words.map((word) => h(tag, { scope: tag === "th" && "col" }, word)));
  return panel(
    "About",
    h("p", capital(record(profile))),
    !isMe && against && h("p", `You against ${player.name}: ${record(against)}`),
    ratings.length > 0 &&
      h(
        "table",
        h("thead", cells("th", ["Game", "Clock", "Rating", "Matches"])),
        h("tbody", ratings.map((each) => cells("td", [titleOf(each.game), capital(each.speed), ratingOf(each), each.games]))),
      ),
    isMe && form("form.row", ({ name }) => rename(name.trim()), line("name", "Another name", { maxlength: 20 }), h("button", "Take it")),
    !isMe && online && button("Challenge", () => challenge(player.name), "primary"),
  );
}

const forgetting = () =>
  h(
    "details.panel",
    h("summary", "Forget me"),
    h("p.quiet", "Name and ratings are deleted for good; your matches stay, without it."),
    form("form.row", ({ name }) => request("forget", { name }), line("name", "Your name"), h("button", "Forget me")),
  );

function matches({ player, matches, before }) {
  if (!matches.length) return h("p.quiet", "No finished matches yet.");
  const row = ({ match, game, players, winner, time, plies, at_ms }) => {
    const side = players.findIndex((each) => each.name === player.name);
    const other = players[side === 1 ? 0 : 1];
    const how = winner === null ? "drawn" : winner === side ? "won" : "lost";
    const replay = button("Replay", () => go(`/m/${match}`), "", `Replay the match against ${other.name}`);
    const date = new Date(at_ms).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
    const detail = joined([titleOf(game), timeName(time), `${plies} moves`, date]);
    return entry(match, [h("strong", { class: how }, how), ` against ${label(other)}`], detail, replay);
  };
  return panel(
    "Finished matches",
    h("h2", "Finished matches"),
    h("ul.entries", matches.map(row)),
    before && button("Older", () => lookBack(before)),
  );
}

export function leadersScreen() {
  const { game, speed, bots } = ui.leaders;
  const shown = state.leaderboard;
  const games = CATALOGUE.filter((each) => each.rated).map(({ name, title }) => h("option", { value: name, selected: name === game }, title));
  return page(
    "Leaderboard",
    panel(
      "Which",
      h("select", { label: "Game", onchange: (event) => rank({ game: event.target.value }) }, games),
      choices("Clock", SPEEDS, speed, (speed) => rank({ speed })),
      check("with bots", bots, (bots) => rank({ bots })),
    ),
    shown && ranks(shown),
  );
}

function ranks({ leaders, you, page, pages }) {
  if (!leaders.length) return h("p.quiet", "No settled ratings yet.");
  const turn = (words, to) => button(words, () => rank({ page: to }), "", "", { disabled: to < 1 || to > pages });
  return panel(
    "Ranks",
    you && h("p", `You are number ${you}.`),
    h(
      "ol.entries",
      leaders.map(({ rank, player, games }) =>
        entry(rank, [h("span.quiet", `${rank}. `), person(player)], `rated matches: ${games}`, h("strong.rating", ratingOf(player))),
      ),
    ),
    pages > 1 && h("div.buttons", turn("Higher", page - 1), turn("Lower", page + 1)),
  );
}
