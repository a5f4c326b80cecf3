"""A proxy on the loopback that passes bytes on as late as a long wire would."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def delayed(port: int, one_way_s: float) -> AsyncIterator[int]:
    """Pass all that comes to the port that is given on to `port`, and back, each byte `one_way_s` late."""
    loop = asyncio.get_running_loop()
    writers: list[asyncio.StreamWriter] = []

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            loop.call_later(one_way_s, writer.write, data)
        loop.call_later(one_way_s, writer.close)

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        onward, back = await asyncio.open_connection("127.0.0.1", port)
        writers.extend((writer, back))
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(carry(reader, back))
            tasks.create_task(carry(onward, writer))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for writer in writers:
            writer.close()
