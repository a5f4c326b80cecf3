"""How house bots describe themselves."""

import pytest

from ttt_net.client.bot import house
from ttt_net.client.bot.house import CHARACTERS


def test_a_bot_states_its_strength_only_with_the_engine_that_it_was_measured_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nora = next(each for each in CHARACTERS if each.name == "Nora")
    monkeypatch.setattr(house, "find_spec", lambda name: name)
    assert nora.about.startswith(f"{nora.style}; ")
    assert nora.about.endswith(" above Mia")
    monkeypatch.setattr(house, "find_spec", lambda name: None)
    assert nora.about == nora.style
