"""Tables of figures in 80 columns, and in fewer than they need."""

from io import StringIO

import pytest
from rich.console import Console

from ttt_net.__main__ import main
from ttt_net.commands.searching import new_table, show_table


@pytest.mark.parametrize(
    "arguments",
    [
        ["arena", "alphabeta", "tactics", "random", "--rounds", "5", "--nodes", "50"],
        ["analyse", "--position", "X../.O./..X", "--compare"],
    ],
)
def test_tables_fit_a_terminal_of_80_columns_and_nothing_is_cut(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if len(line) > 80 or "…" in line] == []
    assert any("alphabeta" in line and line.count(" ") > 20 for line in lines)


def test_a_table_that_is_wider_than_the_terminal_goes_on_at_its_edge() -> None:
    table = new_table("name", title="Many")
    for number in range(12):
        table.add_column(f"column\n{number}", justify="right")
    table.add_row("somebody", *(f"{number * 111_111:,}" for number in range(12)))
    paper = StringIO()
    show_table(Console(file=paper, width=40), table)
    row = paper.getvalue().splitlines()[-1]
    assert row.split() == ["somebody", *(f"{number * 111_111:,}" for number in range(12))]
