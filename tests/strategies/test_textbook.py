from typing import Any

import pytest

from tests.strategies.positions import board
from ttt_net.errors import ConfigurationError
from ttt_net.games import Game
from ttt_net.strategies import textbook
from ttt_net.strategies.textbook import grow, recommended


def test_alpha_beta_visits_fewer_than_30000_positions_of_tictactoe(tictactoe: Game[Any]) -> None:
    root = grow(tictactoe, tictactoe.initial, prune=True)
    assert root.value == 0
    assert sum(1 for _ in root.walk()) == 18_297  # moves in the order of cells


def test_minimax_and_alpha_beta_agree_and_alpha_beta_visits_no_more(tictactoe: Game[Any]) -> None:
    state = board("X../.O./...")
    state = tictactoe.result(state, 8)
    full, pruned = (grow(tictactoe, state, prune=prune) for prune in (False, True))
    assert full.value == pruned.value
    assert recommended(full)[0] == recommended(pruned)[0]
    visited = {node.state for node in full.walk()}
    assert all(node.state in visited for node in pruned.walk())
    assert len(list(pruned.walk())) < len(list(full.walk()))


def test_cutoffs_are_shown_with_their_window(tictactoe: Game[Any]) -> None:
    root = grow(tictactoe, board("OOX/.X./OX."), prune=True)
    second = root.children[1]
    assert (second.cut, second.window) == ((8,), (0, -1))
    assert [child.value for child in root.children] == [0, -1, -1]


def test_a_tree_that_is_too_large_is_refused(connect4: Game[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textbook, "MAX_NODES", 6_000)
    with pytest.raises(ConfigurationError, match="more than 6,000 positions; limit its depth"):
        grow(connect4, connect4.initial, prune=False, depth=8)
