"""Connect to NATS JetStream, and create the parts of the log there: a stream, a store of snapshots, a secret.

A connection is discarded at its end, never closed gracefully, because a stalled server would not answer. `as_silence`
treats every error of the client's library as a missing answer.

`python -m ttt_net cluster check` checks the servers of the log before players depend on them: `inspect` connects to
each server and asks it about itself and the log; `findings` judges the answers. Neither changes anything. Whether a
server syncs each write cannot be asked: `sync_interval` is in its configuration only.
"""

import asyncio
import base64
import logging
import secrets
import ssl
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import ParseResult

import msgspec
from msgspec import Struct
from nats.aio.client import Client
from nats.aio.transport import TcpTransport
from nats.errors import Error as NatsError
from nats.js.api import (
    DiscardPolicy,
    KeyValueConfig,
    ObjectMeta,
    ObjectStoreConfig,
    RePublish,
    RetentionPolicy,
    StorageType,
    StreamConfig,
)
from nats.js.client import JetStreamContext
from nats.js.errors import APIError, BucketNotFoundError, KeyWrongLastSequenceError, NotFoundError
from nats.js.object_store import ObjectStore

from ttt_net.networks import without_login
from ttt_net.server.cluster.log import Position, Retained
from ttt_net.server.cluster.peers import MOST_SKEW_MS

log = logging.getLogger(__name__)

SNAPSHOT = "journal"
"""The name of the snapshot in its store; the other objects there are its segments."""
_NEEDS = "segments"
"""The header of a snapshot that names its segments."""
ABANDONED_S = 600.0
"""The age of the last part of an object that is not complete, after which nobody is writing it any more."""
PAUSE_S = 0.1
"""The delay before a failure is reported, because callers retry immediately."""
PING_S, MAX_PINGS = 1.0, 2
"""The library gives a connection up once this many pings, sent at this interval, have no answer."""
_WRONG_SEQUENCE = 10_071
"""The error of a stream for a message that expects another one before it."""
DISCARD_S = 2.0
"""The maximal time for ending the library's work for a discarded connection."""


class JetStreamAddress(NamedTuple):
    """The address of the log, and the credentials of this node."""

    servers: tuple[str, ...]
    """As `nats://host:port`, or `tls://host:port` for an encrypted connection."""
    stream: str = "ttt_net"
    """Its name, and the first word of every subject."""
    replicas: int = 3
    """How many servers keep it, if it does not exist yet."""
    credentials: Path | None = None
    """A file of NATS credentials."""
    authority: Path | None = None
    """Certificate authorities of the servers, in addition to the system's."""

    @property
    def shown(self) -> str:
        """The servers, for people, without this node's passwords."""
        return ", ".join(map(without_login, self.servers))


class DisposableTransport(TcpTransport):
    """A connection that is dropped when it is closed.

    With TLS, the library's own transport waits up to 30 s for a stalled server to close. If that wait is cancelled, so
    is every later one, with an unrequested `CancelledError`.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # of the library, as those below
        self._is_open = self._is_over = False

    def __bool__(self) -> bool:
        """Return True, so that the client does not replace this with its own transport."""
        return True

    async def connect(self, uri: ParseResult, buffer_size: int, connect_timeout: int) -> None:
        """Open another connection in place of a failed one, which the library leaves open.

        Raises `ConnectionAbortedError` if it was discarded.
        """
        self.close()
        if not self._is_over:
            await super().connect(uri, buffer_size, connect_timeout)
            self._is_open = True
        if self._is_over:  # perhaps meanwhile: the library may swallow a cancellation
            self.close()
            raise ConnectionAbortedError("this connection was discarded")

    def write(self, payload: bytes) -> None:
        """Send, unless the connection was dropped."""
        if self._is_open:
            super().write(payload)  # type: ignore[no-untyped-call]

    def writelines(self, payload: list[bytes]) -> None:
        """Send, unless the connection was dropped."""
        if self._is_open:
            super().writelines(payload)  # type: ignore[no-untyped-call]

    async def drain(self) -> None:
        """Wait until there is room to send, unless the connection was dropped."""
        if self._is_open:
            await super().drain()  # type: ignore[no-untyped-call]

    def certificate(self) -> dict[str, Any] | None:
        """Return the fields of the server's certificate; None without encryption."""
        found: dict[str, Any] | None = None if self._io_writer is None else self._io_writer.get_extra_info("peercert")
        return found

    def close(self) -> None:
        """Drop the connection and all unsent data."""
        self._is_open = False
        for writer in (self._io_writer, self._bare_io_writer):
            if writer is not None:
                writer.transport.abort()

    def discard(self) -> None:
        """Drop the connection for good: no other is opened."""
        self._is_over = True
        self.close()

    async def wait_closed(self) -> None:
        """Return immediately."""


class LogClient(Client):
    """A client of NATS whose connections can be discarded."""

    def __init__(self) -> None:
        super().__init__()
        self._transport: DisposableTransport = DisposableTransport()

    def certificate(self) -> dict[str, Any] | None:
        """Return the fields of the server's certificate; None without encryption."""
        return self._transport.certificate()

    @property
    def has_jetstream(self) -> bool:
        """Whether the server keeps streams."""
        return bool(self._server_info.get("jetstream"))

    async def discard(self) -> None:
        """Drop the connection, and end all its work. Waits for no server."""
        self._transport.discard()
        with as_silence():
            async with asyncio.timeout(DISCARD_S):
                await self.close()


@contextmanager
def as_silence(what: str | None = None) -> Iterator[None]:
    """End the block quietly if the library fails in it: the log has not answered. With `what`, log it as a warning.

    The library raises more than it documents: `RuntimeError` where uvloop has closed a socket, and `CancelledError`
    where it cancels its own futures. Only a cancellation that somebody requested is passed on.
    """
    try:
        yield
    except (NatsError, OSError, TimeoutError, RuntimeError) as error:
        if what is not None:
            log.warning("%s: %s", what, str(error) or type(error).__name__)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        log.warning("%s: the library cancelled it", what or "a request to the log")


@contextmanager
def without_complaints() -> Iterator[None]:
    """Keep a warning of asyncio out of the logs, which it writes at the end of a stream that nats-py encrypted."""

    def is_news(record: logging.LogRecord) -> bool:
        return not record.getMessage().startswith("returning true from eof_received()")

    complaining = logging.getLogger("asyncio")
    complaining.addFilter(is_news)  # one for each log that is open
    try:
        yield
    finally:
        complaining.removeFilter(is_news)


def _warn(error: Exception) -> None:
    log.warning("the log: %s", str(error) or type(error).__name__)


async def connect(
    client: LogClient, address: JetStreamAddress, node: str, failed: Callable[[Exception], None] = _warn
) -> None:
    """Connect to one of the servers, and to another whenever that one is gone; call `failed` with each failure."""
    tls = None
    if address.authority is not None or any(server.startswith("tls://") for server in address.servers):
        tls = ssl.create_default_context()
        if address.authority is not None:
            tls.load_verify_locations(address.authority)

    async def note(error: Exception) -> None:
        failed(error)
        task = asyncio.current_task()
        if task is not None and task.cancelling():  # the library may have swallowed that, and would connect for ever
            raise asyncio.CancelledError

    await client.connect(
        list(address.servers),
        name=node,
        tls=tls,
        user_credentials=str(address.credentials) if address.credentials is not None else None,
        error_cb=note,
        connect_timeout=1,
        reconnect_time_wait=0.2,  # type: ignore[arg-type]  # seconds, of any kind
        max_reconnect_attempts=-1,
        ping_interval=PING_S,  # type: ignore[arg-type]  # seconds, of any kind
        max_outstanding_pings=MAX_PINGS,
    )


async def create(jetstream: JetStreamContext, address: JetStreamAddress) -> tuple[ObjectStore, bytes]:
    """Create the stream and the store of snapshots, or find them; try again while the servers elect a leader."""
    name = address.stream
    while True:
        try:
            try:
                await jetstream.stream_info(name)
            except NotFoundError:
                await jetstream.add_stream(_stream_of(address))
            await _must_be_reached(jetstream, name)
            return await _store(jetstream, address), await _secret(jetstream, address)
        except NatsError as error:
            log.info("the log is not ready yet: %s", str(error) or type(error).__name__)
            await asyncio.sleep(PAUSE_S)


async def _must_be_reached(jetstream: JetStreamContext, name: str) -> None:
    """Raise `NatsError` unless batches reach the stream, which each server knows only some time after its creation."""
    try:  # a batch that the stream refuses
        await jetstream.publish(f"{name}.log", headers={"Nats-Expected-Last-Sequence": f"{2**62}"})
    except APIError as error:
        if error.err_code != _WRONG_SEQUENCE:
            raise


async def _store(jetstream: JetStreamContext, address: JetStreamAddress) -> ObjectStore:
    name = f"{address.stream}_snapshots"
    try:
        return await jetstream.object_store(name)
    except (BucketNotFoundError, NotFoundError):
        config = ObjectStoreConfig(storage=StorageType.FILE, replicas=address.replicas)
        return await jetstream.create_object_store(name, config)


async def _secret(jetstream: JetStreamContext, address: JetStreamAddress) -> bytes:
    """Return the secret that all nodes share; the first of them makes it up."""
    bucket = f"{address.stream}_secrets"
    try:
        kept = await jetstream.key_value(bucket)
    except (BucketNotFoundError, NotFoundError):
        kept = await jetstream.create_key_value(KeyValueConfig(bucket, replicas=address.replicas))
    with suppress(KeyWrongLastSequenceError):
        await kept.create("secret", secrets.token_urlsafe(32).encode())
    return (await kept.get("secret")).value or b""


def store_of(name: str, jetstream: JetStreamContext) -> ObjectStore:
    """Return the existing store of snapshots."""
    bucket = f"{name}_snapshots"
    return ObjectStore(bucket, f"OBJ_{bucket}", jetstream)


def about_snapshot(position: Position, needs: Collection[str]) -> ObjectMeta:
    """Return the description of a snapshot in the store; older releases read the position alone."""
    return ObjectMeta(name=SNAPSHOT, description=str(position), headers={_NEEDS: sorted(needs)} if needs else None)


async def kept_of(name: str, jetstream: JetStreamContext) -> Retained:
    """Return how much of a log is kept, with the age of its snapshot by the clocks of its servers."""
    state = (await jetstream.stream_info(name)).state
    bucket = f"{name}_snapshots"
    try:
        about = await jetstream.get_last_msg(f"OBJ_{bucket}", _about(bucket, SNAPSHOT))
    except NotFoundError:
        return Retained(0, 0.0, state.first_seq)
    stands_s = 0.0
    with suppress(NotFoundError):  # no batch is kept
        newest = await jetstream.get_msg(name, seq=state.last_seq)
        assert newest.time is not None, "what is stored has a time"
        assert about.time is not None, "what is stored has a time"
        stands_s = max(0.0, (newest.time - about.time).total_seconds())
    told = msgspec.json.decode(about.data or b"{}")
    needs = frozenset((told.get("headers") or {}).get(_NEEDS, ()))
    missing = needs - await segments_of(name, jetstream) if needs else needs
    return Retained(int(told.get("description") or 0), stands_s, state.first_seq, missing)


async def segments_of(name: str, jetstream: JetStreamContext) -> frozenset[str]:
    """Return the names of all complete objects in the store of snapshots, except the snapshot itself."""
    subjects = await _subjects(name, jetstream, "M")
    names = (base64.urlsafe_b64decode(subject.rpartition(".")[2]).decode() for subject in subjects)
    return frozenset(names) - {SNAPSHOT}


async def _subjects(name: str, jetstream: JetStreamContext, kind: str) -> Collection[str]:
    """Return the subjects of the store's messages: `M` for one about each object, `C` for the parts of each."""
    bucket = f"{name}_snapshots"
    info = await jetstream.stream_info(f"OBJ_{bucket}", subjects_filter=f"$O.{bucket}.{kind}.>")
    return info.state.subjects or {}


def _about(bucket: str, name: str) -> str:
    """Return the subject of the message about an object, which exists while the object is complete."""
    return f"$O.{bucket}.M.{base64.urlsafe_b64encode(name.encode()).decode()}"


async def purge_objects(name: str, jetstream: JetStreamContext, names: Collection[str]) -> None:
    """Purge objects, and parts that an interrupted write or deletion has left.

    The library's own deletion would keep a message about each object for ever.
    """
    bucket = f"{name}_snapshots"
    stream, store = f"OBJ_{bucket}", store_of(name, jetstream)
    for each in names:
        with suppress(NotFoundError):
            parts = (await store.get_info(each, show_deleted=True)).nuid
            await jetstream.purge_stream(stream, subject=_about(bucket, each))  # first, since what is listed is whole
            await jetstream.purge_stream(stream, subject=f"$O.{bucket}.C.{parts}")
    objects, parts_of = await _subjects(name, jetstream, "M"), await _subjects(name, jetstream, "C")
    if len(objects) == len(parts_of):
        return
    about = [await jetstream.get_last_msg(stream, subject) for subject in objects]
    whole = {f"$O.{bucket}.C.{msgspec.json.decode(each.data or b'{}').get('nuid')}" for each in about}
    newest = max((each.time for each in about if each.time is not None), default=None)
    for subject in set(parts_of) - whole:
        part = await jetstream.get_last_msg(stream, subject)
        if newest is not None and part.time is not None and (newest - part.time).total_seconds() > ABANDONED_S:
            await jetstream.purge_stream(stream, subject=subject)


def _stream_of(address: JetStreamAddress) -> StreamConfig:
    name = address.stream
    return StreamConfig(
        name=name,
        subjects=[f"{name}.log"],
        retention=RetentionPolicy.LIMITS,
        storage=StorageType.FILE,
        discard=DiscardPolicy.NEW,
        num_replicas=address.replicas,
        deny_delete=True,  # a gap would look like a loss
        republish=RePublish(src=f"{name}.log", dest=f"{name}.delivered"),
    )


ANSWER_S = 5.0
"""The time limit for connecting to a server, and for each of its answers."""
FIRST_VERSION = (2, 12)
"""The first release of nats-server that the guide accepts; older ones cannot sync each write."""
SOON = timedelta(days=14)
NOTED_SKEW_MS = 1_000
"""A clock that differs by more is probably not kept by NTP."""
NOT_FOUND = 404
FULL = 0.8
"""The fraction of the account's storage above which it counts as almost full."""
Weight = Literal["wrong", "risky"]


class ServerFacts(NamedTuple):
    """The state of one server, as it reports it."""

    server: str
    """Its address, without our password."""
    trouble: str | None = None
    """Why the check could not connect; the fields below are then meaningless."""
    version: str = ""
    has_jetstream: bool = True
    answer_ms: float = 0.0
    """How long it took to answer one question."""
    certificate_ends: datetime | None = None
    """None if the connection is not encrypted."""


class LogCopy(Struct):
    """One copy of the log, besides that of its leader."""

    name: str = ""
    current: bool = False
    offline: bool = False


class Group(Struct):
    """The servers that keep the log."""

    leader: str = ""
    replicas: list[LogCopy] = []


class _Config(Struct):
    num_replicas: int = 1


class _State(Struct):
    bytes: int = 0


class _Error(Struct):
    code: int = 0
    description: str = ""


class LogFacts(Struct):
    """The state of the log as its leader reports it: the fields of the reply of NATS that matter here."""

    config: _Config = msgspec.field(default_factory=_Config)
    state: _State = msgspec.field(default_factory=_State)
    cluster: Group = msgspec.field(default_factory=Group)
    ts: datetime | None = None
    """The leader's time of day."""
    error: _Error | None = None

    @property
    def is_missing(self) -> bool:
        """Whether there is no log of this name."""
        return self.error is not None and self.error.code == NOT_FOUND


class _Limits(Struct):
    max_storage: int = -1


class AccountFacts(Struct):
    """The storage that is in use, and its limit."""

    storage: int = 0
    limits: _Limits = msgspec.field(default_factory=_Limits)


class Inspection(NamedTuple):
    """The answers of all servers."""

    servers: Sequence[ServerFacts]
    log: LogFacts | None = None
    """None if no server answered."""
    account: AccountFacts | None = None
    skew_ms: int | None = None
    """How far the clock of the leader is ahead of ours; None if it did not say."""


async def inspect(address: JetStreamAddress) -> Inspection:
    """Ask each server; the first that answers also about the log."""
    servers: list[ServerFacts] = []
    found: Inspection | None = None
    with without_complaints():
        for server in address.servers:
            facts, more = await _ask(address._replace(servers=(server,)))
            servers.append(facts)
            found = found or more
    return (found or Inspection(()))._replace(servers=servers)


async def _ask(address: JetStreamAddress) -> tuple[ServerFacts, Inspection | None]:
    server, client = without_login(address.servers[0]), LogClient()
    failures: list[Exception] = []
    try:
        async with asyncio.timeout(ANSWER_S):
            await connect(client, address, "check", failures.append)
            version, certificate = str(client.connected_server_version), client.certificate()
            if not client.has_jetstream:
                return ServerFacts(server, None, _number_of(version), has_jetstream=False), None
            began_s = time.perf_counter()
            account = msgspec.json.decode(await _reply(client, "INFO"), type=AccountFacts)
            answer_ms = (time.perf_counter() - began_s) * 1000
            facts = ServerFacts(server, None, _number_of(version), True, answer_ms, _end_of(certificate))
            sent_s = time.time()
            log = msgspec.json.decode(await _reply(client, f"STREAM.INFO.{address.stream}"), type=LogFacts)
            middle_s = (sent_s + time.time()) / 2
            skew_ms = None if log.ts is None else round((log.ts.timestamp() - middle_s) * 1000)
            return facts, Inspection((), log, account, skew_ms)
    except (NatsError, OSError, TimeoutError, RuntimeError, ValueError) as error:
        cause = failures[-1] if failures else error
        return ServerFacts(server, str(cause) or f"no answer within {ANSWER_S:.0f} s"), None
    finally:
        await client.discard()


async def _reply(client: LogClient, question: str) -> bytes:
    return bytes((await client.request(f"$JS.API.{question}", b"", timeout=ANSWER_S)).data)


def _number_of(version: str) -> str:
    return version.strip("<>").rpartition(" v")[2]


def _end_of(certificate: dict[str, Any] | None) -> datetime | None:
    if not certificate:
        return None
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(certificate["notAfter"]), UTC)


def describe(found: Inspection, stream: str) -> Iterator[str]:
    """Yield a line for each server that answered, and some for the log."""
    for each in found.servers:
        if each.trouble is None:
            ends = each.certificate_ends
            link = "not encrypted" if ends is None else f"certificate until {ends:%Y-%m-%d}"
            yield f"{each.server}: nats-server {each.version}, answers after {each.answer_ms:.0f} ms, {link}"
    if found.log is not None and found.log.error is None:
        group = found.log.cluster
        copies = 1 + sum(each.current and not each.offline for each in group.replicas)
        yield (
            f"log {stream}: {copies} of {found.log.config.num_replicas} servers have all of it, "
            f"{group.leader or 'nobody'} leads; {found.log.state.bytes / 1e6:,.1f} MB"
        )
    if found.skew_ms is not None:
        yield f"clock: that of the leader is {found.skew_ms:+,} ms from ours"
    if found.account is not None:
        yield f"storage: {found.account.storage / 1e6:,.1f} MB in use, snapshots included"


def findings(found: Inspection, address: JetStreamAddress, now: datetime) -> Iterator[tuple[Weight, str]]:
    """Yield faults and risks, each with advice."""
    for each in found.servers:
        yield from _of_server(each, now)
    if len(address.servers) < 3 or address.replicas < 3:
        yield "risky", "fewer than three servers keep the log, so it stops when one of them does; use three"
    if found.log is not None:
        yield from _of_log(found.log, address.stream)
    if found.skew_ms is not None and abs(found.skew_ms) > MOST_SKEW_MS:
        yield "wrong", f"the clocks of this machine and of the log's leader are {found.skew_ms:+,} ms apart; set them"
    elif found.skew_ms is not None and abs(found.skew_ms) > NOTED_SKEW_MS:
        yield "risky", f"the clocks of this machine and of the log's leader are {found.skew_ms:+,} ms apart; use NTP"
    account = found.account
    if account is not None and account.storage > FULL * account.limits.max_storage > 0:
        most = account.limits.max_storage / 1e6
        yield "risky", f"{account.storage / 1e6:,.0f} of {most:,.0f} MB of storage are in use; raise max_file"


def _of_server(facts: ServerFacts, now: datetime) -> Iterator[tuple[Weight, str]]:
    if facts.trouble is not None:
        yield "wrong", f"{facts.server}: {facts.trouble}"
        return
    if not facts.has_jetstream:
        yield "wrong", f"{facts.server}: JetStream is off; add jetstream {{ ... }} to its configuration"
    numbers = facts.version.split("-")[0].split(".")[:2]
    if tuple(int(each) for each in numbers if each.isdecimal()) < FIRST_VERSION:
        yield (
            "risky",
            f"{facts.server}: nats-server {facts.version} cannot sync each write, so a power cut may lose moves; "
            f"install {'.'.join(map(str, FIRST_VERSION))} or later",
        )
    if facts.certificate_ends is not None and facts.certificate_ends < now + SOON:
        yield "risky", f"{facts.server}: its certificate ends on {facts.certificate_ends:%Y-%m-%d}; renew it"


def _of_log(log: LogFacts, stream: str) -> Iterator[tuple[Weight, str]]:
    if log.is_missing:
        return  # the first node creates it
    if log.error is not None:
        yield "wrong", f"log {stream}: {log.error.description}"
    elif not log.cluster.leader:
        yield "wrong", f"log {stream} has no leader: start a majority of its servers"
    for each in log.cluster.replicas:
        if each.offline or not each.current:
            state = "is not there" if each.offline else "does not have all of it yet"
            yield "risky", f"log {stream}: the copy on {each.name} {state}"
