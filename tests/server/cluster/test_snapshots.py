"""Nodes that begin from a snapshot, and a log that begins anew from one."""

import asyncio
import gzip
import io
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from tests.server.cluster.logs import WAIT_S, Cluster, Heard, end_of
from tests.server.cluster.nodes import names, running, snapshots_in
from tests.server.cluster.simulated_nodes import Nodes, keeper_of
from tests.server.journal.jobs import committed, register
from tests.server.journal.walk import canonical
from ttt_net.commands.journal_files import reseed
from ttt_net.errors import ConfigurationError, StorageError
from ttt_net.server.cluster.log import Log, MemoryLog, MemoryStream, Retained
from ttt_net.server.cluster.replica import GivenTables, Replica
from ttt_net.server.cluster.snapshots import LOOK_S, SnapshotKeeper, catch_up
from ttt_net.server.journal.ledger import Worker
from ttt_net.server.players import Player
from ttt_net.server.settings.configuration import SnapshotSchedule


class Noted:
    """A log that tells of the snapshots and trims of another."""

    def __init__(self, log: Log) -> None:
        self.log, self.kept_ones, self.trimmed = log, Heard(), Heard()

    def __getattr__(self, name: str) -> object:
        return getattr(self.log, name)

    def put_snapshot(
        self, position: int, source: BinaryIO, done: Callable[[bool], None], needs: Collection[str] = ()
    ) -> None:
        def note(is_kept: bool) -> None:
            done(is_kept)
            self.kept_ones(position)

        self.log.put_snapshot(position, source, note, needs)

    def trim(self, position: int) -> None:
        self.log.trim(position)
        self.trimmed(position)


async def test_the_steward_puts_a_snapshot_into_the_log_and_a_newcomer_begins_from_it(cluster: Cluster) -> None:
    log = Noted(await cluster.node())
    async with running(log, "a") as node:  # type: ignore[arg-type]
        schedule = SnapshotSchedule(every_places=5, kept_places=0, away_s=0.0)
        keeper = SnapshotKeeper(node.ledger, log, node.replica, node.worker, schedule)  # type: ignore[arg-type]
        for number in range(6):
            await node.register(f"n{chr(97 + number)}")
        keeper.tick(1_000.0)
        position = await log.kept_ones.one()
        assert position >= 5
        assert log.trimmed.calls == []
        keeper.tick(1_000.0 + LOOK_S)
        assert await log.trimmed.one() == position
        known = names(node.replica)
        assert len(known) == 6
        newcomer = Replica(None)
        other = await cluster.node()
        await catch_up(other, newcomer, WAIT_S)
        assert newcomer.position >= position
        assert names(newcomer) == known
        async with running(await cluster.node(), "b") as second:
            assert names(second.replica) == known
            await second.register("from the second")
    assert len(log.kept_ones.calls) == 1  # not again so soon


async def test_a_snapshot_is_taken_while_the_thread_of_the_tables_is_busy_and_leaves_no_file(tmp_path: Path) -> None:
    stream, loop = MemoryStream(), asyncio.get_running_loop()
    log, copier, is_over = Noted(MemoryLog(stream, loop.call_soon)), Worker(), threading.Event()
    with copier.working():
        async with running(log, "a", tmp_path / "journal.sqlite") as node:  # type: ignore[arg-type]
            schedule = SnapshotSchedule(every_places=3, kept_places=1, away_s=0.0)

            def beside(take: Callable[[], Any], tell: Callable[[Any], None]) -> None:
                node.worker(is_over.wait, lambda _: None)
                copier(take, tell)

            keeper = SnapshotKeeper(node.ledger, log, node.replica, beside, schedule)  # type: ignore[arg-type]
            for number in range(4):
                await node.register(f"n{chr(97 + number)}")
            keeper.tick(1_000.0)
            position = await log.kept_ones.one()
            assert position == node.ledger.position
            keeper.tick(1_000.0 + LOOK_S)
            assert await log.trimmed.one() == position - 1
            is_over.set()
            known = names(node.replica)
        assert snapshots_in(tmp_path) == []
        newcomer = Replica(tmp_path / "b.sqlite")
        await catch_up(MemoryLog(stream, loop.call_soon), newcomer, WAIT_S)
        assert names(newcomer) == known
        newcomer.close()
    assert snapshots_in(tmp_path) == []


@pytest.fixture(params=["in a file", "in memory"])
def replicas(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Replica, Replica]]:
    """Tables with a few players, at place 7, and empty ones of another node."""
    paths = [tmp_path / name if request.param == "in a file" else None for name in ("a.sqlite", "b.sqlite")]
    with closing(Replica(paths[0])) as one, closing(Replica(paths[1])) as other:
        committed(one.database, *(register(f"n{number}") for number in range(200)))
        one.move_to(7)
        yield one, other


def test_a_snapshot_is_compressed_and_leads_to_the_same_tables(replicas: tuple[Replica, Replica]) -> None:
    one, other = replicas
    plain = io.BytesIO()
    one.write_to(plain)
    with closing(one.snapshot().file) as taken:
        data = taken.read()
        taken.seek(0)
        other.read_from(taken)
    assert len(data) < len(plain.getvalue()) / 3
    assert gzip.decompress(data)[:16] == b"SQLite format 3\0"
    assert other.position == 7
    assert canonical(other.database.connection) == canonical(one.database.connection)


@pytest.mark.parametrize(
    "damage",
    [lambda data: data[:-9], lambda data: data[:200] + b"\0" * 50 + data[250:], lambda _: b"no tables"],
    ids=["cut off", "damaged", "something else"],
)
def test_a_damaged_snapshot_is_not_used(
    replicas: tuple[Replica, Replica], tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    one, other = replicas
    with closing(one.snapshot().file) as taken, other.room_for_snapshot() as arrived:
        arrived.write(damage(taken.read()))
        arrived.seek(0)
        with pytest.raises(StorageError) as refused:
            other.read_from(arrived)
    assert refused.value.cause.startswith("the snapshot cannot be used: ")
    assert names(other) == []
    assert other.position == 0
    assert snapshots_in(tmp_path) == []


def test_the_log_is_trimmed_behind_a_snapshot_that_has_stood_for_a_minute_and_not_before() -> None:
    nodes, schedule = Nodes("a"), SnapshotSchedule(every_places=5, kept_places=2)
    keeper_of(nodes, nodes.nodes[0], schedule)
    nodes.go(10.0)
    position = nodes.stream.kept().snapshot
    assert position >= 5
    nodes.go(schedule.away_s - 12.0)
    assert nodes.stream.kept()._replace(stands_s=0.0) == Retained(position, 0.0, 1)
    nodes.go(12.0 + 2 * LOOK_S)
    assert nodes.stream.let_go == position - 2
    nodes.go(schedule.rest_s)
    assert nodes.stream.kept().snapshot > position


def test_the_next_steward_trims_behind_the_snapshot_of_one_that_died_within_a_minute_of_it() -> None:
    nodes, schedule = Nodes("a", "b"), SnapshotSchedule(every_places=5, kept_places=2)
    for node in nodes.nodes:
        keeper_of(nodes, node, schedule)
    nodes.go(10.0)
    position = nodes.stream.kept().snapshot
    assert position >= 5
    steward = next(node for node in nodes.nodes if node.ledger.is_steward)
    steward.log.is_gone = True
    nodes.loop.kill(1 + nodes.nodes.index(steward))
    nodes.go(schedule.away_s + 2 * LOOK_S)
    assert nodes.stream.let_go == position - 2
    assert nodes.stream.kept().snapshot == position


def test_a_snapshot_that_did_not_arrive_is_put_into_the_log_again() -> None:
    nodes, schedule = Nodes("a"), SnapshotSchedule(every_places=5, rest_s=20.0)
    (a,) = nodes.nodes
    put = a.log.put_snapshot

    def fail(position: int, source: BinaryIO, done: Callable[[bool], None], needs: Collection[str] = ()) -> None:
        nodes.loop.call_later(0.1, done, False)

    a.log.put_snapshot = fail  # type: ignore[method-assign]
    keeper_of(nodes, a, schedule)
    nodes.go(15.0)
    assert nodes.stream.kept().snapshot == 0
    a.log.put_snapshot = put  # type: ignore[method-assign]
    nodes.go(20.0)
    assert nodes.stream.kept().snapshot > 0


class Slow(MemoryLog):
    """A log whose snapshot comes in parts, each later than the newcomer began to wait."""

    def get_snapshot(self, into: BinaryIO, done: Callable[[int | None], None]) -> None:
        position, data = self._stream.snapshot
        into.write(data)
        self._later(partial(done, position))


def trimmed_stream() -> MemoryStream:
    """Return a stream of which there is but the snapshot up to its seventh place, and what came after that."""
    stream, source, image = MemoryStream(), Replica(None), io.BytesIO()
    source.move_to(7)
    source.write_to(image)
    source.close()
    stream.append(b"")
    stream.trimmed, stream.snapshot = 7, (7, image.getvalue())
    return stream


async def test_a_snapshot_is_waited_for_as_long_as_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, into = trimmed_stream(), Replica(None)
    put_off: list[float | None] = []
    monkeypatch.setattr(asyncio.Timeout, "reschedule", lambda limit, when: put_off.append(when))
    await catch_up(Slow(stream, asyncio.get_running_loop().call_soon), into, WAIT_S)
    begun_s, later_s, *_ = put_off
    assert begun_s is not None
    assert later_s is not None
    assert later_s >= begun_s  # the clock of a loop may stand still for a millisecond
    into.close()


async def test_a_node_goes_on_however_long_it_took_to_replace_its_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, into, loop = trimmed_stream(), Replica(None), asyncio.get_running_loop()
    real, take_over, later_s = loop.time, GivenTables.take_over, 0.0

    def take_over_slowly(given: GivenTables) -> None:
        nonlocal later_s
        take_over(given)
        later_s = 10 * WAIT_S

    monkeypatch.setattr(loop, "time", lambda: real() + later_s)
    monkeypatch.setattr(GivenTables, "take_over", take_over_slowly)
    await catch_up(MemoryLog(stream, loop.call_soon), into, WAIT_S)
    assert into.position == 7
    into.close()


class Halting(MemoryLog):
    """A log that breaks off in the middle of a snapshot, twice."""

    breaks = 2

    def get_snapshot(self, into: BinaryIO, done: Callable[[int | None], None]) -> None:
        if self.breaks:
            self.breaks -= 1
            into.write(self._stream.snapshot[1][:5_000])
            self._later(partial(done, None))
        else:
            super().get_snapshot(into, done)


async def test_a_snapshot_that_broke_off_is_asked_for_again_from_its_beginning() -> None:
    stream, into = trimmed_stream(), Replica(None)
    log = Halting(stream, asyncio.get_running_loop().call_soon)
    await catch_up(log, into, WAIT_S)
    assert (into.position, log.breaks) == (7, 0)
    into.close()


@pytest.mark.parametrize(("breaks", "moves"), [(0, 2), (1, 3), (5, 3)])
async def test_a_snapshot_tells_how_far_it_gets_and_not_that_it_is_sent_again(breaks: int, moves: int) -> None:
    told: list[None] = []
    stream, into = trimmed_stream(), Replica(None, moved=lambda: told.append(None))
    log = Halting(stream, asyncio.get_running_loop().call_soon)
    log.breaks = breaks
    await catch_up(log, into, WAIT_S)
    assert len(told) == moves  # its beginning, all of it, and that it was taken over
    into.close()


def test_a_failed_snapshot_is_reported_and_tried_again_later(caplog: pytest.LogCaptureFixture) -> None:
    nodes, schedule = Nodes("a"), SnapshotSchedule(every_places=1)
    (a,) = nodes.nodes
    broken, a.replica = a.replica, Replica(None)
    keeper = SnapshotKeeper(a.ledger, a.log, a.replica, lambda do, tell: tell(do()), schedule)
    a.replica.close()
    for now_s in (0.0, LOOK_S, schedule.rest_s):
        keeper.tick(now_s)
        nodes.go(1.0)
    assert caplog.text.count("a snapshot could not be taken: Cannot operate on a closed database.") == 2
    broken.close()


async def test_a_lost_log_is_reseeded_from_the_tables_of_a_node(cluster: Cluster, tmp_path: Path) -> None:
    """The log is another one: what the first held is gone, but for the tables of one node."""
    before = tmp_path / "journal.sqlite"
    lost = await cluster.node()
    async with running(lost, "a", before) as node:
        for number in range(4):
            await node.register(f"n{chr(97 + number)}")
        known = names(node.replica)
    replica = Replica(before)
    with pytest.raises(ConfigurationError, match="the log is not lost"):
        await reseed(lost, replica)
    begun = cluster.another()
    anew = await begun.node()
    with pytest.raises(ConfigurationError, match="was lost or is another one"):
        await catch_up(anew, replica, WAIT_S)
    await reseed(anew, replica)
    replica.close()
    assert await end_of(anew) == 1
    second = await begun.node()
    async with running(anew, "a", before) as again, running(second, "b", tmp_path / "b.sqlite") as other:
        assert names(again.replica) == names(other.replica) == known
        for each, name in ((again, "new"), (other, "newer")):
            assert isinstance(await each.register(name), Player)
        assert again.ledger.epoch == 2
    await begun.end()


def test_fewer_entries_are_kept_before_a_snapshot_than_between_two() -> None:
    schedule = SnapshotSchedule()
    assert schedule.kept_places < schedule.every_places
    assert schedule.away_s + LOOK_S < schedule.rest_s
