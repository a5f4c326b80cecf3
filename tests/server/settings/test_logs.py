"""One record is one line, whatever is in it; and a flood of peers is no flood of lines."""

import json
import logging
import sys

import pytest

from ttt_net.server.settings.logs import LEVELS, MOST_PER_S, JsonFormatter, PlainFormatter, Sparing, set_up

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
def test_the_library_writes_down_neither_what_is_sent_nor_who_comes_and_goes(
    level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
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
