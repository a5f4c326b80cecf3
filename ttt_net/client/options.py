"""What the command line says, checked: all that can be wrong with it is said in one line before anything starts."""

import argparse
import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from ttt_net.client.inquiry_options import Inquiry, add_inquiry, inquiry_of
from ttt_net.client.local_options import Local, add_hosting, add_local, check_company, local_of
from ttt_net.client.trust import Trust, trust_of
from ttt_net.clock import TimeControl
from ttt_net.errors import ConfigurationError
from ttt_net.messages import Opponents
from ttt_net.names import RULE
from ttt_net.text import clean

DEFAULT_PORT = 8765
DEFAULT_URL = f"ws://localhost:{DEFAULT_PORT}"
DEFAULT_GAME = "tictactoe"
DEFAULT_MOVE_MS = 1000
DEFAULT_PLACES, MAX_PLACES = 4, 20
_TIME = re.compile(r"(\d{1,3}(?:\.\d)?)\+(\d{1,2})", re.ASCII)
CODE = re.compile(r"[BCDFGHJKMNPQRTVWXYZ2346789]{6}", re.IGNORECASE | re.ASCII)
"""What invitation codes look like: no vowels, so hardly any name of a machine does."""
_PORTS = range(1, 65_536)


@dataclass(frozen=True, slots=True)
class Options:
    """How a client was started. `game` and `opponents` are None where nothing was said."""

    url: str
    trust: Trust = field(default_factory=Trust)
    is_address_given: bool = True
    """Whether the address was typed, and not the default one."""
    name: str | None = None
    join: str | None = None
    """The invitation code of the match to join."""
    is_inviting: bool = False
    inquiry: Inquiry | None = None
    """What is asked instead of playing."""
    local: Local | None = None
    """The match at this keyboard, if it is one."""
    is_hosting: bool = False
    port: int = DEFAULT_PORT
    """The port of the server that is started here, if one is."""
    game: str | None = None
    time: TimeControl | None = None
    bot: str | None = None
    games: int | None = None
    opponents: Opponents | None = None
    is_json: bool = False
    is_plain: bool = False
    is_spoken: bool = False
    """Whether a screen reader reads out what is written."""
    is_ascii: bool = False
    is_quiet: bool = False
    seed: int | None = None
    level: int | None = None
    move_ms: int = DEFAULT_MOVE_MS
    places: int = 1
    """How many matches at once a bot plays, and how many of these places are for people."""
    reserve: int = 0

    @property
    def server(self) -> str:
        """The server as identities know it: host and port."""
        parts = urlsplit(self.url)
        port = parts.port or (443 if parts.scheme == "wss" else 80)
        return f"{parts.hostname}:{port}"

    @property
    def command(self) -> str:
        """What to type to come back."""
        if self.is_hosting:
            return "python client.py --host" + f" --port {self.port}" * (self.port != DEFAULT_PORT)
        if self.url == DEFAULT_URL:
            return "python client.py"
        fingerprint = f" --tls-fingerprint {self.trust.fingerprint}" if self.trust.fingerprint else ""
        insecure = " --insecure" if self.trust.is_insecure else ""
        return f"python client.py {self.url.removeprefix('ws://')}{fingerprint}{insecure}"


class _Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line."""

    def error(self, message: str) -> None:  # type: ignore[override]
        """Raise `ConfigurationError` instead of printing pages."""
        raise ConfigurationError(f"{message}; see {self.prog} --help")


def parse(arguments: Sequence[str] | None) -> Options:
    """Return the options; whatever is wrong raises `ConfigurationError`."""
    given = _parser().parse_args(arguments)
    if given.bot is None and not given.local:
        for flag in ("games", "move_time", "seed", "level", "places", "reserve"):
            if getattr(given, flag) is not None:
                raise ConfigurationError(f"--{flag.replace('_', '-')} is for bots; add --bot STRATEGY or --local")
    if given.games is not None and given.games < 1:
        raise ConfigurationError(f"--games {given.games}: at least 1")
    if given.move_time is not None and not 1 <= given.move_time <= 600_000:
        raise ConfigurationError(f"--move-time {given.move_time}: 1 to 600000 milliseconds")
    places = given.places if given.places is not None else DEFAULT_PLACES if given.games is None else 1
    if not 1 <= places <= MAX_PLACES:
        raise ConfigurationError(f"--places {places}: 1 to {MAX_PLACES} matches at once")
    if not 0 <= (given.reserve or 0) <= places:
        raise ConfigurationError(f"--reserve {given.reserve}: 0 to {places}, which are all of its places")
    if given.name is not None and not clean(given.name, 80):
        raise ConfigurationError(f"--name: a name is {RULE}")
    if given.bot is not None and (given.join is not None or given.invite):
        raise ConfigurationError("--join and --invite are for people; leave out --bot")
    if given.join is not None and given.invite:
        raise ConfigurationError("--join takes an invitation up, --invite makes one; choose one of them")
    check_company(given)
    inquiry = inquiry_of(given)
    url = url_of(given.url) if given.url is not None else DEFAULT_URL
    return Options(
        url=url,
        trust=trust_of(url, given.tls_fingerprint, is_insecure=given.insecure),
        is_address_given=given.url is not None,
        name=clean(given.name, 80) if given.name is not None else None,
        join=code_of(given.join) if given.join is not None else None,
        is_inviting=given.invite,
        inquiry=inquiry,
        local=local_of(given, given.game or DEFAULT_GAME),
        is_hosting=given.host,
        port=given.port if given.port is not None else DEFAULT_PORT,
        game=given.game,
        time=time_of(given.time) if given.time is not None else None,
        bot=given.bot,
        games=given.games,
        opponents=given.opponents,
        is_json=given.json,
        is_plain=given.plain,
        is_spoken=given.screen_reader,
        is_ascii=given.ascii,
        is_quiet=given.quiet,
        seed=given.seed,
        level=given.level,
        move_ms=given.move_time or DEFAULT_MOVE_MS,
        places=places,
        reserve=given.reserve or 0,
    )


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="client.py",
        usage="%(prog)s [ADDRESS] [OPTION ...]",
        description="Play tic-tac-toe and its family over the network.",
        epilog="docs/client.md tells more, with every key.",
    )
    where = "host, host:port, ws://... or wss://... (default: look for one)"
    parser.add_argument("url", nargs="?", metavar="ADDRESS", help=where)
    play = parser.add_argument_group("to play")
    play.add_argument("--name", help="who you are (default: the name you typed the last time)")
    play.add_argument("--game", help="tictactoe, connect4, mnk:15x15,5 (default: tictactoe; a bot: any)")
    play.add_argument("--time", metavar="M+S", help="a clock: minutes each, and seconds for every move, as 3+2")
    play.add_argument("--opponents", choices=("any", "people", "bots"), help="who is welcome as an opponent")
    play.add_argument("--invite", action="store_true", help="print an invitation code, and wait for who joins")
    play.add_argument("--join", metavar="CODE", help="join the private match that a friend's invitation code is for")
    add_hosting(parser.add_argument_group("a server of your own"), DEFAULT_PORT)
    add_local(parser.add_argument_group("without a server"))
    _add_bot(parser.add_argument_group("to seat a bot, or with --local to play one"))
    add_inquiry(parser.add_argument_group("instead of playing"))
    _add_looks(parser.add_argument_group("how it looks"))
    trust = parser.add_argument_group("encryption")
    trust.add_argument("--tls-fingerprint", metavar="HEX", help="trust a wss:// server by its certificate's SHA-256")
    trust.add_argument("--insecure", action="store_true", help="speak in clear to a server beyond the local network")
    return parser


def _add_bot(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--bot", metavar="STRATEGY", help="let a strategy play, such as alphabeta or random")
    group.add_argument("--level", type=int, metavar="N", help="play weaker, as people do, from 1 up to 8")
    group.add_argument("--move-time", type=int, metavar="MS", help="think so long at most (default: 1000)")
    group.add_argument("--games", type=int, metavar="N", help="leave after so many games (default: never)")
    group.add_argument("--places", type=int, metavar="N", help="matches at once (default: 4, with --games one)")
    group.add_argument("--reserve", type=int, metavar="N", help="how many of these are for people (default: 0)")
    group.add_argument("--seed", type=int, metavar="N", help="make its chances repeatable")


def _add_looks(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--plain", action="store_true", help="line by line, without a full screen")
    group.add_argument("--screen-reader", action="store_true", help="short sentences, and the board in words")
    group.add_argument("--json", action="store_true", help="write what is heard as JSON lines, then a summary")
    group.add_argument("--ascii", action="store_true", help="draw with ASCII characters only")
    group.add_argument("--quiet", action="store_true", help="no bell and no title when it becomes your turn")


def url_of(text: str) -> str:
    """Return the address as a URL; what is no address raises `ConfigurationError`."""
    allowed = f"{clean(text, 60)!r} is no address; write host, host:port, ws://host:port or wss://host:port"
    bare = text.strip()
    try:
        if "://" not in bare:
            bare = f"ws://{_with_port(bare)}"
        parts = urlsplit(bare)
        (parts.hostname or "").encode("idna")  # an empty or endless label is no name
        is_port = parts.port in _PORTS or (parts.port is None and not parts.netloc.endswith(":"))
        is_good = parts.scheme in ("ws", "wss") and parts.hostname and is_port
    except ValueError:
        is_good = False
    if not is_good or "@" in bare or not bare.isascii() or any(c.isspace() or not c.isprintable() for c in bare):
        raise ConfigurationError(allowed)
    return bare


def code_of(text: str) -> str:
    """Return the invitation code that was typed, as it is written; what is none raises `ConfigurationError`."""
    if CODE.fullmatch(text.strip()) is None:
        raise ConfigurationError(f"{clean(text, 20)!r} is no invitation code; one looks like BCD234")
    return text.strip().upper()


def _with_port(host: str) -> str:
    """Return a host with our port behind it, if it names none."""
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return host if ":" in host else f"{host}:{DEFAULT_PORT}"
    return f"[{address}]:{DEFAULT_PORT}" if address.version == 6 else f"{address}:{DEFAULT_PORT}"


def time_of(text: str) -> TimeControl:
    """Return the time control that `minutes+seconds` names."""
    found = _TIME.fullmatch(text)
    initial_ms = round(float(found[1]) * 60_000) if found else 0
    increment_ms = int(found[2]) * 1000 if found else 0
    if not (1_000 <= initial_ms <= 10_800_000 and increment_ms <= 60_000):
        raise ConfigurationError(f"--time {clean(text, 20)}: minutes+seconds, as 3+2; up to 180 minutes and 60 seconds")
    return TimeControl(initial_ms, increment_ms)
