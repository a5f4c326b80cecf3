"""Explain a move: the kinds of reasons, the cells that each one names, and the sentence for it in English."""

from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Any, NamedTuple

from ttt_net.games import Game, Move
from ttt_net.games.geometry import list_cells
from ttt_net.games.line import LineGame
from ttt_net.strategies.lessons.sight import DoubleThreat

MOST_NAMED = 4
"""Moves that a sentence names."""

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


class ExplanationKind(StrEnum):
    """The kinds of reasons; each has one sentence, or one clause about "you" who made a move and "they" who answer."""

    WIN_NOW = "win_now"
    CANNOT_STOP = "cannot_stop"
    MUST_BLOCK = "must_block"
    TWO_THREATS = "two_threats"
    SHOULD_PLAY = "should_play"
    SHOULD_BLOCK = "should_block"
    AVOID = "avoid"
    THEY_THREATEN = "they_threaten"
    BEWARE = "beware"
    BEWARE_ROW = "beware_row"
    THEY_WIN_NOW = "they_win_now"
    THEY_TWO_THREATS = "they_two_threats"
    LETS_WIN = "lets_win"
    LETS_TWO_THREATS = "lets_two_threats"
    LOSING = "losing"
    WINNING = "winning"
    WINNING_IN = "winning_in"
    TRY_EVEN = "try_even"
    TRY_THREAT = "try_threat"
    TRY_BLOCK = "try_block"
    TRY_ROW = "try_row"
    TRY_LINES = "try_lines"
    TRY_DRAW = "try_draw"
    TRY_SEARCH = "try_search"
    ONLY_WIN = "only_win"
    ONLY_DRAW = "only_draw"
    NOTHING = "nothing"
    NOTHING_SEEN = "nothing_seen"
    COMPLETED_LINE = "completed_line"
    MISSED_WIN = "missed_win"
    MISSED_TWO_THREATS = "missed_two_threats"
    UNBLOCKED = "unblocked"
    UNSTOPPED = "unstopped"
    GAVE_WIN = "gave_win"
    GAVE_WIN_ABOVE = "gave_win_above"
    GAVE_WIN_BOARD = "gave_win_board"
    UNSTOPPED_TWO_THREATS = "unstopped_two_threats"
    GAVE_TWO_THREATS = "gave_two_threats"
    FORK_THERE = "fork_there"
    FORK_AT = "fork_at"
    WIN_TO_LOSS = "win_to_loss"
    WIN_TO_DRAW = "win_to_draw"
    DRAW_TO_LOSS = "draw_to_loss"
    SOONER_LOSS = "sooner_loss"
    SLOWER_WIN = "slower_win"
    LOST = "lost"
    HAD_WIN = "had_win"
    LOOKED_WORSE = "looked_worse"


_Kind = ExplanationKind
_WORDS = {
    _Kind.WIN_NOW: "You can win at once with {moves}.",
    _Kind.CANNOT_STOP: "They have {row}, and you cannot stop every way to win.",
    _Kind.MUST_BLOCK: "You have to play {moves}: they have {row}.",
    _Kind.TWO_THREATS: "Play {moves}: two threats, only one can be blocked.",
    _Kind.SHOULD_PLAY: "Play {moves}, or they make two threats there, and only one can be blocked.",
    _Kind.SHOULD_BLOCK: "Play {moves}: they have {row}.",
    _Kind.AVOID: "Do not play {moves}: that lets them win.",
    _Kind.THEY_THREATEN: "They threaten to win with {theirs}.",
    _Kind.BEWARE: "Beware of {theirs}: two threats, only one can be blocked.",
    _Kind.BEWARE_ROW: "Beware of {theirs}: they have {row}.",
    _Kind.THEY_WIN_NOW: "They can win at once with {theirs}.",
    _Kind.THEY_TWO_THREATS: "They can make two threats at once with {theirs}.",
    _Kind.LETS_WIN: "{moves} lets them win at once with {theirs}.",
    _Kind.LETS_TWO_THREATS: "{moves} lets them make two threats at once with {theirs}.",
    _Kind.LOSING: "They can win whatever you do; {moves} holds out longest.",
    _Kind.WINNING: "Play {moves}: you can win with it.",
    _Kind.WINNING_IN: "Play {moves}: you can win with it, {plies} of yours.",
    _Kind.TRY_EVEN: "Try {moves}: it leaves both of you about the same chances.",
    _Kind.TRY_THREAT: "Try {moves}: then you threaten to win with {theirs}.",
    _Kind.TRY_BLOCK: "Try {moves}: it stands in the way of their marks.",
    _Kind.TRY_ROW: "Try {moves}: it goes with marks of yours that nobody has blocked.",
    _Kind.TRY_LINES: "Try {moves}: many lines go through it.",
    _Kind.TRY_DRAW: "Try {moves}: it keeps the draw.",
    _Kind.TRY_SEARCH: "Try {moves}: a short look ahead likes it best.",
    _Kind.ONLY_WIN: "{moves} wins {plies}; no other move wins.",
    _Kind.ONLY_DRAW: "{moves} holds the draw; every other move loses.",
    _Kind.NOTHING: "No move gave anything away that can be proved.",
    _Kind.NOTHING_SEEN: "No move gave anything away that can be seen at a glance.",
    _Kind.COMPLETED_LINE: "you completed a line, and that loses; {moves} did not",
    _Kind.MISSED_WIN: "you could have won at once with {moves}",
    _Kind.MISSED_TWO_THREATS: "{moves} would have won: it makes two threats at once",
    _Kind.UNBLOCKED: "you had to block at {places}: they had {row}",
    _Kind.UNSTOPPED: "you had to play {moves}: they threatened to win at once with {theirs}",
    _Kind.GAVE_WIN: "you let them win at once with {theirs}",
    _Kind.GAVE_WIN_ABOVE: "you let them win with {theirs}, on top of your mark",
    _Kind.GAVE_WIN_BOARD: "you sent them to a board where {theirs} wins the game",
    _Kind.UNSTOPPED_TWO_THREATS: (
        "you had to play {moves}: with {theirs} they make two threats, and only one can be blocked"
    ),
    _Kind.GAVE_TWO_THREATS: "you let them make two threats with {theirs}, and only one can be blocked",
    _Kind.FORK_THERE: (
        "you had to play {moves}: there they make two open rows of {marks}, and only one can be blocked"
    ),
    _Kind.FORK_AT: (
        "you had to play {moves}: with {theirs} they make two open rows of {marks}, and only one can be blocked"
    ),
    _Kind.WIN_TO_LOSS: "you had a win with {moves}; after this they win {plies}",
    _Kind.WIN_TO_DRAW: "you had a win with {moves}; after this it is a draw",
    _Kind.DRAW_TO_LOSS: "{moves} held the draw; after this they win {plies}",
    _Kind.SOONER_LOSS: "they win {plies} instead of {instead}: {moves} held out longer",
    _Kind.SLOWER_WIN: "you win {plies} instead of {instead} with {moves}",
    _Kind.LOST: "after this they win {plies}; {moves} looked better",
    _Kind.HAD_WIN: "you had a win {plies} with {moves}",
    _Kind.LOOKED_WORSE: "{moves} looks better to a search, though nothing is proved",
}


class MarkRow(NamedTuple):
    """Marks that a side has in a line which it threatens to complete."""

    marks: int
    is_run: bool
    """Whether they are neighbours, each of the next."""
    is_open: bool = False
    """Whether the line goes on at both ends."""

    def in_words(self) -> str:
        """Return the marks as a sentence names them: `three in a row with both ends open`."""
        if self.marks < 2:
            return "a line with one mark missing"
        if self.is_run:
            end = " with both ends open" if self.is_open else ""
            return f"{number(self.marks)} in a row{end}"
        return f"{number(self.marks)} in one line{' that is open on both sides' if self.is_open else ''}"


class Explanation(NamedTuple):
    """Why a move is good or bad; moves are written as people write them, and lists have all that are meant."""

    kind: ExplanationKind
    moves: tuple[str, ...] = ()
    """The moves of the player who is spoken to: to be made or avoided, or that were better."""
    theirs: tuple[str, ...] = ()
    """The cells in which the other side does what is told; with `TRY_THREAT`, those that we threaten to win with."""
    row: MarkRow | None = None
    """The marks they have in a line."""
    plies: int | None = None
    """After how many moves the game ends."""
    is_bound: bool = False
    """Whether `plies` is only known to be enough."""
    instead: int | None = None
    """After how many it would have ended."""

    def in_words(self) -> str:
        """Return the sentence or clause of its kind in English."""
        moves, theirs = _in_columns(self.moves) if self.moves else "another move", _in_columns(self.theirs)
        words = _WORDS[self.kind].format(
            moves=moves,
            theirs=theirs,
            places=listed(self.moves),
            row=self.row.in_words() if self.row else f"a win with {theirs}",
            plies="" if self.plies is None else in_moves(self.plies, is_bound=self.is_bound),
            instead=self.instead,
            marks=number(self.row.marks) if self.row else "",
        )
        return f"C{words[1:]}" if words.startswith("column ") and words.endswith(".") else words

    def as_json(self) -> dict[str, Any]:
        """Return the object that programs read, without empty fields; of many moves a few and how many more."""
        row = self.row and {"marks": self.row.marks, "run": self.row.is_run, "open": self.row.is_open}
        found = {
            "kind": self.kind,
            "moves": list(self.moves[:MOST_NAMED]),
            "more": max(0, len(self.moves) - MOST_NAMED),
            "theirs": list(self.theirs[:MOST_NAMED]),
            "more_theirs": max(0, len(self.theirs) - MOST_NAMED),
            "row": row,
            "plies": self.plies,
            "at_most": self.is_bound,
            "instead": self.instead,
        }
        return {name: value for name, value in found.items() if value}


def listed(names: tuple[str, ...], joint: str = "or") -> str:
    """Return names as a sentence has them, a few of many: `a1, b2 or c3`."""
    few = list(names[:MOST_NAMED])
    if len(names) > MOST_NAMED:
        few.append(f"{len(names) - MOST_NAMED} others")
    return f" {joint} ".join(filter(None, (", ".join(few[:-1]), *few[-1:])))


def _in_columns(names: tuple[str, ...]) -> str:
    """Return moves as a sentence has them; where marks fall, they are columns: `column 2 or 3`."""
    return f"column {listed(names)}" if names and all(map(str.isdecimal, names)) else listed(names)


def number(count: int) -> str:
    """Return a small number as a word."""
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def in_moves(plies: int, *, is_bound: bool = False) -> str:
    """Return after how many moves something comes: `in at most 3 moves`."""
    return f"in {'at most ' if is_bound else ''}{plies} move{'s' * (plies != 1)}"


def names_of(game: Game[Any], moves: Sequence[Move]) -> tuple[str, ...]:
    """Return moves as people write them."""
    return tuple(game.move_names[move] for move in moves)


def named(game: Game[Any], moves: Sequence[Move], joint: str = "or") -> str:
    """Return moves as a sentence names them, a few of many: `a1, b2 or c3`."""
    return listed(names_of(game, moves), joint)


def row_of_threat(game: LineGame, stones: int, cell: Move) -> MarkRow:
    """Return what `stones` have in the line that `cell` completes."""
    for line in game.lines_through[cell]:
        marks = line & ~(1 << cell)
        if marks & ~stones == 0:
            return MarkRow(marks.bit_count(), is_run(marks, line))
    raise AssertionError(f"cell {cell} completes no line")


def row_of_double_threat(game: LineGame, stones: int, threat: DoubleThreat) -> MarkRow | None:
    """Return which open row a double threat makes longer, or None if none."""
    after = stones | 1 << threat.move
    completed = [
        line for cell in threat.cells for line in game.lines_through[cell] if line & ~(1 << cell) & ~after == 0
    ]
    by_step, whole = dict[int, int](), dict[int, int]()
    for line in completed:
        step = step_of(line)
        by_step[step] = by_step.get(step, line) & line
        whole[step] = line
    open_rows = [step for step in by_step if sum(step_of(line) == step for line in completed) > 1]
    for step in open_rows:
        marks = by_step[step] & stones
        if marks.bit_count() >= 2:
            return MarkRow(marks.bit_count(), is_run(marks, whole[step]), is_open=True)
    return None


def step_of(line: int) -> int:
    """Return how many cells apart the neighbours of a line are."""
    first, second, *_ = list_cells(line)
    return second - first


def is_run(marks: int, line: int) -> bool:
    """Tell whether marks in a line are neighbours in it, each of the next."""
    step = step_of(line)
    return all(after - before == step for before, after in pairwise(list_cells(marks)))
