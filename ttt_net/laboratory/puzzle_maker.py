"""`puzzles`: find and grade positions in which, provably, exactly one move wins or exactly one does not lose."""

import argparse
import datetime
import json
import random
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from rich.console import Console

from ttt_net.commands.analyse import show_position
from ttt_net.commands.searching import load_engine, positive
from ttt_net.errors import ConfigurationError
from ttt_net.games import Game, Move, find_game
from ttt_net.games.notation import write_position
from ttt_net.strategies.analysis import Kept, Verdict, analyse
from ttt_net.strategies.heuristic import is_line_game
from ttt_net.strategies.lessons.explanation import Explanation, ExplanationKind, in_moves
from ttt_net.strategies.lessons.hints import hint
from ttt_net.strategies.lessons.sight import look
from ttt_net.strategies.strategy import Limit
from ttt_net.strategies.tactics import Tactics

CARELESS = 0.35
"""The probability of a random move in the generated matches."""
LATEST = 0.9
"""The maximal part of the board that is filled."""
EARLIEST = {"connect4": 14}
"""The minimal number of marks for fast proofs, by game; 2 in others."""
MOST_CELLS = 64
"""The cells of the largest board on which every move can be proved to win or not."""
NODES = 400_000
"""The maximal number of nodes for proving all moves of a position."""
EASY_SHARE = 0.2
"""The part of the easiest puzzles to keep, because they are the most frequent."""
MOST_TRIED = 3_000
"""The number of positions without a puzzle after which the search gives up."""


class Puzzle(NamedTuple):
    """A position with one solution, which wins if `is_win`, and otherwise is the only move that does not lose.

    `plies` is the number of plies until the win is complete, or until the loss after the best other move. `grade` is
    from 1, seen at a glance, to 5.
    """

    game: Game[Any]
    state: Any
    solution: Move
    is_win: bool
    plies: int
    grade: int
    why: Explanation

    def as_json(self) -> dict[str, object]:
        """Return the puzzle as a JSON object."""
        game, state = self.game, self.state
        return {
            "game": game.name,
            "position": write_position(game, state),
            "to_move": game.marks(state)[game.to_move(state)],
            "solution": game.move_names[self.solution],
            "kind": "win" if self.is_win else "save",
            "plies": self.plies,
            "grade": self.grade,
            "why": self.why.in_words(),
            "explanation": self.why.as_json(),
        }


def puzzles(games: Sequence[Game[Any]], seed: int) -> Iterator[Puzzle]:
    """Yield different puzzles, alternating between the games. Raises `ConfigurationError` if a game has no more."""
    rng = random.Random(seed)
    kept = {game.name: Kept(line_plies=0) for game in games}
    seen = set[tuple[str, Any]]()
    for game in games:
        require_puzzles(game)
    while True:
        for game in games:
            found = _next(game, rng, kept[game.name], seen)
            seen.add((game.name, found.state))
            yield found


def require_puzzles(game: Game[Any]) -> None:
    """Raise `ConfigurationError` unless a game can have puzzles."""
    if not is_line_game(game):
        raise ConfigurationError(f"there are puzzles of games that are won by a line, and not of {game.name}")
    if game.size > MOST_CELLS:
        raise ConfigurationError(f"{game.name} is too large to prove what every move is worth; puzzles are proved")


def _next(game: Game[Any], rng: random.Random, kept: Kept, seen: set[tuple[str, Any]]) -> Puzzle:
    tried = 0
    while tried < MOST_TRIED:
        for state in _positions(game, rng):
            tried += 1
            if (game.name, state) in seen:
                continue
            found = puzzle_in(game, state, kept)
            if found is not None and (found.grade > 1 or rng.random() < EASY_SHARE):
                return found
    raise ConfigurationError(f"no more puzzles of {game.name} were found in {MOST_TRIED:,} positions")


def _positions(game: Game[Any], rng: random.Random) -> Iterator[Any]:
    """Yield the positions of a carelessly played match, each with a probability of one third."""
    player, state, marks = Tactics(rng), game.initial, 0
    cells = len(game.move_cells)
    while not game.is_terminal(state) and marks < cells * LATEST:
        if marks >= EARLIEST.get(game.name, 2) and len(game.actions(state)) > 2 and rng.random() < 1 / 3:
            yield state
        is_careless = rng.random() < CARELESS
        move = rng.choice(list(game.actions(state))) if is_careless else player(game, state).move
        state, marks = game.result(state, move), marks + 1


def puzzle_in(game: Game[Any], state: Any, kept: Kept | None = None) -> Puzzle | None:  # noqa: ANN401 - any game's state
    """Return the puzzle of a position, or None if it is not provably one.

    A position with a threat that must be blocked in one cell is not a puzzle if blocking also happens to win.
    """
    found = analyse(game, state, Limit(nodes=NODES), kept)
    results = {move: verdict.result for move, verdict in found.moves.items()}
    if any(result is None for result in results.values()):
        return None
    for is_win, wanted in ((True, {1}), (False, {0, 1})):
        solutions = [move for move, result in results.items() if result in wanted]
        if len(solutions) == 1:
            move = solutions[0]
            if is_win and found.moves[move].plies != 1 and look(game, state).threats:
                return None
            others = [verdict for other, verdict in found.moves.items() if other != move]
            plies = found.moves[move].plies if is_win else max(verdict.plies or 0 for verdict in others)
            if plies is None:
                return None
            grade = _grade(plies if is_win else plies - 1)
            return Puzzle(game, state, move, is_win, plies, grade, _why(game, state, move, found.moves, is_win=is_win))
        if solutions and is_win:
            return None
    return None


def _grade(plies: int) -> int:
    """Return the difficulty of a win in this many plies."""
    return sum(plies > most for most in (1, 3, 5, 9)) + 1


def _why(game: Game[Any], state: Any, move: Move, moves: dict[Move, Verdict], *, is_win: bool) -> Explanation:  # noqa: ANN401
    """Return why a move is the solution."""
    seen = hint(game, state)
    if seen is not None and seen.moves == (move,):
        return seen.why
    names = (game.move_names[move],)
    if is_win:
        return Explanation(ExplanationKind.ONLY_WIN, names, plies=moves[move].plies)
    return Explanation(ExplanationKind.ONLY_DRAW, names)


GAMES = ("connect4", "tictactoe", "tictactoe3d")
"""The games of puzzles, in turn, if none is named."""
GRADES = ("", "at a glance", "easy", "middling", "hard", "very hard")


def add_puzzles_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    parser.add_argument("--count", type=positive, default=1, metavar="N", help="how many (default %(default)s)")
    parser.add_argument("--seed", type=int, metavar="S", help="what they follow from (default: the date of today)")
    parser.add_argument("--game", action="append", metavar="GAME", help=f"of which game (default: {', '.join(GAMES)})")
    parser.add_argument("--solution", action="store_true", help="tell the solutions, too")
    parser.add_argument("--json", action="store_true", help="one JSON object a line, with the solution")


def run_puzzles(args: argparse.Namespace) -> int:
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
    question = f"Win {in_moves(puzzle.plies)}." if puzzle.is_win else "Find the one move that does not lose."
    console.print(question)
    if tells_solution:
        console.print(f"{puzzle.game.move_names[puzzle.solution]}: {puzzle.why.in_words()}")
    console.print()
