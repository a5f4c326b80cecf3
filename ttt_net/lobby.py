"""Who waits for whom: seeks go in, pairings come out. Knows no socket, no clock and no match."""

import random
from dataclasses import dataclass
from typing import Literal

from ttt_net.clock import TimeControl

Player = int
"""Whoever is to be paired, by the number that the caller knows him by."""

ANY_GAME = "tictactoe"
"""What two players play who would both play anything."""


@dataclass(frozen=True, slots=True)
class Seek:
    """An offer to play whoever comes. `games` in order of preference; none means whatever the other names."""

    player: Player
    is_bot: bool
    games: tuple[str, ...]
    time: TimeControl | None = None
    opponents: Literal["any", "people", "bots"] = "any"

    def welcomes(self, other: "Seek") -> bool:
        """Tell whether the other's kind is welcome as an opponent."""
        return self.opponents == "any" or (self.opponents == "bots") == other.is_bot

    def common_game(self, other: "Seek") -> str | None:
        """Return the game that both would play: the first of the other's choices that is also one of ours."""
        if not self.games or not other.games:
            return next(iter(other.games or self.games), ANY_GAME)
        return next((game for game in other.games if game in self.games), None)


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two players who are to play `game`; `first` moves first."""

    game: str
    time: TimeControl | None
    first: Player
    second: Player


class Lobby:
    """The standing seeks, in order of arrival; whoever has waited longest is paired first.

    A player has at most one seek, is never paired with himself, and is in no pairing after `withdraw`.
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._standing: dict[Player, Seek] = {}

    def seek(self, seek: Seek) -> Pairing | None:
        """Pair the seek with the first standing one that fits, or let it stand in place of the player's last."""
        self.withdraw(seek.player)
        for other in self._standing.values():
            if other.time != seek.time or not (seek.welcomes(other) and other.welcomes(seek)):
                continue
            game = seek.common_game(other)
            if game is None:
                continue
            del self._standing[other.player]
            first, second = self._rng.sample((seek.player, other.player), 2)
            return Pairing(game, seek.time, first, second)
        self._standing[seek.player] = seek
        return None

    def withdraw(self, player: Player) -> bool:
        """Forget the player's seek; tell whether there was one."""
        return self._standing.pop(player, None) is not None

    def seek_of(self, player: Player) -> Seek | None:
        """Return the player's standing seek."""
        return self._standing.get(player)
