"""What a bot is here for, as a value."""

from collections.abc import Callable
from dataclasses import dataclass

from ttt_net.engines.settings import forty_moves_ms
from ttt_net.messages import Challenged, DeclineReason, InviteRequest, JoinRequest, SeekRequest, Snapshot


@dataclass(frozen=True, slots=True)
class ChallengeFilter:
    """Which challenges a bot takes, of those in its games: by clock, by what is at stake, and by who it is."""

    least_ms: int = 0
    """What a side has for forty moves, at least and at most."""
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
    """What a bot is here for: whom it seeks, how many games it plays (None: for ever), how long it thinks.

    `places` is how many matches it plays at once; `hint` is said once, when it is let in.
    """

    seek: SeekRequest | InviteRequest | JoinRequest
    games: int | None
    move_ms: int
    places: int = 1
    hint: str = ""
    invited: Callable[[str], None] | None = None
    """Called with the code of each invitation, for a bot that invites."""
    began: Callable[[Snapshot], None] | None = None
    """Called with every match as it begins."""
    is_for_onlookers: bool = False
    """Whether what is written is for somebody who only looks on."""
    any_level: bool = False
    """Whether each match is played at the level that the server shows of us there."""
    has_own_engine: bool = True
    """Whether the engine is ours alone, to be started and stopped with us."""
    pace_s: float = 0.0
    """How long a move takes at least, so that people can follow."""
    challenges: ChallengeFilter = ChallengeFilter()

    def objection(self, challenged: Challenged) -> DeclineReason | None:
        """Return why a challenge is not for this bot, whether or not it has a place."""
        if not isinstance(self.seek, SeekRequest):
            return "later"
        games, opponents = self.seek.games, self.seek.opponents
        if games and challenged.game not in games:
            return "another_game"
        if opponents != "any" and (opponents == "bots") != (challenged.by.bot is not None):
            return "no_bots" if opponents == "people" else "generic"
        return self.challenges.objection(challenged)
