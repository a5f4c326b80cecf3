"""Play gomoku against a Gomocup brain with a limit of CPU time: `python -m benchmarks.brains ./pbrain-pela --ms 100`.

Our engine counts its CPU time instead of the wall's, so that other programs on the machine change nothing. A brain does
the same if its clock says so, as with `piskvork/windows.h`. Both colours are played from each opening. The last line
has the CPU time of a move of either side.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

from benchmarks.balanced_openings import GAME, Brain
from ttt_net.games import Move
from ttt_net.laboratory.strategy_arena import Score, elo, elo_interval
from ttt_net.strategies import Limit, find_strategy, strategy
from ttt_net.strategies.engine import load

OPENINGS = Path(__file__).with_name("balanced_openings.txt")


def openings() -> Iterator[list[Move]]:
    """Yield the balanced openings."""
    for line in OPENINGS.read_text().splitlines():
        yield [GAME.move_names.index(name) for name in line.partition("#")[0].split()]


def main() -> None:
    """Print each match as it ends, then the score and the Elo difference with its interval of 95 %."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.brains", description=__doc__)
    parser.add_argument("brain", help="the command of the brain")
    parser.add_argument("--ms", type=int, default=300, help="CPU time of a move (default %(default)s)")
    parser.add_argument("--count", type=int, default=20, help="openings (default %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the first opening, from 0")
    args = parser.parse_args()
    load(GAME)
    patch.object(strategy, "time", SimpleNamespace(monotonic=time.process_time)).start()
    brain, score, ours, theirs = Brain(args.brain, args.ms), Score(), 0, 0
    started = time.process_time()
    for number, opening in enumerate(list(openings())[args.first : args.first + args.count], args.first):
        for side in (0, 1):
            player, moves, state = find_strategy("alphabeta", seed=1), list(opening), GAME.initial
            for move in moves:
                state = GAME.result(state, move)
            while not GAME.is_terminal(state):
                if GAME.to_move(state) == side:
                    moves.append(player(GAME, state, Limit(ms=args.ms)).move)
                    ours += 1
                else:
                    moves.append(brain.answer(moves)[0])
                    theirs += 1
                state = GAME.result(state, moves[-1])
            score = score.plus(GAME.utility(state, side))
            print(number, side, GAME.utility(state, side), len(moves), flush=True)
    used = (time.process_time() - started) / max(1, ours), brain.cpu_seconds() / max(1, theirs)
    brain.end()
    print(f"won {score.won}, drawn {score.drawn}, lost {score.lost}: {elo(score)[0]} Elo, {elo_interval(score)}")
    print(f"CPU of a move: ours {1000 * used[0]:.0f} ms, theirs {1000 * used[1]:.0f} ms")


if __name__ == "__main__":
    main()
