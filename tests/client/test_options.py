import json
import re
import shlex
from pathlib import Path

import pytest

from tests.client.conftest import ROOT
from tests.client.pressing import seen
from tests.client.samples import snapshot
from ttt_net.client.address import DEFAULT_URL, read_address, url_of
from ttt_net.client.display import Begin, Display, Entry
from ttt_net.client.options import Preferences, load_preferences, parse, path_of_preferences, read_preferences
from ttt_net.client.terminal.loop import press
from ttt_net.client.user_io import line_of, summary_line
from ttt_net.clock import TimeControl
from ttt_net.errors import ConfigurationError
from ttt_net.sdk.received import Tally


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
def test_invalid_addresses_are_rejected_in_one_line(text: str) -> None:
    with pytest.raises(ConfigurationError, match="is no address") as error:
        url_of(text)
    assert str(error.value).isprintable()


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("localhost", ("ws://localhost:8765", None)),
        ("http://192.168.1.20:8765/", ("ws://192.168.1.20:8765", None)),
        ("https://example.org", ("wss://example.org", None)),
        ("http://192.168.1.20:8765/j#k7qmx2", ("ws://192.168.1.20:8765", "K7QMX2")),
        ("http://192.168.1.20:8765/j/#k7qmx2", ("ws://192.168.1.20:8765", "K7QMX2")),
        ("http://192.168.1.20:8765/j/k7qmx2", ("ws://192.168.1.20:8765", "K7QMX2")),
        ("https://example.org/m/k3V9pQ7x#K7QMX2", ("wss://example.org", None)),
    ],
)
def test_the_web_address_of_a_server_is_one_of_its_addresses(text: str, address: tuple[str, str | None]) -> None:
    assert read_address(text) == address


@pytest.mark.parametrize("text", ["http://", "http://a b", "http://x/j/AEIOUY", "http://x/j#AEIOUY", "ftp://x"])
def test_addresses_that_no_browser_opens_are_rejected(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"is no (address|invitation code)"):
        read_address(text)


def test_the_link_of_an_invitation_is_all_that_it_takes() -> None:
    options = parse(["http://192.168.1.20:8765/j#K7QMX2"])
    assert (options.url, options.join) == ("ws://192.168.1.20:8765", "K7QMX2")


def test_a_bot_joins_by_the_code_of_a_tournament() -> None:
    options = parse(["localhost", "--bot", "random", "--join", "BCDFG"])
    assert (options.bot, options.join) == ("random", "BCDFG")


def test_a_server_is_known_by_host_and_port() -> None:
    assert parse([]).server == "localhost:8765"
    assert parse(["wss://Example.org/x"]).server == "example.org:443"
    assert parse(["ws://example.org"]).server == "example.org:80"


def test_the_command_for_returning_is_the_one_that_was_typed() -> None:
    assert parse([]).url == DEFAULT_URL
    assert parse([]).command == "python client.py"
    assert parse(["host:9000"]).command == "python client.py host:9000"
    assert parse(["wss://host"]).command == "python client.py wss://host"


def test_a_time_control_is_minutes_and_seconds() -> None:
    assert parse(["--time", "3+2"]).time == TimeControl(180_000, 2_000)
    assert parse(["--time", "0.5+0"]).time == TimeControl(30_000, 0)


@pytest.mark.parametrize("text", ["0", "0+1", "3+", "181+0", "3+61", "-3+2", "3+2x", "a+b", "0.01+0"])
def test_an_impossible_time_control_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="minutes\\+seconds"):
        parse([f"--time={text}"])


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


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("--loccal", "there is no option --loccal; did you mean --local; see client.py --help"),
        ("--zzz", "there is no option --zzz; see client.py --help"),
        ("a b", "b: there can be only one address"),
        ("--port five", "--port: 'five' is no whole number; see client.py --help"),
        ("--leaderboard", "--leaderboard: expected one argument; see client.py --help"),
        ("--port 9000", "--port is for a server of your own; add --host, or write host:port"),
        ("--host --port 99999", "--port 99999: 0 to 65535"),
        ("--level 3", "--level is for strategies; add --bot STRATEGY, or --local with --o STRATEGY"),
        ("--local --level 3", "--level is for strategies; add --o computer, or --o STRATEGY"),
        ("--local --level 9", "--level 9: 1 to 8"),
        ("--bot mcts --level 0", "--level 0: 1 to 8"),
        ("--local --x human --seed 1", "--seed is for strategies; add --o computer, or --o STRATEGY"),
        ("--local --o tactics --places 2", "--places is for bots; add --bot STRATEGY"),
        ("--games 2", "--games is for bots and matches at this keyboard; add --bot STRATEGY or --local"),
        ("--join BCD234 --game qubic", "the invitation says what is played; leave out --game"),
        ("http://h/j/BCD234 --bot random", "an invitation is for people; a bot joins by the code of a tournament"),
        ("--profile --game qubic", "--profile asks instead of playing; leave out --game"),
        ("--local --guest", "--guest does not go with --local, which needs no server"),
        ("here --guest --name Ann", "--guest is for a person without a name; leave out --name and --bot"),
        ("--local --insecure", "--insecure does not go with --local, which needs no server"),
    ],
)
def test_errors_are_reported_with_advice(arguments: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        parse(arguments.split())
    assert str(error.value) == sentence


def test_the_help_that_most_people_need_fits_a_terminal_and_what_it_says_can_be_typed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as exit_code:
        parse(["--help"])
    assert exit_code.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 23
    assert max(map(len, lines)) < 80
    examples = [re.split(r"  +", line.strip().removeprefix("client.py"))[0] for line in lines if "client.py" in line]
    for example in examples:
        parse(shlex.split(example.replace("ADDRESS", "example.org").replace("CODE", "BCD234")))
    assert len(examples) >= 8


def test_every_option_is_in_the_long_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["--help-all"])
    told = capsys.readouterr().out
    for option in ("--tls-fingerprint", "--leaderboard", "--screen-reader", "--reserve", "--start"):
        assert option in told


def test_a_frame_becomes_one_line_of_ascii_without_the_token() -> None:
    line = line_of('{"type": "welcome",\n "token": "secret", "you": {"name": "\u009bé"}}')
    assert line is not None
    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line) == {"type": "welcome", "token": "", "you": {"name": "\u009bé"}}


@pytest.mark.parametrize("frame", ["", "{", "[]", '{"type": 5}', "{}", "[" * 100_000, '{"type":"x","a":' + "[" * 900])
def test_invalid_messages_give_no_line(frame: str) -> None:
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


@pytest.mark.parametrize("page", ["README.md", "docs/client.md", "docs/hosting.md", "docs/bots.md", "docs/engines.md"])
def test_the_client_accepts_the_commands_in_the_docs(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    commands = re.findall(r"^python client\.py([^\[\n`]*)$|`python client\.py([^\[`]*)`", text, re.MULTILINE)
    for one, other in commands:
        words = shlex.split(one or other, comments=True)
        if "--help" not in words and not any(word.isupper() for word in words if word != "BCD234"):
            parse(words)
    assert commands or page != "README.md"


PATH = Path("client.toml")
WHOLE = b"""
theme = "Paper"
game = "connect4"
sounds = false

[keys]
w = "up"
ctrl-e = "enter"
"""


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have the folder for settings to ourselves."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path


def write(content: bytes) -> None:
    path = path_of_preferences()
    path.parent.mkdir(parents=True)
    path.write_bytes(content)


def test_without_a_file_everything_is_as_usual() -> None:
    assert load_preferences() == Preferences()
    options = parse(["localhost"])
    assert (options.theme, options.usual_game, options.is_quiet, dict(options.keys)) == (None, "tictactoe", False, {})


def test_the_file_is_where_such_files_are(own_folder: Path) -> None:
    assert path_of_preferences() == own_folder / "ttt_net" / "client.toml"


def test_the_file_sets_colours_game_sounds_and_keys() -> None:
    write(WHOLE)
    options = parse(["localhost"])
    assert (options.theme, options.usual_game, options.is_quiet) == ("paper", "connect4", True)
    assert options.keys == {"w": "up", "c-e": "c-m"}
    assert options.game is None, "nothing was asked for"
    local = parse(["--local"]).local
    assert local is not None
    assert local.game == "connect4"


def test_the_command_line_counts_more_than_the_file() -> None:
    write(WHOLE)
    assert parse(["localhost", "--theme", "neon"]).theme == "neon"
    local = parse(["--local", "--game", "gomoku"]).local
    assert local is not None
    assert local.game == "gomoku"


def test_a_bot_does_not_read_the_file_of_a_person() -> None:
    write(b"theme = 3")
    assert parse(["localhost", "--bot", "random"]).usual_game == "tictactoe"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'theme = "drak"', "client.toml: theme 'drak': choose dark, light, contrast, safe, paper or neon"),
        (
            b'sounds = "no"',
            "client.toml: sounds: expected `bool`, got `str`; the settings are theme, game, sounds, keys",
        ),
        (b"colour = 1", "client.toml: unknown setting colour; the settings are theme, game, sounds, keys"),
        (b"[keys]\nw = 'upp'", "client.toml: keys: 'upp' is no key; write a character, ctrl-x, or enter, tab, space"),
        (b"theme = ", "client.toml is not TOML: Invalid value"),
        (b"\xff", "client.toml is not TOML: 'utf-8' codec"),
        (b"#" * 70_000, "client.toml: more than 65,536 bytes"),
    ],
)
def test_a_mistake_is_named_with_what_to_write_instead(content: bytes, told: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        read_preferences(content, PATH)
    assert str(error.value).replace("`", "").startswith(told.replace("`", ""))


def test_a_game_that_nobody_knows_is_reported_with_the_file() -> None:
    write(b'game = "conect4"')
    with pytest.raises(ConfigurationError, match=r"client\.toml: .*connect4"):
        parse(["localhost"])


@pytest.mark.parametrize("name", ["drak", "", "1"])
def test_a_theme_on_the_command_line_is_one_of_six(name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"--theme .*: choose dark, light"):
        parse(["localhost", "--theme", name])


class _Pressed:
    """A controller that keeps what it is to do."""

    def __init__(self, display: Display) -> None:
        self.display = display
        self.done: list[object] = []

    def do(self, command: object) -> None:
        self.done.append(command)


def test_a_key_stands_for_another_but_not_while_a_text_is_typed() -> None:
    from dataclasses import replace

    at_board = _Pressed(seen(snapshot()))
    press("w", at_board, {"w": "up"})  # type: ignore[arg-type]
    assert [str(each) for each in at_board.done] == ["Command.UP"]
    typing = _Pressed(replace(seen(snapshot()), entry=Entry.CHAT))
    press("w", typing, {"w": "up"})  # type: ignore[arg-type]
    assert "w" in str(typing.done[0])
    assert Begin(Entry.CHAT) not in typing.done
