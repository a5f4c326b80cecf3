"""`games`: print the catalogue as a table."""

import argparse
from typing import Any

from rich.console import Console
from rich.table import Table

from ttt_net.games.catalogue import MAX_SIDE, find_game, names, swappable
from ttt_net.games.game import Game
from ttt_net.games.rules import known_value


def add_games_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("names", nargs="*", metavar="GAME", help="a game such as connect4 or mnk:5x4,4")


def size_of(game: Game[Any]) -> str:
    """Return the size for people, width first: `7×6`; of a cube, layers last."""
    height, width = game.shape[-2:]
    layers = f"×{game.shape[0]}" if len(game.shape) == 3 else ""
    return f"{width}×{height}{layers}"


def run_games(args: argparse.Namespace) -> int:
    """Print the table. Raises `Refusal` if a name is unknown."""
    games = [find_game(name) for name in args.names or names()]
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "size", "rule"):
        table.add_column(heading, overflow="fold", no_wrap=heading != "rule")
    table.add_column("lines", justify="right")
    table.add_column("value")
    for game in games:
        table.add_row(game.name, size_of(game), game.rule, str(game.line_count), known_value(game.name).value)
    console = Console(highlight=False)
    console.print(table)
    if not args.names:
        console.print(
            f"\nAlso mnk:WxH,K (K in a row on W×H) and connect:WxH,K (with gravity), W and H up to {MAX_SIDE}."
            f"\n+swap after a name plays with the pie rule: {', '.join(swappable())}.",
            soft_wrap=not console.is_terminal,
            markup=False,
        )
    return 0
