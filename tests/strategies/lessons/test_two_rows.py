"""Two rows that a move makes at once are found as players of five in a row find them."""

import pytest

from tests.strategies.positions import board, line_game
from ttt_net.strategies.lessons.sight import makes_two_rows


@pytest.mark.parametrize(
    ("row", "column", "is_found"),
    [
        ("....*XX..", "....*XX..", True),
        ("..X.*X...", "...X*.X..", True),
        (".OXX*X...", "....*XX..", True),
        ("...O*XX..", "....*XX..", False),  # one of the rows has an end closed
        (".OXX*X...", "...O*XX..", False),
        ("..X.*....", ".........", False),
        (".OXX*X...", ".OXX*X...", False),  # two fours win at once, which is told otherwise
    ],
)
def test_a_move_makes_two_rows_if_each_becomes_a_win(row: str, column: str, is_found: bool) -> None:
    """The row and the column cross in the middle of an empty board, where the star stands for the move."""
    game, middle = line_game("gomoku"), 7
    cells = [["."] * 15 for _ in range(15)]
    for n in range(9):
        cells[middle + n - 4][middle] = column[n]
        if n != 4:
            cells[middle][middle + n - 4] = row[n]
    state = board("/".join("".join(each) for each in cells).replace("*", "."))
    assert makes_two_rows(game, state._replace(ply=0), 7 * 15 + 7) == is_found
