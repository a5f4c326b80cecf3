/**
 * Where players meet: own unfinished matches, a game to choose, who waits, who is here, what is played.
 *
 * @typedef {import("./main.js").App} App
 */

import { sizes, symbol } from "./board.js";
import { CATALOGUE } from "./catalogue.js";
import { button, h } from "./dom.js";
import { isMyTurn } from "./state.js";
import { label, ratingOf, terms, timeName, titleOf } from "./words.js";
import { pulse } from "./welcome.js";

/** Clocks to choose from, in minutes and seconds. */
const PACES = { "No clock": null, "1+0": [1, 0], "3+2": [3, 2], "10+5": [10, 5] };

export function timeOf(pace) {
  const found = PACES[pace];
  return found ? { initial_ms: found[0] * 60000, increment_ms: found[1] * 1000 } : null;
}

/** @param {App} app */
export function lobbyScreen(app) {
  const { state } = app;
  const me = state.you?.name;
  const others = state.players.filter((player) => player.name !== me);
  const bots = others.filter((player) => player.bot !== undefined && player.free !== 0);
  const people = others.filter((player) => player.bot === undefined);
  const live = state.live.filter((match) => match.players.every((player) => player.name !== me));
  return h(
    "main.lobby",
    { key: "lobby", tabindex: -1, focus: true },
    h("header.bar", h("h1", state.server || "ttt_net"), app.linkWord(), button(me, () => app.go("/#me"), "plain me")),
    list("Your matches", state.ownLive().map((match) => unfinished(app, match))),
    state.invitation ? invited(app) : state.seeking ? waiting(app) : play(app),
    list("Waiting for an opponent", state.seeks.filter(({ by }) => by.name !== me && by.bot === undefined).map((seek) => seekEntry(app, seek))),
    !state.suggested.length && list("Play a bot", bots.map((bot) => botEntry(app, bot))),
    list("Being played", live.map((match) => liveEntry(app, match))),
    list("People here", people.map((player) => personEntry(app, player))),
    codeForm(app),
    h(
      "nav.links",
      { label: "More" },
      button("Leaderboard", () => app.go("/#leaders"), "plain"),
      button("My matches", () => app.go("/#me"), "plain"),
    ),
  );
}

/** Where a code goes that a friend has told. @param {App} app */
function codeForm(app) {
  const join = (event) => {
    event.preventDefault();
    app.go(`/j/${String(new FormData(event.target).get("code")).trim()}`);
  };
  const words = "Code of an invitation";
  return h(
    "form.row.panel",
    { key: "code", onsubmit: join },
    h("input", {
      type: "text",
      name: "code",
      required: true,
      pattern: " *[0-9A-Za-z]{1,32} *",
      autocapitalize: "characters",
      label: words,
      placeholder: words,
    }),
    h("button", "Join"),
  );
}

function list(title, entries) {
  return entries.length > 0 && h("section.panel", { key: title, label: title }, h("h2", title), h("ul.entries", entries));
}

/** One line of a list: what it is, more of it in small, and what can be done. */
export function entry(key, main, detail, ...actions) {
  return h("li.entry", { key }, h("span.what", h("span", main), h("span.quiet", detail)), actions);
}

/** A name that leads to its player. @param {App} app */
export function person(app, player) {
  return button(label(player), () => app.go(`/#player=${encodeURIComponent(player.name)}`), "plain name");
}

/** @param {App} app */
function unfinished(app, match) {
  const other = label(match.players[1 - match.you]);
  const word = isMyTurn(match) ? "your turn" : match.adjourned ? "adjourned" : "their turn";
  const act = button("Play on", () => app.go(`/m/${match.match}`), isMyTurn(match) && "primary", `Play on against ${other}`);
  return entry(match.match, [symbol(match.position.marks[match.you]), ` against ${other}`], `${match.game.title} · ${word}`, act);
}

/** @param {App} app */
function play(app) {
  const { choice } = app.ui;
  const chosen = CATALOGUE.find((game) => game.name === choice.game) ?? CATALOGUE[0];
  const check = (name, words) =>
    h("label.check", h("input", { type: "checkbox", checked: choice[name], onchange: (event) => app.choose({ [name]: event.target.checked }) }), words);
  return h(
    "section.panel",
    { key: "play", label: "New match" },
    h(
      "fieldset",
      h("legend", "Game"),
      h(
        "div.shelf",
        CATALOGUE.map((game) => option("game", [picture(game), game.title], game === chosen, () => app.choose({ game: game.name }))),
      ),
      h("p.quiet.rule", `${chosen.rule.charAt(0).toUpperCase()}${chosen.rule.slice(1)}.`),
      chosen.swap && check("swap", "The second player may swap sides after the first move"),
      chosen.rated && check("rated", "Rated"),
    ),
    h(
      "fieldset.choices",
      h("legend", "Clock"),
      Object.keys(PACES).map((pace) => option("pace", pace, pace === choice.pace, () => app.choose({ pace }))),
    ),
    h(
      "div.buttons",
      button("Find an opponent", () => app.seek(), "primary large"),
      button("Invite a friend", () => app.invite(), "large"),
    ),
  );
}

export function option(name, words, checked, onchange) {
  return h("label.option", { inSight: checked }, h("input", { type: "radio", name, checked, onchange }), h("span", words));
}

/** A game's board in small. */
function picture(game) {
  const [layers, height, width] = sizes(game);
  return h("i.picture", { class: layers > 1 && "deep", style: { "--w": width, "--h": height } });
}

/** @param {App} app */
function waiting(app) {
  const { games, time, rated } = app.state.seeking;
  const { suggested } = app.state;
  return h(
    "section.panel.waiting",
    { key: "waiting", label: "Waiting" },
    pulse(),
    h("p", { role: "status" }, `Waiting for an opponent: ${terms(games, time, rated)}`),
    suggested.length > 0 && h("p.quiet", "Nobody else is waiting. These would play you now:"),
    h("ul.entries", suggested.map((bot) => botEntry(app, bot, { game: games[0], time, ...(rated && { rated }) }))),
    button("Stop waiting", () => app.unseek()),
  );
}

/** @param {App} app */
function invited(app) {
  const { code, game, time } = app.state.invitation;
  const address = `${location.origin}/j/${code}`;
  return h(
    "section.panel.waiting",
    { key: "invited", label: "Invitation" },
    h("h2", "Send this to a friend"),
    h("p.quiet", `${terms([game], time)}. The match begins when the link is opened.`),
    h("input", { type: "text", readonly: true, value: address, label: "Address of the invitation", onfocus: (event) => event.target.select() }),
    h("p", "or, for a terminal, the code ", h("strong.code", code)),
    h(
      "div.buttons",
      button("share" in navigator ? "Share" : "Copy the link", () => app.send(address), "primary large"),
      button("Back", () => app.know({ invitation: null }), "large"),
    ),
  );
}

/** Challenges, ours and to us, on whatever screen we are. @param {App} app */
export function challenges(app) {
  const all = [...app.state.challenges.values()].map((challenge) => challenged(app, challenge));
  return all.length > 0 && h("aside.calls", { key: "calls", label: "Challenges" }, all);
}

/** @param {App} app */
function challenged(app, { challenge, by, to, game, time, rated }) {
  const isMine = by.name === app.state.you?.name;
  const what = terms([game], time, rated);
  const answer = (words, accept, reason, style) =>
    button(words, () => app.request("answer", { challenge, accept, ...(reason && { reason }) }), style);
  return h(
    "section.panel.challenge",
    { key: `challenge ${challenge}`, role: "alert" },
    h("p", isMine ? `You challenged ${label(to)}: ${what}.` : `${label(by)} challenges you: ${what}.`),
    h(
      "div.buttons",
      isMine
        ? answer("Take it back", false)
        : [answer("Accept", true, "", "primary"), answer("Not now", false, "later"), answer("Another game", false, "another_game")],
    ),
  );
}

/** @param {App} app */
function seekEntry(app, seek) {
  const { by } = seek;
  const act = button("Play", () => app.accept(seek), "primary", `Play ${label(by)}`);
  return entry(seek.seek, [label(by), h("span.rating", ` ${ratingOf(by)}`)], terms(seek.games, seek.time, seek.rated), act);
}

/** @param {App} app */
function botEntry(app, { name, bot, level }, wish = app.wish) {
  const detail = [bot !== name && bot, level && `level ${level}`].filter(Boolean).join(", ") || "bot";
  return entry(name, name, detail, button("Play", () => app.challenge(name, wish), "", `Play ${name}`));
}

/** @param {App} app */
function personEntry(app, player) {
  const { name } = player;
  const what = player.playing ? "playing" : player.seeking ? "waiting for an opponent" : "in the lobby";
  const act = button("Challenge", () => app.challenge(name), "", `Challenge ${name}`);
  return entry(name, person(app, player), what, act);
}

/** @param {App} app */
function liveEntry(app, match) {
  const names = match.players.map(label).join(" – ");
  const detail = [match.featured && "featured", titleOf(match.game), match.time && timeName(match.time), `move ${match.ply}`];
  const watchers = match.watchers > 0 && `${match.watchers} watching`;
  const act = button("Watch", () => app.go(`/m/${match.match}`), "", `Watch ${names}`);
  return entry(match.match, names, [...detail, watchers].filter(Boolean).join(" · "), act);
}
