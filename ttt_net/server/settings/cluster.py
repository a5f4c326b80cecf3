"""Declare the settings of a cluster: where its log is; without one a server stands alone."""

import ipaddress
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from ttt_net.networks import without_login
from ttt_net.server.settings.setting import setting

_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")


def check_name(text: str) -> None:
    """Check that `text` can be the name of a node or of a log. Raises `ValueError` if it cannot."""
    if not _NAME.fullmatch(text):
        raise ValueError(f"{text!r} is no name: 1 to 32 letters of ASCII, digits, - and _")


def check_log(text: str) -> None:
    """Check that `text` is the address of a server of NATS. Raises `ValueError` if it is not."""
    try:
        url = urlsplit(text)
        is_one = url.scheme in ("nats", "tls") and bool(url.hostname) and url.path in ("", "/") and url.port != 0
    except ValueError:  # says too much: it may be the password that is taken for a port
        is_one = False
    if not is_one:
        shown = without_login(text)
        raise ValueError(f"{shown!r} is no server of NATS; write nats://HOST:4222, or tls://HOST:4222 to encrypt")


class SnapshotSchedule(NamedTuple):
    """When there is another snapshot, and when the log is trimmed behind it."""

    every_places: int = 2_000
    """After so many places of the log there is another."""
    rest_s: float = 600.0
    """How long one stands at the least."""
    kept_places: int = 1_000
    """So many places before a snapshot stay in the log, for nodes that are a little behind."""
    away_s: float = 60.0
    """The log is trimmed behind a snapshot that has stood for so long: who was away for less goes on by itself."""


_USUAL = SnapshotSchedule()


@dataclass(frozen=True, slots=True)
class Cluster:
    """The log that this server shares with others, as docs/cluster.md says; with no `ledger` it stands alone."""

    ledger: tuple[str, ...] = setting(
        (), "servers of NATS JetStream that store the log: nats://a:4222,nats://b:4222; empty: no cluster",
        check=check_log, shown=without_login, is_live=False,
    )  # fmt: skip
    stream: str = setting("ttt_net", "name of the log on these servers", check=check_name, is_live=False)
    replicas: int = setting(
        3, "number of these servers that store the log; applies when the log is created", least=1, most=5, is_live=False
    )
    credentials: Path | None = setting(None, "file of NATS credentials that let this node write", is_live=False)
    authority: Path | None = setting(
        None, "certificate authorities (PEM) of those servers, besides the system's", is_live=False
    )

    snapshot_places: int = setting(
        _USUAL.every_places, "writes between two snapshots of all tables, from which new nodes start",
        least=1, is_live=False,
    )  # fmt: skip
    snapshot_rest_s: float = setting(_USUAL.rest_s, "least time between two snapshots", least=1, is_live=False)
    kept_places: int = setting(
        _USUAL.kept_places, "writes before a snapshot that stay in the log, for nodes that are slightly behind",
        is_live=False,
    )  # fmt: skip
    away_s: float = setting(
        _USUAL.away_s, "how long a node may be cut off and continue from the log; after that it loads a snapshot",
        least=0.1, is_live=False,
    )  # fmt: skip

    @property
    def schedule(self) -> SnapshotSchedule:
        """When there is another snapshot, and when the log is trimmed."""
        return SnapshotSchedule(self.snapshot_places, self.snapshot_rest_s, self.kept_places, self.away_s)

    @property
    def is_on(self) -> bool:
        """Whether this server is one of several."""
        return bool(self.ledger)

    def faults(self, node: str, public_url: str) -> Iterator[str]:
        """Yield what a node may not start with."""
        if not self.is_on:
            return
        if find_spec("nats") is None:
            yield "cluster.ledger: this needs the extra `cluster`: pip install 'ttt_net[cluster]'"
        if not node:
            yield "node: each node of a cluster needs a name of its own; set it, as in --node a"
        if not public_url:
            yield "public_url: players need to know each node's own address to go to another; set it"

    def risks(self) -> Iterator[str]:
        """Yield what may be meant, and yet is told to one who asks."""
        if not self.is_on:
            return
        urls = [urlsplit(text) for text in self.ledger]
        away = [url.hostname for url in urls if url.hostname and not _is_here(url.hostname)]
        if away and any(url.scheme != "tls" for url in urls):
            yield f"cluster.ledger: what is written goes to {away[0]} in clear, and can be forged on its way; use tls"
        if not self.credentials and not any(url.username for url in urls):
            yield "cluster.credentials: the log lets in all who can reach it, and who writes there is the server"
        if self.replicas < 3 or len(urls) < 3:
            yield "cluster.replicas: fewer than three servers keep the log, so the loss of one stops or loses it"
        if len({url.hostname for url in urls}) < len(urls):
            yield "cluster.ledger: two servers of the log are on one machine, and die with it together"
        yield "cluster.ledger: that the servers of NATS sync each write cannot be seen from here: sync_interval: always"


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
