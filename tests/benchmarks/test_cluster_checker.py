"""The accounts of the checker of a cluster."""

import asyncio
import json
import random
from contextlib import suppress
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from benchmarks.cluster_checker import Account, Player, wait_for_end

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
