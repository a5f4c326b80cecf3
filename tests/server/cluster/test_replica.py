"""The fence: the same places of the log lead to the same tables, by any author, written once or often."""

import io
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.server.journal.jobs import register
from tests.server.journal.walk import Walk, canonical
from ttt_net.errors import Code, Overtaken, Refusal, StorageError
from ttt_net.messages import Played, PlayerInfo, Started
from ttt_net.messages.types import MAX_NUMBER
from ttt_net.server.cluster.log import (
    AnyLoggedEntry,
    Author,
    Batch,
    BeginEpoch,
    Came,
    DeclareLost,
    Went,
    encode_batch,
)
from ttt_net.server.cluster.replica import Applied, Replica
from ttt_net.server.journal.entries import AppendEvents, AuditNote, ForgetPlayer, SetBlock, WriteNote
from ttt_net.server.players import Player


class Written:
    """A log, written by hand, and a node that applies each place at once."""

    def __init__(self, replica: Replica) -> None:
        self.log: list[bytes] = []
        self.replica = replica

    def write(self, node: str, epoch: int, number: int, *entries: AnyLoggedEntry) -> Applied:
        return self.write_bytes(encode_batch(Batch(node, epoch, number, 0, "", entries)))

    def write_bytes(self, data: bytes) -> Applied:
        self.log.append(data)
        (applied,) = self.replica.apply([(len(self.log), data)])
        return applied

    def notes(self) -> list[str]:
        return [what for (what,) in self.replica.database.connection.execute("SELECT what FROM audit ORDER BY id")]


@pytest.fixture
def written() -> Iterator[Written]:
    made = Written(Replica(None))
    made.write("a", 1, 1, BeginEpoch("secret"))
    made.write("b", 1, 1, BeginEpoch("secret"))
    yield made
    made.replica.close()


def note(what: str) -> WriteNote:
    return WriteNote(AuditNote(1, "said", what))


def result(applied: Applied) -> object:
    assert applied.outcomes is not None
    (outcome,) = applied.outcomes
    return outcome.result


def started(match: str, previous: str | None = None) -> AppendEvents:
    players = PlayerInfo("ann"), PlayerInfo("bob")
    event = Started(match=match, seq=1, at_ms=1, game="tictactoe", players=players, time=None, previous=previous)
    return AppendEvents((event,), (1, 2))


def played(match: str, seq: int, move: int) -> AppendEvents:
    return AppendEvents((Played(match=match, seq=seq, at_ms=2, side=0, ply=seq - 1, move=move),))


def test_a_batch_that_arrives_twice_is_applied_once(written: Written) -> None:
    written.write("a", 1, 2, note("one"))
    assert written.write("a", 1, 2, note("one")).outcomes is None
    assert written.notes() == ["one"]


def test_a_batch_of_an_author_who_was_declared_lost_changes_nothing(written: Written) -> None:
    assert result(written.write("b", 1, 2, DeclareLost("a", 1, 1))) == []
    assert written.write("a", 1, 2, note("too late")).outcomes is None
    written.write("a", 2, 1, BeginEpoch("again"), note("back"))
    assert written.write("a", 1, 2, note("too late")).outcomes is None
    assert written.notes() == ["back"]


def test_a_node_that_has_written_meanwhile_is_not_declared_lost(written: Written) -> None:
    written.write("a", 1, 2, note("here I am"))
    refusal = result(written.write("b", 1, 2, DeclareLost("a", 1, 1)))
    assert isinstance(refusal, Refusal)
    written.write("a", 1, 3, note("still here"))
    assert written.notes() == ["here I am", "still here"]


@pytest.mark.parametrize(
    ("epoch", "number"), [(1, 3), (1, 0), (2, 2), (2, 1), (0, 2)], ids=["gap", "0", "epoch", "no beginning", "old"]
)
def test_a_batch_that_is_not_its_authors_next_changes_nothing(written: Written, epoch: int, number: int) -> None:
    assert written.write("a", epoch, number, note("what?")).outcomes is None
    written.write("a", 1, 2, note("next"))
    assert written.notes() == ["next"]


@pytest.mark.parametrize(
    "data", [b"", b"{", b"\xff", b'{"node":"a","epoch":1,"number":2,"entries":[{"entry":"Evil"}]}']
)
def test_invalid_batches_are_skipped(written: Written, data: bytes) -> None:
    assert written.write_bytes(data).batch is None
    written.write("a", 1, 2, note("next"))
    assert written.replica.position == 4
    assert written.notes() == ["next"]


def test_an_entry_that_no_author_of_ours_would_write_is_refused_and_the_others_stand(written: Written) -> None:
    written.write("a", 1, 2, register("ann"), register("bob"))
    evil: list[AnyLoggedEntry] = [
        played("nomatch1", 2, 4),
        AppendEvents((started("m2345678").events[0],), None),
        AppendEvents((started("m2345678").events[0],), (77, 78)),
        AppendEvents((Played(match="x" * 50, seq=MAX_NUMBER, at_ms=MAX_NUMBER, side=0, ply=0, move=MAX_NUMBER),)),
        Came(77, 1, "", 1, "192.0.2.1"),
    ]
    applied = written.write("a", 1, 3, note("one"), *evil, note("two"))
    assert applied.outcomes is not None
    assert [isinstance(outcome.result, Refusal) for outcome in applied.outcomes] == [False, *[True] * 5, False]
    assert written.notes() == ["one", "two"]


def test_of_two_events_of_one_number_the_second_is_overtaken_and_leaves_no_trace(written: Written) -> None:
    written.write("a", 1, 2, register("ann"), register("bob"), started("m2345678"))
    assert result(written.write("b", 1, 2, played("m2345678", 2, 4))) is None
    assert isinstance(result(written.write("a", 1, 3, played("m2345678", 2, 5))), Overtaken)
    query = "SELECT fact ->> 'move' FROM facts WHERE seq = 2"
    assert written.replica.database.connection.execute(query).fetchall() == [(4,)]


def test_only_the_oldest_node_begins_matches_but_rematches_begin_anywhere(written: Written) -> None:
    written.write("a", 1, 2, register("ann"), register("bob"))
    refusal = result(written.write("b", 1, 2, started("m2345678")))
    assert isinstance(refusal, Refusal)
    assert refusal.code is Code.RESTARTING
    assert result(written.write("b", 1, 3, started("m2345678-2", previous="m2345678"))) is None
    written.write("b", 1, 4, DeclareLost("a", 1, 2))
    assert list(written.replica.authors()) == [Author("b", 1)]
    assert result(written.write("b", 1, 5, started("m2345678"))) is None


@pytest.mark.parametrize(("form", "is_begun"), [(5, True), (6, False)])
@pytest.mark.parametrize("previous", [None, "m2345678"])
@pytest.mark.parametrize(("blocker", "blocked"), [(1, 2), (2, 1)])
def test_no_match_begins_after_a_block_once_form_6_is_in_force(
    form: int, is_begun: bool, previous: str | None, blocker: int, blocked: int
) -> None:
    with closing(Replica(None)) as replica:
        written = Written(replica)
        written.write("a", 1, 1, BeginEpoch("secret", form=form), register("ann"), register("bob"))
        mute, block = (SetBlock(blocker, blocked, act, on=True, most=9) for act in ("mute", "block"))
        end = replace(block, on=False)
        begins = [started(f"m234567{number}", previous=previous) for number in range(3)]
        applied = written.write("a", 1, 2, mute, begins[0], block, begins[1], note("still here"), end, begins[2])
        assert applied.outcomes is not None
        refusals = [each.result for each in applied.outcomes if isinstance(each.result, Refusal)]
        assert [each.code for each in refusals] == ([] if is_begun else [Code.NOT_WELCOME])
        matches = replica.database.connection.execute("SELECT id FROM matches ORDER BY id").fetchall()
        assert matches == [("m2345670",), *([("m2345671",)] if is_begun else []), ("m2345672",)]
        assert written.notes() == ["still here"]


def test_a_player_is_connected_to_one_node_and_to_none_once_it_is_lost(written: Written) -> None:
    written.write("a", 1, 2, register("ann"), register("bob"))
    assert result(written.write("a", 1, 3, Came(1, 5, "", 9, "192.0.2.1"))) == Player(1, "ann")
    written.write("b", 1, 2, Came(1, 3, "", 9, "192.0.2.2"), Came(2, 4, "", 9, "192.0.2.3"))
    assert isinstance(result(written.write("a", 1, 4, Went(1, 5))), Refusal)
    assert [(each.node, each.player.name) for each in written.replica.connected(9)] == [("b", "ann"), ("b", "bob")]
    written.write("b", 1, 3, Went(2, 4))
    assert result(written.write("a", 1, 5, DeclareLost("b", 1, 3))) == [1]
    assert written.replica.connected(9) == []


def test_the_same_places_lead_to_the_same_tables_however_they_are_bitten_off(written: Written) -> None:
    walk = Walk(7)
    walk.go(300)
    for number, entry in enumerate(walk.asked, 2):
        written.write("a", 1, number, entry)
        if number % 10 == 0:
            written.write("a", 1, number, entry)
    other = Replica(None)
    places = list(enumerate(written.log, 1))
    for first in range(0, len(places), 37):
        other.apply(places[first : first + 37])
    assert (other.position, other.state) == (written.replica.position, written.replica.state)
    assert canonical(other.database.connection) == canonical(written.replica.database.connection)
    other.close()


def test_a_snapshot_stands_where_it_was_taken(written: Written) -> None:
    written.write("a", 1, 2, register("ann"), note("one"))
    file = io.BytesIO()
    written.replica.write_to(file)
    file.seek(0)
    other = Replica(None)
    other.read_from(file)
    written.write("a", 1, 3, note("two"))
    other.apply([(4, written.log[3])])
    assert (other.position, other.state) == (written.replica.position, written.replica.state)
    assert canonical(other.database.connection) == canonical(written.replica.database.connection)
    with pytest.raises(StorageError):
        other.read_from(io.BytesIO(b"no snapshot"))
    other.close()


def test_a_disk_that_fails_leaves_tables_and_place_as_they_were(written: Written) -> None:
    connection = written.replica.database.connection
    before = canonical(connection), written.replica.position
    connection.execute("PRAGMA query_only = ON")
    with pytest.raises(StorageError):
        written.write("a", 1, 2, note("one"))
    connection.execute("PRAGMA query_only = OFF")
    assert (canonical(connection), written.replica.position) == before
    written.replica.apply([(3, written.log[2])])
    assert written.notes() == ["one"]


def test_a_file_that_is_damaged_is_this_nodes_own_trouble_and_no_refusal(tmp_path: Path) -> None:
    file = tmp_path / "journal.sqlite"
    replica = Replica(file)
    first = encode_batch(Batch("a", 1, 1, 0, "", (BeginEpoch("secret"), *(note("x" * 900) for _ in range(40)))))
    replica.apply([(1, first)])
    replica.database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    replica.database.connection.execute("PRAGMA shrink_memory")
    image = bytearray(file.read_bytes())
    image[4_096:] = b"?" * (len(image) - 4_096)
    file.write_bytes(image)
    with pytest.raises(StorageError) as raised:
        replica.apply([(2, encode_batch(Batch("a", 1, 2, 0, "", (note("y"),))))])
    assert raised.value.cause == "database disk image is malformed"
    assert replica.position == 1
    replica.close()


def test_the_place_in_the_log_is_stored_with_its_effects(tmp_path: Path) -> None:
    with closing(Replica(tmp_path / "journal.sqlite")) as replica:
        replica.apply([(1, encode_batch(Batch("a", 1, 1, 0, "", (BeginEpoch("s"), note("one")))))])
        state = replica.state
    with closing(Replica(tmp_path / "journal.sqlite")) as replica:
        assert (replica.position, replica.state, replica.epoch_of("a")) == (1, state, 1)
        found = replica.database.connection.execute("SELECT count(*) FROM audit").fetchone()
    assert found == (1,)
    with closing(sqlite3.connect(tmp_path / "journal.sqlite")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_deleted_player_is_in_no_file_of_a_node(tmp_path: Path) -> None:
    written = Written(Replica(tmp_path / "journal"))
    written.write("a", 1, 1, BeginEpoch("secret"))
    written.write("a", 1, 2, register("zoetrope"))

    def in_files() -> bool:
        return any(b"zoetrope" in path.read_bytes() for path in tmp_path.iterdir())

    assert in_files()
    written.write("a", 1, 3, ForgetPlayer(1))
    assert not in_files()
    written.replica.close()
