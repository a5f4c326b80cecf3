"""The server's counters, and faults: each is logged and counted, and costs nobody else anything."""

import asyncio
import logging
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from tests.server.running import Server, running, until
from ttt_net.server.matchmaking import lobby_feed
from ttt_net.server.metrics import Guard, Histogram, Metrics
from ttt_net.server.rooms import coach
from ttt_net.server.serving import SAMPLE_S


def test_a_value_is_counted_in_the_first_class_that_it_fits() -> None:
    histogram = Histogram((1.0, 2.0))
    for value in (0.5, 1.0, 1.5, 2.0, 99.0):
        histogram.observe(value)
    assert histogram.counts == [2, 2, 1]
    assert histogram.total == 104.0


@pytest.mark.parametrize(("share", "bound"), [(0.0, 1.0), (0.5, 1.0), (0.51, 2.0), (0.75, 2.0), (1.0, float("inf"))])
def test_a_quantile_is_the_bound_of_the_class_that_reaches_it(share: float, bound: float) -> None:
    histogram = Histogram((1.0, 2.0))
    for value in (0.5, 0.6, 1.5, 99.0):
        histogram.observe(value)
    assert histogram.quantile(share) == bound


def test_an_empty_histogram_has_no_quantile() -> None:
    assert Histogram().quantile(0.5) is None


async def test_moves_matches_refusals_and_requests_are_counted(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        meters = server.hub.metrics
        first, second, match = await server.pair()
        await first.play(match, (first, 0), (second, 1), (first, 2))
        assert await first.refused("play", match=match, ply=3, move=3) == "not_your_turn"
        stranger = await server.connect()
        assert await stranger.refused("who") == "hello_first"
        assert (meters.matches, meters.moves, meters.accepted) == (1, 3, 3)
        assert meters.refusals == {"not_your_turn": 1, "hello_first": 1}
        assert meters.requests == 2 + 2 + 4 + 1
        assert sum(meters.move_s.counts) == 3
        health = server.ledger.health()
        assert sum(health.commit_s.counts) >= 5
        assert health.commit_s.total > 0
        assert health.failures == 0


async def test_connections_that_the_server_ends_are_counted_by_reason(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann = await server.join("Ann")
        again = await server.connect()
        await again.hello(token=ann.token)
        assert await ann.close_code() == 4001
        await again.close()
        await server.raw()
        await until(lambda: not server.sessions and server.hub.metrics.accepted == 3)
        server.tick(60)
        await until(lambda: not server.connections)
        assert server.hub.metrics.endings == {"replaced": 1, "no_handshake": 1}


async def test_the_lateness_of_the_event_loop_is_measured(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        lag_s = server.hub.metrics.lag_s
        await until(lambda: sum(lag_s.counts) >= 1)
        time.sleep(SAMPLE_S + 0.1)  # noqa: ASYNC251 - the loop is to stand still past its next look at the clock
        await until(lambda: lag_s.total >= 0.1)


def broken(*_: object) -> NoReturn:
    raise KeyError("planted")


def reports(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Take the faults that were expected out of the log; return what was said of them."""
    said = [record.getMessage() for record in caplog.records if record.exc_info]
    caplog.clear()
    return said


def test_a_part_that_fails_at_every_turn_does_not_fill_the_log(caplog: pytest.LogCaptureFixture) -> None:
    meters, seen = Metrics(), []
    guard = Guard(meters)
    for _ in range(1_000):
        guard.attempt("bad part", broken, lambda: seen.append(1))
        guard.attempt("good part", lambda: None, lambda: seen.append(2))
    assert meters.faults == 1_000
    assert seen == [1] * 1_000
    assert reports(caplog) == [f"fault: bad part (number {2**power} of its kind)" for power in range(10)]


def test_a_cancellation_is_no_error() -> None:
    def end() -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        Guard(Metrics()).attempt("part", end)


def break_reception(server: Server) -> None:
    server.hub.matchmaker.tick = broken  # type: ignore[method-assign]


def break_noticeboard(server: Server) -> None:
    server.hub.services.feed.tick = broken  # type: ignore[method-assign]


@pytest.mark.parametrize("plant", [break_reception, break_noticeboard])
async def test_a_fault_in_one_part_leaves_the_others_their_turns(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, plant: Callable[[Server], None]
) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair()
        plant(server)
        with caplog.at_level(logging.ERROR):
            server.tick(0)
            server.tick(0)
        assert server.hub.metrics.faults == 2
        assert len(reports(caplog)) == 2
        await first.ok("play", match=match, ply=0, move=4)
        await second.hear("played")


async def test_a_fault_in_an_analysis_costs_that_analysis(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coach, "described", broken)
    line = '{"ply": 1, "side": 0, "move": 4, "best": [], "value": 0}'
    async with running(tmp_path, engine=(sys.executable, "-c", f"print({line!r})")) as server:
        first, second, match = await server.pair()
        await first.play(match, (first, 0), (second, 1), (first, 2))
        await first.ok("resign", match=match)
        await second.hear("ended")
        for number in range(2):
            await first.ok("analyse", match=match)
            assert (await first.hear("analysis"))["moves"] == []
            assert server.hub.metrics.faults == number + 1
        assert reports(caplog) == [f"fault: analysis (number {number} of its kind)" for number in (1, 2)]


async def test_a_list_that_could_not_be_built_is_sent_once_it_can(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lobby_feed, "PERIODS_MS", dict.fromkeys(lobby_feed.PERIODS_MS, 1))
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        await ann.ok("lobby", on=True)
        await ann.hear("seeks", count=0)
        board = server.hub.services.feed
        board.publish({"seeks": broken})
        await bob.ok("seek", games=["tictactoe"])
        await until(lambda: server.hub.metrics.faults > 2)
        board.publish({"seeks": server.hub.listing.seeks})
        await ann.hear("seeks", count=1)
        assert len(reports(caplog)) >= 2
