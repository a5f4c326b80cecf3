"""A server inside another program: who is there, and that nobody is once it has ended."""

import json
from pathlib import Path

from websockets.sync.client import connect

from ttt_net.server.embedded import server_inside
from ttt_net.server.settings.configuration import Configuration


def test_nobody_is_on_a_server_that_has_ended(tmp_path: Path) -> None:
    configuration = Configuration(host="127.0.0.1", port=0, data=tmp_path, announce=False, house_bots=False)
    with server_inside(configuration) as server, connect(f"ws://127.0.0.1:{server.where.port}") as link:
        link.send(json.dumps({"type": "hello", "id": 1, "protocols": [1], "name": "Ann"}))
        assert [json.loads(link.recv())["type"] for _ in range(2)] == ["ok", "welcome"]
        assert server.people() == 1
        server.stop()
        server.wait()
        assert server.people() == 0
