"""Convert the events of a match to a `Record`. Knows no file and no text."""

import datetime
from collections.abc import Iterable

from ttt_net import messages as wire
from ttt_net.clock import TimeControl
from ttt_net.games.record import Record, RecordedMove, RecordedPlayer, TimeLimit
from ttt_net.matches.match import Match


def record_of(events: Iterable[wire.MatchEvent]) -> Record:
    """Return the record of the match that these events are; moves that were taken back are not in it."""
    match = Match.from_events(events)
    started = match.events[0]
    moves: list[RecordedMove] = []
    for event in match.events:
        if isinstance(event, wire.Played):
            moves.append(RecordedMove(event.move, event.clock.remaining_ms[event.side] if event.clock else None))
        elif isinstance(event, wire.Tookback):
            del moves[event.ply :]
    first, second = (RecordedPlayer(player.name, player.bot) for player in match.players)
    return Record(
        game=match.game.name,
        players=(first, second),
        moves=tuple(moves),
        outcome=match.outcome,
        event=match.id,
        date=datetime.datetime.fromtimestamp(started.at_ms / 1000, datetime.UTC).date(),
        time=_time_limit(match.time),
        start=match.start,
    )


def _time_limit(time: TimeControl | None) -> TimeLimit | None:
    if time is None:
        return None
    return TimeLimit(time.initial_ms, 0 if time.per_move else time.increment_ms, per_move=time.per_move)
