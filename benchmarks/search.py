"""How fast the searches are: `python -m benchmarks.search`; prints a table, asserts nothing.

Positions of Connect Four are drawn at random from a fixed seed, without a win at once for the side to move, and each is
solved exactly with an empty table. The baseline is a plain alpha-beta over a dictionary board, as textbooks write it;
it solves the late positions only, and of those as many as it can in the time that it is given. The same idea in C++
(`connect4.cpp`), with bitboards and a table, gets some of each group; it is compiled if there is a compiler.

Of Connect Four and of playouts the time is that of the processor for the thread that searches, so that other work on
the machine matters less.
"""

import argparse
import random
import shutil
import subprocess
import time
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from ttt_net.games import find_game
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies import Limit, find_strategy
from ttt_net.strategies.compiled.connect4_solver import Connect4Search, by_column
from ttt_net.strategies.engine import connect4_search
from ttt_net.strategies.heuristic import own_and_other, wins
from ttt_net.strategies.strategy import Effort

SOURCE = Path(__file__).with_name("connect4.cpp")


def solved_in_cpp(states: Sequence[LineState], seconds: float) -> list[tuple[int, int, float] | None] | None:
    """Return the score, nodes and milliseconds of each position, None for one that takes longer than so many seconds.

    Without a C++ compiler there is no list.
    """
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        return None
    with TemporaryDirectory() as folder:
        program = str(Path(folder) / "connect4")
        subprocess.run([compiler, "-O3", "-o", program, str(SOURCE)], check=True)
        questions = "".join(question(state, seconds) for state in states)
        answers = subprocess.run([program], input=questions, capture_output=True, text=True, check=True).stdout
    return [read(line) for line in answers.splitlines()]


def question(state: LineState, seconds: float) -> str:
    """Return the line that asks for a position's score."""
    own, other = (int(by_column(np.uint64(cells))) for cells in own_and_other(state))
    return f"{own} {own | other} {seconds}\n"


def read(line: str) -> tuple[int, int, float] | None:
    """Return what a line of the program's answer says."""
    if line == "-":
        return None
    score, nodes, microseconds = line.split()
    return int(score), int(nodes), float(microseconds) / 1000


GROUPS = ((28, 36, 200), (14, 27, 200), (6, 13, 40))
"""Fewest and most stones of a group, and how many positions are drawn."""

COMPARED = 30
"""Positions of each group that the textbook in C++ gets, and the seconds that it may take for each."""
CPP_SECONDS = 3.0


class Timed(NamedTuple):
    """One solved position."""

    score: int
    nodes: int
    ms: float


def position(game: LineGame, stones: int, rng: random.Random) -> LineState:
    """Return a position after that many random moves, not over, without a win at once."""
    while True:
        state = game.initial
        while state.ply < stones and not game.is_terminal(state):
            state = game.result(state, rng.choice(game.actions(state)))
        if not game.is_terminal(state) and not wins(game, state, *own_and_other(state)):
            return state


@cache
def the_search() -> Connect4Search:
    """Return the compiled search of Connect Four, loaded."""
    search = connect4_search(Effort(Limit()))
    assert search is not None
    return search


def solved(state: LineState) -> Timed:
    """Solve a position by the compiled search with an empty table; emptying it does not count."""
    the_search().forget()
    effort, started = Effort(Limit()), time.thread_time()
    score = the_search().score(state, effort, -21, 21)
    return Timed(score, effort.nodes, (time.thread_time() - started) * 1000)


Board = dict[tuple[int, int], str]


def has_line(board: Board, x: int, y: int) -> bool:
    """Tell whether the mark at a place is part of four in a row."""
    for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1)):
        count = 1
        for sign in (1, -1):
            at = (x + sign * dx, y + sign * dy)
            while board.get(at) == board[x, y]:
                count += 1
                at = (at[0] + sign * dx, at[1] + sign * dy)
        if count >= 4:
            return True
    return False


def textbook(board: Board, mark: str, alpha: int, beta: int, counts: list[int]) -> int:
    """Return the score for `mark` by plain alpha-beta, counting nodes in `counts[0]`."""
    counts[0] += 1
    stones = len(board)
    if stones == 42:
        return 0
    best = -99
    for x in (3, 2, 4, 1, 5, 0, 6):
        y = next((y for y in range(6) if (x, y) not in board), None)
        if y is None:
            continue
        board[x, y] = mark
        if has_line(board, x, y):
            score = 22 - (stones + 2) // 2
        else:
            score = -textbook(board, "O" if mark == "X" else "X", -beta, -alpha, counts)
        del board[x, y]
        best = max(best, score)
        alpha = max(alpha, best)
        if alpha >= beta:
            break
    return best


def baseline(game: LineGame, states: list[LineState], seconds: float) -> list[Timed]:
    """Solve by the textbook as many of the positions as fit the time."""
    found: list[Timed] = []
    end = time.perf_counter() + seconds
    for state in sorted(states, key=lambda state: -state.ply):
        if time.perf_counter() > end:
            break
        board = {(n % 7, 5 - n // 7): mark for n, mark in enumerate(game.board(state)) if mark != "."}
        counts, started = [0], time.thread_time()
        score = textbook(board, "XO"[game.to_move(state)], -99, 99, counts)
        found.append(Timed(score, counts[0], (time.thread_time() - started) * 1000))
    return found


def row(name: str, times: list[Timed]) -> tuple[str, ...]:
    """Return a row of the table."""
    ms, nodes = [t.ms for t in times], sum(t.nodes for t in times)
    numbers = (f"{mean(ms):.4f}", f"{median(ms):.4f}", f"{max(ms):.2f}", f"{nodes / len(times):,.0f}")
    return (name, str(len(times)), *numbers, f"{nodes / sum(ms) / 1000:.2f}")


def connect4(console: Console, seconds: float, *, empty_board: bool) -> None:
    """Measure exact solutions of Connect Four."""
    game, rng = find_game("connect4"), random.Random(1)
    assert isinstance(game, LineGame)
    solved(position(game, 36, rng))  # loads the engine
    table = Table(
        "positions", "n", "mean ms", "median ms", "max ms", "nodes", "M nodes/s", title="Connect Four, exactly"
    )
    for fewest, most, number in GROUPS:
        states = [position(game, rng.randint(fewest, most), rng) for _ in range(number)]
        table.add_row(*row(f"{fewest} to {most} stones", [solved(state) for state in states]))
        if fewest == GROUPS[0][0]:
            plain = baseline(game, states, seconds)
            same = [solved(state) for state in sorted(states, key=lambda state: -state.ply)[: len(plain)]]
            if [timed.score for timed in plain] != [timed.score for timed in same]:
                raise SystemExit("the textbook and the engine disagree")
            table.add_row(*row("the textbook on the latest of them", plain))
            table.add_row(*row("the engine on the same", same))
            table.add_row(*ratio(plain, same))
        compare_with_cpp(table, states)
    if empty_board:
        table.add_row(*row("the empty board", [solved(game.initial)]))
    console.print(table)


def ratio(slow: list[Timed], fast: list[Timed]) -> tuple[str, ...]:
    """Return the row that says how many times as long the one took as the other."""
    return "ratio", "", f"{sum(timed.ms for timed in slow) / sum(timed.ms for timed in fast):,.1f}"


def compare_with_cpp(table: Table, states: list[LineState]) -> None:
    """Add what the textbook takes in C++ for some of the positions, and the engine for those that it solves."""
    answers = solved_in_cpp(states[:COMPARED], CPP_SECONDS)
    if answers is None:
        table.add_row("the textbook in C++: no compiler here")
        return
    plain = [Timed(*answer) for answer in answers if answer is not None]
    same = [solved(state) for state, answer in zip(states, answers, strict=False) if answer is not None]
    if [timed.score for timed in plain] != [timed.score for timed in same]:
        raise SystemExit("the textbook in C++ and the engine disagree")
    if plain:
        table.add_row(*row(f"the textbook in C++, {len(plain)} of {len(answers)} in time", plain))
        table.add_row(*row("the engine on the same", same))
        table.add_row(*ratio(plain, same))


def first_moves(console: Console) -> None:
    """Measure the first move of each strategy that can be perfect on tic-tac-toe."""
    game = find_game("tictactoe")
    table = Table("strategy", "value", "nodes", "median ms", title="Tic-tac-toe, the first move, plain Python")
    for name in ("table", "minimax", "alphabeta"):
        choices, times = [], []
        for _ in range(5):
            strategy, started = find_strategy(name), time.perf_counter()
            choices.append(strategy(game, game.initial, Limit()))
            times.append((time.perf_counter() - started) * 1000)
        table.add_row(name, str(choices[0].value), f"{choices[0].counts.nodes:,}", f"{median(times):.2f}")
    console.print(table)


PLAYOUTS = (("tictactoe", "tic_tac_toe"), ("connect4", "connect_four"), ("qubic", ""), ("gomoku", "gomoku"))
"""Games, and their names in OpenSpiel."""

ROUNDS = 5
"""How often playouts are counted, ours and OpenSpiel's by turns."""


def playouts(console: Console) -> None:
    """Measure playouts a second of Monte Carlo tree search, beside those of OpenSpiel's C++ if it is installed."""
    table = Table("game", "playouts/s", "OpenSpiel's", "ratio", title="mcts from the empty board, medians")
    for name, strange in PLAYOUTS:
        game = find_game(name)
        find_strategy("mcts")(game, game.initial, Limit(nodes=1))  # loads the engine
        ours, theirs = [], []
        for seed in range(ROUNDS):
            started = time.thread_time()
            counts = find_strategy("mcts", seed=seed)(game, game.initial, Limit(ms=400)).counts
            ours.append(counts.nodes / (time.thread_time() - started))
            if strange and find_spec("pyspiel"):
                theirs.append(openspiel_playouts(strange))
        other = (f"{median(theirs):,.0f}", f"{median(ours) / median(theirs):.1f}") if theirs else ("", "")
        table.add_row(name, f"{median(ours):,.0f}", *other)
    console.print(table)


def openspiel_playouts(name: str) -> float:
    """Return the playouts a second of OpenSpiel's search in C++, its solver off as that makes it faster."""
    spiel = import_module("pyspiel")
    game, number = spiel.load_game(name), 2_000
    bot = spiel.MCTSBot(game, spiel.RandomRolloutEvaluator(1, 7), 2.0, number, 1000, False, 7, False)
    started = time.thread_time()
    bot.step(game.new_initial_state())
    return float(number / (time.thread_time() - started))


def line_games(console: Console) -> None:
    """Measure how long it takes to know the values of small line games."""
    table = Table("game", "value", "nodes", "CPU ms", "M nodes/s", title="Line games from the empty board, exactly")
    find_strategy("alphabeta")(find_game("mnk:4x4,4"), find_game("mnk:4x4,4").initial, Limit())  # loads the engine
    for name in ("tictactoe3d", "mnk:4x4,4", "mnk:5x4,4", "mnk:5x5,4", "mnk:6x5,4", "mnk:5x5,5", "mnk:6x6,5"):
        game, started = find_game(name), time.process_time()
        choice = find_strategy("alphabeta", seed=1)(game, game.initial, Limit())
        ms = (time.process_time() - started) * 1000
        speed = f"{choice.counts.nodes / ms / 1000:.1f}"
        table.add_row(name, f"{choice.value:,}", f"{choice.counts.nodes:,}", f"{ms:.1f}", speed)
    console.print(table)


def main() -> None:
    """Run all measurements."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search", description=__doc__)
    parser.add_argument("--baseline-seconds", type=float, default=10, help="for the textbook (default %(default)s)")
    parser.add_argument(
        "--empty-board", action="store_true", help="solve the empty board too, which takes half a minute"
    )
    args = parser.parse_args()
    console = Console()
    if not console.is_terminal:
        console.width = 120
    first_moves(console)
    playouts(console)
    line_games(console)
    connect4(console, args.baseline_seconds, empty_board=args.empty_board)


if __name__ == "__main__":
    main()
