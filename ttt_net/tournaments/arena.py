"""Pair and score an arena: continuous matches for a fixed time, as on lichess.

A win is worth 2 points and a draw 1. After two wins in a row a player is on a streak: each further match counts double
until one is not won. After a draw, the next draws are worth nothing until the player wins.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from ttt_net.tournaments.schedules import Entrant, Pair

PATIENCE_MS = 15_000
"""The maximal wait before all waiting players are paired."""
MIN_CROWD, CROWD_SHARE = 4, 8
"""The number, or the fraction of the field, that must wait before pairing, so that large fields get equal opponents.

If everybody waits, there is nobody to wait for.
"""
WIN, DRAW = 2, 1
STREAK = 2
"""The number of consecutive wins after which points are doubled."""

ArenaResult = Literal["win", "draw", "early_draw", "loss", "void"]
"""How a match ended for one player. An early draw is worth nothing; a void match ended by an error of the server."""


class WaitingEntrant(NamedTuple):
    """A present player of an arena without a match."""

    entrant: Entrant
    rank: int
    """The place in the standings, from 1."""
    since_ms: int
    """The beginning of their wait."""
    last_opponent: Entrant | None = None
    firsts: int = 0
    """How many more matches they moved first in than their opponents."""


def arena_points(results: Iterable[ArenaResult]) -> list[int]:
    """Return the points of each match of one player, in the order in which they ended."""
    points, wins, has_drawn = [], 0, False
    for result in results:
        factor = 2 if wins >= STREAK else 1
        match result:
            case "win":
                points.append(WIN * factor)
                wins, has_drawn = wins + 1, False
            case "draw":
                points.append(0 if has_drawn else DRAW * factor)
                wins, has_drawn = 0, True
            case "early_draw":
                points.append(0)
                wins, has_drawn = 0, True
            case "loss":
                points.append(0)
                wins = 0
            case "void":
                points.append(0)
    return points


def arena_pairs(waiting: Sequence[WaitingEntrant], present: int, now_ms: int) -> list[Pair]:
    """Return the matches that begin now, often none. `present` counts all present players, playing or waiting.

    The longest waiting player is paired first, with the nearest in rank such that the two did not meet last. With an
    odd number, the latest arrival rests, unless somebody would have no other opponent. Two players who have just met
    play again only if nobody else is present.
    """
    queue = sorted(waiting, key=lambda each: (each.since_ms, each.rank, each.entrant))
    is_crowd = len(queue) >= min(present, max(MIN_CROWD, -(-present // CROWD_SHARE)))
    if len(queue) < 2 or not (is_crowd or now_ms - queue[0].since_ms >= PATIENCE_MS):
        return []
    resting = queue.pop() if len(queue) % 2 else None
    pairs = []
    while queue:
        one = queue.pop(0)
        fit = [other for other in queue if present <= 2 or not _met_last(one, other)]
        if not fit and resting is not None and not _met_last(one, resting):
            fit, resting = [resting], None
        if fit:
            other = min(fit, key=lambda each: (abs(each.rank - one.rank), each.since_ms, each.entrant))
            queue = [each for each in queue if each is not other]
            pairs.append((one.entrant, other.entrant) if one.firsts <= other.firsts else (other.entrant, one.entrant))
    return pairs


def _met_last(one: WaitingEntrant, other: WaitingEntrant) -> bool:
    return one.last_opponent == other.entrant or other.last_opponent == one.entrant
