"""A full world for the benchmarks: a journal of 100,000 finished matches, and a lobby of 2,000 players.

The journal has 2,000 people, each known by `token_of` their number, 500 bots, matches of 14 moves of which the first
player has a tenth, and long ones. A match was once allowed 3,000 events; new ones end within 1,500.
"""

import random
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from ttt_net.clock import TimeControl
from ttt_net.matches.match import OPENING_PLIES
from ttt_net.messages import Declined, Ended, MatchEvent, Offered, Played, PlayerInfo, Started
from ttt_net.server.journal import Database, token_hash
from ttt_net.server.journal.database import Job
from ttt_net.server.journal.entries import AppendEvents, RegisterPlayer

PLAYERS, BOTS = 2_000, 500
"""How many people and bots are known; the bots have the last numbers."""
MATCHES = 100_000
"""How many short matches have ended."""
GAME = "mnk:19x19,19"
"""361 moves, none of which ends the match when they are made in order."""
LONG_MATCHES, LONG_PLIES = 12, 341
"""More long matches than the server keeps in memory, of 3,000 events each."""
LONG_IDS = [f"long{number}" for number in range(LONG_MATCHES)]
LIVE_ID = "longlive"
"""A match of 3,000 events that goes on, between the last two people."""
SIXTEEN = [f"mnk:{width}x{height},4" for width in range(4, 8) for height in range(5, 9)]
"""As many games as one seek may name."""
_AT_ONCE = 500
"""Matches of one transaction."""


def token_of(number: int) -> str:
    """Return the token by which the server knows the player of that number."""
    return f"{number:0>43}"


def name_of(number: int) -> str:
    """Return the name of the player of that number."""
    return f"p{number}"


def long_match(match: str) -> list[MatchEvent]:
    """Return the events of a match in which both offered and declined whatever they could at each ply."""
    players = (PlayerInfo("one"), PlayerInfo("other"))
    events: list[MatchEvent] = [Started(match, 1, 1_000, GAME, players)]

    def add(type_: type[MatchEvent], **fields: Any) -> None:  # noqa: ANN401 - those of any event
        events.append(type_(match=match, seq=len(events) + 1, at_ms=1_000 + len(events), **fields))

    for ply in range(LONG_PLIES):
        for side, kind in ((0, "draw"), (1, "draw"), (0, "takeback"), (1, "takeback")):
            if ply >= OPENING_PLIES or kind == "draw":
                add(Offered, side=side, kind=kind)
                add(Declined, side=1 - side, kind=kind)
        add(Played, side=ply % 2, ply=ply + 1, move=ply)
    add(Ended, winner=0, reason="resign")
    return events


def finished_match(match: int) -> list[MatchEvent]:
    """Return the events of a rated match of 14 moves."""
    name, at_ms, nobody = f"m{match:07}", 10_000 + 1_000 * match, PlayerInfo("")
    time_control = TimeControl(180_000, 2_000)
    moves = [Played(name, ply + 2, at_ms, ply % 2, ply + 1, 2 * ply) for ply in range(14)]
    started = Started(name, 1, at_ms, "gomoku", (nobody, nobody), time_control, rated=True)
    return [started, *moves, Ended(name, 16, at_ms, match % 2, "resign")]


def write_world(journal: Path, matches: int) -> None:
    """Write a journal of so many finished matches, and of the long ones."""
    rng = random.Random(1)
    with closing(Database(journal)) as database:
        database.commit([_job(_registered(number)) for number in range(1, PLAYERS + BOTS + 1)])
        for begin in range(0, matches, _AT_ONCE):
            jobs = []
            for match in range(begin, min(matches, begin + _AT_ONCE)):
                first, second = rng.sample(range(2, PLAYERS + 1), 2)
                jobs.append(_job(AppendEvents(tuple(finished_match(match)), (first if match % 10 else 1, second))))
            database.commit(jobs)
        _write_long(database, (1, 2))
        goes_on = long_match(LIVE_ID)[:-1]
        database.commit([_job(AppendEvents(tuple(goes_on), (PLAYERS - 1, PLAYERS)))])


def write_long_matches(journal: Path) -> None:
    """Write a journal that has the long matches alone, of two players of its own."""
    with closing(Database(journal)) as database:
        database.commit([_job(_registered(number)) for number in (1, 2)])
        _write_long(database, (1, 2))


def _write_long(database: Database, seats: tuple[int, int]) -> None:
    database.commit([_job(AppendEvents(tuple(long_match(match)), seats)) for match in LONG_IDS])


def _registered(number: int) -> RegisterPlayer:
    name, bot = name_of(number), "bot" if number > PLAYERS else None
    return RegisterPlayer(name, name, (name,), token_hash(token_of(number)), 0, bot)


def _job(entry: RegisterPlayer | AppendEvents) -> Job:
    return Job(entry, _unheard, _unheard)


def _unheard(_: object) -> None:
    """Do nothing with an answer of the journal."""


def seek_for_nobody(games: Sequence[str], min_rating: int = 3_800) -> dict[str, object]:
    """Return a seek that fits no other: nobody has such a rating."""
    return {"type": "seek", "games": list(games), "opponents": "people", "min_rating": min_rating}
