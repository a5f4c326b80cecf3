"""The replicated log on NATS JetStream, whose client is the extra `cluster`.

One stream holds the batches, in file storage of three servers, and its sequence numbers are the positions. Batches
arrive by RePublish, which the leader of the stream does once a batch is committed. Two queries a second about the end
of the stream detect gaps, and prove contact. Snapshots are in an object store beside it.
"""

import asyncio
import io
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, BinaryIO, NamedTuple, TypeVar

from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.errors import NoRespondersError
from nats.js.api import ObjectInfo, ObjectMeta, ObjectMetaOptions, RawStreamMsg, StreamState
from nats.js.client import JetStreamContext
from nats.js.errors import DigestMismatchError, NotFoundError, ObjectNotFoundError
from nats.js.object_store import ObjectStore

from ttt_net.errors import ConfigurationError, SilentLogError
from ttt_net.server.cluster.jetstream_connection import (
    PAUSE_S,
    SNAPSHOT,
    JetStreamAddress,
    LogClient,
    about_snapshot,
    as_silence,
    connect,
    create,
    kept_of,
    purge_objects,
    segments_of,
    store_of,
    without_complaints,
)
from ttt_net.server.cluster.log import NOBODY, Hear, Position, Reply, Retained
from ttt_net.server.cluster.snapshots import ArrivingFile, DepartingFile

log = logging.getLogger(__name__)
_T = TypeVar("_T")

PATIENCE_S = 2.0
"""How long to wait for an answer of the log."""
POLL_S = 0.5
"""How often a follower queries the end of the log, because it may have missed batches."""
FETCHED_AT_ONCE = 32
"""How many batches a slow follower requests at a time: 16 MiB at most."""
MOST_AT_ONCE = 10_000
"""The maximal number of pending calls; further messages are dropped, as any message may be."""
CHUNK_BYTES = 512 * 1024
"""The size of the parts of a snapshot, each of which waits for the disks of a majority; the default is 128 KiB."""
STALL_S = 5.0
"""After this time without another byte, a snapshot is given up: its server died, or it was replaced."""
RENEW_S = 8.0
"""How long without an answer until the connection is replaced. The client's library gives up for good when a server
sends something unexpected, and waits for writes to a server that is gone."""
CONNECT_S = 5.0
"""Longest time to connect."""
SILENT_S = 30.0
"""After this time without an answer, new connections have not helped, and `on_silence` is called."""


MOST_EARLY = 1_024
"""The maximal number of batches to keep while an earlier one is missing; the rest is fetched again."""


class InOrder:
    """Delivers each batch once, in order of position. Early batches wait for the previous ones."""

    def __init__(self, position: Position, hear: Hear) -> None:
        """Call `hear` with each batch after the position."""
        self.position = position
        """The position of the last delivered batch."""
        self._hear = hear
        self._early: dict[Position, bytes] = {}

    def offer(self, position: Position, batch: bytes) -> bool:
        """Deliver a batch if it is the next, and then early ones. Return False if a previous one is missing.

        A batch that was delivered before is ignored.
        """
        if position > self.position + 1:
            if len(self._early) < MOST_EARLY:
                self._early[position] = batch
            return False
        next_batch = batch if position > self.position else None
        while next_batch is not None:
            self.position += 1
            self._hear(self.position, next_batch)
            next_batch = self._early.pop(self.position + 1, None)
        return True

    def missing(self, last: Position) -> list[Position]:
        """Return the positions up to `last` whose batches have not arrived."""
        return [place for place in range(self.position + 1, last + 1) if place not in self._early]

    def end(self) -> None:
        """Drop the batches that wait."""
        self._early.clear()


@asynccontextmanager
async def open_log(address: JetStreamAddress, node: str, patience_s: float = 20.0) -> AsyncIterator["JetStreamLog"]:
    """Connect to the log inside the context, and create it if it does not exist.

    Raises `SilentLogError` if no server answers, or the log cannot be created, within `patience_s`, and
    `ConfigurationError` if one refuses us.
    """
    with without_complaints():
        async with _opened(address, node, patience_s) as opened:
            yield opened


@asynccontextmanager
async def _opened(address: JetStreamAddress, node: str, patience_s: float) -> AsyncIterator["JetStreamLog"]:
    client = LogClient()
    try:
        async with asyncio.timeout(patience_s):
            await connect(client, address, node)
            jetstream = client.jetstream(timeout=PATIENCE_S)
            store, secret = await create(jetstream, address)
    except (TimeoutError, RuntimeError):  # uvloop raises the latter where a server is gone
        await client.discard()
        raise SilentLogError(
            f"the log at {address.shown} did not answer within {patience_s:.0f} s: "
            f"is nats-server running there, with JetStream and a majority of its servers?"
        ) from None
    except (NatsError, OSError, ValueError) as error:
        await client.discard()
        raise ConfigurationError(f"the log at {address.shown} refuses us: {error}") from error
    failure: Exception | None = None
    try:
        async with asyncio.TaskGroup() as tasks:
            again = partial(connect, address=address, node=node)
            opened = JetStreamLog(JetStreamParts(client, jetstream, store, address.stream, secret, again), tasks)
            opened.look_after()
            try:
                yield opened
            except Exception as error:  # noqa: BLE001 - of the block, as it is, and not in a group
                failure = error
            finally:
                opened.cancel()
    finally:
        await opened.close()
    if failure is not None:
        raise failure


class JetStreamParts(NamedTuple):
    """The parts of a connection to the log."""

    client: LogClient
    jetstream: JetStreamContext
    store: ObjectStore
    name: str
    secret: bytes
    """The secret that only the nodes of this log share."""
    connect: Callable[[LogClient], Awaitable[None]]
    """Connects another client in the same way."""


class JetStreamLog:
    """One node's connection to the log; made by `open_log`."""

    def __init__(self, parts: JetStreamParts, tasks: asyncio.TaskGroup) -> None:
        self._client, self._jetstream, self._store, self._name, self.secret, self._connect = parts
        self._subscribed: dict[str, Callable[[Msg], Awaitable[None]]] = {}
        """The callback of each subject, also on a new connection."""
        self.on_silence: Callable[[], None] = lambda: None
        """Called again and again once the log has not answered for `SILENT_S`."""
        self._answered_s = self._renewed_s = asyncio.get_running_loop().time()
        self._tasks = tasks
        self._running: set[asyncio.Task[None]] = set()
        self._is_over = False
        self._followed: tuple[InOrder, Callable[[], None]] | None = None
        """The callbacks for batches and for a trimmed next batch; None if nobody follows."""
        self._is_behind = asyncio.Event()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        if self._is_over:
            work.close()
            return
        task = self._tasks.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def cancel(self) -> None:
        """Give up all pending and future requests: no callback is called any more."""
        self._is_over = True
        for task in self._running:
            task.cancel()

    async def close(self) -> None:
        """Drop the connection."""
        await self._client.discard()

    def look_after(self) -> None:
        """Keep a connection until `cancel` is called."""
        self._start(self._look_after())

    async def _look_after(self) -> None:
        loop = asyncio.get_running_loop()
        while not self._is_over:
            looked_s = loop.time()
            with as_silence("looking after the connection to the log"):
                await asyncio.sleep(POLL_S)
            late_s = loop.time() - looked_s - POLL_S
            if late_s > POLL_S:
                self._answered_s += late_s  # this process itself was paused, and could receive nothing
            if loop.time() - max(self._answered_s, self._renewed_s) > RENEW_S:
                with as_silence("no connection to the log"):
                    await self._renew()
                self._renewed_s = loop.time()
            if self.silence_s > SILENT_S:
                self.on_silence()

    @property
    def silence_s(self) -> float:
        """Seconds since the log answered anything, or since a part of a snapshot was sent or received."""
        return asyncio.get_running_loop().time() - self._answered_s

    async def _renew(self) -> None:
        """Discard the connection, connect again, and subscribe to the same subjects."""
        log.warning("the log has not answered for %.0f s: connecting again", self.silence_s)
        self._start(self._client.discard())
        client = LogClient()
        try:
            async with asyncio.timeout(CONNECT_S):
                await self._connect(client)
                for subject in self._subscribed:
                    await client.subscribe(subject, cb=self._deliver)
        except BaseException:
            self._start(client.discard())
            raise
        self._client, self._jetstream = client, client.jetstream(timeout=PATIENCE_S)
        self._store = store_of(self._name, self._jetstream)

    def _answered(self) -> None:
        self._answered_s = asyncio.get_running_loop().time()

    def publish(self, batch: bytes, done: Callable[[Position | None], None]) -> None:
        """Append a batch; its position is reported once a majority of the servers has it."""
        self._start(self._publish(batch, done))

    async def _publish(self, batch: bytes, done: Callable[[Position | None], None]) -> None:
        place = None
        with as_silence():
            place = (await self._jetstream.publish(f"{self._name}.log", batch, timeout=PATIENCE_S)).seq
            self._answered()
        await _pass_on(done, place)

    def end(self, done: Callable[[Position | None], None]) -> None:
        """Ask the leader of the stream for its end; a lost answer does not delay later questions."""
        self._start(self._end(done))

    async def _end(self, done: Callable[[Position | None], None]) -> None:
        end = None
        with as_silence():
            end = (await self._jetstream.stream_info(self._name)).state.last_seq
            self._answered()
        await _pass_on(done, end)

    def trim(self, position: Position) -> None:
        """Purge the stream up to the position."""
        self._start(self._trim(position))

    async def _trim(self, position: Position) -> None:
        with as_silence():  # the next trim will do it
            await self._jetstream.purge_stream(self._name, seq=position + 1)

    # Following.

    def follow(self, position: Position, hear: Hear, gone: Callable[[], None]) -> None:
        """Deliver each batch after the position: as it is committed, or fetched if it was missed."""
        before, self._followed = self._followed, (InOrder(position, partial(_call, hear)), gone)
        self._is_behind.set()
        if before is None:
            self._start(self._follow())
        else:
            before[0].end()

    async def _follow(self) -> None:
        async def delivered(message: Msg) -> None:
            self._offer(int((message.headers or {})["Nats-Sequence"]), message.data)

        await self._subscribe(f"{self._name}.delivered", delivered)
        while not self._is_over:  # checked here, since the client's library may swallow a cancellation
            self._is_behind.clear()
            is_kept = None
            with as_silence():
                is_kept = await self._catch_up()
            if is_kept is None:
                await asyncio.sleep(PAUSE_S)
            elif not is_kept:
                break
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_S):
                    await self._is_behind.wait()
        followed, self._followed = self._followed, None
        if followed is not None and not self._is_over:
            _, gone = followed
            _call(gone)

    def _offer(self, position: Position, batch: bytes) -> None:
        if self._followed is not None and not self._followed[0].offer(position, batch):
            self._is_behind.set()

    async def _catch_up(self) -> bool:
        """Fetch missed batches, and return whether all of them were still there."""
        state = await self._state()
        self._answered()
        while self._followed is not None and (heard := self._followed[0].position) < state.last_seq:
            if state.first_seq > heard + 1:
                return False
            wanted = self._followed[0].missing(min(state.last_seq, heard + FETCHED_AT_ONCE))
            try:
                found = await asyncio.gather(*map(self._message, wanted))
            except NotFoundError:  # trimmed since
                state = await self._state()
                continue
            for place, message in zip(wanted, found, strict=True):
                self._offer(place, message.data or b"")
        return True

    async def _state(self) -> StreamState:
        return (await self._first_answer(partial(self._jetstream.stream_info, self._name))).state

    async def _message(self, place: Position) -> RawStreamMsg:
        return await self._first_answer(partial(self._jetstream.get_msg, self._name, seq=place))

    async def _first_answer(self, ask: Callable[[], Awaitable[_T]]) -> _T:
        """Ask every `POLL_S` until an answer arrives: other questions may have been lost with a server."""
        answer: asyncio.Future[_T] = asyncio.get_running_loop().create_future()
        try:
            while not answer.done():
                if self._is_over:  # no more requests are allowed, and the library may have swallowed our cancellation
                    raise asyncio.CancelledError
                self._start(_set_answer(ask, answer))
                await asyncio.wait([answer], timeout=POLL_S)
            return answer.result()
        finally:
            if not answer.cancel():  # an error that nobody waits for any more would be logged
                answer.exception()

    # Snapshots.

    def put_snapshot(
        self, position: Position, source: BinaryIO, done: Callable[[bool], None], needs: Collection[str] = ()
    ) -> None:
        """Put a snapshot into the object store; the last one is deleted once the new one is complete."""
        self._start(self._put(about_snapshot(position, needs), source, done))

    def put_segment(self, name: str, source: BinaryIO, done: Callable[[bool], None]) -> None:
        """Put a segment into the object store."""
        self._start(self._put(ObjectMeta(name=name), source, done))

    async def _put(self, about: ObjectMeta, source: BinaryIO, done: Callable[[bool], None]) -> None:
        is_kept = False
        loop = asyncio.get_running_loop()
        reader = io.BufferedReader(DepartingFile(source, lambda: loop.call_soon_threadsafe(self._answered)))
        with as_silence("a snapshot could not be put into the log"):
            about.options = ObjectMetaOptions(max_chunk_size=CHUNK_BYTES)
            await self._store.put(about.name or "", reader, about)
            is_kept = True
        _call(done, is_kept)

    def get_snapshot(self, into: BinaryIO, done: Callable[[Position | None], None]) -> None:
        """Write the latest snapshot into `into`, verified by its digest."""
        self._start(self._get(SNAPSHOT, into, done, lambda info: int(info.description or "0"), 0))

    def get_segment(self, name: str, into: BinaryIO, done: Callable[[bool | None], None]) -> None:
        """Write a segment into `into`; the caller verifies it."""
        self._start(self._get(name, into, done, lambda _: True, False))

    async def _get(
        self,
        name: str,
        into: BinaryIO,
        done: Callable[[_T | None], None],
        tell: Callable[[ObjectInfo], _T],
        nothing: _T,
    ) -> None:
        answer: _T | None = None
        with as_silence():
            try:
                async with asyncio.timeout(STALL_S) as limit:  # the client's library would wait forever
                    loop = asyncio.get_running_loop()
                    arriving = ArrivingFile(into, limit, STALL_S, loop, lambda _: self._answered())
                    found = await self._store.get(name, writeinto=arriving)  # type: ignore[arg-type]  # only written to
                answer = tell(found.info)
            except (ObjectNotFoundError, NotFoundError):
                answer = nothing
            except DigestMismatchError as error:
                if name == SNAPSHOT:
                    raise
                log.warning("%s arrived with another digest: %s", name, error)
                answer = tell(ObjectInfo(name, "", ""))
        await _pass_on(done, answer)

    def segments(self, done: Callable[[frozenset[str] | None], None]) -> None:
        """Ask the store."""
        self._start(self._segments(done))

    async def _segments(self, done: Callable[[frozenset[str] | None], None]) -> None:
        found = None
        with as_silence():
            found = await segments_of(self._name, self._jetstream)
            self._answered()
        await _pass_on(done, found)

    def drop_segments(self, names: Collection[str]) -> None:
        """Purge segments from the store, and parts of objects that were never completed."""
        self._start(self._drop_segments(names))

    async def _drop_segments(self, names: Collection[str]) -> None:
        with as_silence():  # the next snapshot will do it
            await purge_objects(self._name, self._jetstream, names)

    def kept(self, done: Callable[[Retained | None], None]) -> None:
        """Ask the stream and the store."""
        self._start(self._kept(done))

    async def _kept(self, done: Callable[[Retained | None], None]) -> None:
        kept = None
        with as_silence():
            kept = await kept_of(self._name, self._jetstream)
            self._answered()
        await _pass_on(done, kept)

    # Beside the log.

    def tell(self, subject: str, data: bytes) -> None:
        """Publish on core NATS: at most once, and not stored."""
        if len(self._running) < MOST_AT_ONCE:
            self._start(self._tell(subject, data))

    async def _tell(self, subject: str, data: bytes) -> None:
        with as_silence():
            await self._client.publish(f"{self._name}.told.{subject}", data)

    def listen(self, subject: str, hear: Callable[[bytes], None]) -> None:
        """Subscribe to the subject."""

        async def heard(message: Msg) -> None:
            _call(hear, message.data)

        self._start(self._subscribe(f"{self._name}.told.{subject}", heard))

    async def _subscribe(self, subject: str, heard: Callable[[Msg], Awaitable[None]]) -> None:
        is_new = subject not in self._subscribed
        self._subscribed[subject] = heard
        if is_new:
            with as_silence():  # of a replaced connection
                await self._client.subscribe(subject, cb=self._deliver)

    async def _deliver(self, message: Msg) -> None:
        await self._subscribed[message.subject](message)

    def ask(self, subject: str, question: bytes, done: Callable[[bytes | None], None]) -> None:
        """Send a request of core NATS, which reports immediately if nobody answers the subject."""
        self._start(self._ask(subject, question, done))

    async def _ask(self, subject: str, question: bytes, done: Callable[[bytes | None], None]) -> None:
        answer = None
        with as_silence():
            answer = await self._answer_to(subject, question)
        _call(done, answer)

    async def _answer_to(self, subject: str, question: bytes) -> bytes:
        try:
            answer = (await self._client.request(f"{self._name}.asked.{subject}", question, timeout=PATIENCE_S)).data
        except NoRespondersError:
            return NOBODY
        return bytes(answer)

    def answer(self, subject: str, serve: Callable[[bytes, Reply], None]) -> None:
        """Answer requests; only the first answer to each is sent."""

        async def asked(message: Msg) -> None:
            is_answered = False

            def reply(data: bytes) -> None:
                nonlocal is_answered
                if not is_answered:
                    is_answered = True
                    self._start(self._respond(message, data))

            _call(serve, message.data, reply)

        self._start(self._subscribe(f"{self._name}.asked.{subject}", asked))

    async def _respond(self, message: Msg, data: bytes) -> None:
        with as_silence():
            await message.respond(data)

    async def leader(self) -> str:
        """Return the name of the server that leads the stream. Raises `NatsError` if none does."""
        cluster = (await self._jetstream.stream_info(self._name)).cluster
        return (cluster.leader if cluster is not None else None) or ""

    @property
    def trouble(self) -> str | None:
        """The problem of the connection, for people; None without one."""
        return None if self._client.is_connected else "no server of the log can be reached"


async def _set_answer(ask: Callable[[], Awaitable[_T]], answer: asyncio.Future[_T]) -> None:
    """Ask, and set the result as the answer, unless there is already one."""
    try:
        found = await ask()
    except Exception as error:  # noqa: BLE001 - any error belongs to the waiting caller
        if not answer.done():
            answer.set_exception(error)
    else:
        if not answer.done():
            answer.set_result(found)


async def _pass_on(done: Callable[[_T | None], None], answer: _T | None) -> None:
    """Call `done` with an answer; with None only after a pause, since callers retry immediately."""
    if answer is None:
        await asyncio.sleep(PAUSE_S)
    _call(done, answer)


def _call(callback: Callable[..., None], *args: object) -> None:
    """Call a callback; an error in it must not end the connection to the log."""
    try:
        callback(*args)
    except Exception:
        log.exception("fault while hearing the log")
