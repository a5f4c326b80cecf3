"""Players: their numbers, and the state that belongs to a token."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from ttt_net.clock import Speed
from ttt_net.errors import Code, Refusal
from ttt_net.ratings import Rating
from ttt_net.text import counted

PlayerId = int
"""The number of a player, in the order of registration; it stays when everything else of the player is deleted."""

NOBODY: PlayerId = 0
"""The number of readers who are not players, such as users of the HTTP API."""
FORGOTTEN = "deleted"
"""The name of deleted players; nobody else can have it."""


Blocks = Mapping[PlayerId | None, bool]
"""A player's muted players or, if true, blocked players. None means everybody, who can only be muted."""
MAX_BLOCKS = 200
"""The maximal number of muted and blocked players of one player."""
MAX_MISTAKES = 200
"""The maximal number of mistakes to learn from of one player."""


class Player(NamedTuple):
    """A registered player, found by token."""

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
    """Return the refusal of `forget` for a player with unfinished matches."""
    matches = counted(count, "unfinished match", "unfinished matches")
    return Refusal(Code.STILL_PLAYING, f"you have {matches}; finish or resign first")
