"""Ask OpenSpiel's MCTS about the moves of ultimate that our reviews doubt: `python -m benchmarks.reviews`.

Each doubted move and the best ones are searched with `SIMULATIONS`, for some twenty times as long as the review takes.
The MCTS agrees if it values the doubted move below the best. It needs `pip install open-spiel`.
"""

import argparse
import random
import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from ttt_net.games import Move, find_game
from ttt_net.strategies import Limit, find_strategy
from ttt_net.strategies.engine import load
from ttt_net.strategies.review import Grade, review

GAME = find_game("ultimate")
LEVELS = ((3, 5), (4, 4), (5, 6), (6, 4))
"""The levels of the players of the matches, in turn."""
SIMULATIONS = 40_000


def played(seed: int, levels: tuple[int, int]) -> list[Move]:
    """Return the moves of a match between two levels."""
    rng = random.Random(seed)
    players = [find_strategy("alphabeta", seed=rng.getrandbits(20), level=level) for level in levels]
    state, moves = GAME.initial, list[Move]()
    while not GAME.is_terminal(state):
        moves.append(players[GAME.to_move(state)](GAME, state, Limit(nodes=1_000)).move)
        state = GAME.result(state, moves[-1])
    return moves


def position_of(spiel: Any, moves: Sequence[Move]) -> Any:  # noqa: ANN401 - OpenSpiel has no types
    """Return OpenSpiel's position after our moves; there, a free choice of board is a move of its own."""
    state = spiel.load_game("ultimate_tic_tac_toe").new_initial_state()
    for move in moves:
        name = GAME.move_names[move]
        if "Choose" in state.action_to_string(state.current_player(), state.legal_actions()[0]):
            state.apply_action(int(name[0]) - 1)
        state.apply_action("321".index(name[3]) * 3 + "abc".index(name[2]))
    return state


def value_of(spiel: Any, moves: Sequence[Move]) -> float:  # noqa: ANN401 - OpenSpiel has no types
    """Return the value of the last move for who made it, from -1 to 1."""
    mover, state = (len(moves) - 1) % 2, position_of(spiel, moves)
    if state.is_terminal():
        return float(state.returns()[mover])
    rollouts = spiel.RandomRolloutEvaluator(1, 7)
    best = spiel.MCTSBot(state.get_game(), rollouts, 2.0, SIMULATIONS, 2000, True, 7, False).mcts_search(state)
    best = best.best_child()
    value = best.outcome[best.player] if best.outcome else best.total_reward / best.explore_count
    return float(value if state.current_player() == mover else -value)


def main() -> None:
    """Print each doubted move, and how many of them the MCTS doubts too."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reviews", description=__doc__)
    parser.add_argument("--matches", type=int, default=12, help="how many (default %(default)s)")
    parser.add_argument("--nodes", type=int, default=20_000, help="playouts of a review's position")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    spiel = import_module("pyspiel")
    load(GAME)
    agreed = {Grade.DOUBTFUL: [0, 0], Grade.MISTAKE: [0, 0]}
    for number in range(args.matches):
        moves = played(args.seed + number, LEVELS[number % len(LEVELS)])
        started = time.process_time()
        found = list(review(GAME, moves, Limit(nodes=args.nodes)))
        ms = 1_000 * (time.process_time() - started) / len(moves)
        for each in found:
            if each.grade in agreed:
                started, before = time.process_time(), moves[: each.ply - 1]
                best = max(value_of(spiel, [*before, move]) for move in each.best)
                was = value_of(spiel, [*before, each.move])
                theirs = 1_000 * (time.process_time() - started) / (1 + len(each.best))
                agreed[each.grade][was < best] += 1
                told = f"best {best:+.2f}, was {was:+.2f}; {ms:.0f} ms, {theirs:.0f} ms"
                print(f"match {number + 1}, move {each.ply} {each.sign}: {told}", flush=True)
    for grade, (no, yes) in agreed.items():
        print(f"{grade}: {yes} of {no + yes} agreed")


if __name__ == "__main__":
    main()
