"""The pages of rules: there for every game, short enough for a screen, and true."""

from typing import Any

import pytest

from tests.games.slow import GAMES
from ttt_net.errors import Refusal
from ttt_net.games import Game, Outcome, Reason, find_game
from ttt_net.games.catalogue import NAMES, SWAPPABLE
from ttt_net.games.geometry import winning_lines
from ttt_net.games.notation import read_move
from ttt_net.games.rules import draw_example, find_rules, play_example

SIZED = ["mnk:19x19,19", "connect:19x19,19", "mnk:5x4,4", "connect:3x6,5", "mnk:1x1,1", "mnk:2x2,2", "connect:9x1,2"]


@pytest.mark.parametrize("name", sorted({*NAMES, *GAMES, *SIZED, "gomoku+swap", "scorefour+swap"}))
def test_the_example_of_a_page_is_won_by_a_line(name: str) -> None:
    game, end = play_example(name)
    outcome = game.outcome(end)
    assert outcome is not None
    assert outcome.winner is not None
    assert outcome.reason is Reason.LINE
    assert any("[" in row for row in draw_example(name))
    assert max(map(len, draw_example(name))) <= 76


@pytest.mark.parametrize("name", ["mnk:3x1,3", "connect:1x5,2", "mnk:10x1,8"])
def test_a_strip_in_which_nobody_can_win_says_so_and_has_no_example(name: str) -> None:
    assert find_rules(name).example == ""
    assert draw_example(name) == ()
    assert find_rules(name).caption == "Nobody can win on a board as small as this."


@pytest.mark.parametrize("height", [2, 3, 19])
@pytest.mark.parametrize("width", [2, 3, 19])
@pytest.mark.parametrize("kind", ["mnk", "connect"])
def test_every_board_that_is_no_strip_has_an_example(kind: str, width: int, height: int) -> None:
    for k in range(1, max(width, height) + 1):
        assert find_rules(f"{kind}:{width}x{height},{k}").example


@pytest.mark.parametrize("name", NAMES)
def test_a_page_fits_a_screen_of_80_by_24(name: str) -> None:
    page, game = find_rules(name), find_game(name)
    assert len(game.rule) <= 76
    rows = 2 + len(draw_example(name))
    beside = max(map(len, draw_example(name))) <= 32
    width = 42 if beside else 76
    texts = [page.goal, page.caption, page.special, *page.tips]
    lines = sum(-(-len(text) // (width - 6)) for text in texts)
    assert (max(rows, lines + 2) if beside else rows + lines) <= 22


@pytest.mark.parametrize("name", [name for name in SWAPPABLE if ":" not in name])
def test_with_swap_the_page_explains_the_swap(name: str) -> None:
    assert "take it over with the move swap" in find_rules(f"{name}+swap").special
    assert "swap:" not in find_rules(name).special
    assert len(find_game(f"{name}+swap").rule) <= 76


def test_an_unknown_game_has_no_page() -> None:
    with pytest.raises(Refusal, match="unknown game 'chess'"):
        find_rules("chess")


def test_opening_misere_in_the_centre_and_mirroring_never_loses() -> None:
    game = find_game("misere")

    def loses(state: Any, last: int) -> bool:
        if game.is_terminal(state):
            return game.utility(state, 0) < 0
        if game.to_move(state) == 0:
            return loses(game.result(state, 8 - last), 8 - last)
        return any(loses(game.result(state, move), move) for move in game.actions(state))

    assert not loses(game.result(game.initial, 4), 4)


def test_in_wild_a_second_x_after_one_in_the_centre_loses_at_once() -> None:
    game = find_game("wild")
    begun = game.result(game.initial, read_move(game, game.initial, "Xb2"))
    for move in game.actions(begun):
        if game.move_names[move].startswith("X"):
            after = game.result(begun, move)
            assert wins_at_once(game, after)


def wins_at_once(game: Game[Any], state: Any) -> bool:
    side = game.to_move(state)
    results = [game.result(state, move) for move in game.actions(state)]
    return any(game.outcome(result) == Outcome(side, Reason.LINE) for result in results)


def lines_through(shape: tuple[int, ...], k: int, cell: int) -> int:
    return sum(line >> cell & 1 for line in winning_lines(shape, k))


def test_the_numbers_of_lines_in_the_tips_are_right() -> None:
    assert [lines_through((3, 3), 3, 4), len(winning_lines((3, 3), 3))] == [4, 8]
    assert [lines_through((3, 3, 3), 3, 13), len(winning_lines((3, 3, 3), 3))] == [13, 49]
    cubes = [lines_through((4, 4, 4), 4, cell) for cell in range(64)]
    assert sorted(cubes) == [4] * 48 + [7] * 16
    assert all(cubes[(z * 4 + y) * 4 + x] == 7 for z in (0, 3) for y in (0, 3) for x in (0, 3))
    assert all(cubes[(z * 4 + y) * 4 + x] == 7 for z in (1, 2) for y in (1, 2) for x in (1, 2))
    columns = [
        sum(any(line >> (y * 7 + x) & 1 for y in range(6)) for line in winning_lines((6, 7), 4)) for x in range(7)
    ]
    assert max(columns) == columns[3] > sorted(columns)[-2]
