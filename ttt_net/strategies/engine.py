"""The way to what is compiled: loads it when it is first needed, and does without it where numba is not installed.

Nothing else in the package imports numba or numpy. The compiled code is kept on disk by numba, beside the module or
in `NUMBA_CACHE_DIR`: the first use ever takes some three seconds, later ones about half a second. `warm` pays that
in the background, so that nobody has to wait for a compiler.
"""

import logging
import random
import threading
from concurrent.futures import Future
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeGuard

from ttt_net.games import Game
from ttt_net.games.line import LineGame
from ttt_net.strategies.strategy import Effort
from ttt_net.strategies.threats import is_line_game

if TYPE_CHECKING:
    from ttt_net.strategies.compiled.connect4_solver import Connect4Solver
    from ttt_net.strategies.compiled.line_search import LineSearch
    from ttt_net.strategies.compiled.playout_tree import PlayoutTree

SOLVER = "ttt_net.strategies.compiled.connect4_solver"
LINES = "ttt_net.strategies.compiled.line_search"
PLAYOUTS = "ttt_net.strategies.compiled.playout_tree"

SMALL = 12
"""Boards of so many cells are small enough for plain Python, and nobody has to wait for anything to load."""

_logger = logging.getLogger(__name__)


def is_connect4(game: Game[Any]) -> TypeGuard[LineGame]:
    """Tell whether it is four in a row on 7×6 with gravity, whatever its name."""
    return is_line_game(game) and game.shape == (6, 7) and game.k == 4 and game.gravity


@cache
def is_installed() -> bool:
    """Tell whether numba is there; if it is not, says so in the log, once."""
    found = find_spec("numba") is not None
    if not found:
        _logger.warning("numba is not installed, so searches are slower; pip install 'ttt_net[engine]' makes them fast")
    return found


def is_compiled(game: Game[Any]) -> TypeGuard[LineGame]:
    """Tell whether there are compiled searches of the game: it is a line game of 13 to 64 cells."""
    return is_line_game(game) and SMALL < game.size <= 64


def warm(game: Game[Any]) -> None:
    """Begin to load in the background what searches of that game will need, if there is anything."""
    if is_connect4(game) and is_installed():
        _loaded(SOLVER)
    if is_compiled(game) and is_installed():
        _loaded(LINES)
        _loaded(PLAYOUTS)


def connect4_solver(game: Game[Any], patience_ms: float | None = None) -> "Connect4Solver | None":
    """Return a new exact solver if the game is Connect Four, numba is there and it loads in time."""
    if not is_connect4(game) or not is_installed() or (module := _in_time(SOLVER, patience_ms)) is None:
        return None
    _loaded(LINES)  # in the background: positions too far from the end for the solver are for the search
    solver: Connect4Solver = module.Connect4Solver()
    return solver


def playout_tree(game: Game[Any], seed: int, patience_ms: float | None = None) -> "PlayoutTree | None":
    """Return a new compiled tree if there are compiled playouts of the game, numba is there and it loads in time."""
    if not is_compiled(game) or not is_installed() or (module := _in_time(PLAYOUTS, patience_ms)) is None:
        return None
    tree: PlayoutTree = module.PlayoutTree(game, seed)
    return tree


def line_search(
    game: Game[Any], effort: Effort, rng: random.Random, patience_ms: float | None = None
) -> "LineSearch | None":
    """Return a new compiled alpha-beta search if there is one for the game, numba is there and it loads in time."""
    if not is_compiled(game) or not is_installed() or (module := _in_time(LINES, patience_ms)) is None:
        return None
    search: LineSearch = module.LineSearch(game, effort, rng)
    return search


def _in_time(name: str, patience_ms: float | None) -> ModuleType | None:
    try:
        return _loaded(name).result(None if patience_ms is None else patience_ms / 1000)
    except TimeoutError:
        return None


@cache
def _loaded(name: str) -> "Future[ModuleType | None]":
    """Return what will be the module, or None if it cannot be loaded, which is said in the log."""
    future: Future[ModuleType | None] = Future()

    def load() -> None:
        try:
            future.set_result(import_module(name))
        except (ImportError, OSError, RuntimeError) as error:  # the last if numba finds no place for its cache
            _logger.warning("the engine cannot be loaded, so searches are slower: %s", error)
            future.set_result(None)
        except BaseException as error:
            future.set_exception(error)
            raise

    threading.Thread(target=load, name="load the engine", daemon=True).start()
    return future
