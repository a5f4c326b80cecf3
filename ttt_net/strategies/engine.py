"""Load compiled searches when they are first needed; work without them if numba is not installed.

Nothing else in the package imports numba or numpy. numba keeps the compiled code on disk, where
`compiled/__init__.py` says: the first use ever takes five to fifteen seconds, later ones about one.
`warm` does that in the background, so that nobody has to wait for the compiler.
"""

import logging
import os
import random
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeGuard

from ttt_net.games import Game, Playouts
from ttt_net.games.line import LineGame
from ttt_net.games.swap import SwapGame
from ttt_net.games.ultimate import UltimateGame
from ttt_net.strategies.book import DEEPEST
from ttt_net.strategies.heuristic import is_line_game
from ttt_net.strategies.strategy import Effort, S

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
"""Boards with at most this many cells are small enough for plain Python, which needs no loading."""

PROVABLE = 36
"""The cells of boards whose true value may be proved within the time of a move."""

PLAYOUT_CELLS = 255
"""The cells of the largest board with compiled playouts: a node of their tree stores a cell in eight bits."""

EXPLORATION = 1.0
"""The exploration constant of playouts, for rewards from -1 to 1."""

LOADING_SHARE = 0.5
"""The fraction of its time that a search waits for compiled code before it begins in plain Python."""

_COMPILING = threading.Lock()
"""Only one module is compiled at a time, because numba confuses recursive functions with namesakes in other threads."""

_logger = logging.getLogger(__name__)


def is_connect4(game: Game[Any]) -> TypeGuard[LineGame]:
    """Tell whether it is four in a row on 7×6 with gravity, whatever its name."""
    return is_line_game(game) and game.shape == (6, 7) and game.k == 4 and game.gravity


@cache
def is_installed() -> bool:
    """Tell whether numba is installed; if not, log that once."""
    found = find_spec("numba") is not None
    if not found:
        _logger.info("numba is not installed, so searches are slower; pip install 'ttt_net[engine]' makes them fast")
    return found


def is_compiled(game: Game[Any]) -> TypeGuard[LineGame]:
    """Tell whether the game has compiled searches, as a line game of 13 to 64 cells."""
    return is_line_game(game) and SMALL < game.size <= 64


def has_playouts(game: Game[Any]) -> TypeGuard[LineGame | UltimateGame]:
    """Tell whether the game has compiled playouts, as ultimate or a line game of up to 255 cells."""
    return isinstance(game, UltimateGame) or (is_line_game(game) and game.size <= PLAYOUT_CELLS)


def is_small(game: Game[Any]) -> bool:
    """Tell whether plain Python suffices for most searches of the game, as a line game of up to 12 cells."""
    return is_line_game(game) and game.size <= SMALL


def is_provable(game: Game[Any]) -> TypeGuard[LineGame]:
    """Tell whether proving the value of positions is worthwhile, in a line game of 13 to 36 cells."""
    return is_compiled(game) and game.size <= PROVABLE


def is_large(game: Game[Any]) -> TypeGuard[LineGame]:
    """Tell whether the game has a compiled search for large boards: flat, without gravity, up to 19×19."""
    return is_line_game(game) and game.size > 64 and len(game.shape) == 2 and not game.gravity


def warm(game: Game[Any]) -> None:
    """Begin to load in the background everything that searches of a game will need."""
    for name in _needed(game):
        kernel_module(name)
    if game.playouts is not None and is_installed():
        _own(game.playouts, game.initial)


def load(game: Game[Any]) -> None:
    """Load everything that searches of a game need, however long it takes to compile."""
    _load(_needed(game))
    if game.playouts is not None and is_installed():
        _own(game.playouts, game.initial).result()


def load_for_review(game: Game[Any], plies: int) -> None:
    """Load everything that a review of this many moves of a game needs, without playouts and what the book replaces."""
    game = game.base if isinstance(game, SwapGame) else game
    if is_connect4(game):
        _load([CONNECT4] if plies > DEEPEST and is_installed() else [])
    else:
        _load(name for name in _needed(game) if name != PLAYOUTS)


def _load(names: Iterable[str]) -> None:
    for name in names:
        kernel_module(name).result()


def is_loaded(game: Game[Any], effort: Effort) -> bool:
    """Tell whether the search of a large board is loaded, or arrives within the time reserved for waiting."""
    return is_installed() and is_large(game) and _in_time(_large(game), effort) is not None


def is_cold() -> bool:
    """Tell whether nothing of this version is compiled here yet, so that the first searches have to wait."""
    if not is_installed():
        return False
    import_module("ttt_net.strategies.compiled")  # only sets numba's cache folder
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
    """Return the module of the search for a large board: the one with shapes supports only five in a row."""
    return FIVES if game.k == 5 else FOURS


def connect4_search(effort: Effort) -> "Connect4Search | None":
    """Return a new exact search of Connect Four, if numba is installed and the search loads in time.

    Positions that take too long are left to the line search, which is loaded during the first long search (short ones,
    which are half Python, would be slowed down).
    """
    if not is_installed() or (module := _in_time(CONNECT4, effort)) is None:
        return None
    search: Connect4Search = module.Connect4Search(on_long=partial(kernel_module, LINES))
    return search


def proof_search(game: LineGame, effort: Effort) -> "ProofSearch | None":
    """Return a new proof search of a game that `is_provable`, if numba is installed and it loads in time."""
    if not is_installed() or (module := _in_time(PROOFS, effort)) is None:
        return None
    search: ProofSearch = module.ProofSearch(game, effort)
    return search


def playout_tree(game: Game[Any], rng: random.Random, effort: Effort) -> "PlayoutTree | None":
    """Return a new compiled tree, if the game has compiled playouts, numba is installed and it loads in time.

    On a small board, plain Python finds enough before numba is loaded: with limited time, nobody waits for it.
    """
    if not has_playouts(game) or not is_installed():
        return None
    if is_small(game) and effort.seconds_left() is not None and PLAYOUTS not in sys.modules:
        return None
    if (module := _in_time(PLAYOUTS, effort)) is None:
        return None
    tree: PlayoutTree = module.PlayoutTree(game, rng.getrandbits(63))
    return tree


PLAYS = 16
"""The random plays at a time by a game's own compiled playouts."""


def own_playouts(game: Game[S], effort: Effort, rng: random.Random) -> Callable[[S], float] | None:
    """Return a function that plays at random from a position, compiled from `Game.playouts`; None if there is none.

    It returns the mean result for side 0, from -1 to 1.
    """
    playouts = game.playouts
    if playouts is None or not is_installed():
        return None
    left = effort.seconds_left()
    try:
        compiled = _own(playouts, game.initial).result(None if left is None else left * LOADING_SHARE)
    except TimeoutError:
        return None
    if compiled is None:
        return None

    def play(state: S) -> float:
        total = compiled(*map(_signed, playouts.words(state)), PLAYS, rng.getrandbits(62))
        return max(-1.0, min(1.0, total / PLAYS))

    return play


def _signed(word: int) -> int:
    """Return a word of 64 bits as a signed number, as machine code takes it."""
    return (word & 0xFFFFFFFFFFFFFFFF ^ 1 << 63) - (1 << 63)


@cache
def _own(playouts: Playouts, initial: object) -> "Future[Callable[..., int] | None]":
    """Return the future of a game's own playouts, compiled once; it is None if they cannot be compiled."""
    future: Future[Callable[..., int] | None] = Future()

    def load() -> None:
        try:
            with _COMPILING:
                import_module("ttt_net.strategies.compiled")  # sets numba's cache folder
                compiled: Callable[..., int] = import_module("numba").njit(cache=True, nogil=True)(playouts.play_out)
                compiled(*map(_signed, playouts.words(initial)), 1, 1)
                future.set_result(compiled)
        except Exception as error:  # noqa: BLE001 - a stranger's function may raise anything, and numba has many errors
            _logger.warning("the playouts of a game cannot be compiled, so searches are slower: %s", error)
            future.set_result(None)

    threading.Thread(target=load, name="compile playouts", daemon=True).start()
    return future


def line_search(
    game: Game[Any], effort: Effort, rng: random.Random, earlier: object = None
) -> "LineSearch | FoursSearch | FivesSearch | None":
    """Return a new compiled alpha-beta search, if the game has one, numba is installed and it loads in time.

    It goes on with what an `earlier` search of the same match has found, if both have no limit of depth.
    """
    name = LINES if is_compiled(game) else _large(game) if is_large(game) else None
    if name is None or not is_installed() or (module := _in_time(name, effort)) is None:
        return None
    if name == FIVES:
        is_kept = isinstance(earlier, module.FivesSearch) and earlier.game is game and effort.max_depth is None
        fives: FivesSearch = module.FivesSearch(game, effort, rng, earlier if is_kept else None)
        return fives
    made = {LINES: "LineSearch", FOURS: "FoursSearch"}[name]
    search: LineSearch | FoursSearch = getattr(module, made)(game, effort, rng)
    return search


def threat_search(game: Game[Any], effort: Effort) -> "FivesSearch | None":
    """Return a new search for wins by threats, if the game has one, numba is installed and it loads in time."""
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
        except (ImportError, OSError, RuntimeError) as error:  # the last one if numba finds no folder for its cache
            _logger.warning("the engine cannot be loaded, so searches are slower: %s", error)
            future.set_result(None)
        except BaseException as error:  # any error goes to the callers that wait for the module
            future.set_exception(error)
            raise

    threading.Thread(target=load, name="load the engine", daemon=True).start()
    return future
