"""A server that is stopped for a while: nobody is charged for it, and nobody is dropped."""

import asyncio
import signal
from pathlib import Path

from tests.end_to_end.process import running

PAUSE_S = 3.5
CLOCK_MS = 3_000


async def test_a_pause_of_the_server_flags_nobody_and_drops_nobody(tmp_path: Path) -> None:
    async with running(tmp_path, "--limits-ping-after-s", "0.5", "--limits-dead-after-s", "1.5") as server:
        ann, bob, eve = [await server.join(name) for name in ("Ann", "Bob", "Eve")]
        for peer in (ann, bob):
            await peer.ok("seek", games=["gomoku"], time={"initial_ms": CLOCK_MS})
        snapshots = [await peer.hear("snapshot") for peer in (ann, bob)]
        match = snapshots[0]["match"]
        movers = (ann, bob) if snapshots[0]["you"] == 0 else (bob, ann)
        for ply in range(2):
            await movers[ply].ok("play", match=match, ply=ply, move=ply)
        for ply in range(2, 4):  # both ways of meeting a pause: with a move on its way, and while thinking
            server.send(signal.SIGSTOP)
            if ply == 2:
                await movers[ply % 2].say("play", match=match, ply=ply, move=ply)
            await asyncio.sleep(PAUSE_S)  # the pause itself
            server.send(signal.SIGCONT)
            if ply == 3:
                await movers[ply % 2].ok("play", match=match, ply=ply, move=ply)
            played = await movers[1 - ply % 2].hear("played", ply=ply + 1)
            assert min(played["clock"]["remaining_ms"]) > CLOCK_MS // 2, "less than the pause by far"
        for peer in (ann, bob, eve):
            await peer.ok("ping")
