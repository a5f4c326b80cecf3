"""Fixtures that make the example packages be found, as if pip had installed them, and games that fail."""

from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from ttt_net.games import Game, find_game, outside
from ttt_net.games.rules import find_rules
from ttt_net.matches.description import describe_game, describe_rules

EXAMPLES = Path(__file__).parents[2] / "examples"
ENTRIES = [
    EntryPoint("hex", "ttt_hex:games", outside.GROUP),
    EntryPoint("othello", "ttt_othello:games", outside.GROUP),
    EntryPoint("pente", "ttt_pente:games", outside.GROUP),
]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Yield a function that makes entry points be found, as pip does by installing packages."""
    for example in ("hex", "othello", "pente"):
        monkeypatch.syspath_prepend(EXAMPLES / example)

    def installed(*entries: EntryPoint) -> None:
        monkeypatch.setattr(outside, "entry_points", lambda group: entries if group == outside.GROUP else ())
        outside.outside_games.cache_clear()

    yield installed
    outside.outside_games.cache_clear()
    find_rules.cache_clear()
    describe_game.cache_clear()
    describe_rules.cache_clear()


@pytest.fixture
def examples(install: Callable[..., None]) -> None:
    install(*ENTRIES)


# Faulty games. Each is tic-tac-toe with one method, or one constant, that fails.


def faulty(**parts: Any) -> Game[Any]:
    """Return tic-tac-toe with other answers: a function of the game and the position for each method, or a constant."""
    good = find_game("tictactoe")

    class Faulty(type(good)):  # type: ignore[misc]
        name = "faulty"

    game: Any = Faulty("faulty", "Faulty", "three in a row, sometimes", (3, 3), 3, gravity=False)
    for part, value in parts.items():
        bound = (lambda answer: lambda state: answer(good, state))(value) if callable(value) else value
        setattr(game, part, bound)
    assert isinstance(game, Game)
    return game


def late(answer: Callable[[Game[Any], Any], Any], part: str) -> Callable[[Game[Any], Any], Any]:
    """Return a method that fails from the third move on."""
    return lambda good, state: answer(good, state) if state.ply > 2 else getattr(good, part)(state)


def raises(_good: Game[Any], _state: Any) -> Any:
    raise ZeroDivisionError("division by zero")
