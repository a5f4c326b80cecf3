"""The server's counters."""

import time
from pathlib import Path

import pytest

from tests.server.running import running, until
from ttt_net.server.main import SAMPLE_S
from ttt_net.server.metrics import Histogram


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


def test_of_nothing_there_is_no_quantile() -> None:
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
