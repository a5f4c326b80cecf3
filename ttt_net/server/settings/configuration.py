"""All that a host can set, in one table: flags, environment, file, `--print-config` and docs all come from it.

A new setting is one more field here (or in a part, such as `Limits`): its default, one sentence of help, its bounds.
"""

import socket
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path

from platformdirs import user_data_path

from ttt_net.server.settings.addresses import check_url
from ttt_net.server.settings.certificate import Tls
from ttt_net.server.settings.limits import Limits
from ttt_net.server.settings.logs import FORMATS, LEVELS
from ttt_net.server.settings.setting import Setting, setting, settings_of

DEFAULT_PORT = 8765
DEFAULT_DATA = user_data_path("ttt_net", appauthor=False) / "server"


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """How a server is set up."""

    host: str = setting("", "address to listen on; empty: all interfaces, IPv4 and IPv6", is_common=True)
    port: int = setting(DEFAULT_PORT, "port; 0 picks a free one", most=65_535, is_common=True)
    data: Path | None = setting(
        None, "folder for the journal; empty: ttt_net/server in your own data folder", is_common=True
    )
    name: str = setting(
        "", "what players see as its name; empty: ttt_net on, and the name of the machine", is_common=True
    )
    public_url: str = setting(
        "", "where friends reach it, if not at this machine's addresses: wss://play.example.org", check=check_url
    )
    announce: bool = setting(
        True, "tell the local network of the server (mDNS), so that clients find it", is_common=True
    )
    house_bots: bool = setting(
        True, "seat a handful of bots, in a process of their own, so that nobody is alone here", is_common=True
    )
    behind_proxy: bool = setting(
        False, "a proxy in front has the certificate, and says in X-Forwarded-For who calls", is_common=True
    )
    proxies: tuple[str, ...] = setting(
        ("127.0.0.1", "::1"), "addresses and networks of proxies whose X-Forwarded-For is believed", check=ip_network
    )
    admin: str = setting(
        "", "where the admin comes in: empty: admin.sock in the data folder; a path; HOST:PORT of the loopback; off"
    )
    origins: tuple[str, ...] = setting(
        (), "pages that may connect besides the server's own, such as https://play.example"
    )
    public: bool = setting(False, "for strangers: refuse to start without TLS, here or in a proxy", is_common=True)
    retention_days: int = setting(0, "forget matches so many days after their end; 0: never", most=36_500)
    guest_days: int = setting(
        180, "forget guests so many days after they were last here, and their tokens; 0: never", most=36_500
    )
    log_format: str = setting("plain", "how a line of the log is written", choices=FORMATS)
    log_level: str = setting("warning", "what is logged; info adds start, stop and who was dropped", choices=LEVELS)
    tls: Tls = field(default_factory=Tls)
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
