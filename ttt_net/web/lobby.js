/**
 * Where players meet: own unfinished matches, a game to choose, who waits, who is here, what is played.
 *
 * @typedef {import("./main.js").App} App
 * @typedef {{key: string, text: string, time: import("./state.js").Time | null}} Pace
 */

import { CATALOGUE } from "./catalogue.js";
import { symbol } from "./board.js";
import { h } from "./dom.js";
import { isMyTurn } from "./state.js";
import { DECLINED, label, markOf, ratingOf, timeName } from "./words.js";

/** @type {Pace[]} */
export const PACES = [
  { key: "none", text: "No clock", time: null },
  { key: "1+0", text: "1+0", time: { initial_ms: 60000, increment_ms: 0 } },
  { key: "3+2", text: "3+2", time: { initial_ms: 180000, increment_ms: 2000 } },
  { key: "10+0", text: "10+0", time: { initial_ms: 600000, increment_ms: 0 } },
];

/** @param {App} app */
export function lobbyScreen(app) {
  const { state } = app;
  return h(
    "main",
    { key: "lobby", class: "lobby", tabindex: -1, focus: true },
    h(
      "header",
      { class: "bar" },
      h("h1", null, state.server || "ttt_net"),
      app.linkWord(),
      h("button", { type: "button", class: "plain me", onclick: () => app.go("/#me") }, state.you?.name ?? ""),
    ),
    unfinished(app),
    [...state.challenges.values()].map((challenge) => challenged(app, challenge)),
    state.invitation ? invited(app) : state.seeking ? waiting(app) : play(app),
    seeks(app),
    bots(app),
    people(app),
    live(app),
    h(
      "nav",
      { class: "links", "aria-label": "More" },
      h("button", { type: "button", class: "plain", onclick: () => app.go("/#leaders") }, "Leaderboard"),
      h("button", { type: "button", class: "plain", onclick: () => app.go("/#me") }, "My matches"),
    ),
  );
}

/**
 * @param {string} title
 * @param {string} key
 * @param {...any} children
 */
function section(title, key, ...children) {
  return h("section", { key, class: "panel", "aria-label": title }, h("h2", null, title), children);
}

/**
 * @param {any} key
 * @param {any} main
 * @param {any} detail
 * @param {...any} actions
 */
export function row(key, main, detail, ...actions) {
  return h(
    "li",
    { key, class: "entry" },
    h("span", { class: "what" }, h("span", { class: "main" }, main), h("span", { class: "quiet" }, detail)),
    actions,
  );
}

/** @param {App} app */
function unfinished(app) {
  const own = app.state.ownLive();
  if (own.length === 0) return null;
  return section(
    "Your matches",
    "own",
    h(
      "ul",
      { class: "entries" },
      own.map((match) => {
        const other = label(match.players[1 - (match.you ?? 0)]);
        const word = isMyTurn(match) ? "Your turn" : match.adjourned ? "adjourned" : "their turn";
        const act = h(
          "button",
          { type: "button", class: isMyTurn(match) ? "primary" : "", "aria-label": `Play on against ${other}`, onclick: () => app.go(`/m/${match.match}`) },
          "Play on",
        );
        return row(match.match, [symbol(markOf(match, match.you ?? 0)[0]), ` against ${other}`], `${match.game.title} · ${word}`, act);
      }),
    ),
  );
}

/** @param {App} app */
function play(app) {
  const { choice } = app.ui;
  return h(
    "section",
    { key: "play", class: "panel play", "aria-label": "New match" },
    games(app),
    h(
      "fieldset",
      { class: "choices" },
      h("legend", null, "Clock"),
      PACES.map((pace) => option("pace", pace.text, choice.pace === pace.key, () => app.choose({ pace: pace.key }))),
    ),
    h(
      "div",
      { class: "buttons" },
      h("button", { type: "button", class: "primary large", onclick: () => app.seek() }, "Find an opponent"),
      h("button", { type: "button", class: "large", onclick: () => app.invite() }, "Invite a friend"),
    ),
  );
}

/** @param {App} app */
function games(app) {
  const { choice } = app.ui;
  const chosen = CATALOGUE.find((game) => game.name === choice.game) ?? CATALOGUE[0];
  return h(
    "fieldset",
    { class: "games" },
    h("legend", null, "Game"),
    h(
      "div",
      { class: "shelf" },
      CATALOGUE.map((game) =>
        option("game", [picture(game), game.title], game.name === chosen.name, () => app.choose({ game: game.name })),
      ),
    ),
    h("p", { class: "quiet rule" }, `${chosen.rule.charAt(0).toUpperCase()}${chosen.rule.slice(1)}.`),
    chosen.swap &&
      h(
        "label",
        { class: "check" },
        h("input", { type: "checkbox", checked: choice.swap, onchange: (/** @type {any} */ e) => app.choose({ swap: e.target.checked }) }),
        "The second player may swap sides after the first move",
      ),
  );
}

/**
 * @param {string} name
 * @param {any} text
 * @param {boolean} checked
 * @param {() => void} onchange
 */
export function option(name, text, checked, onchange) {
  return h("label", { class: "option" }, h("input", { type: "radio", name, checked, onchange }), h("span", null, text));
}

/**
 * A game's board in small.
 *
 * @param {{shape: number[], gravity: boolean, block: number[] | null}} game
 */
function picture(game) {
  const [layers, height, width] = game.shape.length === 3 ? game.shape : [1, ...game.shape];
  const most = Math.max(height, width);
  const drawn = [];
  const shown = Math.min(layers, 3);
  for (let z = shown - 1; z >= 0; z--) {
    const [size, x0, y0] = shown > 1 ? [28, 4 + 8 * z, 4 + 8 * (shown - 1 - z)] : [40, 4, 4];
    const step = size / most;
    if (shown > 1) drawn.push(h("rect", { class: "sheet", x: x0 - 1, y: y0 - 1, width: size + 2, height: size + 2, rx: 4 }));
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const cx = x0 + ((most - width) * step) / 2 + (x + 0.5) * step;
        const cy = y0 + ((most - height) * step) / 2 + (y + 0.5) * step;
        const gap = game.block ? ((x % 3) - 1) * -0.6 : 0;
        const drop = game.block ? ((y % 3) - 1) * -0.6 : 0;
        drawn.push(h("circle", { cx: cx + gap, cy: cy + drop, r: Math.max(0.9, step * (game.gravity ? 0.38 : 0.28)) }));
      }
    }
  }
  return h("svg", { class: "picture", viewBox: "0 0 48 48", "aria-hidden": "true" }, drawn);
}

/** @param {App} app */
function waiting(app) {
  const { seeking, suggested } = app.state;
  return h(
    "section",
    { key: "waiting", class: "panel waiting", "aria-label": "Waiting" },
    h("div", { class: "pulse", "aria-hidden": "true" }, symbol("X"), symbol("O")),
    h("p", { role: "status" }, `Waiting for an opponent: ${describe(seeking)}`),
    suggested.length > 0 &&
      h(
        "div",
        null,
        h("p", { class: "quiet" }, "Nobody else is waiting. These would play you now:"),
        h("ul", { class: "entries" }, suggested.map((bot) => botRow(app, bot))),
      ),
    h("button", { type: "button", onclick: () => app.unseek() }, "Stop waiting"),
  );
}

/** @param {any} seek */
function describe(seek) {
  const titles = seek.games.map((/** @type {string} */ name) => titleOf(name));
  return `${titles.join(", ") || "any game"}, ${timeName(seek.time)}${seek.rated ? ", rated" : ""}`;
}

/** @param {string} name */
export function titleOf(name) {
  const base = name.replace(/\+swap$/, "");
  const title = CATALOGUE.find((game) => game.name === base)?.title ?? base;
  return base === name ? title : `${title} with swap`;
}

/** @param {App} app */
function invited(app) {
  const { code, game, time } = app.state.invitation;
  const address = `${location.origin}/j/${code}`;
  return h(
    "section",
    { key: "invited", class: "panel waiting", "aria-label": "Invitation" },
    h("h2", null, "Send this to a friend"),
    h("p", { class: "quiet" }, `${titleOf(game)}, ${timeName(time)}. The match begins when the link is opened.`),
    h("input", {
      type: "text",
      class: "address",
      readonly: true,
      value: address,
      "aria-label": "Address of the invitation",
      onfocus: (/** @type {any} */ event) => event.target.select(),
    }),
    h("p", null, "or the code ", h("strong", { class: "code" }, code)),
    h(
      "div",
      { class: "buttons" },
      h("button", { type: "button", class: "primary large", onclick: () => app.send(address) }, app.canShare() ? "Share" : "Copy the link"),
      h("button", { type: "button", class: "large", onclick: () => app.forgetInvitation() }, "Back"),
    ),
  );
}

/**
 * @param {App} app
 * @param {any} challenge
 */
function challenged(app, challenge) {
  const what = `${titleOf(challenge.game)}, ${timeName(challenge.time)}${challenge.rated ? ", rated" : ""}`;
  const answer = (/** @type {boolean} */ accept, reason = "generic") => () =>
    app.request("answer", { challenge: challenge.challenge, accept, ...(accept ? {} : { reason }) });
  const isMine = challenge.by.name === app.state.you?.name;
  return h(
    "section",
    { key: `challenge ${challenge.challenge}`, class: "panel challenge", role: "alert" },
    h("p", null, isMine ? `You challenged ${label(challenge.to)}: ${what}.` : `${label(challenge.by)} challenges you: ${what}.`),
    h(
      "div",
      { class: "buttons" },
      isMine
        ? h("button", { type: "button", onclick: answer(false) }, "Take it back")
        : [
            h("button", { type: "button", class: "primary", onclick: answer(true) }, "Accept"),
            h("button", { type: "button", onclick: answer(false, "later") }, "Not now"),
            h("button", { type: "button", onclick: answer(false, "another_game") }, "Another game"),
          ],
    ),
  );
}

/** @param {string} reason */
export function declined(reason) {
  return `The challenge came to nothing: ${DECLINED[reason] ?? reason}.`;
}

/** @param {App} app */
function seeks(app) {
  const others = (app.state.seeks ?? []).filter((seek) => seek.by.name !== app.state.you?.name);
  if (others.length === 0) return null;
  return section(
    "Waiting for an opponent",
    "seeks",
    h(
      "ul",
      { class: "entries" },
      others.map((seek) =>
        row(
          seek.seek,
          [label(seek.by), h("span", { class: "rating" }, ` ${ratingOf(seek.by)}`)],
          describe(seek),
          h("button", { type: "button", class: "primary", "aria-label": `Play ${label(seek.by)}`, onclick: () => app.accept(seek) }, "Play"),
        ),
      ),
    ),
  );
}

/** @param {App} app */
function bots(app) {
  const found = (app.state.players ?? []).filter((player) => player.bot !== undefined && player.free !== 0);
  if (found.length === 0 || app.state.suggested.length > 0) return null;
  return section("Play a bot", "bots", h("ul", { class: "entries" }, found.map((bot) => botRow(app, bot))));
}

/**
 * @param {App} app
 * @param {any} bot
 */
function botRow(app, bot) {
  const level = bot.level ? `level ${bot.level}` : "";
  const detail = [bot.bot === bot.name ? "bot" : bot.bot, level].filter(Boolean).join(", ");
  return row(
    bot.name,
    bot.name,
    detail,
    h("button", { type: "button", "aria-label": `Challenge ${bot.name}`, onclick: () => app.challenge(bot.name) }, "Play"),
  );
}

/** @param {App} app */
function people(app) {
  const me = app.state.you?.name;
  const others = (app.state.players ?? []).filter((player) => player.bot === undefined && player.name !== me);
  if (others.length === 0) return null;
  return section(
    "People here",
    "people",
    h(
      "ul",
      { class: "entries" },
      others.map((player) =>
        row(
          player.name,
          h("button", { type: "button", class: "plain name", onclick: () => app.go(`/#player=${encodeURIComponent(player.name)}`) }, player.name),
          player.playing ? "playing" : player.seeking ? "waiting for an opponent" : "in the lobby",
          h("button", { type: "button", "aria-label": `Challenge ${player.name}`, onclick: () => app.challenge(player.name) }, "Challenge"),
        ),
      ),
    ),
  );
}

/** @param {App} app */
function live(app) {
  const me = app.state.you?.name;
  const matches = (app.state.live ?? []).filter((match) => match.players.every((/** @type {any} */ p) => p.name !== me));
  if (matches.length === 0) return null;
  return section(
    "Being played",
    "live",
    h(
      "ul",
      { class: "entries" },
      matches.map((match) => {
        const names = match.players.map(label).join(" – ");
        const watchers = match.watchers ? ` · ${match.watchers} watching` : "";
        return row(
          match.match,
          names,
          `${titleOf(match.game)} · move ${match.ply}${watchers}`,
          h("button", { type: "button", "aria-label": `Watch ${names}`, onclick: () => app.go(`/m/${match.match}`) }, "Watch"),
        );
      }),
    ),
  );
}
