"""Print what the lesson of a match says, for matches that one error lost: `python -m benchmarks.lessons --seed 5`.

Both sides play as well as the limit allows, but the loser once plays as a beginner does. In games that can be solved,
both play perfectly, and the error is proved: before it the result was better than a loss. In other games of
lines, a search of 20 times the limit has to find a loss after it and none before. In ultimate, by 20 times as many
playouts the error has to cost `LARGE`, from -1 to 1, and no other move of the loser half as much. The sentences are
there to be read. The last line counts how many lessons name the erring move.
"""

import argparse
import random
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from ttt_net.games import Game, Move, find_game
from ttt_net.games.catalogue import NAMES
from ttt_net.games.ultimate import UltimateGame
from ttt_net.laboratory.strategy_arena import random_opening
from ttt_net.strategies import Limit, find_strategy
from ttt_net.strategies.analysis import Kept, analyse, is_solvable
from ttt_net.strategies.engine import load
from ttt_net.strategies.heuristic import is_line_game
from ttt_net.strategies.mcts import CERTAIN
from ttt_net.strategies.review import Lesson, lesson_of, review, winner_of
from ttt_net.strategies.strategy import DECIDED, is_decided

OPENINGS = {"connect4": 6, "gomoku": 3, "ultimate": 12}
"""Plies of random opening by game; 2 in others."""
SOLVING = 1_000_000
"""The limit of nodes that solves nearly all positions of games that can be solved."""
LEVEL = 2
"""The level of the move that is the error."""
CHECKED = 20
"""How many times its limit a search may take to tell that the error lost, in games that cannot be solved."""
LARGE = 0.4
"""How much the error has to cost in games that are judged by playouts."""
PLAYOUTS = 5
"""How many playouts a review of ultimate may make for each position that other games may search: 0.14 s of CPU."""


class Loss(NamedTuple):
    """A match, and the ply from 1 of the error that lost it."""

    moves: list[Move]
    ply: int


def losses(game: Game[Any], seed: int, nodes: int) -> Iterator[Loss]:
    """Yield matches that one error lost, without end."""
    rng = random.Random(seed)
    while True:
        if (found := _played(game, rng, Limit(nodes=nodes))) is not None:
            yield found


def _played(game: Game[Any], rng: random.Random, limit: Limit) -> Loss | None:
    """Return a match with one error, or None if the error did not lose it."""
    best = find_strategy("alphabeta", seed=rng.getrandbits(20))
    weak = find_strategy("alphabeta", seed=rng.getrandbits(20), level=LEVEL)
    opening = OPENINGS.get(game.name, 2)
    moves, state = list(random_opening(game, opening, rng)), game.initial
    for move in moves:
        state = game.result(state, move)
    if game.is_terminal(state):
        return None
    error = opening + rng.randrange(1, 3 + len(game.move_cells) // 3)
    while not game.is_terminal(state):
        if len(moves) + 1 == error:
            before, move = state, weak(game, state, limit).move
        else:
            solved = _solved_best(game, state, rng) if is_solvable(game) else best(game, state, limit).move
            if solved is None:
                return None
            move = solved
        moves.append(move)
        state = game.result(state, move)
    if len(moves) <= error or game.utility(state, (error - 1) % 2) >= 0:
        return None
    if is_solvable(game):
        found = analyse(game, before, Limit(nodes=SOLVING))
        if found.verdict.result == -1 or found.moves[moves[error - 1]].result != -1:
            return None
    checking = Limit(nodes=CHECKED * (limit.nodes or 1))
    if is_line_game(game) and not is_solvable(game) and not _turned(game, before, moves[error - 1], checking):
        return None
    if isinstance(game, UltimateGame) and not _is_dearest(game, moves, error, checking):
        return None
    return Loss(moves, error)


def _is_dearest(game: UltimateGame, moves: list[Move], error: int, limit: Limit) -> bool:
    """Tell whether playouts call the move of this ply a large error, and no other move of its player half as large."""
    search, states = find_strategy("alphabeta", seed=1), [game.initial]
    for move in moves:
        states.append(game.result(states[-1], move))
    side = (error - 1) % 2

    @cache
    def worth(ply: int) -> float:
        if game.is_terminal(states[ply]):
            return game.utility(states[ply], side)
        value = search(game, states[ply], limit).value or 0
        worth = (1 if value > 0 else -1) if is_decided(value) else value / CERTAIN
        return worth if game.to_move(states[ply]) == side else -worth

    cost = worth(error - 1) - worth(error)
    others = (worth(ply) - worth(ply + 1) for ply in range(side, len(moves), 2) if ply != error - 1)
    return cost >= LARGE and all(other < cost / 2 for other in others)


def _turned(game: Game[Any], before: Any, error: Move, limit: Limit) -> bool:  # noqa: ANN401 - any game's
    """Tell whether a search sees a win of the other side after the error, and none before it."""
    after, search = game.result(before, error), find_strategy("alphabeta", seed=1)
    if game.is_terminal(after) or (search(game, after, limit).value or 0) < DECIDED:
        return False
    return (search(game, before, limit).value or 0) > -DECIDED


def _solved_best(game: Game[Any], state: Any, rng: random.Random) -> Move | None:  # noqa: ANN401 - any game's
    """Return one of the best moves of a position, or None if it was not solved."""
    found = analyse(game, state, Limit(nodes=SOLVING), Kept(line_plies=0))
    return rng.choice(found.best) if found.verdict.exact else None


def lesson(game: Game[Any], moves: list[Move], nodes: int) -> Lesson:
    """Return the lesson of a match after a review."""
    nodes = SOLVING if is_solvable(game) else PLAYOUTS * nodes if isinstance(game, UltimateGame) else nodes
    state, limit = game.initial, Limit(nodes=nodes)
    for move in moves:
        state = game.result(state, move)
    return lesson_of(list(review(game, moves, limit)), winner_of(game, state))


def main() -> None:
    """Print each match with its lesson."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lessons", description=__doc__)
    parser.add_argument("--game", action="append", help="of which games (default: all)")
    parser.add_argument("--count", type=int, default=5, help="matches of each game (default %(default)s)")
    parser.add_argument("--nodes", type=int, default=20_000, help="of a position of games that cannot be solved")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    right = total = 0
    for name in args.game or NAMES:
        game = find_game(name)
        load(game)
        made = losses(game, args.seed, args.nodes)
        for loss in (next(made) for _ in range(args.count)):
            said = lesson(game, loss.moves, args.nodes)
            right, total = right + (said.ply == loss.ply), total + 1
            print(f"{name}: {' '.join(game.move_names[move] for move in loss.moves)}")
            print(f"  {'' if said.ply == loss.ply else f'(error: move {loss.ply}) '}{said.in_words(game)}", flush=True)
    print(f"{right} of {total} lessons name the erring move")


if __name__ == "__main__":
    main()
