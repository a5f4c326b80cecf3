"""The baseline: a minimal game server on `websockets`, without referee and storage.

The two connections to one path are a pair; what one says is read as JSON and written to the other, with `--to-both` to
both, so that the mover, too, knows of it. All settings are the defaults of `websockets`, but for compression, which
is off.
"""

import argparse
import asyncio
import json
from contextlib import suppress

from websockets.asyncio.server import ServerConnection, broadcast, serve
from websockets.exceptions import ConnectionClosed


async def main(*, to_both: bool) -> None:
    """Relay until the process is killed."""
    pairs: dict[str, list[ServerConnection]] = {}

    async def relay(connection: ServerConnection) -> None:
        assert connection.request is not None
        pair = pairs.setdefault(connection.request.path, [])
        pair.append(connection)
        place = len(pair) - 1
        with suppress(ConnectionClosed):
            async for message in connection:
                text = json.dumps(json.loads(message))
                if to_both:
                    broadcast(pair, text)
                else:
                    await pair[1 - place].send(text)

    async with serve(relay, "127.0.0.1", 0, compression=None) as server:
        host, port = server.sockets[0].getsockname()
        print(f"listening on ws://{host}:{port}", flush=True)
        await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="relay")
    parser.add_argument("--to-both", action="store_true")
    asyncio.run(main(to_both=parser.parse_args().to_both))
