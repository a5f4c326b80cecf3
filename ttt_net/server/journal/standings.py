"""The lists of ratings, answered in the journal's thread without counting ratings: `standings` has their numbers."""

import sqlite3
from collections.abc import Sequence

from ttt_net import messages as wire
from ttt_net.ratings import Rating, aged
from ttt_net.server.players import PlayerId

PAGE = 20

_COUNTS = "SELECT standing, people + ? * bots FROM standings WHERE game = ? AND speed = ? ORDER BY standing DESC"
_LEADERS = (
    "SELECT name, bot, rating, deviation, volatility, games, rated_ms FROM ratings JOIN players ON id = player"
    " WHERE game = ? AND speed = ? AND standing <= ?{people} ORDER BY standing DESC, player LIMIT ? OFFSET ?"
)
_BEFORE_IN_STANDING = (
    "SELECT count(*) FROM ratings WHERE game = ? AND speed = ? AND standing = ? AND player < ?{people}"
)
_PEOPLE = " AND NOT is_bot"
_MINE = "SELECT standing, is_bot FROM ratings WHERE player = ? AND game = ? AND speed = ?"


def leaderboard(
    connection: sqlite3.Connection, said: wire.LeaderboardRequest, game: str, asker: PlayerId, now_ms: int
) -> wire.LeaderboardReply:
    """Return a page of the ratings at a game and speed, and where the asker stands.

    Its cost does not grow with the number of ratings, but with that of different standings (at most some thousand),
    and of those who share one.
    """
    counts = connection.execute(_COUNTS, (said.bots, game, said.speed)).fetchall()
    total = sum(count for _, count in counts)
    skipped = (said.page - 1) * PAGE
    leaders: list[wire.Leader] = []
    if skipped < total:
        standing, before = _standing_at(counts, skipped)
        rows = connection.execute(
            _LEADERS.format(people="" if said.bots else _PEOPLE),
            (game, said.speed, standing, PAGE, skipped - before),
        )
        leaders = [_leader(skipped + number, row, now_ms) for number, row in enumerate(rows, 1)]
    pages = max(1, -(-total // PAGE))
    you = _rank(connection, said, game, asker, counts)
    return wire.LeaderboardReply(game, said.speed, said.page, pages, leaders, you)


def _standing_at(counts: Sequence[tuple[int, int]], place: int) -> tuple[int, int]:
    """Return the standing of whoever has `place` others before him, and how many stand higher than that."""
    before = 0
    for standing, count in counts:
        if place < before + count:
            return standing, before
        before += count
    raise AssertionError("the place is on the list")


def _rank(
    connection: sqlite3.Connection,
    said: wire.LeaderboardRequest,
    game: str,
    asker: PlayerId,
    counts: Sequence[tuple[int, int]],
) -> int | None:
    mine = connection.execute(_MINE, (asker, game, said.speed)).fetchone()
    if mine is None or (mine[1] and not said.bots):
        return None
    (beside,) = connection.execute(
        _BEFORE_IN_STANDING.format(people="" if said.bots else _PEOPLE), (game, said.speed, mine[0], asker)
    ).fetchone()
    return 1 + sum(count for standing, count in counts if standing > mine[0]) + int(beside)


def _leader(rank: int, row: Sequence[object], now_ms: int) -> wire.Leader:
    name, bot, *values = row
    rating = aged(Rating(*values), now_ms)  # type: ignore[arg-type]
    player = wire.PlayerInfo(str(name), None if bot is None else str(bot), None, rating.shown, rating.is_provisional)
    return wire.Leader(rank, player, rating.games, round(rating.deviation))
