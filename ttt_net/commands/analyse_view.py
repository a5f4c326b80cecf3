"""Show what `analyse` found: tables, trees and lists; decides nothing."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

from ttt_net.commands.searching import new_table
from ttt_net.games import Game, Move, Side
from ttt_net.games.notation import write_position
from ttt_net.strategies import Choice, Counts
from ttt_net.strategies.analysis import Analysis, Verdict
from ttt_net.strategies.lessons.explanation import named
from ttt_net.strategies.strategy import ALMOST_DECIDED, S
from ttt_net.strategies.tree import TreeNode, recommended
from ttt_net.text import counted

MOST_ROWS = 25
"""Moves of which each has a row; those below them share one, so that the board is still on the screen."""


class Compared(NamedTuple):
    """A strategy's name, and what it chose."""

    name: str
    choice: Choice


def written(game: Game[Any], moves: Iterable[Move]) -> str:
    """Return moves as text, parted by spaces."""
    return " ".join(game.move_names[move] for move in moves)


def mark_of(game: Game[S], state: S, side: Side) -> str:
    """Return the mark that a side places; X for the first and O for the second where it may choose."""
    mark = game.marks(state)[side]
    return mark if len(mark) == 1 else "XO"[side]


def in_words(verdict: Verdict) -> str:
    """Return a verdict as people say it: `win in 5`, `win in 9 at most`, `draw`, `looks lost`, or an estimate."""
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
    """Print the board, every move with its value, the recommended moves and the play that follows."""
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
    """Print the board, and what one strategy chose; `sums` is how it came to that by numbers."""
    show_position(console, game, state)
    console.print(f"Move: {game.move_names[choice.move]} ({judged(choice)})")
    if sums is not None:
        console.print(f"By subtraction: {sums}")
    if choice.line:
        console.print(f"Line: {written(game, choice.line)}")
    console.print(cost(choice.counts))


def judged(choice: Choice) -> str:
    """Return what a strategy thinks of its choice, in words."""
    if choice.value is None:
        return "not judged"
    return in_words(Verdict(choice.value, choice.exact, choice.line))


def cost(counts: Counts) -> str:
    """Return what a search cost, in a sentence."""
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
    """Return the tree to print: each position with its value for X, and where branches were cut, and why."""
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
    """Yield the boards in the order visited, ended ones with their utility, and at last the move and its utility.

    A board that was visited before, by other moves, says where: a search without a table looks at it again.
    Utilities are from the view of the side to move at the root, as the program that searches sees them.
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
