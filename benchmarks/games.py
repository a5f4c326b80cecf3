"""How fast the rules are, next to the textbook's board in a dictionary.

`python -m benchmarks.games` prints two tables and the time of a full minimax. Both boards are led along the same random
plays, each measurement the best of several, on one core:

- *walk*: at each position of a play, what are the moves (`actions`), make the next one (`result`), is it over
  (`is_terminal`);
- *expand*: at each position of a play, what are the moves, and for every one of them: make it, is it over. That is
  what a search does at a node, and is counted per position that was made.
"""

import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from rich.console import Console
from rich.table import Table

from ttt_net.games import find_game
from ttt_net.games.catalogue import NAMES
from ttt_net.games.game import Game

REPEATS = 3
PLAYS = {"gomoku": 8, "mnk:19x19,5": 4, "ultimate": 10, "qubic": 15, "scorefour": 15}
COMPARED = {"tictactoe": (3, 3, 3), "mnk:5x5,4": (5, 5, 4), "gomoku": (15, 15, 5), "mnk:19x19,5": (19, 19, 5)}
"""Width, height and k of the games that the dictionary can play too."""


class Board(defaultdict[Any, str]):
    """The textbook's position: marks by (x, y), whose turn, and the utility to X.

    After the notebook games4e of github.com/aimacode/aima-python, to Russell and Norvig, "Artificial Intelligence:
    A Modern Approach".
    """

    def __init__(self, width: int, height: int, to_move: str, utility: int = 0) -> None:
        super().__init__()
        self.width, self.height, self.to_move, self.utility = width, height, to_move, utility

    def new(self, changes: dict[tuple[int, int], str], to_move: str) -> "Board":
        """Return a copy with some changes."""
        board = Board(self.width, self.height, to_move)
        board.update(self)
        board.update(changes)
        return board

    def __missing__(self, place: tuple[int, int]) -> str:
        x, y = place
        return "." if 0 <= x < self.width and 0 <= y < self.height else "#"


class DictionaryGame:
    """The textbook's tic-tac-toe of any size."""

    def __init__(self, width: int, height: int, k: int) -> None:
        self.k = k
        self.squares = {(x, y) for x in range(width) for y in range(height)}
        self.initial = Board(width, height, "X")

    def actions(self, board: Board) -> set[tuple[int, int]]:
        """Return the empty squares."""
        return self.squares - set(board)

    def result(self, board: Board, square: tuple[int, int]) -> Board:
        """Return the position after a mark in `square`."""
        player = board.to_move
        board = board.new({square: player}, to_move="O" if player == "X" else "X")
        win = k_in_row(board, player, square, self.k)
        board.utility = 0 if not win else +1 if player == "X" else -1
        return board

    def is_terminal(self, board: Board) -> bool:
        """Tell whether somebody has won or the board is full."""
        return board.utility != 0 or len(self.squares) == len(board)


def k_in_row(board: Board, player: str, square: tuple[int, int], k: int) -> bool:
    """Tell whether the player has k in a line through the square."""

    def in_row(x: int, y: int, dx: int, dy: int) -> int:
        return 0 if board[x, y] != player else 1 + in_row(x + dx, y + dy, dx, dy)

    return any(
        in_row(*square, dx, dy) + in_row(*square, -dx, -dy) - 1 >= k for dx, dy in ((0, 1), (1, 0), (1, 1), (1, -1))
    )


def random_plays(game: Game[Any]) -> list[list[int]]:
    """Return some random plays as moves, the same ones each time."""
    rng = random.Random(game.name)
    plays = []
    for _ in range(PLAYS.get(game.name, 40)):
        state, moves = game.initial, list[int]()
        while not game.is_terminal(state):
            moves.append(rng.choice(game.actions(state)))
            state = game.result(state, moves[-1])
        plays.append(moves)
    return plays


def walk(game: Any, plays: list[list[Any]]) -> int:  # noqa: ANN401 - either kind of game
    """Lead the game along the plays and return the number of positions made."""
    for moves in plays:
        state = game.initial
        for move in moves:
            game.actions(state)
            state = game.result(state, move)
            game.is_terminal(state)
    return sum(map(len, plays))


def expand(game: Any, plays: list[list[Any]]) -> int:  # noqa: ANN401 - either kind of game
    """Make all moves at each position of the plays and return the number of positions made."""
    made = 0
    for moves in plays:
        state = game.initial
        for move in moves:
            for action in game.actions(state):
                game.is_terminal(game.result(state, action))
                made += 1
            state = game.result(state, move)
    return made


Work = Callable[[Any, list[list[Any]]], int]


def microseconds(work: Work, game: Any, plays: list[list[Any]]) -> float:  # noqa: ANN401 - either kind of game
    """Return the time per position, the best of several."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        positions = work(game, plays)
        times.append((time.perf_counter() - start) / positions * 1e6)
    return min(times)


def rows(work: Work) -> Iterator[tuple[str, float, float | None]]:
    """Yield name, our time and the dictionary's time for every game."""
    for name in (*NAMES, "mnk:5x5,4", "mnk:19x19,5", "tictactoe3d+swap"):
        game = find_game(name)
        plays = random_plays(game)
        theirs = None
        if name in COMPARED:
            width, height, k = COMPARED[name]
            squares = [[(move % width, move // width) for move in moves] for moves in plays]
            theirs = microseconds(work, DictionaryGame(width, height, k), squares)
        yield name, microseconds(work, game, plays), theirs


def minimax(game: Game[Any]) -> tuple[int, int]:
    """Return the value of the game to side 0 and the nodes visited, by plain minimax through the public interface."""
    nodes = 0

    def value(state: Any) -> int:  # noqa: ANN401 - each game has its own positions
        nonlocal nodes
        nodes += 1
        if game.is_terminal(state):
            return game.utility(state, 0)
        after = [value(game.result(state, move)) for move in game.actions(state)]
        return max(after) if game.to_move(state) == 0 else min(after)

    return value(game.initial), nodes


def main() -> None:
    """Measure, and print the tables."""
    console = Console(highlight=False)
    for work in (walk, expand):
        table = Table("game", title=f"{work.__name__}: microseconds per position", title_justify="left", box=None)
        for heading in ("ttt_net", "dictionary", "times as fast"):
            table.add_column(heading, justify="right")
        for name, ours, theirs in rows(work):
            compared = (f"{theirs:.2f}", f"{theirs / ours:.1f}") if theirs is not None else ("", "")
            table.add_row(name, f"{ours:.2f}", *compared)
        console.print(table, "")
    start = time.perf_counter()
    value, nodes = minimax(find_game("tictactoe"))
    console.print(f"full minimax of tictactoe: {nodes:,} nodes, value {value}, {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    main()
