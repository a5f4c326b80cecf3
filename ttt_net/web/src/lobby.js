/**
 * Where players meet: own unfinished matches, a game to choose, who waits, who is here, what is played.
 */

import { accept, challenge, choose, invite, know, request, seek, send, ui, unseek } from "./app.js";
import { sizes, symbol } from "./board.js";
import { button, check, choices, form, h, joined, line, option, panel, screen } from "./dom.js";
import { chosenOf, games, PACES, terms, timeName, titleOf, wishOf } from "./games.js";
import { latencyMs, link } from "./link.js";
import { go } from "./place.js";
import { isMyTurn, ownLive, state } from "./state.js";
import { pulse } from "./welcome.js";
import { capital, isBot, label, ratingOf } from "./words.js";

/** How quick the way to the server is, in a word. */
function linkWord() {
  const ms = latencyMs ?? 0;
  const word = link !== "online" ? "offline" : latencyMs === null ? "" : ms < 80 ? "fast" : ms < 200 ? "good" : "slow";
  return h("span.link", { class: `link-${word}`, title: `${Math.round(ms)} ms` }, h("i", { hidden: true }), word);
}

export const bar = (...title) => h("header.bar", button("‹ Lobby", () => go("/"), "plain back"), h("h1", title), linkWord());

/** A screen with a bar above it that leads back to the lobby. */
export const page = (title, ...children) => screen("main.lobby", title, bar(title), children);

export function lobbyScreen() {
  const { you, server, players, live, seeks, seeking, invitation } = state;
  const isOther = ({ name }) => name !== you?.name;
  const others = players.filter(isOther);
  const wish = seeking ? { game: seeking.games[0], time: seeking.time, rated: seeking.rated } : wishOf(ui.choice);
  const bots = others.filter((player) => plays(player, wish)).map((bot) => botEntry(bot, wish));
  const people = others.filter((player) => !isBot(player));
  const waiting = seeks.filter(({ by }) => isOther(by) && !isBot(by));
  return screen(
    "main.lobby",
    "lobby",
    h("header.bar", h("h1", server), linkWord(), button(you?.name, () => go("/#player"), "plain me")),
    list("Your matches", ownLive().map(unfinished)),
    invitation ? invited() : seeking ? alone(bots) : play(),
    list("Waiting for an opponent", waiting.map(seekEntry)),
    !seeking && list("Play a bot", bots),
    list("Being played", live.filter((match) => match.players.every(isOther)).map(liveEntry)),
    list("People here", people.map(personEntry)),
    form(
      "form.row.panel",
      ({ code }) => go(`/j/${code.trim()}`),
      line("code", "Invitation code", { pattern: " *[0-9A-Za-z]{1,32} *", autocapitalize: "characters" }),
      h("button", "Join"),
    ),
    button("Leaderboard", () => go("/#leaders"), "plain"),
  );
}

const list = (title, entries) =>
  entries.length > 0 && panel(title, h("h2", title), h("ul.entries", entries));

/** One line of a list: what it is, more of it in small, and what can be done. */
export const entry = (key, main, detail, ...actions) =>
  h("li.entry", { key }, h("span.what", h("span", main), h("span.quiet", detail)), actions);

/** A name that leads to its player. */
export const person = (player) =>
  button(label(player), () => go(`/#player=${encodeURIComponent(player.name)}`), "plain name");

function unfinished(match) {
  const other = label(match.players[1 - match.you]);
  const isMine = isMyTurn(match);
  const word = isMine ? "your turn" : match.adjourned ? "adjourned" : "their turn";
  const act = button("Play on", () => go(`/m/${match.match}`), isMine && "primary", `Play on against ${other}`);
  return entry(match.match, [symbol(match.position.marks[match.you]), ` against ${other}`], `${match.game.title} · ${word}`, act);
}

function play() {
  const { choice } = ui;
  const chosen = chosenOf(choice);
  const toggle = (name, words) => check(words, choice[name], (on) => choose({ [name]: on }));
  return panel(
    "New match",
    h(
      "fieldset",
      h("legend", "Game"),
      h(
        "div.shelf",
        games(choice).map((game) => option("game", [picture(game), game.title], game.name === chosen.name, () => choose({ game: game.name }))),
      ),
      chosen.name === "own" && ownSize(toggle),
      h("p.quiet", `${capital(chosen.rule)}.`),
      chosen.swap && toggle("swap", "The second player may swap sides after the first move"),
      chosen.rated && toggle("rated", "Rated"),
    ),
    choices("Clock", PACES, choice.pace, (pace) => choose({ pace })),
    h(
      "div.buttons",
      button("Find an opponent", () => seek(), "primary large"),
      button("Invite a friend", invite, "large"),
    ),
  );
}

function ownSize(toggle) {
  const { choice } = ui;
  const number = (name, words, max) => {
    const onchange = ({ target }) => target.reportValidity() && choose({ [name]: target.valueAsNumber });
    return h("label", words, h("input", { type: "number", min: 1, max, required: true, valueAsNumber: choice[name], onchange }));
  };
  return h(
    "div.sizes",
    number("width", "Width", 19),
    number("height", "Height", 19),
    number("row", "In a row", Math.max(choice.width, choice.height)),
    toggle("falls", "Marks fall"),
  );
}

/** A game's board in small. */
function picture(game) {
  const [layers, height, width] = sizes(game);
  return h("i.picture", { class: layers > 1 && "deep", style: { "--w": width, "--h": height } });
}

function alone(bots) {
  const { games, time, rated } = state.seeking;
  return h(
    "section.panel.waiting",
    { label: "Waiting" },
    pulse(),
    h("p", { role: "status" }, `Looking for a person: ${terms(games, time, rated)}${bots.length ? "; or play a bot now" : ""}`),
    h("ul.entries", bots),
    button("Stop waiting", unseek),
  );
}

function invited() {
  const { code, game, time } = state.invitation;
  const address = `${location.origin}/j/${code}`;
  return h(
    "section.panel.waiting",
    { label: "Invitation" },
    h("h2", "Send this to a friend"),
    h("p.quiet", `${terms([game], time)}. It begins when the link is opened.`),
    h("input", { type: "text", readonly: true, value: address, label: "Address", onfocus: (event) => event.target.select() }),
    h("p", "or, in a terminal, code ", h("strong.code", code)),
    h(
      "div.buttons",
      button("share" in navigator ? "Share" : "Copy the link", () => send(address), "primary large"),
      button("Back", () => know({ invitation: null }), "large"),
    ),
  );
}

/** Challenges, ours and to us, on whatever screen we are. */
export function challenges() {
  const all = [...state.challenges.values()].map(challenged);
  return all.length > 0 && h("aside.calls", { label: "Challenges" }, all);
}

function challenged({ challenge: id, by, to, game, time, rated }) {
  const isMine = by.name === state.you?.name;
  const answer = (words, accept = false, reason = undefined) =>
    button(words, () => request("answer", { challenge: id, accept, reason }), accept && "primary");
  return h(
    "section.panel.challenge",
    { key: id, role: "alert" },
    h("p", isMine ? `You challenged ${label(to)}: ` : `${label(by)} challenges you: `, `${terms([game], time, rated)}.`),
    h("div.buttons", isMine ? answer("Take it back") : [answer("Accept", true), answer("Not now", false, "later"), answer("Another game", false, "another_game")]),
  );
}

function seekEntry(seek) {
  const { by, games, time, rated } = seek;
  const act = button("Play", () => accept(seek), "primary", `Play ${label(by)}`);
  return entry(seek.seek, [label(by), h("span.rating", ` ${ratingOf(by)}`)], terms(games, time, rated), act);
}

/** Whether a bot would play that now. */
const plays = ({ bot, free, seeking }, { game }) => bot && free && seeking && (!seeking.length || seeking.includes(game));

function botEntry({ name, bot, level }, wish) {
  const detail = joined([bot !== name && bot, level && `level ${level}`], ", ") || "bot";
  return entry(name, name, detail, button("Play", () => challenge(name, wish), "", `Play ${name}`));
}

function personEntry(player) {
  const { name, playing, seeking } = player;
  const what = playing ? "playing" : seeking ? "waiting" : "free";
  return entry(name, person(player), what, button("Challenge", () => challenge(name), "", `Challenge ${name}`));
}

function liveEntry({ match, game, players, time, ply, featured, watchers }) {
  const names = players.map(label).join(" – ");
  const detail = [featured && "featured", titleOf(game), time && timeName(time), `move ${ply}`, watchers > 0 && `${watchers} watching`];
  return entry(match, names, joined(detail), button("Watch", () => go(`/m/${match}`), "", `Watch ${names}`));
}
