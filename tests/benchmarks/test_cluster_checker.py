"""The accounts of the checker of a cluster, and the links of its nodes."""

import asyncio
import json
import random
from contextlib import suppress
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from benchmarks.cluster import Link
from benchmarks.cluster_checker import Account, Player, wait_for_end
from tests.patience import PATIENCE_S

POSITION = {"to_move": 1, "legal": [0], "ply": 0}
SNAPSHOT = {"type": "snapshot", "match": "m1", "seq": 1, "you": 0, "moves": [], "position": POSITION}


async def test_a_match_that_ended_unnoticed_is_requested_and_not_awaited() -> None:
    comings = 0

    async def node(connection: ServerConnection) -> None:
        nonlocal comings
        comings += 1
        is_first = comings == 1
        async for text in connection:
            request = json.loads(text)
            if request["type"] == "hello":
                await say(connection, type="welcome", matches=["m1"] if is_first else [])
            elif request["type"] == "resume":
                await say(connection, **SNAPSHOT)
                return  # the link is lost, and the match ends meanwhile

    async def say(connection: ServerConnection, **message: Any) -> None:
        await connection.send(json.dumps(message))

    account = Account()
    async with serve(node, "127.0.0.1", 0) as server, asyncio.TaskGroup() as tasks:
        port = server.sockets[0].getsockname()[1]
        playing = tasks.create_task(Player(account, [f"ws://127.0.0.1:{port}"], random.Random(1)).play())
        async with asyncio.timeout(20.0):
            while not account.unheard:
                account.changed.clear()
                await account.changed.wait()
        await wait_for_end(account, 20.0)
        playing.cancel()
    assert (account.open, account.ended, account.unheard) == (set(), set(), {"m1"})


async def test_a_player_at_a_silent_node_goes_to_the_next() -> None:
    heard: list[list[str]] = []
    is_elsewhere = asyncio.Event()

    async def node(connection: ServerConnection) -> None:
        words: list[str] = []
        heard.append(words)
        with suppress(ConnectionClosed):
            async for text in connection:
                words.append(json.loads(text)["type"])
                if len(heard) > 1:
                    is_elsewhere.set()
                elif words == ["hello"]:
                    await connection.send(json.dumps({"type": "welcome", "matches": []}))

    async with serve(node, "127.0.0.1", 0) as server, asyncio.TaskGroup() as tasks:
        url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        playing = tasks.create_task(Player(Account(), [url], random.Random(1)).play())
        async with asyncio.timeout(20.0):
            await is_elsewhere.wait()
        playing.cancel()
    assert heard[0] == ["hello", "seek", "ping"]


@pytest.mark.parametrize("is_cut", [False, True])
async def test_a_link_drops_its_connections_at_its_end(is_cut: bool) -> None:
    heard: asyncio.Queue[bytes] = asyncio.Queue()

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(100):
                heard.put_nowait(data)
        writer.close()
        heard.put_nowait(b"")

    async with asyncio.timeout(PATIENCE_S), await asyncio.start_server(hear, "127.0.0.1", 0) as server:
        link = Link(server.sockets[0].getsockname()[1])
        async with link.open():
            reader, writer = await asyncio.open_connection("127.0.0.1", link.port)
            writer.write(b"1")
            assert await heard.get() == b"1"
            if is_cut:
                link.cut()
                writer.write(b"2")
        with suppress(ConnectionError):
            assert await reader.read() == b""
        while await heard.get():
            pass
        writer.close()
