"""A file of an older program is brought up to date, step by step, and nothing that is in it is lost."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.server.journal.version_1 import VERSION_1
from ttt_net.errors import ConfigurationError
from ttt_net.messages import PlayerInfo, Started
from ttt_net.ratings import Rating
from ttt_net.server.journal import Database, migrations, open_readonly, read_match
from ttt_net.server.journal.backup import check
from ttt_net.server.journal.migrations import SCHEMA_VERSION, migrate


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "journal.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(VERSION_1)
    return path


def rows(path: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def update(path: Path) -> None:
    with closing(Database(path)):
        pass


def test_what_an_older_program_wrote_is_still_there(old: Path) -> None:
    update(old)
    assert rows(old, "PRAGMA user_version") == [(SCHEMA_VERSION,)]
    assert rows(old, "SELECT id, name, name_key, token_hash, created_ms FROM players ORDER BY id") == [
        (1, "Ann", "ann", b"\x01", 5),
        (2, "Bob", "bob", b"\x02", 6),
        (7, "C D", "c d", b"\x07", 7),
    ]
    assert rows(old, "SELECT id, first, second, started_ms, is_over FROM matches ORDER BY started_ms") == [
        ("won", 1, 2, 10, 1),
        ("drawn", 2, 1, 20, 1),
        ("off", 1, 7, 30, 1),
        ("live", 7, 2, 40, 0),
    ]
    with closing(open_readonly(old)) as connection:
        record = read_match(connection, "won")
    assert len(record.events) == 6
    assert isinstance(record.events[0], Started)
    assert record.events[0].players == (PlayerInfo("Ann"), PlayerInfo("Bob", "random"))
    assert rows(old, "PRAGMA foreign_key_check") == []
    assert rows(old, "PRAGMA integrity_check") == [("ok",)]


def test_names_are_kept_in_one_place_only(old: Path) -> None:
    update(old)
    kept = b"".join(fact for (fact,) in rows(old, "SELECT fact FROM facts"))
    for name in (b"Ann", "Änn".encode(), b"\\u00c4nn", b"Bob", b"C D"):
        assert name not in kept


def test_the_results_of_before_are_counted(old: Path) -> None:
    update(old)
    assert rows(old, "SELECT id, won, drawn, lost FROM players ORDER BY id") == [
        (1, 1, 1, 0),
        (2, 0, 1, 1),
        (7, 0, 0, 0),
    ]
    assert rows(old, "SELECT * FROM meetings ORDER BY player") == [(1, 2, 1, 1, 0), (2, 1, 0, 1, 1)]
    assert rows(old, "SELECT * FROM results ORDER BY player, ended_ms") == [
        (1, 1, 14, "won", "tictactoe"),
        (1, 0, 21, "drawn", "connect4"),
        (1, 0, 31, "off", "tictactoe"),
        (2, 1, 14, "won", "tictactoe"),
        (2, 0, 21, "drawn", "connect4"),
        (7, 0, 31, "off", "tictactoe"),
    ]
    assert rows(old, "SELECT game, time, is_private, ended_ms, winner, reason, plies FROM matches ORDER BY id") == [
        ("connect4", None, 0, 21, None, "agreement", 0),
        ("tictactoe", None, 0, None, None, None, None),
        ("tictactoe", None, 0, 31, None, "abort", 0),
        ("tictactoe", '{"initial_ms":180000,"increment_ms":2000}', 1, 14, 0, "resign", 1),
    ]


def test_a_new_file_and_an_older_one_come_to_the_same_tables(old: Path, tmp_path: Path) -> None:
    update(old)
    update(tmp_path / "new")
    query = "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name"
    assert rows(old, query) == rows(tmp_path / "new", query)


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION))
def test_a_file_of_every_earlier_version_comes_to_the_same_and_every_match_plays_through(
    old: Path, tmp_path: Path, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    between = tmp_path / "between"
    between.write_bytes(old.read_bytes())
    with monkeypatch.context() as program, closing(sqlite3.connect(between, isolation_level=None)) as connection:
        program.setattr(migrations, "STEPS", migrations.STEPS[:version])
        migrate(connection, between)
    assert rows(between, "PRAGMA user_version") == [(version,)]
    for path in (old, between):
        update(path)
    assert dump(between) == dump(old)
    with closing(open_readonly(between)) as connection:
        assert check(connection).matches == 4


def test_an_old_journal_is_kept_as_it_was_before_a_step(old: Path, tmp_path: Path) -> None:
    before = rows(old, "SELECT type, name, sql FROM sqlite_master ORDER BY name")
    update(old)
    kept = old.with_name(f"{old.name}.schema-1")
    assert rows(kept, "SELECT type, name, sql FROM sqlite_master ORDER BY name") == before
    assert kept.stat().st_mode & 0o777 == 0o600
    update(old)
    update(tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir() if ".schema-" in path.name) == [kept.name]


def test_ratings_of_before_know_until_when_they_are_settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "old"
    settled, unsure = Rating(1_600, 60.5, 0.059, 40, 10**12), Rating(1_700, 111, 0.06, 3, 10**12)
    with monkeypatch.context() as program, closing(sqlite3.connect(path, isolation_level=None)) as connection:
        program.setattr(migrations, "STEPS", migrations.STEPS[:5])
        migrate(connection, path)
        connection.execute("INSERT INTO players (id, name, name_key, created_ms, is_guest) VALUES (1, 'a', 'a', 0, 1)")
        for game, rating in (("connect4", settled), ("qubic", unsure)):
            connection.execute(
                "INSERT INTO ratings VALUES (1, ?, 'blitz', ?, ?, ?, ?, ?, 0, ?)", (game, *rating, rating.standing)
            )
    update(path)
    until = dict(rows(path, "SELECT game, settled_until_ms FROM ratings"))
    assert until["connect4"] == pytest.approx(settled.settled_until_ms, abs=1)
    assert until["qubic"] is None
    (seen_ms,) = rows(path, "SELECT seen_ms FROM players")[0]
    assert seen_ms > 1_700_000_000_000, "a guest of whom nothing is known counts as seen now"


def test_acts_of_before_lose_the_names_that_they_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "old"
    acts = [
        ("kick", "Ann: not: nice", (1, ": not: nice")),
        ("ban", "Ann until 2026-01-01 00:00 UTC: rude", (1, " until 2026-01-01 00:00 UTC: rude")),
        ("ban", "2001:db8::/64 for good: ", (None, "2001:db8::/64 for good: ")),
        ("unmute", "Bob", (None, "deleted")),
        ("kick", "Ｅｖｅ: why", (2, ": why")),
        ("drain", "in 5 s", (None, "in 5 s")),
    ]
    with monkeypatch.context() as program, closing(sqlite3.connect(path, isolation_level=None)) as connection:
        program.setattr(migrations, "STEPS", migrations.STEPS[:6])
        migrate(connection, path)
        for number, name, key in ((1, "Ann", "ann"), (2, "Ｅｖｅ", "eve")):
            row = (number, name, key)
            connection.execute("INSERT INTO players (id, name, name_key, created_ms) VALUES (?, ?, ?, 0)", row)
        for act, what, _ in acts:
            connection.execute("INSERT INTO audit (at_ms, act, what) VALUES (0, ?, ?)", (act, what))
    update(path)
    assert rows(path, "SELECT player, what FROM audit ORDER BY id") == [after for *_, after in acts]


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def test_a_step_that_fails_leaves_the_file_as_it_was(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = migrations.STEPS[1]

    def fail(connection: sqlite3.Connection) -> None:
        good(connection)
        raise OSError(28, "No space left on device")

    before = rows(old, "SELECT sql FROM sqlite_master"), rows(old, "SELECT * FROM facts")
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "STEPS", (migrations.STEPS[0], fail))
        with pytest.raises(ConfigurationError, match="No space left"):
            Database(old)
    assert rows(old, "PRAGMA user_version") == [(1,)]
    assert (rows(old, "SELECT sql FROM sqlite_master"), rows(old, "SELECT * FROM facts")) == before
    update(old)
    assert rows(old, "PRAGMA user_version") == [(SCHEMA_VERSION,)]


def test_a_match_that_cannot_be_read_is_named_and_nothing_is_changed(old: Path) -> None:
    with closing(sqlite3.connect(old)) as connection:
        connection.execute("UPDATE facts SET fact = x'ff' WHERE match = 'off' AND seq = 1")
        connection.commit()
    with pytest.raises(ConfigurationError, match="match off"):
        Database(old)
    assert rows(old, "PRAGMA user_version") == [(1,)]


_LONG = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT count(*) FROM n"


def test_a_large_file_tells_that_it_is_being_brought_up_to_date_and_then_no_more(old: Path) -> None:
    with closing(sqlite3.connect(old)) as connection:
        connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
            "INSERT INTO players (id, name, name_key, token_hash, created_ms) "
            "SELECT i, 'n' || i, 'n' || i, randomblob(16), i FROM n"
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


def test_a_reader_says_what_to_do_about_an_older_file_and_leaves_it_closed(old: Path) -> None:
    with pytest.raises(ConfigurationError, match="start the server on it once") as refused:
        open_readonly(old)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        refused.traceback[-1].locals["connection"].execute("SELECT 1")


def test_players_of_before_who_look_alike_keep_their_names_and_nobody_else_gets_one_like_them(old: Path) -> None:
    with closing(sqlite3.connect(old)) as connection:
        connection.execute("INSERT INTO players VALUES (8, 'B0b', 'b0b', x'08', 8)")
        connection.commit()
    update(old)
    assert rows(old, "SELECT look, player FROM looks WHERE look = 'bob' ORDER BY player") == [("bob", 2), ("bob", 8)]
