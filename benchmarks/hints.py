"""How many hints name a move that gives the result away, in games whose positions can be solved; the target is none.

`python -m benchmarks.hints --game connect4 --positions 2000` takes two minutes. The positions come from play that
neither overlooks a win in one nor allows one.
"""

import argparse
import random
import sys
import time

from tests.strategies.test_hints import sensible_position
from ttt_net.games import find_game
from ttt_net.strategies.analysis import Kept, analyse
from ttt_net.strategies.engine import load
from ttt_net.strategies.hints import advise
from ttt_net.strategies.strategy import Limit

SOLVED = Limit(ms=10_000)


def main() -> int:
    """Ask for hints, compare them with the truth, and print how many were wrong; return 1 if any was."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hints", description=__doc__.split("\n")[0])
    parser.add_argument("--game", default="connect4")
    parser.add_argument("--positions", type=int, default=2_000)
    parser.add_argument("--ms", type=int, default=300, help="time limit for a hint (default %(default)s, the server's)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    game, rng, limit = find_game(args.game), random.Random(args.seed), Limit(ms=args.ms)
    load(game)
    judge, coach = Kept(line_plies=0), Kept(line_plies=0)
    wrong = unknown = 0
    spent_s = 0.0
    for _ in range(args.positions):
        state = sensible_position(game, rng)
        truth = analyse(game, state, SOLVED, judge)
        began_s = time.perf_counter()
        found = advise(game, state, limit, coach)
        spent_s += time.perf_counter() - began_s
        assert found is not None, "a position that is not over has a hint"
        unknown += truth.verdict.result is None
        if not truth.keeping.issuperset(found.moves):
            wrong += 1
            print(f"wrong: {found.text} in {game.board(state)}")
    mean_ms = 1000 * spent_s / args.positions
    print(f"{args.game}: {args.positions} hints, {wrong} wrong, {unknown} not known, {mean_ms:.0f} ms each")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
