"""The `arena` command on a server: a tournament that it makes, and whose players it seats."""

from pathlib import Path

import pytest

from tests.client.conftest import RealServer, real_server
from ttt_net.__main__ import main

__all__ = ["real_server"]


def test_an_arena_on_a_server_is_a_tournament_of_bots_that_ends_with_its_standings(
    real_server: RealServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TTT_NET_HOME", str(tmp_path / "home"))
    assert main(["arena", "tactics", "random", "--on", real_server.address, "--time", "5+0"]) == 0
    told = capsys.readouterr()
    rows = [line.split() for line in told.out.splitlines()]
    assert sorted(name for _, name, _ in rows) == ["random", "tactics"]
    assert sum(float(points) for *_, points in rows) == 1, "one pairing of two matches"
    assert f"on {real_server.address}: watch it" in told.err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("tactics random --on 127.0.0.1:1 --json", "--json is for an arena in this process; leave it out, or --on"),
        ("tactics random --on 127.0.0.1:1 --rounds 3", "--rounds 3: on a server, 1 or 2"),
        ("tactics random --on 127.0.0.1:1", "127.0.0.1:1: nothing listens there"),
        ("tactics random --time 1+0", "--time is the clock of a tournament on a server; add --on ADDRESS"),
    ],
)
def test_an_arena_on_a_server_names_what_does_not_go(
    options: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["arena", *options.split()]) == 2
    assert capsys.readouterr().err == f"ttt_net: {sentence}\n"
