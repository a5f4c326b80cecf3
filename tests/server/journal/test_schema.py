"""A file that an older program wrote is brought up to date, and nothing that is in it is lost."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from ttt_net.errors import ConfigurationError
from ttt_net.server.journal import Database, open_readonly, schema
from ttt_net.server.journal.backups import check
from ttt_net.server.journal.schema import OLDEST, SCHEMA_VERSION

FOLDER = Path(__file__).parent
"""Holds a journal of every schema that is read, as a program of its time wrote it: schema_8.sql and so on."""
VERSIONS = range(OLDEST, SCHEMA_VERSION + 1)
CONTENTS = "4 players, 5 matches (1 unfinished), 20 events"


def written(path: Path, version: int) -> Path:
    """Write the journal of a schema to a path, and return that."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((FOLDER / f"schema_{version}.sql").read_text())
    return path


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A journal of the oldest schema."""
    return written(tmp_path / "journal.sqlite", OLDEST)


def rows(path: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def update(path: Path) -> None:
    with closing(Database(path)):
        pass


def structure(path: Path) -> dict[str, Any]:
    """Return the tables of a file with their columns, its indexes with theirs, and its triggers."""
    found: dict[str, Any] = {}
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'"
        for kind, name, sql in connection.execute(query).fetchall():
            pragmas = {"table": ("table_xinfo", "foreign_key_list", "index_list"), "index": ("index_xinfo",)}
            found[f"{kind} {name}"] = [
                sorted(connection.execute(f"PRAGMA {pragma}({name})").fetchall(), key=str)
                for pragma in pragmas.get(kind, ())
            ] or " ".join(sql.split())
            if kind == "table":
                (options,) = connection.execute(
                    "SELECT [strict], wr FROM pragma_table_list WHERE name = ?", (name,)
                ).fetchall()
                found[f"options of {name}"] = options
    for name in [each for each in found if each.startswith("table ")]:
        columns, keys, indexes = found[name]
        found[name] = columns, keys, sorted(index[1:] for index in indexes)  # whatever order they were made in
    return found


@pytest.mark.parametrize("version", VERSIONS)
def test_a_journal_of_every_schema_that_is_read_opens_and_every_match_plays_through(
    tmp_path: Path, version: int
) -> None:
    path = written(tmp_path / "journal.sqlite", version)
    update(path)
    assert rows(path, "PRAGMA user_version") == [(SCHEMA_VERSION,)]
    with closing(open_readonly(path)) as connection:
        assert str(check(connection)) == CONTENTS


@pytest.mark.parametrize("version", VERSIONS)
def test_an_older_file_gets_the_tables_of_a_new_one(tmp_path: Path, version: int) -> None:
    path = written(tmp_path / "journal.sqlite", version)
    update(path)
    update(tmp_path / "new")
    assert structure(path) == structure(tmp_path / "new")


def test_a_planted_difference_of_tables_is_found(tmp_path: Path) -> None:
    for name in ("one", "other"):
        update(tmp_path / name)
    with closing(sqlite3.connect(tmp_path / "other")) as connection:
        connection.execute("ALTER TABLE reports ADD COLUMN mood REAL")
    assert structure(tmp_path / "one") != structure(tmp_path / "other")


@pytest.mark.parametrize("version", VERSIONS)
def test_an_older_file_keeps_every_row(tmp_path: Path, version: int) -> None:
    path, before = written(tmp_path / "journal.sqlite", version), written(tmp_path / "before", version)
    update(path)
    with closing(sqlite3.connect(path)) as new, closing(sqlite3.connect(before)) as old:
        names = [name for (name,) in old.execute("SELECT name FROM pragma_table_list WHERE type = 'table'")]
        assert len(names) > 10
        for table in names:
            kept = {column for _, column, *_ in new.execute(f"PRAGMA table_info({table})")}
            columns = [column for _, column, *_ in old.execute(f"PRAGMA table_info({table})") if column in kept]
            if table == "sanctions" and version == 8:
                columns.remove("shown")  # a name, where it was about a player
            if table != "sqlite_schema":
                query = f"SELECT {', '.join(columns)} FROM {table} ORDER BY {', '.join(columns)}"
                assert new.execute(query).fetchall() == old.execute(query).fetchall(), table


def test_sanctions_of_before_name_their_player_by_number_and_the_host_as_their_author(old: Path) -> None:
    with closing(sqlite3.connect(old)) as connection:
        connection.execute("DELETE FROM sanctions")
        connection.execute("INSERT INTO sanctions VALUES ('ban', 'player:3', 'Ann', 'rude', 5, NULL)")
        connection.execute("INSERT INTO sanctions VALUES ('mute', '192.0.2.0/24', '192.0.2.0/24', '', 6, 7)")
        connection.commit()
    update(old)
    assert rows(old, "SELECT * FROM sanctions ORDER BY act") == [
        ("ban", "player:3", "", "rude", 5, None, 3, "host"),
        ("mute", "192.0.2.0/24", "192.0.2.0/24", "", 6, 7, None, "host"),
    ]


def test_a_file_from_before_the_oldest_schema_is_refused_with_advice(old: Path) -> None:
    with closing(sqlite3.connect(old)) as connection:
        connection.execute(f"PRAGMA user_version = {OLDEST - 1}")
    before = dump(old)
    with pytest.raises(ConfigurationError, match=f"has schema {OLDEST - 1}.* reads schemas {OLDEST} to .*2026-11-23"):
        Database(old)
    assert dump(old) == before
    assert [each.name for each in old.parent.iterdir() if ".schema-" in each.name] == []


def test_an_old_journal_is_kept_as_it_was_before_a_conversion(old: Path, tmp_path: Path) -> None:
    before = dump(old)
    update(old)
    kept = old.with_name(f"{old.name}.schema-{OLDEST}")
    assert dump(kept) == before
    assert kept.stat().st_mode & 0o777 == 0o600
    update(old)
    update(tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir() if ".schema-" in path.name) == [kept.name]


FULL = sqlite3.OperationalError("database or disk is full")


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (FULL, "database or disk is full; it is unchanged: make room on the disk"),
        (OSError(28, "No space left on device"), "No space left on device; it is unchanged: make room on the disk"),
        (sqlite3.IntegrityError("UNIQUE constraint failed"), "UNIQUE constraint failed; it is unchanged: start the"),
        (sqlite3.DatabaseError("database disk image is malformed"), "malformed; it is unchanged: start the program"),
    ],
)
def test_a_failed_conversion_leaves_the_file_unchanged_and_says_what_to_do(
    old: Path, error: Exception, advice: str
) -> None:
    convert = schema.convert

    def fail(connection: sqlite3.Connection, found: int) -> None:
        convert(connection, found)
        raise error

    before = dump(old)
    with mock.patch.object(schema, "convert", fail), pytest.raises(ConfigurationError) as refused:
        Database(old)
    assert advice in str(refused.value)
    assert f"cannot bring {old} from schema {OLDEST} up to date" in str(refused.value)
    assert "--data" not in str(refused.value)
    assert rows(old, "PRAGMA user_version") == [(OLDEST,)]
    assert dump(old) == before
    update(old)
    assert rows(old, "PRAGMA user_version") == [(SCHEMA_VERSION,)]


def test_a_journal_that_cannot_be_kept_is_not_converted(old: Path) -> None:
    before = dump(old)
    old.with_name(f"{old.name}.schema-{OLDEST}.part").mkdir()
    with pytest.raises(ConfigurationError, match="it is unchanged: make room on the disk"):
        Database(old)
    assert dump(old) == before


_LONG = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT count(*) FROM n"


def test_migrating_a_large_file_reports_progress_until_it_is_done(old: Path) -> None:
    with closing(sqlite3.connect(old)) as connection:
        connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
            "INSERT INTO audit (at_ms, act, what) SELECT i, 'drain', 'in ' || i || ' s' FROM n"
        )
        connection.commit()
    moves: list[None] = []
    with closing(Database(old, lambda: moves.append(None))) as database:
        assert moves
        moves.clear()
        database.connection.execute(_LONG).fetchone()
        assert not moves
    with closing(sqlite3.connect(old)) as connection:
        connection.set_progress_handler(lambda: moves.append(None), 100_000)
        connection.execute(_LONG).fetchone()
        assert moves, "it would have told"


def test_a_reader_does_not_open_an_older_file_and_says_what_to_do(old: Path) -> None:
    with pytest.raises(ConfigurationError, match="start the server on it once") as refused:
        open_readonly(old)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        refused.traceback[-1].locals["connection"].execute("SELECT 1")
