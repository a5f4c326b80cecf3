"""Check the servers of a cluster's log before players depend on them: `python -m ttt_net cluster check`.

`inspect` connects to each server and asks it about itself and the log; `findings` judges the answers. Neither changes
anything. Whether a server syncs each write cannot be asked: `sync_interval` is in its configuration only.
"""

import asyncio
import ssl
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct
from nats.errors import Error as NatsError

from ttt_net.networks import without_login
from ttt_net.server.cluster.jetstream_connection import JetStreamAddress, LogClient, connect, without_complaints
from ttt_net.server.cluster.peers import MOST_SKEW_MS

ANSWER_S = 5.0
"""How long a server may take to let us in, and to answer a question."""
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
    """One server, by its own account."""

    server: str
    """Its address, without our password."""
    trouble: str | None = None
    """Why it does not let us in; the fields below then mean nothing."""
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
    """The log, by the account of its leader: the fields of the answer of NATS that matter here."""

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
