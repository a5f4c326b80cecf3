"""That the benchmark of large tournaments works; never how fast anything is."""

import pytest

from benchmarks import standings


def test_a_quick_run_prints_a_row_for_each_field_and_each_crowd(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["standings", "--quick"])
    standings.main()
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert [row.split("|")[1].strip() for row in rows] == ["players", "--:", "20", "60", "watchers", "--:", "10", "100"]
