"""A finished match as data for other programs: one flat value, derived from its events, and its text form.

The HTTP API sends it and `export` writes it. It needs no rules: a match of a game that is not installed only has the
numbers of its moves.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from ttt_net import messages as wire
from ttt_net.clock import TimeControl
from ttt_net.errors import Refusal
from ttt_net.games import Outcome
from ttt_net.games.game import reason_of
from ttt_net.games.notation import write_move
from ttt_net.games.records import record_text, result_of
from ttt_net.matches.description import day_of
from ttt_net.matches.match import find_game_of, time_limit

Milliseconds = Annotated[int, Meta(ge=0)]


class MatchData(Struct, frozen=True, omit_defaults=True):
    """A finished match. Times of day are milliseconds since 1970 in UTC.

    `players` are by side, with their ratings at the start. `winner` is a side, null for draws and aborted matches.
    `moves` are the numbers of the protocol, without those that were taken back; `written` are the same for people,
    absent if the game is not installed. `times_ms` are from the start to each move. `clocks_ms` are the time left to
    its player after it, absent without a clock. `start` is the first position, if not the usual one; `previous` is the
    match of which this is the rematch.
    """

    match: str
    game: str
    players: tuple[wire.PlayerInfo, wire.PlayerInfo]
    started_ms: Milliseconds
    ended_ms: Milliseconds
    winner: int | None
    reason: str
    moves: list[int]
    times_ms: list[Milliseconds]
    written: list[str] | None = None
    clocks_ms: list[Milliseconds] | None = None
    time: TimeControl | None = None
    rated: bool = False
    start: str | None = None
    previous: str | None = None

    @property
    def cursor(self) -> str:
        """The position of the match in the order of all ends; the API continues after it."""
        return f"{self.ended_ms}-{self.match}"


def match_data(events: Iterable[wire.MatchEvent]) -> MatchData:
    """Return the data of the finished match with these events, without replaying it: a referee decided the events."""
    started, *rest = events
    assert isinstance(started, wire.Started), "the first event of a match is Started"
    moves: list[int] = []
    times_ms: list[int] = []
    clocks_ms: list[int | None] = []
    ended: wire.Ended | None = None
    for event in rest:
        if isinstance(event, wire.Played):
            moves.append(event.move)
            times_ms.append(max(0, event.at_ms - started.at_ms))
            clocks_ms.append(None if event.clock is None else event.clock.remaining_ms[event.side])
        elif isinstance(event, wire.Tookback):
            del moves[event.ply :], times_ms[event.ply :], clocks_ms[event.ply :]
        elif isinstance(event, wire.Ended):
            ended = event
    assert ended is not None, "a finished match has an end"
    clocks = [clock_ms for clock_ms in clocks_ms if clock_ms is not None]
    return MatchData(
        match=started.match,
        game=started.game,
        players=started.players,
        started_ms=started.at_ms,
        ended_ms=ended.at_ms,
        winner=ended.winner,
        reason=ended.reason,
        moves=moves,
        times_ms=times_ms,
        written=written_moves(started, moves),
        clocks_ms=clocks if started.time is not None and len(clocks) == len(moves) else None,
        time=started.time,
        rated=started.rated,
        start=started.start,
        previous=started.previous,
    )


def written_moves(started: wire.Started, moves: Sequence[int]) -> list[str] | None:
    """Return moves in notation; None if the game is not installed with these rules, or lacks one of the moves."""
    try:
        game = find_game_of(started)
        return [write_move(game, move) for move in moves]
    except (Refusal, IndexError):
        return None


def write_text(match: MatchData) -> str:
    """Return the match as a record; moves of a game that is not installed appear as numbers."""
    first, second = match.players
    outcome = Outcome(match.winner, reason_of(match.reason))
    names = map(str, match.moves) if match.written is None else match.written
    clocks = [None] * len(match.moves) if match.clocks_ms is None else match.clocks_ms
    return record_text(
        game=match.game,
        event=match.match,
        date=day_of(match.started_ms),
        players=((first.name, first.bot), (second.name, second.bot)),
        time=time_limit(match.time),
        start=match.start,
        result=result_of(outcome),
        reason=match.reason,
        moves=((name, clock_ms, "") for name, clock_ms in zip(names, clocks, strict=True)),
    )
