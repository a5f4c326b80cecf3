"""A board, and the cluster that its server may be a node of."""

import pytest

from tests.server.house import Members
from tests.server.rooms.board import Board, Node


@pytest.fixture
def board() -> Board:
    return Board()


@pytest.fixture
def members(monkeypatch: pytest.MonkeyPatch, board: Board) -> Members:
    """Make the server of the board a node of a cluster."""
    node = Node(board)
    monkeypatch.setattr(type(board.services), "membership", node)
    return node
