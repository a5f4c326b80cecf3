"""Seeks: what a player who waits for an opponent asks for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ttt_net.clock import TimeControl

Player = int
"""A player, by the number that the caller knows them by."""
Opponents = Literal["any", "people", "bots"]

ANY_GAME = "tictactoe"
"""What two players play who would both play anything."""


@dataclass(frozen=True, slots=True)
class Seek:
    """An offer to play anybody who fits. `games` in order of preference; none means any that the other names."""

    player: Player
    is_bot: bool
    games: tuple[str, ...]
    time: TimeControl | None = None
    opponents: Opponents = "any"
    is_rated: bool = False
    min_rating: int | None = None
    max_rating: int | None = None
    """Who is welcome, by the rating at the game that is played."""
    level: int | None = None
    """The level that a bot is to play at; None: at its own."""
    number: int = 0
    """What others name it by; it is given when the seek comes to stand, and never twice."""

    def welcomes(self, *, is_bot: bool) -> bool:
        """Tell whether a bot, or a person, is welcome as an opponent."""
        return self.opponents == "any" or (self.opponents == "bots") == is_bot

    def admits(self, rating: int) -> bool:
        """Tell whether an opponent of that rating is welcome."""
        return (self.min_rating or 0) <= rating and (self.max_rating is None or rating <= self.max_rating)


RatingOf = Callable[[Player, str, TimeControl | None], int]
"""Tells a player's rating at a game and a time control."""
MayMeet = Callable[[Seek, Seek], bool]
"""Tells whether the house lets two players meet at all, where what they ask for fits."""
