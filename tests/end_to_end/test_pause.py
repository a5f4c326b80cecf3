"""A server that is stopped for a while: nobody is charged for it, and nobody is dropped."""

import asyncio
import signal
import time
from pathlib import Path
from typing import NamedTuple

from tests.end_to_end.process import Process, running
from tests.server.peer import Peer

PAUSE_S = 6.0
CLOCK_MS = 5_000
"""Shorter than the pause."""


class Match(NamedTuple):
    """A match, and its players in the order of their moves."""

    name: str
    movers: list[Peer]


async def match_of(server: Process, *names: str) -> Match:
    """Begin a timed match of two newcomers, in which no clock runs yet."""
    peers = [await server.join(name) for name in names]
    for peer in peers:
        await peer.ok("seek", games=["gomoku"], time={"initial_ms": CLOCK_MS})
    shown = [await peer.hear("snapshot") for peer in peers]
    return Match(shown[0]["match"], peers if shown[0]["you"] == 0 else peers[::-1])


async def open_with(match: Match) -> None:
    """Make the first move of each player, after which the clock of the first runs."""
    for ply in range(2):
        await match.movers[ply].ok("play", match=match.name, ply=ply, move=ply)
        await match.movers[1 - ply].hear("played", ply=ply + 1)


async def test_a_pause_of_the_server_flags_nobody_and_drops_nobody(tmp_path: Path) -> None:
    """Both ways of meeting a pause: with a move on its way, and while thinking."""
    async with running(tmp_path, "--limits-ping-after-s", "0.5", "--limits-dead-after-s", "5") as server:
        eve = await server.join("Eve")
        on_the_way, thinking = await match_of(server, "Ann", "Bob"), await match_of(server, "Cleo", "Dan")
        began_s = time.monotonic()
        for match in (on_the_way, thinking):
            await open_with(match)
        server.send(signal.SIGSTOP)
        await on_the_way.movers[0].say("play", match=on_the_way.name, ply=2, move=2)
        await asyncio.sleep(PAUSE_S)  # the pause itself
        server.send(signal.SIGCONT)
        await thinking.movers[0].ok("play", match=thinking.name, ply=2, move=2)
        for match in (on_the_way, thinking):
            played = await match.movers[1].hear("played", ply=3)
            charged_ms = CLOCK_MS - played["clock"]["remaining_ms"][0]
            assert charged_ms < 1000 * (time.monotonic() - began_s - PAUSE_S / 2), "for all but the pause"
        for peer in (*on_the_way.movers, *thinking.movers, eve):
            await peer.ok("ping")
