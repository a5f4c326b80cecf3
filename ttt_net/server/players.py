"""Players: the number that stands for one everywhere, and what a token brings with it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from ttt_net.clock import Speed
from ttt_net.errors import Code, Refusal
from ttt_net.ratings import Rating
from ttt_net.text import counted

PlayerId = int
"""Given once, in the order of registration; kept when everything else of a player is forgotten."""

NOBODY: PlayerId = 0
"""Stands for somebody who is not a player, such as a reader of the HTTP API."""
FORGOTTEN = "deleted"
"""The name of deleted players; nobody else can have it."""


Blocks = Mapping[PlayerId | None, bool]
"""The players whom one has muted or, where true, blocked. None stands for everybody, who can only be muted."""
MAX_BLOCKS = 200
"""The most players that one player can have muted or blocked at a time."""


class Player(NamedTuple):
    """A registered player, as their token finds them."""

    id: PlayerId
    name: str
    unfinished: tuple[str, ...] = ()
    """The ids of their unfinished matches, the newest first."""
    is_guest: bool = False
    ratings: Mapping[tuple[str, Speed], Rating] = MappingProxyType({})
    """By game and speed."""
    bot: str | None = None
    """The label of a bot; None for people."""
    blocks: Blocks = MappingProxyType({})


def still_playing(count: int) -> Refusal:
    """Return the refusal of `forget` to a player with so many unfinished matches."""
    matches = counted(count, "unfinished match", "unfinished matches")
    return Refusal(Code.STILL_PLAYING, f"you have {matches}; finish or resign first")
