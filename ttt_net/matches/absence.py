"""Count how long the two players of a match are away, against the grace of each. Knows no match.

Absence counts only while the other player is here: while both are away, time stands still.
"""

from dataclasses import dataclass, replace

from ttt_net.clock import SIDES, TimeControl, grace_ms

CHANGE_MS = 5_000
"""A player who goes on with another connection within this time has changed devices, which is no absence."""


@dataclass(frozen=True, slots=True)
class Absence:
    """A player's absence, with the rest of their grace."""

    on_purpose: bool
    grace_ms: int
    """The rest of the grace when the absence last began to count, or stopped counting."""
    counts_since_ms: int | None
    """Since when the absence counts; None while the other player is away, too."""
    went_ms: int
    is_replaced: bool
    """Whether the player's own new connection took the place of the one that ended."""

    def left_ms(self, now_ms: int) -> int:
        """Return the rest of the grace; the other player can claim the match once it is 0."""
        spent_ms = 0 if self.counts_since_ms is None else max(0, now_ms - self.counts_since_ms)
        return max(0, self.grace_ms - spent_ms)

    @property
    def claim_at_ms(self) -> int | None:
        """When the grace will be over; None while both players are away."""
        return None if self.counts_since_ms is None else self.counts_since_ms + self.grace_ms


class Absences:
    """The absences of the two players of one match."""

    def __init__(self, time: TimeControl | None) -> None:
        self._time = time
        self._away: dict[int, Absence] = {}
        self._counts = [0, 0]

    def expect(self, side: int, abandoned: int) -> None:
        """Give less grace to the player of `side`, who has recently abandoned that many matches."""
        self._counts[side] += abandoned

    def of(self, side: int) -> Absence | None:
        """Return the absence of `side`, or None if they are here."""
        return self._away.get(side)

    def went(self, side: int, now_ms: int, *, on_purpose: bool, is_replaced: bool = False) -> None:
        """Begin the grace of `side`, who is away.

        `is_replaced`: their own new connection took the place of this one. If they go on with it within `CHANGE_MS`,
        this was no absence.
        """
        grace = grace_ms(self._time, on_purpose=on_purpose, earlier=self._counts[side])
        self._away[side] = Absence(on_purpose, grace, now_ms, now_ms, is_replaced)
        self._counts[side] += 1
        if len(self._away) == len(SIDES):
            for each, absence in self._away.items():
                self._away[each] = replace(absence, grace_ms=absence.left_ms(now_ms), counts_since_ms=None)

    def returned(self, side: int, now_ms: int) -> None:
        """End the absence of `side`; if the other player is away, their absence counts from now on."""
        absence = self._away.pop(side, None)
        if absence is None:
            return
        if absence.is_replaced and now_ms - absence.went_ms <= CHANGE_MS:
            self._counts[side] -= 1
        other = self._away.get(1 - side)
        if other is not None:
            self._away[1 - side] = replace(other, counts_since_ms=now_ms)
