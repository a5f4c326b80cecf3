"""Provide what all searching verbs need (options for limits, the engine, tables of numbers), and the verb `compile`."""

import argparse
import sys
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.status import Status
from rich.table import Table

from ttt_net.errors import ConfigurationError
from ttt_net.games import Game
from ttt_net.strategies.engine import compile_all, is_cold, is_installed, load, load_for_review
from ttt_net.strategies.strategy import Effort, Limit

_GAPS = (2, 1)
"""How many blanks separate two columns of a table: fewer if there is no room."""
_NO_LIMIT = 1_000


def add_limits(parser: argparse.ArgumentParser, *, move_time: int) -> None:
    """Add --move-time, --depth, --nodes and --seed."""
    group = parser.add_argument_group("limits")
    group.add_argument(
        "--move-time", type=positive, default=move_time, metavar="MS", help="milliseconds a move (default %(default)s)"
    )
    group.add_argument("--depth", type=positive, metavar="N", help="plies to look ahead at most")
    group.add_argument("--nodes", type=positive, metavar="N", help="positions to look at at most")
    group.add_argument("--seed", type=int, metavar="N", help="what all chance follows from")


def limit_of(args: argparse.Namespace) -> Limit:
    """Return the limit of the options."""
    return Limit(depth=args.depth, nodes=args.nodes, ms=args.move_time)


def positive(text: str) -> int:
    """Return the positive whole number of a text."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def load_engine(game: Game[Any]) -> None:
    """Load what searches of the game need; on a terminal, say why it takes long."""
    with _said():
        load(game)


def load_engine_for_review(game: Game[Any], plies: int) -> None:
    """Load what a review of this many moves needs; on a terminal, say why it takes long."""
    with _said():
        load_for_review(game, plies)


def _said() -> Status:
    return Console(stderr=True).status("Loading the engine; only the first time takes long ...")


def new_table(first: str, *, title: str = "", caption: str = "") -> Table:
    """Return a table with a heading for its first column, of names; a line break in a heading makes it narrower."""
    table = Table(title=title or None, caption=caption or None, box=None, pad_edge=False)
    table.add_column(first, no_wrap=True, vertical="bottom")
    return table


def show_table(console: Console, table: Table) -> None:
    """Print a table, wrapping wide rows only on a terminal."""
    for gap in _GAPS:
        table.padding = (0, gap, 0, 0)
        needed = Measurement.get(console, console.options.update(max_width=_NO_LIMIT), table).maximum
        if needed <= console.width:
            break
    console.width = max(console.width, needed)
    console.print(table)


def add_compile_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options: it has none."""


def run_compile(args: argparse.Namespace) -> int:
    """Compile the kernels that are not compiled yet; return the exit status."""
    if not is_installed():
        raise ConfigurationError("there is nothing to compile: numba is not installed (the extra engine)")
    if is_cold():
        print("compiling the engine, which takes half a minute, once ...", file=sys.stderr, flush=True)
    watch = Effort(Limit())
    names = list(compile_all())
    print(f"the engine is ready: {', '.join(names)} in {watch.counts().ms / 1000:.1f} s")
    return 0
