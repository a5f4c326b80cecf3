"""Fixtures that make the example packages be found, as if pip had installed them."""

from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from ttt_net.games import outside
from ttt_net.games.rules import find_rules
from ttt_net.matches.description import describe_game, describe_rules

EXAMPLES = Path(__file__).parents[2] / "examples"
ENTRIES = [
    EntryPoint("hex", "ttt_hex:games", outside.GROUP),
    EntryPoint("othello", "ttt_othello:games", outside.GROUP),
    EntryPoint("pente", "ttt_pente:games", outside.GROUP),
]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Yield a function that makes entry points be found, as pip does by installing packages."""
    for example in ("hex", "othello", "pente"):
        monkeypatch.syspath_prepend(EXAMPLES / example)

    def installed(*entries: EntryPoint) -> None:
        monkeypatch.setattr(outside, "entry_points", lambda group: entries if group == outside.GROUP else ())
        outside.outside_games.cache_clear()

    yield installed
    outside.outside_games.cache_clear()
    find_rules.cache_clear()
    describe_game.cache_clear()
    describe_rules.cache_clear()


@pytest.fixture
def examples(install: Callable[..., None]) -> None:
    install(*ENTRIES)
