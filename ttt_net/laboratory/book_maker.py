"""`book`: solve the opening of Connect Four and write the book that the package ships."""

import argparse
import os
import random
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from ttt_net.commands.searching import positive
from ttt_net.errors import ConfigurationError
from ttt_net.games import find_game
from ttt_net.games.line import LineGame, LineState
from ttt_net.games.notation import write_position
from ttt_net.strategies import Limit
from ttt_net.strategies.book import DEEPEST, SHIPPED, Book, backed_up, key_of, packed, positions, shipped_book
from ttt_net.strategies.connect4 import Connect4Solver
from ttt_net.strategies.engine import is_installed
from ttt_net.strategies.strategy import Effort

TOGETHER = 60
"""The number of neighbouring positions that one process solves with one table, because they share subtrees."""

LIKELY = 7
"""Most scores lie within this distance from a draw, so searches try this window first."""


def add_book_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    parser.add_argument(
        "--plies", type=int, choices=range(1, DEEPEST + 1), default=DEEPEST, help="stones (default %(default)s)"
    )
    parser.add_argument("--out", type=Path, default=SHIPPED, metavar="FILE", help="the book (default: the shipped one)")
    parser.add_argument(
        "--processes", type=positive, default=os.cpu_count() or 1, metavar="N", help="at once (default: all cores)"
    )
    parser.add_argument(
        "--anew", action="store_true", help="begin with nothing instead of the shipped book, which takes hours"
    )
    parser.add_argument("--so-far", action="store_true", help="solve nothing, write what is known by now")
    parser.add_argument("--check", type=positive, metavar="N", help="solve N entries of the book again, and stop there")


def run_book(args: argparse.Namespace) -> int:
    """Build the book, or check it; return the exit status."""
    if not is_installed():
        raise ConfigurationError("building a book needs the engine: pip install 'ttt_net[engine]'")
    game = find_game("connect4")
    assert isinstance(game, LineGame)
    if args.check is not None:
        return check(game, args.out, args.plies, args.check)
    found = args.out.with_suffix(".part")
    levels = positions(game, args.plies)
    scores = ({} if args.anew else shipped_book().scores()) | known(found)
    missing = [] if args.so_far else [state for key, state in levels[-1].items() if key not in scores]
    columns = ("solving", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress, found.open("a") as file:
        task = progress.add_task("", total=len(levels[-1]), completed=len(levels[-1]) - len(missing))
        for key, score in solved(missing, args.processes):
            scores[key] = score
            print(key, score, file=file, flush=True)
            progress.advance(task)
    book = packed(backed_up(game, levels, scores))
    args.out.write_bytes(book)
    print(f"{args.out}: {len(Book(book)):,} positions in {len(book):,} bytes")
    return 0


def known(path: Path) -> dict[int, int]:
    """Return the scores by key from an earlier run; ignore an incomplete last line."""
    if not path.exists():
        return {}
    lines = (line.split() for line in path.read_text().splitlines(keepends=True) if line.endswith("\n"))
    return {int(key): int(score) for key, score in lines}


def solved(states: list[LineState], processes: int) -> Iterator[tuple[int, int]]:
    """Solve positions in several processes; yield the key and the score of each."""
    groups = [states[at : at + TOGETHER] for at in range(0, len(states), TOGETHER)]
    with ProcessPoolExecutor(processes) as pool:
        for scores in pool.map(solve_together, groups):
            yield from scores


def solve_together(states: list[LineState]) -> list[tuple[int, int]]:
    """Return the keys and the scores of neighbouring positions."""
    solver, effort, found = Connect4Solver(), Effort(Limit()), []
    for state in states:
        score = solver.searched_score(state, effort, -LIKELY, LIKELY)
        if abs(score) >= LIKELY:
            score = solver.searched_score(state, effort)
        found.append((key_of(state), score))
    return found


def check(game: LineGame, path: Path, plies: int, number: int) -> int:
    """Solve random positions of a book again; return 1 if the book has another score for one."""
    book, rng = Book(path.read_bytes()), random.Random()
    states = [state for level in positions(game, plies)[3:] for state in level.values()]
    sample = rng.sample([state for state in states if book.score(state) is not None], number)
    wrong = 0
    for state in sample:
        score = Connect4Solver().searched_score(state, Effort(Limit()))
        if book.score(state) != score:
            wrong += 1
            print(f"{write_position(game, state)}: {book.score(state)} in the book, {score} by search")
    print(f"{number} solved again, {wrong} wrong")
    return int(wrong > 0)
