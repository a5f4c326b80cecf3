"""The journal in SQLite: append, read, and whose matches are unfinished; and the players' names and tokens."""

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from ttt_net.errors import Code, Refusal
from ttt_net.messages import Ended, Fact, Started, decode_fact, encode
from ttt_net.server.journal.database import Database, StorageError
from ttt_net.text import name_key

PlayerId = int

MAX_UNFINISHED = 50
"""The most unfinished matches of one player that are looked up; the newest come first."""


class Player(NamedTuple):
    """Somebody with a token here, and the matches that wait for him."""

    id: PlayerId
    name: str
    unfinished: tuple[str, ...]


class Record(NamedTuple):
    """A match as the journal has it: who sits where, and its facts in order."""

    seats: tuple[PlayerId, PlayerId]
    facts: list[Fact]


class Journal:
    """The append-only list of facts of each match. Every call answers through `done`, on the event loop."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def append(
        self,
        facts: Sequence[Fact],
        done: Callable[[StorageError | None], None],
        seats: tuple[PlayerId, PlayerId] | None = None,
    ) -> None:
        """Write the facts down, all or none. A fact that is not the next of its match is refused.

        `seats` are needed with the first fact of a match.
        """
        self._database.submit_alike(_append, (facts, seats), done)

    def read(self, match: str, done: Callable[[Record | StorageError | None], None]) -> None:
        """Read a match; None if there is none of that id."""
        self._database.submit(lambda connection: read_match(connection, match), done)

    def register(
        self, name: str, token: str, now_ms: int, done: Callable[[Player | Refusal | StorageError], None]
    ) -> None:
        """Make a new player of that name, known from now on by the token."""

        def work(connection: sqlite3.Connection) -> Player | Refusal:
            row = connection.execute(
                "INSERT INTO players (name, name_key, token_hash, created_ms) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (name_key) DO NOTHING RETURNING id",
                (name, name_key(name), _hash(token), now_ms),
            ).fetchone()
            if row is None:
                return Refusal(Code.NAME_TAKEN, f"the name {name} belongs to another player here; choose another")
            return Player(row[0], name, ())

        self._database.submit(work, done)

    def find(self, token: str, done: Callable[[Player | StorageError | None], None]) -> None:
        """Find the player that the token belongs to; None if it is unknown."""

        def work(connection: sqlite3.Connection) -> Player | None:
            row = connection.execute("SELECT id, name FROM players WHERE token_hash = ?", (_hash(token),)).fetchone()
            if row is None:
                return None
            player, name = row
            unfinished = connection.execute(
                "SELECT id FROM matches WHERE NOT is_over AND (first = ? OR second = ?)"
                " ORDER BY started_ms DESC LIMIT ?",
                (player, player, MAX_UNFINISHED),
            )
            return Player(player, name, tuple(match for (match,) in unfinished))

        self._database.submit(work, done)


def read_match(connection: sqlite3.Connection, match: str) -> Record | None:
    """Return the match of that id, or None if there is none; one that cannot be understood raises `StorageError`."""
    seats = connection.execute("SELECT first, second FROM matches WHERE id = ?", (match,)).fetchone()
    if seats is None:
        return None
    facts = connection.execute("SELECT fact FROM facts WHERE match = ? ORDER BY seq", (match,))
    try:
        return Record(seats, [decode_fact(fact) for (fact,) in facts])
    except msgspec.MsgspecError as error:
        raise StorageError(f"match {match} cannot be read: {error}") from None


def finished_matches(connection: sqlite3.Connection) -> list[str]:
    """Return the ids of the matches that are over, in the order in which they began."""
    rows = connection.execute("SELECT id FROM matches WHERE is_over ORDER BY started_ms, id")
    return [match for (match,) in rows]


def _append(
    connection: sqlite3.Connection, appends: list[tuple[Sequence[Fact], tuple[PlayerId, PlayerId] | None]]
) -> list[None]:
    """Write down the facts of many matches, with one statement for each table that they touch."""
    started, ended, rows = [], [], []
    for facts, seats in appends:
        for fact in facts:
            rows.append((fact.match, fact.seq, encode(fact)))
            if isinstance(fact, Started):
                assert seats is not None, "a match starts with its seats"
                started.append((fact.match, *seats, fact.at_ms))
            elif isinstance(fact, Ended):
                ended.append((fact.match,))
    if started:
        connection.executemany("INSERT INTO matches (id, first, second, started_ms) VALUES (?, ?, ?, ?)", started)
    connection.executemany("INSERT INTO facts (match, seq, fact) VALUES (?, ?, ?)", rows)
    if ended:
        connection.executemany("UPDATE matches SET is_over = 1 WHERE id = ?", ended)
    return [None] * len(appends)


def _hash(token: str) -> bytes:
    """Return what is kept of a token: with 256 random bits in it, a plain hash cannot be guessed back."""
    return hashlib.sha256(token.encode()).digest()
