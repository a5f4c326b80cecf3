"""Read what the command line says of matches at this keyboard and of servers started from it."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ttt_net.client.command_line.parser import whole_number
from ttt_net.errors import ConfigurationError

HUMAN = "human"
COMPUTER = "Computer"
"""What a strategy is called that a person plays at this keyboard, and how one is asked for without its name."""
EVERY_GAME = "alphabeta"
"""The strategy that is meant by that."""
ENGINE_NAME = "engine"
"""What a program of others is called at this keyboard."""
ENGINE_PREFIX = "engine:"
"""What stands before its command."""
AT_HOME = "this keyboard"
"""What stands in the place of a server's address."""
_PORTS = range(65_536)


@dataclass(frozen=True, slots=True)
class Local:
    """A match at this keyboard: by side, who plays (a person, or the strategy of that name), and under which name."""

    game: str
    players: tuple[str, str] = (HUMAN, HUMAN)
    names: tuple[str, str] = ("X", "O")
    start: str | None = None
    """The position to begin from, if it is not the usual one."""

    @property
    def is_for_people_alone(self) -> bool:
        """Whether no strategy plays."""
        return self.people == len(self.players)

    @property
    def people(self) -> int:
        """How many people sit at the keyboard."""
        return self.players.count(HUMAN)


class Served(NamedTuple):
    """A server of our own: its address, and where its journal is."""

    url: str
    journal: str
    people: Callable[[], int]
    """Returns how many people are connected to it, ourselves among them."""
    wait: Callable[[], None]
    """Waits until it has ended."""
    stop: Callable[[], None]
    """Asks it to end."""

    def guests(self) -> int:
        """Return how many other people are connected to it."""
        return max(0, self.people() - 1)


def add_hosting(group: argparse._ArgumentGroup, default_port: int) -> None:
    """Add the options of a server that is started here."""
    group.add_argument("--host", action="store_true", help="start a server here, and join it")
    group.add_argument("--port", type=whole_number, metavar="N", help=f"its port (default: {default_port})")


def add_local(group: argparse._ArgumentGroup) -> None:
    """Add the options of a match at this keyboard."""
    group.add_argument("--local", action="store_true", help="play at this keyboard, without any server")
    group.add_argument("--x", metavar="WHO", help="who plays X: human (default), computer, a strategy, engine:COMMAND")
    group.add_argument("--o", metavar="WHO", help="who plays O, likewise")
    group.add_argument("--names", metavar="X,O", help="the names of the two")
    group.add_argument("--start", metavar="POSITION", help="begin from there, such as 'X../.O./..X'")


def check_company(given: argparse.Namespace) -> None:
    """Raise `ConfigurationError` where these options do not go with the others."""
    strangers = ("url", "bot", "join", "invite", "opponents", "name", "host", "insecure", "tls_fingerprint")
    wrong = [flag for flag in strangers if getattr(given, flag)]
    if given.local and wrong:
        flag = "an address" if wrong[0] == "url" else f"--{wrong[0].replace('_', '-')}"
        more = "; names are given with --names X,O" if wrong[0] == "name" else ""
        raise ConfigurationError(f"{flag} does not go with --local, which needs no server{more}")
    if given.host and (given.url is not None or given.bot is not None or given.join is not None):
        raise ConfigurationError("--host starts a server and joins it; leave out the address, --bot and --join")
    if given.port is not None and not given.host:
        raise ConfigurationError("--port is for a server of your own; add --host, or write host:port")
    if given.port is not None and given.port not in _PORTS:
        raise ConfigurationError(f"--port {given.port}: 0 to 65535")
    for flag in ("x", "o", "start", "names"):
        if getattr(given, flag) is not None and not given.local:
            raise ConfigurationError(f"--{flag} is for a match at this keyboard; add --local")
