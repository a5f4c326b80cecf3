"""Compute Glicko-2 ratings after each match. Knows no player, no disk and no clock: `now_ms` is an argument.

Source: Mark E. Glickman, Example of the Glicko-2 system (2022), www.glicko.net/glicko/glicko2.pdf; the steps below are
numbered as there. The paper collects the results of a period. Here, a match is rated as soon as it ends, and the
deviation grows with the fraction of a period since the previous match.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

START = 1500.0
MAX_DEVIATION = 350.0
MIN_DEVIATION = 45.0
"""Below this deviation, a rating would hardly change any more."""
START_VOLATILITY = 0.06
LOWEST, HIGHEST = 100.0, 4_000.0
"""No rating leaves these bounds."""
PROVISIONAL_STANDING = -10_000
"""The number subtracted from a provisional rating in a list, so that it sorts after all settled ones."""
SETTLED_DEVIATION = 110.0
"""A rating with a larger deviation is provisional: for about a dozen matches, and again after a year's absence."""
SETTLING_OPPONENTS = 5
"""A rating is provisional until its player has met this many opponents, since one partner can provide any results."""
FEW_OPPONENTS_DEVIATION = 120.0
"""The smallest deviation of a player with fewer opponents."""
PERIOD_MS = 4 * 24 * 3_600_000
"""Chosen so that the smallest deviation takes a year to grow to that of a provisional rating."""
TAU = 0.5
"""How far volatility may change at a time, as in the paper's example."""

_DIGITS = 4
_VOLATILITY_DIGITS = 9
"""A match changes it by about 0.00001: with four digits it would never change."""
_SCALE = 173.7178
_PRECISION = 1e-6
_MAX_STEPS = 100


class Rating(NamedTuple):
    """A player's strength at one game and speed, its uncertainty, its volatility, and the results behind it.

    With a probability of two thirds, the true strength is within one deviation. `at_ms` is when the last match ended.
    """

    rating: float = START
    deviation: float = MAX_DEVIATION
    volatility: float = START_VOLATILITY
    games: int = 0
    at_ms: int = 0

    @property
    def shown(self) -> int:
        """The rating as shown."""
        return round(self.rating)

    @property
    def is_provisional(self) -> bool:
        """Whether too few results support the rating."""
        return self.deviation > SETTLED_DEVIATION

    @property
    def standing(self) -> int:
        """The sort key of a list of ratings: settled ones first, then by rating."""
        return self.shown + PROVISIONAL_STANDING * self.is_provisional

    @property
    def settled_until_ms(self) -> int | None:
        """When it becomes provisional by time alone, by `aged`; None if it is provisional already."""
        if self.is_provisional:
            return None
        room = (SETTLED_DEVIATION**2 - self.deviation**2) / (self.volatility * _SCALE) ** 2
        return self.at_ms + int(room * PERIOD_MS)


def aged(rating: Rating, now_ms: int) -> Rating:
    """Return the rating at `now_ms`: the deviation grows with the time since the last match."""
    grown = _hypotenuse(rating.deviation, rating.volatility * _SCALE * math.sqrt(_periods(rating, now_ms)))
    return rating._replace(deviation=min(MAX_DEVIATION, grown))


def rated(
    first: Rating,
    second: Rating,
    score: float,
    now_ms: int,
    met: tuple[int, int] = (SETTLING_OPPONENTS, SETTLING_OPPONENTS),
) -> tuple[Rating, Rating]:
    """Return both ratings after a match that ended at `now_ms`; `score` is the first's: 1 won, 0.5 drawn, 0 lost.

    `met` is the number of different opponents of each player so far. The ratings are rounded, so that machines with
    slightly different floating-point results agree.
    """
    return (
        _after(first, aged(second, now_ms), score, now_ms, met[0]),
        _after(second, aged(first, now_ms), 1 - score, now_ms, met[1]),
    )


def _after(player: Rating, opponent: Rating, score: float, now_ms: int, met: int) -> Rating:
    updated = updated_by(player, [(opponent, score)], _periods(player, now_ms))
    least = MIN_DEVIATION if met >= SETTLING_OPPONENTS else FEW_OPPONENTS_DEVIATION
    return updated._replace(
        rating=round(min(HIGHEST, max(LOWEST, updated.rating)), _DIGITS),
        deviation=round(min(MAX_DEVIATION, max(least, updated.deviation)), _DIGITS),
        volatility=round(updated.volatility, _VOLATILITY_DIGITS),
        at_ms=now_ms,
    )


def updated_by(player: Rating, results: Sequence[tuple[Rating, float]], periods: float = 1.0) -> Rating:
    """Return the rating after results against opponents, `periods` rating periods after the previous one."""
    mean, deviation = (player.rating - START) / _SCALE, player.deviation / _SCALE  # step 2
    information, gain = 0.0, 0.0
    for opponent, score in results:
        weight = _g(opponent.deviation / _SCALE)
        expected = 1 / (1 + math.exp(-weight * (mean - (opponent.rating - START) / _SCALE)))
        information += weight**2 * expected * (1 - expected)
        gain += weight * (score - expected)
    variance = 1 / information  # step 3
    delta = variance * gain  # step 4
    volatility = _volatility(player.volatility, deviation, variance, delta)  # step 5
    before = _hypotenuse(deviation, volatility * math.sqrt(periods))  # step 6
    after = 1 / math.sqrt(1 / before**2 + 1 / variance)  # step 7
    mean += after**2 * gain
    return Rating(  # step 8
        START + _SCALE * mean, _SCALE * after, volatility, player.games + len(results), player.at_ms
    )


def _volatility(volatility: float, deviation: float, variance: float, delta: float) -> float:
    """Return the new volatility: the root of `f`, by the Illinois algorithm of the paper's step 5."""
    start = math.log(volatility**2)

    def f(x: float) -> float:
        square = deviation**2 + variance + math.exp(x)
        return math.exp(x) * (delta**2 - square) / (2 * square**2) - (x - start) / TAU**2

    low = start
    if delta**2 > deviation**2 + variance:
        high = math.log(delta**2 - deviation**2 - variance)
    else:
        high = start - TAU
        while f(high) < 0:
            high -= TAU
    f_low, f_high = f(low), f(high)
    for _ in range(_MAX_STEPS):
        if abs(high - low) <= _PRECISION:
            break
        middle = low + (low - high) * f_low / (f_high - f_low)
        f_middle = f(middle)
        if f_middle * f_high <= 0:
            low, f_low = high, f_high
        else:
            f_low /= 2
        high, f_high = middle, f_middle
    return math.exp(low / 2)


def _g(deviation: float) -> float:
    return 1 / math.sqrt(1 + 3 * deviation**2 / math.pi**2)


def _hypotenuse(one: float, other: float) -> float:
    return math.sqrt(one**2 + other**2)


def _periods(rating: Rating, now_ms: int) -> float:
    return max(0, now_ms - rating.at_ms) / PERIOD_MS if rating.games else 0.0
