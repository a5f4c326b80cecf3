"""Look up what the server itself needs: matches, players, invitations. Writes nothing."""

import sqlite3
from typing import NamedTuple

import msgspec
from msgspec.structs import replace as restruct

from ttt_net.clock import Speed, TimeControl
from ttt_net.errors import Code, Refusal, StorageError
from ttt_net.messages import MatchEvent, Started, decode_event
from ttt_net.pairing.lobby import Invitation
from ttt_net.ratings import Rating, aged
from ttt_net.server.players import Player, PlayerId
from ttt_net.text import name_key

MAX_UNFINISHED = 50
"""The most unfinished matches of one player that are looked up; the newest come first."""
MAX_RATINGS_AT_HAND = 100
"""The most ratings of one player that are kept at hand, the newest first: by game and speed there may be many."""


def spare_bytes(connection: sqlite3.Connection) -> int:
    """Return how many bytes of the file are unused, and will be written over before it grows."""
    (pages,) = connection.execute("PRAGMA freelist_count").fetchone()
    (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
    return int(pages * page_bytes)


class StoredMatch(NamedTuple):
    """A match as the journal has it: who sits where, and its events in order."""

    seats: tuple[PlayerId, PlayerId]
    events: list[MatchEvent]


class MatchHead(NamedTuple):
    """A match without its events."""

    number: int
    id: str
    seats: tuple[PlayerId, PlayerId]
    names: tuple[str, str]
    """Those that its players have now, by side."""
    is_over: bool
    is_private: bool
    events: int
    """How many it has."""


def find_match(connection: sqlite3.Connection, match: str) -> MatchHead:
    """Return the head of the match of that id. Raises `Refusal` if there is none."""
    row = connection.execute(
        "SELECT number, first, second, one.name, other.name, is_over, is_private,"
        " (SELECT coalesce(max(seq), 0) FROM facts WHERE match = number) FROM matches"
        " JOIN players AS one ON one.id = first JOIN players AS other ON other.id = second WHERE matches.id = ?",
        (match,),
    ).fetchone()
    if row is None:
        raise Refusal(Code.UNKNOWN_MATCH, f"there is no match {match}")
    number, first, second, name, other_name, is_over, is_private, events = row
    return MatchHead(number, match, (first, second), (name, other_name), bool(is_over), bool(is_private), events)


def read_events(connection: sqlite3.Connection, head: MatchHead) -> list[MatchEvent]:
    """Return the events of a match, in order. Raises `StorageError` if one cannot be understood."""
    rows = connection.execute("SELECT fact FROM facts WHERE match = ? ORDER BY seq", (head.number,))
    try:
        events = [decode_event(event) for (event,) in rows]
    except msgspec.MsgspecError as error:
        raise StorageError(f"match {head.id} cannot be read: {error}") from None
    if events and isinstance(events[0], Started):
        events[0] = with_names(events[0], *head.names)
    return events


def read_match(connection: sqlite3.Connection, match: str) -> StoredMatch:
    """Return the match of that id. Raises `Refusal` if there is none, `StorageError` if it cannot be understood."""
    head = find_match(connection, match)
    return StoredMatch(head.seats, read_events(connection, head))


def with_names(started: Started, first: str, second: str) -> Started:
    """Return the start of a match with other names, as those that its players have now."""
    one, other = started.players
    return restruct(started, players=(restruct(one, name=first), restruct(other, name=second)))


def finished_matches(connection: sqlite3.Connection) -> list[str]:
    """Return the ids of the matches that are over, in the order in which they began."""
    rows = connection.execute("SELECT id FROM matches WHERE is_over ORDER BY started_ms, id")
    return [match for (match,) in rows]


def find_player(connection: sqlite3.Connection, token_hash: bytes, now_ms: int) -> Player | None:
    """Return the player that a token belongs to, None if it is unknown."""
    row = connection.execute(
        "SELECT id, name, bot, is_guest FROM players WHERE token_hash = ?", (token_hash,)
    ).fetchone()
    if row is None:
        return None
    player, name, bot, is_guest = row
    matches = unfinished_of(connection, player)
    return Player(player, name, matches, bool(is_guest), ratings_of(connection, player, now_ms), bot)


def unfinished_of(connection: sqlite3.Connection, player: PlayerId) -> tuple[str, ...]:
    """Return the player's unfinished matches, the newest first.

    Two searches, for with `first = ? OR second = ?` SQLite reads the unfinished matches of everybody.
    """
    rows = connection.execute(
        "SELECT id FROM (SELECT id, started_ms FROM matches WHERE NOT is_over AND first = ?"
        " UNION SELECT id, started_ms FROM matches WHERE NOT is_over AND second = ?)"
        " ORDER BY started_ms DESC LIMIT ?",
        (player, player, MAX_UNFINISHED),
    )
    return tuple(match for (match,) in rows)


def ratings_of(connection: sqlite3.Connection, player: PlayerId, now_ms: int) -> dict[tuple[str, Speed], Rating]:
    """Return the newest ratings of a player, by game and speed, as they are at `now_ms`."""
    rows = connection.execute(
        "SELECT game, speed, rating, deviation, volatility, games, rated_ms FROM ratings WHERE player = ?"
        " ORDER BY rated_ms DESC LIMIT ?",
        (player, MAX_RATINGS_AT_HAND),
    )
    return {(game, each): aged(Rating(*values), now_ms) for game, each, *values in rows}


def player_named(connection: sqlite3.Connection, name: str) -> tuple[PlayerId, str]:
    """Return number and name of the player who has that name. Raises `Refusal` if nobody has."""
    row = connection.execute("SELECT id, name FROM players WHERE name_key = ?", (name_key(name),)).fetchone()
    if row is None:
        raise Refusal(Code.UNKNOWN_PLAYER, f"no player is called {name}")
    player, shown = row
    return player, shown


def read_invitations(connection: sqlite3.Connection, now_ms: int) -> list[Invitation]:
    """Return the invitations that are good still."""
    rows = connection.execute(
        "SELECT code, player, game, time, expires_ms, side, start FROM invitations WHERE expires_ms > ?", (now_ms,)
    )
    return [
        Invitation(code, by, game, None if time is None else msgspec.json.decode(time, type=TimeControl), *rest)
        for code, by, game, time, *rest in rows
    ]
