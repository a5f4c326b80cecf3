"""The log on JetStream while its servers die, and strangers who try to connect."""

import asyncio
import gc
import io
import itertools
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import cast
from unittest.mock import AsyncMock
from urllib.parse import urlparse

import pytest
from nats.js.api import ObjectInfo, PubAck, RawStreamMsg, StreamConfig, StreamInfo, StreamState
from nats.js.client import JetStreamContext
from nats.js.errors import NotFoundError
from nats.js.object_store import ObjectStore

from benchmarks.nats_servers import NatsServers, nats_server
from tests.patience import PATIENCE_S
from tests.ports import reserved
from tests.server.cluster.logs import WAIT_S, Heard, end_of, following, published
from ttt_net.errors import ConfigurationError
from ttt_net.server.cluster import jetstream, jetstream_connection
from ttt_net.server.cluster.jetstream import MOST_EARLY, InOrder, JetStreamLog, JetStreamParts, open_log
from ttt_net.server.cluster.jetstream_connection import (
    SNAPSHOT,
    DisposableTransport,
    JetStreamAddress,
    LogClient,
    store_of,
)
from ttt_net.server.cluster.log import NOBODY, Retained


@pytest.fixture
async def log(servers: NatsServers) -> AsyncIterator[JetStreamLog]:
    async with open_log(servers.address, "a", WAIT_S) as opened:
        yield opened


async def published_at_last(log: JetStreamLog, batch: bytes) -> int:
    """Publish again and again until it is known where, as those who use a log do."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            (place,) = await published(log, batch)
            if place is not None:
                return int(place)


async def test_acknowledged_batches_reach_all_nodes_even_if_the_leader_is_killed(
    servers: NatsServers, log: JetStreamLog
) -> None:
    victim = int((await log.leader()).removeprefix("n"))
    async with open_log(servers.address._replace(servers=servers.urls[::-1]), "b", WAIT_S) as other:
        heard, heard_too = following(log), following(other)
        places = {}
        for number in range(30):
            if number == 10:
                servers.kill(victim)
            if number == 20:
                servers.start_one(victim)
            places[await published_at_last(log, b"%d" % number)] = b"%d" % number
        last = max(places)
        found = await heard.first(last)
        assert [position for position, _ in found] == list(range(1, last + 1))
        assert await heard_too.first(last) == found
        assert places.items() <= dict(found).items()


async def test_all_servers_may_be_restarted_one_after_the_other(servers: NatsServers, log: JetStreamLog) -> None:
    heard = following(log)
    places = [await published_at_last(log, b"before")]
    for number in range(3):
        servers.stop(number)
        places.append(await published_at_last(log, b"without %d" % number))
        servers.start_one(number)
        servers.wait_ready(number)
    found = dict(await heard.first(max(places)))
    assert [found[place] for place in places] == [b"before", b"without 0", b"without 1", b"without 2"]


async def test_without_a_majority_nothing_is_known_and_nothing_is_acknowledged(
    servers: NatsServers, log: JetStreamLog
) -> None:
    await published_at_last(log, b"a")
    servers.kill(0)
    servers.kill(1)
    assert await published(log, b"b") == [None]
    done = Heard()
    log.ask("nobody.answers", b"", done)
    assert await done.one() == NOBODY
    servers.start_one(0)
    servers.start_one(1)
    place = await published_at_last(log, b"c")
    assert await end_of(log) == place


def noting_connections(monkeypatch: pytest.MonkeyPatch) -> Heard:
    """Return what each client is noted in as it begins to connect."""
    connecting = Heard()

    async def connect(client: LogClient, address: JetStreamAddress, node: str) -> None:
        connecting(client)
        await jetstream_connection.connect(client, address, node)

    monkeypatch.setattr(jetstream, "connect", connect)
    return connecting


async def test_a_connection_that_its_library_gives_up_for_good_is_made_anew(
    servers: NatsServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jetstream, "RENEW_S", 1.0)
    clients = noting_connections(monkeypatch)
    async with (
        open_log(servers.address, "a", WAIT_S) as log,
        open_log(servers.address, "b", WAIT_S) as other,
    ):
        heard, told = following(log), Heard()
        log.listen("news", told)
        await published_at_last(log, b"before")
        await clients.calls[0].close()
        place = await published_at_last(other, b"meanwhile")
        last = None
        while last is None:
            (last,) = await published(log, b"after")
        found = await heard.first(last)
        assert found[place - 1] == (place, b"meanwhile")
        assert found[-1] == (last, b"after")
        done = Heard()
        log.put_snapshot(last, io.BytesIO(b"all"), done)
        assert await done.one() is True
        while not told.calls:  # servers may not know yet, one of another, who listens
            other.tell("news", b"of b")
            await end_of(other)
        assert await told.one() == b"of b"


async def test_a_node_is_back_after_its_server_stood_still_on_an_encrypted_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library reconnects by itself meanwhile, and waits for the goodbye of a server that sends none."""
    if nats_server() is None:
        pytest.skip("nats-server or openssl is not installed")
    monkeypatch.setattr(jetstream_connection, "PING_S", 0.1)
    monkeypatch.setattr(jetstream, "RENEW_S", 1.0)
    monkeypatch.setattr(jetstream, "CONNECT_S", 0.5)
    clients = noting_connections(monkeypatch)
    servers = NatsServers(tmp_path, 1)
    try:
        servers.start()
        async with open_log(servers.address, "a", WAIT_S) as log:
            heard = following(log)
            await published_at_last(log, b"before")
            servers.pause(0)
            await clients.first(3)
            servers.resume(0)
            last = await published_at_last(log, b"after")
            assert (await heard.first(last))[-1] == (last, b"after")
    finally:
        servers.close()


async def test_a_connection_that_is_opened_again_leaves_none_open_and_one_that_was_thrown_away_is_not_opened() -> None:
    ended: asyncio.Queue[int] = asyncio.Queue()
    count = itertools.count(1)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = next(count)
        with suppress(OSError):
            await reader.read()
        writer.close()
        ended.put_nowait(number)

    async with asyncio.timeout(WAIT_S), await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        uri = urlparse(f"nats://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        transport = DisposableTransport()
        await transport.connect(uri, 1_024, 5)
        await transport.connect(uri, 1_024, 5)
        assert await ended.get() == 1
        transport.discard()
        assert await ended.get() == 2
        with pytest.raises(ConnectionAbortedError):
            await transport.connect(uri, 1_024, 5)


class Failing(JetStreamContext):
    """A stream whose library fails in a way that it does not document."""

    def __init__(self, failure: BaseException) -> None:
        self.failure = failure

    async def publish(self, *_: object, **__: object) -> PubAck:
        raise self.failure


@pytest.mark.parametrize("failure", [RuntimeError("the handler is closed"), asyncio.CancelledError(), OSError("gone")])
async def test_any_failure_of_the_library_means_that_the_log_has_not_answered(failure: BaseException) -> None:
    failing, client = Failing(failure), LogClient()
    async with asyncio.timeout(WAIT_S), asyncio.TaskGroup() as tasks:
        parts = JetStreamParts(client, failing, ObjectStore("t", "t", failing), "t", b"", AsyncMock())
        log = JetStreamLog(parts, tasks)
        assert await published(log, b"a") == [None]
        log.cancel()


class Deaf(JetStreamContext):
    """A stream whose client swallows a cancellation, once, as `asyncio.wait_for` of Python 3.11 may."""

    def __init__(self, failure: type[Exception] | None = None) -> None:
        self.is_asked = asyncio.Event()
        self._failure = failure

    async def stream_info(self, name: str, subjects_filter: str | None = None) -> StreamInfo:
        if not self.is_asked.is_set():
            self.is_asked.set()
            with suppress(asyncio.CancelledError):
                await asyncio.get_running_loop().create_future()
        if self._failure:
            raise self._failure
        return StreamInfo(StreamConfig(), StreamState(0, 0, 0, 0, 0))


@pytest.mark.parametrize("failure", [None, TimeoutError])
async def test_a_log_is_left_though_its_client_swallows_the_cancellation(failure: type[Exception] | None) -> None:
    deaf = Deaf(failure)
    client = LogClient()
    client.subscribe = AsyncMock()  # type: ignore[method-assign]  # there is no server
    async with asyncio.timeout(WAIT_S), asyncio.TaskGroup() as tasks:
        log = JetStreamLog(JetStreamParts(client, deaf, ObjectStore("t", "t", deaf), "t", b"", AsyncMock()), tasks)
        following(log)
        await deaf.is_asked.wait()
        log.cancel()
    client.subscribe.assert_awaited_once()
    gc.collect()  # an error that nobody took is logged now, and fails the test


async def test_a_question_about_the_end_is_answered_though_the_answer_to_one_before_is_lost() -> None:
    deaf = Deaf()  # to the first question
    async with asyncio.timeout(WAIT_S), asyncio.TaskGroup() as tasks:
        log = JetStreamLog(JetStreamParts(LogClient(), deaf, ObjectStore("t", "t", deaf), "t", b"", AsyncMock()), tasks)
        lost = Heard()
        log.end(lost)
        await deaf.is_asked.wait()
        assert await end_of(log) == 0
        assert lost.calls == []
        log.cancel()


class Losing(JetStreamContext):
    """A stream of one batch, whose first answer to each question is lost."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def _answer(self, question: str) -> None:
        self.asked.append(question)
        if self.asked.count(question) == 1:
            await asyncio.get_running_loop().create_future()

    async def stream_info(self, name: str, subjects_filter: str | None = None) -> StreamInfo:
        await self._answer("end")
        return StreamInfo(StreamConfig(), StreamState(1, 1, 1, 1, 0))

    async def get_msg(
        self,
        stream_name: str,
        seq: int | None = None,
        subject: str | None = None,
        direct: bool | None = False,
        next: bool | None = False,
    ) -> RawStreamMsg:
        return await self.batch(seq or 0)

    async def batch(self, place: int) -> RawStreamMsg:
        """Return the batch of a place, as the stream was asked for it."""
        await self._answer(f"batch {place}")
        return RawStreamMsg(seq=place, data=b"a")


async def test_missed_batches_are_fetched_even_if_an_answer_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jetstream, "POLL_S", 0.02)
    losing = Losing()
    client = LogClient()
    client.subscribe = AsyncMock()  # type: ignore[method-assign]  # there is no server
    async with asyncio.timeout(WAIT_S), asyncio.TaskGroup() as tasks:
        log = JetStreamLog(JetStreamParts(client, losing, ObjectStore("t", "t", losing), "t", b"", AsyncMock()), tasks)
        assert await following(log).one() == (1, b"a")
        (first, ends), (second, batches) = [(asked, len([*each])) for asked, each in itertools.groupby(losing.asked)][
            :2
        ]
        assert (first, second) == ("end", "batch 1")
        assert min(ends, batches) >= 2, "asked again; a busy machine may ask once more"
        log.cancel()


class Trimmed(Losing):
    """A stream of two batches that is trimmed once its end was told, and never answers about the second."""

    def __init__(self) -> None:
        super().__init__()
        self.nothing = asyncio.Event()

    async def stream_info(self, name: str, subjects_filter: str | None = None) -> StreamInfo:
        self.asked.append("end")
        return StreamInfo(StreamConfig(), StreamState(2, 2, 1 if self.asked == ["end"] else 3, 2, 0))

    async def batch(self, place: int) -> RawStreamMsg:
        if place == 1:
            raise NotFoundError
        await self.nothing.wait()
        return RawStreamMsg(seq=place, data=b"b")


async def test_a_closed_log_repeats_no_unanswered_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those who fetch a batch outlive the round that fetches it, where another of the round was trimmed since."""
    monkeypatch.setattr(jetstream, "POLL_S", 0.02)
    trimmed = Trimmed()
    client = LogClient()
    client.subscribe = AsyncMock()  # type: ignore[method-assign]  # there is no server
    before = asyncio.all_tasks()
    async with asyncio.timeout(WAIT_S), asyncio.TaskGroup() as tasks:
        log = JetStreamLog(
            JetStreamParts(client, trimmed, ObjectStore("t", "t", trimmed), "t", b"", AsyncMock()), tasks
        )
        gone = Heard()
        log.follow(0, Heard(), gone)
        await gone.first(1)
        log.cancel()
    async with asyncio.timeout(WAIT_S):
        while lingering := asyncio.all_tasks() - before:
            await asyncio.wait(lingering)


async def test_a_log_that_is_left_filters_the_messages_of_asyncio_no_more(servers: NatsServers) -> None:
    noisy = logging.getLogger("asyncio")
    before = list(noisy.filters)
    async with open_log(servers.address, "a", WAIT_S):
        async with open_log(servers.address, "b", WAIT_S):
            pass
        assert len(noisy.filters) == len(before) + 1
    assert noisy.filters == before


class Stalling(ObjectStore):
    """A store whose server dies in the middle of the first snapshot that is asked for."""

    is_first = True

    async def get(
        self, name: str, writeinto: io.BufferedIOBase | None = None, show_deleted: bool | None = False
    ) -> ObjectStore.ObjectResult:
        assert writeinto is not None
        for part in (b"half", b" of it") if self.is_first else (b"all", b" of it"):
            await asyncio.get_running_loop().run_in_executor(None, writeinto.write, part)
        if self.is_first:
            self.is_first = False
            await asyncio.get_running_loop().create_future()
        return self.ObjectResult(ObjectInfo(name, "t", "n", description="7"))


async def test_a_snapshot_that_comes_no_further_is_given_up_and_can_be_asked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jetstream, "STALL_S", 0.1)
    deaf = Deaf()
    async with asyncio.timeout(WAIT_S), asyncio.TaskGroup() as tasks:
        log = JetStreamLog(JetStreamParts(LogClient(), deaf, Stalling("t", "t", deaf), "t", b"", AsyncMock()), tasks)
        done, into = Heard(), [io.BytesIO(), io.BytesIO()]
        for file, position in zip(into, (None, 7), strict=True):
            log.get_snapshot(file, done)
            assert (await done.first(len(done.calls) + 1))[-1] == position
            monkeypatch.setattr(jetstream, "STALL_S", WAIT_S)  # the second comes, however slowly
        log.cancel()
    assert into[1].getvalue() == b"all of it"


@pytest.mark.usefixtures("patient")
async def test_a_snapshot_goes_into_the_store_in_large_parts(nats_servers: NatsServers) -> None:
    """Each part waits for the disks of a majority, so fewer of them are faster."""
    address = nats_servers.address._replace(stream="large_parts")
    async with open_log(address, "a", WAIT_S) as log:
        done = Heard()
        log.put_snapshot(1, io.BytesIO(bytes(4 * jetstream.CHUNK_BYTES + 1)), done)
        assert await done.one() is True
        client = LogClient()
        await jetstream_connection.connect(client, address, "b")
        about = await store_of(address.stream, client.jetstream()).get_info(SNAPSHOT)
        await client.discard()
    assert (about.chunks, about.size) == (5, 4 * jetstream.CHUNK_BYTES + 1)


@asynccontextmanager
async def store_at(address: JetStreamAddress) -> AsyncIterator[tuple[ObjectStore, JetStreamContext]]:
    """Open the store of a log as a tool does."""
    client = LogClient()
    await jetstream_connection.connect(client, address, "b")
    try:
        jetstream_of = client.jetstream()
        yield store_of(address.stream, jetstream_of), jetstream_of
    finally:
        await client.discard()


@pytest.mark.usefixtures("patient")
async def test_dropping_segments_leaves_nothing_of_them_nor_of_writes_that_were_cut_off(
    nats_servers: NatsServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = nats_servers.address._replace(stream="dropped")
    stream = "OBJ_dropped_snapshots"
    async with open_log(address, "a", WAIT_S) as log, store_at(address) as (store, context):
        done = Heard()
        await published(log, b"a")
        log.put_segment("segment-0-a", io.BytesIO(b"zero"), done)
        log.put_segment("segment-4-b", io.BytesIO(b"four"), done)
        assert await done.first(2) == [True, True]
        await context.publish("$O.dropped_snapshots.C.cut-off", b"a part")
        await store.delete("segment-4-b")  # as the tool of NATS does, which leaves a note
        log.put_snapshot(1, io.BytesIO(b"all"), done, ["segment-4-b"])
        assert (await done.first(3))[2] is True
        log.drop_segments(["segment-4-b"])
        kept = await until(log, lambda kept: bool(kept.missing))
        assert kept.missing == {"segment-4-b"}
        monkeypatch.setattr(jetstream_connection, "ABANDONED_S", -WAIT_S)
        log.drop_segments(["segment-0-a"])
        async with asyncio.timeout(WAIT_S):
            while len(left := await subjects(context, stream)) > 2:
                pass
    assert {subject.split(".")[2] for subject in left} == {"C", "M"}, "of the snapshot alone"


async def subjects(context: JetStreamContext, stream: str) -> Collection[str]:
    """Return the subjects of all messages in a stream."""
    return (await context.stream_info(stream, subjects_filter=">")).state.subjects or {}


async def until(log: JetStreamLog, is_so: Callable[[Retained], bool]) -> Retained:
    """Ask what is kept until something holds."""
    async with asyncio.timeout(WAIT_S):
        while True:
            told = Heard()
            log.kept(told)
            kept = await told.one()
            if kept is not None and is_so(kept):
                return cast(Retained, kept)


@pytest.mark.usefixtures("patient")
async def test_parts_of_a_write_that_may_go_on_are_left_alone(nats_servers: NatsServers) -> None:
    address = nats_servers.address._replace(stream="under_way")
    async with open_log(address, "a", WAIT_S) as log, store_at(address) as (_, context):
        done = Heard()
        await context.publish("$O.under_way_snapshots.C.under-way", b"a part")
        log.put_segment("segment-0-a", io.BytesIO(b"zero"), done)
        log.put_snapshot(1, io.BytesIO(b"all"), done)
        assert await done.first(2) == [True, True]
        await jetstream_connection.purge_objects(address.stream, context, ["segment-0-a"])
        left = await subjects(context, "OBJ_under_way_snapshots")
    assert "$O.under_way_snapshots.C.under-way" in left
    assert len(left) == 3


@pytest.mark.usefixtures("patient")
async def test_a_segment_that_the_store_has_damaged_is_given_as_it_is(nats_servers: NatsServers) -> None:
    """The node that asked compares its hash, and drops it."""
    address = nats_servers.address._replace(stream="damaged")
    async with open_log(address, "a", WAIT_S) as log, store_at(address) as (store, context):
        done, found, into = Heard(), Heard(), io.BytesIO()
        log.put_segment("segment-0-a", io.BytesIO(b"zero"), done)
        assert await done.one() is True
        parts = (await store.get_info("segment-0-a")).nuid
        await context.publish(f"$O.damaged_snapshots.C.{parts}", b" and more")
        log.get_segment("segment-0-a", into, found)
        assert await found.one() is True
    assert into.getvalue() == b"zero and more"


@pytest.mark.usefixtures("patient")
async def test_a_log_that_takes_or_gives_a_snapshot_is_not_silent_however_long_that_takes(
    log: JetStreamLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    real, later_s = loop.time, 0.0
    monkeypatch.setattr(loop, "time", lambda: real() + later_s)
    monkeypatch.setattr(jetstream, "RENEW_S", 10_000.0)
    outcomes: list[object] = []
    while len(outcomes) < 5 and True not in outcomes:  # while busy servers elect a leader, nothing is kept
        kept, later_s = Heard(), later_s + 1_000.0
        log.put_snapshot(1, io.BytesIO(b"all"), kept)
        outcomes.append(await kept.one())
    assert outcomes[-1] is True
    assert log.silence_s < 1_000.0
    found, later_s = Heard(), later_s + 1_000.0
    log.get_snapshot(io.BytesIO(), found)
    assert await found.one() == 1
    assert log.silence_s < 1_000.0


async def test_a_node_that_stood_still_keeps_its_connection_to_the_log(
    log: JetStreamLog, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    loop = asyncio.get_running_loop()
    real, later_s = loop.time, 0.0
    monkeypatch.setattr(loop, "time", lambda: real() + later_s)
    await end_of(log)
    later_s = 20.0
    for _ in range(10):
        await asyncio.sleep(0)
    assert await end_of(log) == 0
    assert "connecting anew" not in caplog.text
    assert log.silence_s < 10.0


async def test_a_missing_log_is_reported() -> None:
    with reserved() as port, pytest.raises(ConfigurationError, match="did not answer within 1 s: is nats-server run"):
        async with open_log(JetStreamAddress((f"nats://127.0.0.1:{port}",)), "a", patience_s=1):
            pass


class Stubborn(LogClient):
    """A client that swallows a cancellation as it connects, as `asyncio.wait_for` of Python 3.11 may, and goes on."""

    async def connect(  # type: ignore[override]  # with what we give it
        self, servers: list[str], *, error_cb: Callable[[Exception], Awaitable[None]], **_: object
    ) -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.get_running_loop().create_future()
        await error_cb(ConnectionRefusedError("nobody listens"))
        raise AssertionError("it connects again")

    async def close(self) -> None:
        """Do nothing: there was no connection."""


async def test_a_connection_that_is_given_up_is_not_tried_for_ever_though_the_cancellation_was_swallowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jetstream, "LogClient", Stubborn)
    with pytest.raises(ConfigurationError, match="did not answer"):
        async with open_log(JetStreamAddress(("nats://127.0.0.1:1",)), "a", patience_s=0.05):
            pass


async def test_an_encrypted_connection_ends_without_a_line_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    if nats_server() is None:
        pytest.skip("nats-server or openssl is not installed")
    servers = NatsServers(tmp_path, 1)
    try:
        servers.start()
        async with open_log(servers.address, "a", WAIT_S) as log:
            await published_at_last(log, b"a")
            servers.stop(0)
            while log.trouble is None:
                await end_of(log)
        assert "eof_received" not in caplog.text
    finally:
        servers.close()


async def test_strangers_without_credentials_are_rejected(tmp_path: Path) -> None:
    if nats_server() is None:
        pytest.skip("nats-server or openssl is not installed")
    servers = NatsServers(tmp_path, 1)
    try:
        servers.start()
        async with open_log(servers.address, "a", WAIT_S) as log:
            await published_at_last(log, b"ours")
        (url,) = servers.urls
        for stranger in (url.replace("node:SECRET@", ""), url.replace("SECRET", "WRONG")):
            with pytest.raises(ConfigurationError, match=r"did not answer|refuses us") as raised:
                async with open_log(servers.address._replace(servers=(stranger,)), "stranger", patience_s=1):
                    pass
            assert url.replace("node:SECRET@", "") in str(raised.value)
            assert "WRONG" not in str(raised.value)
    finally:
        servers.close()


def test_a_batch_that_is_next_is_delivered_and_one_that_was_is_not() -> None:
    heard: list[tuple[int, bytes]] = []
    batches = InOrder(4, lambda *each: heard.append(each))
    assert batches.offer(5, b"5")
    assert batches.offer(5, b"5")
    assert batches.offer(3, b"3")
    assert (heard, batches.position) == ([(5, b"5")], 5)


def test_those_that_came_early_follow_the_one_that_was_missing() -> None:
    heard: list[int] = []
    batches = InOrder(0, lambda position, _: heard.append(position))
    assert not batches.offer(3, b"3")
    assert not batches.offer(2, b"2")
    assert batches.missing(5) == [1, 4, 5]
    assert batches.offer(1, b"1")
    assert (heard, batches.missing(5)) == ([1, 2, 3], [4, 5])


def test_any_order_gives_the_same_result() -> None:
    rng, places = random.Random(1), list(range(1, 50))
    for _ in range(20):
        heard: list[int] = []
        batches = InOrder(0, lambda position, _, heard=heard: heard.append(position))  # type: ignore[misc]
        rng.shuffle(places)
        for place in places:
            batches.offer(place, b"")
        assert heard == sorted(places)


def test_of_too_many_that_come_early_the_last_are_fetched_again() -> None:
    heard: list[int] = []
    batches = InOrder(0, lambda position, _: heard.append(position))
    for place in range(2, MOST_EARLY + 5):
        batches.offer(place, b"")
    assert batches.missing(MOST_EARLY + 4) == [1, MOST_EARLY + 2, MOST_EARLY + 3, MOST_EARLY + 4]


def test_waiting_batches_are_dropped_at_the_end_even_during_a_delivery() -> None:
    heard: list[int] = []

    def hear(position: int, _: bytes) -> None:
        heard.append(position)
        batches.end()

    batches = InOrder(0, hear)
    batches.offer(2, b"2")
    batches.offer(1, b"1")
    assert heard == [1]
