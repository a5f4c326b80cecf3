"""Load compiled searches when they are first needed; do without them where numba is not installed.

Nothing else in the package imports numba or numpy. numba keeps the compiled code on disk, where
`compiled/__init__.py` says: the first use ever takes five to fifteen seconds, later ones about one.
`warm` pays that in the background, so that nobody has to wait for a compiler.
"""

import logging
import os
import random
import sys
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeGuard

from ttt_net.games import Game
from ttt_net.games.line import LineGame
from ttt_net.games.swap import SwapGame
from ttt_net.games.ultimate import UltimateGame
from ttt_net.strategies.book import DEEPEST
from ttt_net.strategies.heuristic import is_line_game
from ttt_net.strategies.strategy import Effort

if TYPE_CHECKING:
    from ttt_net.strategies.compiled.connect4_solver import Connect4Search
    from ttt_net.strategies.compiled.fives import FivesSearch
    from ttt_net.strategies.compiled.fours import FoursSearch
    from ttt_net.strategies.compiled.lines import LineSearch
    from ttt_net.strategies.compiled.playouts import PlayoutTree
    from ttt_net.strategies.compiled.proofs import ProofSearch

CONNECT4 = "ttt_net.strategies.compiled.connect4_solver"
LINES = "ttt_net.strategies.compiled.lines"
FOURS = "ttt_net.strategies.compiled.fours"
FIVES = "ttt_net.strategies.compiled.fives"
PROOFS = "ttt_net.strategies.compiled.proofs"
PLAYOUTS = "ttt_net.strategies.compiled.playouts"

SMALL = 12
"""Boards of so many cells are small enough for plain Python, and nobody has to wait for anything to load."""

PROVABLE = 36
"""Cells of a board whose true value may be proved within the time of a move."""

PLAYOUT_CELLS = 255
"""Cells of the largest board of which playouts are compiled: a node of their tree keeps a cell in eight bits."""

EXPLORATION = 1.0
"""How much a playout prefers an uncertain move to a good one, for rewards from -1 to 1."""

LOADING_SHARE = 0.5
"""The fraction of its time that a search waits for compiled code before it begins in plain Python."""

_COMPILING = threading.Lock()
"""One module is compiled at a time: numba takes a function that calls itself for its namesake in another thread."""

_logger = logging.getLogger(__name__)


def is_connect4(game: Game[Any]) -> TypeGuard[LineGame]:
    """Tell whether it is four in a row on 7×6 with gravity, whatever its name."""
    return is_line_game(game) and game.shape == (6, 7) and game.k == 4 and game.gravity


@cache
def is_installed() -> bool:
    """Tell whether numba is there; if it is not, say so in the log of a server, once."""
    found = find_spec("numba") is not None
    if not found:
        _logger.info("numba is not installed, so searches are slower; pip install 'ttt_net[engine]' makes them fast")
    return found


def is_compiled(game: Game[Any]) -> TypeGuard[LineGame]:
    """Tell whether there are compiled searches of the game: it is a line game of 13 to 64 cells."""
    return is_line_game(game) and SMALL < game.size <= 64


def has_playouts(game: Game[Any]) -> TypeGuard[LineGame | UltimateGame]:
    """Tell whether there are compiled playouts of the game: it is ultimate, or a line game of up to 255 cells."""
    return isinstance(game, UltimateGame) or (is_line_game(game) and game.size <= PLAYOUT_CELLS)


def is_small(game: Game[Any]) -> bool:
    """Tell whether plain Python does for most searches of the game: it is a line game of up to 12 cells."""
    return is_line_game(game) and game.size <= SMALL


def is_provable(game: Game[Any]) -> TypeGuard[LineGame]:
    """Tell whether it is worth trying to prove the value of any position: it is a line game of 13 to 36 cells."""
    return is_compiled(game) and game.size <= PROVABLE


def is_large(game: Game[Any]) -> TypeGuard[LineGame]:
    """Tell whether there is a compiled search for large boards of the game: flat, without gravity, up to 19×19."""
    return is_line_game(game) and game.size > 64 and len(game.shape) == 2 and not game.gravity


def warm(game: Game[Any]) -> None:
    """Begin to load in the background what searches of that game will need, if there is anything."""
    for name in _needed(game):
        kernel_module(name)


def load(game: Game[Any]) -> None:
    """Return when what searches of that game need is there, however long it takes to compile."""
    _load(_needed(game))


def load_for_review(game: Game[Any], plies: int) -> None:
    """Return when what a review of so many moves of that game needs is there: no playouts, and nothing for a book."""
    game = game.base if isinstance(game, SwapGame) else game
    if is_connect4(game):
        _load([CONNECT4] if plies > DEEPEST and is_installed() else [])
    else:
        _load(name for name in _needed(game) if name != PLAYOUTS)


def _load(names: Iterable[str]) -> None:
    for name in names:
        kernel_module(name).result()


def is_loaded(game: Game[Any], effort: Effort) -> bool:
    """Tell whether the search of a large board is there, or comes within the part of the time that is waited."""
    return is_installed() and is_large(game) and _in_time(_large(game), effort) is not None


def is_cold() -> bool:
    """Tell whether nothing of this version has been compiled here yet, so that the first searches have to wait."""
    if not is_installed():
        return False
    import_module("ttt_net.strategies.compiled")  # sets numba's cache folder, and loads nothing else
    return not any(Path(os.environ["NUMBA_CACHE_DIR"]).rglob("*.nbi"))


def compile_all() -> Iterator[str]:
    """Compile or load all modules, and yield the name of each before it begins."""
    for name in (FOURS, FIVES, CONNECT4, LINES, PROOFS, PLAYOUTS) if is_installed() else ():
        yield name.rpartition(".")[2]
        kernel_module(name).result()


def _needed(game: Game[Any]) -> list[str]:
    game = game.base if isinstance(game, SwapGame) else game
    names = (
        [CONNECT4] * is_connect4(game)
        + [LINES] * is_compiled(game)
        + [PLAYOUTS] * (has_playouts(game) and not is_small(game))
        + ([_large(game)] if is_large(game) else [])
    )
    names += [PROOFS] * is_provable(game)
    return names if names and is_installed() else []


def _large(game: LineGame) -> str:
    """Return which search is for a large board: that of shapes knows five in a row only."""
    return FIVES if game.k == 5 else FOURS


def connect4_search(effort: Effort) -> "Connect4Search | None":
    """Return a new exact search of Connect Four if numba is there and it loads in time.

    Positions that need too long for it are for the search of lines, loaded beside the first long search
    (beside short ones, which are half Python, it would slow them down).
    """
    if not is_installed() or (module := _in_time(CONNECT4, effort)) is None:
        return None
    search: Connect4Search = module.Connect4Search(on_long=partial(kernel_module, LINES))
    return search


def proof_search(game: LineGame, effort: Effort) -> "ProofSearch | None":
    """Return new proofs about a game that `is_provable` if numba is there and they load in time."""
    if not is_installed() or (module := _in_time(PROOFS, effort)) is None:
        return None
    search: ProofSearch = module.ProofSearch(game, effort)
    return search


def playout_tree(game: Game[Any], rng: random.Random, effort: Effort) -> "PlayoutTree | None":
    """Return a new compiled tree if there are compiled playouts of the game, numba is there and it loads in time.

    Of a small board plain Python sees enough before numba is loaded: where time is limited nobody waits for that.
    """
    if not has_playouts(game) or not is_installed():
        return None
    if is_small(game) and effort.seconds_left() is not None and PLAYOUTS not in sys.modules:
        return None
    if (module := _in_time(PLAYOUTS, effort)) is None:
        return None
    tree: PlayoutTree = module.PlayoutTree(game, rng.getrandbits(63))
    return tree


def line_search(game: Game[Any], effort: Effort, rng: random.Random) -> "LineSearch | FoursSearch | FivesSearch | None":
    """Return a new compiled alpha-beta search if there is one for the game, numba is there and it loads in time."""
    name = LINES if is_compiled(game) else _large(game) if is_large(game) else None
    if name is None or not is_installed() or (module := _in_time(name, effort)) is None:
        return None
    made = {LINES: "LineSearch", FOURS: "FoursSearch", FIVES: "FivesSearch"}[name]
    search: LineSearch | FoursSearch | FivesSearch = getattr(module, made)(game, effort, rng)
    return search


def threat_search(game: Game[Any], effort: Effort) -> "FivesSearch | None":
    """Return a new search for wins by threats if there is one for the game, numba is there and it loads in time."""
    if not is_installed() or not is_large(game) or _large(game) != FIVES or (module := _in_time(FIVES, effort)) is None:
        return None
    search: FivesSearch = module.FivesSearch(game, effort, random.Random(0))
    return search


def _in_time(name: str, effort: Effort) -> ModuleType | None:
    left = effort.seconds_left()
    try:
        return kernel_module(name).result(None if left is None else left * LOADING_SHARE)
    except TimeoutError:
        return None


@cache
def kernel_module(name: str) -> "Future[ModuleType | None]":
    """Return the future of a compiled module, loaded once; it is None if it cannot be loaded, which the log tells."""
    future: Future[ModuleType | None] = Future()

    def load() -> None:
        try:
            with _COMPILING:
                future.set_result(import_module(name))
        except (ImportError, OSError, RuntimeError) as error:  # the last if numba finds no place for its cache
            _logger.warning("the engine cannot be loaded, so searches are slower: %s", error)
            future.set_result(None)
        except BaseException as error:  # whatever it is, callers that wait for the module get it
            future.set_exception(error)
            raise

    threading.Thread(target=load, name="load the engine", daemon=True).start()
    return future
