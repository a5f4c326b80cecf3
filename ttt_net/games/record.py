"""A recorded match as a checked value; knows no text. How it is written is in `records`."""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from ttt_net.errors import Code, Refusal
from ttt_net.games.catalogue import find_game
from ttt_net.games.game import Game, Move, Outcome, Reason
from ttt_net.games.notation import read_start, write_position

S = TypeVar("S")

MAX_TEXT_LENGTH = 80
"""The longest event, name or bot mark."""
MAX_COMMENT_LENGTH = 500
MAX_CLOCK_MS = 100 * 3600 * 1000
"""A hundred hours: more than any clock shows."""

_WITHOUT_WINNER = (Reason.DRAW, Reason.ABORT, Reason.AGREEMENT)
_WITH_OR_WITHOUT = (Reason.ABANDON,)
_BY_RULE = (Reason.LINE, Reason.DRAW)


@dataclass(frozen=True)
class RecordedPlayer:
    """The player at a side; `bot` is the mark of a bot, None for people."""

    name: str
    bot: str | None = None


@dataclass(frozen=True)
class RecordedMove:
    """A move, the milliseconds left to its mover after it (None: no clock), and what was said about it."""

    move: Move
    clock_ms: int | None = None
    comment: str = ""


@dataclass(frozen=True)
class TimeLimit:
    """The time control of a recorded match, in milliseconds; `per_move` if each move has the initial time anew."""

    initial_ms: int
    increment_ms: int
    per_move: bool = False


@dataclass(frozen=True)
class Record:
    """A match from the beginning to where it stands; `outcome` is None while it goes on.

    Making one checks it: `Refusal` names the move that is not legal, the text that cannot be kept (control
    characters, braces in a comment, too long), or the outcome that does not go with the position.
    """

    game: str
    players: tuple[RecordedPlayer, RecordedPlayer]
    moves: tuple[RecordedMove, ...] = ()
    outcome: Outcome | None = None
    event: str | None = None
    date: datetime.date | None = None
    time: TimeLimit | None = None
    start: str | None = None
    """The position before the first move, as `notation.write_position` writes it; None for the usual one."""

    def __post_init__(self) -> None:
        """Check what was given."""
        _check_text("event", self.event)
        for player in self.players:
            _check_text("name", player.name)
            _check_text("bot mark", player.bot)
        for limit_ms in (self.time.initial_ms, self.time.increment_ms) if self.time else ():
            _check_clock("time", limit_ms)
        if self.time and self.time.per_move and self.time.increment_ms:
            raise Refusal(Code.BAD_NOTATION, "time per move has no increment")
        game = find_game(self.game)
        state = first_position(game, self.start)
        for number, made in enumerate(self.moves, start=1):
            try:
                state = game.result(state, made.move)
            except Refusal as error:
                raise Refusal(Code.BAD_NOTATION, f"move {number}: {error}") from None
            _check_clock(f"move {number}", made.clock_ms)
            _check_comment(number, made.comment)
        _check_outcome(game.outcome(state), self.outcome)

    def positions(self) -> Iterator[Any]:
        """Yield the position before the first move, and the one after each."""
        game = find_game(self.game)
        state = first_position(game, self.start)
        yield state
        for made in self.moves:
            state = game.result(state, made.move)
            yield state


def first_position(game: Game[S], start: str | None) -> S:
    """Return where a match that is recorded with that `start` begins. Raises `Refusal` if nothing can begin there."""
    if start is None:
        return game.initial
    state = read_start(game, start)
    written = write_position(game, state)
    if start != written:
        raise Refusal(Code.BAD_NOTATION, f"start {start[:40]!r} is written {written[:40]!r}")
    return state


def _check_text(what: str, text: str | None) -> None:
    if text is not None and (not text.isprintable() or text != text.strip() or not 0 < len(text) <= MAX_TEXT_LENGTH):
        raise Refusal(
            Code.BAD_NOTATION,
            f"{what} {text[:40]!r} cannot be kept; 1 to {MAX_TEXT_LENGTH} printable characters, no spaces around",
        )


def _check_comment(number: int, comment: str) -> None:
    if (
        not comment.isprintable()
        or comment != " ".join(comment.split())
        or len(comment) > MAX_COMMENT_LENGTH
        or "{" in comment
        or "}" in comment
    ):
        raise Refusal(
            Code.BAD_NOTATION,
            f"move {number}: comment {comment[:40]!r} cannot be kept; at most {MAX_COMMENT_LENGTH} printable "
            "characters, no braces, single spaces",
        )


def _check_clock(where: str, clock_ms: int | None) -> None:
    if clock_ms is not None and not 0 <= clock_ms <= MAX_CLOCK_MS:
        raise Refusal(Code.BAD_NOTATION, f"{where}: {clock_ms} ms is out of range; 0 to {MAX_CLOCK_MS}")


def _check_outcome(by_rule: Outcome | None, outcome: Outcome | None) -> None:
    if by_rule is not None and outcome != by_rule:
        found = "none" if outcome is None else f"{result_of(outcome)}, {outcome.reason}"
        raise Refusal(
            Code.BAD_NOTATION,
            f"the moves end the game ({result_of(by_rule)}, {by_rule.reason}); the record says {found}",
        )
    if outcome is None or by_rule is not None:
        return
    if outcome.reason in _BY_RULE:
        raise Refusal(Code.BAD_NOTATION, f"reason {outcome.reason}, but the moves do not end the game")
    if outcome.reason not in _WITH_OR_WITHOUT and (outcome.winner is None) != (outcome.reason in _WITHOUT_WINNER):
        raise Refusal(Code.BAD_NOTATION, f"result {result_of(outcome)} does not go with reason {outcome.reason}")


def result_of(outcome: Outcome | None) -> str:
    """Return the result as text: `1-0`, `0-1`, `1/2-1/2`, `-` after an abort, `*` while it goes on."""
    if outcome is None:
        return "*"
    if outcome.winner is None:
        return "-" if outcome.reason is Reason.ABORT else "1/2-1/2"
    return ("1-0", "0-1")[outcome.winner]
