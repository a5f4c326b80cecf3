"""Declare all settings in one place, from which flags, environment, file, `--print-config` and docs are derived.

To add a setting, add a field to `Configuration` (or to a part, such as `Limits`) with its default, one sentence of
help, and bounds. `setting` declares it, and `Setting` converts its values.
"""

import math
import re
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from importlib.util import find_spec
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, cast
from urllib.parse import urlsplit

from platformdirs import user_data_path

from ttt_net.networks import is_loopback, without_login

_PERIODS = {"s": 1.0, "min": 60.0, "h": 3_600.0}
_WRITTEN = re.compile(r"(\d{1,9})/(\d{0,4})(s|min|h)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Rate:
    """A burst of `count` actions, and the same number again per period."""

    count: int
    period_s: float = 1.0

    @classmethod
    def of(cls, text: str) -> "Rate":
        """Return the rate of a text such as `20/s`, `10/min` or `5/10s`. Raises `ValueError` if the text is invalid."""
        found = _WRITTEN.fullmatch(text.strip())
        if not found or int(found[1]) == 0 or found[2] == "0":
            raise ValueError(f"{text!r} is no rate; write 20/s, 10/min, 5/10s or 100/h")
        return cls(int(found[1]), int(found[2] or 1) * _PERIODS[found[3]])

    @property
    def per_s(self) -> float:
        """The number per second."""
        return self.count / self.period_s

    def __str__(self) -> str:
        """Return the text that `of` reads."""
        for unit, seconds in reversed(_PERIODS.items()):
            if self.period_s % seconds == 0:
                periods = int(self.period_s / seconds)
                return f"{self.count}/{periods if periods > 1 else ''}{unit}"
        return f"{self.count}/{self.period_s:g}s"


Value = bool | int | float | str | Path | Rate | tuple[str, ...] | None
T = TypeVar("T")
_ENTRY = "ttt_net"
_TRUTHS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
METAVARS: dict[object, str] = {
    bool: "",
    bool | None: "",
    int: "N",
    float: "X",
    str: "TEXT",
    Path | None: "PATH",
    Rate: "RATE",
    tuple[str, ...]: "LIST",
}
"""The possible types of a setting, and the placeholder for a value of each."""


def setting(
    default: T,
    help: str,
    *,
    least: float = 0,
    most: float = 10**9,
    choices: tuple[str, ...] = (),
    check: Callable[[str], object] | None = None,
    shown: Callable[[str], str] | None = None,
    is_common: bool = False,
    is_live: bool = True,
) -> T:
    """Return a field of a frozen dataclass that is a setting, with bounds for numbers and choices for words.

    `check` is called with each word of a list, or with a text; it rejects the value with `ValueError`. `shown` returns
    such a word for printing, without secrets. Help lists common settings first. Live settings are read whenever they
    are needed, so they can change while the server runs.
    """
    entry = {
        "help": help,
        "least": least,
        "most": most,
        "choices": choices,
        "check": check,
        "hide": shown,
        "is_common": is_common,
        "is_live": is_live,
    }
    return field(default=default, metadata={_ENTRY: entry})


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. Its key is `port`, or `limits.max_connections` for one in a table; other names follow from it."""

    key: str
    kind: Any
    default: Value
    help: str
    least: float
    most: float
    choices: tuple[str, ...]
    check: Callable[[str], object] | None
    hide: Callable[[str], str] | None
    """Returns a word of the value for printing, without secrets; None if nothing in it can be secret."""
    is_common: bool
    """Whether it is one of the few settings that most hosts need; `--help` lists only these."""
    is_live: bool
    """Whether SIGHUP changes it; otherwise it takes effect at the next start."""

    @property
    def is_truth(self) -> bool:
        """Whether it is true or false; if None is allowed, it stands for a default that depends on other settings."""
        return self.kind in (bool, bool | None)

    @property
    def flag(self) -> str:
        """Its name on the command line."""
        return "--" + self.key.replace(".", "-").replace("_", "-")

    @property
    def variable(self) -> str:
        """Its name in the environment."""
        return "TTT_NET_" + self.key.replace(".", "_").upper()

    @property
    def table(self) -> str:
        """The table of the file that it is in; empty for the first."""
        return self.key.rpartition(".")[0]

    def shown(self, value: Value) -> str:
        """Return a value in TOML, without secrets."""
        return as_toml(tuple(map(self.hide, value)) if self.hide and isinstance(value, tuple) else value)

    def read(self, given: object) -> Value:
        """Return the value of a text or a TOML file. Raises `ValueError`, with the allowed values, if it is invalid."""
        if self.kind == bool | None and given == "":
            return None
        if self.is_truth:
            return _truth(given)
        if self.kind is int or self.kind is float:
            return self._number(given)
        if self.kind == tuple[str, ...]:
            words = _words(given)
            if self.check:
                for word in words:
                    self.check(word)
            return words
        if not isinstance(given, str):
            raise ValueError(f"{given!r} is no text; write it in quotation marks")
        if any(ord(character) < 32 for character in given):
            raise ValueError(f"{given!r} has control characters")
        if self.kind is Rate:
            return Rate.of(given)
        if self.kind == Path | None:
            return Path(given).expanduser() if given else None
        if self.choices and given not in self.choices:
            raise ValueError(f"{given!r} is none of {', '.join(self.choices)}")
        if self.check and given:
            self.check(given)
        return given

    def _number(self, given: object) -> int | float:
        wanted = "whole number" if self.kind is int else "number"
        try:
            if isinstance(given, bool) or not isinstance(given, (int, float, str)):
                raise TypeError
            if self.kind is int and isinstance(given, float):
                raise TypeError
            number: int | float = int(given) if self.kind is int else float(given)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"{given!r} is no {wanted}") from None
        if math.isnan(number) or not self.least <= number <= self.most:
            raise ValueError(f"{given} is out of range; {self.least:,g} to {int(self.most):,}")
        return number


def settings_of(kind: type, table: str = "") -> Iterator[Setting]:
    """Yield the settings of a dataclass, those of the dataclasses in it after its own; their names are the tables."""
    assert is_dataclass(kind)
    inner = []
    for each in fields(kind):
        if _ENTRY in each.metadata:
            yield Setting(table + each.name, each.type, cast(Value, each.default), **each.metadata[_ENTRY])
        else:
            inner.append(each)
    for each in inner:
        yield from settings_of(cast(type, each.type), f"{each.name}.")


def as_toml(value: Value) -> str:
    """Return the value in TOML."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case tuple():
            return f"[{', '.join(map(_quoted, value))}]"
        case None:
            return '""'
        case _:
            return _quoted(str(value))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _truth(given: object) -> bool:
    truth = given if isinstance(given, bool) else _TRUTHS.get(given.lower()) if isinstance(given, str) else None
    if truth is None:
        raise ValueError(f"{given!r} is neither true nor false")
    return truth


def _words(given: object) -> tuple[str, ...]:
    if isinstance(given, str):
        return tuple(word.strip() for word in given.split(",") if word.strip())
    if isinstance(given, list) and all(isinstance(word, str) for word in given):
        return tuple(given)
    raise ValueError(f"{given!r} is no list of texts")


FORMATS = ("plain", "json")
LEVELS = ("debug", "info", "warning", "error")
DEFAULT_PORT = 8765
DEFAULT_DATA = user_data_path("ttt_net", appauthor=False) / "server"


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
    except ValueError:  # the error could quote a password as the port
        is_one = False
    if not is_one:
        shown = without_login(text)
        raise ValueError(f"{shown!r} is no server of NATS; write nats://HOST:4222, or tls://HOST:4222 to encrypt")


class SnapshotSchedule(NamedTuple):
    """When a node makes another snapshot, and when it trims the log before it."""

    every_places: int = 2_000
    """The positions of the log between two snapshots."""
    rest_s: float = 600.0
    """The minimal time between two snapshots."""
    kept_places: int = 1_000
    """The positions before a snapshot that stay in the log, for nodes that are slightly behind."""
    away_s: float = 60.0
    """The age of a snapshot before the log is trimmed, so that nodes that were away for less time do not need it."""


_USUAL = SnapshotSchedule()


@dataclass(frozen=True, slots=True)
class Cluster:
    """The log that this server shares with others (docs/cluster.md); without a `ledger` it is not in a cluster."""

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
        """The schedule of snapshots, and of trimming the log."""
        return SnapshotSchedule(self.snapshot_places, self.snapshot_rest_s, self.kept_places, self.away_s)

    @property
    def is_on(self) -> bool:
        """Whether this server is one of several."""
        return bool(self.ledger)

    def faults(self, node: str, public_url: str) -> Iterator[str]:
        """Yield the errors that keep a node from starting."""
        if not self.is_on:
            return
        if find_spec("nats") is None:
            yield "cluster.ledger: this needs the extra `cluster`: pip install 'ttt_net[cluster]'"
        if not node:
            yield "node: each node of a cluster needs a name of its own; set it, as in --node a"
        if not public_url:
            yield "public_url: players need to know each node's own address to go to another; set it"

    def risks(self) -> Iterator[str]:
        """Yield the risks that `check` reports."""
        if not self.is_on:
            return
        urls = [urlsplit(text) for text in self.ledger]
        away = [url.hostname for url in urls if url.hostname and not is_loopback(url.hostname)]
        if away and any(url.scheme != "tls" for url in urls):
            yield f"cluster.ledger: what is written goes to {away[0]} in clear, and can be forged on its way; use tls"
        if not self.credentials and not any(url.username for url in urls):
            yield "cluster.credentials: the log lets in all who can reach it, and who writes there is the server"
        if self.replicas < 3 or len(urls) < 3:
            yield "cluster.replicas: fewer than three servers keep the log, so the loss of one stops or loses it"
        if len({url.hostname for url in urls}) < len(urls):
            yield "cluster.ledger: two servers of the log are on one machine, and die with it together"
        yield "cluster.ledger: that the servers of NATS sync each write cannot be seen from here: sync_interval: always"


def check_url(text: str) -> None:
    """Check that `text` is an address with a scheme, for clients. Raises `ValueError` if it is not."""
    url = urlsplit(text)
    if (
        url.scheme not in ("ws", "wss")
        or not url.hostname
        or url.path
        or url.query
        or url.fragment
        or "@" in url.netloc
    ):
        raise ValueError(f"{text!r} is no address of a server; write wss://play.example.org or ws://192.0.2.7:8765")
    _ = url.port  # raises for an invalid port


@dataclass(frozen=True, slots=True)
class Tls:
    """The server's certificate; without one it does not encrypt."""

    cert: Path | None = setting(None, "certificate chain as PEM; read again on SIGHUP", is_common=True, is_live=False)
    key: Path | None = setting(None, "private key of the certificate as PEM", is_common=True, is_live=False)
    self_signed: bool = setting(
        False,
        "make a self-signed certificate and print its fingerprint, for a trial",
        is_common=True,
        is_live=False,
    )

    @property
    def is_on(self) -> bool:
        """Whether connections are encrypted."""
        return self.cert is not None or self.key is not None or self.self_signed


_ADDED_GAME = re.compile(r"[a-z][a-z0-9]{1,19}", re.ASCII)


def check_added_game(text: str) -> None:
    """Check that `text` can be the name of a game of another package. Raises `ValueError` if it cannot."""
    if not _ADDED_GAME.fullmatch(text):
        raise ValueError(f"{text!r} is no name of a game of another package; write it without +swap, such as hex")


@dataclass(frozen=True, slots=True)
class Games:
    """The treatment of games of other packages (docs/own_games.md)."""

    rated: tuple[str, ...] = setting(
        (), "games of other packages with rated matches; name only those that no player can solve",
        check=check_added_game, is_live=False,
    )  # fmt: skip


PlayerAct = Literal[
    "blocks",
    "codes",
    "challenges",
    "chats",
    "hints",
    "inquiries",
    "lessons",
    "matches",
    "messages",
    "renames",
    "reports",
    "tournaments",
    "writes",
]
"""Actions limited for each player, and for all players of an address together, by the names of their limits."""
AddressAct = Literal["api_requests", "openings", "registrations", "wrong_codes", "floods", "mistakes"]
"""Actions limited for each address."""


@dataclass(slots=True)
class Limits:
    """Limits for one connection, and for all of them together. Times are in seconds, sizes in bytes.

    All parts of the server share one object; only `reload_settings` changes it.
    """

    max_connections: int = setting(5_000, "connections in total", least=1)
    max_per_address: int = setting(
        200, "connections from one address; enough for a school class behind one router", least=1
    )
    max_newcomers: int = setting(
        2_000, "connections before their hello; at one more, the oldest of them is dropped", least=10
    )
    max_live_matches: int = setting(20, "live matches of one player at a time", least=1)
    messages: Rate = setting(Rate(200, 2.0), "frames of any kind on one connection, including pings and fragments")
    work: Rate = setting(
        Rate(1_000, 40.0),
        "milliseconds of computing time for one address; beyond it, only moves and pings are served, and more slowly",
    )
    codes: Rate = setting(Rate(10, 60.0), "attempts at invitation codes by one player, of 309 million codes")
    inquiries: Rate = setting(
        Rate(20, 10.0),
        "queries of one player about the past or matches that are not in memory, and whole matches sent again",
    )
    matches: Rate = setting(Rate(200, 60.0), "matches that one player starts")
    writes: Rate = setting(
        Rate(30, 20.0), "moves, offers and new matches of one player; also counted for all players of an address"
    )
    daily_mb: int = setting(
        100,
        "megabytes that one address may store in a day; the last quarter is kept for matches that have begun",
        least=1,
        most=1_000_000,
    )
    renames: Rate = setting(Rate(10, 3_600.0), "renames of one player")
    free_names: bool = setting(False, "allow any printable name, as among friends")
    allow_guests: bool = setting(True, "allow guests, who play casual matches without a name")
    rated_same_address: bool | None = setting(
        None, "allow rated matches between two players of one address; empty: unless the server is public"
    )
    allow_chat: bool = setting(True, "allow players to write chat messages; ready-made phrases are always allowed")
    chats: Rate = setting(Rate(6, 10.0), "chat messages of one player")
    reports: Rate = setting(Rate(5, 3_600.0), "reports by one player")
    blocks: Rate = setting(Rate(60, 600.0), "mutes and blocks of other players by one player")
    lessons: Rate = setting(Rate(60, 600.0), "mistakes to learn from, and answers to them, that one player stores")
    challenges: Rate = setting(Rate(20, 60.0), "challenges and invitations by one player")
    allow_tournaments: bool = setting(True, "allow players to make tournaments; the host always can")
    tournaments: Rate = setting(Rate(3, 3_600.0), "tournaments that one player makes")
    open_tournaments: int = setting(20, "tournaments that are not over, at a time", least=0, most=1_000)
    tournament_players: int = setting(200, "players of one tournament", least=2, most=1_000)
    players_per_address: int = setting(
        20, "all players of one address together may do this many times as much as one player", least=1, most=10_000
    )
    arrivals: Rate = setting(
        Rate(1_000, 1.0), "new connections from everywhere; further ones wait in the kernel", is_live=False
    )
    api_requests: Rate = setting(Rate(60, 10.0), "requests to the HTTP API from one address")
    openings: Rate = setting(Rate(600, 60.0), "new connections from one address")
    registrations: Rate = setting(Rate(100, 3_600.0), "new names from one address")
    mistakes: Rate = setting(Rate(120, 60.0), "rejected names from one address")
    wrong_codes: Rate = setting(Rate(20, 3_600.0), "wrong invitation codes from one address")
    floods: Rate = setting(
        Rate(10, 60.0),
        "connections from one address that are closed for flooding; then new ones are rejected for a while",
    )
    unmetered: tuple[str, ...] = setting(
        ("127.0.0.0/8", "::1"), "addresses and networks that are exempt from limits per address", check=ip_network
    )
    handshake_s: float = setting(5.0, "time limit for the opening handshake", least=0.05, most=60)
    handshake_bytes: int = setting(16_384, "size limit of the opening handshake", least=1_024, most=65_536)
    hello_s: float = setting(10.0, "time limit until an accepted hello", least=0.05, most=600)
    ping_after_s: float = setting(
        3.0,
        "silence after which a peer is pinged; an active peer is pinged after five times as long",
        least=0.05,
        most=60,
    )
    dead_after_s: float = setting(6.5, "silence after which a connection is closed", least=0.1, most=600)
    stalled_s: float = setting(5.0, "how long a client may leave data unread", least=0.05, most=60)
    closing_s: float = setting(2.0, "time limit for the closing handshake", least=0.05, most=60)
    unsent_bytes: int = setting(65_536, "bytes that may wait for a slow client", least=16_384)
    unsent_messages: int = setting(64, "messages that may wait for a slow client", least=8)
    analysis_s: float = setting(20.0, "time limit for the analysis of a finished match; 0: no analyses", most=600)
    hint_s: float = setting(0.3, "time limit for a hint's search; 0: no hints and no first lessons", most=5)
    hints: Rate = setting(Rate(60, 60.0), "hints and warnings of one player")
    free_disk_mb: int = setting(
        256, "megabytes to keep free on the journal's disk: below, no new matches begin; below a quarter, no moves"
    )
    journal_mb: int = setting(
        0, "size limit of the journal in megabytes: above nine tenths, no new matches; above, no moves; 0: no limit"
    )
    kernel_send_buffer: int = setting(
        32_768,
        "requested size of the kernel's buffer, which doubles it; by default it buffers megabytes for a stalled client",
    )


@dataclass(slots=True, kw_only=True)
class Configuration:
    """The settings of a server. Its parts read them whenever they need them; only `reload_settings` changes them."""

    host: str = setting("", "address to listen on; empty: all interfaces, IPv4 and IPv6", is_common=True, is_live=False)
    port: int = setting(DEFAULT_PORT, "port; 0 picks a free one", most=65_535, is_common=True, is_live=False)
    data: Path | None = setting(
        None, "folder for the journal; empty: ttt_net/server in your own data folder", is_common=True, is_live=False
    )
    name: str = setting(
        "",
        "name of the server that players see; empty: the host of public_url, or Games on, and the name of the machine",
        is_common=True,
        is_live=False,
    )
    public_url: str = setting(
        "",
        "public address, if it is not one of this machine's: wss://play.example.org",
        check=check_url,
        is_live=False,
    )
    node: str = setting("", "name of this server in its cluster", check=check_name, is_live=False)
    announce: bool = setting(
        True, "announce the server on the local network (mDNS), so that clients find it", is_common=True, is_live=False
    )
    house_bots: bool = setting(
        True,
        "seat five bots, in a process of their own, so that nobody is alone",
        is_common=True,
        is_live=False,
    )
    house_engines: Path | None = setting(
        None, "file of engines (TOML) that play beside the house bots; see docs/engines.md"
    )
    behind_proxy: bool = setting(
        False,
        "a proxy in front has the certificate and sets X-Forwarded-For",
        is_common=True,
        is_live=False,
    )
    proxies: tuple[str, ...] = setting(
        ("127.0.0.1", "::1"),
        "addresses and networks of proxies whose X-Forwarded-For is trusted",
        check=ip_network,
        is_live=False,
    )
    api: bool = setting(
        True, "answer programs that read players, ratings and matches over HTTP (docs/api.md)", is_live=False
    )
    admin: str = setting(
        "",
        "admin listener: a path, HOST:PORT of the loopback, or off; empty: admin.sock in the data folder",
        is_live=False,
    )
    origins: tuple[str, ...] = setting((), "origins of other pages that may connect, such as https://play.example")
    public: bool = setting(
        False, "for strangers: refuse to start without TLS, here or in a proxy", is_common=True, is_live=False
    )
    retention_days: int = setting(0, "delete matches this many days after their end; 0: never", most=36_500)
    guest_days: int = setting(
        180, "delete guests and their tokens this many days after their last visit; 0: never", most=36_500
    )
    filtered_words: Path | None = setting(
        None, "file of words to reject in names and chat; empty: filtered-words.txt in the data folder, if any"
    )
    report_days: int = setting(30, "delete reports, with their lines of chat, after this many days", least=1, most=365)
    audit_days: int = setting(365, "delete entries of the audit log after this many days; 0: never", most=36_500)
    log_format: str = setting("plain", "format of the log", choices=FORMATS)
    log_level: str = setting("warning", "log level; info adds start, stop and dropped connections", choices=LEVELS)
    tls: Tls = field(default_factory=Tls)
    cluster: Cluster = field(default_factory=Cluster)
    games: Games = field(default_factory=Games)
    limits: Limits = field(default_factory=Limits)

    @property
    def folder(self) -> Path:
        """The folder of the journal."""
        return self.data or DEFAULT_DATA

    @property
    def rates_same_address(self) -> bool:
        """Whether two players of one address may play rated matches."""
        asked = self.limits.rated_same_address
        return not self.public if asked is None else asked

    @property
    def title(self) -> str:
        """The name of the server for players."""
        return self.name or urlsplit(self.public_url).hostname or f"Games on {socket.gethostname()}"


SETTINGS: tuple[Setting, ...] = tuple(settings_of(Configuration))
