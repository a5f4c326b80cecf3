"""Packed matches: every answer about them is the same as before, and the journal gets smaller."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from benchmarks.cluster import differing_tables
from benchmarks.world import long_match
from tests.server.journal.asked import ended, played, started
from tests.server.journal.jobs import committed, register
from ttt_net import messages as wire
from ttt_net.errors import ConfigurationError, Overtaken, Refusal, StorageError
from ttt_net.messages import MatchEvent, Rematched
from ttt_net.server.journal import Database, finished_matches, past, read_match
from ttt_net.server.journal.apply import apply
from ttt_net.server.journal.backups import check
from ttt_net.server.journal.entries import AppendEvents, ForgetMatches, PackMatches
from ttt_net.server.journal.past import KeptMatches
from ttt_net.server.journal.queries import MatchesQuery, pack, unpacked

EVER = 2**60
JOURNAL = Path(__file__).with_name("schema_12.sql")


@pytest.fixture
def database() -> Iterator[Database]:
    """A database with Ann (1) and Bob (2)."""
    with closing(Database(None)) as made:
        committed(made, register("ann"), register("bob"))
        yield made


def write(database: Database, *events: MatchEvent) -> object:
    seats = (1, 2) if isinstance(events[0], wire.Started) else None
    (answer,) = committed(database, AppendEvents(events, seats))
    return answer


def pack_all(database: Database, before_ms: int = EVER, most: int = 1_000) -> object:
    (answer,) = committed(database, PackMatches(before_ms, most))
    return answer


def rows(database: Database, match: str = "m") -> list[int]:
    """Return the numbers of the rows in which the events of a match are."""
    query = "SELECT seq FROM facts JOIN matches ON number = match WHERE matches.id = ? ORDER BY seq"
    return [seq for (seq,) in database.connection.execute(query, (match,))]


def answers(connection: sqlite3.Connection) -> list[object]:
    """Return all that can be asked about the past of a journal."""
    found: list[object] = [check(connection), past.matches(connection, MatchesQuery())]
    for match in finished_matches(connection):
        stored = read_match(connection, match)
        asker = stored.seats[0]
        replay, record = wire.ReplayRequest(1, match, 0), wire.RecordRequest(1, match)
        found += [stored, past.finished(connection, match).match.moves]
        found += [past.replay(connection, KeptMatches(), replay, asker, is_heard=False)]
        found += [past.record(connection, KeptMatches(), record, asker)]
    for (player,) in connection.execute("SELECT id FROM players WHERE token_hash IS NOT NULL"):
        found.append(past.history(connection, None, None, None, player))
    return found


def test_all_answers_about_the_past_are_the_same_before_and_after_packing(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(JOURNAL.read_text())
    with closing(Database(path)) as database:
        before = answers(database.connection)
        assert len(before) > 15
        packed = pack_all(database)
        assert isinstance(packed, list)
        assert sorted(packed) == sorted(finished_matches(database.connection))
        assert [len(rows(database, match)) for match in packed] == [1, 1, 1, 1]
        assert answers(database.connection) == before
    with closing(Database(path)) as database:
        assert answers(database.connection) == before


def test_a_packed_match_accepts_only_its_next_event_which_is_read_after_the_others(database: Database) -> None:
    write(database, started(), played(2), ended(3))
    pack_all(database)
    rematched = [Rematched("m", seq, 100, "n") for seq in range(1, 6)]
    for each in (*rematched[:3], rematched[4]):
        assert isinstance(write(database, each), Refusal)
    assert write(database, rematched[3]) is None
    assert rows(database) == [3, 4]
    assert [event.seq for event in read_match(database.connection, "m").events] == [1, 2, 3, 4]
    assert pack_all(database) == []


def test_live_matches_and_those_that_ended_later_are_not_packed(database: Database) -> None:
    write(database, started(), played(2), ended(3))
    write(database, started("live"), played(2, "live"))
    assert pack_all(database, before_ms=99) == []
    assert pack_all(database, before_ms=100) == ["m"]
    assert (rows(database), rows(database, "live")) == ([3], [1, 2])


def test_an_entry_packs_about_as_many_plies_as_it_may_and_the_next_goes_on(database: Database) -> None:
    for match in "abcde":
        write(database, started(match), played(2, match), ended(3, match))
    assert [pack_all(database, most=4) for _ in range(4)] == [["a", "b"], ["c", "d"], ["e"], []]


def test_events_that_would_not_be_read_back_the_same_stay_as_they_are(database: Database) -> None:
    write(database, started(), played(2), ended(3))
    database.connection.execute("UPDATE facts SET fact = ? WHERE seq = 2", (wire.encode(played(2)) + b"\n",))
    before = read_match(database.connection, "m")
    assert pack_all(database) == ["m"]
    assert rows(database) == [1, 2, 3]
    assert read_match(database.connection, "m") == before


def test_a_damaged_pack_is_found_by_a_check_and_told_as_a_fault_of_the_disk(database: Database) -> None:
    write(database, started(), played(2), ended(3))
    pack_all(database)
    database.connection.execute("UPDATE facts SET fact = CAST(substr(fact, 1, length(fact) - 4) || 'gone' AS BLOB)")
    with pytest.raises(StorageError) as refused:
        read_match(database.connection, "m")
    assert refused.value.cause.startswith("match m cannot be read: ")
    with pytest.raises(ConfigurationError, match="match m cannot be played through"):
        check(database.connection)


def test_old_packed_matches_are_deleted_with_all_their_events(database: Database) -> None:
    write(database, started(), played(2), ended(3))
    pack_all(database)
    assert apply(database.connection, ForgetMatches(EVER, (), 20)) == ["m"]
    assert database.connection.execute("SELECT count(*) FROM facts").fetchone() == (0,)


def test_another_end_of_a_packed_match_changes_nothing(database: Database) -> None:
    write(database, started(), played(2), ended(3))
    pack_all(database)
    before = database.connection.execute("SELECT * FROM matches").fetchall()
    assert not isinstance(write(database, ended(4)), Overtaken | Refusal)
    assert database.connection.execute("SELECT * FROM matches").fetchall() == before


def test_a_pack_is_a_tenth_of_the_events_of_a_long_match_and_reads_back_the_same() -> None:
    facts = [wire.encode(event) for event in long_match("long")]
    packed = pack(facts)
    assert unpacked(packed) == facts
    assert len(packed) < sum(map(len, facts)) / 10
    assert all(unpacked(fact) == [fact] for fact in facts)


@pytest.mark.parametrize(("move", "differing"), [(4, []), (5, ["facts"])])
def test_journals_differ_by_their_events_and_not_by_which_matches_are_packed(
    tmp_path: Path, move: int, differing: list[str]
) -> None:
    paths = [tmp_path / "one.sqlite", tmp_path / "other.sqlite"]
    for path, played_move in zip(paths, (4, move), strict=True):
        with closing(Database(path)) as database:
            committed(database, register("ann"), register("bob"))
            write(database, started(), replace(played(2), move=played_move), ended(3))
            if path == paths[1]:
                pack_all(database)
    assert differing_tables(paths) == differing
