"""Keep the absences of the two players of a match, and the grace of each. Knows no match."""

from dataclasses import dataclass

from ttt_net.clock import TimeControl

GRACE_MS = 60_000
SHORT_GRACE_MS = 10_000
MIN_GRACE_MS = 5_000


def grace_ms(time: TimeControl | None, *, on_purpose: bool, earlier: int) -> int:
    """Return how long a player may be away before the other can claim the match.

    A sixth of the initial time, from 10 to 60 s, and 60 s without a clock; a quarter of that for one who left on
    purpose; half as much for each `earlier` absence in the same match, and for each recent match that they abandoned;
    never less than 5 s.
    """
    grace = GRACE_MS if time is None else max(SHORT_GRACE_MS, min(GRACE_MS, time.initial_ms // 6))
    if on_purpose:
        grace //= 4
    return max(MIN_GRACE_MS, grace >> min(earlier, 10))


@dataclass(frozen=True, slots=True)
class Absence:
    """A player's absence: whether they left on purpose, and from when on the other may claim."""

    on_purpose: bool
    claim_at_ms: int


class Absences:
    """The absences of the two players of one match."""

    def __init__(self, time: TimeControl | None) -> None:
        self._time = time
        self._away: dict[int, Absence] = {}
        self._counts = [0, 0]

    def expect(self, side: int, abandoned: int) -> None:
        """Give less grace to the player of `side`, who has abandoned so many matches of late."""
        self._counts[side] += abandoned

    def of(self, side: int) -> Absence | None:
        """Return the absence of `side`, or None if they are here."""
        return self._away.get(side)

    def went(self, side: int, now_ms: int, *, on_purpose: bool) -> None:
        """Begin the grace of `side`, who is away."""
        grace = grace_ms(self._time, on_purpose=on_purpose, earlier=self._counts[side])
        self._away[side] = Absence(on_purpose, now_ms + grace)
        self._counts[side] += 1

    def returned(self, side: int) -> None:
        """End the absence of `side`."""
        self._away.pop(side, None)
