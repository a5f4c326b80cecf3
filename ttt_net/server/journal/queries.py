"""What is asked about the past, answered in the journal's thread: every answer is bounded, and so is its cost."""

import sqlite3
from typing import NamedTuple, assert_never

import msgspec

from ttt_net import messages as wire
from ttt_net.clock import Speed, TimeControl
from ttt_net.errors import Code, Refusal
from ttt_net.games.records import write_record
from ttt_net.matches.history import record_of
from ttt_net.matches.match import Match
from ttt_net.messages import decode_event
from ttt_net.ratings import Rating, aged
from ttt_net.server.journal.matches import read_match, with_names
from ttt_net.server.journal.standings import leaderboard
from ttt_net.server.players import PlayerId
from ttt_net.text import name_key

PAGE = 20
MAX_RATINGS = 50
"""Ratings in a profile, the most played first."""
_MAX_DIGITS = 18
MAX_POSITIONS = 32
"""Positions in one answer; on the largest board they take 15 KB."""

_RESULTS = (
    "SELECT ended_ms, match FROM results WHERE player = ? AND is_private = ? AND (ended_ms, match) < (?, ?)"
    " ORDER BY ended_ms DESC, match DESC LIMIT ?"
)
_RESULTS_OF_GAME = _RESULTS.replace("player = ?", "player = ? AND game = ?")
_FINISHED = (
    "SELECT game, ended_ms, winner, reason, plies, time, is_rated, is_private, one.name, other.name, fact FROM matches"
    " JOIN players AS one ON one.id = first JOIN players AS other ON other.id = second"
    " JOIN facts ON facts.match = number AND seq = 1 WHERE matches.id = ?"
)


class ProfileQuery(NamedTuple):
    """Who a player is, and what they have won."""

    said: wire.ProfileRequest
    asker: PlayerId
    online: wire.PlayerInfo | None
    """As the server shows them; None if they are not connected."""
    live: list[str]
    """The ids of their public live matches."""
    now_ms: int


class HistoryQuery(NamedTuple):
    """A page of a player's finished matches."""

    name: str | None
    """None: the asker's own."""
    game: str | None
    """None: of all games."""
    before: str | None
    """Where the page before ended; None: the first page."""
    asker: PlayerId


class LeaderboardQuery(NamedTuple):
    """A page of the ratings at a game and speed."""

    said: wire.LeaderboardRequest
    game: str
    asker: PlayerId
    now_ms: int


class ReplayQuery(NamedTuple):
    """Positions of a match."""

    said: wire.ReplayRequest
    asker: PlayerId
    is_heard: bool
    """Whether the asker hears the match: then they may see it, private or not."""


class RecordQuery(NamedTuple):
    """A finished match as a text to keep."""

    said: wire.RecordRequest
    asker: PlayerId


PastQuery = ProfileQuery | HistoryQuery | LeaderboardQuery | ReplayQuery | RecordQuery
"""What may be asked about the past."""


def answer(connection: sqlite3.Connection, query: PastQuery) -> wire.ServerMessage:
    """Return the answer to a query. Raises `Refusal` if there is none."""
    match query:
        case ProfileQuery():
            return profile(connection, *query)
        case HistoryQuery():
            return history(connection, *query)
        case LeaderboardQuery():
            return leaderboard(connection, *query)
        case ReplayQuery():
            return replay(connection, *query)
        case RecordQuery():
            return record(connection, *query)
        case _:
            assert_never(query)


def profile(
    connection: sqlite3.Connection,
    said: wire.ProfileRequest,
    asker: PlayerId,
    online: wire.PlayerInfo | None,
    live: list[str],
    now_ms: int,
) -> wire.ProfileReply:
    """Return who a player is; `online` and `live` say what only the server's memory knows of him."""
    player, name, bot = _player(connection, said.name, asker)
    since_ms, won, drawn, lost = connection.execute(
        "SELECT created_ms, won, drawn, lost FROM players WHERE id = ?", (player,)
    ).fetchone()
    rows = connection.execute(
        "SELECT game, speed, rating, deviation, volatility, games, rated_ms FROM ratings WHERE player = ?"
        " ORDER BY games DESC, game, speed LIMIT ?",
        (player, MAX_RATINGS),
    )
    ratings = [_rating_info(game, speed, aged(Rating(*values), now_ms)) for game, speed, *values in rows]
    against = None
    if player != asker:
        met = connection.execute(
            "SELECT won, drawn, lost FROM meetings WHERE player = ? AND opponent = ?", (asker, player)
        ).fetchone()
        against = wire.HeadToHead(*(met or (0, 0, 0)))
    info = online or wire.PlayerInfo(name, bot)
    return wire.ProfileReply(info, since_ms, online is not None, won, drawn, lost, ratings, against, live)


def _rating_info(game: str, speed: Speed, rating: Rating) -> wire.RatingInfo:
    return wire.RatingInfo(
        game, speed, rating.shown, round(rating.deviation), rating.games, provisional=rating.is_provisional
    )


def history(
    connection: sqlite3.Connection, name: str | None, game: str | None, before: str | None, asker: PlayerId
) -> wire.HistoryReply:
    """Return a page of a player's finished matches, newest first; the private ones only to himself."""
    player, shown, bot = _player(connection, name, asker)
    kinds = (0, 1) if player == asker else (0,)
    page = _RESULTS_OF_GAME if game is not None else _RESULTS
    ended_ms, match = _cursor(before)
    found: list[tuple[int, str]] = []
    for is_private in kinds:
        values = (player, *(() if game is None else (game,)), is_private, ended_ms, match, PAGE + 1)
        found += connection.execute(page, values)
    found.sort(reverse=True)
    shown_rows = found[:PAGE]
    next_page = "{}-{}".format(*shown_rows[-1]) if len(found) > PAGE else None
    matches = [_finished(connection, match) for _, match in shown_rows]
    return wire.HistoryReply(wire.PlayerInfo(shown, bot), matches, next_page)


def _cursor(before: str | None) -> tuple[int, str]:
    """Return the end and the id of the match that the page before ended with."""
    if before is None:
        return 2**62, ""
    ended_ms, _, match = before.partition("-")
    if not (ended_ms.isascii() and ended_ms.isdecimal() and len(ended_ms) <= _MAX_DIGITS):
        raise Refusal(Code.BAD_MESSAGE, "`before` is what the page before this one gave, or left out")
    return int(ended_ms), match


def _finished(connection: sqlite3.Connection, match: str) -> wire.FinishedMatch:
    game, ended_ms, winner, reason, plies, time, is_rated, is_private, first, second, fact = connection.execute(
        _FINISHED, (match,)
    ).fetchone()
    started = decode_event(fact)
    assert isinstance(started, wire.Started)
    return wire.FinishedMatch(
        match=match,
        game=game,
        at_ms=ended_ms,
        players=with_names(started, first, second).players,
        winner=winner,
        reason=reason,
        plies=plies,
        time=None if time is None else msgspec.json.decode(time, type=TimeControl),
        rated=bool(is_rated),
        private=bool(is_private),
    )


def _player(connection: sqlite3.Connection, name: str | None, asker: PlayerId) -> tuple[PlayerId, str, str | None]:
    """Return number, name and label of the player of that name, or of the asker."""
    if name is None:
        found = connection.execute("SELECT id, name, bot FROM players WHERE id = ?", (asker,)).fetchone()
    else:
        found = connection.execute("SELECT id, name, bot FROM players WHERE name_key = ?", (name_key(name),)).fetchone()
    if found is None:
        raise Refusal(Code.UNKNOWN_PLAYER, "no player here has that name")
    player, shown, bot = found
    return player, shown, bot


def replay(
    connection: sqlite3.Connection,
    said: wire.ReplayRequest,
    asker: PlayerId,
    is_heard: bool,
) -> wire.ReplayReply:
    """Return positions of a match, from `said.ply` on."""
    match = _match(connection, said.match, asker, is_heard=is_heard)
    last = len(match.moves)
    if said.ply > last:
        raise Refusal(Code.STALE_PLY, f"match {match.id} has {last} plies; ask from 0 to {last}")
    return wire.ReplayReply(match.id, said.ply, match.positions(said.ply, MAX_POSITIONS), last)


def record(connection: sqlite3.Connection, said: wire.RecordRequest, asker: PlayerId) -> wire.RecordReply:
    """Return a finished match as a text to keep."""
    match = _match(connection, said.match, asker, is_heard=False)
    return wire.RecordReply(match.id, write_record(record_of(match.events)))


def _match(connection: sqlite3.Connection, match_id: str, asker: PlayerId, *, is_heard: bool) -> Match:
    """Return a match that `asker` may look back on."""
    journaled = read_match(connection, match_id)
    if journaled is None:
        raise Refusal(Code.UNKNOWN_MATCH, f"there is no match {match_id}")
    match = Match.from_events(journaled.facts)
    if match.is_private and not is_heard and asker not in journaled.seats:
        raise Refusal(Code.NOT_PUBLIC, "that match is private, and only its players may see it")
    if not match.is_over and not is_heard:
        raise Refusal(Code.NOT_FINISHED, f"match {match_id} is still being played; say watch to see it")
    return match
