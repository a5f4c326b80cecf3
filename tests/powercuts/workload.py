"""Play while the server is recorded, and the times of its acknowledgements."""

import asyncio
import hashlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.server.peer import Peer
from ttt_net.messages import Ended, Played
from ttt_net.server.journal import finished_matches, read_match

GAME = "mnk:15x15,15"
MOVES_OF_A_MATCH = 40
PAIRS = 6


class Acknowledged(NamedTuple):
    """Something that a client was told is done."""

    by: int
    """The size of the log when the client had been told: all that comes later has it."""
    what: tuple[object, ...]
    """As `contents` tells it."""


async def play(url: str, moves: int, size_of_log: Callable[[], int]) -> list[Acknowledged]:
    """Let pairs of players play so many moves in all; return what was acknowledged, in order."""
    told: list[Acknowledged] = []

    def note(*what: object) -> None:
        told.append(Acknowledged(size_of_log(), what))

    async def join(name: str) -> Peer:
        peer = await Peer.connect(url)
        await peer.hello(name=name)
        note("player", hashlib.sha256(peer.token.encode()).hexdigest())
        return peer

    async def pair(number: int) -> None:
        ann, bob = await join(f"Ann-{number}"), await join(f"Bob-{number}")
        await ann.ok("rename", name=f"Annabel-{number}")
        note("name", f"Annabel-{number}")
        left = moves // PAIRS
        while left > 0:
            await ann.ok("invite", game=GAME)
            await bob.ok("join", code=(await ann.hear("invitation"))["code"])
            snapshots = [await peer.hear("snapshot") for peer in (ann, bob)]
            match, sides = snapshots[0]["match"], ((ann, bob) if snapshots[0]["you"] == 0 else (bob, ann))
            for ply in range(min(left, MOVES_OF_A_MATCH)):
                await sides[ply % 2].ok("play", match=match, ply=ply, move=ply)
                note("move", match, ply, ply)
            left -= MOVES_OF_A_MATCH
            await ann.ok("resign", match=match)
            note("ended", match)
        for peer in (ann, bob):
            await peer.close()

    async with asyncio.TaskGroup() as tasks:
        for number in range(PAIRS):
            tasks.create_task(pair(number))
    return sorted(told)


def contents(connection: sqlite3.Connection) -> set[tuple[object, ...]]:
    """Return all that is in a journal of what can be acknowledged."""
    found: set[tuple[object, ...]] = set()
    for name, token_hash in connection.execute("SELECT name, token_hash FROM players"):
        found |= {("name", name), ("player", bytes(token_hash).hex())}
    for (match,) in connection.execute("SELECT id FROM matches").fetchall():
        for event in read_match(connection, match).events:
            if isinstance(event, Played):
                found.add(("move", match, event.ply - 1, event.move))
            elif isinstance(event, Ended):
                found.add(("ended", match))
    assert all(("ended", match) in found for match in finished_matches(connection))
    return found


def log_size(log: Path) -> Callable[[], int]:
    """Return what tells how large the log is."""
    return lambda: log.stat().st_size
