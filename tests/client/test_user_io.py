"""Messages of a client before there is a screen."""

import pytest

from ttt_net.client.user_io import tell
from ttt_net.names import RULE


def test_a_line_ends_with_a_whole_word_and_what_is_copied_stays_in_one_piece(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    tell(f"You are Bob-the-2nd: a name is {RULE}.")
    lines = capsys.readouterr().out.splitlines()
    assert " ".join(lines) == f"You are Bob-the-2nd: a name is {RULE}."
    assert max(map(len, lines)) < 80
    tell("  " + "c5a9 " * 8)
    assert capsys.readouterr().out.startswith("  c5a9 c5a9"), "groups of a fingerprint stand apart from the sentences"
    tell("a" * 100)
    assert capsys.readouterr().out == "a" * 100 + "\n"
