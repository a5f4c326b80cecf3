"""A server that starts: who comes back to it need not try again and again."""

import asyncio
import resource
import signal
import sys
from pathlib import Path

import pytest

from tests.end_to_end.process import ROOT, send
from tests.patience import PATIENCE_S
from tests.ports import reserved
from tests.server.peer import Peer, RawPeer
from ttt_net.server.main import allow_many_files

SLOW = """
import sys
from ttt_net.server.start import main

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "ttt_net.server.main":
            print("loading", flush=True)
            sys.stdin.readline()

sys.meta_path.insert(0, Slow())
sys.exit(main(sys.argv[1:]))
"""
"""A server that takes its time to load what serves."""


async def test_who_comes_while_the_server_is_still_loading_waits_in_the_queue_and_is_served(tmp_path: Path) -> None:
    with reserved() as port:
        await come_early(tmp_path, port)


async def come_early(folder: Path, port: int) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", SLOW, "--host", "127.0.0.1", "--port", str(port), "--no-announce"),
        *("--data", str(folder)),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE_S):
            assert await process.stdout.readline() == b"loading\n"
            early = await RawPeer.connect(port)
            await early.send(b"GET /healthz HTTP/1.1\r\n\r\n")
            process.stdin.write(b"go on\n")
            assert await early.status() == 200
            early.close()
            ann = await Peer.connect(f"ws://127.0.0.1:{port}")
            await ann.hello(name="Ann")
            await ann.close()
    finally:
        send(process, signal.SIGTERM)
        await process.communicate()
    assert process.returncode == 0


def test_where_the_limit_of_files_is_endless_but_not_to_be_had_fewer_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So it is on macOS: setrlimit(2) there."""
    asked = []

    def setrlimit(_: int, limits: tuple[int, int]) -> None:
        if limits[0] > 10_240:
            raise ValueError("current limit exceeds maximum limit")
        asked.append(limits)

    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 2**63 - 1))
    monkeypatch.setattr(resource, "setrlimit", setrlimit)
    allow_many_files()
    assert asked == [(10_240, 2**63 - 1)]
