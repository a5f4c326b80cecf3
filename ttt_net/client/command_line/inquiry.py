"""Read the options that ask a server something in place of playing: who, what was played, a name, to be forgotten."""

import argparse
from dataclasses import dataclass
from typing import Literal

from ttt_net.client.command_line.parser import whole_number
from ttt_net.clock import Speed
from ttt_net.errors import ConfigurationError

Kind = Literal["profile", "history", "leaderboard", "rename", "forget"]
KINDS: tuple[Kind, ...] = ("profile", "history", "leaderboard", "rename", "forget")
SPEEDS: tuple[Speed, ...] = ("bullet", "blitz", "rapid", "untimed")
MAX_PAGE = 10_000
MAX_HISTORY_PAGE = 50
"""A history is asked for page after page."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """One question: `about` is a player's name (empty: oneself), a game, or the name to take."""

    kind: Kind
    about: str = ""
    page: int = 1
    speed: Speed = "untimed"
    has_bots: bool = True


def add_inquiry(group: argparse._ArgumentGroup) -> None:
    """Add the flags that ask something of a server."""
    group.add_argument("--profile", nargs="?", const="", metavar="NAME", help="who a player is; without NAME, you")
    group.add_argument("--history", nargs="?", const="", metavar="NAME", help="what a player, or you, has played")
    group.add_argument("--leaderboard", metavar="GAME", help="the ratings at a game, the best first")
    group.add_argument("--page", type=whole_number, metavar="N", help="of --history and --leaderboard: which page")
    group.add_argument("--speed", choices=SPEEDS, help="of --leaderboard (default: untimed)")
    group.add_argument("--people", action="store_true", help="of --leaderboard: leave bots out")
    group.add_argument("--rename", metavar="NAME", help="take another name; your matches and ratings stay yours")
    group.add_argument("--forget", action="store_true", help="have your name, token and ratings deleted on the server")


def inquiry_of(given: argparse.Namespace) -> Inquiry | None:
    """Return the inquiry, or None. Raises `ConfigurationError` if options exclude each other."""
    asked = [kind for kind in KINDS if getattr(given, kind) not in (None, False)]
    if len(asked) > 1:
        raise ConfigurationError(f"--{asked[0]} and --{asked[1]}: ask one thing at a time")
    kind = asked[0] if asked else None
    if given.page is not None and kind not in ("history", "leaderboard"):
        raise ConfigurationError("--page is for --history and --leaderboard")
    if (given.speed is not None or given.people) and kind != "leaderboard":
        raise ConfigurationError("--speed and --people are for --leaderboard")
    if kind is None:
        return None
    if given.bot is not None or given.join is not None or given.invite:
        raise ConfigurationError(f"--{kind} asks instead of playing; leave out --bot, --join and --invite")
    for flag in ("game", "time", "opponents", "local", "host"):
        if getattr(given, flag) and (flag, kind) != ("local", "history"):  # that is kept on this machine
            raise ConfigurationError(f"--{kind} asks instead of playing; leave out --{flag}")
    page, most = given.page or 1, MAX_HISTORY_PAGE if kind == "history" else MAX_PAGE
    if given.page is not None and not 1 <= given.page <= most:
        raise ConfigurationError(f"--page {given.page}: 1 to {most}")
    about = getattr(given, kind)
    return Inquiry(kind, about if isinstance(about, str) else "", page, given.speed or "untimed", not given.people)
