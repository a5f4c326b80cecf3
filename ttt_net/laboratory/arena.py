"""Let strategies play one another, each against each on both sides, in one process or many; score the results."""

import random
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from math import exp, log, log10, sqrt
from multiprocessing import get_context
from statistics import median
from typing import Any, NamedTuple

from ttt_net.engines.external import find_player
from ttt_net.errors import EngineError
from ttt_net.games import Game, Move, find_game
from ttt_net.strategies.strategy import Effort, Limit, Strategy


class Result(NamedTuple):
    """One game of the arena: the numbers of who was side 0 and who side 1, what it was worth to side 0, its moves."""

    first: int
    second: int
    utility: int
    moves: tuple[Move, ...]


@dataclass(slots=True)
class Entrant:
    """A strategy with the name it is listed by, the milliseconds of each of its moves, and why it gave games up."""

    name: str
    strategy: Strategy
    move_ms: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def play(
    game: Game[Any], entrants: tuple[Entrant, Entrant], limit: Limit, opening: Sequence[Move] = ()
) -> tuple[int, tuple[Move, ...]]:
    """Play one game from an opening; return what it was worth to side 0, and all its moves.

    An engine of others that gives no move has lost it.
    """
    state, moves = game.initial, list(opening)
    for move in opening:
        state = game.result(state, move)
    while not game.is_terminal(state):
        side = game.to_move(state)
        entrant = entrants[side]
        watch = Effort(limit)
        try:
            move = entrant.strategy(game, state, limit).move
        except EngineError as error:
            entrant.faults.append(str(error))
            return (1 if side else -1), tuple(moves)
        entrant.move_ms.append(watch.counts().ms)
        moves.append(move)
        state = game.result(state, moves[-1])
    return game.utility(state, 0), tuple(moves)


def random_opening(game: Game[Any], plies: int, rng: random.Random) -> tuple[Move, ...]:
    """Return up to that many random moves from the start, none of which ends the game.

    From different openings two entrants without chance play different games.
    """
    state, moves = game.initial, []
    for _ in range(plies):
        after = {move: game.result(state, move) for move in game.actions(state)}
        quiet = [move for move in after if not game.is_terminal(after[move])]
        if not quiet:
            break
        moves.append(rng.choice(quiet))
        state = after[moves[-1]]
    return tuple(moves)


class ArenaGame(NamedTuple):
    """A game that is to be played: the numbers of who is side 0 and who side 1, and the moves that it begins with."""

    first: int
    second: int
    opening: tuple[Move, ...]


def round_robin(
    game: Game[Any],
    entrants: int,
    *,
    rounds: int,
    seed: int,
    opening_plies: int = 0,
    openings: Sequence[tuple[Move, ...]] = (),
) -> Iterator[ArenaGame]:
    """Yield the games in which each pair of so many entrants meets `rounds` times on both sides.

    Both games of a meeting have one opening: of the list in turn, if there is one, else so many random moves.
    """
    rng, meeting = random.Random(seed), 0
    for _ in range(rounds):
        for first in range(entrants):
            for second in range(first + 1, entrants):
                drawn = random_opening(game, opening_plies, rng)
                opening = openings[meeting % len(openings)] if openings else drawn
                meeting += 1
                yield ArenaGame(first, second, opening)
                yield ArenaGame(second, first, opening)


def play_all(
    game: Game[Any], entrants: Sequence[Entrant], limit: Limit, pairings: Iterable[ArenaGame]
) -> Iterator[Result]:
    """Play the games, one after the other, and yield each result."""
    for first, second, opening in pairings:
        utility, moves = play(game, (entrants[first], entrants[second]), limit, opening)
        yield Result(first, second, utility, moves)


class Score(NamedTuple):
    """Games as one entrant sees them."""

    won: int = 0
    drawn: int = 0
    lost: int = 0

    @property
    def games(self) -> int:
        """How many there were."""
        return self.won + self.drawn + self.lost

    @property
    def points(self) -> float:
        """A point for a win and half a point for a draw."""
        return self.won + self.drawn / 2

    def plus(self, utility: int) -> "Score":
        """Return the score with one game more, of that worth."""
        return Score(self.won + (utility > 0), self.drawn + (utility == 0), self.lost + (utility < 0))


class Standing(NamedTuple):
    """Where an entrant stands: against each other one, in sum, and as an Elo difference with its standard error.

    The difference is to the mean of the opponents it met; it is None if every point was won or every one lost.
    """

    name: str
    against: tuple[Score, ...]
    total: Score
    elo: float | None
    elo_error: float | None
    median_ms: float
    worst_ms: float


def standings(entrants: Sequence[Entrant], results: Sequence[Result]) -> list[Standing]:
    """Return the standings in the order of the entrants."""
    scores = [[Score() for _ in entrants] for _ in entrants]
    for first, second, utility, _ in results:
        scores[first][second] = scores[first][second].plus(utility)
        scores[second][first] = scores[second][first].plus(-utility)
    table = []
    for entrant, against in zip(entrants, scores, strict=True):
        total = Score(*(sum(column) for column in zip(*against, strict=True)))
        times = entrant.move_ms or [0.0]
        table.append(Standing(entrant.name, tuple(against), total, *elo(total), median(times), max(times)))
    return table


def elo(score: Score) -> tuple[float | None, float | None]:
    """Return the Elo difference that a score speaks for, and its standard error.

    A share p of the points means a difference of -400 log10(1/p - 1); the error of p carries over by the slope.
    """
    if not 0 < score.points < score.games:
        return None, None
    share = score.points / score.games
    variance = (score.won + score.drawn / 4) / score.games - share**2
    slope = 400 / (log(10) * share * (1 - share))
    return -400 * log10(1 / share - 1), slope * sqrt(variance / score.games)


def elo_interval(score: Score) -> tuple[float | None, float | None]:
    """Return between which Elo differences the true one lies, 19 times out of 20; None for a side without an end.

    It is Wilson's interval of the share of points, a draw being half a win: it holds for few games, and for such as
    were all won or all lost, too.
    """
    if not score.games:
        return None, None
    z, games, share = 1.96, score.games, score.points / score.games
    middle = (share + z * z / (2 * games)) / (1 + z * z / games)
    reach = z * sqrt(share * (1 - share) / games + z * z / (4 * games * games)) / (1 + z * z / games)
    low, high = middle - reach, middle + reach
    return (
        None if not score.points else -400 * log10(1 / low - 1),
        None if score.points == games else -400 * log10(1 / high - 1),
    )


SPRT_BOUND = log(0.95 / 0.05)
"""The log-likelihood ratio from which on a test is decided, wrongly one time in twenty."""


def sprt(score: Score, elo0: float, elo1: float) -> float:
    """Return the log-likelihood ratio of the difference being `elo1` rather than `elo0`.

    At `SPRT_BOUND` the former is accepted, at minus that the latter. (Wald, "Sequential analysis", 1947; with the
    variance of the games played, as is usual for engines. A win, a draw and a loss are added, half of each, so that a
    run of wins has a variance, too.)
    """
    won, drawn, lost = score.won + 0.5, score.drawn + 0.5, score.lost + 0.5
    games = won + drawn + lost
    mean = (won + drawn / 2) / games
    variance = (won + drawn / 4) / games - mean * mean
    low, high = (1 / (1 + exp(-each * log(10) / 400)) for each in (elo0, elo1))
    return games * (high - low) * (2 * mean - low - high) / (2 * variance)


class PlayerWord(NamedTuple):
    """A player as words that another process understands: a name, a specification and a level."""

    name: str
    word: str
    level: int | None


class PlayedGame(NamedTuple):
    """A game that was played elsewhere: its result, and by side how long moves took and why it was given up."""

    result: Result
    move_ms: tuple[list[float], list[float]]
    faults: tuple[list[str], list[str]]


def play_in_processes(
    game: str, players: Sequence[PlayerWord], limit: Limit, pairings: Sequence[ArenaGame], seed: int, processes: int
) -> Iterator[PlayedGame]:
    """Yield the games in the order of the pairings."""
    tasks = [
        (game, players[each.first], players[each.second], each, limit, seed + n) for n, each in enumerate(pairings)
    ]
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        try:
            yield from pool.map(_play, tasks)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _play(task: tuple[str, PlayerWord, PlayerWord, ArenaGame, Limit, int]) -> PlayedGame:
    """Play one game with new players, so that it does not hang on the games before it."""
    name, first, second, pairing, limit, seed = task
    sides = tuple(
        Entrant(each.name, find_player(each.word, seed=seed + side, level=each.level))
        for side, each in enumerate((first, second))
    )
    utility, moves = play(find_game(name), (sides[0], sides[1]), limit, pairing.opening)
    result = Result(pairing.first, pairing.second, utility, moves)
    return PlayedGame(result, (sides[0].move_ms, sides[1].move_ms), (sides[0].faults, sides[1].faults))
