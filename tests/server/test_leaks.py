"""Departed clients leave nothing behind in the memory of the server."""

import asyncio
import gc
import random
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.hostile.frames import FRAMES
from tests.patience import PATIENCE_S
from tests.server.peer import HANDSHAKE, RawPeer, client_frame, said
from tests.server.running import Server, running, until
from ttt_net.server.settings.configuration import Limits, Rate

FAST = Limits(messages=Rate(1_000_000), dead_after_s=600)


def objects() -> Counter[str]:
    """Count the objects of ours and of `websockets` that the collector of garbage knows."""
    gc.collect()
    kinds = (type(each) for each in gc.get_objects())
    names = (f"{kind.__module__}.{kind.__qualname__}" for kind in kinds)
    return Counter(name for name in names if name.startswith(("ttt_net", "websockets", "_asyncio", "uvloop")))


async def settled(server: Server) -> None:
    """Wait until nobody is connected, the journal has answered those who left before it did, and no turn waits."""
    await server.until_empty()
    await server.flushed()
    await until(lambda: not server.hub.turns)


async def come_and_go(server: Server, rng: random.Random, names: int) -> None:
    """Connect, get to some point, and leave in some way."""
    peer = await RawPeer.connect(server.port)
    stages = [HANDSHAKE[:30], HANDSHAKE, said("hello", protocols=[1], name=f"P{rng.randrange(names)}"), said("seek")]
    for stage in stages[: rng.randrange(5)]:
        await peer.send(stage)
    if rng.random() < 0.3:
        await peer.send(client_frame(8, b"\x03\xe8"))
    if rng.random() < 0.5:
        await asyncio.sleep(0)
    peer.close()


async def test_thousands_of_connections_that_come_and_go_leave_nothing(tmp_path: Path) -> None:
    rng = random.Random(7)
    async with running(tmp_path, FAST) as server:
        for _ in range(100):
            await come_and_go(server, rng, 10_000)
        await settled(server)
        before = objects()
        for _ in range(20):
            async with asyncio.TaskGroup() as tasks:
                for _ in range(100):
                    tasks.create_task(come_and_go(server, rng, 10_000))
        await settled(server)
        assert (server.connections, server.sessions, server.rooms) == ({}.keys(), {}, {})
        grown = objects() - before
        assert {kind: count for kind, count in grown.items() if count > 10} == {}


async def test_hundreds_of_finished_matches_leave_nothing(tmp_path: Path) -> None:
    async def session(server: Server, names: tuple[str, str], matches: int) -> None:
        first, second, match = await server.pair(*names, games=[f"mnk:{names[0]},2"])
        for number in range(matches):
            for ply, move in enumerate((0, 3, 1)):
                await (first, second)[ply % 2].ok("play", match=match, ply=ply, move=move)
                await (second, first)[ply % 2].hear("played", match=match, ply=ply + 1)
            if number % 2:
                first, second, match = await server.match(first, second, games=[f"mnk:{names[0]},2"])
                continue
            await first.ok("offer", match=match, kind="rematch")
            await second.ok("offer", match=match, kind="rematch")
            match = (await first.hear("rematched", match=match))["next"]
            first, second = second, first
            for peer in (first, second):
                await peer.hear("snapshot", match=match)
                peer.heard.clear()
        for peer in (first, second):
            peer.abort()

    async with running(tmp_path, FAST) as server:
        await session(server, ("3x3", "warm"), 4)
        await settled(server)
        before = objects()
        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
            for number in range(4, 14):
                tasks.create_task(session(server, (f"{number}x3", f"o{number}"), 30))
        await settled(server)
        assert (server.connections, server.sessions, server.rooms) == ({}.keys(), {}, {})
        grown = objects() - before
        assert {kind: count for kind, count in grown.items() if count > 50} == {}, "but for rules that are kept"


ENDINGS = (
    b"",
    b"GET / HTTP/1.1\r\n\r\n",
    b"no HTTP at all\r\n\r\n",
    HANDSHAKE[:30],
    HANDSHAKE.replace(b"Version: 13", b"Version: 8"),
    HANDSHAKE,
    HANDSHAKE + said("hello", protocols=[1], name="Ann") + said("seek", games=["tictactoe"]),
    *(HANDSHAKE + sent for _, sent, _ in FRAMES),
)


async def test_closed_connections_are_freed_without_garbage_collection(tmp_path: Path) -> None:
    """Such a search stops everybody, so it is rare; what had to wait for it would pile up for hours."""
    async with running(tmp_path, FAST) as server:
        with uncollected() as found:
            for sent in ENDINGS:
                for is_patient in (False, True):
                    peer = await RawPeer.connect(server.port)
                    await peer.send(sent)
                    if is_patient:
                        peer.socket.shutdown(socket.SHUT_WR)
                        await peer.read_to_end()
                    peer.close()
            await settled(server)
        assert found == Counter()


@contextmanager
def uncollected() -> Iterator[Counter[str]]:
    """Search for no garbage inside the block; at its end count what a search finds that is of a server."""
    found: Counter[str] = Counter()
    gc.collect()
    gc.disable()
    try:
        yield found
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        names = (f"{type(each).__module__}.{type(each).__qualname__}" for each in gc.garbage)
        found.update(name for name in names if name.startswith(("ttt_net", "websockets")))
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
