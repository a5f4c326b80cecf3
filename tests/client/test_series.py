"""From match to match of a series that one watches."""

import asyncio

import msgspec
import pytest

from tests.client.pressing import SEEK, lobby, pressed
from tests.client.samples import BEN, CHALLENGED, snapshot, welcome
from ttt_net.client.actions import Begin, Do, Say
from ttt_net.client.drawing.draw import draw
from ttt_net.client.drawing.glyphs import BOXES
from ttt_net.client.events import Event
from ttt_net.client.link.connection import Connection, Patience
from ttt_net.client.link.dialogue import Dialogue
from ttt_net.client.pages import Entry
from ttt_net.client.table import Table
from ttt_net.messages import Ended, OutcomeInfo, Rematched, Request, UnwatchRequest, WatchRequest

ENDED = Ended("m1", 2, 0, winner=1, reason="resign")
REMATCHED = Rematched("m1", 3, 0, next="m1-2")
WATCH = WatchRequest(0, match="m1", code="BCD234")
FOLLOWED = [UnwatchRequest(0, match="m1"), WatchRequest(0, match="m1-2", code="BCD234")]


def watcher(*events: Event) -> tuple[Table, list[Request]]:
    """Return the table of somebody who watches a private match, and what he says from then on."""
    connection = Connection("ws://localhost:1", Dialogue("Ann", None), asyncio.Queue(), Patience(None, None), print)
    said: list[Request] = []
    connection.say = said.append  # type: ignore[assignment, method-assign]
    table = Table(connection, SEEK, "localhost:1", has_lobby=True, is_seeking=False)
    table.hear(welcome(), 0)
    table.do(Say(WATCH))
    table.hear(snapshot(you=None, opponent=BEN), 0)
    said.clear()
    for event in events:
        table.hear(event, 0)
    return table, said


def test_whoever_watches_a_series_goes_on_to_its_next_match() -> None:
    table, said = watcher(ENDED, REMATCHED)
    assert said == FOLLOWED
    assert table.view.match is not None
    assert table.view.match.match == "m1", "the old one is seen until the new one is there"
    table.hear(snapshot(you=None, match="m1-2", opponent=BEN), 0)
    assert table.view.shown == "m1-2"
    assert set(table.view.matches) == {"m1-2"}
    table.do(Do.BACK)
    assert said[-1] == UnwatchRequest(0, match="m1-2")


@pytest.mark.parametrize("action", [Begin(Entry.CHAT), Do.REPLAY, Do.ASIDE])
def test_nobody_is_taken_away_from_what_he_reads_or_writes(action: Begin | Do) -> None:
    table, said = watcher(ENDED)
    table.do(action)
    said.clear()
    table.hear(REMATCHED, 0)
    assert said == []
    table.do(Do.BACK)
    assert "n next match" in draw(table.view, (80, 24), 0, BOXES).plain
    table.do(Do.NEW)
    assert said == FOLLOWED


def test_a_finished_match_that_is_looked_up_leads_on_as_well() -> None:
    first = msgspec.structs.replace(snapshot(you=None), outcome=OutcomeInfo(0, "resign"), next="m1-2")
    table, said = watcher(first, CHALLENGED)
    assert said == [], "only a step that is seen to be made is followed"
    view, requests = pressed(table.view, "n")
    assert requests == tuple(FOLLOWED)
    assert view.watching == "m1-2"


def test_the_players_themselves_are_led_by_the_server() -> None:
    view = lobby(snapshot(opponent=BEN), ENDED, REMATCHED)
    assert "next match" not in draw(view, (120, 40), 0, BOXES).plain
    assert pressed(view, "n")[1] == (SEEK,)
