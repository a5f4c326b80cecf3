/**
 * The screen of one match: both players, the board, what can be done, the moves, and what is said.
 *
 * @typedef {import("./state.js").Match} Match
 * @typedef {import("./main.js").App} App
 */

import { analysis } from "./analysis.js";
import { board, landing, sizes, symbol } from "./board.js";
import { chat } from "./chat.js";
import { button, h } from "./dom.js";
import { isMyTurn, leftMs, movesAt } from "./state.js";
import { clockFace, label, OFFERS, ratingOf, status, timeName } from "./words.js";

const LOW_MS = 10000;
/** A finger needs so many pixels; on smaller cells it aims first. */
const FINGER = 44;
/** The board as it was drawn last, and what of: clocks tick ten times a second, and large boards change less often. */
let drawn = { shown: /** @type {any[]} */ ([]), tree: /** @type {any} */ (null) };

/** @param {App} app @param {Match} match */
export function matchScreen(app, match) {
  const below = match.you ?? 0;
  const isOver = Boolean(match.outcome);
  const isMine = isMyTurn(match) && !match.pending;
  const about = [match.time && timeName(match.time), match.rated && "rated", match.private && "private"];
  return h(
    "main.match",
    { key: `match ${match.match}`, tabindex: -1, focus: true },
    h(
      "header.bar",
      button("‹ Lobby", () => app.go("/"), "plain back"),
      h("h1", match.game.title, h("span.quiet", ` ${about.filter(Boolean).join(" · ")}`)),
      app.linkWord(),
    ),
    seat(app, match, 1 - below),
    h("div.table", { key: "table" }, theBoard(app, match)),
    seat(app, match, below),
    h("p.status", { key: "status", class: isMine ? "turn" : "" }, statusOf(app, match)),
    h("div.prompts", { key: "prompts" }, prompts(app, match)),
    isOver && review(app, match),
    h("div.actions", { key: "actions" }, isOver ? afterwards(app, match) : during(app, match)),
    h("aside.side", { key: "side", label: "More" }, isOver && analysis(app, match), moves(app, match), chat(app, match)),
  );
}

/** @param {App} app @param {Match} match */
function statusOf(app, match) {
  if (app.ui.ply !== null) return `Move ${app.ui.ply} of ${match.moves.length}`;
  const aimed = aim(app, match);
  return aimed ? `Place at ${match.game.move_names[aimed]}?` : status(match);
}

/** The move that a finger has aimed at, if any. @param {App} app @param {Match} match */
function aim(app, match) {
  if (app.ui.aim < 0 || !isMyTurn(match) || match.pending) return undefined;
  return movesAt(match.game, match.position.legal, app.ui.aim)[0];
}

/** @param {App} app @param {Match} match */
function seat(app, match, side) {
  const player = match.players[side];
  const { outcome } = match;
  const left = leftMs(match, side, app.clockNow());
  const isTurn = match.position.to_move === side;
  const change = match.ratings?.[side];
  const gained = change && change.after - change.before;
  const words = [label(player), side === match.you && "you", isTurn && "to move"];
  return h(
    "section.seat",
    {
      key: `seat ${side}`,
      class: isTurn ? "active" : outcome?.winner === side ? "winner" : "",
      label: words.filter(Boolean).join(", "),
    },
    symbol(match.position.marks[side], match.game.gravity),
    h(
      "div.who",
      h("strong", player.name),
      player.bot !== undefined && h("span.tag", player.level ? `bot, level ${player.level}` : "bot"),
      h("span.rating", change ? change.after : ratingOf(player)),
      change && h("span", { class: gained < 0 ? "lost" : "won" }, `${gained < 0 ? "−" : "+"}${Math.abs(gained)}`),
      !match.present[side] && !outcome && h("span.tag.away", "away"),
    ),
    match.score?.some(Boolean) && h("span.score", { title: "score of the series" }, points(match, side)),
    left !== null && h("span.clock", { class: left < LOW_MS ? "low" : "" }, clockFace(left)),
  );
}

/** The score of the series, with this match in it once it has ended. @param {Match} match */
function points(match, side) {
  const { winner, reason } = match.outcome ?? { winner: -1, reason: "" };
  const gained = winner === side ? 1 : winner === null && reason !== "abort" ? 0.5 : 0;
  const sum = (match.score?.[side] ?? 0) + gained;
  return `${Math.floor(sum) || (sum ? "" : 0)}${sum % 1 ? "½" : ""}`;
}

/** @param {App} app @param {Match} match */
function theBoard(app, match) {
  const { game, pending } = match;
  const past = app.ui.ply === null ? undefined : match.past[app.ui.ply];
  const position = past ?? match.position;
  const made = past ? match.moves[past.ply - 1] : match.last;
  const canMove = !past && isMyTurn(match) && !pending && app.connection.link === "online";
  const aimed = aim(app, match);
  const own = position.marks[match.you ?? 0];
  const look = {
    game,
    position,
    last: made === undefined || made === null ? -1 : game.move_cells[made],
    canMove,
    ghost: game.move_cells[pending?.move ?? aimed ?? -1] ?? (canMove ? landing(game, position, app.ui.hover) : -1),
    ghostMark: own.length > 1 && pending ? game.move_names[pending.move][0] : own,
    isPending: Boolean(pending),
    focus: app.ui.focus >= 0 ? app.ui.focus : middle(game),
  };
  const shown = [match, ...Object.values(look)];
  if (shown.some((each, n) => each !== drawn.shown[n])) {
    const on = {
      choose: (cell, event) => canMove && choose(app, match, cell, event),
      hover: (cell) => cell !== app.ui.hover && app.set({ hover: cell }),
      focus: (cell) => app.set({ focus: cell }),
    };
    drawn = { shown, tree: board(look, on) };
  }
  return drawn.tree;
}

function middle(game) {
  const [, height, width] = sizes(game);
  return Math.floor((height - 1) / 2) * width + Math.floor((width - 1) / 2);
}

/** Play a cell; a finger on a cell that is too small for it aims first. @param {App} app @param {Match} match */
function choose(app, match, cell, event) {
  const { game, position } = match;
  const found = movesAt(game, position.legal, cell);
  const isSmall = event.currentTarget.offsetWidth < FINGER && !(game.gravity && sizes(game)[0] === 1);
  const isFinger = event.pointerType === "touch" || event.pointerType === "pen";
  if (!found.length) {
    app.set({ aim: -1 });
    app.announce(position.board[cell] === "." ? "No move is possible there." : "There is a mark already.");
  } else if (found.length > 1) app.set({ question: { kind: "mark", match: match.match, moves: found } });
  else if (isFinger && isSmall && aim(app, match) !== found[0]) app.set({ aim: cell });
  else app.play(match, found[0]);
}

/** Questions that want an answer now. @param {App} app @param {Match} match */
function prompts(app, match) {
  const { game, players, you } = match;
  const aimed = aim(app, match);
  const others = isMyTurn(match) && !match.pending ? match.position.legal.filter((move) => game.move_cells[move] < 0) : [];
  const say = (verb, kind) => () => app.request(verb, { match: match.match, kind });
  return [
    aimed !== undefined &&
      prompt("aim", "", [`Place at ${game.move_names[aimed]}`, () => app.play(match, aimed)], ["Cancel", () => app.set({ aim: -1 })]),
    others.map((move) => {
      const name = game.move_names[move];
      return prompt(name, "", [name === "swap" ? "Swap sides" : `Play ${name}`, () => app.play(match, move)]);
    }),
    you === undefined
      ? []
      : match.offers.map(({ side, kind }) => {
          const what = OFFERS[kind] ?? kind;
          if (side === you) return prompt(kind, `You offered ${what}.`, ["Withdraw", say("decline", kind)]);
          return prompt(kind, `${players[side].name} offers ${what}.`, ["Accept", say("offer", kind)], ["No", say("decline", kind)]);
        }),
    absence(app, match, say),
  ];
}

function prompt(key, text, ...answers) {
  return h(
    "div.prompt",
    { key, role: "group", label: text || answers[0][0] },
    h("p", text),
    answers.map(([words, act], n) => button(words, act, n ? "" : "primary")),
  );
}

/** The other player is away: how long to wait, and then what can be claimed. @param {App} app @param {Match} match */
function absence(app, match, say) {
  const { away, you } = match;
  if (!away || you === undefined || match.outcome || match.adjourned || away.side === you) return null;
  const how = `${match.players[away.side].name} ${away.on_purpose ? "has left" : "lost the connection"}`;
  const left = away.claim_in_ms - (app.clockNow() - match.awayAt);
  if (left > 0) return prompt("away", `${how}; in ${Math.ceil(left / 1000)} s you need not wait any more.`);
  const later = match.rated ? [] : [["Go on later", say("claim", "adjourn")]];
  return prompt("claim", `${how}.`, ["Claim the win", say("claim", "win")], ["Call it a draw", say("claim", "draw")], ...later);
}

/** @param {App} app @param {Match} match */
function during(app, match) {
  const { you } = match;
  const { length } = match.moves;
  if (you === undefined) return watching(match);
  const offer = (words, kind, label, isOff) => {
    const disabled = isOff || match.offers.some((each) => each.kind === kind);
    return button(words, () => app.request("offer", { match: match.match, kind }), "", label, { disabled });
  };
  return [
    offer("Draw", "draw", "Draw: offer one"),
    offer("Take back", "takeback", "Take back your move", length <= you),
    length < 2
      ? button("Call off", () => app.request("abort", { match: match.match }))
      : button("Resign", () => app.set({ question: { kind: "resign", match: match.match } })),
    button("Share", () => app.share(match), "", "Share a link to watch"),
  ];
}

/** @param {Match} match */
function watching(match) {
  const others = (match.watchers ?? 1) - 1;
  return h("p.quiet", others > 0 ? `You and ${others} more are watching.` : "You are watching.");
}

/** @param {App} app @param {Match} match */
function afterwards(app, match) {
  const { you, next, offers } = match;
  const isHere = you !== undefined && match.present[1 - you];
  const rematch = () => app.request("offer", { match: match.match, kind: "rematch" });
  return [
    isHere && !next && !offers.length && button("Rematch", rematch, "primary"),
    next && button("To the rematch", () => app.go(`/m/${next}`), "primary"),
    you !== undefined && button("New opponent", () => app.seekLike(match)),
    button("Share", () => app.share(match)),
    you !== undefined && !isHere && !next && h("p.quiet", `${match.players[1 - you].name} has left.`),
  ];
}

/** The slider through a finished match. @param {App} app @param {Match} match */
function review(app, match) {
  const { length } = match.moves;
  const ply = app.ui.ply ?? length;
  const step = (words, label, target) =>
    button(words, () => app.review(match, target), "plain", label, { disabled: target < 0 || target > length });
  return h(
    "div.review",
    { key: "review", role: "group", label: "Replay" },
    step("‹", "one move back", ply - 1),
    h("input", {
      type: "range",
      min: 0,
      max: length,
      value: ply,
      label: "Move",
      "aria-valuetext": `move ${ply} of ${length}`,
      oninput: (event) => app.review(match, Number(event.target.value)),
    }),
    step("›", "one move on", ply + 1),
  );
}

/** @param {App} app @param {Match} match */
function moves(app, match) {
  const { length } = match.moves;
  const at = app.ui.ply ?? length;
  const row = (move, n) => {
    const name = match.game.move_names[move];
    const here = n + 1 === at && "step";
    const show = () => app.review(match, n + 1);
    const inside = match.outcome ? button(name, show, "plain", "", { "aria-current": here }) : h("span", { "aria-current": here }, name);
    return h("li", { class: n % 2 ? "second" : "first" }, inside);
  };
  return (
    length > 0 &&
    h("details.panel", { key: "moves", open: app.isWide }, h("summary", `Moves (${length})`), h("ol.moves", match.moves.map(row)))
  );
}
