import json
import re
import shlex

import pytest

from tests.client.conftest import ROOT
from ttt_net.client.json_lines import line_of, summary_line
from ttt_net.client.options import DEFAULT_URL, parse, time_of, url_of
from ttt_net.client.view import Tally
from ttt_net.clock import TimeControl
from ttt_net.errors import ConfigurationError


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("localhost", "ws://localhost:8765"),
        ("localhost:9000", "ws://localhost:9000"),
        ("192.168.1.5", "ws://192.168.1.5:8765"),
        ("::1", "ws://[::1]:8765"),
        ("[::1]", "ws://[::1]:8765"),
        ("[::1]:9000", "ws://[::1]:9000"),
        ("ws://host:1/play", "ws://host:1/play"),
        ("wss://example.org", "wss://example.org"),
    ],
)
def test_an_address_is_understood_in_all_its_forms(text: str, url: str) -> None:
    assert url_of(text) == url


@pytest.mark.parametrize(
    "text",
    [
        "",
        "http://x",
        "ws://",
        "ws://x:0",
        "ws://x:99999",
        "x:y",
        "ws://user:pw@x",
        "a b",
        "x\x1b[2J",
        "ws://ä.example",
        "192.168..20",
        "host:",
    ],
)
def test_what_is_no_address_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(ConfigurationError, match="is no address") as error:
        url_of(text)
    assert str(error.value).isprintable()


def test_a_server_is_known_by_host_and_port() -> None:
    assert parse([]).server == "localhost:8765"
    assert parse(["wss://Example.org/x"]).server == "example.org:443"
    assert parse(["ws://example.org"]).server == "example.org:80"


def test_how_to_come_back_is_what_was_typed() -> None:
    assert parse([]).url == DEFAULT_URL
    assert parse([]).command == "python client.py"
    assert parse(["host:9000"]).command == "python client.py host:9000"
    assert parse(["wss://host"]).command == "python client.py wss://host"


def test_a_time_control_is_minutes_and_seconds() -> None:
    assert time_of("3+2") == TimeControl(180_000, 2_000)
    assert time_of("0.5+0") == TimeControl(30_000, 0)


@pytest.mark.parametrize("text", ["3", "0+1", "181+0", "3+61", "-3+2", "3+2x", "a+b", "0.01+0"])
def test_an_impossible_time_control_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="minutes\\+seconds"):
        time_of(text)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--games", "3"],
        ["--bot", "random", "--games", "0"],
        ["--bot", "random", "--move-time", "0"],
        ["--name", "\x1b\x07"],
        ["--opponents", "cats"],
        ["--no-such-option"],
        ["a", "b"],
        ["--bot"],
    ],
)
def test_a_wrong_command_line_is_one_sentence(arguments: list[str]) -> None:
    with pytest.raises(ConfigurationError) as error:
        parse(arguments)
    assert "\n" not in str(error.value)


def test_a_frame_becomes_one_line_of_ascii_without_the_token() -> None:
    line = line_of('{"type": "welcome",\n "token": "secret", "you": {"name": "\u009bé"}}')
    assert line is not None
    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line) == {"type": "welcome", "token": "", "you": {"name": "\u009bé"}}


@pytest.mark.parametrize("frame", ["", "{", "[]", '{"type": 5}', "{}", "[" * 100_000, '{"type":"x","a":' + "[" * 900])
def test_what_is_no_message_is_no_line(frame: str) -> None:
    assert line_of(frame) is None


def test_the_summary_counts() -> None:
    assert json.loads(summary_line(Tally(3, 2, 1))) == {"type": "summary", "games": 6, "won": 3, "drawn": 2, "lost": 1}


def test_a_bot_that_stays_has_more_places_than_one_that_plays_a_number_of_games() -> None:
    assert (parse(["--bot", "random"]).places, parse(["--bot", "random", "--games", "9"]).places) == (4, 1)
    assert parse(["--bot", "random", "--places", "7", "--reserve", "2"]).reserve == 2
    for wrong in (["--places", "0"], ["--places", "21"], ["--places", "3", "--reserve", "4"], ["--reserve", "-1"]):
        with pytest.raises(ConfigurationError, match=wrong[-2]):
            parse(["--bot", "random", *wrong])
    with pytest.raises(ConfigurationError, match="for bots"):
        parse(["--places", "3"])


@pytest.mark.parametrize("page", ["README.md", "docs/client.md", "docs/hosting.md", "docs/bots.md"])
def test_what_the_pages_say_can_be_typed(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    commands = re.findall(r"^python client\.py([^\[\n`]*)$|`python client\.py([^\[`]*)`", text, re.MULTILINE)
    for one, other in commands:
        words = shlex.split(one or other)
        if "--help" not in words and not any(word.isupper() for word in words if word != "BCD234"):
            parse(words)
    assert commands or page != "README.md"
