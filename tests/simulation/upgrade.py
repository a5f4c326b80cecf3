"""A journal as an older program would have left it, and what a newer one must make of it when it starts.

The older file has all that its tables can hold of what the world has lived through: matches that go on, results, people
with their tokens, sanctions. It lies on a real disk for the moment of its upgrade, for that keeps a copy beside it.
"""

import random
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from tests.server.journal.walk import canonical
from ttt_net.server.cluster.replica import Replica
from ttt_net.server.journal.database import Database
from ttt_net.server.journal.migrations import SCHEMA_VERSION, STEPS

_IN_MEMORY = Path("/dev/shm")
"""Where a disk that syncs costs no time, if the machine has one."""
_OLDEST = 3
"""Before it events lay in another order, by which matches had no numbers."""
_WITH_GUESTS = 6
"""Before it nobody knew when a guest was here last; the upgrade says now, by the clock of the machine."""
_WITH_SUBJECTS = 7
"""Before it the acts of admins held names, which the upgrade takes out."""
_OF_BEFORE = "WHERE whom NOT LIKE 'address:%' AND whom NOT LIKE 'token:%'"
"""Sanctions as they were before the newest schema: of networks and players alone."""
_FORMATS = slice(18, 20)
_ONLY_NOW = (
    "SELECT 1 FROM sqlite_sequence WHERE name = 'reports'",
    "SELECT 1 FROM moderators",
    "SELECT 1 FROM audit WHERE by <> 'host'",
    "SELECT 1 FROM sanctions WHERE by <> 'host' OR whom LIKE 'address:%' OR whom LIKE 'token:%'"
    " OR player IS NOT CASE WHEN whom LIKE 'player:%' THEN CAST(substr(whom, 8) AS INTEGER) END",
)
"""What finds a row that the last schema but one cannot hold."""
_OF_CLUSTER = ("place", "nodes", "connected")
_AS_NAMES = (
    "SELECT audit.id, at_ms, act, CASE WHEN player IS NULL THEN what ELSE coalesce(name, '') || what END FROM audit"
    " LEFT JOIN players ON players.id = audit.player"
)


def of_release_before(now: sqlite3.Connection) -> bytes:
    """Return an image of a node's tables as the release before would have left them; of these, if it cannot hold them.

    Beside the journal's they are the cluster's own, which were the same.
    """
    if any(now.execute(query).fetchone() for query in _ONLY_NOW):
        old = now
    else:
        old = fill_as_before(now, version=SCHEMA_VERSION - 1).connection
        for table in _OF_CLUSTER:
            (sql,) = now.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
            old.execute(sql)
            old.execute(f"DELETE FROM {table}")
            for row in now.execute(f"SELECT * FROM {table}").fetchall():
                old.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    image = bytearray(old.serialize())
    image[_FORMATS] = b"\x01\x01"
    return bytes(image)


def reopen(image: bytes, replica: Replica) -> None:
    """Open a node's tables as it does at its start, from a file, and put what they have become into `replica`."""
    with tempfile.TemporaryDirectory(dir=_IN_MEMORY if _IN_MEMORY.is_dir() else None) as folder:
        path = Path(folder, "journal.sqlite")
        path.write_bytes(image)
        found = BytesIO()
        with closing(Replica(path, replica.form)) as opened:
            opened.write_to(found)
    found.seek(0)
    replica.read_from(found)


def contents(replica: Replica) -> tuple[int, str]:
    """Return the schema of a node's tables, and all that is in them."""
    connection = replica.database.connection
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return version, canonical(connection)


class Before(NamedTuple):
    """The tables of an older program."""

    version: int
    connection: sqlite3.Connection


def any_version(now: sqlite3.Connection, rng: random.Random) -> int:
    """Return an older schema, chosen by chance of those that know what kinds of people there are."""
    has_guests = now.execute("SELECT 1 FROM players WHERE is_guest LIMIT 1").fetchone() is not None
    return rng.randrange(_WITH_GUESTS if has_guests else _OLDEST, SCHEMA_VERSION)


def fill_as_before(now: sqlite3.Connection, version: int) -> Before:
    """Return tables of an older schema with all of `now` that they can hold."""
    old = sqlite3.connect(":memory:", isolation_level=None)
    for step in STEPS[:version]:
        step(old)
    triggers = old.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name").fetchall()
    for name, _ in triggers:
        old.execute(f"DROP TRIGGER {name}")
    for table in _tables(old):
        columns = _columns_of_both(table, old, now)
        only = _OF_BEFORE if table == "sanctions" else ""
        query = f"SELECT {', '.join(columns)} FROM {table} {only} ORDER BY {', '.join(columns)}"
        rows = now.execute(_AS_NAMES if table == "audit" and version < _WITH_SUBJECTS else query).fetchall()
        places = ", ".join("?" * len(columns))
        old.executemany(f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({places})", rows)
    for _, sql in triggers:
        old.execute(sql)
    old.execute(f"PRAGMA user_version = {version}")
    return Before(version, old)


def upgraded(before: Before, into: sqlite3.Connection, claim: Callable[[bool, str], None]) -> None:
    """Open the older journal as a server does, and put what it has become into `into`; check that nothing was lost."""
    with tempfile.TemporaryDirectory(dir=_IN_MEMORY if _IN_MEMORY.is_dir() else None) as folder:
        path = Path(folder, "journal.sqlite")
        path.write_bytes(before.connection.serialize())
        with closing(Database(path)) as database:
            image = bytearray(database.connection.serialize())
        kept = path.with_name(f"{path.name}.schema-{before.version}")
        claim(kept.exists(), f"no copy is kept of a journal of schema {before.version}")
        with closing(sqlite3.connect(kept)) as copy:
            is_whole = canonical(copy) == canonical(before.connection)
            claim(is_whole, f"the copy of a journal of schema {before.version} is not what it was")
    image[_FORMATS] = b"\x01\x01"  # without a log beside it, which tables in memory have not
    with closing(sqlite3.connect(":memory:")) as after:
        after.deserialize(bytes(image))
        for table in _tables(before.connection):
            was, now = (_rows(table, each, before) for each in (before.connection, after))
            claim(was == now, f"the upgrade from schema {before.version} loses what was in {table}")
        claim(not after.execute("PRAGMA foreign_key_check").fetchall(), "a row refers to one that is not there")
        after.backup(into)
    before.connection.close()


def _tables(connection: sqlite3.Connection) -> list[str]:
    query = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY 1"
    return [name for (name,) in connection.execute(query)]


def _columns_of_both(table: str, old: sqlite3.Connection, new: sqlite3.Connection) -> list[str]:
    known = {column for _, column, *_ in new.execute(f"PRAGMA table_info({table})")}
    return [column for _, column, *_ in old.execute(f"PRAGMA table_info({table})") if column in known]


def _rows(table: str, connection: sqlite3.Connection, before: Before) -> list[str]:
    columns = _columns_of_both(table, before.connection, connection)
    if table == "audit" and before.version < _WITH_SUBJECTS:
        columns.remove("what")
    return sorted(map(repr, connection.execute(f"SELECT {', '.join(columns)} FROM {table}")))
