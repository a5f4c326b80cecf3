"""Files of engines."""

import re
from pathlib import Path

import pytest

from ttt_net.engines.settings import read_engines
from ttt_net.errors import ConfigurationError

PAGE = Path(__file__).parent.parent.parent / "docs" / "engines.md"


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "engines.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_example_of_the_page_is_a_file_of_engines(tmp_path: Path) -> None:
    found = re.search(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    (pela,) = read_engines(written(tmp_path, found[1]))
    assert (pela.title, pela.speaks, pela.seat.move_ms) == ("Pela", "piskvork", 2000)
    assert (pela.directory, pela.log) == (str(tmp_path / "pela"), str(tmp_path / "pela.log"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("engine = 1", "Expected `array`"),
        ("[[engine]]", "missing required field `command`"),
        ("[[engine]]\ncommand = ''", r"\$.engine\[0\].command"),
        ("[[engine]]\ncommand = ' '", "the command is empty"),
        ("[[engine]]\ncommand = 'x'\nspeed = 3", "unknown field `speed`"),
        ("[[engine]]\ncommand = 'x'\nprotocol = 'uci'", r"\$.engine\[0\].protocol"),
        ("[[engine]]\ncommand = 'x'\ngames = ['chess']", "unknown game 'chess'"),
        ("[[engine]]\ncommand = 'x'\nopenings = ['gomoku: a1 a1']", "a1"),
        ("[[engine]]\ncommand = 'x'\n[engine.seat]\nplaces = 99", r"\$.engine\[0\].seat.places"),
        ("[[engine]]\ncommand = 'x'\n[engine.seat]\ntime = 'noon'", "'noon' is not a clock"),
        ("[[engine]]\ncommand = 'x'\n[[engine]]\ncommand = './x'", "two engines are called x"),
        ("[[engine", "Expected"),
    ],
)
def test_errors_in_a_file_are_reported_with_their_place(text: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=sentence) as error:
        read_engines(written(tmp_path, text))
    assert str(tmp_path) in str(error.value)


def test_a_missing_file_is_reported_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        read_engines(tmp_path / "none.toml")
