/**
 * The screen of one match: both players, the board, what can be done, the moves, and what is said.
 *
 * @typedef {import("./state.js").Match} Match
 * @typedef {import("./main.js").App} App
 */

import { analysis } from "./analysis.js";
import { board, landing, sizes, symbol } from "./board.js";
import { chat } from "./chat.js";
import { h } from "./dom.js";
import { isMyTurn, leftMs, movesAt } from "./state.js";
import { clockFace, label, nameOf, OFFERS, ratingOf, result, status, timeName } from "./words.js";

/**
 * @param {App} app
 * @param {Match} match
 */
export function matchScreen(app, match) {
  const below = match.you ?? 0;
  const isOver = Boolean(match.outcome);
  return h(
    "main",
    { key: `match ${match.match}`, class: "match", tabindex: -1, focus: true },
    h(
      "header",
      { class: "bar" },
      h("button", { type: "button", class: "plain back", onclick: () => app.go("/") }, "‹ Lobby"),
      h("h1", null, match.game.title, h("span", { class: "quiet" }, ` ${about(match)}`)),
      app.linkWord(),
    ),
    seat(app, match, 1 - below),
    h("div", { key: "table", class: "table" }, theBoard(app, match)),
    seat(app, match, below),
    h("p", { key: "status", class: `status ${isMyTurn(match) && !match.pending ? "turn" : ""}` }, statusOf(app, match)),
    h("div", { key: "prompts", class: "prompts" }, prompts(app, match)),
    isOver && review(app, match),
    h("div", { key: "actions", class: "actions" }, isOver ? afterwards(app, match) : during(app, match)),
    h(
      "aside",
      { key: "side", class: "side" },
      isOver && analysis(app, match),
      moves(app, match),
      chat(app, match),
    ),
  );
}

/** @param {Match} match */
function about(match) {
  const words = [match.time && timeName(match.time), match.rated && "rated", match.private && "private"];
  return words.filter(Boolean).join(" · ");
}

/**
 * @param {App} app
 * @param {Match} match
 */
function statusOf(app, match) {
  const at = app.ui.ply;
  if (match.outcome && at !== null && at < match.moves.length) return `Move ${at} of ${match.moves.length}`;
  if (app.aimed(match) >= 0) return `Place at ${aimName(app, match)}?`;
  return status(match);
}

/**
 * @param {App} app
 * @param {Match} match
 * @param {number} side
 */
function seat(app, match, side) {
  const player = match.players[side];
  const left = leftMs(match, side, app.clockNow());
  const isTurn = !match.outcome && match.position.to_move === side;
  const hasWon = match.outcome?.winner === side;
  const isHere = match.present[side];
  const change = match.ratings?.[side];
  const gained = change ? change.after - change.before : 0;
  const notes = [
    player.bot !== undefined && h("span", { class: "tag" }, player.level ? `bot, level ${player.level}` : "bot"),
    h("span", { class: "rating" }, change ? `${change.after}` : ratingOf(player)),
    change && h("span", { class: gained < 0 ? "loss" : "gain" }, `${gained < 0 ? "−" : "+"}${Math.abs(gained)}`),
    !isHere && !match.outcome && h("span", { class: "tag away" }, "away"),
  ];
  return h(
    "section",
    {
      key: `seat ${side}`,
      class: `seat ${side === (match.you ?? 0) ? "below" : "beyond"} ${isTurn ? "active" : ""} ${hasWon ? "winner" : ""}`,
      "aria-label": `${label(player)}${side === match.you ? ", you" : ""}${isTurn ? ", to move" : ""}`,
    },
    symbol(match.position.marks[side], match.game.gravity),
    h("div", { class: "who" }, h("strong", { class: "name" }, player.name), h("span", { class: "notes" }, notes)),
    match.score && match.score[0] + match.score[1] > 0 && h("span", { class: "score" }, points(match, side)),
    left !== null &&
      h("span", { class: `clock ${left < 10000 ? "low" : ""}`, "aria-label": "time left" }, clockFace(left)),
  );
}

/**
 * The running score of the series, with this match in it once it has ended.
 *
 * @param {Match} match
 * @param {number} side
 */
function points(match, side) {
  const outcome = match.outcome;
  const before = match.score?.[side] ?? 0;
  if (!outcome || outcome.reason === "abort") return `${before}`.replace(".5", "½");
  const now = outcome.winner === null ? 0.5 : Number(outcome.winner === side);
  return `${before + now}`.replace(/^0\.5/, "½").replace(".5", "½");
}

/**
 * @param {App} app
 * @param {Match} match
 */
function theBoard(app, match) {
  const ply = app.ui.ply;
  const past = match.outcome && ply !== null ? match.review?.positions[ply] : undefined;
  const position = past ?? match.position;
  const made = past ? match.moves[position.ply - 1] : match.last;
  const canMove = !past && isMyTurn(match) && !match.pending && app.state.link === "online";
  const aimed = app.aimed(match);
  const pending = match.pending ? match.game.move_cells[match.pending.move] : -1;
  const hovered = canMove ? landing(match.game, position, app.ui.hover) : -1;
  const own = match.position.marks[match.you ?? 0];
  const look = {
    game: match.game,
    position,
    last: made === undefined || made === null ? -1 : match.game.move_cells[made],
    canMove,
    ghost: pending >= 0 ? pending : aimed >= 0 ? aimed : hovered,
    ghostMark: own.length === 1 ? own : (match.pending && match.game.move_names[match.pending.move][0]) || own,
    isPending: Boolean(match.pending),
    focus: app.focusOf(match),
  };
  return board(look, {
    choose: (cell, event) => canMove && choose(app, match, cell, event),
    hover: (cell) => app.hover(cell),
    focus: (cell) => app.focus(match, cell),
  });
}

/**
 * Play a cell; a finger on a cell that is too small for it aims first.
 *
 * @param {App} app
 * @param {Match} match
 * @param {number} cell
 * @param {any} event
 */
function choose(app, match, cell, event) {
  const moves = movesAt(match.game, match.position.legal, cell);
  const target = event.currentTarget instanceof HTMLButtonElement ? event.currentTarget : null;
  const isFinger = event.pointerType === "touch" || event.pointerType === "pen";
  const isFlatColumn = match.game.gravity && sizes(match.game)[0] === 1;
  const isSmall = Boolean(target && target.offsetWidth < 44 && !isFlatColumn);
  if (moves.length === 0) {
    app.aim(match, -1);
    app.announce(match.position.board[cell] === "." ? "No move is possible there." : "There is a mark already.");
  } else if (moves.length > 1) app.ask({ kind: "mark", match: match.match, moves });
  else if (isFinger && isSmall && app.aimed(match) !== landing(match.game, match.position, cell)) app.aim(match, cell);
  else app.play(match, moves[0]);
}

/**
 * @param {App} app
 * @param {Match} match
 */
function aimName(app, match) {
  const moves = movesAt(match.game, match.position.legal, app.aimed(match));
  return match.game.move_names[moves[0]] ?? "";
}

/**
 * Questions that want an answer now.
 *
 * @param {App} app
 * @param {Match} match
 */
function prompts(app, match) {
  const asked = [];
  const aimed = app.aimed(match);
  if (aimed >= 0 && isMyTurn(match)) {
    const [move] = movesAt(match.game, match.position.legal, aimed);
    asked.push(
      prompt("aim", "", [`Place at ${aimName(app, match)}`, () => app.play(match, move)], ["Cancel", () => app.aim(match, -1)]),
    );
  }
  if (isMyTurn(match) && !match.pending) {
    const others = match.position.legal.filter((move) => match.game.move_cells[move] < 0);
    for (const move of others) {
      const name = match.game.move_names[move];
      asked.push(prompt(`move ${move}`, "", [name === "swap" ? "Swap sides" : `Play ${name}`, () => app.play(match, move)]));
    }
  }
  for (const offer of match.you === undefined ? [] : match.offers) {
    const what = OFFERS[offer.kind] ?? offer.kind;
    const say = (/** @type {string} */ verb) => () => app.request(verb, { match: match.match, kind: offer.kind });
    asked.push(
      offer.side === match.you
        ? prompt(`own ${offer.kind}`, `You offered ${what}.`, ["Withdraw", say("decline")])
        : prompt(`offer ${offer.kind}`, `${nameOf(match, offer.side)} offers ${what}.`, ["Accept", say("offer")], ["No", say("decline")]),
    );
  }
  return [...asked, absence(app, match)];
}

/**
 * @param {string} key
 * @param {string} text
 * @param {...[string, () => void]} answers
 */
function prompt(key, text, ...answers) {
  return h(
    "div",
    { key, class: "prompt", role: "group", "aria-label": text || answers[0][0] },
    text && h("p", null, text),
    answers.map(([word, act], n) => h("button", { type: "button", class: n ? "" : "primary", onclick: act }, word)),
  );
}

/**
 * The other player is away: how long to wait, and then what can be claimed.
 *
 * @param {App} app
 * @param {Match} match
 */
function absence(app, match) {
  const away = match.away;
  if (!away || match.you === undefined || match.outcome || match.adjourned || away.side === match.you) return null;
  const name = match.players[away.side].name;
  const left = Math.max(0, away.claim_in_ms - (app.clockNow() - match.awayAt));
  const how = away.on_purpose ? "has left" : "lost the connection";
  if (left > 0) return h("p", { key: "away", class: "prompt" }, `${name} ${how}; in ${Math.ceil(left / 1000)} s you need not wait.`);
  const claim = (/** @type {string} */ kind) => () => app.request("claim", { match: match.match, kind });
  return prompt(
    "claim",
    `${name} ${how}.`,
    ["Claim the win", claim("win")],
    ["Call it a draw", claim("draw")],
    ...(match.rated ? [] : [/** @type {[string, () => void]} */ (["Go on later", claim("adjourn")])]),
  );
}

/**
 * @param {App} app
 * @param {Match} match
 */
function during(app, match) {
  if (match.you === undefined) return watcher(match);
  const offer = (/** @type {string} */ kind) => () => app.request("offer", { match: match.match, kind });
  const has = (/** @type {string} */ kind) => match.offers.some((each) => each.kind === kind);
  const canAbort = match.moves.length < 2;
  const hasMoved = match.moves.length > (match.you ?? 0);
  return [
    h("button", { key: "draw", type: "button", disabled: has("draw"), onclick: offer("draw") }, "Offer draw"),
    h("button", { key: "back", type: "button", disabled: has("takeback") || !hasMoved, onclick: offer("takeback") }, "Take back"),
    canAbort
      ? h("button", { key: "abort", type: "button", onclick: () => app.request("abort", { match: match.match }) }, "Call off")
      : h("button", { key: "resign", type: "button", onclick: () => app.ask({ kind: "resign", match: match.match }) }, "Resign"),
    match.code && h("button", { key: "share", type: "button", onclick: () => app.share(match) }, "Share"),
  ];
}

/** @param {Match} match */
function watcher(match) {
  const count = match.watchers ?? 0;
  return h("p", { class: "quiet" }, count > 1 ? `You and ${count - 1} more are watching.` : "You are watching.");
}

/**
 * @param {App} app
 * @param {Match} match
 */
function afterwards(app, match) {
  const id = match.match;
  const canRematch = match.you !== undefined && !match.next && match.present[1 - match.you] && !match.offers.length;
  const other = match.you === undefined ? "" : match.players[1 - match.you].name;
  return [
    canRematch &&
      h("button", { key: "rematch", type: "button", class: "primary", onclick: () => app.request("offer", { match: id, kind: "rematch" }) }, "Rematch"),
    match.next && h("button", { key: "next", type: "button", class: "primary", onclick: () => app.go(`/m/${match.next}`) }, "To the rematch"),
    match.you !== undefined && h("button", { key: "new", type: "button", onclick: () => app.seekLike(match) }, "New opponent"),
    !match.private && h("button", { key: "share", type: "button", onclick: () => app.share(match) }, "Share"),
    match.you !== undefined && !canRematch && !match.next && !match.present[1 - match.you] && h("p", { class: "quiet" }, `${other} has left.`),
  ];
}

/**
 * The slider through a finished match.
 *
 * @param {App} app
 * @param {Match} match
 */
function review(app, match) {
  const last = match.moves.length;
  const ply = app.ui.ply ?? last;
  const to = (/** @type {number} */ target) => () => app.review(match, Math.min(last, Math.max(0, target)));
  return h(
    "div",
    { key: "review", class: "review", role: "group", "aria-label": "Replay" },
    h("button", { type: "button", class: "plain", "aria-label": "one move back", disabled: ply === 0, onclick: to(ply - 1) }, "‹"),
    h("input", {
      type: "range",
      min: 0,
      max: last,
      value: ply,
      "aria-label": "move",
      "aria-valuetext": `move ${ply} of ${last}`,
      oninput: (/** @type {any} */ event) => to(Number(event.target.value))(),
    }),
    h("button", { type: "button", class: "plain", "aria-label": "one move on", disabled: ply === last, onclick: to(ply + 1) }, "›"),
  );
}

/**
 * @param {App} app
 * @param {Match} match
 */
function moves(app, match) {
  if (match.moves.length === 0) return null;
  const at = app.ui.ply ?? match.moves.length;
  return h(
    "details",
    { key: "moves", class: "panel", open: app.isWide() },
    h("summary", null, `Moves (${match.moves.length})`),
    h(
      "ol",
      { class: "moves" },
      match.moves.map((move, n) => {
        const name = match.game.move_names[move];
        const isHere = n + 1 === at;
        const inside = match.outcome
          ? h("button", { type: "button", class: "plain", "aria-current": isHere && "step", onclick: () => app.review(match, n + 1) }, name)
          : h("span", { class: isHere ? "here" : "" }, name);
        return h("li", { class: n % 2 ? "second" : "first" }, inside);
      }),
    ),
  );
}

/**
 * What is read out when a match ends.
 *
 * @param {Match} match
 */
export function ending(match) {
  const [head, how] = result(match);
  return how ? `${head}: ${how}.` : `${head}.`;
}
