"""Waiting for the engine: a search that begins before it is there works in plain Python, and all the more slowly."""

from typing import Any

from rich.console import Console

from ttt_net.games import Game
from ttt_net.strategies.engine import load


def load_engine(game: Game[Any]) -> None:
    """Return when what searches of the game need has been loaded; on a terminal, say what takes so long."""
    with Console(stderr=True).status("Loading the engine; only the first time takes long ..."):
        load(game)
