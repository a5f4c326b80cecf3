"""Every strategy against every possible opponent, and the page that says how it went.

`python -m tests.strategies.sweep` writes the table of docs/strategies.md anew.
"""

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from ttt_net.games import Game, Move, Side, find_game
from ttt_net.strategies import NAMES, Limit, Strategy, engine, find_strategy

PAGE = Path(__file__).parents[2] / "docs" / "strategies.md"
BEGIN, END = "<!-- generated: begin -->\n", "<!-- generated: end -->\n"

ENOUGH = Limit(nodes=60_000)
"""In nodes and not in time, and in plain Python, so that the page is the same on every machine."""


class Record(NamedTuple):
    """How a strategy's games ended."""

    won: int = 0
    drawn: int = 0
    lost: int = 0


def record(game: Game[Any], strategy: Strategy, side: Side) -> Record:
    """Play one side against every move that the other side can make, and count the ends of all those games."""
    replies: dict[Any, Move] = {}
    ends = [0, 0, 0]

    def play_on(state: Any) -> None:
        if game.is_terminal(state):
            ends[1 - game.utility(state, side)] += 1
            return
        if game.to_move(state) != side:
            moves = game.actions(state)
        else:
            if state not in replies:
                replies[state] = strategy(game, state, ENOUGH).move
            moves = (replies[state],)
        for move in moves:
            play_on(game.result(state, move))

    play_on(game.initial)
    return Record(*ends)


@cache
def records(name: str) -> tuple[Record, Record]:
    """Return a strategy's record as X and as O, on the board of tic-tac-toe."""
    game = find_game("tictactoe")
    with patch.object(engine, "is_installed", lambda: False):
        return record(game, find_strategy(name, seed=1), 0), record(game, find_strategy(name, seed=1), 1)


def row(name: str) -> str:
    """Return a strategy's row of the table."""
    as_x, as_o = records(name)
    cells = (f"`{name}`", find_strategy(name).idea, ", ".join(map(str, as_x)), ", ".join(map(str, as_o)))
    return f"| {' | '.join(cells)} |"


def table() -> str:
    """Return the records as a table in Markdown."""
    rows = ["| strategy | how it thinks | as X: won, drawn, lost | as O: won, drawn, lost |", "|---|---|--:|--:|"]
    return "\n".join((*rows, *map(row, NAMES))) + "\n"


def page() -> str:
    """Return the page with its table as it should be."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return before + BEGIN + table() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
