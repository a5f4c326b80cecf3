"""Play gomoku against a Gomocup brain with a limit of CPU time: `python -m benchmarks.brains ./pbrain-pela --ms 100`.

Our engine counts its CPU time instead of the wall's, so that other programs on the machine change nothing. A brain does
the same if its clock says so, as with `piskvork/windows.h`. Both colours are played from each opening.

Engines use different shares of a limit. The last line has the CPU time of a move of either side, and `--their-ms` gives
the brain a limit of its own, with which both use the same. A game in which the brain hangs, ends or sends an illegal
move is left out of the score, and named before it. `--record FILE` appends each game as a line.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple
from unittest.mock import patch

from benchmarks.balanced_openings import GAME, Brain, BrainError
from ttt_net.games import Move, Side
from ttt_net.games.line import LineState
from ttt_net.laboratory.strategy_arena import Score, elo, elo_interval
from ttt_net.strategies import Limit, find_strategy, strategy
from ttt_net.strategies.engine import load

OPENINGS = Path(__file__).with_name("balanced_openings.txt")


class Played(NamedTuple):
    """A game: its value for us, all its moves, how many of them either has chosen, and why it is forfeited, if so."""

    utility: int
    moves: tuple[Move, ...]
    ours: int
    theirs: int
    forfeit: str | None = None


def openings(path: Path = OPENINGS) -> Iterator[list[Move]]:
    """Yield the balanced openings."""
    for line in path.read_text().splitlines():
        yield [GAME.move_names.index(name) for name in line.partition("#")[0].split()]


def play(answer: Callable[[LineState], Move], brain: Brain, opening: Sequence[Move], side: Side) -> Played:
    """Play one game from an opening, with us on a side, where `answer` chooses our moves."""
    moves, state, ours, theirs = list(opening), GAME.initial, 0, 0
    for move in moves:
        state = GAME.result(state, move)
    while not GAME.is_terminal(state):
        is_ours = GAME.to_move(state) == side
        try:
            move = answer(state) if is_ours else brain.answer(moves)[0]
        except BrainError as error:
            return Played(0, tuple(moves), ours, theirs, forfeit=str(error))
        if move not in set(GAME.actions(state)):
            return Played(0, tuple(moves), ours, theirs, forfeit="sent an illegal move")
        ours, theirs = ours + is_ours, theirs + (not is_ours)
        moves.append(move)
        state = GAME.result(state, move)
    return Played(GAME.utility(state, side), tuple(moves), ours, theirs)


def summary(games: Sequence[Played]) -> list[str]:
    """Return the forfeits, then the score and the Elo difference of the other games."""
    forfeits, score = Counter(game.forfeit for game in games if game.forfeit is not None), Score()
    for game in games:
        if game.forfeit is None:
            score = score.plus(game.utility)
    difference, low, high = (
        "unknown" if each is None else f"{round(each):+}" for each in (elo(score)[0], *elo_interval(score))
    )
    return [
        *(f"{count} games left out: the brain {why}" for why, count in forfeits.items()),
        f"won {score.won}, drawn {score.drawn}, lost {score.lost}: {difference} Elo (95 %: {low} to {high})",
    ]


def main() -> None:
    """Print each match as it ends, then the score and the Elo difference with its interval of 95 %."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.brains", description=__doc__)
    parser.add_argument("brain", help="the command of the brain")
    parser.add_argument("--ms", type=int, default=300, help="CPU time of a move (default %(default)s)")
    parser.add_argument("--their-ms", type=int, help="the limit that the brain is told (--ms)")
    parser.add_argument("--count", type=int, default=20, help="openings (default %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the first opening, from 0")
    parser.add_argument("--openings", type=Path, default=OPENINGS, help="a file of openings (the balanced ones)")
    parser.add_argument("--record", type=Path, help="append each game to this file")
    args = parser.parse_args()
    load(GAME)
    patch.object(strategy, "time", SimpleNamespace(monotonic=time.process_time)).start()
    their_ms = args.their_ms or args.ms
    brain, games, their_s = Brain(args.brain, their_ms), list[Played](), 0.0
    started = time.process_time()
    chosen = list(openings(args.openings))[args.first : args.first + args.count]
    for number, opening in enumerate(chosen, args.first):
        for side in (0, 1):
            before = brain.cpu_seconds()
            player, limit = find_strategy("alphabeta", seed=1), Limit(ms=args.ms)
            played = play(lambda state: player(GAME, state, limit).move, brain, opening, side)  # noqa: B023
            games.append(played)
            result = str(played.utility) if played.forfeit is None else f"forfeit: it {played.forfeit};"
            print(line := f"{number} {side} {result} {len(played.moves)}", flush=True)
            if args.record is not None:
                with args.record.open("a") as file:
                    file.write(f"{line} {' '.join(GAME.move_names[move] for move in played.moves)}\n")
            if played.forfeit is None:
                their_s += brain.cpu_seconds() - before
            else:
                brain.end()
                brain = Brain(args.brain, their_ms)
    used = time.process_time() - started
    brain.end()
    print(*summary(games), sep="\n")
    ours, theirs = (sum(number) for number in zip(*((each.ours, each.theirs) for each in games), strict=True))
    print(f"CPU of a move: ours {1000 * used / max(1, ours):.0f} ms, theirs {1000 * their_s / max(1, theirs):.0f} ms")


if __name__ == "__main__":
    main()
