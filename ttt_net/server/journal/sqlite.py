"""The journal in SQLite: append, read, and whose matches are unfinished; and the players' names and tokens."""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import msgspec
from msgspec.structs import replace as restruct

from ttt_net.clock import Speed
from ttt_net.errors import Code, Refusal
from ttt_net.lobby import Invitation
from ttt_net.messages import Ended, Fact, Heard, Played, Started, Tookback, decode_fact, encode
from ttt_net.names import looks
from ttt_net.ratings import Rating
from ttt_net.server.journal.database import Database, StorageError
from ttt_net.server.journal.invitations import keep_invitation, read_invitations, spend_invitation
from ttt_net.server.journal.rating import Changes, rate, ratings_of
from ttt_net.text import name_key

PlayerId = int

FORGOTTEN = "deleted"
"""What a player is called who asked to be forgotten; nobody else can be."""
MAX_UNFINISHED = 50
"""The most unfinished matches of one player that are looked up; the newest come first."""
SEEN_MS = 3_600_000
"""How often at most it is written down that a guest was here."""


class Player(NamedTuple):
    """Somebody with a token here, the matches that wait for him, and how strong he is, by game and speed."""

    id: PlayerId
    name: str
    unfinished: tuple[str, ...] = ()
    is_guest: bool = False
    ratings: Mapping[tuple[str, Speed], Rating] = MappingProxyType({})


class Record(NamedTuple):
    """A match as the journal has it: who sits where, and its facts in order."""

    seats: tuple[PlayerId, PlayerId]
    facts: list[Fact]


Question = Callable[[sqlite3.Connection], Heard]
"""What is read to answer a question; it raises `Refusal` where there is no answer."""


class Journal:
    """The append-only list of facts of each match. Every call answers through `done`, on the event loop."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def append(
        self,
        facts: Sequence[Fact],
        done: Callable[[StorageError | Changes | None], None],
        seats: tuple[PlayerId, PlayerId] | None = None,
    ) -> None:
        """Write the facts down, all or none. A fact that is not the next of its match is refused.

        `seats` are needed with the first fact of a match. With the end of a rated match the ratings of both change,
        in the same transaction; `done` gets how.
        """
        self._database.submit_alike(_append, (facts, seats), done)

    def read(self, match: str, done: Callable[[Record | StorageError | None], None]) -> None:
        """Read a match; None if there is none of that id."""
        self._database.submit(lambda connection: read_match(connection, match), done)

    def register(
        self,
        name: str,
        token: str,
        bot: str | None,
        now_ms: int,
        done: Callable[[Player | Refusal | StorageError], None],
        *,
        is_guest: bool = False,
    ) -> None:
        """Make a new player of that name, known from now on by the token; a bot has a label.

        Whom the token belongs to already is not made again: his client has said the same twice.
        """

        def work(connection: sqlite3.Connection) -> Player | Refusal:
            known = connection.execute("SELECT id, name FROM players WHERE token_hash = ?", (_hash(token),)).fetchone()
            if known is not None:
                return Player(*known)
            if not is_guest and _is_taken(connection, name, None):
                return _name_taken(name)
            row = connection.execute(
                "INSERT INTO players (name, name_key, token_hash, bot, created_ms, is_guest, seen_ms)"
                " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?5) ON CONFLICT (name_key) DO NOTHING RETURNING id",
                (name, name_key(name), _hash(token), bot, now_ms, is_guest),
            ).fetchone()
            if row is None:
                return _name_taken(name)
            if not is_guest:
                _note_looks(connection, row[0], name)
            return Player(row[0], name, is_guest=is_guest)

        self._database.submit(work, done)

    def rename(self, player: PlayerId, name: str, done: Callable[[Refusal | StorageError | None], None]) -> None:
        """Call the player by another name from now on, in all his matches too."""

        def work(connection: sqlite3.Connection) -> Refusal | None:
            known = connection.execute("SELECT token_hash FROM players WHERE id = ?", (player,)).fetchone()
            if known == (None,):  # he said `forget` just before
                return Refusal(Code.UNKNOWN_PLAYER, "you are forgotten here; say hello with a name")
            if _is_taken(connection, name, player):
                return _name_taken(name)
            _note_looks(connection, player, name)
            connection.execute(
                "UPDATE players SET name = ?, name_key = ?, is_guest = 0 WHERE id = ?", (name, name_key(name), player)
            )
            return None

        self._database.submit(work, done)

    def forget(self, player: PlayerId, done: Callable[[Refusal | StorageError | None], None]) -> None:
        """Delete the player's name, token and ratings, unless a match of his goes on; only his number is kept."""

        def work(connection: sqlite3.Connection) -> Refusal | None:
            unfinished = _unfinished(connection, player, MAX_UNFINISHED)
            if unfinished:
                return still_playing(len(unfinished))
            forget_player(connection, player)
            return None

        self._database.submit(work, done)

    def seen(self, guest: PlayerId, now_ms: int) -> None:
        """Write down that a guest is here, unless that was done a while ago; nobody waits for it."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                "UPDATE players SET seen_ms = ? WHERE id = ? AND seen_ms < ?", (now_ms, guest, now_ms - SEEN_MS)
            )

        self._database.submit(work, lambda _: None)

    def invite(self, invitation: Invitation, now_ms: int, done: Callable[[StorageError | None], None]) -> None:
        """Write an invitation down, in place of the player's last."""
        self._database.submit(lambda connection: keep_invitation(connection, invitation, now_ms), done)

    def spend(self, code: str) -> None:
        """Forget the invitation of that code, before what it leads to is written; nobody waits for it."""
        self._database.submit(lambda connection: spend_invitation(connection, code), lambda _: None)

    def invitations(self, now_ms: int, done: Callable[[list[Invitation] | StorageError], None]) -> None:
        """Read the invitations that are good still."""
        self._database.submit(lambda connection: read_invitations(connection, now_ms), done)

    def look_up(self, question: Question, done: Callable[[Heard | Refusal | StorageError], None]) -> None:
        """Let the journal's thread answer a question."""

        def work(connection: sqlite3.Connection) -> Heard | Refusal:
            try:
                return question(connection)
            except Refusal as refusal:
                return refusal

        self._database.submit(work, done)

    def find(
        self, token: str, bot: str | None, now_ms: int, done: Callable[[Player | StorageError | None], None]
    ) -> None:
        """Find the player that the token belongs to, None if it is unknown; a bot comes with its label."""

        def work(connection: sqlite3.Connection) -> Player | None:
            row = connection.execute(
                "SELECT id, name, bot, is_guest FROM players WHERE token_hash = ?", (_hash(token),)
            ).fetchone()
            if row is None:
                return None
            player, name, label, is_guest = row
            if bot is not None and label != bot:  # once a bot, marked for good: a look at a profile is no play
                connection.execute("UPDATE players SET bot = ? WHERE id = ?", (bot, player))
            matches = _unfinished(connection, player, MAX_UNFINISHED)
            return Player(player, name, matches, bool(is_guest), ratings_of(connection, player, now_ms))

        self._database.submit(work, done)


def still_playing(count: int) -> Refusal:
    """Return how `forget` is refused to one who has so many unfinished matches."""
    return Refusal(
        Code.STILL_PLAYING, f"you have {count} unfinished match{'' if count == 1 else 'es'}; finish or resign first"
    )


def forget_player(connection: sqlite3.Connection, player: PlayerId) -> None:
    """Delete the player's name, token and ratings; what he has played keeps his number."""
    connection.execute(
        "UPDATE players SET name = ?, name_key = NULL, token_hash = NULL, bot = NULL, is_guest = 0, created_ms = 0,"
        " seen_ms = 0 WHERE id = ?",
        (FORGOTTEN, player),
    )
    connection.execute("DELETE FROM looks WHERE player = ?", (player,))
    connection.execute("DELETE FROM ratings WHERE player = ?", (player,))
    connection.execute("DELETE FROM invitations WHERE player = ?", (player,))
    connection.execute(  # it would still name him; and nobody can come in with his token any more
        "DELETE FROM sanctions WHERE act IN ('ban', 'mute') AND whom = 'player:' || ?", (player,)
    )


def _unfinished(connection: sqlite3.Connection, player: PlayerId, most: int) -> tuple[str, ...]:
    """Return the player's unfinished matches, the newest first.

    Two searches, for with `first = ? OR second = ?` SQLite reads the unfinished matches of everybody.
    """
    rows = connection.execute(
        "SELECT id FROM (SELECT id, started_ms FROM matches WHERE NOT is_over AND first = ?1"
        " UNION SELECT id, started_ms FROM matches WHERE NOT is_over AND second = ?1)"
        " ORDER BY started_ms DESC LIMIT ?2",
        (player, most),
    )
    return tuple(match for (match,) in rows)


def read_match(connection: sqlite3.Connection, match: str) -> Record | None:
    """Return the match of that id, or None if there is none; one that cannot be understood raises `StorageError`."""
    row = connection.execute(
        "SELECT number, first, second, one.name, other.name FROM matches"
        " JOIN players AS one ON one.id = first JOIN players AS other ON other.id = second WHERE matches.id = ?",
        (match,),
    ).fetchone()
    if row is None:
        return None
    number, first, second, *names = row
    rows = connection.execute("SELECT fact FROM facts WHERE match = ? ORDER BY seq", (number,))
    try:
        facts = [decode_fact(fact) for (fact,) in rows]
    except msgspec.MsgspecError as error:
        raise StorageError(f"match {match} cannot be read: {error}") from None
    if facts and isinstance(facts[0], Started):
        facts[0] = with_names(facts[0], names[0], names[1])
    return Record((first, second), facts)


def with_names(started: Started, first: str, second: str) -> Started:
    """Return the start of a match with the names that its players have now."""
    one, other = started.players
    return restruct(started, players=(restruct(one, name=first), restruct(other, name=second)))


def _is_taken(connection: sqlite3.Connection, name: str, player: PlayerId | None) -> bool:
    """Tell whether another than `player` has that name, or one that people would take for it."""
    alike = connection.execute(
        "SELECT 1 FROM players WHERE name_key = ? AND id IS NOT ? UNION ALL"
        " SELECT 1 FROM looks WHERE look IN (SELECT value FROM json_each(?)) AND player IS NOT ? LIMIT 1",
        (name_key(name), player, json.dumps(list(looks(name))), player),
    )
    return alike.fetchone() is not None


def _note_looks(connection: sqlite3.Connection, player: PlayerId, name: str) -> None:
    connection.execute("DELETE FROM looks WHERE player = ?", (player,))
    connection.executemany("INSERT INTO looks (look, player) VALUES (?, ?)", [(look, player) for look in looks(name)])


def _name_taken(name: str) -> Refusal:
    return Refusal(Code.NAME_TAKEN, f"another player here is called {name}, or so much like it; choose another")


def finished_matches(connection: sqlite3.Connection) -> list[str]:
    """Return the ids of the matches that are over, in the order in which they began."""
    rows = connection.execute("SELECT id FROM matches WHERE is_over ORDER BY started_ms, id")
    return [match for (match,) in rows]


def _append(
    connection: sqlite3.Connection, appends: list[tuple[Sequence[Fact], tuple[PlayerId, PlayerId] | None]]
) -> list[Changes | None]:
    """Write down the facts of many matches, with one statement for each table that they touch.

    Return for each item what it did to the ratings: of several rated ends in it, there is never more than one.
    """
    started, ended, rows = [], [], []
    for facts, seats in appends:
        for fact in facts:
            # a fact says who by his seat alone, so that a name can be changed, and forgotten
            kept = with_names(fact, "", "") if isinstance(fact, Started) else fact
            rows.append((fact.match, fact.seq, encode(kept)))
            if isinstance(fact, Started):
                assert seats is not None, "a match starts with its seats"
                time = None if fact.time is None else encode(fact.time).decode()
                started.append((fact.match, *seats, fact.at_ms, fact.game, time, fact.rated, fact.private))
            elif isinstance(fact, Ended):
                ended.append(fact)
    if started:
        connection.executemany(
            "INSERT INTO matches (id, first, second, started_ms, game, time, is_rated, is_private)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            started,
        )
    connection.executemany(
        "INSERT INTO facts (match, seq, fact) VALUES ((SELECT number FROM matches WHERE id = ?), ?, ?)", rows
    )
    if ended:
        changes = rate(connection, ended)
        connection.executemany(  # which the triggers count for both players
            "UPDATE matches SET is_over = 1, ended_ms = ?, winner = ?, reason = ?, plies = ?"
            " WHERE id = ? AND NOT is_over",
            [(each.at_ms, each.winner, each.reason, _plies(connection, each.match), each.match) for each in ended],
        )
        return [next((changes[fact.match] for fact in facts if fact.match in changes), None) for facts, _ in appends]
    return [None] * len(appends)


def _plies(connection: sqlite3.Connection, match: str) -> int:
    """Return how many moves a match has, those that were taken back left out: its newest such fact knows."""
    newest = connection.execute(
        "SELECT fact FROM facts WHERE match = (SELECT number FROM matches WHERE id = ?) ORDER BY seq DESC", (match,)
    )
    for (kept,) in newest:
        fact = decode_fact(kept)
        if isinstance(fact, Played | Tookback):
            return fact.ply
    return 0


def _hash(token: str) -> bytes:
    """Return what is kept of a token: with 256 random bits in it, a plain hash cannot be guessed back."""
    return hashlib.sha256(token.encode()).digest()
