"""Cost of finding an opponent, by the number of waiting players: `python -m benchmarks.lobby`, about half a minute.

*Standing*: a number of seeks are open that do not fit each other (over games, clocks and ratings, as in a large crowd);
a new one fits one of them, the two are paired, and an equal one replaces it. *Rush*: a number of players arrive within
one second, all for one game; the table shows how long each waits in simulated time, with a tick every second. The
baseline examines every open seek, as the first version did. Costs are CPU time of the lobby alone.
"""

import argparse
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count, product
from statistics import median
from typing import NamedTuple

from ttt_net.clock import TimeControl
from ttt_net.pairing.seeks import BANDS, Seek, SeekIndex, StandingSeeks

SIZES = (1_000, 5_000)
GAMES = tuple(f"game {number}" for number in range(40))
TIMES = tuple(TimeControl(60_000 * minutes) for minutes in (1, 2, 3, 5, 10))
STEP = BANDS[0][1] + 1
"""How far apart ratings must be for two not to fit, while both are new."""


class Figures(NamedTuple):
    """Time of one pairing in µs (median, and worst of 99 in 100), and pairings per second."""

    p50_us: float
    p99_us: float
    per_s: float


class Crowd:
    """Seeks that stand, none of which fits another."""

    def __init__(self, players: int, rng: random.Random) -> None:
        self.ratings: dict[int, int] = {}
        self._rng = rng
        self._numbers = count()
        self.seeks = StandingSeeks(lambda player, game, time: self.ratings[player], lambda one, other: True)
        wishes = product(range(math.ceil(players / len(GAMES) / len(TIMES))), GAMES, TIMES)
        self.standing = [self.seek(game, clock, 500 + STEP * step) for step, game, clock in wishes][:players]
        for seek in self.standing:
            assert self.seeks.seek(seek, 0) is None

    def seek(self, game: str, clock: TimeControl, rating: int) -> Seek:
        """Return the seek of a new player with that rating."""
        player = next(self._numbers)
        self.ratings[player] = rating
        return Seek(player, False, (game,), clock)

    def pairs(self, rounds: int) -> Iterator[float]:
        """Pair a newcomer with one who waits, and let another wait in their place; yield how many seconds each took."""
        for _ in range(rounds):
            wanted = self._rng.choice(self.standing)
            assert wanted.time is not None
            newcomer, successor = (
                self.seek(wanted.games[0], wanted.time, self.ratings[wanted.player]) for _ in range(2)
            )
            since = time.process_time()
            match = self.seeks.seek(newcomer, 0)
            took = time.process_time() - since
            assert match is not None
            self.seeks.seek(successor, 0)
            yield took


def figures(seconds: Sequence[float]) -> Figures:
    """Return what a list of durations comes to."""
    ordered = sorted(seconds)
    p99 = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
    return Figures(median(ordered) * 1e6, p99 * 1e6, len(ordered) / sum(ordered))


def standing(players: int, rounds: int) -> Figures:
    """Measure pairings while so many wait."""
    crowd = Crowd(players, random.Random(1))
    list(crowd.pairs(rounds // 10))
    return figures(list(crowd.pairs(rounds)))


def scanned(players: int, rounds: int) -> Figures:
    """Measure the same search by looking at everybody."""
    crowd = Crowd(players, random.Random(1))
    index = SeekIndex(lambda player, game, time: crowd.ratings[player], lambda one, other: True, (BANDS[0][1],))

    def search(seek: Seek) -> Seek | None:
        fitting = (
            other
            for other in crowd.seeks
            if other.time == seek.time
            and other.games == seek.games
            and index.admits(other, seek.player, seek.games[0])
            and abs(crowd.ratings[other.player] - crowd.ratings[seek.player]) <= BANDS[0][1]
        )
        return min(fitting, key=lambda other: abs(crowd.ratings[other.player] - crowd.ratings[seek.player]))

    return figures(list(timed(search, random.Random(2).choices(crowd.standing, k=rounds))))


def timed(search: Callable[[Seek], object], seeks: Sequence[Seek]) -> Iterator[float]:
    """Yield how many seconds each search took."""
    for seek in seeks:
        since = time.process_time()
        search(seek)
        yield time.process_time() - since


class Rush(NamedTuple):
    """How long people wait for an opponent in simulated seconds, how far apart the two are, and what it took in ms."""

    p99_s: float
    longest_s: float
    apart: int
    took_ms: float


def rush(players: int) -> Rush:
    """Let so many come within one second for the same game, with ratings as they are among people."""
    rng = random.Random(3)
    ratings = [round(rng.gauss(1_500, 350)) for _ in range(players)]
    seeks = StandingSeeks(lambda player, game, time: ratings[player], lambda one, other: True)
    waits_ms, apart = [], []
    since = time.process_time()
    came_ms = {player: player * 1_000 // players for player in range(players)}
    for now_ms in range(0, 20_000, 1_000):
        newcomers = [player for player, at_ms in came_ms.items() if now_ms <= at_ms < now_ms + 1_000]
        matches = [(now_ms, match) for match in seeks.tick(now_ms)]
        for player in newcomers:
            found = seeks.seek(Seek(player, False, ("gomoku",)), came_ms[player])
            if found:
                matches.append((came_ms[player], found))
        for at_ms, match in matches:
            pair = match.seek.player, match.found.player
            waits_ms += [at_ms - came_ms[player] for player in pair]
            apart.append(abs(ratings[pair[0]] - ratings[pair[1]]))
    took_ms = (time.process_time() - since) * 1_000
    waits_ms.sort()
    p99_ms = waits_ms[int(0.99 * len(waits_ms))]
    return Rush(p99_ms / 1_000, waits_ms[-1] / 1_000, round(median(apart)), took_ms)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lobby", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="measure little, to see that it works")
    rounds = 200 if parser.parse_args().quick else 20_000
    print("| players waiting | pairings/s | p50 µs | p99 µs | looking at everybody, p50 µs |")
    print("|----------------:|-----------:|-------:|-------:|-----------------------------:|")
    costs = []
    for players in SIZES:
        p50_us, p99_us, per_s = standing(players, rounds)
        scan_us = scanned(players, max(20, rounds // 100)).p50_us
        costs.append(p50_us)
        print(f"| {players:15,} | {per_s:10,.0f} | {p50_us:6.1f} | {p99_us:6.1f} | {scan_us:28,.0f} |")
    growth, log_growth = costs[-1] / costs[0], math.log(SIZES[-1]) / math.log(SIZES[0])
    print(f"\nfrom {SIZES[0]:,} to {SIZES[-1]:,} players: {growth:.2f} times the cost; log n: {log_growth:.2f} times\n")
    print("| come in one second | p99 wait s | longest s | ratings apart, p50 | CPU ms for all |")
    print("|-------------------:|-----------:|----------:|-------------------:|---------------:|")
    for players in SIZES:
        p99_s, longest_s, apart, took_ms = rush(players)
        print(f"| {players:18,} | {p99_s:10.2f} | {longest_s:9.2f} | {apart:18} | {took_ms:14,.0f} |")


if __name__ == "__main__":
    main()
