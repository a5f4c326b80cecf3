"""A match in the journal as a record to keep: its facts in, a `Record` out. Knows no file and no text."""

import datetime
from collections.abc import Iterable

from ttt_net import messages as wire
from ttt_net.clock import TimeControl
from ttt_net.games.record import Record, RecordedMove, RecordedPlayer, TimeLimit
from ttt_net.matches.match import Match


def record_of(facts: Iterable[wire.MatchEvent]) -> Record:
    """Return the record of the match that these facts are; moves that were taken back are not in it."""
    match = Match.from_facts(facts)
    started = match.facts[0]
    moves: list[RecordedMove] = []
    for fact in match.facts:
        if isinstance(fact, wire.Played):
            moves.append(RecordedMove(fact.move, fact.clock.remaining_ms[fact.side] if fact.clock else None))
        elif isinstance(fact, wire.Tookback):
            del moves[fact.ply :]
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
