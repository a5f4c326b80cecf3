from typing import Any

import pytest

from ttt_net.games import Game, find_game


@pytest.fixture(scope="session")
def tictactoe() -> Game[Any]:
    return find_game("tictactoe")
