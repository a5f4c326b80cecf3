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
    """What one connection, and all of them together, may use. Times are in seconds, sizes in bytes.

    One object for all who keep them; only `reload_settings` changes it.
    """

    max_connections: int = setting(5_000, "connections in all", least=1)
    max_per_address: int = setting(200, "connections from one address: a class that opens the page at once", least=1)
    max_newcomers: int = setting(
        2_000, "connections that have not said hello yet; one more, and the oldest of them is dropped", least=10
    )
    max_live_matches: int = setting(20, "live matches of one player at a time", least=1)
    messages: Rate = setting(Rate(200, 2.0), "frames of any kind on one connection, pings and fragments too")
    work: Rate = setting(
        Rate(1_000, 20.0),
        "milliseconds of the server's computing for one address; over it, only moves and pings are still served",
    )
    codes: Rate = setting(Rate(10, 60.0), "tries of invitation codes by one player: of 309 million, none is found so")
    inquiries: Rate = setting(
        Rate(20, 10.0), "questions of one player about the past, a match not in memory, or all of one that is heard"
    )
    matches: Rate = setting(Rate(200, 60.0), "matches that one player begins")
    writes: Rate = setting(
        Rate(30, 20.0), "moves, offers and new matches of one player, as counted for all players of an address together"
    )
    daily_mb: int = setting(
        100,
        "megabytes that those of one address may have written down in a day; the last quarter is for what goes on",
        least=1,
        most=1_000_000,
    )
    renames: Rate = setting(Rate(10, 3_600.0), "new names of one player")
    free_names: bool = setting(False, "whether a name may be anything that can be shown, as among friends")
    allow_guests: bool = setting(True, "whether people may play without a name of their own, casually")
    rated_same_address: bool = setting(True, "whether two players of one address may play rated matches")
    allow_chat: bool = setting(True, "whether players may write to one another; phrases they can always choose")
    chats: Rate = setting(Rate(6, 10.0), "what one player may say in the chat")
    reports: Rate = setting(Rate(5, 3_600.0), "reports of other players by one player")
    challenges: Rate = setting(Rate(20, 60.0), "challenges and invitations by one player")
    players_per_address: int = setting(
        20, "what players of one address may do together is so many times what one may", least=1, most=10_000
    )
    arrivals: Rate = setting(
        Rate(1_000, 1.0), "new connections from everywhere; those beyond wait in the kernel", is_live=False
    )
    openings: Rate = setting(Rate(600, 60.0), "new connections from one address")
    registrations: Rate = setting(Rate(100, 3_600.0), "new names from one address")
    mistakes: Rate = setting(Rate(120, 60.0), "names from one address that may not be taken")
    wrong_codes: Rate = setting(Rate(20, 3_600.0), "codes from one address that nobody was given")
    floods: Rate = setting(
        Rate(10, 60.0),
        "connections from one address that are closed for a flood; then no new one is let in for a while",
    )
    unmetered: tuple[str, ...] = setting(
        ("127.0.0.0/8", "::1"), "addresses and networks that limits of addresses do not apply to", check=ip_network
    )
    handshake_s: float = setting(5.0, "how long the opening handshake may take", least=0.05, most=60)
    handshake_bytes: int = setting(16_384, "how long an opening may be", least=1_024, most=65_536)
    hello_s: float = setting(10.0, "how long until an accepted hello", least=0.05, most=600)
    ping_after_s: float = setting(
        3.0, "how long until a silent peer is pinged; one that is heard, five times as long", least=0.05, most=60
    )
    dead_after_s: float = setting(6.5, "a silence of this length ends the connection", least=0.1, most=600)
    stalled_s: float = setting(5.0, "how long a reader may leave our bytes unread", least=0.05, most=60)
    closing_s: float = setting(2.0, "how long the closing handshake may take", least=0.05, most=60)
    unsent_bytes: int = setting(65_536, "what may wait here for a reader that is behind", least=16_384)
    unsent_messages: int = setting(64, "the same, in messages", least=8)
    analysis_s: float = setting(20.0, "how long a finished match may be analysed on request; 0: never", most=600)
    hint_s: float = setting(0.3, "how long a search for a hint may take; 0: no hints, and no first lessons", most=5)
    hints: Rate = setting(Rate(60, 60.0), "hints and warnings of one player")
    free_disk_mb: int = setting(
        256, "megabytes that stay free where the journal is: below, no new matches begin; below a quarter, no moves"
    )
    journal_mb: int = setting(
        0, "megabytes that the journal may grow to: above nine tenths, no new matches begin; above, no moves; 0: any"
    )
    kernel_send_buffer: int = setting(
        32_768, "asked of the kernel, which takes twice as much; else it buffers megabytes for a reader that stopped"
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
        "what players see as its name; empty: ttt_net on, and the name of the machine",
        is_common=True,
        is_live=False,
    )
    public_url: str = setting(
        "",
        "where friends reach it, if not at this machine's addresses: wss://play.example.org",
        check=check_url,
        is_live=False,
    )
    node: str = setting("", "what this server is called among those of its cluster", check=check_name, is_live=False)
    announce: bool = setting(
        True, "tell the local network of the server (mDNS), so that clients find it", is_common=True, is_live=False
    )
    house_bots: bool = setting(
        True,
        "seat a handful of bots, in a process of their own, so that nobody is alone here",
        is_common=True,
        is_live=False,
    )
    house_engines: Path | None = setting(
        None, "file of programs (TOML) that play beside the house bots, as docs/engines.md says"
    )
    behind_proxy: bool = setting(
        False,
        "a proxy in front has the certificate, and says in X-Forwarded-For who calls",
        is_common=True,
        is_live=False,
    )
    proxies: tuple[str, ...] = setting(
        ("127.0.0.1", "::1"),
        "addresses and networks of proxies whose X-Forwarded-For is believed",
        check=ip_network,
        is_live=False,
    )
    admin: str = setting(
        "",
        "where the admin comes in: empty: admin.sock in the data folder; a path; HOST:PORT of the loopback; off",
        is_live=False,
    )
    origins: tuple[str, ...] = setting(
        (), "pages that may connect besides the server's own, such as https://play.example"
    )
    public: bool = setting(
        False, "for strangers: refuse to start without TLS, here or in a proxy", is_common=True, is_live=False
    )
    retention_days: int = setting(0, "forget matches so many days after their end; 0: never", most=36_500)
    guest_days: int = setting(
        180, "forget guests so many days after they were last here, and their tokens; 0: never", most=36_500
    )
    filtered_words: Path | None = setting(
        None, "file of words that names and chat may not have; empty: filtered-words.txt in the data folder, if any"
    )
    report_days: int = setting(
        30, "forget reports of players, with their lines of chat, so many days after they were made", least=1, most=365
    )
    audit_days: int = setting(365, "forget what admins and moderators did so many days after it; 0: never", most=36_500)
    log_format: str = setting("plain", "how a line of the log is written", choices=FORMATS)
    log_level: str = setting("warning", "what is logged; info adds start, stop and who was dropped", choices=LEVELS)
    tls: Tls = field(default_factory=Tls)
    cluster: Cluster = field(default_factory=Cluster)
    limits: Limits = field(default_factory=Limits)

    @property
    def folder(self) -> Path:
        """The folder that the journal is in."""
        return self.data or DEFAULT_DATA

    @property
    def title(self) -> str:
        """What players see as the server's name."""
        return self.name or f"ttt_net on {socket.gethostname()}"


SETTINGS: tuple[Setting, ...] = tuple(settings_of(Configuration))
