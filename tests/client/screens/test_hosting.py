"""Leave a server of one's own that others are on, and be on one whose host leaves."""

from dataclasses import replace

import pytest
from websockets.frames import Close

from tests.client.pressing import drawn, lobby, pressed
from tests.client.samples import BEN, snapshot
from ttt_net.client.display import Display, Overlay
from ttt_net.client.update import update
from ttt_net.errors import Advice, Closing
from ttt_net.sdk.disconnect import closed_by
from ttt_net.sdk.events import Lost


def with_guests(number: int, display: Display) -> Display:
    return replace(display, world=replace(display.world, guests=number))


def test_who_leaves_is_asked_with_how_many_are_there_and_may_stay_leave_or_let_the_server_run() -> None:
    asked, _ = pressed(with_guests(2, lobby()), "q")
    assert asked.overlay is Overlay.HOSTING
    assert "2 other people are here; end the server?" in drawn(asked)
    assert drawn(asked, (40, 12)).endswith("y end it  s let it run  Esc no")
    for key in ("escape", "c-m", "q", "x"):
        stays, _ = pressed(asked, key)
        assert (stays.overlay, stays.is_leaving) == (Overlay.NONE, False)
    ends, _ = pressed(asked, "y")
    assert (ends.is_leaving, ends.is_serving_on) == (True, False)
    goes_on, _ = pressed(asked, "S")
    assert (goes_on.is_leaving, goes_on.is_serving_on) == (True, True)


def test_nobody_is_asked_where_nobody_else_is() -> None:
    assert pressed(lobby(), "q")[0].is_leaving


def test_a_match_is_asked_about_after_the_server_and_staying_in_it_forgets_both_answers() -> None:
    display = with_guests(1, lobby(snapshot(opponent=BEN)))
    asked, _ = pressed(display, "q", "s")
    assert (asked.overlay, asked.is_leaving) == (Overlay.LEAVE, False)
    stays, _ = pressed(asked, "escape")
    assert (stays.overlay, stays.is_serving_on) == (Overlay.NONE, False)
    waits, _ = pressed(asked, "w")
    assert (waits.is_leaving, waits.is_match_kept, waits.is_serving_on) == (True, True, True)


@pytest.mark.parametrize("width", [40, 80])
def test_those_who_play_read_that_the_host_has_closed_the_server(width: int) -> None:
    lost = closed_by(Close(Closing.ENDED, Closing.ENDED.meaning))
    assert lost.advice is Advice.RETRY
    display = update(lobby(snapshot(opponent=BEN)), Lost(lost.reason), 0)
    assert "The host has closed the server" in drawn(display, (width, 24))
