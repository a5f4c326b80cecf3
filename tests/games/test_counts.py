"""Counts that are published, or were found twice by different programs."""

from collections import Counter
from typing import Any

import pytest

from ttt_net.games import find_game
from ttt_net.games.game import Game
from ttt_net.games.geometry import list_cells, symmetries, winning_lines
from ttt_net.games.line import LineState


def levels(game: Game[Any], depth: int) -> list[Counter[Any]]:
    """The distinct positions by ply, each with the number of ways to it."""
    found = [Counter([game.initial])]
    for _ in range(depth):
        after: Counter[Any] = Counter()
        for state, ways in found[-1].items():
            for move in game.actions(state):
                after[game.result(state, move)] += ways
        found.append(after)
    return found


def test_tictactoe_has_5478_positions_and_549946_nodes() -> None:
    by_ply = levels(find_game("tictactoe"), 9)
    assert [ways.total() for ways in by_ply] == [1, 9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]
    assert sum(map(len, by_ply)) == 5478
    assert sum(ways.total() for ways in by_ply) == 549946


def test_tictactoe_has_765_positions_up_to_symmetry() -> None:
    game = find_game("tictactoe")
    turned = (6, 3, 0, 7, 4, 1, 8, 5, 2)
    mirrored = (2, 1, 0, 5, 4, 3, 8, 7, 6)

    def least(board: str) -> str:
        forms = []
        for _ in range(4):
            board = "".join(board[cell] for cell in turned)
            forms += [board, "".join(board[cell] for cell in mirrored)]
        return min(forms)

    boards = {least(game.board(state)) for level in levels(game, 9) for state in level}
    assert len(boards) == 765


def test_the_games_of_tictactoe_end_in_their_known_numbers() -> None:
    game = find_game("tictactoe")
    ends: Counter[tuple[int, int | None]] = Counter()
    for ply, level in enumerate(levels(game, 9)):
        for state, ways in level.items():
            outcome = game.outcome(state)
            if outcome is not None:
                ends[ply, outcome.winner] += ways
    assert ends == {(5, 0): 1440, (6, 1): 5328, (7, 0): 47952, (8, 1): 72576, (9, 0): 81792, (9, None): 46080}
    assert ends.total() == 255168
    assert 1440 + 47952 + 81792 == 131184
    assert 5328 + 72576 == 77904


def test_connect4_has_the_positions_of_oeis_a212693() -> None:
    by_ply = levels(find_game("connect4"), 6)
    assert list(map(len, by_ply)) == [1, 7, 49, 238, 1120, 4263, 16422]
    assert [ways.total() for ways in by_ply] == [1, 7, 49, 343, 2401, 16807, 117649]


@pytest.mark.long
def test_connect4_has_the_positions_of_oeis_a212693_and_of_its_databases_further_on() -> None:
    game = find_game("connect4")
    by_ply = levels(game, 8)
    assert list(map(len, by_ply[7:])) == [54859, 184275]
    assert [ways.total() for ways in by_ply[7:]] == [823536, 5673234]
    assert [sum(map(game.is_terminal, level)) for level in by_ply[6:]] == [0, 728, 1892]
    assert len({game.result(state, move) for state in by_ply[8] for move in game.actions(state)}) == 558186
    quiet = {min(state[:2], mirrored(state)) for state in by_ply[8] if is_quiet(game, state)}
    assert len(quiet) == 67557, "not over, no win at once and no need to block, up to mirror"


def is_quiet(game: Any, state: LineState) -> bool:
    """Tell whether neither side, were it to move, would win at once."""
    passed = state._replace(ply=state.ply + 1)
    return not state.has_line and not any(
        game.result(each, move).has_line for each in (state, passed) for move in game.actions(each)
    )


def mirrored(state: LineState) -> tuple[int, int]:
    """Return the bitboards of a 7x6 position with left and right exchanged."""
    rows = ((bits >> 7 * row & 127, row) for bits in state[:2] for row in range(6))
    flipped = [int(f"{bits:07b}"[::-1], 2) << 7 * row for bits, row in rows]
    return sum(flipped[:6]), sum(flipped[6:])


def test_connect_four_on_4x4_has_the_161029_positions_of_tromp() -> None:
    assert sum(map(len, levels(find_game("connect:4x4,4"), 16))) == 161029


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("tictactoe", 8), ("connect4", 69), ("qubic", 76), ("scorefour", 76), ("tictactoe3d", 49), ("gomoku", 572),
        ("ultimate", 8), ("wild", 8), ("vanishing", 8), ("mnk:1x1,1", 1), ("mnk:1x4,4", 1), ("qubic+swap", 76),
    ],
)  # fmt: skip
def test_the_numbers_of_winning_lines_are_right(name: str, lines: int) -> None:
    assert find_game(name).line_count == lines


@pytest.mark.parametrize(("n", "d"), [(2, 2), (3, 2), (5, 2), (2, 3), (3, 3), (4, 3), (5, 3)])
def test_a_cube_of_side_n_has_as_many_full_lines_as_its_shell_has_pairs(n: int, d: int) -> None:
    assert len(winning_lines((n,) * d, n)) == ((n + 2) ** d - n**d) // 2


@pytest.mark.parametrize(
    ("shape", "number"), [((3, 3), 8), ((4, 5), 4), ((1, 5), 2), ((1, 1), 1), ((3, 3, 3), 48), ((2, 3, 3), 16)]
)
def test_a_board_has_its_symmetries_and_they_keep_every_line_a_line(shape: tuple[int, ...], number: int) -> None:
    images, lines = symmetries(shape), set(winning_lines(shape, 3))
    assert len(images) == len(set(images)) == number
    for image in images:
        assert {sum(1 << image[cell] for cell in list_cells(line)) for line in lines} == lines


@pytest.mark.parametrize(
    ("name", "paths", "positions"),
    [
        ("misere", [1, 9, 72, 504, 3024, 15120], [1, 9, 72, 252, 756, 1260]),
        ("wild", [1, 18, 288, 4032, 47232, 437760], [1, 18, 144, 672, 2016, 4032]),
        ("vanishing", [1, 9, 72, 504, 3024, 15120, 54720], [1, 9, 72, 504, 3024, 15120, 54720]),
        ("tictactoe3d", [1, 27, 702, 17550], [1, 27, 702, 8775]),
        ("scorefour", [1, 16, 256, 4096], [1, 16, 256, 2416]),
        ("ultimate", [1, 81, 720, 6336], [1, 81, 720, 6336]),
        ("mnk:5x4,4", [1, 20, 380, 6840], [1, 20, 380, 3420]),
        ("connect:4x5,3", [1, 4, 16, 64, 256, 1024], [1, 4, 16, 52, 160, 440]),
    ],
)
def test_the_further_games_have_the_counts_that_the_slow_rules_found(
    name: str, paths: list[int], positions: list[int]
) -> None:
    by_ply = levels(find_game(name), len(paths) - 1)
    assert [level.total() for level in by_ply] == paths
    assert list(map(len, by_ply)) == positions
