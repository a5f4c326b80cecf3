"""Messages of a bot to the person who hosts it."""

import json

import pytest
from msgspec import structs

from tests.client.samples import ANN, snapshot, welcome
from ttt_net.client.bot.bot_log import BotLog
from ttt_net.client.mailbox import WorldEvent
from ttt_net.client.user_io import line_of_link
from ttt_net.client.world import World, update_world
from ttt_net.errors import Code
from ttt_net.messages import Ended, Notice, OutcomeInfo, PlayerInfo, Refused, SeekRequest
from ttt_net.sdk.received import Answered, Back, ConnectionEvent, Lost, Retrying

BOT = PlayerInfo("deep", "alphabeta")
LET_IN = welcome(you=BOT)


def written(*events: WorldEvent | tuple[int, WorldEvent], log: BotLog | None = None) -> list[str]:
    """Return all that is said of the events; some have the time at which they happen."""
    log, world, lines, now_ms = log or BotLog(), World(address="example.org:8765"), [], 0
    for each in events:
        now_ms, event = each if isinstance(each, tuple) else (now_ms, each)
        before, world = world, update_world(world, event, now_ms)
        lines.append(log.line_of(event, before, world, now_ms))
    return [line for line in lines if line]


def test_the_log_of_a_bot_names_the_players_and_the_result() -> None:
    match = snapshot(you=1, opponent=BOT)
    lines = written(LET_IN, match, Ended("m1", 2, 0, winner=0, reason="resign"), log=BotLog("A hint."))
    assert lines == [
        "Playing as deep [bot] on the test; Ctrl-C stops it.\nA hint.",
        f"Tic-tac-toe: {BOT.name} [bot] (X) against Ann (O).",
        "Against deep [bot]: You lost: you resigned. So far 0 won, 0 drawn, 1 lost.",
    ]


def test_of_several_matches_at_once_each_has_its_end() -> None:
    matches = [snapshot(you=1, opponent=BOT), snapshot(you=0, opponent=ANN, match="m2")]
    ends = [Ended("m2", 2, 0, winner=None, reason="abort"), Ended("m1", 2, 0, winner=1, reason="resign")]
    assert written(LET_IN, *matches, *ends)[3:] == [
        "Against Ann: The match was called off; it does not count. So far 0 won, 0 drawn, 0 lost.",
        "Against deep [bot]: You won: deep resigned. So far 1 won, 0 drawn, 0 lost.",
    ]


def test_a_match_that_ended_while_disconnected_is_also_reported() -> None:
    over = structs.replace(snapshot(you=1, opponent=BOT), outcome=OutcomeInfo(1, "abandon"))
    assert written(LET_IN, snapshot(you=1, opponent=BOT), over, over)[2:] == [
        "Against deep [bot]: You won: deep left the match. So far 1 won, 0 drawn, 0 lost."
    ]


def test_an_hour_without_a_server_is_reported_now_and_then_and_not_at_each_try() -> None:
    away = [(second * 1000, Retrying(second, 5000, "nothing listens there")) for second in range(5, 3600, 5)]
    lines = written(LET_IN, Lost("the connection broke"), *away, (3_600_000, Back()), LET_IN)
    assert lines == [
        "Playing as deep [bot] on the test; Ctrl-C stops it.",
        "The connection dropped: the connection broke. Trying until it is back.",
        *(f"Still no server after {minutes}: nothing listens there." for minutes in ("60 s", "2 min", "4 min")),
        *(f"Still no server after {minutes} min: nothing listens there." for minutes in (8, 16, 32)),
        "Connected again.",
    ]


def test_a_bot_says_that_it_waits_for_a_server_that_has_not_started() -> None:
    lines = written(Retrying(1, 50, "nothing listens there"), Retrying(2, 100, "nothing listens there"), LET_IN)
    assert lines == [
        "No server at example.org:8765: nothing listens there. Trying until there is one.",
        "Playing as deep [bot] on the test; Ctrl-C stops it.",
    ]


def test_a_bots_obstacle_is_reported_once() -> None:
    full = Answered(SeekRequest(3), Refused(3, Code.TOO_MANY_MATCHES.value, "you play 20 matches already"))
    assert written(LET_IN, full, full, full)[1:] == [
        "No opponent can be sought now: you play 20 matches already. Asking again."
    ]
    assert written(LET_IN, Answered(SeekRequest(3), Refused(3, Code.TOO_FAST.value, "slow down", 100)))[1:] == []
    assert written(LET_IN, Notice("a\x1b[2Jnew version at ten"))[1:] == ["The server says: a[2Jnew version at ten"]


def test_watchers_get_neutral_sentences_about_both_sides() -> None:
    log = BotLog(is_for_onlookers=True)
    lines = written(LET_IN, snapshot(opponent=BOT), Ended("m1", 2, 0, winner=0, reason="resign"), log=log)
    assert lines == [f"Tic-tac-toe: {ANN.name} (X) against deep [bot] (O).", "Ann won: deep resigned."]


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (Lost("the connection broke"), {"type": "lost", "reason": "the connection broke"}),
        (Retrying(1, 50, "nothing listens there"), {"type": "retrying", "reason": "nothing listens there"}),
        (Retrying(2, 50, "nothing listens there"), None),
        (Back(), {"type": "back"}),
        (LET_IN, None),
    ],
)
def test_programs_get_connection_events_too(event: ConnectionEvent, line: dict[str, str] | None) -> None:
    told = line_of_link(event)
    assert (json.loads(told) if told is not None else None) == line
