"""`puzzles`: positions with one solution, proved and graded; the same for everybody on a day."""

import argparse
import datetime
import json
from itertools import islice

from rich.console import Console

from ttt_net.commands.analyse_view import show_position
from ttt_net.commands.searching import load_engine, positive
from ttt_net.games import find_game
from ttt_net.strategies.puzzles import Puzzle, puzzles, require_puzzles

GAMES = ("connect4", "tictactoe", "tictactoe3d")
"""The games that puzzles are of, in turn, if none is named."""
GRADES = ("", "at a glance", "easy", "middling", "hard", "very hard")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    parser.add_argument("--count", type=positive, default=1, metavar="N", help="how many (default %(default)s)")
    parser.add_argument("--seed", type=int, metavar="S", help="what they follow from (default: the date of today)")
    parser.add_argument("--game", action="append", metavar="GAME", help=f"of which game (default: {', '.join(GAMES)})")
    parser.add_argument("--solution", action="store_true", help="tell the solutions, too")
    parser.add_argument("--json", action="store_true", help="one JSON object a line, with the solution")


def run(args: argparse.Namespace) -> int:
    """Print the puzzles; return the exit status."""
    games = [find_game(name) for name in args.game or GAMES]
    for game in games:
        require_puzzles(game)
    for game in games:
        load_engine(game)
    seed = int(f"{datetime.datetime.now(tz=datetime.UTC):%Y%m%d}") if args.seed is None else args.seed
    console = Console(highlight=False)
    for number, puzzle in enumerate(islice(puzzles(games, seed), args.count), 1):
        if args.json:
            print(json.dumps(puzzle.as_json()), flush=True)
        else:
            show_puzzle(console, number, puzzle, tells_solution=args.solution)
    return 0


def show_puzzle(console: Console, number: int, puzzle: Puzzle, *, tells_solution: bool) -> None:
    """Print a puzzle as a board and a question."""
    console.print(f"{number}. {puzzle.game.title}, {GRADES[puzzle.grade]}")
    show_position(console, puzzle.game, puzzle.state)
    question = f"Win in {puzzle.plies}." if puzzle.is_win else "Find the one move that does not lose."
    console.print(question)
    if tells_solution:
        console.print(f"{puzzle.game.move_names[puzzle.solution]}: {puzzle.why.in_words()}")
    console.print()
