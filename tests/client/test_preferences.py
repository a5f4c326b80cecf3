"""The file of preferences: what it sets, where it is, and what is said about mistakes in it."""

from pathlib import Path

import pytest

from tests.client.pressing import seen
from tests.client.samples import snapshot
from ttt_net.client.display import Begin, Display, Entry
from ttt_net.client.options import parse
from ttt_net.client.preferences import Preferences, load_preferences, path_of_preferences, read_preferences
from ttt_net.client.terminal.loop import press
from ttt_net.errors import ConfigurationError

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
