/** Guess the moves of one side of a match of strong bots, each before it is shown; the server has judged every move. */

import { board, type Look, moveName, sizes } from "./board.js";
import { button, h, panel, type Tree } from "./dom.js";
import { titleOf } from "./games.js";
import { f, w } from "./i18n.js";
import { framed } from "./lobby.js";
import { go } from "./place.js";
import type { AnalysedMove, StudyReply } from "./protocol.js";
import { isFlat } from "./settings.js";
import { movesAt, set, state, ui } from "./store.js";

/** The match, the number of shown moves, and the guess before each move; null if the move was only shown. */
let begun: StudyReply | null = null;
let ply = 0;
let guesses = new Map<number, number | null>();

export function guessScreen(): Tree {
  const { study } = state;
  if (study && study !== begun) [begun, ply, guesses] = [study, study.positions.findIndex(({ to_move }) => to_move === study.side), new Map()];
  return framed(w.guessMoves, "riddle", study ? shown(study) : !state.you && h("p.quiet", { role: "status" }, w.puzzleNeedsLink));
}

const isAsked = ({ positions, side }: StudyReply): boolean => positions[ply]?.to_move === side && !guesses.has(ply);

function step(by: number): void {
  ply += by;
  set({ aim: -1 });
}

function guess(made: number | null): void {
  guesses.set(ply, made);
  step(1);
}

/** What a guess is worth: the same move, as good, or one that gives something away; nothing if none was made. */
function worth({ snapshot: { game } }: StudyReply, { move, keeping = [] }: AnalysedMove, guessed: number | null): "same" | "kept" | "wrong" | "" {
  if (guessed === null) return "";
  const [made, played] = [game.move_names[guessed]!, game.move_names[move]!];
  return made === played ? "same" : !keeping.length || keeping.includes(made) ? "kept" : "wrong";
}

/** The verdict on the guess of the move that was shown last. */
function verdict(study: StudyReply, name: string): Tree | false {
  const { snapshot: match, moves } = study;
  const [judged, guessed] = [moves[ply - 1], guesses.get(ply - 1)];
  if (!judged || guessed === undefined) return false;
  const [made, played] = [moveName(match.game, guessed ?? -1), moveName(match.game, judged.move)];
  const found = worth(study, judged, guessed);
  const said = { same: f(w.puzzleRight, played), kept: f(w.guessKept, made), wrong: f(w.guessWrong, made), "": "" }[found];
  return h("p.verdict", { role: "status", class: found === "wrong" ? "lost" : found && "won" }, said, found !== "same" && ` ${f(w.theyPlayed, name, played)}`);
}

function shown(study: StudyReply): Tree {
  const { snapshot: match, moves, side, number } = study;
  const { name } = match.players[side];
  const found = [...guesses].map(([at, made]) => worth(study, moves[at]!, made));
  const count = (what: string) => found.filter((each) => each === what).length;
  const isOver = ply === moves.length;
  const isDue = isAsked(study);
  const aimed = isDue && ui.aim >= 0 ? movesAt(match.game, study.positions[ply]!.legal, ui.aim) : [];
  return h(
    "div.puzzle",
    { key: `${number}` },
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
        button(w.guessOther, () => go(`/#guess=${number + 1}`), isOver ? "primary" : ""),
      ),
    ),
    h("div.field", theBoard(study, isDue)),
  );
}

function theBoard({ snapshot: { game }, moves, positions, side }: StudyReply, isDue: boolean): Tree {
  const [, height, width] = sizes(game);
  const position = positions[ply]!;
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
