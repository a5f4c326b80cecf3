import stat
from pathlib import Path

import pytest

from ttt_net.client.address import (
    FILE_OF_SERVERS,
    MAX_SERVERS,
    Used,
    code_of,
    read_address,
    remember_server,
    servers_used,
)


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTT_NET_HOME", str(tmp_path))


def test_the_newest_server_comes_first_and_each_once(tmp_path: Path) -> None:
    assert servers_used() == ()
    for url, title in (("ws://a:1", "A"), ("wss://b", "B"), ("ws://a:1", "A again")):
        remember_server(url, title)
    assert servers_used() == (Used("ws://a:1", "A again"), Used("wss://b", "B"))
    assert stat.S_IMODE((tmp_path / FILE_OF_SERVERS).stat().st_mode) == 0o600


def test_only_so_many_are_kept() -> None:
    for number in range(MAX_SERVERS + 5):
        remember_server(f"ws://s{number}:1", "")
    assert len(servers_used()) == MAX_SERVERS
    assert servers_used()[0].url == f"ws://s{MAX_SERVERS + 4}:1"


@pytest.mark.parametrize(
    "text", ["", "{", "{}", "[1, [2, 3], null]", '[["not an address", "x"]]', "[" * 100_000, "\xff"]
)
def test_a_broken_file_is_no_server(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE_OF_SERVERS).write_text(text, encoding="latin-1")
    assert servers_used() == ()
    remember_server("ws://a:1", "A")
    assert servers_used() == (Used("ws://a:1", "A"),)


def test_a_title_cannot_move_the_cursor(tmp_path: Path) -> None:
    (tmp_path / FILE_OF_SERVERS).write_text('[["ws://a:1", "\\u001b[2Jbad"]]')
    assert servers_used() == (Used("ws://a:1", "[2Jbad"),)


def test_the_code_of_a_tournament_is_taken_where_that_of_an_invitation_is() -> None:
    assert code_of("bcdfg") == "BCDFG"
    assert read_address("http://localhost:8765/j#BCDFG").code == "BCDFG"
    assert read_address("http://localhost:8765/j?connect4#BCDFG").code == "BCDFG"
