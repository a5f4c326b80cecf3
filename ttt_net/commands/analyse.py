"""`analyse`: what a position is worth, move by move, and how a search comes to know it."""

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from rich.console import Console

from ttt_net.commands import analyse_view as view
from ttt_net.commands.searching import add_limits, limit_of, load_engine, positive, show_table
from ttt_net.engines.external import find_player
from ttt_net.errors import ConfigurationError, Refusal
from ttt_net.games import Game, find_game
from ttt_net.games.line import LineState
from ttt_net.games.notation import read_move, read_position, write_position
from ttt_net.strategies import NAMES, Limit, find_strategy
from ttt_net.strategies.analysis import Verdict, analyse, solver_score
from ttt_net.strategies.lookahead import DEFAULT_DEPTH, line_up_value
from ttt_net.strategies.magic import Magic, subtraction
from ttt_net.strategies.minimax import MAX_CELLS, Minimax
from ttt_net.strategies.strategy import WIN, Choice, Counts, S, require_playable
from ttt_net.strategies.threats import is_line_game
from ttt_net.strategies.tree import ORDERS, TreeNode, grow, ranks_of, recommended

MOST_SHOWN = 5_000
"""Positions of a tree that is drawn; a larger one is no longer looked at by anyone."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    parser.add_argument("--game", default="tictactoe", help="which game (default %(default)s)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--position", metavar="P", help="a position such as 'X.O/.X./..O'; - reads one a line")
    where.add_argument("--moves", metavar="M", help="the moves that lead to the position, such as 'b2 a1'")
    where.add_argument(
        "--match", metavar="FILE|ID", help="a file of records (- reads one), the id of a match here, or local"
    )
    parser.add_argument("--number", type=positive, metavar="N", help="which record of the file, counted from 1")
    parser.add_argument(
        "--match-time", type=positive, default=20_000, metavar="MS", help="milliseconds a match (default %(default)s)"
    )
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="where the server keeps its matches")
    parser.add_argument(
        "--strategy", metavar="WHO", help=f"who chooses the move: {', '.join(NAMES)}, or engine:COMMAND"
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--tree", action="store_true", help="draw the tree of positions, with what was cut off and why")
    how.add_argument("--trace", action="store_true", help="list the boards in the order in which they are visited")
    how.add_argument("--states", action="store_true", help="list the states of the game tree with their values")
    how.add_argument("--compare", action="store_true", help="set what each strategy does side by side")
    how.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument(
        "--order", metavar="O", help=f"which moves a tree tries first: {', '.join(ORDERS)}, or moves such as 'b2 a1'"
    )
    add_limits(parser, move_time=10_000)


def run(args: argparse.Namespace) -> int:
    """Answer the question that the options ask; return the exit status."""
    game, limit = find_game(args.game), limit_of(args)
    if args.match is None and (args.number is not None or args.data is not None):
        raise ConfigurationError("--number and --data say which match; they go with --match")
    if args.order is not None and not (args.tree or args.trace or args.states or args.compare):
        raise ConfigurationError("--order is for --tree, --trace, --states and --compare")
    if args.match is not None:
        # Matches come from a server's journal: who analyses positions does not have to load a server.
        from ttt_net.commands.analyse_match import show_match

        show_match(args, limit)
        return 0
    if args.position == "-":
        load_engine(game)
        return answer_lines(game, sys.stdin, limit)
    if args.moves is not None:
        state = after_moves(game, args.moves)
    else:
        state = game.initial if args.position is None else read_position(game, args.position)
    if args.tree or args.trace or args.states:
        show_tree(args, game, state)
        return 0
    load_engine(game)
    if args.json:
        print(json.dumps(answer(game, state, limit)))
    elif args.compare:
        rows = compare(game, state, limit, args.seed)
        if args.order is not None:
            rows = chain(rows, compare_orders(args, game, state))
        show_table(Console(), view.comparison(game, rows))
    elif args.strategy:
        strategy = find_player(args.strategy, seed=args.seed)
        choice = strategy(game, state, limit)
        sums = None
        if args.strategy == Magic.name and is_line_game(game) and isinstance(state, LineState):
            sums = subtraction(game, state)
        view.show_choice(Console(), game, state, choice, sums)
    else:
        view.show_analysis(Console(), game, state, analyse(game, state, limit))
    return 0


def after_moves(game: Game[S], text: str) -> S:
    """Return the position after the moves in a text, parted by spaces. Raises `Refusal` if one is bad."""
    state = game.initial
    for word in text.split():
        state = game.result(state, read_move(game, state, word))
    return state


def answer_lines(game: Game[Any], lines: Iterable[str], limit: Limit) -> int:
    """Answer each line, a position or `moves ...`, with one line of JSON; return the exit status."""
    for line in lines:
        text = line.strip("\r\n")
        try:
            if text.split()[:1] == ["moves"]:
                state = after_moves(game, text.split(maxsplit=1)[1] if " " in text.strip() else "")
            else:
                state = read_position(game, text)
            print(json.dumps(answer(game, state, limit)), flush=True)
        except Refusal as refused:
            print(json.dumps({"error": str(refused)}), flush=True)
    return 0


def answer(game: Game[S], state: S, limit: Limit) -> dict[str, object]:
    """Return the analysis of a position as JSON holds it; `value` and `score` are from the side to move."""
    analysis = analyse(game, state, limit)

    def judged(verdict: Verdict) -> dict[str, object]:
        return {"value": verdict.result, "plies": verdict.plies, "exact": verdict.exact}

    return {
        "game": game.name,
        "position": write_position(game, state),
        "to_move": view.mark_of(game, state, analysis.side),
        "value": analysis.verdict.result,
        "score": solver_score(game, state, analysis.verdict),
        "best": [game.move_names[move] for move in analysis.best],
        "moves": {game.move_names[move]: judged(verdict) for move, verdict in analysis.moves.items()},
        "exact": analysis.verdict.exact,
        "nodes": analysis.counts.nodes,
        "ms": round(analysis.counts.ms, 3),
    }


def show_tree(args: argparse.Namespace, game: Game[S], state: S) -> None:
    """Print the tree from a position in one of its three views."""
    strategy, depth = args.strategy or "alphabeta", args.depth
    if strategy not in ("minimax", "alphabeta", "lookahead"):
        raise ConfigurationError(f"{strategy} grows no tree; minimax, alphabeta and lookahead do")
    if strategy == "lookahead":
        require_playable(find_strategy(strategy), game, state)
        root: TreeNode[Any] = grow(
            game, state, prune=False, depth=depth or DEFAULT_DEPTH, worth=line_ups(game), ranks=ranks_asked(args, game)
        )
    else:
        root = grow(game, state, prune=strategy == "alphabeta", depth=depth, ranks=ranks_asked(args, game))
    console = Console(highlight=False, soft_wrap=True)
    if args.tree:
        if sum(1 for _ in root.walk()) > MOST_SHOWN:
            raise ConfigurationError(f"the tree has more than {MOST_SHOWN:,} positions; limit it with --depth")
        console.print(view.search_tree(game, root))
    else:
        for line in view.trace(game, root) if args.trace else view.states(game, root):
            console.print(line, markup=False)


def ranks_asked(args: argparse.Namespace, game: Game[Any]) -> list[float] | None:
    """Return the ranks of moves that `--order` asks for, or None."""
    return None if args.order is None else ranks_of(game, args.order, random.Random(args.seed))


def line_ups(game: Game[Any]) -> Callable[[Any], int]:
    """Return the line-up value to X of a position of the game."""
    assert is_line_game(game)
    return lambda state: line_up_value(game, state, 0)


def compare(game: Game[S], state: S, limit: Limit, seed: int | None) -> Iterator[view.Compared]:
    """Yield what each strategy that plays the game chooses, and what that costs it."""
    for name in NAMES:
        strategy = find_strategy(name, seed=seed)
        if strategy.objection(game) is None:
            yield view.Compared(name, strategy(game, state, limit))
        if name == "minimax" and game.board(state).count(".") <= MAX_CELLS - 3 and not strategy.objection(game):
            plain = Minimax(random.Random(seed), uses_table=False)
            yield view.Compared("minimax, no table", plain(game, state, limit))


def compare_orders(args: argparse.Namespace, game: Game[S], state: S) -> Iterator[view.Compared]:
    """Yield what alpha-beta without a table chooses and costs: by the order of the cells, and by the one asked for.

    Of a win it knows no more than that it comes before the board is full.
    """
    if game.is_terminal(state):
        return
    for order in dict.fromkeys(("rows", args.order)):
        started = time.perf_counter()
        root = grow(game, state, prune=True, depth=args.depth, ranks=ranks_of(game, order, random.Random(args.seed)))
        ms = (time.perf_counter() - started) * 1000
        nodes = sum(1 for _ in root.walk())
        cuts = sum(1 for node in root.walk() if node.cut)
        move, sign = recommended(root)[0], -1 if game.to_move(state) else 1
        value = None if args.depth else sign * root.value * (WIN - game.board(state).count("."))
        counts = Counts(nodes, nodes - 1, nodes, cuts, ms=ms)
        yield view.Compared(f"alpha-beta: {order}", Choice(move, value, (move,), counts, exact=value == 0))
