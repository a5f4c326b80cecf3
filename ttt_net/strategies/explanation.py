"""Explain a move and its mistake: the kinds of reasons, the cells that each one names, and its sentence in English.

Mistakes that a beginner could have seen come before those that only a search finds.
"""

from collections.abc import Sequence
from enum import IntEnum, StrEnum
from itertools import combinations, pairwise
from typing import Any, NamedTuple

from ttt_net.games import Game, Move, Side
from ttt_net.games.geometry import list_cells
from ttt_net.games.line import LineGame, LineState
from ttt_net.games.ultimate import ANY, UltimateGame, UltimateState
from ttt_net.games.vanishing import VanishingGame
from ttt_net.games.wild import WildGame
from ttt_net.strategies.analysis import Verdict
from ttt_net.strategies.heuristic import (
    board_of,
    boards_that_win,
    cells_that_win_boards,
    is_line_game,
    lines_of_board,
    own_and_other,
)
from ttt_net.strategies.sight import (
    LOSS_IN_2,
    LOSS_IN_4,
    WIN_IN_1,
    WIN_IN_3,
    DoubleThreat,
    Sight,
    is_fork,
    look,
    makes_two_rows,
)
from ttt_net.strategies.strategy import S, beneath, may_swap

MOST_NAMED = 4
"""The maximal number of moves that a sentence names."""

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


class ExplanationKind(StrEnum):
    """The kinds of reasons; each has one sentence, or one clause about "you" who made a move and "they" who answer."""

    WIN_NOW = "win_now"
    CANNOT_STOP = "cannot_stop"
    VANISHES_NOW = "vanishes_now"
    NO_SAFE_MOVE = "no_safe_move"
    MUST_BLOCK = "must_block"
    TWO_THREATS = "two_threats"
    MAKES_TWO_THREATS = "makes_two_threats"
    MAKES_VANISH = "makes_vanish"
    MAKES_STACK = "makes_stack"
    MAKES_ZUGZWANG = "makes_zugzwang"
    MAKES_NO_SAFE_MOVE = "makes_no_safe_move"
    MAKES_OWN_LINE = "makes_own_line"
    MAKES_SENT = "makes_sent"
    SHOULD_PLAY = "should_play"
    SHOULD_BLOCK = "should_block"
    AVOID = "avoid"
    THEY_THREATEN = "they_threaten"
    THEY_THREATEN_ROW = "they_threaten_row"
    BEWARE = "beware"
    BEWARE_ROW = "beware_row"
    THEY_WIN_NOW = "they_win_now"
    THEY_TWO_THREATS = "they_two_threats"
    LOSING = "losing"
    WINNING = "winning"
    WINNING_IN = "winning_in"
    TRY_EVEN = "try_even"
    TRY_THREAT = "try_threat"
    TRY_BLOCK = "try_block"
    TRY_ROW = "try_row"
    TRY_LINES = "try_lines"
    TRY_BOARD = "try_board"
    TRY_TWO_WAYS = "try_two_ways"
    TRY_STOP_BOARD = "try_stop_board"
    TRY_STOP_GAME = "try_stop_game"
    TRY_SENT = "try_sent"
    TRY_CENTRE_BOARD = "try_centre_board"
    TRY_DRAW = "try_draw"
    TRY_SEARCH = "try_search"
    ONLY_WIN = "only_win"
    ONLY_DRAW = "only_draw"
    SAVE_TWO_THREATS = "save_two_threats"
    SAVE_VANISH = "save_vanish"
    SAVE_OWN_LINE = "save_own_line"
    SAVE_NO_SAFE_MOVE = "save_no_safe_move"
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
    GAVE_WIN_ANYBODY = "gave_win_anybody"
    UNSTOPPED_TWO_THREATS = "unstopped_two_threats"
    GAVE_TWO_THREATS = "gave_two_threats"
    FORK_THERE = "fork_there"
    FORK_AT = "fork_at"
    WIN_TO_LOSS = "win_to_loss"
    WIN_TO_DRAW = "win_to_draw"
    DRAW_TO_LOSS = "draw_to_loss"
    SOONER_LOSS = "sooner_loss"
    SLOWER_WIN = "slower_win"
    DRAW_TO_TWO_THREATS = "draw_to_two_threats"
    TO_TWO_THREATS = "to_two_threats"
    TO_STACK = "to_stack"
    TO_ZUGZWANG = "to_zugzwang"
    TO_NO_SAFE_MOVE = "to_no_safe_move"
    TO_OWN_LINE = "to_own_line"
    TO_SENT = "to_sent"
    TO_VANISHED = "to_vanished"
    LOST = "lost"
    TO_THREATS = "to_threats"
    HAD_WIN = "had_win"
    MISSED_BOARD = "missed_board"
    GAVE_BOARD = "gave_board"
    GAVE_CHOICE = "gave_choice"
    LOOKED_WORSE = "looked_worse"


_Kind = ExplanationKind
_WORDS = {
    _Kind.WIN_NOW: "You can win at once with {moves}.",
    _Kind.CANNOT_STOP: "They have {row}, and you cannot stop every way to win.",
    _Kind.VANISHES_NOW: "Your mark at {theirs} vanishes with your next move, and they win there: they have {row}.",
    _Kind.NO_SAFE_MOVE: "No move is safe: after {moves} they win at once with {theirs}.",
    _Kind.MUST_BLOCK: "You have to play {moves}: they have {row}.",
    _Kind.TWO_THREATS: "Play {moves}: two threats, only one can be blocked.",
    _Kind.MAKES_TWO_THREATS: "Play {moves}: you reach two threats at once with {theirs}.",
    _Kind.MAKES_VANISH: "Play {moves}: their mark at {theirs} will have to vanish, and you win there.",
    _Kind.MAKES_STACK: "Play {moves}: you get two wins in {theirs}, one above the other; they block only the lower.",
    _Kind.MAKES_ZUGZWANG: "Play {moves}: they run out of safe moves and must play {theirs}, and you win on top.",
    _Kind.MAKES_NO_SAFE_MOVE: "Play {moves}: they run out of safe moves, and the last one lets you win.",
    _Kind.MAKES_OWN_LINE: "Play {moves}: they run out of safe moves and must complete a line.",
    _Kind.MAKES_SENT: "Play {moves}: in the end they are sent to a board where every move lets you win.",
    _Kind.SHOULD_PLAY: "Play {moves}, or they make two threats there, and only one can be blocked.",
    _Kind.SHOULD_BLOCK: "Play {moves}: they have {row}.",
    _Kind.AVOID: "Do not play {moves}: that lets them win.",
    _Kind.THEY_THREATEN: "They threaten to win with {theirs}.",
    _Kind.THEY_THREATEN_ROW: "They can win {plies} by one threat after another, {theirs} first.",
    _Kind.BEWARE: "Beware of {theirs}: two threats, only one can be blocked.",
    _Kind.BEWARE_ROW: "Beware of {theirs}: they have {row}.",
    _Kind.THEY_WIN_NOW: "They can win at once with {theirs}.",
    _Kind.THEY_TWO_THREATS: "They can make two threats at once with {theirs}.",
    _Kind.LOSING: "They can win whatever you do; {moves} holds out longest.",
    _Kind.WINNING: "Play {moves}: you can win with it.",
    _Kind.WINNING_IN: "Play {moves}: you can win with it, {plies}.",
    _Kind.TRY_EVEN: "Try {moves}: it leaves both of you about the same chances.",
    _Kind.TRY_THREAT: "Try {moves}: then you threaten to win with {theirs}.",
    _Kind.TRY_BLOCK: "Try {moves}: it stands in the way of their marks.",
    _Kind.TRY_ROW: "Try {moves}: it goes with marks of yours that nobody has blocked.",
    _Kind.TRY_LINES: "Try {moves}: many lines go through it.",
    _Kind.TRY_BOARD: "Try {moves}: it wins a small board.",
    _Kind.TRY_TWO_WAYS: "Try {moves}: then you have two ways to win that small board.",
    _Kind.TRY_STOP_BOARD: "Try {moves}: it stops them from winning that small board.",
    _Kind.TRY_STOP_GAME: "Try {moves}: it stops them from winning that small board, and the game with it.",
    _Kind.TRY_SENT: "Try {moves}: it sends them to a board that they cannot win yet.",
    _Kind.TRY_CENTRE_BOARD: "Try {moves}: more lines go through the centre board than through any other.",
    _Kind.TRY_DRAW: "Try {moves}: it keeps the draw.",
    _Kind.TRY_SEARCH: "Try {moves}: it looks best a few moves ahead.",
    _Kind.ONLY_WIN: "{moves} wins {plies}; no other move wins.",
    _Kind.ONLY_DRAW: "{moves} holds the draw; every other move loses.",
    _Kind.SAVE_TWO_THREATS: "{moves} holds the draw; after every other move they reach two threats at once.",
    _Kind.SAVE_VANISH: (
        "{moves} holds the draw; after every other move a mark of yours has to vanish, and they win there."
    ),
    _Kind.SAVE_OWN_LINE: (
        "{moves} holds the draw; after every other move you run out of safe moves and must complete a line."
    ),
    _Kind.SAVE_NO_SAFE_MOVE: (
        "{moves} holds the draw; after every other move they win at once, or you run out of safe moves."
    ),
    _Kind.NOTHING: "No clear mistake was found.",
    _Kind.NOTHING_SEEN: "No clear mistake can be seen at a glance.",
    _Kind.COMPLETED_LINE: "you completed a line, and that loses; {moves} did not",
    _Kind.MISSED_WIN: "you could have won at once with {moves}",
    _Kind.MISSED_TWO_THREATS: "{moves} would have won: it makes two threats at once",
    _Kind.UNBLOCKED: "you had to block at {moves}: they had {row}",
    _Kind.UNSTOPPED: "you had to play {moves}: they threatened to win at once with {theirs}",
    _Kind.GAVE_WIN: "you let them win at once with {theirs}; {moves} was better",
    _Kind.GAVE_WIN_ABOVE: "you let them win with {theirs}, on top of your mark; {moves} was better",
    _Kind.GAVE_WIN_BOARD: "you sent them to a board where {theirs} wins the game; {moves} was better",
    _Kind.GAVE_WIN_ANYBODY: (
        "you left {row} for anybody to complete: they win at once with {theirs}; {moves} was better"
    ),
    _Kind.UNSTOPPED_TWO_THREATS: (
        "you had to play {moves}: with {theirs} they make two threats, and only one can be blocked"
    ),
    _Kind.GAVE_TWO_THREATS: (
        "you let them make two threats with {theirs}, and only one can be blocked; {moves} was better"
    ),
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
    _Kind.DRAW_TO_TWO_THREATS: "{moves} held the draw; after this they reach two threats at once with {theirs}",
    _Kind.TO_TWO_THREATS: "{moves} was better: after this they reach two threats at once with {theirs}",
    _Kind.TO_STACK: (
        "{moves} was better: now they get two wins in {theirs}, one above the other, and you block only the lower"
    ),
    _Kind.TO_ZUGZWANG: (
        "{moves} was better: now you run out of safe moves and must play {theirs}, and they win on top"
    ),
    _Kind.TO_NO_SAFE_MOVE: "{moves} was better: now you run out of safe moves, and the last one lets them win",
    _Kind.TO_OWN_LINE: "{moves} was better: now you run out of safe moves and must complete a line",
    _Kind.TO_SENT: "{moves} was better: now in the end you are sent to a board where every move lets them win",
    _Kind.TO_VANISHED: "{moves} was better: now your mark at {theirs} will have to vanish, and they win there",
    _Kind.LOST: "after this they win {plies}; {moves} looked better",
    _Kind.TO_THREATS: "after this they win {plies} by one threat after another, {theirs} first; {moves} looked better",
    _Kind.HAD_WIN: "you had a win {plies} with {moves}",
    _Kind.MISSED_BOARD: "{moves} would have won a small board",
    _Kind.GAVE_BOARD: "you sent them to a board that they win with {theirs}; {moves} was probably better",
    _Kind.GAVE_CHOICE: "you let them play in any board; {moves} was probably better",
    _Kind.LOOKED_WORSE: "{moves} was probably better",
}


ENDS = frozenset(
    {
        _Kind.TO_TWO_THREATS,
        _Kind.DRAW_TO_TWO_THREATS,
        _Kind.TO_STACK,
        _Kind.TO_ZUGZWANG,
        _Kind.TO_NO_SAFE_MOVE,
        _Kind.TO_OWN_LINE,
        _Kind.TO_SENT,
        _Kind.TO_VANISHED,
    }
)
"""The kinds that name what happens at the end of the play that follows."""


class MarkRow(NamedTuple):
    """Marks that a side has in a line which it threatens to complete."""

    marks: int
    is_run: bool
    """Whether they are adjacent."""
    is_open: bool = False
    """Whether the line continues at both ends."""
    cells: tuple[int, ...] = ()
    """Where the marks are."""

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
    """The moves of the addressed player: to make, to avoid, or that were better."""
    theirs: tuple[str, ...] = ()
    """The cells of the other side's moves; with `TRY_THREAT`, those that we threaten to win with."""
    row: MarkRow | None = None
    """The marks they have in a line."""
    plies: int | None = None
    """The plies to the end of the game, the move in question included; sentences name the winner's moves among them."""
    is_bound: bool = False
    """Whether `plies` is only an upper bound."""
    instead: int | None = None
    """The plies to the end otherwise."""

    def in_words(self) -> str:
        """Return the sentence or clause of its kind in English."""
        moves, theirs = _in_columns(self.moves) if self.moves else "another move", _in_columns(self.theirs)
        words = _WORDS[self.kind].format(
            moves=moves,
            theirs=theirs,
            row=self.row.in_words() if self.row else f"a win with {theirs}",
            plies="" if self.plies is None else in_moves(self.plies, is_bound=self.is_bound),
            instead="" if self.instead is None else winners_moves(self.instead),
            marks=number(self.row.marks) if self.row else "",
        )
        return f"C{words[1:]}" if words.startswith("column ") and words.endswith(".") else words

    def as_json(self) -> dict[str, Any]:
        """Return the object for programs, without empty fields; of many moves, a few and the number of others."""
        row = self.row and {
            "marks": self.row.marks,
            "run": self.row.is_run,
            "open": self.row.is_open,
            "cells": list(self.row.cells),
        }
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


def listed(names: tuple[str, ...]) -> str:
    """Return names as a sentence has them, a few of many: `a1, b2 or c3`."""
    few = list(names[:MOST_NAMED])
    if len(names) > MOST_NAMED:
        others = len(names) - MOST_NAMED
        few.append(f"{others} other{'s' * (others > 1)}")
    return " or ".join(filter(None, (", ".join(few[:-1]), *few[-1:])))


def _in_columns(names: tuple[str, ...]) -> str:
    """Return moves as a sentence has them; where marks fall, they are columns: `column 2 or 3`."""
    return f"column {listed(names)}" if names and all(map(str.isdecimal, names)) else listed(names)


def number(count: int) -> str:
    """Return a small number as a word."""
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def winners_moves(plies: int) -> int:
    """Return how many of the plies to the end are the winner's, who makes the last one."""
    return (plies + 1) // 2


def in_moves(plies: int, *, is_bound: bool = False) -> str:
    """Return when a side wins, in moves of its own: `in at most 3 moves`."""
    moves = winners_moves(plies)
    return f"in {'at most ' if is_bound else ''}{moves} move{'s' * (moves != 1)}"


def names_of(game: Game[Any], moves: Sequence[Move]) -> tuple[str, ...]:
    """Return moves as people write them."""
    return tuple(game.move_names[move] for move in moves)


def named(game: Game[Any], moves: Sequence[Move]) -> str:
    """Return moves as a sentence names them, a few of many: `a1, b2 or c3`."""
    return listed(names_of(game, moves))


def row_of_threat(game: LineGame, stones: int, cell: Move) -> MarkRow:
    """Return what `stones` have in the line that `cell` completes."""
    for line in game.lines_through[cell]:
        marks = line & ~(1 << cell)
        if marks & ~stones == 0:
            return MarkRow(marks.bit_count(), is_run(marks, line), cells=list_cells(marks))
    raise AssertionError(f"cell {cell} completes no line")


def completes(game: LineGame, stones: int, cell: Move) -> bool:
    """Tell whether `stones` lack only one cell of some line."""
    return any(not line & ~(1 << cell) & ~stones for line in game.lines_through[cell])


def row_to_complete(game: Game[S], state: S, move: Move) -> MarkRow | None:
    """Return the marks of the line that a move of the side to move completes; None in games without lines of cells."""
    inner, _ = beneath(game, state)
    if not isinstance(inner, LineGame | VanishingGame):
        return None
    cell, ended = inner.move_cells[move], set(game.line(game.result(state, move)))
    for line in inner.lines:
        marks = line & ~(1 << cell)
        if line >> cell & 1 and ended.issuperset(list_cells(line)):
            return MarkRow(marks.bit_count(), is_run(marks, line), cells=list_cells(marks))
    return None


def row_of_reply(game: Game[S], state: S, reply: Move) -> MarkRow | None:
    """Return the marks of the line that the other side completes with `reply` after the move of the side to move.

    None if no move allows that.
    """
    for move in game.actions(state):
        after = game.result(state, move)
        if (
            not game.is_terminal(after)
            and reply in game.actions(after)
            and (row := row_to_complete(game, after, reply))
        ):
            return row
    return None


def row_of_double_threat(game: LineGame, stones: int, threat: DoubleThreat) -> MarkRow | None:
    """Return which open row a double threat makes longer, or None if none."""
    after = stones | 1 << threat.move
    completed = [
        (cell, line) for cell in threat.cells for line in game.lines_through[cell] if line & ~(1 << cell) & ~after == 0
    ]
    rows = [
        (line & another & stones, line)
        for (cell, line), (other, another) in combinations(completed, 2)
        if cell != other and step_of(line) == step_of(another)
    ]
    marks, line = max(rows, key=lambda row: row[0].bit_count(), default=(0, 0))
    if marks.bit_count() < 2:
        return None
    return MarkRow(marks.bit_count(), is_run(marks, line), is_open=True, cells=list_cells(marks))


def step_of(line: int) -> int:
    """Return how many cells apart the neighbours of a line are."""
    first, second, *_ = list_cells(line)
    return second - first


def is_run(marks: int, line: int) -> bool:
    """Tell whether marks in a line are adjacent in it."""
    step = step_of(line)
    return all(after - before == step for before, after in pairwise(list_cells(marks)))


class Kind(IntEnum):
    """The kinds of mistakes, the easiest to see first."""

    OVERLOOKED_WIN = 1
    """There was an immediate win."""
    UNBLOCKED = 2
    """The other side threatened to win with its next move, and still does."""
    GAVE_WIN = 3
    """The move itself lets the other side win immediately."""
    ALLOWED_DOUBLE = 4
    """The other side can make two threats at once, and that could have been stopped."""
    OVERLOOKED_DOUBLE = 5
    """Two threats at once would have won."""
    ALLOWED_FORK = 6
    """The other side can make two open rows at once, each of which grows into two threats."""
    SEARCHED = 7
    """Only a search finds it."""


class Mistake(NamedTuple):
    """The mistake of a move, and its reason."""

    kind: Kind
    better: tuple[Move, ...]
    why: Explanation
    line: tuple[Move, ...] = ()
    """The continuation: the other side's moves and the answers, in turn."""

    @property
    def reason(self) -> str:
        """The explanation as a clause about "you" who made the move and "they" who answer."""
        return self.why.in_words()


def seen_mistake(game: Game[S], state: S, move: Move, sight: Sight, sound: tuple[Move, ...]) -> Mistake | None:
    """Return the mistake of a move that a beginner could have seen, or None.

    `sound` are the moves known to be as good as the best.
    """
    value = sight.value(move)
    if value == WIN_IN_1:
        return None
    if _loses_at_once(game, state, move):
        return _completed_line(game, state, move, sound)
    if sight.wins:
        row = row_to_complete(game, state, sight.wins[0])
        why = Explanation(ExplanationKind.MISSED_WIN, names_of(game, sight.wins), row=row)
        return Mistake(Kind.OVERLOOKED_WIN, sight.wins, why)
    holding = tuple(other for other in sound if sight.value(other) > LOSS_IN_4)
    later = tuple(other for other in sound or game.actions(state) if sight.value(other) > LOSS_IN_2)
    sound = holding or (later if value == LOSS_IN_2 else ())
    line = sight.replies.get(move, ())
    if value == LOSS_IN_2 and sound:
        if line[0] in sight.threats:
            return Mistake(Kind.UNBLOCKED, sound, unblocked(game, state, sound, sight), line[:1])
        return Mistake(Kind.GAVE_WIN, sound, gave_win(game, state, move, sound, line), line[:1])
    if value == LOSS_IN_4 and sound:
        stops = _stops(game, state, sound, sight)
        if stops:
            return Mistake(Kind.ALLOWED_DOUBLE, stops, allowed_double(game, state, move, stops, sight), line)
    return _overlooked_double(game, sight) if sight.double_threats and value != WIN_IN_3 else None


def _stops(game: Game[S], state: S, sound: tuple[Move, ...], sight: Sight) -> tuple[Move, ...]:
    """Return the sound moves that stop their double threats: those in the lines, where other moves only delay."""
    around = {cell for each in sight.their_double_threats for cell in (each.move, *each.cells)}
    stops = tuple(other for other in sound if other in around)
    return stops if stops or _has_open_rows(game, state) else sound


def _has_open_rows(game: Game[S], state: S) -> bool:
    """Tell whether it is five in a row on a flat board, where a double threat is answered by a mark in its lines."""
    inner, _ = beneath(game, state)
    return is_line_game(inner) and inner.k >= 5 and len(inner.shape) == 2 and not inner.gravity


def _completed_line(game: Game[S], state: S, move: Move, sound: tuple[Move, ...]) -> Mistake | None:
    """Return the mistake of completing a line where that loses; None if every move does."""
    others = tuple(other for other in game.actions(state) if not _loses_at_once(game, state, other))
    best = tuple(other for other in others if other in sound) or others
    why = Explanation(ExplanationKind.COMPLETED_LINE, names_of(game, best), row=row_to_complete(game, state, move))
    return Mistake(Kind.GAVE_WIN, best, why) if best else None


def _overlooked_double(game: Game[S], sight: Sight) -> Mistake:
    """Return the mistake of not making two threats at once."""
    best = tuple(each.move for each in sight.double_threats)
    why = Explanation(ExplanationKind.MISSED_TWO_THREATS, names_of(game, best))
    return Mistake(Kind.OVERLOOKED_DOUBLE, best, why, sight.double_threats[0].line[1:] if len(best) == 1 else ())


def as_played(game: Game[S], state: S, move: Move, mistake: Mistake, sight: Sight, reply: Move) -> Mistake:
    """Return a mistake with the other side's reply in the match as what follows, where it won as soon."""
    value = sight.value(move)
    if mistake.kind not in (Kind.UNBLOCKED, Kind.GAVE_WIN, Kind.ALLOWED_DOUBLE) or reply in mistake.line[:1]:
        return mistake
    if value == LOSS_IN_2 and reply in sight.replies.get(move, ()):
        return mistake._replace(line=(reply,))
    if value == LOSS_IN_4:
        for threat in look(game, game.result(state, move)).double_threats:
            if threat.move == reply:
                return mistake._replace(line=threat.line)
    return mistake


def allowed_fork(
    game: Game[S], state: S, move: Move, line: tuple[Move, ...], better: tuple[Move, ...]
) -> Mistake | None:
    """Return that a move let the other side make two open rows at once, if what follows begins so; else None.

    The same is said of an open row and a four if `line` is a play that wins, and not the reply alone.

    `line` is what follows, `better` the moves that a search holds to be better; without one it is the same cell.
    """
    inner, position = beneath(game, state)
    if may_swap(state) or not line or not is_line_game(inner) or not isinstance(position, LineState):
        return None
    there, best = line[:1], better or line[:1]
    if not is_fork(inner, position, move, line[0]):
        after = inner.result(position, move)
        if len(line) == 1 or line[0] not in inner.actions(after) or not makes_two_rows(inner, after, line[0]):
            return None
        why = Explanation(ExplanationKind.GAVE_TWO_THREATS, names_of(game, better), names_of(game, there))
        return Mistake(Kind.ALLOWED_FORK, best, why, line)
    kind = ExplanationKind.FORK_THERE if best == there else ExplanationKind.FORK_AT
    row = MarkRow(inner.k - 2, is_run=True, is_open=True)
    why = Explanation(kind, names_of(game, best), names_of(game, there), row)
    return Mistake(Kind.ALLOWED_FORK, best, why, line)


def _loses_at_once(game: Game[S], state: S, move: Move) -> bool:
    """Tell whether a move ends the game for the other side to have won, as a line does in misère."""
    outcome = game.outcome(game.result(state, move))
    return outcome is not None and outcome.winner not in (None, game.to_move(state))


def unblocked(game: Game[S], state: S, sound: tuple[Move, ...], sight: Sight) -> Explanation:
    """Return why a threat had to be stopped, and where."""
    inner, position = beneath(game, state)
    names, theirs = names_of(game, sound), names_of(game, sight.threats)
    if is_line_game(inner) and isinstance(position, LineState):
        row = row_of_threat(inner, own_and_other(position)[1], sight.threats[0])
        return Explanation(ExplanationKind.UNBLOCKED, names, theirs, row)
    if isinstance(inner, VanishingGame) and (seen := row_of_reply(game, state, sight.threats[0])):
        return Explanation(ExplanationKind.UNBLOCKED, names, theirs, seen)
    return Explanation(ExplanationKind.UNSTOPPED, names, theirs)


def gave_win(game: Game[S], state: S, move: Move, sound: tuple[Move, ...], replies: tuple[Move, ...]) -> Explanation:
    """Return how a move has allowed the other side to win at once with any of `replies`, and `sound` moves did not."""
    inner, position = beneath(game, state)
    reply, names, theirs = replies[0], names_of(game, sound), names_of(game, replies)
    if is_line_game(inner) and isinstance(position, LineState):
        row = row_of_threat(inner, own_and_other(position)[1], reply)
        is_above = inner.gravity and replies == (move - inner.fall,)
        kind = ExplanationKind.GAVE_WIN_ABOVE if is_above else ExplanationKind.GAVE_WIN
        return Explanation(kind, names, theirs, row)
    if isinstance(inner, UltimateGame):
        return Explanation(ExplanationKind.GAVE_WIN_BOARD, names, theirs)
    completed = row_to_complete(game, game.result(state, move), reply)
    kind = ExplanationKind.GAVE_WIN_ANYBODY if isinstance(inner, WildGame) else ExplanationKind.GAVE_WIN
    return Explanation(kind, names, theirs, completed)


def allowed_double(game: Game[S], state: S, move: Move, sound: tuple[Move, ...], sight: Sight) -> Explanation:
    """Return which double threat had to be stopped, and where."""
    inner, position = beneath(game, state)
    assert is_line_game(inner)
    assert isinstance(position, LineState)
    _, other = own_and_other(position)
    names, theirs = names_of(game, sound), names_of(game, sight.replies[move][:1])
    for threat in sight.their_double_threats:
        if row := row_of_double_threat(inner, other, threat):
            return Explanation(ExplanationKind.UNBLOCKED, names, theirs, row)
    if sight.their_double_threats and len(sound) <= len(tuple(game.actions(state))) // 2:
        return Explanation(ExplanationKind.UNSTOPPED_TWO_THREATS, names, theirs)
    return Explanation(ExplanationKind.GAVE_TWO_THREATS, names, theirs)


def forced_end(game: Game[S], state: S, move: Move, mistake: Mistake) -> Mistake | None:
    """Return a mistake that lost a draw or a win, with what best play leads to after it; None if that has no name."""
    inner, position = beneath(game, state)
    if mistake.why.kind not in _TURNS or may_swap(state):
        return None
    after, is_open = inner.result(position, move), mistake.why.kind is ExplanationKind.LOST
    why = end_of_play(inner, after, mistake.line, inner.to_move(position))
    if why is None:
        return _by_threats(inner, after, mistake) if is_open else None
    line = mistake.line
    if why.kind is ExplanationKind.TO_TWO_THREATS:
        line = line[: names_of(game, line).index(why.theirs[0]) + 1]
        if is_open and len(line) > MOST_TO_END:
            return _by_threats(inner, after, mistake)
        if mistake.why.kind is ExplanationKind.DRAW_TO_LOSS:
            why = why._replace(kind=ExplanationKind.DRAW_TO_TWO_THREATS)
    return mistake._replace(why=why._replace(moves=mistake.why.moves), line=line)


def _by_threats(game: Game[S], state: S, mistake: Mistake) -> Mistake | None:
    """Return a mistake with the reason that each move of the winner's play threatens to win; None if one does not."""
    at, loser, has_rows = state, 1 - game.to_move(state), bool(is_line_game(game))
    if not has_rows:
        return None
    for made in mistake.line:
        if game.to_move(at) == loser:
            sight = look(game, at)
            if not (sight.threats or sight.their_double_threats):
                return None
        at = game.result(at, made)
    theirs = names_of(game, mistake.line[:1])
    return mistake._replace(why=mistake.why._replace(kind=ExplanationKind.TO_THREATS, theirs=theirs))


_TURNS = (ExplanationKind.DRAW_TO_LOSS, ExplanationKind.WIN_TO_LOSS, ExplanationKind.LOST)
"""The kinds that say no more than who wins now."""
MOST_TO_END = 9
"""The number of moves of a continuation that is shown to its end, where the lesson names what happens there."""
FAR = 12
"""A loss this many plies away is too far for a person to see."""


def end_of_play(
    game: Game[S], state: S, line: tuple[Move, ...], loser: Side, *, is_shown: bool = False
) -> Explanation | None:
    """Return why `loser` has lost after a play of best moves; None if it is not played to the end, or has no name.

    That is two threats at once, or else a position in which no move helps: a mark has to vanish, or every move gives
    the match away. Far from the end it is told only if the marks that decide are there already, or if the whole play
    is shown.
    """
    at, last, has_rows = state, None, bool(is_line_game(game))
    for number, made in enumerate(line):
        if game.is_terminal(at):
            return None
        if game.to_move(at) == loser:
            last = (at, line[number:])
            if has_rows and number and len(look(game, at).threats) > 1:
                return Explanation(ExplanationKind.TO_TWO_THREATS, (), names_of(game, line[number - 1 : number]))
        elif has_rows and any(made == threat.move for threat in look(game, at).double_threats):
            return Explanation(ExplanationKind.TO_TWO_THREATS, (), names_of(game, (made,)))
        at = game.result(at, made)
    if last is None or not game.is_terminal(at) or game.utility(at, loser) >= 0:
        return None
    why = _helpless(game, state, *last, is_shown=is_shown)
    return why if why is None or why.row or is_shown or len(line) < FAR else None


WINNERS_ENDS = {
    ExplanationKind.TO_TWO_THREATS: ExplanationKind.MAKES_TWO_THREATS,
    ExplanationKind.TO_VANISHED: ExplanationKind.MAKES_VANISH,
    ExplanationKind.TO_STACK: ExplanationKind.MAKES_STACK,
    ExplanationKind.TO_ZUGZWANG: ExplanationKind.MAKES_ZUGZWANG,
    ExplanationKind.TO_NO_SAFE_MOVE: ExplanationKind.MAKES_NO_SAFE_MOVE,
    ExplanationKind.TO_OWN_LINE: ExplanationKind.MAKES_OWN_LINE,
    ExplanationKind.TO_SENT: ExplanationKind.MAKES_SENT,
}
"""Names for the winner of the ends of best play."""


def winning_end(
    game: Game[S], state: S, move: Move, line: tuple[Move, ...], *, is_shown: bool = False
) -> Explanation | None:
    """Return how best play wins in the end after a move; None if that has no name.

    `line` is the play after the move. Two threats at once are told if they are near, or if the whole play is shown.
    """
    after, loser, has_rows = game.result(state, move), 1 - game.to_move(state), bool(is_line_game(game))
    if has_rows and not game.is_terminal(after) and len(look(game, after).threats) > 1:
        return Explanation(ExplanationKind.TWO_THREATS, names_of(game, (move,)))
    end = end_of_play(game, after, line, loser, is_shown=is_shown)
    if end is None or end.kind not in WINNERS_ENDS:
        return None
    if end.kind is ExplanationKind.TO_TWO_THREATS and len(line) > FAR and not is_shown:
        return None
    return end._replace(kind=WINNERS_ENDS[end.kind], moves=names_of(game, (move,)))


def _helpless(game: Game[S], before: S, state: S, line: tuple[Move, ...], *, is_shown: bool) -> Explanation | None:
    """Return why no move helps in a position; None if that has no name.

    `line` is the last move and the win. `before` is an earlier position, in which a row that is named must be visible.
    A column that has to be played is named only with such a row, or if the whole play is shown.
    """
    if (cell := vanishing_cell(game, state)) is not None:
        return Explanation(ExplanationKind.TO_VANISHED, (), names_of(game, (cell,))) if cell in line[1:] else None
    moves = tuple(game.actions(state))
    if all(_loses_at_once(game, state, move) for move in moves):
        return Explanation(ExplanationKind.TO_OWN_LINE)
    sight = look(game, state)
    if any(sight.value(move) != LOSS_IN_2 for move in moves):
        return None
    if isinstance(game, UltimateGame) and isinstance(state, UltimateState) and state.target != ANY:
        return Explanation(ExplanationKind.TO_SENT)
    if isinstance(game, WildGame | UltimateGame):
        return Explanation(ExplanationKind.TO_NO_SAFE_MOVE)
    if not is_line_game(game) or not game.gravity or len(sight.threats) > 1:
        return None
    assert isinstance(before, LineState)
    assert isinstance(state, LineState)
    return _helpless_columns(game, before, state, line, sight, is_shown=is_shown)


def _helpless_columns(
    game: LineGame, before: LineState, state: LineState, line: tuple[Move, ...], sight: Sight, *, is_shown: bool
) -> Explanation | None:
    """Return why no move helps where marks fall; see `_helpless`."""
    winner = 1 - game.to_move(state)
    if sight.threats:
        above = sight.threats[0] - game.fall
        is_stack = 0 <= above < game.size and completes(game, _marks_of(state, winner), above)
        return Explanation(ExplanationKind.TO_STACK, (), names_of(game, sight.threats)) if is_stack else None
    made, reply = line
    stones = _marks_of(before, winner)
    has_row = completes(game, stones, reply)
    if reply == made - game.fall and (has_row or is_shown):
        row = row_of_threat(game, stones, reply) if has_row else None
        return Explanation(ExplanationKind.TO_ZUGZWANG, (), names_of(game, (made,)), row)
    return Explanation(ExplanationKind.TO_NO_SAFE_MOVE)


def _marks_of(state: LineState, side: Side) -> int:
    return state.second if side else state.first


def vanishing_cell(game: Game[S], state: S) -> Move | None:
    """Return the cell of the mark of the side to move that vanishes with its next move; None if none does."""
    return game.special(state).vanishing


def searched_mistake(game: Game[Any], was: Verdict, could: Verdict, best: tuple[Move, ...]) -> Mistake | None:
    """Return the mistake of a move that a search has found; None if it gave nothing away as far as known."""
    why = _searched(was, could, names_of(game, best))
    if why is None:
        return None
    return Mistake(Kind.SEARCHED, best, why, () if why.kind is ExplanationKind.SLOWER_WIN else was.line[1:])


def _searched(was: Verdict, could: Verdict, names: tuple[str, ...]) -> Explanation | None:
    """Return why a move was worse than the best ones, as far as a search has found it."""
    after = Explanation(ExplanationKind.LOST, names, plies=was.plies, is_bound=not was.exact)
    if was.result is not None and could.result is not None:
        if was.result < could.result:
            if was.result == 0:
                return Explanation(ExplanationKind.WIN_TO_DRAW, names)
            return after._replace(
                kind=ExplanationKind.WIN_TO_LOSS if could.result == 1 else ExplanationKind.DRAW_TO_LOSS
            )
        if was.plies is None or could.plies is None or was.result > could.result or was.plies == could.plies:
            return None
        if was.result == -1 and was.plies < could.plies:
            return after._replace(kind=ExplanationKind.SOONER_LOSS, instead=could.plies)
        if was.result == 1 and was.plies > could.plies and was.exact and could.exact:
            return after._replace(kind=ExplanationKind.SLOWER_WIN, instead=could.plies)
        return None
    if was.result == -1:
        return after
    if could.result == 1:
        return Explanation(ExplanationKind.HAD_WIN, names, plies=could.plies, is_bound=not could.exact)
    return Explanation(ExplanationKind.LOOKED_WORSE, names) if drop_of(was, could) >= SMALL_DROP else None


def merit_of_boards(game: UltimateGame, state: UltimateState, move: Move) -> Explanation | None:
    """Return what a move of ultimate does for or against a small board; None if that has no name."""
    names, side, bit = names_of(game, (move,)), game.to_move(state), 1 << move
    if cells_that_win_boards(state, side) & bit:
        return Explanation(ExplanationKind.TRY_BOARD, names, row=_row_in_board(state, side, move))
    after = game.result(state, move)
    ways = cells_that_win_boards(after, side) & ~cells_that_win_boards(state, side)
    if ways & (ways - 1):
        return Explanation(ExplanationKind.TRY_TWO_WAYS, names, names_of(game, list_cells(ways)))
    still = {board_of(cell) for cell in list_cells(cells_that_win_boards(after, 1 - side))}
    if cells_that_win_boards(state, 1 - side) & bit and board_of(move) not in still:
        is_last = boards_that_win(state, 1 - side) >> board_of(move) & 1
        kind = ExplanationKind.TRY_STOP_GAME if is_last else ExplanationKind.TRY_STOP_BOARD
        return Explanation(kind, names, row=_row_in_board(state, 1 - side, move))
    if _holds_them(game, after) and not all(_holds_them(game, game.result(state, m)) for m in game.actions(state)):
        return Explanation(ExplanationKind.TRY_SENT, names)
    return Explanation(ExplanationKind.TRY_CENTRE_BOARD, names) if board_of(move) == CENTRE else None


CENTRE = 4
"""The small board in the middle."""


def fault_of_boards(game: UltimateGame, state: UltimateState, move: Move, best: tuple[Move, ...]) -> Explanation | None:
    """Return what a move of ultimate left undone or allowed in the small boards, and the best move did not, or None."""
    side, names = game.to_move(state), names_of(game, best)
    ours = cells_that_win_boards(state, side)
    if ours >> best[0] & 1 and not ours >> move & 1:
        row = _row_in_board(state, side, best[0])
        return Explanation(ExplanationKind.MISSED_BOARD, names_of(game, [m for m in best if ours >> m & 1]), row=row)
    after, instead = game.result(state, move), game.result(state, best[0])
    if game.is_terminal(after) or not _holds_them(game, instead):
        return None
    if after.target == ANY:
        return Explanation(ExplanationKind.GAVE_CHOICE, names)
    wins = cells_that_win_boards(after, 1 - side)
    theirs = tuple(reply for reply in game.actions(after) if wins >> reply & 1)
    if not theirs:
        return None
    row = _row_in_board(after, 1 - side, theirs[0])
    return Explanation(ExplanationKind.GAVE_BOARD, names, names_of(game, theirs), row)


def _holds_them(game: UltimateGame, state: UltimateState) -> bool:
    """Tell whether the side to move has to play in a board that it cannot win with its move."""
    wins = cells_that_win_boards(state, game.to_move(state))
    return state.target != ANY and not any(wins >> reply & 1 for reply in game.actions(state))


def _row_in_board(state: UltimateState, side: Side, move: Move) -> MarkRow:
    """Return the marks of the line of a small board that a move of a side completes."""
    own = state.second if side else state.first
    for line in lines_of_board(board_of(move)):
        marks = line & ~(1 << move)
        if line >> move & 1 and not marks & ~own:
            return MarkRow(marks.bit_count(), is_run(marks, line), cells=list_cells(marks))
    raise AssertionError(f"cell {move} completes no line")


SMALL_DROP, LARGE_DROP = 0.25, 0.6
"""The drop of an estimate between -1 and 1 for a doubtful move, and for a mistake."""
_EVEN = 50
"""The estimate, in open lines, that counts as half a win."""


def scaled(verdict: Verdict) -> float:
    """Return a verdict between -1 for a loss and 1 for a win."""
    return float(verdict.result) if verdict.result is not None else verdict.value / (abs(verdict.value) + _EVEN)


def estimate_of(mean: float) -> int:
    """Return the estimate that `scaled` turns into a number between -1 and 1, both excluded."""
    return round(_EVEN * mean / (1 - abs(mean)))


def drop_of(was: Verdict, could: Verdict) -> float:
    """Return the difference between a move and the best one."""
    return scaled(could) - scaled(was)
