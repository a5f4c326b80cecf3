"""Connect to NATS JetStream, and create what the log consists of there: a stream, a store of snapshots, a secret."""

import asyncio
import base64
import logging
import secrets
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js.api import (
    DiscardPolicy,
    KeyValueConfig,
    ObjectStoreConfig,
    RePublish,
    RetentionPolicy,
    StorageType,
    StreamConfig,
)
from nats.js.client import JetStreamContext
from nats.js.errors import BucketNotFoundError, KeyWrongLastSequenceError, NotFoundError
from nats.js.object_store import ObjectStore

from ttt_net.networks import without_login
from ttt_net.server.cluster.log import Retained

log = logging.getLogger(__name__)

SNAPSHOT = "journal"
"""The name of the one object in the store of snapshots."""
PAUSE_S = 0.1
"""How long a refusal is kept back: those who are told of one try again at once."""


class JetStreamAddress(NamedTuple):
    """Where the log is, and how this node shows that it may write to it."""

    servers: tuple[str, ...]
    """As `nats://host:port`, or `tls://host:port` for an encrypted connection."""
    stream: str = "ttt_net"
    """Its name, and the first word of every subject."""
    replicas: int = 3
    """How many servers keep it, if it does not exist yet."""
    credentials: Path | None = None
    """A file of NATS credentials."""
    authority: Path | None = None
    """Certificates that vouch for the servers, beside those that the system knows."""

    @property
    def shown(self) -> str:
        """The servers, for people: without the passwords that let this node in."""
        return ", ".join(map(without_login, self.servers))


@contextmanager
def without_complaints() -> Iterator[None]:
    """Keep a warning of asyncio out of the logs: nats-py encrypts a stream unknown to it, which it tells at its end."""

    def is_news(record: logging.LogRecord) -> bool:
        return not record.getMessage().startswith("returning true from eof_received()")

    complaining = logging.getLogger("asyncio")
    complaining.addFilter(is_news)  # one for each log that is open
    try:
        yield
    finally:
        complaining.removeFilter(is_news)


async def connect(client: Client, address: JetStreamAddress, node: str) -> None:
    """Connect to one of the servers, and to another whenever that one is gone."""
    tls = None
    if address.authority is not None or any(server.startswith("tls://") for server in address.servers):
        tls = ssl.create_default_context()
        if address.authority is not None:
            tls.load_verify_locations(address.authority)

    async def note(error: Exception) -> None:
        log.warning("the log: %s", error or type(error).__name__)
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
        ping_interval=1,
        max_outstanding_pings=2,
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
            return await _store(jetstream, address), await _secret(jetstream, address)
        except NatsError as error:
            log.info("the log is not ready yet: %s", error or type(error).__name__)
            await asyncio.sleep(PAUSE_S)


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
    """Return the store of snapshots, which is there."""
    bucket = f"{name}_snapshots"
    return ObjectStore(bucket, f"OBJ_{bucket}", jetstream)


async def kept_of(name: str, jetstream: JetStreamContext) -> Retained:
    """Ask how much of a log is kept; its servers tell when its newest batch came, and when the snapshot was whole."""
    state = (await jetstream.stream_info(name)).state
    bucket, file = f"{name}_snapshots", base64.urlsafe_b64encode(SNAPSHOT.encode()).decode()
    try:
        about = await jetstream.get_last_msg(f"OBJ_{bucket}", f"$O.{bucket}.M.{file}")
    except NotFoundError:
        return Retained(0, 0.0, state.first_seq)
    stands_s = 0.0
    with suppress(NotFoundError):  # no batch is kept
        newest = await jetstream.get_msg(name, seq=state.last_seq)
        assert newest.time is not None, "what is stored has a time"
        assert about.time is not None, "what is stored has a time"
        stands_s = max(0.0, (newest.time - about.time).total_seconds())
    position = int(msgspec.json.decode(about.data or b"{}").get("description") or 0)
    return Retained(position, stands_s, state.first_seq)


def _stream_of(address: JetStreamAddress) -> StreamConfig:
    name = address.stream
    return StreamConfig(
        name=name,
        subjects=[f"{name}.log"],
        retention=RetentionPolicy.LIMITS,
        storage=StorageType.FILE,
        discard=DiscardPolicy.NEW,
        num_replicas=address.replicas,
        deny_delete=True,  # a gap would be taken for loss
        republish=RePublish(src=f"{name}.log", dest=f"{name}.delivered"),
    )
