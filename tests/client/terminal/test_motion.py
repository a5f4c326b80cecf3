"""Motion on the screen: marks fall, winning lines flash, and nothing else does."""

from dataclasses import replace as changed

import pytest

from tests.client.samples import BEN, knowing, played, snapshot, welcome
from ttt_net.client.display import Display, Page
from ttt_net.client.terminal.painter import FALL_MS, FLASH_MS, FLASHES, SLOW_MS, has_motion, in_motion, motion_between
from ttt_net.client.update import update
from ttt_net.client.world import World
from ttt_net.messages import Tookback

COLUMN = [38, 31, 24]
"""Three marks in the middle column, the last in the third row from below."""


def shown(game: str, moves: list[int]) -> Display:
    return update(update(Display(World(address="here")), welcome(), 0), snapshot(game, moves, opponent=BEN), 0)


def test_a_mark_falls_row_by_row_to_where_it_comes_to_lie() -> None:
    before = shown("connect4", COLUMN[:-1])
    after = update(before, played("connect4", COLUMN), 0)
    motion = motion_between(before, after, 1_000)
    assert motion is not None
    boards = []
    for number in range(3):
        frame = motion.frame(after, 1_000 + number * FALL_MS)
        assert frame is not None
        boards.append(in_motion(after, frame).match)
    marks = [board.position.board.index("X") for board in boards if board is not None]
    assert marks == [3, 10, 17]
    assert motion.frame(after, 1_000 + 3 * FALL_MS) is None, "it lies there"
    assert motion.frame(shown("connect4", COLUMN[:-1]), 1_000) is None


def test_a_winning_line_flashes() -> None:
    won = [4, 0, 1, 2, 7]
    before = shown("tictactoe", won[:-1])
    after = update(before, played("tictactoe", won), 0)
    motion = motion_between(before, after, 0)
    assert motion is not None
    lines = [motion.frame(after, number * FLASH_MS) for number in range(2 * FLASHES)]
    assert [frame.line if frame is not None else None for frame in lines] == [(), (1, 4, 7)] * FLASHES
    assert motion.frame(after, 2 * FLASHES * FLASH_MS) is None


def test_nothing_moves_where_nothing_falls_or_the_link_is_slow_or_another_page_is_seen() -> None:
    before = shown("tictactoe", [4])
    after = update(before, played("tictactoe", [4, 0]), 0)
    assert motion_between(before, after, 0) is None
    before = shown("connect4", COLUMN[:-1])
    after = update(before, played("connect4", COLUMN), 0)
    assert motion_between(None, after, 0) is None
    assert motion_between(after, after, 0) is None
    assert motion_between(before, knowing(after, latency_ms=SLOW_MS + 1), 0) is None
    assert motion_between(before, changed(after, pages=(*after.pages, Page("replay"))), 0) is None
    back = update(after, Tookback("m1", 5, 0, side=0, ply=2), 0)
    assert motion_between(after, back, 0) is None


@pytest.mark.parametrize(
    ("environment", "moves"),
    [
        ({}, True),
        ({"SSH_CONNECTION": "1"}, False),
        ({"TTT_NET_MOTION": "on", "SSH_CONNECTION": "1"}, True),
        ({"TTT_NET_MOTION": "off"}, False),
    ],
)
def test_who_wants_nothing_to_move_or_is_far_away_has_it_so(environment: dict[str, str], moves: bool) -> None:
    assert has_motion(environment) is moves
