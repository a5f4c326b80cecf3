"""Games of other packages: find them by their entry points, and enforce bounds on them.

A package registers under the entry point group `ttt_net.games`: an object that is a `Game`, or an iterable of games.
The guard protects a server from mistakes, not from malice: the host has installed the package.
"""

import contextlib
import logging
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.metadata import entry_points
from math import prod
from types import FrameType
from typing import Any, NamedTuple, TypeVar

from ttt_net.errors import Code, Refusal
from ttt_net.games.game import Annotations, Face, Game, Move, Outcome, Reason, RulePage, Side, Special
from ttt_net.games.notation import read_move
from ttt_net.games.swap import SwapGame

GROUP = "ttt_net.games"
"""The entry point group of games."""
MAX_CELLS = 1024
MAX_MOVES = 4096
MAX_NOTES = 16
MAX_COUNTERS = 8
MAX_WORDS = 80
"""The longest title, rule, ending or note, in characters; a text of a page of rules has five times as many."""
SLOW_S = 0.05
"""CPU time that one move may take before it counts as slow."""
MOST_SLOW = 3
"""From this slow move on, each slow move ends its match."""
MOST_S = 1.0
"""Time after which a move is interrupted and ends its match."""
_ALARMS = 4
"""The alarms in that time. A pause of the whole process, however long, is one of them, and ends no match."""

_NAME = re.compile(r"[a-z][a-z0-9]{1,19}", re.ASCII)
_WORD = re.compile(r"[a-z]{1,20}", re.ASCII)
_DETAILS = re.compile(r"(?:(?:after|next) [ -~]{1,400})?", re.ASCII)
_MOST_KEPT = 512
"""The number of cached positions for each game."""

T = TypeVar("T")
_logger = logging.getLogger(__name__)


class GameFault(Refusal):
    """A refusal because the rules themselves failed; the match cannot continue."""

    def __init__(self, game: str, fault: str) -> None:
        super().__init__(Code.GAME_FAULT, f"the rules of {game} failed: {fault[:200]}")


class _Answers(NamedTuple):
    """The validated answers of the inner game about one position."""

    to_move: Side
    actions: Sequence[Move]
    outcome: Outcome | None
    board: str
    line: tuple[int, ...]
    line_side: Side | None
    special: Special
    annotations: Annotations | None
    marks: tuple[str, str]
    details: str


class OutsideGame(Game[Any]):
    """A game of another package behind a guard.

    Searches call the inner game directly, and a failure becomes a `GameFault`. Matches use `advance`, which also
    validates and caches every answer about the new position, so that nothing can fail after the move is journaled.
    """

    def __init__(self, inner: Game[Any]) -> None:
        """Guard `inner`. Raises `Refusal` if its constant parts are out of bounds."""
        self.inner = inner
        self.slow_moves = 0
        self._kept: dict[Any, _Answers] = {}
        try:
            self.name, self.title, self.rule = str(inner.name), str(inner.title), str(inner.rule)
            self.shape = tuple(map(int, inner.shape))
            self.block, self.gravity, self.line_count = None, bool(inner.gravity), int(inner.line_count)
            self.move_cells, self.move_names = tuple(map(int, inner.move_cells)), tuple(map(str, inner.move_names))
            self.face, self.initial = inner.face, inner.initial
            self.order, self.playouts = tuple(map(int, inner.order)), inner.playouts
            _check_constants(self)
            self._kept[self.initial] = self._answers(self.initial)
        except Refusal:
            raise
        except Exception as error:
            raise GameFault(str(getattr(inner, "name", inner))[:40], repr(error)) from error

    def advance(self, state: Any, move: Move) -> Any:  # noqa: ANN401 - each game has its own positions
        """Return the position after a move, with its answers validated and cached.

        Raises `Refusal` if the move is illegal, and `GameFault` if the rules fail, take too long, or answer nonsense.
        """
        began_s = time.thread_time()
        try:
            with _interrupted(self.name):
                after = self._advanced(state, move)
        except GameFault as fault:
            _logger.error("%s", fault)
            raise
        spent_s = time.thread_time() - began_s
        if spent_s > SLOW_S:
            self.slow_moves += 1
            _logger.warning("a move of %s took %.0f ms; %s is slow", self.name, 1000 * spent_s, self.name)
            if self.slow_moves >= MOST_SLOW:
                raise GameFault(self.name, f"moves take longer than {1000 * SLOW_S:.0f} ms of computing")
        return after

    def _advanced(self, state: Any, move: Move) -> Any:  # noqa: ANN401
        after = self.result(state, move)
        if after not in self._kept:
            answers = self._answers(after)
            if answers.outcome is None and answers.to_move == self.to_move(state):
                raise GameFault(self.name, "the same side would move twice; a side that cannot move must pass")
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[after] = answers
        return after

    def to_move(self, state: Any) -> Side:  # noqa: ANN401
        """Return the side whose turn it is."""
        kept = self._kept.get(state)
        return kept.to_move if kept else self._ask(self.inner.to_move, state)

    def actions(self, state: Any) -> Sequence[Move]:  # noqa: ANN401
        """Return the legal moves."""
        kept = self._kept.get(state)
        return kept.actions if kept else self._ask(self.inner.actions, state)

    def result(self, state: Any, move: Move) -> Any:  # noqa: ANN401
        """Return the position after a move. Raises `Refusal` if it is illegal."""
        return self._ask(self.inner.result, state, move)

    def is_terminal(self, state: Any) -> bool:  # noqa: ANN401
        """Tell whether the play is over."""
        return self.outcome(state) is not None

    def utility(self, state: Any, side: Side) -> int:  # noqa: ANN401
        """Return the value of a terminal position for `side`."""
        return self._ask(self.inner.utility, state, side)

    def outcome(self, state: Any) -> Outcome | None:  # noqa: ANN401
        """Return how the match ended."""
        kept = self._kept.get(state)
        return kept.outcome if kept else self._ask(self.inner.outcome, state)

    def board(self, state: Any) -> str:  # noqa: ANN401
        """Return one character per cell."""
        kept = self._kept.get(state)
        return kept.board if kept else self._ask(self.inner.board, state)

    def line(self, state: Any) -> tuple[int, ...]:  # noqa: ANN401
        """Return the cells of the straight line that ended the match."""
        kept = self._kept.get(state)
        return kept.line if kept else self._ask(self.inner.line, state)

    def line_side(self, state: Any) -> Side | None:  # noqa: ANN401
        """Return the side that completed the line."""
        kept = self._kept.get(state)
        return kept.line_side if kept else self._ask(self.inner.line_side, state)

    def special(self, state: Any) -> Special:  # noqa: ANN401
        """Return the special rules of the next move."""
        kept = self._kept.get(state)
        return kept.special if kept else self._ask(self.inner.special, state)

    def annotations(self, state: Any) -> Annotations | None:  # noqa: ANN401
        """Return the notes and counters of a position."""
        kept = self._kept.get(state)
        return kept.annotations if kept else self._ask(self.inner.annotations, state)

    def estimate(self, state: Any) -> int:  # noqa: ANN401
        """Return how good a position seems for the side to move."""
        return self._ask(lambda: int(self.inner.estimate(state)))

    def marks(self, state: Any) -> tuple[str, str]:  # noqa: ANN401
        """Return the mark that each side places."""
        kept = self._kept.get(state)
        return kept.marks if kept else self._ask(self.inner.marks, state)

    def details(self, state: Any) -> str:  # noqa: ANN401
        """Return the part of the position that the board does not show."""
        kept = self._kept.get(state)
        return kept.details if kept else self._ask(self.inner.details, state)

    def place(self, board: str, details: str) -> Any:  # noqa: ANN401
        """Return the position of a board, with its answers validated. Raises `Refusal` if it is unreachable."""
        with _interrupted(self.name):
            state = self._ask(self.inner.place, board, details)
            self._answers(state)
        return state

    def _ask(self, question: Callable[..., T], *about: Any) -> T:  # noqa: ANN401
        try:
            return question(*about)
        except Refusal:
            raise
        except Exception as error:  # a stranger's package may raise anything
            _logger.exception("the rules of %s failed", self.name)
            raise GameFault(self.name, repr(error)) from error

    def _answers(self, state: Any) -> _Answers:  # noqa: ANN401
        """Return the answers about a position. Raises `GameFault` if one makes no sense."""
        ask, inner = self._ask, self.inner
        outcome = ask(inner.outcome, state)
        annotations = ask(inner.annotations, state)
        special = Special() if outcome is not None else ask(inner.special, state)
        answers = _Answers(
            ask(inner.to_move, state),
            ask(lambda: tuple(inner.actions(state))),
            outcome,
            ask(inner.board, state),
            tuple(ask(inner.line, state)),
            ask(inner.line_side, state),
            special,
            annotations,
            ask(inner.marks, state),
            ask(inner.details, state),
        )
        ask(hash, state)
        is_over = bool(ask(inner.is_terminal, state))
        # Inspecting an answer may fail too, for example at a number instead of a text.
        fault = ask(lambda: next(_faults(self, answers, is_over=is_over), None))
        if fault is not None:
            raise GameFault(self.name, fault)
        return answers


@cache
def outside_games(taken: frozenset[str]) -> dict[str, Game[Any]]:
    """Return the games of other packages by name, including those with the pie rule; log the rejected ones."""
    found: dict[str, Game[Any]] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        try:
            loaded = entry.load()
            for game in (loaded,) if isinstance(loaded, Game) else tuple(loaded):
                guarded = OutsideGame(game)
                if not _NAME.fullmatch(guarded.name):
                    raise GameFault(guarded.name[:40], "its name is not of 2 to 20 small letters and digits")
                if guarded.name in taken | found.keys():
                    _logger.error("%s of %s is left out: its name is taken", game.name, entry.value)
                    continue
                found[guarded.name] = guarded
                if guarded.face.may_swap:
                    found[f"{guarded.name}+swap"] = OutsideGame(SwapGame(game))
        except Exception:  # a stranger's package may raise anything, and must never keep a server from starting
            _logger.exception("the games of %s are left out", entry.value)
    return found


@contextlib.contextmanager
def _interrupted(game: str) -> Iterator[None]:
    """Raise `GameFault` inside the block after `MOST_S`; in the main thread only, where signals arrive."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    left = _ALARMS

    def stop(_signal: int, _frame: FrameType | None) -> None:
        nonlocal left
        left -= 1
        if left <= 0:
            raise GameFault(game, f"a move took more than {MOST_S:.0f} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, MOST_S / _ALARMS, MOST_S / _ALARMS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _check_constants(game: OutsideGame) -> None:
    """Raise `GameFault` if a constant part of the game is out of bounds."""
    fault = next(_constant_faults(game), None)
    if fault is not None:
        raise GameFault(game.name[:40], fault)


def _constant_faults(game: OutsideGame) -> Iterator[str]:
    face = game.face
    if not (2 <= len(game.shape) <= 3 and min(game.shape) >= 1 and prod(game.shape) <= MAX_CELLS):
        yield f"its shape {game.shape[:4]} is not two or three sizes with at most {MAX_CELLS} cells"
    if not 0 < len(game.move_cells) == len(game.move_names) <= MAX_MOVES:
        yield f"it needs as many cells as names of moves, 1 to {MAX_MOVES}"
    if not all(-1 <= cell < prod(game.shape) for cell in game.move_cells):
        yield "a move is outside the board"
    if not all(name.isprintable() and 0 < len(name) <= 24 and " " not in name for name in game.move_names):
        yield "a name of a move is not of 1 to 24 printable characters without spaces"
    if game.order and sorted(game.order) != list(range(len(game.move_cells))):
        yield "its order does not have each move once"
    yield from _face_faults(game, face)


def _face_faults(game: OutsideGame, face: Face) -> Iterator[str]:
    texts = [game.title, game.rule, *face.endings.values(), *(piece.name for piece in face.pieces)]
    if not all(_is_text(text, MAX_WORDS) for text in texts):
        yield f"a title, rule, ending or name is not of 1 to {MAX_WORDS} printable characters"
    if not all(_WORD.fullmatch(reason) and reason not in set(Reason) for reason in face.endings):
        yield f"its reasons must be words of small letters, and none of {', '.join(Reason)}"
    if {piece.mark for piece in face.pieces} - set("XO"):
        yield "its pieces must be X and O"
    if face.page:
        yield from _page_faults(game, face.page)
    if face.geometry and sum(run[3] for run in face.geometry.runs) != prod(game.shape):
        yield "its geometry has another number of cells than its shape"
    if face.geometry and not all(0 <= number <= MAX_CELLS for run in face.geometry.runs for number in run):
        yield f"its geometry has a number outside 0 to {MAX_CELLS}"


def _page_faults(game: OutsideGame, page: RulePage) -> Iterator[str]:
    """Yield the faults of the page of rules, whose example clients show as a board."""
    if not all(_is_text(text, 5 * MAX_WORDS) for text in (page.goal, page.special, *page.tips)):
        yield f"a text of its page of rules is not of 1 to {5 * MAX_WORDS} printable characters"
    state = game.initial
    for name in page.example.split():
        try:
            state = game.inner.result(state, read_move(game.inner, state, name))
        except Refusal as refusal:
            yield f"the example of its page of rules cannot be played: {refusal}"
            return


def _faults(game: OutsideGame, answers: _Answers, *, is_over: bool) -> Iterator[str]:
    """Yield each fault in the answers about one position."""
    cells, moves = prod(game.shape), len(game.move_cells)
    to_move, actions, outcome, line_side = answers.to_move, answers.actions, answers.outcome, answers.line_side
    if to_move not in (0, 1) or line_side not in (None, 0, 1):
        yield f"side {to_move!r} or {line_side!r} is not 0 or 1"
    if any(type(move) is not int for move in actions) or list(actions) != sorted(set(actions)):
        yield "the legal moves are not ascending numbers"
    if actions and not 0 <= actions[0] <= actions[-1] < moves:
        yield "a legal move does not exist"
    if not is_over == (not actions) == (outcome is not None):
        yield "it must be over, without moves and with an outcome, or none of these"
    if outcome is not None and outcome.winner not in (None, 0, 1):
        yield f"winner {outcome.winner!r} is not 0, 1 or None"
    if outcome is not None and str(outcome.reason) not in ("line", "draw", *game.face.endings):
        yield f"reason {str(outcome.reason)[:40]!r} has no sentence in its endings"
    yield from _board_faults(answers, cells)
    if answers.annotations is not None:
        yield from _annotation_faults(answers.annotations, cells)


def _board_faults(answers: _Answers, cells: int) -> Iterator[str]:
    """Yield each fault in the board, the line, the marks and the words of a position."""
    board, line, marks, details = answers.board, answers.line, answers.marks, answers.details
    if len(board) != cells or set(board) - set("XO."):
        yield f"its board is not {cells} times X, O or ."
    if not all(0 <= cell < cells for cell in line):
        yield "its line is outside the board"
    if len(marks) != 2 or not all(mark in ("X", "O", "XO") for mark in marks):
        yield f"marks {marks!r} are not X, O or XO by side"
    if not _DETAILS.fullmatch(details.removeprefix("swapped").strip()):
        yield f"details {details[:40]!r} do not begin with after or next, or are too long"


def _annotation_faults(annotations: Annotations, cells: int) -> Iterator[str]:
    if len(annotations.notes) > MAX_NOTES or len(annotations.counters) > MAX_COUNTERS:
        yield f"more than {MAX_NOTES} notes or {MAX_COUNTERS} counters"
    for note in annotations.notes:
        if not _WORD.fullmatch(note.kind) or not (note.text == "" or _is_text(note.text, MAX_WORDS)):
            yield f"a note's kind {note.kind[:40]!r} is no word, or its text is too long"
        if not all(0 <= cell < cells for cell in note.cells):
            yield "a note is outside the board"
    for counter in annotations.counters:
        numbers = (counter.value, counter.goal if counter.goal is not None else 0)
        if not _is_text(counter.name, 20) or counter.side not in (None, 0, 1):
            yield f"a counter's name {counter.name[:40]!r} has no 1 to 20 printable characters, or its side is wrong"
        if not all(type(number) is int and abs(number) < 2**31 for number in numbers):
            yield f"counter {counter.name} is no number"
    if sum(len(note.cells) for note in annotations.notes) > 2 * cells:
        yield "its notes name more cells than twice the board"


def _is_text(text: str, most: int) -> bool:
    return text.isprintable() and text == text.strip() and 0 < len(text) <= most
