"""What a long wire costs its player, over a real one that is made long."""

from pathlib import Path

from tests.server.delay import delayed
from tests.server.peer import Peer
from tests.server.running import running, until

ONE_WAY_S = 0.15
LEAST_MS = 2_000 * ONE_WAY_S - 5
"""There and back; a timer of the event loop may be a little early."""
MOVES = [30, 31, 60, 61, 90, 91, 120, 121, 150, 151, 180, 181]


async def test_a_link_of_300_ms_costs_its_player_under_50_ms_a_move(tmp_path: Path) -> None:
    async with running(tmp_path) as server, delayed(server.port, ONE_WAY_S) as port:
        far = await Peer.connect(f"ws://127.0.0.1:{port}")
        await far.hello(name="Far")
        server.tick(0)
        connection = server.connection_of("Far")
        await until(lambda: connection.lag_ms > 0)
        assert connection.lag_ms >= LEAST_MS
        near = await server.join("Near")
        first, second, match = await server.match(far, near, games=["gomoku"], time={"initial_ms": 60_000})
        side = 0 if first is far else 1
        left_ms, costs = 60_000, []
        for ply, move in enumerate(MOVES):
            mover = (first, second)[ply % 2]
            await mover.ok("play", match=match, ply=ply, move=move)
            played, _ = [await peer.hear("played", ply=ply + 1) for peer in (near, far)]
            if mover is far and ply >= 2:
                costs.append(left_ms - played["clock"]["remaining_ms"][side])
                left_ms -= costs[-1]
                assert costs[-1] + played["refunded_ms"] >= LEAST_MS, "the wire takes its time"
        assert len(costs) == 5
        assert min(costs) < 50, costs
