"""A server that is stopped for a while: nobody is charged for it, and nobody is dropped."""

import asyncio
import signal
import time
from pathlib import Path

from tests.end_to_end.process import running

PAUSE_S = 6.0
CLOCK_MS = 5_000
"""Shorter than the pause."""


async def test_a_pause_of_the_server_flags_nobody_and_drops_nobody(tmp_path: Path) -> None:
    async with running(tmp_path, "--limits-ping-after-s", "0.5", "--limits-dead-after-s", "5") as server:
        ann, bob, eve = [await server.join(name) for name in ("Ann", "Bob", "Eve")]
        for peer in (ann, bob):
            await peer.ok("seek", games=["gomoku"], time={"initial_ms": CLOCK_MS})
        snapshots = [await peer.hear("snapshot") for peer in (ann, bob)]
        match = snapshots[0]["match"]
        movers = (ann, bob) if snapshots[0]["you"] == 0 else (bob, ann)
        for ply in range(2):
            await movers[ply].ok("play", match=match, ply=ply, move=ply)
        left_ms = [CLOCK_MS, CLOCK_MS]
        for ply in range(2, 4):  # both ways of meeting a pause: with a move on its way, and while thinking
            began_s = time.monotonic()
            server.send(signal.SIGSTOP)
            if ply == 2:
                await movers[ply % 2].say("play", match=match, ply=ply, move=ply)
            await asyncio.sleep(PAUSE_S)  # the pause itself
            server.send(signal.SIGCONT)
            if ply == 3:
                await movers[ply % 2].ok("play", match=match, ply=ply, move=ply)
            played = await movers[1 - ply % 2].hear("played", ply=ply + 1)
            charged_ms = left_ms[ply % 2] - played["clock"]["remaining_ms"][ply % 2]
            assert charged_ms < 1000 * (time.monotonic() - began_s - PAUSE_S / 2), "for all but the pause"
            left_ms = played["clock"]["remaining_ms"]
        for peer in (ann, bob, eve):
            await peer.ok("ping")
