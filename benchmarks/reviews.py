"""Ask OpenSpiel's MCTS about our hints in ultimate, and about the moves that our reviews mark as errors.

`python -m benchmarks.reviews --hints 100` asks for hints in positions of matches between levels, and
`python -m benchmarks.reviews --matches 12` reviews such matches. The MCTS makes so many random rollouts that it takes
some fifty times as long as we do. It agrees with a hint if it values no move higher by more than `MARGIN`, and with
the mark of an error if it values some move higher by more than that. It needs `pip install open-spiel`.
"""

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from importlib import import_module
from statistics import median
from typing import Any

from ttt_net.games import Move, find_game
from ttt_net.strategies import Limit, find_strategy
from ttt_net.strategies.engine import load
from ttt_net.strategies.hints import advise
from ttt_net.strategies.review import Reviewed, review

GAME = find_game("ultimate")
LEVELS = ((3, 5), (4, 4), (5, 6), (6, 4))
"""The levels of the players of the matches, in turn."""
SIMULATIONS = 5
"""The rollouts of the MCTS for each playout of ours, which take about fifty times as long."""
MARGIN = 0.05
"""How much more than another a move has to be worth, from -1 to 1, to be better: 2.5 matches in 100."""


def played(seed: int, levels: tuple[int, int]) -> list[Move]:
    """Return the moves of a match between two levels."""
    rng = random.Random(seed)
    players = [find_strategy("alphabeta", seed=rng.getrandbits(20), level=level) for level in levels]
    state, moves = GAME.initial, list[Move]()
    while not GAME.is_terminal(state):
        moves.append(players[GAME.to_move(state)](GAME, state, Limit(nodes=1_000)).move)
        state = GAME.result(state, moves[-1])
    return moves


def matches(seed: int) -> Iterator[list[Move]]:
    """Yield matches without end."""
    number = 0
    while True:
        yield played(seed + number, LEVELS[number % len(LEVELS)])
        number += 1


class Judge:
    """OpenSpiel's MCTS, with so many simulations for each question."""

    def __init__(self, simulations: int) -> None:
        self.spiel = import_module("pyspiel")
        self.simulations = simulations

    def best(self, moves: Sequence[Move]) -> Move:
        """Return the move that it prefers after these."""
        state = self._position(moves)
        found, choice = self._search(state), ""
        if self._is_choice(state):
            found = found.best_child()
            choice = str(found.action + 1)
            state.apply_action(found.action)
            found = found if found.children else self._search(state)
        target = choice or GAME.move_names[next(iter(GAME.actions(after(moves))))][0]
        row, column = divmod(found.best_child().action, 3)
        return GAME.move_names.index(f"{target}:{'abc'[column]}{'321'[row]}")

    def value(self, moves: Sequence[Move]) -> float:
        """Return the value of the last move for who made it, from -1 to 1."""
        mover, state = (len(moves) - 1) % 2, self._position(moves)
        if state.is_terminal():
            return float(state.returns()[mover])
        best = self._search(state).best_child()
        value = best.outcome[best.player] if best.outcome else best.total_reward / best.explore_count
        return float(value if state.current_player() == mover else -value)

    def _search(self, state: Any) -> Any:  # noqa: ANN401 - OpenSpiel has no types
        rollouts = self.spiel.RandomRolloutEvaluator(1, 7)
        bot = self.spiel.MCTSBot(state.get_game(), rollouts, 2.0, self.simulations, 4000, True, 7, False)
        return bot.mcts_search(state)

    def _position(self, moves: Sequence[Move]) -> Any:  # noqa: ANN401 - OpenSpiel has no types
        """Return OpenSpiel's position after our moves; there, a free choice of board is a move of its own."""
        state = self.spiel.load_game("ultimate_tic_tac_toe").new_initial_state()
        for move in moves:
            name = GAME.move_names[move]
            if self._is_choice(state):
                state.apply_action(int(name[0]) - 1)
            state.apply_action("321".index(name[3]) * 3 + "abc".index(name[2]))
        return state

    def _is_choice(self, state: Any) -> bool:  # noqa: ANN401 - OpenSpiel has no types
        return "Choose" in state.action_to_string(state.current_player(), state.legal_actions()[0])


def after(moves: Sequence[Move]) -> Any:  # noqa: ANN401 - any game's state
    """Return our position after some moves."""
    state = GAME.initial
    for move in moves:
        state = GAME.result(state, move)
    return state


def judge_hints(count: int, nodes: int, seed: int) -> None:
    """Print each hint of which the MCTS does not approve, and how many it approves of."""
    rng, judge, agreed, same, times = random.Random(seed), Judge(SIMULATIONS * nodes), 0, 0, list[float]()
    made = (moves[: rng.randrange(4, len(moves))] for moves in matches(seed))
    asked = (moves for moves in made if len(GAME.actions(after(moves))) > 1)
    for number, moves in zip(range(1, count + 1), asked, strict=False):
        started = time.process_time()
        found = advise(GAME, after(moves), Limit(nodes=nodes))
        assert found is not None, "a position that is not over has a hint"
        ours, started = time.process_time() - started, time.process_time()
        best = judge.best(moves)
        times.append((time.process_time() - started) / max(ours, 1e-3))
        others = [move for move in found.moves if move != best]
        highest = judge.value([*moves, best]) if others else 0.0
        lowest = min((judge.value([*moves, move]) for move in others), default=highest)
        agreed, same = agreed + (lowest >= highest - MARGIN), same + (not others)
        told = f"{found.text} {GAME.move_names[best]} {highest:+.2f}, named {lowest:+.2f}" if others else "the same"
        print(f"position {number}, ply {len(moves)}, {times[-1]:.0f} times: {told}", flush=True)
    print(f"{agreed} of {count} hints agreed, {same} with the same move; {median(times):.0f} times as long")


def is_marked(each: Reviewed) -> bool:
    """Tell whether a review marks a move as an error that changes what the position is worth."""
    return each.sign.startswith("?") and each.lost != 0


def judge_reviews(count: int, nodes: int, seed: int) -> None:
    """Print each marked error, and how many of them are errors for the MCTS too, and better moves better."""
    judge, asked, errors, better = Judge(SIMULATIONS * nodes), dict[str, int](), dict[str, int](), dict[str, int]()
    for number, moves in zip(range(count), matches(seed), strict=False):
        started = time.process_time()
        found = list(review(GAME, moves, Limit(nodes=nodes)))
        ms = 1_000 * (time.process_time() - started) / len(moves)
        for each in filter(is_marked, found):
            before, started = moves[: each.ply - 1], time.process_time()
            best = judge.value([*before, judge.best(before)])
            theirs = 1_000 * (time.process_time() - started) / 2
            was, instead = (min(judge.value([*before, move]) for move in made) for made in ([each.move], each.best))
            asked[each.sign] = asked.get(each.sign, 0) + 1
            errors[each.sign] = errors.get(each.sign, 0) + (was < max(best, instead) - MARGIN)
            better[each.sign] = better.get(each.sign, 0) + (was < instead - MARGIN)
            told = f"best {best:+.2f}, ours {instead:+.2f}, was {was:+.2f}; {ms:.0f} ms, {theirs:.0f} ms"
            print(f"match {number + 1}, move {each.ply} {each.sign}: {told}", flush=True)
    for sign, all_of_them in asked.items():
        print(f"{sign}: {errors[sign]} of {all_of_them} are errors, {better[sign]} better moves are better")


def main() -> None:
    """Judge hints or reviews."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reviews", description=__doc__.split("\n")[0])
    parser.add_argument("--hints", type=int, metavar="N", help="judge this many hints instead of reviews")
    parser.add_argument("--matches", type=int, default=12, help="how many to review (default %(default)s)")
    parser.add_argument("--nodes", type=int, help="playouts for a hint (200,000) or a review's position (20,000)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    load(GAME)
    if args.hints:
        judge_hints(args.hints, args.nodes or 200_000, args.seed)
    else:
        judge_reviews(args.matches, args.nodes or 20_000, args.seed)


if __name__ == "__main__":
    main()
