"""Look around on the local network, as the client does, and print each sighting as a line of JSON."""

import asyncio
import json
from dataclasses import asdict

from ttt_net.client.server_search import Sighting, look_around


def _print(sighting: Sighting) -> None:
    print(json.dumps({"kind": type(sighting).__name__, **asdict(sighting)}), flush=True)


if __name__ == "__main__":
    asyncio.run(look_around(_print))
