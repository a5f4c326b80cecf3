"""Play the games of an arena in several processes, each with players of its own.

Which games there are, and from which openings, is settled before; so they are the same however many processes play, for
players whose choice follows from a position and a seed alone. The processes load this module, and nothing of the verb.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import NamedTuple

from ttt_net.engines.external import find_player
from ttt_net.games import find_game
from ttt_net.strategies import Limit
from ttt_net.strategies.arena import ArenaGame, Entrant, Result, play


class PlayerWord(NamedTuple):
    """Who plays, as words that another process understands: a name, what finds the player, and a level."""

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
