"""Make gomoku openings that two engines call balanced: `python -m benchmarks.balanced_openings ./pbrain-rapfi`.

Openings of 5 and of 6 marks, in turn, are drawn near the middle. Our engine looks at each first, then the brain of the
command, which has to print `Eval N`, as Rapfi does. An opening is kept if both call it even within `--points`. It is
printed as a line for `arena --openings`, with both values for the side to move.
"""

import argparse
import os
import random
import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from ttt_net.games import Move, find_game
from ttt_net.games.line import LineState
from ttt_net.strategies import Limit, find_strategy

GAME = find_game("gomoku")
WIDTH = GAME.shape[1]
MIDDLE = range(4, 11)
"""The rows and columns from which marks are drawn."""
OURS = Limit(nodes=100_000)


class Brain:
    """A Gomocup brain that prints the value of its move."""

    def __init__(self, command: str, ms: int) -> None:
        self._process = subprocess.Popen(
            shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._say(f"START {WIDTH}", "INFO max_memory 300000000", f"INFO timeout_turn {ms}", "INFO timeout_match 0")
        self._say("INFO time_left 2147483647", "INFO rule 0")

    def _say(self, *lines: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("".join(f"{line}\n" for line in lines))
        self._process.stdin.flush()

    def value(self, moves: tuple[Move, ...]) -> int | None:
        """Return the value for the side to move; None for a win or a loss."""
        return self.answer(moves)[1]

    def answer(self, moves: Sequence[Move]) -> tuple[Move, int | None]:
        """Return the move for the side to move, and its value if the brain prints one."""
        marks = [f"{move % WIDTH},{move // WIDTH},{1 + (len(moves) - n) % 2}" for n, move in enumerate(moves)]
        self._say("RESTART", "BOARD", *marks, "DONE")
        found = None
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if told := re.search(r"Eval (-?\d+)", line):
                found = int(told[1])
            if place := re.fullmatch(r"(\d+),(\d+)\s*", line):
                return int(place[1]) + WIDTH * int(place[2]), found
        raise EOFError("the brain has ended")

    def cpu_seconds(self) -> float:
        """Return the CPU time that the brain has used so far, as Linux counts it."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        """End the program."""
        self._say("END")
        self._process.wait(timeout=10)


def drawn(rng: random.Random) -> Iterator[tuple[Move, ...]]:
    """Yield different openings of five and six marks, in turn."""
    seen, plies = set[LineState](), 5
    cells = [y * WIDTH + x for y in MIDDLE for x in MIDDLE]
    while True:
        moves, state = tuple(rng.sample(cells, plies)), GAME.initial
        for move in moves:
            state = GAME.result(state, move)
        if state not in seen:
            seen.add(state)
            plies = 11 - plies
            yield moves


def main() -> None:
    """Print as many openings as asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.balanced_openings", description=__doc__)
    parser.add_argument("brain", help="the command of a brain that prints the value of its moves")
    parser.add_argument("--count", type=int, default=20, help="how many (default %(default)s)")
    parser.add_argument("--points", type=int, default=30, help="the most for a balanced one (default %(default)s)")
    parser.add_argument("--ms", type=int, default=300, help="the brain's time for each (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    brain, ours, kept = Brain(args.brain, args.ms), find_strategy("alphabeta", seed=1), 0
    for moves in drawn(random.Random(args.seed)):
        state = GAME.initial
        for move in moves:
            state = GAME.result(state, move)
        value = ours(GAME, state, OURS).value
        if value is None or abs(value) > args.points:
            continue
        other = brain.value(moves)
        if other is None or abs(other) > args.points:
            continue
        print(" ".join(GAME.move_names[move] for move in moves), f"# {value:+d} {other:+d}", flush=True)
        kept += 1
        if kept == args.count:
            break
    brain.end()


if __name__ == "__main__":
    main()
