"""docs/games.md says what the code does."""

import importlib.util
from pathlib import Path

from ttt_net.games.catalogue import NAMES

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_as_make_docs_writes_it() -> None:
    spec = importlib.util.spec_from_file_location("write_games", DOCS / "write_games.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.generated() == {DOCS / "games.md": (DOCS / "games.md").read_text(encoding="utf-8")}


def test_every_named_game_has_a_section_with_a_drawing_and_a_value() -> None:
    sections = (DOCS / "games.md").read_text(encoding="utf-8").split("\n## ")
    for name in NAMES:
        (section,) = [text for text in sections if f"`{name}`" in text.splitlines()[0]]
        assert "```\n" in section
        assert "position `" in section
        assert "Value: " in section
