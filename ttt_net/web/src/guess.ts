/** Guess the moves of one side of a match, each before it is shown: of strong bots, or of one's own that was analysed. */

import { comeIn, link } from "./actions.js";
import { board, type Look, moveName, sizes } from "./board.js";
import { button, h, panel, type Tree } from "./dom.js";
import { titleOf } from "./games.js";
import { f, w } from "./i18n.js";
import { framed } from "./lobby.js";
import { go, place } from "./place.js";
import type { AnalysedMove, StudyReply } from "./protocol.js";
import { isFlat } from "./settings.js";
import { type Match, movesAt, type Position, set, state, ui } from "./store.js";

/** A match to guess; positions that have not come yet are missing. `number` is undefined for a match of one's own. */
type Study = Pick<StudyReply, "moves" | "side"> & { snapshot: Pick<Match, "match" | "game" | "players">; positions: (Position | undefined)[]; number?: number };

/** The match, the number of shown moves, and the guess before each move; null if the move was only shown. */
let begun = "";
let ply = 0;
let guesses = new Map<number, number | null>();

let isComing = false;

/** Say that the server is needed. Visitors without a name, who come by a link, get what it shows as guests. */
export function missing(): Tree {
  if (!isComing && !state.you && !state.parted && !link.isKnown()) {
    isComing = true;
    comeIn();
  }
  return h("p.quiet", { role: "status" }, w.puzzleNeedsLink);
}

export function guessScreen(): Tree {
  const own = state.matches.get(place().id);
  const study: Study | null = own ? studyOf(own) : state.study;
  const first = study?.positions.findIndex((each) => each?.to_move === study.side) ?? -1;
  if (!study || first < 0) return framed(w.guessMoves, "riddle", !state.you && missing());
  if (study.snapshot.match !== begun) [begun, ply, guesses] = [study.snapshot.match, first, new Map()];
  return framed(w.guessMoves, "riddle", shown(study));
}

/** A finished match of one's own: the moves of its winner, or after a draw of the opponent. */
function studyOf(match: Match): Study {
  const { analysis, outcome, you } = match;
  return { snapshot: match, positions: match.past, moves: analysis?.moves ?? [], side: (outcome?.winner ?? (you === 0 ? 1 : 0)) as 0 | 1 };
}

const isAsked = ({ positions, side }: Study): boolean => positions[ply]?.to_move === side && !!positions[ply]?.legal.length && !guesses.has(ply);

function step(by: number): void {
  ply += by;
  set({ aim: -1 });
}

function guess(made: number | null): void {
  guesses.set(ply, made);
  step(1);
}

/** What a guess is worth: the same move, as good, or one that gives something away; nothing if none was made. */
function worth({ snapshot: { game } }: Study, { move, keeping = [], score }: AnalysedMove, guessed: number | null): "same" | "kept" | "wrong" | "" {
  if (guessed === null) return "";
  const [made, played] = [game.move_names[guessed]!, game.move_names[move]!];
  return made === played ? "same" : !keeping.length ? (score === undefined ? "kept" : "") : keeping.includes(made) ? "kept" : "wrong";
}

/** The verdict on the guess of the move that was shown last. */
function verdict(study: Study, name: string): Tree | false {
  const { snapshot: match, moves } = study;
  const [judged, guessed] = [moves[ply - 1], guesses.get(ply - 1)];
  if (!judged || guessed === undefined) return false;
  const [made, played] = [moveName(match.game, guessed ?? -1), moveName(match.game, judged.move)];
  const found = worth(study, judged, guessed);
  const wrong = judged.turning ? "" : f(judged.value === 1 ? w.guessLosesWin : w.guessLoses, made);
  const said = { same: f(w.puzzleRight, played), kept: f(w.guessKept, made), wrong, "": "" }[found];
  return h("p.verdict", { role: "status", class: found === "wrong" ? "lost" : found && "won" }, said, found !== "same" && ` ${f(w.theyPlayed, name, played)}`);
}

function shown(study: Study): Tree {
  const { snapshot: match, moves, side, number } = study;
  const { name } = match.players[side];
  const found = [...guesses].map(([at, made]) => worth(study, moves[at]!, made));
  const count = (what: string) => found.filter((each) => each === what).length;
  const isOver = ply === moves.length;
  const isDue = isAsked(study);
  const aimed = isDue && ui.aim >= 0 ? movesAt(match.game, study.positions[ply]!.legal, ui.aim) : [];
  const position = study.positions[ply];
  return h(
    "div.puzzle",
    { key: match.match },
    panel(
      w.guessMoves,
      h("h2", titleOf(match.game.name) || match.game.title),
      h("p.quiet", match.players.map((each) => each.name).join(" – ")),
      h("p", isDue ? f(w.guessAsk, ply + 1, moves.length, name) : f(w.guessAt, ply, moves.length)),
      verdict(study, name),
      isOver && h("p", f(w.guessTotal, count("same"), found.length, count("kept"))),
      h(
        "div.buttons",
        aimed.length > 1 && aimed.map((made) => button(f(w.placeAt, moveName(match.game, made)), () => guess(made), "primary")),
        isDue && button(w.guessShow, () => guess(null)),
        !isDue && !isOver && button(w.next, () => step(1), "primary"),
        number !== undefined && button(w.guessOther, () => go(`/#guess=${number + 1}`), isOver ? "primary" : ""),
      ),
    ),
    position && h("div.field", theBoard(study, position, isDue)),
  );
}

function theBoard({ snapshot: { game }, moves, side }: Study, position: Position, isDue: boolean): Tree {
  const [, height, width] = sizes(game);
  const look: Look = {
    game,
    position,
    last: game.move_cells[moves[ply - 1]?.move ?? -1] ?? -1,
    canMove: isDue,
    ghost: -1,
    ghostMark: position.marks[side] ?? "X",
    isPending: false,
    focus: ui.focus < 0 ? ((height - 1) >> 1) * width + ((width - 1) >> 1) : ui.focus,
    fading: position.vanishing ?? -1,
    hints: "",
    alarms: "",
    isLoss: false,
    isFlat: isFlat(),
  };
  const choose = (cell: number) => {
    const legal = isDue ? movesAt(game, position.legal, cell) : [];
    if (legal.length > 1) set({ aim: cell });
    else if (legal[0] !== undefined) guess(legal[0]);
  };
  return board(look, { choose, hover: () => {}, focus: (focus) => set({ focus }) });
}
