"""Cost of latency for a player, over a real connection that is slowed down."""

from pathlib import Path

from tests.server.delay import delayed
from tests.server.peer import Peer
from tests.server.running import running, until
from ttt_net.clock import LAG_QUOTA_GAIN_MS, LAG_QUOTA_MAX_MS, LAG_QUOTA_START_MS
from ttt_net.server.settings.configuration import Limits

ONE_WAY_S = 0.15
LEAST_MS = 2_000 * ONE_WAY_S - 5
"""There and back; a timer of the event loop may be a little early."""
MOVES = [30, 31, 60, 61, 90, 91, 120, 121, 150, 151, 180, 181]


async def test_network_time_is_refunded_to_the_millisecond_even_on_a_busy_machine(tmp_path: Path) -> None:
    """That this comes to less than 50 ms a move for a link of 300 ms is shown in simulated time, in test_clock."""
    once = Limits(ping_after_s=60, dead_after_s=600)  # no ping but the one that is asked for
    async with running(tmp_path, once) as server, delayed(server.port, ONE_WAY_S) as port:
        far = await Peer.connect(f"ws://127.0.0.1:{port}")
        await far.hello(name="Far")
        server.tick(0)
        connection = server.connection_of("Far")
        await until(lambda: connection.lag_ms > 0)
        assert connection.lag_ms >= LEAST_MS
        near = await server.join("Near")
        first, second, match = await server.match(far, near, games=["gomoku"], time={"initial_ms": 600_000})
        side = 0 if first is far else 1
        left_ms, quota_ms, refunds = 600_000, LAG_QUOTA_START_MS, 0
        for ply, move in enumerate(MOVES):
            mover, lag_ms = (first, second)[ply % 2], connection.lag_ms
            await mover.ok("play", match=match, ply=ply, move=move)
            played, _ = [await peer.hear("played", ply=ply + 1) for peer in (near, far)]
            if mover is not far or ply < 2:
                continue
            charged_ms, refunded_ms = left_ms - played["clock"]["remaining_ms"][side], played["refunded_ms"]
            took_ms = charged_ms + refunded_ms
            assert took_ms >= LEAST_MS, "the wire takes its time"
            assert refunded_ms == min(lag_ms, quota_ms, took_ms)
            left_ms -= charged_ms
            quota_ms = min(LAG_QUOTA_MAX_MS, quota_ms - refunded_ms + LAG_QUOTA_GAIN_MS)
            refunds += 1
        assert refunds == 5
