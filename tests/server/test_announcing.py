"""The output when the server listens, in a pipe and in terminals of several sizes."""

import io
import os
import pty
import re
import select
import termios
from pathlib import Path

import pytest
import segno

from ttt_net.server.announcing import ServerAddress, greet, greeting, qr_lines, web_address

EVERYWHERE = ServerAddress("test", None, 8765, Path("data"))
HERE = ServerAddress("test", "127.0.0.1", 7001, Path("data"))


def printed(where: ServerAddress, rows: int, columns: int) -> str:
    """Return what is printed on a terminal of that size."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (rows, columns))
    with os.fdopen(slave, "w", encoding="utf-8") as terminal:
        greet(where, terminal)
        terminal.flush()
        data = b""
        while select.select([master], [], [], 0)[0]:  # a terminal gives what it has piece by piece
            data += os.read(master, 65_536)
    os.close(master)
    return data.decode()


@pytest.mark.parametrize("is_self_signed", [False, True])
def test_a_server_prints_the_fingerprint_of_its_certificate(is_self_signed: bool) -> None:
    lines = greeting(HERE._replace(scheme="wss", fingerprint="0daa", is_self_signed=is_self_signed))
    assert ("join with: python client.py wss://127.0.0.1:7001 --tls-fingerprint 0daa" in lines) == is_self_signed
    kind = "self-signed certificate" if is_self_signed else "certificate"
    assert f"{kind}, SHA-256 fingerprint: 0daa" in lines


def test_the_first_line_is_for_scripts_and_the_rest_for_people() -> None:
    lines = greeting(HERE)
    assert lines[0] == "listening on ws://127.0.0.1:7001"
    assert "join with: python client.py 127.0.0.1:7001" in lines
    assert "in a web browser:        http://127.0.0.1:7001/" in lines


def test_friends_get_addresses_at_which_they_can_reach_us(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ttt_net.server.announcing.local_addresses", lambda: ["192.0.2.9", "10.1.2.3"])
    lines = greeting(EVERYWHERE)
    assert "play from this machine:  python client.py" in lines
    assert "friends on this network: python client.py 192.0.2.9:8765 --insecure" in lines, "it is no private address"
    assert "friends on this network: python client.py 10.1.2.3:8765" in lines
    assert not [line for line in greeting(EVERYWHERE._replace(scheme="wss")) if "--insecure" in line]
    assert web_address(EVERYWHERE) == "http://192.0.2.9:8765/"
    assert web_address(EVERYWHERE._replace(scheme="wss")) == "https://192.0.2.9:8765/"
    monkeypatch.setattr("ttt_net.server.announcing.local_addresses", list)
    assert web_address(EVERYWHERE) == "http://127.0.0.1:8765/"


def test_behind_a_proxy_of_unknown_address_no_address_beside_it_is_advised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ttt_net.server.announcing.local_addresses", lambda: ["192.0.2.9", "10.1.2.3"])
    for where in (EVERYWHERE, HERE):
        lines = greeting(where._replace(is_proxied=True))
        assert not [line for line in lines if "client.py" in line or "http" in line]
        assert [line for line in lines if "set public_url" in line]
    lines = greeting(EVERYWHERE._replace(is_proxied=True, public_url="wss://play.example.net"))
    assert "join with: python client.py wss://play.example.net" in lines
    assert "in a web browser:        https://play.example.net/" in lines


def test_the_folder_is_written_from_home_on_so_that_the_line_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    at_home = HERE._replace(data=Path("/home/ann/.local/share/ttt_net/server"))
    assert greeting(at_home)[1] == "test; matches are kept in ~/.local/share/ttt_net/server"
    assert greeting(HERE._replace(data=Path("/var/lib/ttt_net")))[1] == "test; matches are kept in /var/lib/ttt_net"


def test_a_code_is_shown_on_a_terminal_that_is_tall_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    tall = printed(HERE, 40, 80)
    assert "▀" in tall
    assert (
        tall.count("\x1b[30;107m") == tall.count("\x1b[0m") == len(qr_lines(web_address(HERE), "utf-8", has_color=True))
    )
    assert "▀" not in printed(HERE, 15, 80)
    assert "▀" not in printed(HERE, 40, 20)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in printed(HERE, 40, 80)
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in printed(HERE, 40, 80)


def test_a_server_starts_also_where_it_can_print_little_or_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with io.TextIOWrapper(io.BytesIO(), encoding="ascii") as paper:
        greet(HERE._replace(name="Süd"), paper)
        paper.seek(0)
        assert "\nS\\xfcd; matches are kept in data\n" in paper.read()
    monkeypatch.setattr("sys.stdout", None)
    greet(HERE)


def test_the_code_is_the_one_of_the_address() -> None:
    text = "http://192.0.2.9:8765/"
    shown = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in qr_lines(text, "utf-8", has_color=True)]
    cells = [[bool(cell) for cell in row] for row in segno.make(text, error="l", micro=False).matrix_iter(border=2)]
    upper = {"▀": True, "█": True, "▄": False, " ": False}
    lower = {"▀": False, "█": True, "▄": True, " ": False}
    assert [[upper[c] for c in line] for line in shown] == cells[::2]
    assert [[lower[c] for c in line] for line in shown][: len(cells) // 2] == cells[1::2]


def test_no_qr_code_is_drawn_without_half_blocks_or_colours() -> None:
    assert qr_lines("http://192.0.2.9:8765/", "ascii", has_color=True) == []
    assert qr_lines("http://192.0.2.9:8765/", None, has_color=True) == []


def test_a_reader_who_has_read_enough_stops_no_server() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", encoding="utf-8") as out:
        greet(HERE, out)
        print("and on", file=out, flush=True)


def test_where_friends_reach_it_is_what_is_printed_and_shown() -> None:
    lines = greeting(EVERYWHERE._replace(public_url="wss://play.example.org"))
    assert lines[0] == "listening on ws://127.0.0.1:8765", "which is for scripts"
    assert "join with: python client.py wss://play.example.org" in lines
    assert "in a web browser:        https://play.example.org/" in lines
