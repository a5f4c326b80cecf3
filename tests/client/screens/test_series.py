"""From match to match of a series that one watches."""

import asyncio

import msgspec
import pytest

from tests.client.pressing import SEEK, lobby, pressed
from tests.client.samples import BEN, CHALLENGED, snapshot, welcome
from ttt_net.client.client_controller import ClientController
from ttt_net.client.display import Begin, Command, Entry, Send
from ttt_net.client.drawing.draw import draw
from ttt_net.client.drawing.glyphs import BOXES
from ttt_net.client.mailbox import WorldEvent
from ttt_net.client.screens import replay
from ttt_net.messages import Ended, OutcomeInfo, Rematched, Request, UnwatchRequest, WatchRequest
from ttt_net.sdk.client_connection import FOREVER, ClientConnection
from ttt_net.sdk.client_session import ClientSession

ENDED = Ended("m1", 2, 0, winner=1, reason="resign")
REMATCHED = Rematched("m1", 3, 0, next="m1-2")
WATCH = WatchRequest(0, match="m1", code="BCD234")
FOLLOWED = [UnwatchRequest(0, match="m1"), WatchRequest(0, match="m1-2", code="BCD234")]


def watcher(*events: WorldEvent) -> tuple[ClientController, list[Request]]:
    """Return the table of somebody who watches a private match, and what they say from then on."""
    session, mailbox = ClientSession("Ann", None), asyncio.Queue[object]()
    connection = ClientConnection("ws://localhost:1", session, mailbox.put, FOREVER, print)
    said: list[Request] = []
    connection.say = said.append  # type: ignore[assignment, method-assign]
    controller = ClientController(connection, SEEK, "localhost:1", has_lobby=True, is_seeking=False)
    controller.hear(welcome(), 0)
    controller.do(Send(WATCH))
    controller.hear(snapshot(you=None, opponent=BEN), 0)
    said.clear()
    for event in events:
        controller.hear(event, 0)
    return controller, said


def test_who_watches_a_series_goes_on_to_its_next_match() -> None:
    controller, said = watcher(ENDED, REMATCHED)
    assert said == FOLLOWED
    assert controller.display.match is not None
    assert controller.display.match.match == "m1", "the old one is seen until the new one is there"
    controller.hear(snapshot(you=None, match="m1-2", opponent=BEN), 0)
    assert controller.display.shown == "m1-2"
    assert set(controller.display.world.matches) == {"m1-2"}
    controller.do(Command.BACK)
    assert said[-1] == UnwatchRequest(0, match="m1-2")


@pytest.mark.parametrize("command", [Begin(Entry.CHAT), replay.STEP_THROUGH.command, Command.SIDE_PANEL])
def test_nobody_is_taken_away_from_what_they_read_or_write(command: Begin | Command) -> None:
    controller, said = watcher(ENDED)
    controller.do(command)
    said.clear()
    controller.hear(REMATCHED, 0)
    assert said == []
    controller.do(Command.BACK)
    assert "n next match" in draw(controller.display, (80, 24), 0, BOXES).plain
    controller.do(Command.NEW)
    assert said == FOLLOWED


def test_a_finished_match_that_is_looked_up_leads_on_as_well() -> None:
    first = msgspec.structs.replace(snapshot(you=None), outcome=OutcomeInfo(0, "resign"), next="m1-2")
    controller, said = watcher(first, CHALLENGED)
    assert said == [], "only a step that is seen to be made is followed"
    display, requests = pressed(controller.display, "n")
    assert requests == tuple(FOLLOWED)
    assert display.world.watching == "m1-2"


def test_the_players_themselves_are_led_by_the_server() -> None:
    display = lobby(snapshot(opponent=BEN), ENDED, REMATCHED)
    assert "next match" not in draw(display, (120, 40), 0, BOXES).plain
    assert pressed(display, "n")[1] == (SEEK,)
