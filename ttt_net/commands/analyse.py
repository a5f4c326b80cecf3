"""`analyse`: the value of each move in a position, or of each move of a recorded match, in tables and sentences."""

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.progress import track
from rich.table import Table
from rich.tree import Tree

from ttt_net.commands.recorded_matches import chosen, load_each
from ttt_net.commands.searching import (
    add_limits,
    limit_of,
    load_engine,
    load_engine_for_review,
    new_table,
    positive,
    show_table,
)
from ttt_net.engines.external import find_player
from ttt_net.errors import ConfigurationError, Refusal
from ttt_net.games import Game, Move, Side, find_game
from ttt_net.games.line import LineState
from ttt_net.games.notation import read_move, read_position, write_position
from ttt_net.games.records import Record, first_position
from ttt_net.server.settings.configuration import DEFAULT_DATA
from ttt_net.strategies import NAMES, Limit, find_strategy
from ttt_net.strategies.analysis import Analysis, Verdict, analyse, solver_score
from ttt_net.strategies.explanation import named
from ttt_net.strategies.heuristic import is_line_game
from ttt_net.strategies.review import Lesson, Reviewed, glance, lesson_of, review, winner_of
from ttt_net.strategies.strategy import ALMOST_DECIDED, WIN, Choice, Counts, S, require_playable
from ttt_net.strategies.textbook import (
    DEFAULT_DEPTH,
    MAX_CELLS,
    ORDERS,
    Minimax,
    TreeNode,
    grow,
    line_up_value,
    ranks_of,
    recommended,
)
from ttt_net.strategies.tictactoe import Magic, subtraction
from ttt_net.text import counted

MOST_ROWS = 25
"""The number of moves with a row of their own; worse moves share a row, so that the board stays on the screen."""


class Compared(NamedTuple):
    """A strategy's name and its choice."""

    name: str
    choice: Choice


def written(game: Game[Any], moves: Iterable[Move]) -> str:
    """Return moves as text, separated by spaces."""
    return " ".join(game.move_names[move] for move in moves)


def mark_of(game: Game[S], state: S, side: Side) -> str:
    """Return the mark that a side places; X for the first and O for the second side if it may choose."""
    mark = game.marks(state)[side]
    return mark if len(mark) == 1 else "XO"[side]


def in_words(verdict: Verdict) -> str:
    """Return a verdict in words: `win in 5`, `win in 9 at most`, `draw`, `looks lost`, or an estimate."""
    if verdict.plies is not None:
        end = f"{verdict.plies}{'' if verdict.exact else ' at most'}"
        return f"{'win' if verdict.result == 1 else 'loss'} in {end}" if verdict.plies else "over"
    if verdict.exact:
        return "draw"
    if abs(verdict.value) >= ALMOST_DECIDED:
        return f"looks {'won' if verdict.value > 0 else 'lost'}"
    return f"about {verdict.value:+d}"


def show_position(console: Console, game: Game[S], state: S) -> None:
    """Print the board, layer by layer, and whose move it is."""
    board, width, height = game.board(state), game.shape[-1], game.shape[-2]
    for start in range(0, len(board), width):
        if start and start % (width * height) == 0:
            console.print()
        console.print(" ".join(board[start : start + width]), highlight=False)
    if (outcome := game.outcome(state)) is not None:
        won = "drawn" if outcome.winner is None else f"won by {mark_of(game, state, outcome.winner)}"
        console.print(f"The game is over: {won}.")
    else:
        console.print(f"{mark_of(game, state, game.to_move(state))} to move.")


def show_analysis(console: Console, game: Game[S], state: S, analysis: Analysis) -> None:
    """Print the board, every move with its value, the recommended moves and their continuation."""
    show_position(console, game, state)
    if not analysis.moves:
        return
    table = Table("move", "value", "then")
    ranked = sorted(analysis.moves.items(), key=lambda item: (-item[1].value, item[0]))
    for move, verdict in ranked[:MOST_ROWS]:
        style = "bold" if move in analysis.best else ""
        table.add_row(game.move_names[move], in_words(verdict), written(game, verdict.line[1:]), style=style)
    if rest := ranked[MOST_ROWS:]:
        values = dict.fromkeys(in_words(verdict) for _, verdict in (rest[0], rest[-1]))
        table.add_row(f"{len(rest)} more", " to ".join(values))
    console.print(table)
    console.print(f"Best: {named(game, analysis.best)} ({in_words(analysis.verdict)})")
    console.print(f"Line: {written(game, analysis.verdict.line)}")
    console.print(cost(analysis.counts))


def show_choice(console: Console, game: Game[S], state: S, choice: Choice, sums: str | None = None) -> None:
    """Print the board, and the choice of one strategy; `sums` explains the choice in numbers."""
    show_position(console, game, state)
    console.print(f"Move: {game.move_names[choice.move]} ({judged(choice)})")
    if sums is not None:
        console.print(f"By subtraction: {sums}")
    if choice.line:
        console.print(f"Line: {written(game, choice.line)}")
    console.print(cost(choice.counts))


def judged(choice: Choice) -> str:
    """Return a strategy's evaluation of its choice, in words."""
    if choice.value is None:
        return "not judged"
    return in_words(Verdict(choice.value, choice.exact, choice.line))


def cost(counts: Counts) -> str:
    """Return the cost of a search, in a sentence."""
    return (
        f"{counted(counts.nodes, 'node')}, {counted(counts.results, 'move')} made, "
        f"{counted(counts.tests, 'test')} for an end, {counted(counts.cuts, 'cut')}, "
        f"{counts.hits:,} found in the table, {counted(counts.depth, 'ply', 'plies')} deep, {counts.ms:.1f} ms"
    )


def comparison(game: Game[Any], rows: Iterable[Compared]) -> Table:
    """Return the choices of several strategies side by side."""
    table = new_table("strategy")
    for column in ("move", "value"):
        table.add_column(column)
    for column in ("result\nstates", "terminal\ntests", "nodes", "cuts", "table\nhits", "ms"):
        table.add_column(column, justify="right")
    for name, choice in rows:
        counts = choice.counts
        numbers = (counts.results, counts.tests, counts.nodes, counts.cuts, counts.hits)
        cells = [f"{number:,}" for number in numbers]
        table.add_row(name, game.move_names[choice.move], judged(choice), *cells, f"{counts.ms:.1f}")
    return table


def search_tree(game: Game[Any], root: TreeNode[Any]) -> Tree:
    """Return the tree to print: each position with its value for X, and the reason of each cutoff."""
    tree = Tree(f"{escape(write_position(game, root.state))} = {root.value:+d}")

    def add(branch: Tree, node: TreeNode[Any]) -> None:
        for child in node.children:
            assert child.move is not None
            label = f"{game.move_names[child.move]}  {escape(write_position(game, child.state))} = {child.value:+d}"
            add(branch.add(label + (" (over)" if child.is_terminal else "")), child)
        if node.window is not None:
            alpha, beta = node.window
            who = "X" if game.to_move(node.state) == 0 else "O"
            branch.add(
                f"{written(game, node.cut)} cut: {who} has {node.value:+d} here already, and alpha {alpha:+.0f} is not "
                f"below beta {beta:+.0f}"
            )

    add(tree, root)
    tree.add(f"recommended: {game.move_names[recommended(root)[0]]}" if root.children else "over")
    return tree


def trace(game: Game[Any], root: TreeNode[Any]) -> Iterator[str]:
    """Yield the boards in the order visited, terminal ones with their utility, and finally the move and its utility.

    A board that was visited before, by other moves, refers to that visit: a search without a table searches it again.
    Utilities are from the view of the side to move at the root, who runs the search.
    """
    side = game.to_move(root.state)
    seen: dict[str, int] = {}
    for number, node in enumerate(root.walk(), 1):
        utility = f"  utility {game.utility(node.state, side)}" if node.is_terminal else ""
        board = write_position(game, node.state)
        again = f"  again, as {seen[board]}." if board in seen else ""
        seen.setdefault(board, number)
        yield f"{number}. {board}{utility}{again}"
    if root.children:
        value = -root.value if side else root.value
        yield f"{mark_of(game, root.state, side)} plays {game.move_names[recommended(root)[0]]}, utility {value}"


def states(game: Game[Any], root: TreeNode[Any]) -> Iterator[str]:
    """Yield each visited state with its value: 1 won by X, -1 by O, 0 drawn."""
    for node in root.walk():
        cells = ",".join(game.board(node.state).replace(".", " "))
        yield f"State=[{cells}], Value={node.value}"


MOST_SHOWN = 5_000
"""The maximal number of positions in a drawn tree."""


def add_analyse_arguments(parser: argparse.ArgumentParser) -> None:
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


def run_analyse(args: argparse.Namespace) -> int:
    """Answer the question of the options; return the exit status."""
    game, limit = find_game(args.game), limit_of(args)
    if args.match is None and (args.number is not None or args.data is not None):
        raise ConfigurationError("--number and --data say which match; they go with --match")
    if args.order is not None and not (args.tree or args.trace or args.states or args.compare):
        raise ConfigurationError("--order is for --tree, --trace, --states and --compare")
    if args.match is not None:
        show_match(args, limit)
    elif args.position == "-":
        load_engine(game)
        return answer_lines(game, sys.stdin, limit)
    else:
        answer_question(args, game, limit)
    return 0


def answer_question(args: argparse.Namespace, game: Game[Any], limit: Limit) -> None:
    """Print the answer about one position: its tree, a comparison, a strategy's choice, or each move's value."""
    if args.moves is not None:
        state = after_moves(game, args.moves)
    else:
        state = game.initial if args.position is None else read_position(game, args.position)
    if args.tree or args.trace or args.states:
        show_tree(args, game, state)
        return
    load_engine(game)
    if args.json:
        print(json.dumps(answer(game, state, limit)))
    elif args.compare:
        rows = compare(game, state, limit, args.seed)
        if args.order is not None:
            rows = chain(rows, compare_orders(args, game, state))
        show_table(Console(), comparison(game, rows))
    elif args.strategy:
        choice = find_player(args.strategy, seed=args.seed)(game, state, limit)
        sums = None
        if args.strategy == Magic.name and is_line_game(game) and isinstance(state, LineState):
            sums = subtraction(game, state)
        show_choice(Console(), game, state, choice, sums)
    else:
        show_analysis(Console(), game, state, analyse(game, state, limit))


def after_moves(game: Game[S], text: str) -> S:
    """Return the position after the moves in a text, separated by spaces. Raises `Refusal` if a move is illegal."""
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
    """Return the analysis of a position for JSON; `value` and `score` are from the view of the side to move."""
    analysis = analyse(game, state, limit)

    def judged(verdict: Verdict) -> dict[str, object]:
        return {"value": verdict.result, "plies": verdict.plies, "exact": verdict.exact}

    return {
        "game": game.name,
        "position": write_position(game, state),
        "to_move": mark_of(game, state, analysis.side),
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
        console.print(search_tree(game, root))
    else:
        for line in trace(game, root) if args.trace else states(game, root):
            console.print(line, markup=False)


def ranks_asked(args: argparse.Namespace, game: Game[Any]) -> list[float] | None:
    """Return the ranks of moves for `--order`, or None."""
    return None if args.order is None else ranks_of(game, args.order, random.Random(args.seed))


def line_ups(game: Game[Any]) -> Callable[[Any], int]:
    """Return the function that values the lines of a position for X."""
    assert is_line_game(game)
    return lambda state: line_up_value(game, state, 0)


def compare(game: Game[S], state: S, limit: Limit, seed: int | None) -> Iterator[Compared]:
    """Yield the choice of each strategy that plays the game, and its cost."""
    for name in NAMES:
        strategy = find_strategy(name, seed=seed)
        if strategy.objection(game) is None:
            yield Compared(name, strategy(game, state, limit))
        if name == "minimax" and game.board(state).count(".") <= MAX_CELLS - 3 and not strategy.objection(game):
            plain = Minimax(random.Random(seed), uses_table=False)
            yield Compared("minimax, no table", plain(game, state, limit))


def compare_orders(args: argparse.Namespace, game: Game[S], state: S) -> Iterator[Compared]:
    """Yield the choice and cost of alpha-beta without a table: in the order of cells, and in the requested order.

    It does not know the distance of a win, only that it comes before the board is full.
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
        yield Compared(f"alpha-beta: {order}", Choice(move, value, (move,), counts, exact=value == 0))


CHART = {1: "O ······● X", 0: "O ···●··· X", -1: "O ●······ X", None: "O ······· X"}
"""The mark of each outcome in the chart: right if X wins, left if O wins, middle for a draw."""


def show_match(args: argparse.Namespace, limit: Limit) -> None:
    """Print the match's moves with their grades, and the lesson: first the one that needs no search."""
    record = one_record(args)
    game, console = find_game(record.game), Console()
    moves, start = [made.move for made in record.moves], first_position(game, record.start)
    winner = winner_in(game, record)
    first = lesson_of(list(glance(game, moves, start)), winner, is_searched=False)
    if args.json:
        print(json.dumps(first.as_json(game)), flush=True)
    elif sys.stderr.isatty():
        Console(stderr=True).print(first.in_words(game), markup=False)
    load_engine_for_review(game, len(moves))
    found = review(game, moves, limit, start, Limit(ms=args.match_time))
    if args.json:
        reviewed = []
        for each in found:
            reviewed.append(each)
            print(json.dumps(as_json(game, each)), flush=True)
        print(json.dumps(lesson_of(reviewed, winner).as_json(game)), flush=True)
        return
    progress = track(
        found, "analysing", len(record.moves), console=Console(stderr=True), disable=not sys.stderr.isatty()
    )
    reviewed = list(progress)
    show_moves(console, game, record, reviewed)
    for sentence in summary(game, reviewed, lesson_of(reviewed, winner)):
        console.print(sentence, markup=False)


def one_record(args: argparse.Namespace) -> Record:
    """Return the match that the options name; says of the others which cannot be read."""
    each = load_each(args.match, args.data or DEFAULT_DATA)
    bad = [refusal for refusal in each if isinstance(refusal, Refusal)]
    good: list[Record] = [record for record in each if isinstance(record, Record)]
    if args.number is not None and 1 <= args.number <= len(each):
        found = each[args.number - 1]
        if isinstance(found, Refusal):
            raise ConfigurationError(f"{args.match}: {found}")
        record: Record = found
    elif bad and not good:
        raise ConfigurationError(f"{args.match}: {bad[0]}")
    else:
        record = chosen(good, args.number, args.match)
    for refusal in bad:
        print(f"left out: {refusal}", file=sys.stderr)
    return record


def winner_in(game: Game[Any], record: Record) -> Side | None:
    """Return the winner of a match, by its rules or by its record; None without a winner."""
    if record.outcome is not None:
        return record.outcome.winner
    state = first_position(game, record.start)
    for made in record.moves:
        state = game.result(state, made.move)
    return winner_of(game, state)


def show_moves(console: Console, game: Game[Any], record: Record, reviewed: Sequence[Reviewed]) -> None:
    """Print a row for each move."""
    state = first_position(game, record.start)
    names = " – ".join(escape(player.name) for player in record.players)
    table = Table("move", "by", "played", "value", title=f"{game.title}: {names}")
    table.add_column("grade", no_wrap=True)
    table.add_column("best was")
    table.add_column("who wins", no_wrap=True)
    for each in reviewed:
        by, state = mark_of(game, state, each.side), game.result(state, each.move)
        played = f"{game.move_names[each.move]}{each.sign}"
        cells = (str(each.ply), by, played, in_words(each.was), str(each.grade))
        stands = chart(each.was.result, mark_of(game, state, each.side))
        table.add_row(*cells, better(game, each), stands, style="bold" if each.sign.startswith("?") else "")
    console.print(table)


def as_json(game: Game[Any], each: Reviewed) -> dict[str, object]:
    """Return a move for JSON; values are from the view of the side that moved, null if unknown."""
    return {
        "type": "move",
        "ply": each.ply,
        "side": each.side,
        "move": each.move,
        "name": game.move_names[each.move],
        "value": each.was.result,
        "plies": each.was.plies,
        "estimate": None if each.was.result is not None else each.was.value,
        "best": [game.move_names[move] for move in each.best],
        "keeping": [game.move_names[move] for move in each.keeping],
        "grade": each.grade,
        "sign": each.sign,
        "lost": each.lost,
        "text": each.mistake.reason if each.mistake else "",
        "why": each.mistake.why.as_json() if each.mistake else None,
    }


def chart(result: int | None, mark: str) -> str:
    """Return the chart cell after a move, by the result for the side that made it and has this mark."""
    return CHART[result if result is None or mark == "X" else -result]


def better(game: Game[Any], each: Reviewed) -> str:
    """Return the best moves with their values, if the actual move was not one of them."""
    is_worse = each.move not in each.best and (each.sign or each.could.result is not None)
    return f"{named(game, each.best)} ({in_words(each.could)})" if is_worse else ""


def summary(game: Game[Any], reviewed: Sequence[Reviewed], lesson: Lesson) -> Iterator[str]:
    """Yield sentences about the lesson, the other turning points, and the moves that could not be judged."""
    if lesson.ply is not None:
        yield lesson.in_words(game)
    for each in reviewed:
        if each.lost and each.ply != lesson.ply:
            what = "won" if each.could.result == 1 else "held the draw"
            yield f"Move {each.ply} ({game.move_names[each.move]}): {each.grade}; {named(game, each.best)} {what}."
    unknown = sum(each.lost is None for each in reviewed)
    if unknown:
        moves = counted(len(reviewed), "move")
        yield f"{unknown} of {moves} could not be judged for certain; --match-time gives more time."
    elif lesson.ply is None:
        yield "No move gave anything away."
