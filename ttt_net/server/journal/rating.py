"""Ratings in the journal: read for who comes in, and changed in the transaction in which a rated match ends."""

import json
import sqlite3
from collections.abc import Sequence

import msgspec

from ttt_net.clock import Speed, TimeControl, speed
from ttt_net.games import Reason
from ttt_net.messages import Ended, RatingChange
from ttt_net.ratings import PROVISIONAL_STANDING, Rating, aged, rated
from ttt_net.server.journal.periodic_job import BITE

Changes = tuple[RatingChange, RatingChange]
"""What a rated match did to the ratings of both, by side."""

MAX_RATINGS = 100
"""The most ratings of one player that are kept at hand, the newest first: by game and speed there may be many."""

_SCORES = {0: 1.0, None: 0.5, 1: 0.0}
"""What the first player scored, by the winner."""


def ratings_of(connection: sqlite3.Connection, player: int, now_ms: int) -> dict[tuple[str, Speed], Rating]:
    """Return the newest ratings of a player, by game and speed, as they are at `now_ms`."""
    rows = connection.execute(
        "SELECT game, speed, rating, deviation, volatility, games, rated_ms FROM ratings WHERE player = ?"
        " ORDER BY rated_ms DESC LIMIT ?",
        (player, MAX_RATINGS),
    )
    return {(game, each): aged(Rating(*values), now_ms) for game, each, *values in rows}


def rate(connection: sqlite3.Connection, ended: Sequence[Ended]) -> dict[str, Changes]:
    """Change the ratings that rated matches among those have led to, in the order of their ends; tell how, by match.

    The matches must still be marked as live: so none is ever rated twice.
    """
    results = {each.match: each for each in ended if each.reason != Reason.ABORT.value}
    rows = {
        match: row
        for match, *row in connection.execute(
            "SELECT matches.id, game, time, first, one.bot IS NOT NULL, second, other.bot IS NOT NULL FROM matches"
            " JOIN players AS one ON one.id = first JOIN players AS other ON other.id = second"
            " WHERE matches.id IN (SELECT value FROM json_each(?)) AND is_rated AND NOT is_over"
            " AND one.token_hash IS NOT NULL AND other.token_hash IS NOT NULL",
            (json.dumps(list(results)),),
        )
    }
    changes: dict[str, Changes] = {}
    for match, result in results.items():
        if match in rows:
            game, time, *players = rows[match]
            control = None if time is None else msgspec.json.decode(time, type=TimeControl)
            changes[match] = _rate(connection, result, game, speed(control), players)
    return changes


def _rate(connection: sqlite3.Connection, result: Ended, game: str, at_speed: Speed, players: Sequence[int]) -> Changes:
    """Rate one match; `players` are the first and whether he is a bot, then the second."""
    first, first_is_bot, second, second_is_bot = players
    before = [_rating(connection, player, game, at_speed) for player in (first, second)]
    after = rated(before[0], before[1], _SCORES[result.winner], result.at_ms)
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


def unsettle(connection: sqlite3.Connection, now_ms: int) -> list[tuple[int, str, str]]:
    """Let a bite of the ratings that time has made provisional stand so in the lists; return whose, in which."""
    stale = connection.execute(
        "SELECT player, game, speed FROM ratings WHERE settled_until_ms < ? ORDER BY settled_until_ms LIMIT ?",
        (now_ms, BITE),
    ).fetchall()
    connection.executemany(  # which the triggers count
        "UPDATE ratings SET standing = standing + ?, settled_until_ms = NULL"
        " WHERE player = ? AND game = ? AND speed = ?",
        [(PROVISIONAL_STANDING, *key) for key in stale],
    )
    return stale


def _rating(connection: sqlite3.Connection, player: int, game: str, at_speed: Speed) -> Rating:
    row = connection.execute(
        "SELECT rating, deviation, volatility, games, rated_ms FROM ratings"
        " WHERE player = ? AND game = ? AND speed = ?",
        (player, game, at_speed),
    ).fetchone()
    return Rating() if row is None else Rating(*row)
