"""Apply the entries of matches: append their events, and change what follows from an end, results and ratings.

A part of `apply`, with its laws: the result depends on the entries and on the tables alone.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ttt_net.clock import Speed, TimeControl, speed
from ttt_net.games import Reason
from ttt_net.messages import Ended, MatchEvent, Played, RatingChange, Started, Tookback, decode_event, encode
from ttt_net.ratings import PROVISIONAL_STANDING, SETTLING_OPPONENTS, Rating, rated
from ttt_net.server.journal.entries import AppendEvents, Changes, UnsettleRatings
from ttt_net.server.players import PlayerId

_SCORES = {0: 1.0, None: 0.5, 1: 0.0}
"""The score of the first player, by the winner."""
_MARK = "UPDATE matches SET is_over = 1, ended_ms = ?, winner = ?, reason = ?, plies = ? WHERE id = ? AND NOT is_over"
"""Marks a match as over, which triggers count for both players."""
_APPEND = "INSERT INTO facts (match, seq, fact) VALUES ((SELECT number FROM matches WHERE id = ?), ?, ?)"


def append_event(connection: sqlite3.Connection, event: MatchEvent) -> None:
    """Append an event that neither starts nor ends its match: one statement."""
    connection.execute(_APPEND, (event.match, event.seq, encode(event)))


def append_events(connection: sqlite3.Connection, appends: Sequence[AppendEvents]) -> list[Changes | None]:
    """Apply many of these entries with one statement for each table that they touch; return their results.

    It comes to the same as one by one: a thread that touches the database waits for the interpreter's lock after
    every statement, so that a few long ones are much better than many short ones.
    """
    started, rows = [], []
    ends: dict[str, Ended] = {}
    for append in appends:
        for event in append.events:
            rows.append((event.match, event.seq, encode(event)))
            if type(event) is Started:  # `isinstance` asks the metaclass of structs, for half a microsecond
                assert append.seats is not None, "a match starts with its seats"
                started.append((event.match, *append.seats, event.at_ms, *_kind(event)))
                if event.code is not None and event.previous is None:
                    connection.execute("DELETE FROM invitations WHERE code = ?", (event.code,))
            elif type(event) is Ended:
                ends.setdefault(event.match, event)  # a match has one end
    if started:
        connection.executemany(
            "INSERT INTO matches (id, first, second, started_ms, game, time, is_rated, is_private)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            started,
        )
    connection.executemany(_APPEND, rows)
    if not ends:
        return [None] * len(appends)
    changes = _end(connection, ends)
    told = {id(ends[match]): change for match, change in changes.items()}  # to the author of that end alone
    return [next((told[id(each)] for each in append.events if id(each) in told), None) for append in appends]


def _kind(started: Started) -> tuple[str, str | None, bool, bool]:
    time = None if started.time is None else encode(started.time).decode()
    return started.game, time, started.rated, started.private


def _plies(connection: sqlite3.Connection, end: Ended) -> int:
    """Return how many moves a match had at its end, those that were taken back left out: its newest event knows."""
    newest = connection.execute(
        "SELECT fact FROM facts WHERE match = (SELECT number FROM matches WHERE id = ?) AND seq < ? ORDER BY seq DESC",
        (end.match, end.seq),
    )
    for (kept,) in newest:
        event = decode_event(kept)
        if isinstance(event, Played | Tookback):
            return event.ply
    return 0


def _end(connection: sqlite3.Connection, ends: Mapping[str, Ended]) -> dict[str, Changes]:
    """Mark matches as over, and rate the rated ones in the order of their ends; return the changes by match.

    A match is rated only while it is marked as live, so never twice. Each end is counted before the next is rated,
    because a rating depends on the opponents that its player has met.
    """
    rows = _rated_matches(connection, ends)
    marks = [(each.at_ms, each.winner, each.reason, _plies(connection, each), each.match) for each in ends.values()]
    if not rows:
        connection.executemany(_MARK, marks)
        return {}
    changes: dict[str, Changes] = {}
    for (match, result), mark in zip(ends.items(), marks, strict=True):
        if match in rows:
            game, time, *players = rows[match]
            control = None if time is None else msgspec.json.decode(time, type=TimeControl)
            changes[match] = _rate_match(connection, result, game, speed(control), players)
        connection.execute(_MARK, mark)
    return changes


def _rated_matches(connection: sqlite3.Connection, ends: Mapping[str, Ended]) -> dict[str, Sequence[Any]]:
    """Return game, time and players of the matches among these whose results are rated."""
    results = [match for match, end in ends.items() if end.reason != Reason.ABORT.value]
    return {
        match: row
        for match, *row in connection.execute(
            "SELECT matches.id, game, time, first, one.bot IS NOT NULL, second, other.bot IS NOT NULL FROM matches"
            " JOIN players AS one ON one.id = first JOIN players AS other ON other.id = second"
            " WHERE matches.id IN (SELECT value FROM json_each(?)) AND is_rated AND NOT is_over"
            " AND one.token_hash IS NOT NULL AND other.token_hash IS NOT NULL",
            (json.dumps(results),),
        )
    }


def _rate_match(
    connection: sqlite3.Connection, result: Ended, game: str, at_speed: Speed, players: Sequence[int]
) -> Changes:
    """Rate one match; `players` are the first and whether they are a bot, then the second."""
    first, first_is_bot, second, second_is_bot = players
    before = [_rating(connection, player, game, at_speed) for player in (first, second)]
    met = _met(connection, first, second), _met(connection, second, first)
    after = rated(before[0], before[1], _SCORES[result.winner], result.at_ms, met)
    connection.executemany(
        "INSERT INTO ratings"
        " (player, game, speed, rating, deviation, volatility, games, rated_ms, is_bot, standing, settled_until_ms)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET rating = excluded.rating, deviation = excluded.deviation,"
        " volatility = excluded.volatility, games = excluded.games, rated_ms = excluded.rated_ms,"
        " is_bot = excluded.is_bot, standing = excluded.standing, settled_until_ms = excluded.settled_until_ms",
        [
            (player, game, at_speed, *rating, is_bot, rating.standing, rating.settled_until_ms)
            for player, rating, is_bot in ((first, after[0], first_is_bot), (second, after[1], second_is_bot))
        ],
    )
    one, other = (
        RatingChange(old.shown, new.shown, new.is_provisional) for old, new in zip(before, after, strict=True)
    )
    return one, other


def _met(connection: sqlite3.Connection, player: PlayerId, opponent: PlayerId) -> int:
    """Return how many opponents a player has met, this one included; counts to `SETTLING_OPPONENTS` at the most."""
    (others,) = connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM meetings WHERE player = ? AND opponent <> ? LIMIT ?)",
        (player, opponent, SETTLING_OPPONENTS - 1),
    ).fetchone()
    return 1 + int(others)


def _rating(connection: sqlite3.Connection, player: PlayerId, game: str, at_speed: Speed) -> Rating:
    row = connection.execute(
        "SELECT rating, deviation, volatility, games, rated_ms FROM ratings"
        " WHERE player = ? AND game = ? AND speed = ?",
        (player, game, at_speed),
    ).fetchone()
    return Rating() if row is None else Rating(*row)


def unsettle_ratings(connection: sqlite3.Connection, entry: UnsettleRatings) -> list[tuple[PlayerId, str, str]]:
    """Put the ratings that time alone has made provisional behind the settled ones; return whose, at what."""
    stale = connection.execute(
        "SELECT player, game, speed FROM ratings WHERE settled_until_ms < ?"
        " ORDER BY settled_until_ms, player, game, speed LIMIT ?",
        (entry.at_ms, entry.most),
    ).fetchall()
    connection.executemany(  # which the triggers count
        "UPDATE ratings SET standing = standing + ?, settled_until_ms = NULL"
        " WHERE player = ? AND game = ? AND speed = ?",
        [(PROVISIONAL_STANDING, *key) for key in stale],
    )
    return stale
