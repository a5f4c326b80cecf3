from typing import Any

import pytest

from tests.strategies.oracle import Oracle
from ttt_net.games import Game, find_game
from ttt_net.strategies import connect4 as strategies_connect4
from ttt_net.strategies.book import Book, packed


@pytest.fixture(scope="session")
def tictactoe() -> Game[Any]:
    return find_game("tictactoe")


@pytest.fixture(scope="session")
def connect4() -> Game[Any]:
    return find_game("connect4")


@pytest.fixture
def _without_a_book(monkeypatch: pytest.MonkeyPatch) -> None:
    empty = Book(packed({}))
    monkeypatch.setattr(strategies_connect4, "shipped_book", lambda: empty)


@pytest.fixture(scope="session")
def too_large() -> Game[Any]:
    """A game that no search here can finish."""
    return find_game("connect:8x7,4")


@pytest.fixture(scope="session")
def oracle(tictactoe: Game[Any]) -> Oracle:
    return Oracle(tictactoe)
