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
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from ttt_net.games import Move, find_game
from ttt_net.games.line import LineState
from ttt_net.strategies import Limit, find_strategy

GAME = find_game("gomoku")
WIDTH = GAME.shape[1]
MIDDLE = range(4, 11)
"""The rows and columns from which marks are drawn."""
NOWHERE = -1
"""A move outside the board."""
OURS = Limit(nodes=100_000)
PATIENCE_S, LEAST_SHARE = 30, 50
"""How long a brain may take: this many seconds, and its limit this many times, as others may use the machine."""


class BrainError(Exception):
    """A brain has sent no move: it has ended, or it took too long."""


class Brain:
    """A Gomocup brain that may print the value of its move. It is killed if a move takes longer than `patience_s`."""

    def __init__(self, command: str, ms: int, patience_s: float | None = None) -> None:
        self._process = subprocess.Popen(
            shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._patience_s = PATIENCE_S + LEAST_SHARE * ms / 1000 if patience_s is None else patience_s
        self._greeting = [f"START {WIDTH}", "INFO max_memory 300000000", f"INFO timeout_turn {ms}"]
        self._greeting += ["INFO timeout_match 0", "INFO time_left 2147483647", "INFO rule 0"]

    def value(self, moves: tuple[Move, ...]) -> int | None:
        """Return the value for the side to move; None for a win or a loss. Raises `BrainError`."""
        return self.answer(moves)[1]

    def answer(self, moves: Sequence[Move]) -> tuple[Move, int | None]:
        """Return the move for the side to move, and its value if the brain prints one. Raises `BrainError`."""
        late = threading.Event()

        def kill() -> None:
            late.set()
            self._process.kill()

        killer = threading.Timer(self._patience_s, kill)
        killer.start()
        try:
            return self._answer(moves)
        except (EOFError, OSError):
            code = self._process.wait()
            why = f"sent no move within {self._patience_s:g} s" if late.is_set() else f"ended with status {code}"
            raise BrainError(why) from None
        finally:
            killer.cancel()

    def _answer(self, moves: Sequence[Move]) -> tuple[Move, int | None]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        marks = [f"{move % WIDTH},{move // WIDTH},{1 + (len(moves) - n) % 2}" for n, move in enumerate(moves)]
        lines, self._greeting = [*self._greeting, "RESTART", "BOARD", *marks, "DONE"], []
        self._process.stdin.write("".join(f"{line}\n" for line in lines))
        self._process.stdin.flush()
        found = None
        for line in self._process.stdout:
            if told := re.search(r"Eval (-?\d+)", line):
                found = int(told[1])
            if place := re.fullmatch(r"(\d+),(\d+)\s*", line):
                x, y = int(place[1]), int(place[2])
                return x + WIDTH * y if x < WIDTH else NOWHERE, found
        raise EOFError

    def cpu_seconds(self) -> float:
        """Return the CPU time that the brain has used so far, as Linux counts it; 0 if it has ended."""
        if self._process.poll() is not None:
            return 0.0
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        """End the program."""
        self._process.kill()
        self._process.communicate()


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
