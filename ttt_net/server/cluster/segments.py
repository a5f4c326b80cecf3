"""Split the tables for a snapshot: finished matches into immutable segments, and everything else into one file.

A segment holds the packed matches of a range of numbers: their rows of `matches` and `facts`. Their `results` follow
from these. Its name contains the first number and the SHA-256 of its bytes, so a range that changes becomes another
object. The file with all other rows has a table `manifest` of the segments that complete it.

The table `segments` of a node has the hashes of its own ranges, as far as they are known. Triggers delete a hash when a
row of its range changes, so a hash that is there is right. Nothing else depends on that table, and nodes differ in it.
Knows no log, no thread and no event loop.
"""

import hashlib
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import BinaryIO, NamedTuple

import msgspec

from ttt_net.errors import StorageError
from ttt_net.server.journal.schema import SCHEMA_VERSION

SIZE = 10_000
"""The match numbers of one segment: some 7 MB."""
_TRIGGER = """
CREATE TRIGGER IF NOT EXISTS segments_{table}_{event} AFTER {event} ON {table} WHEN {condition}
BEGIN
    DELETE FROM segments
        WHERE first = (SELECT max(first) FROM segments WHERE first <= {row}.{key}) AND last >= {row}.{key};
END;
"""
_OF_PACKED = "(SELECT is_packed FROM matches WHERE number = {row}.match)"
TABLES = """
CREATE TABLE IF NOT EXISTS segments (
    first INTEGER PRIMARY KEY,
    last INTEGER NOT NULL,
    schema INTEGER NOT NULL,
    sha256 TEXT
) STRICT;
""" + "".join(
    _TRIGGER.format(table=table, key=key, event=event, row=row, condition=condition.format(row=row))
    for table, key, events in (
        ("matches", "number", {"UPDATE": "OLD.is_packed OR NEW.is_packed", "DELETE": "OLD.is_packed"}),
        ("facts", "match", dict.fromkeys(("INSERT", "UPDATE", "DELETE"), _OF_PACKED)),
    )
    for event, condition in events.items()
    for row in ["OLD" if event == "DELETE" else "NEW"]
)
"""The hashes of this node's own ranges. NULL marks a range whose hash is being computed: see `claim`."""
_MANIFEST = "CREATE TABLE manifest (first INTEGER PRIMARY KEY, last INTEGER, schema INTEGER, sha256 TEXT)"
_SPLIT = ("matches", "facts", "results")
"""The tables whose rows are partly in segments."""
_IN_SEGMENTS = "manifest CROSS JOIN matches ON number BETWEEN manifest.first AND manifest.last WHERE is_packed"
_RESULTS = f"""
INSERT INTO results (player, is_private, ended_ms, match, game)
SELECT matches.first, is_private, ended_ms, id, game FROM {_IN_SEGMENTS} UNION ALL
SELECT matches.second, is_private, ended_ms, id, game FROM {_IN_SEGMENTS} ORDER BY 1, 2, 3, 4
"""  # noqa: S608 - ours
_HAS_OTHER_RESULTS = """
SELECT count(*) <> 2 * (SELECT count(*) FROM {schema}.matches WHERE is_packed AND number BETWEEN :first AND :last)
    OR total((results.player = first OR results.player = second) AND results.is_private = matches.is_private
        AND results.ended_ms = matches.ended_ms AND results.game = matches.game) <> count(*)
FROM {schema}.matches CROSS JOIN {schema}.results ON results.match = id
WHERE is_packed AND number BETWEEN :first AND :last
"""


class Segment(NamedTuple):
    """A range of matches, as a manifest names it."""

    first: int
    last: int
    sha256: str
    """The hash of its bytes, in hexadecimal digits."""
    schema: int = SCHEMA_VERSION
    """The schema of its rows."""

    @property
    def name(self) -> str:
        """The name of its object in the log's store."""
        return f"segment-{self.first}-{self.sha256}"


class Part:
    """A part of a file, which can be read once from its beginning."""

    def __init__(self, file: BinaryIO, offset: int, size: int) -> None:
        self._file, self._offset, self._left = file, offset, size

    def read(self, most: int = -1) -> bytes:
        """Return the next bytes."""
        self._file.seek(self._offset)
        data = self._file.read(self._left if most < 0 else min(most, self._left))
        self._offset += len(data)
        self._left -= len(data)
        return data


class Rows(msgspec.Struct, frozen=True, array_like=True):
    """The content of a segment: the columns and rows of two tables, ordered by number."""

    match_columns: list[str]
    matches: list[tuple[int | str | None, ...]]
    fact_columns: list[str]
    facts: list[tuple[int, int, int, bytes]]


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Rows)


# As the steward.


def forget_others(connection: sqlite3.Connection, size: int) -> None:
    """Delete the hashes of segments with another size, or of another schema."""
    connection.execute(
        "DELETE FROM segments WHERE last - first <> ? OR first % ? OR schema <> ?", (size - 1, size, SCHEMA_VERSION)
    )


def claim(connection: sqlite3.Connection, size: int, found: Collection[str]) -> None:
    """Mark the complete ranges whose hash is unknown, or whose segment is not among the `found` ones of the store.

    The hash of a marked range may be computed beside the thread that writes: if the range changes before `note`, its
    mark is gone, and the hash is not noted.
    """
    query = "SELECT (SELECT min(number) FROM matches), (SELECT max(number) FROM matches)"
    lowest, highest = connection.execute(query).fetchone()
    if lowest is None:
        return
    complete = range(lowest // size * size, highest - size + 1, size)
    connection.executemany(
        "INSERT OR IGNORE INTO segments (first, last, schema, sha256) VALUES (?, ?, ?, NULL)",
        [(first, first + size - 1, SCHEMA_VERSION) for first in complete],
    )
    known = connection.execute("SELECT first, last, sha256 FROM segments WHERE sha256 IS NOT NULL").fetchall()
    lost = [(row[0],) for row in known if Segment(*row).name not in found]
    connection.executemany("UPDATE segments SET sha256 = NULL WHERE first = ?", lost)


def note(connection: sqlite3.Connection, segments: Iterable[Segment]) -> None:
    """Note the hashes of ranges that have not changed since `claim`."""
    connection.executemany(
        "UPDATE segments SET sha256 = ? WHERE first = ? AND last = ? AND sha256 IS NULL",
        [(each.sha256, each.first, each.last) for each in segments],
    )


def split(connection: sqlite3.Connection, found: Collection[str], spool: BinaryIO) -> list[tuple[Segment, Part | None]]:
    """Fill an empty database with the rows of the attached `source` that are in no segment, and with a manifest.

    Return the segments of the manifest. The ones that the store lacks are written to `spool`. This reads one state of
    `source`, on any thread.
    """
    connection.execute("BEGIN")
    tables = connection.execute(
        "SELECT name, sql FROM source.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    ).fetchall()
    for _, sql in tables:
        connection.execute(sql)
    connection.execute(_MANIFEST)
    segments: list[tuple[Segment, Part | None]] = []
    rows = connection.execute("SELECT first, last, sha256 FROM source.segments ORDER BY first").fetchall()
    for first, last, sha256 in rows:
        if sha256 is not None:
            segments.append((Segment(first, last, sha256), None))
        elif (data := read_range(connection, "source", first, last)) is not None:
            segment, offset = Segment(first, last, sha256_of(data)), spool.tell()
            is_new = segment.name not in found
            if is_new:
                spool.write(data)
            segments.append((segment, Part(spool, offset, len(data)) if is_new else None))
    for where, values in _outside([segment for segment, _ in segments]):
        connection.execute(f"INSERT INTO main.matches SELECT * FROM source.matches {where}", values)  # noqa: S608 - ours
    connection.execute(
        "INSERT INTO main.facts SELECT facts.* FROM main.matches CROSS JOIN source.facts ON facts.match = number"
    )
    connection.execute(
        "INSERT INTO main.results SELECT results.* FROM main.matches CROSS JOIN source.results ON results.match = id"
    )
    for name in [name for name, _ in tables if name not in (*_SPLIT, "segments")]:
        connection.execute(f"INSERT INTO main.{name} SELECT * FROM source.{name}")  # noqa: S608 - ours
    connection.execute("DELETE FROM main.sqlite_sequence")
    connection.execute("INSERT INTO main.sqlite_sequence SELECT * FROM source.sqlite_sequence")
    manifest = [(each.first, each.last, each.schema, each.sha256) for each, _ in segments]
    connection.executemany("INSERT INTO manifest (first, last, schema, sha256) VALUES (?, ?, ?, ?)", manifest)
    (version,) = connection.execute("PRAGMA source.user_version").fetchone()
    connection.execute(f"PRAGMA main.user_version = {version}")
    connection.execute("COMMIT")
    return segments


def read_range(connection: sqlite3.Connection, schema: str, first: int, last: int) -> bytes | None:
    """Return the bytes of a segment; None if it would be empty, or would not give the existing `results`."""
    bounds = first, last
    matches = connection.execute(
        f"SELECT * FROM {schema}.matches WHERE is_packed AND number BETWEEN ? AND ? ORDER BY number",  # noqa: S608 - ours
        bounds,
    )
    match_columns, match_rows = _columns(matches), matches.fetchall()
    if not match_rows or _has_other_results(connection, schema, first, last):
        return None
    facts = connection.execute(
        f"SELECT facts.* FROM {schema}.matches CROSS JOIN {schema}.facts ON match = number"  # noqa: S608 - ours
        " WHERE is_packed AND number BETWEEN ? AND ? ORDER BY match, seq",
        bounds,
    )
    return _encoder.encode(Rows(match_columns, match_rows, _columns(facts), facts.fetchall()))


def _has_other_results(connection: sqlite3.Connection, schema: str, first: int, last: int) -> bool:
    (found,) = connection.execute(_HAS_OTHER_RESULTS.format(schema=schema), {"first": first, "last": last}).fetchone()
    return bool(found)


def sha256_of(data: bytes) -> str:
    """Return the hash of a segment's bytes."""
    return hashlib.sha256(data).hexdigest()


def _columns(cursor: sqlite3.Cursor) -> list[str]:
    return [name for name, *_ in cursor.description]


def _outside(segments: Sequence[Segment]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield conditions, each with its values, that together select every match in no segment once."""
    yield "INDEXED BY live_of_first WHERE NOT is_over AND NOT is_packed", ()
    yield "INDEXED BY unpacked_matches WHERE is_over AND NOT is_packed", ()
    begin = 0
    for segment in segments:
        yield "WHERE is_packed AND number BETWEEN ? AND ?", (begin, segment.first - 1)
        begin = segment.last + 1
    yield "WHERE is_packed AND number >= ?", (begin,)


# As a node that begins from a snapshot.


def manifest_of(given: sqlite3.Connection) -> list[Segment] | None:
    """Return the segments that complete a snapshot; None if it is complete, as older releases write it."""
    if given.execute("SELECT 1 FROM sqlite_schema WHERE name = 'manifest'").fetchone() is None:
        return None
    rows = given.execute("SELECT first, last, sha256, schema FROM manifest ORDER BY first").fetchall()
    return [Segment(*row) for row in rows]


def is_known_in(connection: sqlite3.Connection, segment: Segment) -> bool | None:
    """Tell whether tables have the matches of a segment in that range, and no other packed ones; None: not known."""
    if segment.schema != SCHEMA_VERSION:
        return False
    query = "SELECT sha256 FROM segments WHERE first = ? AND last = ? AND sha256 IS NOT NULL"
    known = connection.execute(query, (segment.first, segment.last)).fetchone()
    return None if known is None else bool(known[0] == segment.sha256)


def is_in(connection: sqlite3.Connection, segment: Segment) -> bool:
    """Tell the same as `is_known_in`, but read the range if it is not known."""
    known = is_known_in(connection, segment)
    if known is not None:
        return known
    data = read_range(connection, "main", segment.first, segment.last)
    return data is not None and sha256_of(data) == segment.sha256


def add(given: sqlite3.Connection, segment: Segment, data: bytes) -> None:
    """Add the rows of a segment to a snapshot, all but its `results`: see `add_results`.

    Raises `StorageError` if they are not the ones in the manifest.
    """
    if sha256_of(data) != segment.sha256:
        raise StorageError(f"{segment.name} is damaged")
    rows = _decoder.decode(data)
    given.execute("BEGIN")
    for table, columns, values in (
        ("matches", rows.match_columns, rows.matches),
        ("facts", rows.fact_columns, rows.facts),
    ):
        places = ", ".join("?" * len(columns))
        given.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})", values)  # noqa: S608 - hashed
    given.execute("COMMIT")


def add_results(given: sqlite3.Connection) -> None:
    """Add the `results` of all added segments: at once and in their order, which writes each page once."""
    given.execute(_RESULTS)


def complete(given: sqlite3.Connection, tables: sqlite3.Connection, manifest: Sequence[Segment]) -> None:
    """Make a snapshot to which all segments were added a copy of the steward's tables.

    It gets whatever else a node's `tables` have, and their indexes, which are created fastest once all rows exist.
    """
    given.execute("DROP TABLE manifest")
    _note_all(given, manifest)
    present = {name for (name,) in given.execute("SELECT name FROM sqlite_schema")}
    rows = tables.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid").fetchall()
    for name, sql in rows:
        if name not in present:
            given.execute(sql)


def take_over(connection: sqlite3.Connection, manifest: Sequence[Segment], kept: Sequence[Segment]) -> None:
    """Replace all rows of the tables by those of the attached `given`, except the matches of the `kept` segments.

    In one transaction; foreign keys must not be enforced meanwhile.
    """
    connection.execute("BEGIN IMMEDIATE")
    triggers = connection.execute("SELECT name, sql FROM main.sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("CREATE TEMP TABLE gone (number INTEGER PRIMARY KEY, id TEXT)")
    for where, values in _outside(kept):
        connection.execute(f"INSERT INTO gone SELECT number, id FROM main.matches {where}", values)  # noqa: S608 - ours
    connection.execute("DELETE FROM main.results WHERE match IN (SELECT id FROM gone)")
    connection.execute("DELETE FROM main.facts WHERE match IN (SELECT number FROM gone)")
    connection.execute("DELETE FROM main.matches WHERE number IN (SELECT number FROM gone)")
    connection.execute("DROP TABLE gone")
    tables = connection.execute(
        "SELECT name FROM given.sqlite_schema WHERE type = 'table' AND name NOT IN ('manifest', 'segments')"
    ).fetchall()
    for (name,) in tables:
        if name not in _SPLIT:
            connection.execute(f"DELETE FROM main.{name}")  # noqa: S608 - ours
        columns = ", ".join(_columns(connection.execute(f"SELECT * FROM given.{name} LIMIT 0")))  # noqa: S608 - ours
        connection.execute(f"INSERT INTO main.{name} ({columns}) SELECT {columns} FROM given.{name}")  # noqa: S608 - ours
    _note_all(connection, manifest)
    for _, sql in triggers:
        connection.execute(sql)
    connection.execute("COMMIT")


def _note_all(connection: sqlite3.Connection, manifest: Sequence[Segment]) -> None:
    """Note the hashes of a manifest, and no others."""
    connection.execute("DELETE FROM main.segments")
    connection.executemany(
        "INSERT INTO main.segments (first, last, sha256, schema) VALUES (?, ?, ?, ?)",
        [each for each in manifest if each.schema == SCHEMA_VERSION],
    )
