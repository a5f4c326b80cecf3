"""Decide which entries of the log count, and what they lead to in the tables of one node: the fence.

It reads these tables and what is in the batch, nothing else: so the same batches at the same places lead to the same
tables on every node, whatever was repeated, delayed or written by a node that was declared lost.
"""

import logging
import sqlite3
from itertools import groupby
from typing import Any, NamedTuple, assert_never

import msgspec

from ttt_net.errors import Code, Overtaken, Refusal, StorageError
from ttt_net.messages import Started
from ttt_net.server.cluster.entries import (
    AnyLoggedEntry,
    Author,
    Batch,
    BeginEpoch,
    Came,
    ClusterEntry,
    DeclareLost,
    NodeName,
    Sat,
    Went,
)
from ttt_net.server.cluster.log import Position
from ttt_net.server.journal.apply import apply
from ttt_net.server.journal.apply_events import append_events
from ttt_net.server.journal.entries import AppendEvents
from ttt_net.server.journal.queries import ratings_of, unfinished_of
from ttt_net.server.players import Player, PlayerId

log = logging.getLogger(__name__)

TABLES = """
CREATE TABLE IF NOT EXISTS place (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    position INTEGER NOT NULL,
    state TEXT NOT NULL,
    form INTEGER NOT NULL
) STRICT;
INSERT OR IGNORE INTO place VALUES (1, 0, '', 1);
CREATE TABLE IF NOT EXISTS nodes (
    node TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL,
    number INTEGER NOT NULL,
    since INTEGER NOT NULL,
    is_lost INTEGER NOT NULL,
    url TEXT NOT NULL,
    form INTEGER NOT NULL,
    last INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS connected (
    player INTEGER PRIMARY KEY,
    node TEXT NOT NULL,
    serial INTEGER NOT NULL,
    came BLOB NOT NULL
) STRICT;
"""
"""Where the tables stand in the log, and which form is in force; the newest epoch of each node, and since which place;
who is connected where.
"""
_PUT_IN_FORCE = """
UPDATE place SET form = MAX(form, COALESCE((SELECT MIN(form) FROM nodes WHERE NOT is_lost OR last > ?), 1))
"""
"""A form is in force once all know it who may write, or did a while ago and may come back; then never less again."""
AWHILE = 20_000
"""For so many places of the log, an hour where little happens, a node that is lost is waited for with a newer form."""
_DISK = (sqlite3.OperationalError, sqlite3.InternalError, MemoryError)
"""Failures of one node alone; every other result of an entry is the same on all nodes."""


class EntryOutcome(NamedTuple):
    """The result of one entry."""

    entry: AnyLoggedEntry
    result: Any
    """The return value of `apply`, or the `Refusal`."""
    names: tuple[str, str] | None = None
    """The names of the players of a started match, by side."""


def is_next(connection: sqlite3.Connection, batch: Batch, position: Position) -> bool:
    """Take note of a batch, and tell whether it is its author's next: no repeat, and not fenced off."""
    row = connection.execute("SELECT epoch, number, is_lost FROM nodes WHERE node = ?", (batch.node,)).fetchone()
    epoch, number, is_lost = row or (0, 0, True)
    if batch.epoch > epoch:
        if batch.number != 1 or not batch.entries or not isinstance(batch.entries[0], BeginEpoch):
            return False
        begin = batch.entries[0]
        (in_force,) = connection.execute("SELECT form FROM place").fetchone()
        if begin.form < in_force:
            return False
        connection.execute(
            "INSERT OR REPLACE INTO nodes (node, epoch, number, since, is_lost, url, form, last)"
            " VALUES (?, ?, 1, ?, 0, ?, ?, ?)",
            (batch.node, batch.epoch, position, begin.url, begin.form, position),
        )
        connection.execute(_PUT_IN_FORCE, (position - AWHILE,))
        return True
    if batch.epoch < epoch or is_lost or batch.number != number + 1:
        return False
    connection.execute("UPDATE nodes SET number = ?, last = ? WHERE node = ?", (batch.number, position, batch.node))
    return True


def carry_out(connection: sqlite3.Connection, batch: Batch) -> list[EntryOutcome]:
    """Apply the entries of a batch; neighbours that append to matches are applied together."""
    outcomes: list[EntryOutcome] = []
    for is_append, group in groupby(batch.entries, key=lambda entry: isinstance(entry, AppendEvents)):
        if is_append:
            appends = list(group)
            for append in appends:
                _must_be_stewards(connection, append, batch.author)  # type: ignore[arg-type]
            results = append_events(connection, appends)  # type: ignore[arg-type]
            outcomes += [
                EntryOutcome(entry, result, _names(connection, entry))
                for entry, result in zip(appends, results, strict=True)
            ]
        else:
            outcomes += [EntryOutcome(entry, _apply(connection, entry, batch.author)) for entry in group]
    return outcomes


def carry_out_one_by_one(connection: sqlite3.Connection, batch: Batch) -> list[EntryOutcome]:
    """Apply the entries of a batch, each whole or not at all."""
    outcomes = []
    for entry in batch.entries:
        connection.execute("SAVEPOINT entry")
        try:
            if isinstance(entry, AppendEvents):
                _must_be_stewards(connection, entry, batch.author)
            outcomes.append(EntryOutcome(entry, _apply(connection, entry, batch.author), _names(connection, entry)))
        except Exception as error:
            if is_of_the_disk(error):
                raise
            connection.execute("ROLLBACK TO entry")
            outcomes.append(EntryOutcome(entry, _refusal_of(entry, error)))
        connection.execute("RELEASE entry")
    return outcomes


def _names(connection: sqlite3.Connection, entry: AnyLoggedEntry) -> tuple[str, str] | None:
    if not isinstance(entry, AppendEvents) or entry.seats is None:
        return None
    first, second = (
        connection.execute("SELECT name FROM players WHERE id = ?", (player,)).fetchone() for player in entry.seats
    )
    return first[0], second[0]


def _refusal_of(entry: AnyLoggedEntry, error: Exception) -> Refusal:
    if isinstance(error, Refusal):
        return error.with_traceback(None)
    if isinstance(entry, AppendEvents) and isinstance(error, sqlite3.IntegrityError):
        return Overtaken()
    log.error("an entry of the log is refused: %s: %s", type(error).__name__, error)
    return StorageError(f"{type(error).__name__}: {error}")


def digest(outcome: EntryOutcome) -> object:
    """Return what must be the same on all nodes in what came of an entry."""
    if isinstance(outcome.result, Refusal):
        return outcome.result.code
    return outcome.result if isinstance(outcome.entry, AppendEvents) else None


def _must_be_stewards(connection: sqlite3.Connection, entry: AppendEvents, author: Author) -> None:
    """Refuse the start of a match that is not a rematch unless the author keeps the lobby."""
    if any(isinstance(event, Started) and event.previous is None for event in entry.events):
        steward = connection.execute(
            "SELECT node, epoch FROM nodes WHERE NOT is_lost ORDER BY since LIMIT 1"
        ).fetchone()
        if steward != author:
            raise Refusal(Code.RESTARTING, "the lobby is kept by another node now; ask again", 100)
        for player in entry.seats or ():
            if connection.execute("SELECT token_hash FROM players WHERE id = ?", (player,)).fetchone() == (None,):
                raise Refusal(Code.UNKNOWN_PLAYER, "one of them was forgotten here")


def _apply(connection: sqlite3.Connection, entry: AnyLoggedEntry, author: Author) -> object:
    if isinstance(entry, ClusterEntry):
        return _apply_own(connection, entry, author)
    return apply(connection, entry)


def _apply_own(connection: sqlite3.Connection, entry: ClusterEntry, author: Author) -> object:
    """Apply an entry of the cluster's own; as `apply`."""
    match entry:
        case BeginEpoch():
            return _disconnect(connection, author.node)
        case DeclareLost():
            lost = connection.execute(
                "UPDATE nodes SET is_lost = 1 WHERE node = ? AND epoch = ? AND number <= ? AND NOT is_lost",
                (entry.node, entry.epoch, entry.number),
            )
            if not lost.rowcount:
                raise Refusal(Code.TOO_LATE, f"node {entry.node} is not silent, or lost already")
            return _disconnect(connection, entry.node)
        case Came():
            player = player_of(connection, entry.player, entry.at_ms)
            connection.execute(
                "INSERT OR REPLACE INTO connected (player, node, serial, came) VALUES (?, ?, ?, ?)",
                (entry.player, author.node, entry.serial, msgspec.json.encode(entry)),
            )
            return player
        case Sat():
            _must_be_connected(connection, entry, author)
        case Went():
            _must_be_connected(connection, entry, author)
            connection.execute("DELETE FROM connected WHERE player = ?", (entry.player,))
        case _:
            assert_never(entry)
    return None


def _disconnect(connection: sqlite3.Connection, node: NodeName) -> list[PlayerId]:
    rows = connection.execute("DELETE FROM connected WHERE node = ? RETURNING player", (node,)).fetchall()
    return sorted(player for (player,) in rows)


def _must_be_connected(connection: sqlite3.Connection, entry: Sat | Went, author: Author) -> None:
    """Refuse what concerns a connection in whose place another has come."""
    row = connection.execute("SELECT node, serial FROM connected WHERE player = ?", (entry.player,)).fetchone()
    if row != (author.node, entry.serial):
        raise Refusal(Code.OPPONENT_GONE, "that connection is not theirs any more")


def player_of(connection: sqlite3.Connection, player: PlayerId, now_ms: int) -> Player:
    """Return a player as the tables know them. Raises `Refusal` if they were forgotten."""
    row = connection.execute(
        "SELECT name, bot, is_guest FROM players WHERE id = ? AND token_hash IS NOT NULL", (player,)
    ).fetchone()
    if row is None:
        raise Refusal(Code.UNKNOWN_PLAYER, "that player was forgotten here; say hello with a name")
    name, bot, is_guest = row
    matches = unfinished_of(connection, player)
    return Player(player, name, matches, bool(is_guest), ratings_of(connection, player, now_ms), bot)


def is_of_the_disk(error: Exception) -> bool:
    """Tell whether something failed on this node alone, and not for what an entry is."""
    is_damage = type(error) is sqlite3.DatabaseError  # itself: a file that is no database any more
    return is_damage or isinstance(error, _DISK)
