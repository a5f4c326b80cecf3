"""Declare all settings, in one table: flags, environment, file, `--print-config` and docs all come from it.

A new setting is one more field here (or in a part, such as `Limits`): its default, one sentence of help, its bounds.
"""

import socket
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path

from platformdirs import user_data_path

from ttt_net.server.settings.addresses import check_url
from ttt_net.server.settings.certificate import Tls
from ttt_net.server.settings.cluster import Cluster, check_name
from ttt_net.server.settings.logs import FORMATS, LEVELS
from ttt_net.server.settings.rate import Rate
from ttt_net.server.settings.setting import Setting, setting, settings_of

DEFAULT_PORT = 8765
DEFAULT_DATA = user_data_path("ttt_net", appauthor=False) / "server"


@dataclass(slots=True)
class Limits:
    """Limits for one connection, and for all of them together. Times are in seconds, sizes in bytes.

    One object for all who keep them; only `reload_settings` changes it.
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
        Rate(1_000, 20.0),
        "milliseconds of computing time for one address; beyond it, only moves and pings are served",
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
    challenges: Rate = setting(Rate(20, 60.0), "challenges and invitations by one player")
    players_per_address: int = setting(
        20, "all players of one address together may do this many times as much as one player", least=1, most=10_000
    )
    arrivals: Rate = setting(
        Rate(1_000, 1.0), "new connections from everywhere; further ones wait in the kernel", is_live=False
    )
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
    """How a server is set up. Its parts read it whenever they need it; only `reload_settings` changes it."""

    host: str = setting("", "address to listen on; empty: all interfaces, IPv4 and IPv6", is_common=True, is_live=False)
    port: int = setting(DEFAULT_PORT, "port; 0 picks a free one", most=65_535, is_common=True, is_live=False)
    data: Path | None = setting(
        None, "folder for the journal; empty: ttt_net/server in your own data folder", is_common=True, is_live=False
    )
    name: str = setting(
        "",
        "name of the server that players see; empty: ttt_net on, and the name of the machine",
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
    limits: Limits = field(default_factory=Limits)

    @property
    def folder(self) -> Path:
        """The folder that the journal is in."""
        return self.data or DEFAULT_DATA

    @property
    def rates_same_address(self) -> bool:
        """Whether two players of one address may play rated matches."""
        asked = self.limits.rated_same_address
        return not self.public if asked is None else asked

    @property
    def title(self) -> str:
        """The name of the server as players see it."""
        return self.name or f"ttt_net on {socket.gethostname()}"


SETTINGS: tuple[Setting, ...] = tuple(settings_of(Configuration))
