/** The screen of one match: both players, the board, the possible actions, the moves, and the chat. */

import { announce, clockNow, link, notify, play } from "./actions.js";
import { around, counters, extent, isHexes } from "./added.js";
import { AIMED_MS, needsAim } from "./aim.js";
import { analysis, betterArrow, isPoor, worthBar } from "./analysis.js";
import { bar } from "./bar.js";
import { board, colours, landing, type Look, type On, sizes, token } from "./board.js";
import { chat } from "./chat.js";
import { cheered } from "./cheer.js";
import { aims, deck, share } from "./deck.js";
import { button, h, joined, screen, type Tree } from "./dom.js";
import { recordButton } from "./download.js";
import { face } from "./faces.js";
import { timeName, titleOf } from "./games.js";
import { f, many, w } from "./i18n.js";
import { icon } from "./icons.js";
import { offers } from "./local.js";
import { part } from "./parts.js";
import { go } from "./place.js";
import { explain, review } from "./requests.js";
import { lineSide } from "./results.js";
import { clockFace, gradeOf, isBot, label, ratingOf, sentence } from "./sentences.js";
import { isFlat } from "./settings.js";
import { touchedAtMs } from "./shield.js";
import { choose, fadingCell, hearing, isMyTurn, leftMs, type Match, movesAt, type Position, set, ui } from "./store.js";

const LOW_MS = 10000;
const WIDE = 900;
/** The shown match and position, and since when. */
let seen: { match: string; position: Position | null; sinceMs: number } = { match: "", position: null, sinceMs: 0 };

/** Focus the board as a match of ours begins, for players with a keyboard or a screen reader. */
function begun({ match, you, outcome, moves, position }: Match): void {
  seen = { match, position: ui.kept && position, sinceMs: ui.kept?.sinceMs ?? 0 };
  if (you === undefined || outcome || moves.length > 1) return;
  queueMicrotask(() => {
    const now = document.activeElement;
    if (now === document.body || now?.matches("main")) document.querySelector<HTMLElement>(".match .cell[tabindex='0']")?.focus({ preventScroll: true });
  });
}

export function matchScreen(match: Match): Tree {
  const { game, outcome, time, rated } = match;
  if (seen.match !== match.match) begun(match);
  const below = match.you ?? 0;
  const about = joined([timeName(time), rated && w.rated, match.private && w.private]);
  const head = bar([h("span", titleOf(game.name) || game.title), h("span.quiet", ` ${about}`)], share(match), button(icon("help"), () => explain(game.name), "plain ask", w.howToPlay));
  const tone = colours(game);
  const field = h("div.field", { class: ui.kept && tone }, theBoard(match), worthBar(match));
  const [theirs, own] = [seat(match, 1 - below), seat(match, below)];
  const side = h("aside.side", { label: w.more }, outcome && match.analysis && analysis(match), moves(match), chat(match));
  if (!ui.kept) return screen(joined(["main.match", tone], "."), match.match, head, theirs, field, own, deck(match), side, cheered(match));
  // The same elements as those of the first screen, so that its board stays as it is, and its pictures keep their colours.
  return h(
    "main.welcome",
    { class: "first kept", style: { "min-height": `${ui.kept.heightPx}px` } },
    head,
    h("section.here", { label: w.newMatch }, offers(ui.opening, another, !outcome), field, deck(match)),
    h("div.entrance", { class: tone }, theirs, own, side),
    cheered(match),
  );
}

/** Leave a match on the first screen for another game or opponent. */
function another({ game = ui.opening.game, isAlone = true }: Partial<typeof ui.opening>): void {
  choose({ game });
  go(isAlone ? "/" : `/#here=${game}`);
}

function seat(match: Match, side: number): Tree {
  const player = match.players[side]!;
  const { outcome, you } = match;
  const left = leftMs(match, side, clockNow());
  const isTurn = match.position.to_move === side;
  const change = match.ratings?.[side];
  const gained = change ? change.after - change.before : 0;
  return h(
    "section.seat",
    {
      key: side + 1,
      class: [`of-${side ? "O" : "X"}`, isTurn ? "active" : outcome?.winner === side && "winner"],
      label: joined([label(player), side === you && w.you, isTurn && w.toMove], w.comma),
    },
    token(match.game, match.position.marks[side]!),
    isBot(player) && face(player),
    h(
      "div.who",
      h("strong", h("bdi", player.name)),
      isBot(player) && h("span.tag", player.level ? f(w.botOfLevel, player.level) : w.bot),
      h("span.rating", change ? change.after : ratingOf(player)),
      change && h("span", { class: gained < 0 ? "lost" : "won" }, `${gained < 0 ? "−" : "+"}${Math.abs(gained)}`),
      counters(match, side),
      !match.present[side] && !outcome && h("span.tag.away", w.away),
    ),
    match.score?.some(Boolean) && h("span.score", { title: w.scoreOfSeries }, points(match, side)),
    left !== null && h("span.clock", { class: left < LOW_MS && "low" }, clockFace(left)),
  );
}

/** The score of the series, including this match once it has ended. */
function points({ score, outcome }: Match, side: number): number {
  const gained = outcome?.winner === side ? 1 : outcome && outcome.winner === null && outcome.reason !== "abort" ? 0.5 : 0;
  return (score?.[side] ?? 0) + gained;
}

function theBoard(match: Match): Tree {
  const { game, pending } = match;
  const { ply, hover, focus } = ui;
  const past = ply === null ? undefined : match.past[ply];
  const position = past ?? match.position;
  const canMove = !past && isMyTurn(match) && link.isUp();
  const own = position.marks[match.you ?? 0]!;
  const [, height, width] = sizes(game);
  const look: Look = {
    game,
    position,
    last: game.move_cells[match.moves[(past?.ply ?? match.moves.length) - 1] ?? -1] ?? (position.ply === 0 ? ui.kept?.last : null) ?? -1,
    canMove,
    ghost: game.move_cells[pending?.move ?? aims(match)[0] ?? -1] ?? (canMove ? landing(game, position, hover) : -1),
    ghostMark: own.length > 1 && pending ? (game.move_names[pending.move]?.[0] ?? own) : own,
    isPending: !!pending,
    focus: focus < 0 ? ((height - 1) >> 1) * width + ((width - 1) >> 1) : focus,
    fading: past ? -1 : fadingCell(match),
    hints: past ? hints(match, past.ply) : coachedCells(match, "hint"),
    alarms: past ? "" : [coachedCells(match, "warning"), namedMarks(match)].filter(Boolean).join(),
    isLoss: position.line.length > 0 && !!match.outcome && lineSide(match) !== match.outcome.winner,
    isFlat: isFlat(),
    ...(isHexes(game) && { extent: extent(game), around: around(game) }),
  };
  const on: On = {
    choose: (cell, event) => tapped(match, cell, event, canMove),
    hover: (cell) => cell !== ui.hover && set({ hover: cell }),
    // A tap moves the focus, too, and is drawn at once: both need one drawing.
    focus: (cell) => hearing(() => set({ focus: cell })),
  };
  if (seen.position !== position) seen = { match: match.match, position, sinceMs: performance.now() };
  // Clocks tick ten times a second, and large boards change less often.
  const { around: _drawn, extent: _size, ...shown } = look; // equal for all positions of a game
  return part("board", [w, match, ...Object.values(shown)], () => board(past ? { ...look, arrow: betterArrow(look) } : look, on));
}

/** The cells of a hint or a warning. */
function coachedCells(match: Match, kind: "hint" | "warning"): string {
  const { game, position, [kind]: said } = match;
  return said?.ply === position.ply ? (said.moves ?? []).map((move) => game.move_cells[move] ?? -1).join() : "";
}

/** The opponent's marks in the line that a hint or a warning names. */
const namedMarks = ({ position, hint: good, warning }: Match): string =>
  [good, warning].flatMap((said) => (said?.ply === position.ply && said.why?.row?.cells) || []).join();

/** The cells that would have been better than the last move, if it gave something away or is the lesson. */
function hints({ analysis: found, game, past }: Match, ply: number): string {
  const { lesson, moves = [] } = found ?? {};
  const move = moves?.find((each) => each.ply === ply && (each.turning || isPoor(each)));
  const names = (lesson?.ply === ply && lesson.better.length ? lesson.better : move?.best) ?? [];
  // Where marks fall, all moves of a column share a name, which means its lowest free cell. Layers count from the
  // bottom, rows from the top.
  const before = (past[ply - 1] ?? past[ply])?.board ?? "";
  const cellOf = (name: string) => {
    const free = game.move_cells.filter((cell, move) => game.move_names[move] === name && before[cell] === ".");
    return free.at(game.gravity && sizes(game)[0] === 1 ? -1 : 0) ?? -1;
  };
  return names.map(cellOf).join();
}

/**
 * Play a cell. On cells smaller than a finger, a touch aims first, and a second one at the same place plays, but not
 * immediately: a double tap only aims. If a cell has two possible moves, a tap aims too. A tap that began before the
 * position was shown is ignored.
 */
function tapped(match: Match, cell: number, event: Event, canMove: boolean): void {
  const { game, position } = match;
  const atMs = touchedAtMs(event); // a busy device handles taps late, and then close together
  if (atMs < seen.sinceMs) return;
  if (!canMove || !isMyTurn(match)) {
    if (match.you !== undefined && !match.outcome) notify(sentence(link.isUp() ? w.notYourTurn : w.noConnection));
    return;
  }
  const found = movesAt(game, position.legal, cell);
  const hasToAim = needsAim(game, event);
  if (found[0] === undefined) {
    set({ aim: -1 });
    const isFree = position.board[cell] === ".";
    announce(isFree ? w.noMoveThere : w.alreadyMarked);
  } else if (found.length > 1 || (hasToAim && aims(match)[0] !== found[0])) set({ aim: cell, aimedAtMs: atMs });
  else if (!hasToAim || atMs - ui.aimedAtMs >= AIMED_MS) play(match, found[0]);
}

function moves(match: Match): Tree | false {
  return part("moves", [w, match.match, match.moves, match.analysis?.moves, !!match.outcome, ui.ply, innerWidth >= WIDE], () => movesOf(match));
}

function movesOf(match: Match): Tree | false {
  const { length } = match.moves;
  const row = (move: number, n: number) => {
    const name = match.game.move_names[move] ?? "";
    const sign = match.analysis?.moves?.find(({ ply }) => ply === n + 1)?.sign;
    const here = { "aria-current": n + 1 === (ui.ply ?? length) && "step" };
    return h(
      "li",
      { key: n + 1, class: `mark-${"XO"[n % 2]}`, inSight: n + 1 === (ui.ply ?? length) && "follow" },
      match.outcome ? button(h("bdi", name), () => review(match, n + 1), "plain", "", here) : h("bdi", here, name),
      sign && h("strong.sign", { class: gradeOf(sign) }, sign),
    );
  };
  const open = innerWidth >= WIDE;
  return (length > 0 || open) && h("details.panel.moves-panel", { open }, h("summary", many(w.movesMade, length)), match.outcome && recordButton(match), h("ol.moves", match.moves.map(row)));
}
