"""Words after `play`, `bot` and `challenge`."""

import pytest

from ttt_net.client.display import Send
from ttt_net.client.screens.offers import as_understood, in_terms
from ttt_net.clock import TimeControl
from ttt_net.messages import ChallengeRequest, SeekRequest


@pytest.mark.parametrize("terms", ["connect four 3+2 level 5", "level 5 connect4 3+2", "Connect4 LEVEL5 3+2"])
def test_a_level_may_stand_anywhere_among_game_and_clock(terms: str) -> None:
    asked = ChallengeRequest(0, name="Mia", game="connect4", time=TimeControl(180_000, 2_000), level=5)
    assert in_terms(ChallengeRequest(0, name="Mia"), terms) == Send(asked)
    assert in_terms(SeekRequest(0, ["gomoku"]), "level 2") == Send(SeekRequest(0, ["gomoku"], level=2))


def test_what_is_no_level_is_said() -> None:
    assert in_terms(SeekRequest(0), "level 9") == "level 9 is none: 1 to 8."
    assert in_terms(SeekRequest(0), "level high") == "level high is none: 1 to 8."


def test_a_server_that_knows_no_or_casual_is_asked_for_a_casual_match() -> None:
    seek = SeekRequest(0, ["connect4"], rated=True, or_casual=True)
    challenge = ChallengeRequest(0, "Ben", "connect4", rated=True, or_casual=True)
    assert as_understood(seek, ["chat"]) == SeekRequest(0, ["connect4"])
    assert as_understood(challenge, ()) == ChallengeRequest(0, "Ben", "connect4")
    for request in (seek, challenge, SeekRequest(0, ["connect4"], rated=True)):
        assert as_understood(request, ["chat", "or_casual"]) == request
