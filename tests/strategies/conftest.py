from typing import Any

import pytest

from tests.strategies.oracle import Oracle
from ttt_net.games import Game, find_game


@pytest.fixture(scope="session")
def tictactoe() -> Game[Any]:
    return find_game("tictactoe")


@pytest.fixture(scope="session")
def connect4() -> Game[Any]:
    return find_game("connect4")


@pytest.fixture(scope="session")
def oracle(tictactoe: Game[Any]) -> Oracle:
    return Oracle(tictactoe)
