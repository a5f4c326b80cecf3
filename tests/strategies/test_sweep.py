import pytest

from tests.strategies.sweep import PAGE, page, records, row
from ttt_net.strategies import NAMES

SLOW = pytest.param("mcts", marks=pytest.mark.long)
"""Its games take 3.5 s of CPU, those of all others together 0.4 s."""


@pytest.mark.parametrize("name", ["table", "minimax", "alphabeta", SLOW, "tactics"])
def test_it_loses_to_no_possible_opponent_of_tictactoe(name: str) -> None:
    assert [record.lost for record in records(name)] == [0, 0]


@pytest.mark.parametrize("name", ["random", "rules", "magic", "lookahead"])
def test_it_can_be_beaten_and_the_page_does_not_hide_it(name: str) -> None:
    assert sum(record.lost for record in records(name)) > 0


@pytest.mark.parametrize("name", [name for name in NAMES if name != "mcts"])
def test_the_page_shows_a_record_as_it_is(name: str) -> None:
    assert f"\n{row(name)}\n" in PAGE.read_text(encoding="utf-8"), "run python -m tests.strategies.sweep"


@pytest.mark.long
def test_the_page_shows_the_records_as_they_are() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.strategies.sweep"
