"""Declare what a bot takes on: games, opponents, places, as a value."""

from dataclasses import dataclass

from ttt_net.engines.settings import forty_moves_ms
from ttt_net.messages import Challenged, DeclineReason, SeekRequest, Snapshot

_LEAST_MS = 20
_SHARE = 25
"""The part of the time left that one move may take."""
_UNDRAWN_PART, _UNDRAWN_PLIES = 3, 20
"""As long as fewer than one of so many cells are taken, and at most up to that ply, there is nothing to be drawn."""


@dataclass(frozen=True, slots=True)
class ChallengeFilter:
    """Which challenges a bot takes, of those in its games: by clock, rated or casual, and by opponent."""

    least_ms: int = 0
    """The least and the most time of a side for forty moves."""
    most_ms: int | None = None
    untimed: bool = True
    rated: bool | None = None
    lowest: int = 0
    highest: int = 5000
    never: frozenset[str] = frozenset()
    """Names in small letters."""

    def objection(self, challenged: Challenged) -> DeclineReason | None:
        """Return why a challenge is not taken."""
        by, time = challenged.by, challenged.time
        if time is None:
            fits = self.untimed
        else:
            fits = self.least_ms <= forty_moves_ms(time) <= (self.most_ms or forty_moves_ms(time))
        if not fits:
            return "another_time"
        is_welcome = by.rating is None or self.lowest <= by.rating <= self.highest
        is_welcome = is_welcome and by.name.casefold() not in self.never
        return None if is_welcome and self.rated in (None, challenged.rated) else "generic"


@dataclass(frozen=True, slots=True)
class BotPlan:
    """The plan of a bot: its opponents, how many games it plays (None: for ever), and how long it thinks.

    `places` is the number of matches it plays at once; it shows `hint` once, after login.
    """

    seek: SeekRequest
    games: int | None
    move_ms: int
    places: int = 1
    hint: str = ""
    any_level: bool = False
    """Whether each match is played at the level that the server shows of us there."""
    has_own_engine: bool = True
    """Whether the engine is ours alone, to be started and stopped with us."""
    pace_s: float = 0.0
    """How long a move takes at least, so that people can follow."""
    challenges: ChallengeFilter = ChallengeFilter()

    def objection(self, challenged: Challenged) -> DeclineReason | None:
        """Return why a challenge is not for this bot, whether or not it has a place."""
        games, opponents = self.seek.games, self.seek.opponents
        if games and challenged.game not in games:
            return "another_game"
        if opponents != "any" and (opponents == "bots") != (challenged.by.bot is not None):
            return "no_bots" if opponents == "people" else "generic"
        return self.challenges.objection(challenged)


def budget_ms(match: Snapshot, side: int, move_ms: int) -> int:
    """Return how long a move of the side may take, at most `move_ms`, so that its clock lasts for many more."""
    if match.clock is None or match.time is None:
        return max(_LEAST_MS, move_ms)
    left_ms = match.clock.remaining_ms[side]
    if match.time.per_move:
        return max(_LEAST_MS, min(move_ms, left_ms // 2))
    return max(_LEAST_MS, min(move_ms, left_ms // _SHARE + match.time.increment_ms // 2))


def is_drawable(ply: int, cells: int) -> bool:
    """Tell whether so much was played that a strategy may agree to a draw."""
    return ply >= min(_UNDRAWN_PLIES, cells // _UNDRAWN_PART)
