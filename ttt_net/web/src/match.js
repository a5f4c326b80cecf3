/**
 * The screen of one match: both players, the board, what can be done, the moves, and what is said.
 *
 * @typedef {import("./state.js").Match} Match
 */

import { analysis } from "./analysis.js";
import { announce, clockNow, play, review, seek, send, set, tell, ui } from "./app.js";
import { board, landing, sizes, symbol } from "./board.js";
import { chat } from "./chat.js";
import { button, h, joined, screen } from "./dom.js";
import { timeName } from "./games.js";
import { link } from "./link.js";
import { bar } from "./lobby.js";
import { go } from "./place.js";
import { isMyTurn, leftMs, movesAt } from "./state.js";
import { clockFace, isBot, label, ratingOf, status } from "./words.js";

const OFFERS = { draw: "a draw", takeback: "to take a move back", rematch: "a rematch" };
const LOW_MS = 10000;
/** A finger needs so many pixels; on smaller cells it aims first. */
const FINGER = 44;
const WIDE = 900;
/** The board as it was drawn last, and what of: clocks tick ten times a second, and large boards change less often. */
let drawn = { shown: /** @type {any[]} */ ([]), tree: /** @type {any} */ (null) };

/** @param {Match} match */
export function matchScreen(match) {
  const { game, outcome, time, rated } = match;
  const below = match.you ?? 0;
  const about = joined([time && timeName(time), rated && "rated", match.private && "private"]);
  return screen(
    "main.match",
    match.match,
    bar(game.title, h("span.quiet", ` ${about}`)),
    seat(match, 1 - below),
    theBoard(match),
    seat(match, below),
    h("p.status", { class: isMyTurn(match) && "turn" }, statusOf(match)),
    h("div.prompts", prompts(match)),
    outcome && slider(match),
    h("div.actions", outcome ? afterwards(match) : during(match)),
    h("aside.side", { label: "More" }, outcome && analysis(match), moves(match), chat(match)),
  );
}

/** @param {Match} match */
function statusOf(match) {
  if (ui.ply !== null) return `Move ${ui.ply} of ${match.moves.length}`;
  const [aimed, other] = aims(match);
  if (other !== undefined) return "Which mark?";
  return aimed === undefined ? status(match) : `Place at ${match.game.move_names[aimed]}?`;
}

/** The moves that the cell means which a player has aimed at. @param {Match} match */
const aims = (match) => (isMyTurn(match) && ui.aim >= 0 ? movesAt(match.game, match.position.legal, ui.aim) : []);

/** @param {Match} match */
function seat(match, side) {
  const player = match.players[side];
  const { outcome, you } = match;
  const left = leftMs(match, side, clockNow());
  const isTurn = match.position.to_move === side;
  const change = match.ratings?.[side];
  const gained = change && change.after - change.before;
  return h(
    "section.seat",
    {
      key: side,
      class: isTurn ? "active" : outcome?.winner === side && "winner",
      label: joined([label(player), side === you && "you", isTurn && "to move"], ", "),
    },
    symbol(match.position.marks[side], match.game.gravity),
    h(
      "div.who",
      h("strong", player.name),
      isBot(player) && h("span.tag", player.level ? `bot, level ${player.level}` : "bot"),
      h("span.rating", change ? change.after : ratingOf(player)),
      change && h("span", { class: gained < 0 ? "lost" : "won" }, `${gained < 0 ? "−" : "+"}${Math.abs(gained)}`),
      !match.present[side] && !outcome && h("span.tag.away", "away"),
    ),
    match.score?.some(Boolean) && h("span.score", { title: "score of the series" }, points(match, side)),
    left !== null && h("span.clock", { class: left < LOW_MS && "low" }, clockFace(left)),
  );
}

/** The score of the series, with this match in it once it has ended. @param {Match} match */
function points({ score, outcome }, side) {
  const gained = outcome?.winner === side ? 1 : outcome?.winner === null && outcome.reason !== "abort" ? 0.5 : 0;
  return score[side] + gained;
}

/** @param {Match} match */
function theBoard(match) {
  const { game, pending } = match;
  const { ply, hover, focus } = ui;
  const past = ply === null ? undefined : match.past[ply];
  const position = past ?? match.position;
  const canMove = !past && isMyTurn(match) && link === "online";
  const own = position.marks[match.you ?? 0];
  const [, height, width] = sizes(game);
  const look = {
    game,
    position,
    last: game.move_cells[match.moves[(past?.ply ?? match.moves.length) - 1]] ?? -1,
    canMove,
    ghost: game.move_cells[pending?.move ?? aims(match)[0]] ?? (canMove ? landing(game, position, hover) : -1),
    ghostMark: own.length > 1 && pending ? game.move_names[pending.move][0] : own,
    isPending: !!pending,
    focus: focus < 0 ? ((height - 1) >> 1) * width + ((width - 1) >> 1) : focus,
  };
  const shown = [match, ...Object.values(look)];
  if (shown.some((each, n) => each !== drawn.shown[n])) {
    const on = {
      choose: (cell, event) => canMove && choose(match, cell, event),
      hover: (cell) => cell !== ui.hover && set({ hover: cell }),
      focus: (cell) => set({ focus: cell }),
    };
    drawn = { shown, tree: board(look, on) };
  }
  return drawn.tree;
}

/**
 * Play a cell; a finger on a cell that is too small for it aims first, and so does whoever has two marks to choose from.
 *
 * @param {Match} match
 */
function choose(match, cell, event) {
  const { game, position } = match;
  const found = movesAt(game, position.legal, cell);
  const isSmall = event.currentTarget.offsetWidth < FINGER && !(game.gravity && sizes(game)[0] === 1);
  const isFinger = /touch|pen/.test(event.pointerType);
  if (!found.length) {
    set({ aim: -1 });
    announce(position.board[cell] === "." ? "No move is possible there." : "There is a mark already.");
  } else if (found.length > 1 || (isFinger && isSmall && aims(match)[0] !== found[0])) set({ aim: cell });
  else play(match, found[0]);
}

/** Questions that want an answer now. @param {Match} match */
function prompts(match) {
  const { game, players, you, offers, position } = match;
  const aimed = aims(match);
  const others = isMyTurn(match) ? position.legal.filter((move) => game.move_cells[move] < 0) : [];
  const answer = (words, verb, kind) => [words, () => tell(match, verb, { kind })];
  const place = (move) => [`Place at ${game.move_names[move]}`, () => play(match, move)];
  return [
    aimed.length > 0 && prompt("aim", "", ...aimed.map(place), ["Cancel", () => set({ aim: -1 })]),
    ui.isResigning &&
      !match.outcome &&
      prompt("resign", "Resign this match?", ["Yes, resign", () => tell(match, "resign")], ["Play on", () => set({ isResigning: false })]),
    others.map((move) => {
      const name = game.move_names[move];
      return prompt(name, "", [name === "swap" ? "Swap sides" : `Play ${name}`, () => play(match, move)]);
    }),
    you !== undefined &&
      offers.map(({ side, kind }) => {
        const what = OFFERS[kind] ?? kind;
        if (side === you) return prompt(kind, `You offered ${what}.`, answer("Withdraw", "decline", kind));
        return prompt(kind, `${players[side].name} offers ${what}.`, answer("Accept", "offer", kind), answer("No", "decline", kind));
      }),
    absence(match, answer),
  ];
}

const prompt = (key, text, ...answers) =>
  h(
    "div.prompt",
    { key, role: "group", label: text || answers[0][0] },
    text && h("p", text),
    answers.map(([words, act], n) => button(words, act, n ? "" : "primary")),
  );

/** The other player is away: how long to wait, and then what can be claimed. @param {Match} match */
function absence({ away, you, outcome, adjourned, awayAt, players, rated }, answer) {
  if (!away || you === undefined || outcome || adjourned || away.side === you) return null;
  const how = `${players[away.side].name} ${away.on_purpose ? "has left" : "lost the connection"}`;
  const left = away.claim_in_ms - (clockNow() - awayAt);
  if (left > 0) return prompt("away", `${how}; in ${Math.ceil(left / 1000)} s you need not wait any more.`);
  const later = rated ? [] : [answer("Go on later", "claim", "adjourn")];
  return prompt("claim", `${how}.`, answer("Claim the win", "claim", "win"), answer("Call it a draw", "claim", "draw"), ...later);
}

/** @param {Match} match */
function during(match) {
  const { you, offers, moves, watchers = 1 } = match;
  if (you === undefined) return h("p.quiet", watchers > 1 ? `You and ${watchers - 1} more are watching.` : "You are watching.");
  const offer = (words, kind, label, isOff = false) => {
    const disabled = isOff || offers.some((each) => each.kind === kind);
    return button(words, () => tell(match, "offer", { kind }), "", label, { disabled });
  };
  return [
    offer("Draw", "draw", "Draw: offer one"),
    offer("Take back", "takeback", "Take back your move", moves.length <= you),
    moves.length < 2 ? button("Call off", () => tell(match, "abort")) : button("Resign", () => set({ isResigning: true })),
    share(match),
  ];
}

/** @param {Match} match */
function afterwards(match) {
  const { you, next, offers, present, players } = match;
  const isSeated = you !== undefined;
  const isHere = isSeated && present[1 - you];
  return [
    isHere && !next && !offers.length && button("Rematch", () => tell(match, "offer", { kind: "rematch" }), "primary"),
    next && button("To the rematch", () => go(`/m/${next}`), "primary"),
    isSeated && button("New opponent", () => seekLike(match)),
    share(match),
    isSeated && !isHere && !next && h("p.quiet", `${players[1 - you].name} has left.`),
  ];
}

/** @param {Match} match */
function seekLike({ game, time = null, rated }) {
  go("/");
  seek({ game: game.name, time, rated });
}

/** @param {Match} match */
const share = ({ match, code }) =>
  button("Share", () => send(`${location.origin}/m/${match}${code ? "#" + code : ""}`), "", "Share a link to watch");

/** The slider through a finished match. @param {Match} match */
function slider(match) {
  const { length } = match.moves;
  const ply = ui.ply ?? length;
  const step = (words, label, to) => button(words, () => review(match, to), "plain", label, { disabled: to < 0 || to > length });
  const oninput = (event) => review(match, Number(event.target.value));
  return h(
    "div.review",
    { role: "group", label: "Replay" },
    step("‹", "one move back", ply - 1),
    h("input", { type: "range", min: 0, max: length, value: ply, label: "Move", "aria-valuetext": `move ${ply} of ${length}`, oninput }),
    step("›", "one move on", ply + 1),
  );
}

/** @param {Match} match */
function moves(match) {
  const { length } = match.moves;
  const row = (move, n) => {
    const name = match.game.move_names[move];
    const here = { "aria-current": n + 1 === (ui.ply ?? length) && "step" };
    return h(
      "li",
      { class: `mark-${"XO"[n % 2]}` },
      match.outcome ? button(name, () => review(match, n + 1), "plain", "", here) : h("span", here, name),
    );
  };
  const open = innerWidth >= WIDE;
  return length > 0 && h("details.panel", { key: "moves", open }, h("summary", `Moves (${length})`), h("ol.moves", match.moves.map(row)));
}
