"""A position that does not fit its game is refused before anything is drawn of it."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.client.samples import snapshot
from ttt_net.errors import Code, Refusal
from ttt_net.messages import Snapshot, TargetInfo
from ttt_net.sdk.received import check_snapshot

SOUND = {
    "vanishing": snapshot("vanishing", [0, 2, 4, 7, 3, 5]),
    "ultimate": snapshot("ultimate", [0]),
    "swap": snapshot("connect4+swap", [38]),
    "misere": snapshot("misere", [0, 3, 1, 4, 2]),
}


@pytest.mark.parametrize("sound", SOUND.values(), ids=SOUND)
def test_what_a_server_of_ours_tells_is_sound(sound: Snapshot) -> None:
    check_snapshot(sound)


@pytest.mark.parametrize(
    ("which", "lie", "reason"),
    [
        ("vanishing", {"vanishing": 9}, "a vanishing mark outside the board"),
        ("vanishing", {"vanishing": -1}, "a vanishing mark outside the board"),
        ("ultimate", {"target": TargetInfo(0, "none")}, "a target that is no small board"),
        ("ultimate", {"target": TargetInfo(10, "none")}, "a target that is no small board"),
        ("vanishing", {"target": TargetInfo(1, "top left")}, "a target that is no small board"),
        ("swap", {"takeover": -1}, "a takeover that is no legal move"),
        ("swap", {"takeover": 38}, "a takeover that is no legal move"),
        ("misere", {"line_by": 2}, "a line of side 2"),
        ("misere", {"line_by": -1}, "a line of side -1"),
    ],
)
def test_what_does_not_fit_is_refused(which: str, lie: dict[str, Any], reason: str) -> None:
    lying = replace(SOUND[which], position=replace(SOUND[which].position, **lie))
    with pytest.raises(Refusal, match=reason) as refused:
        check_snapshot(lying)
    assert refused.value.code is Code.BAD_MESSAGE
