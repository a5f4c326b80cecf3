"""One record is one line, a flood of peers is no flood of lines, and systemd gets its notifications."""

import asyncio
import io
import json
import logging
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S
from ttt_net.server.logs import (
    EXTENSION_S,
    MOST_PER_S,
    JsonFormatter,
    PlainFormatter,
    Sparing,
    StartExtension,
    is_managed,
    keep_alive,
    notify,
    set_up,
    watchdog_s,
)
from ttt_net.server.settings.configuration import LEVELS

HOSTILE = 'x\n2026-11-21 00:00:00.000 ERROR hub: forged\r\x1b[2J\x9b\u202e{"level":"error"}'


def record(message: str, *args: object, fault: bool = False) -> logging.LogRecord:
    exc_info = None
    if fault:
        try:
            raise ValueError(HOSTILE)
        except ValueError:
            exc_info = sys.exc_info()
    made = logging.LogRecord("ttt_net.server.hub", logging.WARNING, "hub.py", 1, message, args, exc_info)
    made.created = 1_795_254_000.25
    made.msecs = 250
    return made


@pytest.mark.parametrize("level", LEVELS)
def test_the_library_logs_neither_messages_nor_connections(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    root = logging.getLogger()
    before = root.level
    monkeypatch.setattr(root, "handlers", [])
    set_up("plain", level)
    try:
        assert not logging.getLogger("websockets.server").isEnabledFor(logging.INFO)
        assert logging.getLogger("ttt_net.server.hub").isEnabledFor(logging.INFO) is (level in ("debug", "info"))
    finally:
        root.setLevel(before)


def test_a_plain_line_has_time_level_place_and_text() -> None:
    assert PlainFormatter().format(record("%d left", 3)) == "2026-11-21 09:40:00.250 WARNING server.hub: 3 left"


def test_a_json_line_has_the_same() -> None:
    assert json.loads(JsonFormatter().format(record("%d left", 3))) == {
        "at": "2026-11-21T09:40:00.250+00:00",
        "level": "warning",
        "logger": "ttt_net.server.hub",
        "message": "3 left",
    }


def test_hostile_text_makes_no_second_line_and_no_effect() -> None:
    for formatter in (PlainFormatter(), JsonFormatter()):
        line = formatter.format(record("%s", HOSTILE))
        assert "\n" not in line
        assert all(character.isprintable() for character in line)
    assert json.loads(JsonFormatter().format(record("%s", HOSTILE)))["message"] == HOSTILE


def test_the_lines_of_a_fault_are_indented_or_in_the_object() -> None:
    first, *below = PlainFormatter().format(record("fault", fault=True)).splitlines()
    assert first.endswith("WARNING server.hub: fault")
    assert below
    assert all(line.startswith("    ") and line.isprintable() for line in below)
    (line,) = JsonFormatter().format(record("fault", fault=True)).splitlines()
    assert "ValueError" in json.loads(line)["traceback"]


def test_many_lines_of_a_kind_are_few_and_how_many_were_left_out_is_said() -> None:
    now = [100.0]
    sparing = Sparing(lambda: now[0])
    passed = [sparing.filter(record("ended: %s", number)) for number in range(50)]
    assert passed == [True] * MOST_PER_S + [False] * (50 - MOST_PER_S)
    assert sparing.filter(record("another kind"))
    assert sparing.filter(record("ended: %s", "x", fault=True))
    now[0] = 101.0
    after = record("ended: %s", "50")
    assert sparing.filter(after)
    assert after.getMessage() == "ended: 50 (and 40 more like it before)"
    again = record("ended: %s", "51")
    assert sparing.filter(again)
    assert again.getMessage() == "ended: 51"


@pytest.mark.parametrize("formatter", [PlainFormatter(), JsonFormatter()])
def test_a_lone_surrogate_is_no_trouble(formatter: logging.Formatter) -> None:
    assert formatter.format(record("%s", "\ud800")).encode()


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[socket.socket, str]]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        address = str(tmp_path / "notify") if request.param == "path" else f"@ttt_net-{os.getpid()}-{id(tmp_path)}"
        listening.bind(address.replace("@", "\0"))
        listening.settimeout(PATIENCE_S)
        yield listening, address


def test_the_manager_hears_it(manager: tuple[socket.socket, str]) -> None:
    listening, address = manager
    assert notify("READY=1", {"NOTIFY_SOCKET": address})
    assert listening.recv(100) == b"READY=1"


@pytest.mark.parametrize("address", [None, "", "nonsense", "/nowhere/at/all", "@" + "x" * 200])
def test_without_a_manager_nothing_happens(address: str | None) -> None:
    assert not notify("READY=1", {} if address is None else {"NOTIFY_SOCKET": address})


class Terminal(io.StringIO):
    """A standard input that people type into."""

    def isatty(self) -> bool:
        """Return True."""
        return True


def test_a_process_is_managed_if_systemd_or_another_manager_says_so_and_nobody_types_into_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert not is_managed({})
    assert is_managed({"NOTIFY_SOCKET": "/nowhere"})
    assert is_managed({"INVOCATION_ID": "0123"})
    monkeypatch.setattr(sys, "stdin", Terminal())
    assert not is_managed({"INVOCATION_ID": "0123"})  # a shell of a desktop's terminal, which is itself a service
    assert is_managed({"NOTIFY_SOCKET": "/nowhere"})


def test_a_start_that_makes_progress_is_given_more_time_now_and_then(manager: tuple[socket.socket, str]) -> None:
    listening, address = manager
    now_s = 0.0
    moved = StartExtension({"NOTIFY_SOCKET": address}, lambda: now_s)
    told = []
    for now_s in [0.0, 4.9, 5.0, 5.1, 9.9, 10.0, 600.0]:
        moved()
        notify(f"{now_s}", {"NOTIFY_SOCKET": address})
        told.append(listening.recv(100))
        if told[-1] != f"{now_s}".encode():
            assert listening.recv(100) == f"{now_s}".encode()
    more = f"EXTEND_TIMEOUT_USEC={EXTENSION_S * 1_000_000:.0f}".encode()
    assert told == [b"0.0", b"4.9", more, b"5.1", b"9.9", more, more]


@pytest.mark.parametrize(
    ("environment", "every_s"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "x"}, None),
        ({"WATCHDOG_USEC": "30000000"}, 15.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "ours"}, 15.0),
    ],
)
def test_the_watchdog_is_fed_twice_as_often_as_it_must(environment: dict[str, str], every_s: float | None) -> None:
    ours = {name: str(os.getpid()) if value == "ours" else value for name, value in environment.items()}
    assert watchdog_s(ours) == every_s


async def test_it_is_fed_again_and_again_with_how_things_stand(
    manager: tuple[socket.socket, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    listening, address = manager
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    monkeypatch.setenv("WATCHDOG_USEC", "2000")
    feeding = asyncio.ensure_future(keep_alive(lambda: "2 players"))
    for _ in range(3):
        assert await asyncio.to_thread(listening.recv, 100) == b"WATCHDOG=1\nSTATUS=2 players"
    feeding.cancel()


async def test_without_a_watchdog_nothing_is_fed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WATCHDOG_USEC", raising=False)
    await asyncio.wait_for(keep_alive(lambda: ""), PATIENCE_S)
