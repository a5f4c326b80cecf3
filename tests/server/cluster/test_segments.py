"""Snapshots whose finished matches are in segments: what a node has after one is what the steward had."""

import asyncio
import gzip
import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, closing
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, cast

import msgspec
import pytest

from tests.server.cluster.logs import WAIT_S, Cluster, Heard, published
from tests.server.cluster.nodes import snapshots_in
from tests.server.cluster.simulated_nodes import Nodes, keeper_of
from tests.server.journal.jobs import committed
from tests.server.journal.walk import Walk, canonical
from ttt_net.errors import Code, ConfigurationError, Refusal, StorageError
from ttt_net.messages import Ended, Offered, PlayerInfo, Started
from ttt_net.server.cluster import replica as replica_module
from ttt_net.server.cluster import segments, snapshots
from ttt_net.server.cluster.log import (
    FORM,
    AnyLoggedEntry,
    Batch,
    BeginEpoch,
    Log,
    MemoryLog,
    MemoryStream,
    encode_batch,
)
from ttt_net.server.cluster.replica import PastNeededError, Replica, clear_up
from ttt_net.server.cluster.segments import Rows, read_range, sha256_of
from ttt_net.server.cluster.snapshots import LOOK_S, Completion, catch_up
from ttt_net.server.journal.entries import (
    AnyEntry,
    AppendEvents,
    AuditNote,
    ForgetMatches,
    PackMatches,
    Probe,
    WriteNote,
)
from ttt_net.server.journal.queries import MatchQuery, unpacked
from ttt_net.server.journal.schema import SCHEMA_VERSION
from ttt_net.server.settings.configuration import SnapshotSchedule

SIZE = 4
EVER = 2**60
LIVED = 1_500
"""The steps of a walk after which there are dozens of finished matches."""


class Lasting(Walk):
    """A walk that keeps most of its finished matches."""

    def _old_matches(self) -> AnyEntry:
        return super()._old_matches() if self.rng.random() < 0.1 else Probe()


class Place:
    """Makes the tables of nodes, in files or in memory, with small segments."""

    def __init__(self, folder: Path | None, opened: ExitStack) -> None:
        self._folder, self._opened, self._count = folder, opened, 0

    def node(self, form: int = FORM) -> Replica:
        """Return the empty tables of another node."""
        self._count += 1
        path = None if self._folder is None else self._folder / f"{self._count}.sqlite"
        return self._opened.enter_context(closing(Replica(path, form, segment_size=SIZE)))

    def opened(self, replica: Replica) -> Replica:
        """Close tables at the end of the test."""
        return self._opened.enter_context(closing(replica))

    def files(self) -> list[str]:
        """Return the numbers of the nodes with files, and the names of other tables."""
        names = ["1", "2"] if self._folder is None else [each.stem for each in self._folder.glob("*.sqlite")]
        return sorted(names)

    def lived(self, seed: int) -> tuple[Walk, Replica]:
        """Return a node at place 7 whose tables have been through a walk, and the walk, which can go on."""
        replica = self.node()
        walk = lived(seed).copy(replica.database)
        replica.move_to(7)
        return walk, replica


@cache
def lived(seed: int) -> Lasting:
    """Return a walk through the tables of a node, from which others go on."""
    walk = Lasting(seed)
    walk.database = Replica(None, segment_size=SIZE).database
    walk.go(LIVED)
    committed(walk.database, PackMatches(EVER, 50))
    return walk


@pytest.fixture(params=["in files", "in memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    with ExitStack() as opened:
        yield Place(tmp_path if request.param == "in files" else None, opened)


class Store:
    """The log's store after some snapshots."""

    def __init__(self) -> None:
        self.segments: dict[str, bytes] = {}
        self.rest = b""

    def take(self, replica: Replica) -> list[str]:
        """Store another snapshot; return the names of the segments that had to be written for it."""
        assert replica.claim_segments(self.segments.keys()) is None
        with closing(replica.split(self.segments.keys())) as image:
            assert image.position == replica.position
            new = {segment.name: part.read() for segment, part in image.segments if part is not None}
            self.rest = image.file.read()
            named = [segment for segment, _ in image.segments]
        assert replica.note_segments(named) is None
        self.segments |= new
        self.segments = {segment.name: self.segments[segment.name] for segment in named}
        return list(new)

    def give(self, replica: Replica) -> list[str]:
        """Let a node begin from the newest snapshot; return the names of the segments that it had to fetch."""
        with replica.room_for_snapshot() as file:
            file.write(self.rest)
            file.seek(0)
            with replica.reading(file) as given:
                fetched = [*given.missing]
                for segment in fetched:
                    given.add(segment, self.segments[segment.name])
                given.take_over()
        return [segment.name for segment in fetched]


def schema_of(replica: Replica) -> list[tuple[str, ...]]:
    return replica.database.connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2").fetchall()


def known(replica: Replica) -> dict[int, str]:
    """Return the hashes that a node knows; each is right."""
    connection = replica.database.connection
    rows = connection.execute("SELECT first, last, sha256 FROM segments WHERE sha256 IS NOT NULL").fetchall()
    for first, last, sha256 in rows:
        data = read_range(connection, "main", first, last)
        assert data is not None
        assert sha256_of(data) == sha256
    return {first: sha256 for first, _, sha256 in rows}


def of_node(replica: Replica) -> tuple[str, list[tuple[str, ...]], object]:
    assert not replica.database.connection.execute("PRAGMA foreign_key_check").fetchall()
    assert replica.database.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    return canonical(replica.database.connection), schema_of(replica), (replica.position, replica.state)


@pytest.mark.parametrize("seed", range(3))
def test_a_new_node_has_the_tables_that_the_segments_and_the_rest_were_made_of(place: Place, seed: int) -> None:
    walk, steward = place.lived(seed)
    store, newcomer = Store(), place.node()
    written = store.take(steward)
    assert len(written) > 3
    assert sorted(store.give(newcomer)) == sorted(written)
    assert of_node(newcomer) == of_node(steward)
    assert known(newcomer) == known(steward) != {}
    at_begin = len(walk.asked)
    walk.go(300)
    for entry, answer in zip(walk.asked[at_begin:], walk.answers[at_begin:], strict=True):
        assert repr(committed(newcomer.database, entry)) == repr([answer])
    assert canonical(newcomer.database.connection) == canonical(steward.database.connection)


@pytest.mark.parametrize("seed", range(3))
def test_a_returning_node_fetches_what_changed_meanwhile_and_nothing_else(place: Place, seed: int) -> None:
    walk, steward = place.lived(seed)
    store, other, late = Store(), place.node(), place.node()
    store.take(steward)
    store.give(other)
    for _ in range(3):
        before = set(store.segments)
        walk.go(120)
        committed(steward.database, PackMatches(EVER, 50))
        steward.move_to(steward.position + 1)
        written = store.take(steward)
        assert set(written) == store.segments.keys() - before
        assert store.segments.keys() & before, "some ranges are as they were"
        assert {*store.give(other)} <= {*written}, "some matches have come with the rest before"
        assert of_node(other) == of_node(steward)
    assert store.give(other) == []
    store.give(late)
    assert of_node(late) == of_node(steward)


def test_a_node_compares_its_own_matches_where_it_knows_no_hashes(place: Place) -> None:
    _, steward = place.lived(1)
    store, other = Store(), place.node()
    store.take(steward)
    store.give(other)
    other.database.connection.execute("DELETE FROM segments")
    assert store.give(other) == []
    assert known(other) == known(steward)


@pytest.mark.parametrize("seed", range(3))
def test_a_hash_is_known_only_as_long_as_its_range_stays_as_it_is(seed: int) -> None:
    with ExitStack() as opened:
        walk, steward = Place(None, opened).lived(seed)
        store = Store()
        lost = 0
        for _ in range(40):
            store.take(steward)
            before = known(steward)
            walk.go(15)
            lost += len(before.keys() - known(steward).keys())
        assert lost > 0


def test_a_range_that_changes_while_its_segment_is_made_is_not_taken_for_it(place: Place) -> None:
    _, steward = place.lived(1)
    assert steward.claim_segments(()) is None
    with closing(steward.split(())) as image:
        named = [segment for segment, _ in image.segments]
    (oldest,) = committed(steward.database, ForgetMatches(EVER, (), 1))
    assert len(oldest) == 1
    steward.note_segments(named)
    assert len(known(steward)) == len(named) - 1


def test_forgotten_matches_are_in_no_object_of_the_next_snapshot(place: Place) -> None:
    _, steward = place.lived(2)
    store, newcomer = Store(), place.node()
    store.take(steward)
    (gone,) = committed(steward.database, ForgetMatches(EVER, (), 3))
    assert gone
    assert {*gone} <= ids_in(store)
    store.take(steward)
    assert not {*gone} & ids_in(store)
    store.give(newcomer)
    assert of_node(newcomer) == of_node(steward)


def ids_in(store: Store) -> set[object]:
    """Return the matches that the store has records of."""
    found = {row[1] for data in store.segments.values() for row in msgspec.msgpack.decode(data, type=Rows).matches}
    with closing(sqlite3.connect(":memory:")) as rest:
        rest.deserialize(gzip.decompress(store.rest))
        return found | {match for (match,) in rest.execute("SELECT id FROM matches")}


def test_names_are_in_no_segment_so_that_a_deleted_player_leaves_with_the_rest(place: Place) -> None:
    _, steward = place.lived(1)
    store = Store()
    store.take(steward)
    names = [name for (name,) in steward.database.connection.execute("SELECT name FROM players")]
    assert names
    for data in store.segments.values():
        rows = msgspec.msgpack.decode(data, type=Rows)
        text = repr(rows.matches) + "".join(repr(unpacked(fact)) for *_, fact in rows.facts)
        assert not any(f'"{name}"' in text for name in names)


def test_everything_stays_in_the_rest_while_nothing_is_packed_or_there_is_nothing(place: Place) -> None:
    steward, newcomer, store = place.node(), place.node(), Store()
    steward.move_to(1)
    assert store.take(steward) == []
    assert store.give(newcomer) == []
    walk = Lasting(1)
    walk.database = steward.database
    walk.go(300)
    steward.database.connection.execute("UPDATE matches SET is_packed = 0")
    steward.move_to(2)
    assert store.take(steward) == []
    assert store.give(newcomer) == []
    assert of_node(newcomer) == of_node(steward)


@pytest.mark.parametrize(
    "damage",
    [lambda data: data[:-1], lambda data: data[:40] + b"\0" + data[41:], lambda _: b""],
    ids=["cut off", "damaged", "empty"],
)
def test_a_damaged_segment_is_refused_and_changes_nothing(
    place: Place, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    _, steward = place.lived(1)
    store, newcomer = Store(), place.node()
    (first, *_) = store.take(steward)
    store.segments[first] = damage(store.segments[first])
    before = of_node(newcomer)
    with pytest.raises(StorageError) as refused:
        store.give(newcomer)
    assert refused.value.cause == f"{first} is damaged"
    assert of_node(newcomer) == before
    assert snapshots_in(tmp_path) == []


def test_a_snapshot_without_one_of_its_segments_is_refused(place: Place) -> None:
    _, steward = place.lived(1)
    store, newcomer = Store(), place.node()
    (first, *_) = store.take(steward)
    with newcomer.room_for_snapshot() as file:
        file.write(store.rest)
        file.seek(0)
        with pytest.raises(StorageError) as refused:
            newcomer.read_from(file)
    assert refused.value.cause == f"the snapshot cannot be used: it lacks {first}"
    assert newcomer.position == 0


def test_a_disk_that_fails_in_the_middle_leaves_the_tables_of_a_returning_node_as_they_were(place: Place) -> None:
    walk, steward = place.lived(1)
    store, other = Store(), place.node()
    store.take(steward)
    store.give(other)
    walk.go(120)
    steward.move_to(8)
    store.take(steward)
    before = of_node(other)
    connection = other.database.connection
    connection.set_authorizer(
        lambda action, table, *_: (
            sqlite3.SQLITE_DENY if (action, table) == (sqlite3.SQLITE_INSERT, "reports") else sqlite3.SQLITE_OK
        )
    )
    with pytest.raises(StorageError) as refused:
        store.give(other)
    assert refused.value.cause == "the snapshot cannot be used: not authorized"
    connection.set_authorizer(None)
    assert of_node(other) == before
    assert connection.execute("PRAGMA foreign_keys").fetchone() == (1,)
    store.give(other)
    assert of_node(other) == of_node(steward)


def test_a_disk_that_fails_in_the_middle_leaves_the_tables_of_a_new_node_empty(place: Place) -> None:
    _, steward = place.lived(1)
    store, newcomer = Store(), place.node()
    store.take(steward)
    before = of_node(newcomer)
    connection = newcomer.database.connection
    connection.execute("PRAGMA max_page_count = 1")  # as small as the tables are
    with pytest.raises(StorageError) as refused:
        store.give(newcomer)
    assert refused.value.cause == "the snapshot cannot be used: database or disk is full"
    assert of_node(newcomer) == before
    connection.execute("PRAGMA max_page_count = 1000000")
    store.give(newcomer)
    assert of_node(newcomer) == of_node(steward)


def test_a_snapshot_of_yesterday_is_read_and_its_node_goes_on_with_segments(place: Place) -> None:
    """Releases before form 9 wrote all tables into one file, and knew no hashes."""
    _, steward = place.lived(1)
    connection = steward.database.connection
    triggers = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'segments%'")
    for (name,) in triggers.fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("DROP TABLE segments")
    newcomer, store = place.node(), Store()
    with closing(steward.snapshot().file) as file:
        newcomer.read_from(file)
    assert canonical(newcomer.database.connection) == canonical(connection)
    another = place.node()
    assert store.take(newcomer)
    store.give(another)
    assert of_node(another) == of_node(newcomer)


def test_an_older_release_refuses_a_snapshot_with_segments_and_says_what_to_do(place: Place) -> None:
    _, steward = place.lived(1)
    steward.database.connection.execute("UPDATE place SET form = 9")
    store, older = Store(), place.node(form=8)
    store.take(steward)
    with older.room_for_snapshot() as file:
        file.write(store.rest)
        file.seek(0)
        with pytest.raises(StorageError) as refused:
            older.read_from(file)
    assert refused.value.cause == "the snapshot is of a newer release; install the release of the others"


def test_a_newer_release_reads_a_snapshot_with_tables_of_an_older_schema(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Schema 13 had no mistakes."""
    _, steward = place.lived(1)
    store, newcomer = Store(), place.node()
    connection = steward.database.connection
    connection.execute("DELETE FROM mistakes")
    expected = canonical(connection)
    connection.execute("DROP TABLE mistakes")
    connection.execute("PRAGMA user_version = 13")
    with monkeypatch.context() as older:
        older.setattr(segments, "SCHEMA_VERSION", 13)
        older.setattr(segments.Segment.__new__, "__defaults__", (13,))
        written = store.take(steward)
    assert sorted(store.give(newcomer)) == sorted(written)
    assert canonical(newcomer.database.connection) == expected
    assert newcomer.database.connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
    assert known(newcomer) == {}, "hashes of the older schema are of no use"
    another = place.node()
    store.take(newcomer)
    store.give(another)
    assert of_node(another) == of_node(newcomer)


def test_hashes_of_another_size_are_forgotten(tmp_path: Path) -> None:
    with closing(Replica(tmp_path / "journal.sqlite", segment_size=SIZE)) as replica:
        walk = Lasting(1)
        walk.database = replica.database
        walk.go(LIVED)
        Store().take(replica)
        assert known(replica)
    with closing(Replica(tmp_path / "journal.sqlite", segment_size=2 * SIZE)) as replica:
        assert known(replica) == {}
        Store().take(replica)
        assert {last - first for first, last in _ranges(replica)} == {2 * SIZE - 1}


def _ranges(replica: Replica) -> list[tuple[int, int]]:
    return replica.database.connection.execute("SELECT first, last FROM segments").fetchall()


# Live tables.


class Life:
    """A steward that goes on after a snapshot, and a node that takes part with its live tables."""

    def __init__(self, place: Place) -> None:
        self.place, self.store = place, Store()
        self.log: dict[int, bytes] = {}
        """The batches after the snapshot, by place."""
        _, self.steward = place.lived(1)
        self.store.take(self.steward)
        with self.steward.room_for_snapshot() as file:
            file.write(self.store.rest)
            file.seek(0)
            self.whole = place.node()
            with self.whole.reading(file) as given:
                assert given.most_missing == len(self.store.segments) > 1
                self.living = place.opened(given.live())
        self.write(BeginEpoch("secret"))

    def write(self, *entries: AnyLoggedEntry) -> list[object]:
        """Let both apply a batch; return the results, which are the same."""
        position = self.steward.position + 1
        data = encode_batch(Batch("a", 1, 1 + len(self.log), 0, "", entries))
        self.log[position] = data
        (applied,) = self.steward.apply([(position, data)])
        (here,) = self.living.apply([(position, data)])
        assert here.state == applied.state
        assert applied.outcomes is not None
        return [outcome.result for outcome in applied.outcomes]

    def play(self, match: str) -> None:
        """Let a match begin and end."""
        query = "SELECT id FROM players WHERE token_hash IS NOT NULL ORDER BY id LIMIT 2"
        (one,), (other,) = self.steward.database.connection.execute(query).fetchall()
        players = PlayerInfo("ann"), PlayerInfo("bob")
        starts = AppendEvents((Started(match, 1, 1, "tictactoe", players, previous="m"),), (one, other))
        assert self.write(starts, AppendEvents((Ended(match, 2, 2, 0, "time"),)), PackMatches(EVER, 50)) == [
            None,
            None,
            [match],
        ]

    def old_match(self) -> str:
        """Return a match that only the segments have."""
        (first, *_) = known(self.steward)
        row = self.steward.database.connection.execute(
            "SELECT id FROM matches WHERE is_packed AND number BETWEEN ? AND ?", (first, first + SIZE - 1)
        ).fetchone()
        return str(row[0])

    def complete(self) -> None:
        """Replace the live tables by the whole ones."""
        self.store.give(self.whole)
        assert self.whole.keep_up_with(self.living)
        assert self.living.become(self.whole)


def test_a_node_takes_part_with_live_tables_and_ends_with_those_of_the_steward(place: Place) -> None:
    life = Life(place)
    assert not life.living.has_past
    life.play("one")
    life.store.give(life.whole)
    life.play("two")
    assert not life.living.become(life.whole)
    assert not life.living.has_past
    life.complete()
    assert life.living.has_past
    assert of_node(life.living) == of_node(life.steward)
    life.play("three")
    assert of_node(life.living) == of_node(life.steward)
    assert place.files() == ["1", "2"]


def test_a_node_with_live_tables_answers_no_question_about_an_older_match_wrongly(place: Place) -> None:
    life = Life(place)
    match = life.old_match()
    with pytest.raises(Refusal, match="still fetches older matches") as early:
        life.living.answer(MatchQuery(match))
    assert early.value.code is Code.BUSY
    assert early.value.retry_after_ms is not None
    life.play("one")
    assert life.living.answer(MatchQuery("one")) == life.steward.answer(MatchQuery("one"))
    life.complete()
    assert life.living.answer(MatchQuery(match)) == life.steward.answer(MatchQuery(match))
    with pytest.raises(Refusal, match="there is no match nowhere"):
        life.living.answer(MatchQuery("nowhere"))


def test_an_entry_about_an_older_match_waits_until_the_tables_are_whole(place: Place) -> None:
    life = Life(place)
    match = life.old_match()
    (last,) = life.steward.database.connection.execute(
        "SELECT max(seq) FROM facts JOIN matches ON number = match WHERE matches.id = ?", (match,)
    ).fetchone()
    note = WriteNote(AuditNote(1, "said", "before"))
    offered = AppendEvents((Offered(match, last + 1, 1, 0, "rematch"),))
    data = encode_batch(Batch("a", 1, 2, 0, "", (note, offered)))
    position = life.steward.position + 1
    before = canonical(life.living.database.connection)
    for _ in range(2):
        with pytest.raises(PastNeededError) as early:
            life.living.apply([(position, data)])
        assert match in early.value.cause
        assert canonical(life.living.database.connection) == before
    life.complete()
    applied = [replica.apply([(position, data)]) for replica in (life.steward, life.living)]
    assert [each.result for each in applied[0][0].outcomes or ()] == [None, None]
    assert applied[0] == applied[1]
    assert of_node(life.living) == of_node(life.steward)


def test_tables_that_lack_finished_matches_are_not_backed_up(place: Place, tmp_path: Path) -> None:
    life = Life(place)
    with pytest.raises(ConfigurationError, match="which a backup of it would lack"):
        life.living.back_up(tmp_path / "copy", lambda: True)
    life.complete()
    assert life.living.back_up(tmp_path / "copy", lambda: True) > 0


def test_whole_tables_that_differ_from_the_live_ones_are_not_taken(place: Place) -> None:
    life = Life(place)
    life.store.give(life.whole)
    assert life.whole.keep_up_with(life.living)
    life.whole.state = "another"
    with pytest.raises(RuntimeError, match="the whole tables differ"):
        life.living.become(life.whole)


def test_whole_tables_do_not_skip_what_they_lack(place: Place) -> None:
    life = Life(place)
    life.store.give(life.whole)
    life.whole.move_to(3)
    with pytest.raises(StorageError) as gap:
        life.whole.keep_up_with(life.living)
    assert gap.value.cause == "place 4 of the log is missing"


def test_whole_tables_that_take_too_long_begin_again_from_a_newer_snapshot(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica_module, "MOST_APPLIED", 2)
    life = Life(place)
    life.store.give(life.whole)
    life.play("one")
    life.play("two")
    with pytest.raises(StorageError) as gap:
        life.whole.keep_up_with(life.living)
    assert gap.value.cause == "place 8 of the log is missing"
    life.store.take(life.steward)
    life.play("three")
    life.complete()
    assert of_node(life.living) == of_node(life.steward)


def test_what_a_killed_process_has_left_is_deleted_and_nothing_else(tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    with ExitStack() as opened:
        left = Place(tmp_path, opened).node().room_for_snapshot()
        arriving = Path(left.name).name
        left.close()
    assert arriving.startswith("1-arriving-")
    for file in tmp_path.iterdir():
        file.unlink()
    kept = {"journal.sqlite", "journal.sqlite-wal", "snapshot-20261128", "journal.sqlite.schema-13", "1-arriving-x"}
    living = {"journal-living.sqlite", "journal-living.sqlite-wal", "journal-living.sqlite-shm", "journal-living.lock"}
    for each in (*kept, *living, arriving.replace("1", "journal", 1)):
        (tmp_path / each).touch()
    clear_up(journal)
    assert {each.name for each in tmp_path.iterdir()} == kept


async def inline(do: Callable[[], Any]) -> Any:
    return do()


@pytest.mark.parametrize("lost", [False, True])
async def test_a_node_completes_its_tables_from_a_log(
    place: Place, lost: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "AGAIN_S", 0.0)
    life, stream, turns = Life(place), MemoryStream(), [0]
    stream.segments, stream.trimmed = {**life.store.segments}, life.steward.position
    stream.keep(7, life.store.rest, life.store.segments)
    log = MemoryLog(stream, asyncio.get_running_loop().call_soon)
    joining = place.node()
    joined = place.opened(await catch_up(log, joining, WAIT_S, few=1))
    assert joined is not joining
    joined.apply([(position, data) for position, data in sorted(life.log.items())])
    if lost:
        name, data = stream.segments.popitem()

        def later() -> None:
            stream.segments[name] = data

        asyncio.get_running_loop().call_later(0.01, later)
    turn = lambda: turns.append(0)  # noqa: E731
    async with asyncio.timeout(WAIT_S):
        await Completion(log, joined, joining, inline, inline, turn, WAIT_S).run()
    assert turns == [0, 0]
    assert of_node(joined) == of_node(life.steward)


async def test_a_node_that_lacks_few_segments_fetches_them_first(place: Place) -> None:
    life, stream = Life(place), MemoryStream()
    stream.segments, stream.trimmed = {**life.store.segments}, 7
    stream.keep(7, life.store.rest, life.store.segments)
    log = MemoryLog(stream, asyncio.get_running_loop().call_soon)
    joining = place.node()
    assert await catch_up(log, joining, WAIT_S, few=len(stream.segments)) is joining
    assert joining.has_past


# In the log.


async def test_nodes_begin_and_return_from_what_a_log_has_stored(cluster: Cluster, place: Place) -> None:
    walk, steward = place.lived(1)
    log, other, newcomer, done = await cluster.node(), await cluster.node(), place.node(), Heard()
    await published(log, *[b"no batch"] * 9)
    for position in (7, 8, 9):
        steward.move_to(position)
        found = await segments_of(log)
        assert steward.claim_segments(found) is None
        with closing(steward.split(found)) as image:
            new = [(segment, part) for segment, part in image.segments if part is not None]
            for segment, part in new:
                log.put_segment(segment.name, cast(BinaryIO, part), done)
                assert (await done.first(len(done.calls) + 1))[-1] is True
            needs = {segment.name for segment, _ in image.segments}
            log.put_snapshot(position, image.file, done, needs)
            assert (await done.first(len(done.calls) + 1))[-1] is True
            steward.note_segments([segment for segment, _ in image.segments])
        log.drop_segments(found - needs)
        async with asyncio.timeout(WAIT_S):
            while await segments_of(other) != needs:
                pass
        await catch_up(other, newcomer, WAIT_S)
        assert of_node(newcomer) == of_node(steward)
        walk.go(100)
        committed(steward.database, PackMatches(EVER, 50))


async def segments_of(log: Log) -> frozenset[str]:
    """Return the names of the segments in a log's store."""
    told = Heard()
    log.segments(told)
    return cast(frozenset[str], await told.one())


OFTEN = SnapshotSchedule(every_places=1, rest_s=20.0, kept_places=0, away_s=5.0)
MATCHES = [f"m{number}" for number in range(1, 18)]
"""Five ranges of numbers, of which the last is not complete."""


def evening(*names: str) -> Nodes:
    """Return nodes that have played, and keep snapshots from now on."""
    nodes = Nodes(*names)
    nodes.play(*MATCHES)
    for node in nodes.nodes:
        keeper_of(nodes, node, OFTEN)
    return nodes


async def joined(nodes: Nodes, node: Replica) -> None:
    """Let a node begin from what the log of a simulation has by now."""
    stream = MemoryStream()
    stream.segments, stream.trimmed = nodes.stream.segments, nodes.stream.end
    stream.keep(*nodes.stream.snapshot, nodes.stream.needs)
    await catch_up(MemoryLog(stream, asyncio.get_running_loop().call_soon), node, WAIT_S)


async def test_the_steward_stores_the_segments_before_the_snapshot_that_needs_them() -> None:
    nodes = evening("a", "b")
    stored: list[str] = []
    keep = nodes.stream.keep

    class Noting(dict[str, bytes]):
        def __setitem__(self, name: str, data: bytes) -> None:
            stored.append(name)
            super().__setitem__(name, data)

    def note(position: int, snapshot: bytes, needs: Collection[str] = ()) -> None:
        stored.append("snapshot")
        keep(position, snapshot, needs)

    nodes.stream.segments = Noting()
    nodes.stream.keep = note  # type: ignore[method-assign]
    nodes.go(15.0)
    assert [name.split("-")[:2] for name in stored] == [
        *(["segment", str(first)] for first in range(0, 16, 4)),
        ["snapshot"],
    ]
    assert nodes.stream.needs == nodes.stream.segments.keys()
    newcomer = Replica(None, segment_size=SIZE)
    await joined(nodes, newcomer)
    assert canonical(newcomer.database.connection).count("matches (") == len(MATCHES)


async def test_a_steward_that_dies_between_two_segments_leaves_what_the_next_one_goes_on_from() -> None:
    nodes = evening("a", "b")
    a, b = sorted(nodes.nodes, key=lambda node: not node.ledger.is_steward)
    by_b: list[str] = []
    left: set[str] = set()
    put, put_by_b = a.log.put_segment, b.log.put_segment

    def die(name: str, source: BinaryIO, done: Callable[[bool], None]) -> None:
        if len(nodes.stream.segments) == 2:
            left.update(nodes.stream.segments)
            a.log.is_gone = True
            nodes.loop.kill(1 + nodes.nodes.index(a))
        put(name, source, done)

    def note(name: str, source: BinaryIO, done: Callable[[bool], None]) -> None:
        by_b.append(name)
        put_by_b(name, source, done)

    a.log.put_segment, b.log.put_segment = die, note  # type: ignore[method-assign]
    while not left:
        nodes.go(0.1)
    assert len(left) == 2
    assert nodes.stream.kept().snapshot == 0
    nodes.go(40.0)
    assert len(by_b) == 2
    assert not {*by_b} & left, "the next one reuses what is there"
    assert nodes.stream.needs == {*by_b} | left
    newcomer = Replica(None, segment_size=SIZE)
    await joined(nodes, newcomer)
    assert canonical(newcomer.database.connection).count("matches (") == len(MATCHES)


def test_the_next_snapshot_stores_what_changed_and_then_deletes_what_it_replaces() -> None:
    nodes = evening("a")
    nodes.go(15.0)
    before = dict(nodes.stream.segments)
    assert len(before) == 4
    (gone,) = (nodes.write(nodes.nodes[0], ForgetMatches(EVER, (), 2)),)
    nodes.go(2 * OFTEN.rest_s)
    after = nodes.stream.segments
    assert gone == [["m1", "m2"]]
    assert nodes.stream.needs == after.keys()
    assert len(after.keys() & before.keys()) == 3
    assert not any(b"m1" in data for data in [after[name] for name in after.keys() - before.keys()])


async def test_the_log_is_not_trimmed_while_a_segment_is_missing_and_the_steward_stores_it_again() -> None:
    nodes = evening("a")
    nodes.go(9.0)
    position = nodes.stream.kept().snapshot
    assert position > 0
    assert nodes.stream.let_go == 0
    lost = min(nodes.stream.segments)
    data = nodes.stream.segments.pop(lost)
    assert nodes.stream.kept().missing == {lost}
    newcomer = Replica(None, segment_size=SIZE)
    with pytest.raises(ConfigurationError) as refused:
        await joined(nodes, newcomer)
    assert str(refused.value) == (
        f"the snapshot of place {position} cannot be used: its {lost} is missing. The steward makes another within"
        f" minutes: start this node again then. If no node runs, begin with the one whose tables are furthest"
    )
    while nodes.stream.kept().snapshot == position:
        assert nodes.stream.let_go == 0
        nodes.go(0.5)
    assert nodes.stream.segments[lost] == data
    assert nodes.stream.kept().missing == frozenset()
    nodes.go(OFTEN.away_s + 2 * LOOK_S)
    assert nodes.stream.let_go > 0
    await joined(nodes, newcomer)
    assert newcomer.position >= position


async def test_a_damaged_segment_is_deleted_by_the_node_that_finds_it_and_stored_again() -> None:
    nodes = evening("a")
    nodes.go(9.0)
    damaged = max(nodes.stream.segments)
    nodes.stream.segments[damaged] = b"something else"
    newcomer = Replica(None, segment_size=SIZE)
    with pytest.raises(ConfigurationError) as refused:
        await joined(nodes, newcomer)
    assert str(refused.value) == (
        f"the snapshot cannot be used: {damaged} is damaged. It was deleted, and the steward stores it again within"
        f" minutes: start this node again then"
    )
    assert newcomer.position == 0
    nodes.go(OFTEN.away_s + 2 * LOOK_S)
    await joined(nodes, newcomer)
    assert newcomer.position > 0


class Replaced(MemoryLog):
    """A log whose snapshot is replaced while a node fetches its segments."""

    def __init__(self, stream: MemoryStream, newer: MemoryStream) -> None:
        super().__init__(stream, asyncio.get_running_loop().call_soon)
        self._newer = newer

    def get_segment(self, name: str, into: BinaryIO, done: Callable[[bool | None], None]) -> None:
        self._stream = self._newer
        super().get_segment(name, into, done)


async def test_a_node_whose_snapshot_is_replaced_meanwhile_begins_from_the_newer_one(place: Place) -> None:
    _, steward = place.lived(1)
    store, newcomer, streams = Store(), place.node(), [MemoryStream(), MemoryStream()]
    for number, stream in enumerate(streams):
        committed(steward.database, ForgetMatches(EVER, (), 1))
        steward.move_to(7 + number)
        store.take(steward)
        stream.segments, stream.trimmed = {**store.segments}, 8
        stream.keep(steward.position, store.rest, store.segments)
    await catch_up(Replaced(*streams), newcomer, WAIT_S)
    assert of_node(newcomer) == of_node(steward)


async def test_whole_snapshots_are_made_until_all_nodes_can_read_others() -> None:
    nodes = Nodes("a", "b", forms=(9, 8))
    nodes.play(*MATCHES)
    keeper_of(nodes, nodes.steward, OFTEN)
    nodes.go(15.0)
    assert nodes.stream.kept().snapshot > 0
    assert nodes.stream.segments == {}
    older = Replica(None, form=8)
    await joined(nodes, older)
    assert canonical(older.database.connection).count("matches (") == len(MATCHES)
