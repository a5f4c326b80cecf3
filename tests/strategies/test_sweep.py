import pytest

from tests.strategies.sweep import PAGE, page, records


@pytest.mark.parametrize("name", ["table", "minimax", "alphabeta", "mcts", "tactics"])
def test_it_loses_to_no_possible_opponent_of_tictactoe(name: str) -> None:
    assert [record.lost for record in records()[name]] == [0, 0]


@pytest.mark.parametrize("name", ["random", "rules", "magic", "lookahead"])
def test_it_can_be_beaten_and_the_page_does_not_hide_it(name: str) -> None:
    assert sum(record.lost for record in records()[name]) > 0


def test_the_page_shows_the_records_as_they_are() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.strategies.sweep"
