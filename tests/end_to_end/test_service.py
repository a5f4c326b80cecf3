"""The server as a service: what its manager hears, what it logs, and how it ends when the disk hangs."""

import asyncio
import json
import os
import signal
import socket
import sys
from pathlib import Path

import pytest

from tests.end_to_end.process import ROOT, Process, refused, running, send
from tests.patience import BUSY_S, PATIENCE_S
from tests.server.peer import Peer
from ttt_net.__main__ import main

HANGING = """
import sys, threading
from pathlib import Path
from ttt_net.server.journal import Database
from ttt_net.server.start import main
commit, switch = Database.commit, Path(sys.argv.pop(1))

def hang(self, batch):
    if switch.exists():
        threading.Event().wait()
    return commit(self, batch)

Database.commit = hang
sys.exit(main())
"""


async def spawn(*arguments: str) -> asyncio.subprocess.Process:
    """Start a server on the loopback, with all that it prints in pipes."""
    return await asyncio.create_subprocess_exec(
        *[sys.executable, *arguments, "--host", "127.0.0.1", "--port", "0"],
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


WITHOUT_ZEROCONF = """
import sys
sys.modules["zeroconf"] = None
from ttt_net.__main__ import main
sys.exit(main())
"""
"""Started where the one package under the LGPL is not installed."""


async def test_without_zeroconf_a_server_that_is_not_announced_and_a_client_with_an_address_do_all(
    tmp_path: Path,
) -> None:
    server = await spawn("-c", WITHOUT_ZEROCONF, "serve", "--no-announce", "--data", str(tmp_path / "data"))
    assert server.stdout is not None
    async with asyncio.timeout(PATIENCE_S):
        url = (await server.stdout.readline()).decode().removeprefix("listening on ").strip()
    bots = [
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", WITHOUT_ZEROCONF, "play", url),
            *("--bot", "random", "--games", "1", "--opponents", "any", "--json"),
            cwd=ROOT,
            env=os.environ | {"TTT_NET_HOME": str(tmp_path / "home")},
            stdout=asyncio.subprocess.DEVNULL,
        )
        for _ in range(2)
    ]
    async with asyncio.timeout(PATIENCE_S):
        assert [await bot.wait() for bot in bots] == [0, 0]
        send(server, signal.SIGTERM)
        _, complaint = await server.communicate()
    assert (server.returncode, complaint) == (0, b"")


async def heard(listening: socket.socket) -> str:
    return (await asyncio.to_thread(listening.recv, 500)).decode()


async def test_the_service_manager_is_notified_of_ready_alive_and_stopping(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.settimeout(PATIENCE_S)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        monkeypatch.setenv("WATCHDOG_USEC", "200000")
        async with running(tmp_path / "data") as server:
            said: set[str] = set()
            while len(said) < 2:  # a start that takes long is watched over before it is ready
                said.add(await heard(listening))
            assert said == {"READY=1", "WATCHDOG=1\nSTATUS=0 players, 0 matches"}
            await server.join("Ann")
            while await heard(listening) != "WATCHDOG=1\nSTATUS=1 players, 0 matches":
                pass
            server.send(signal.SIGTERM)
            while await heard(listening) != "STOPPING=1":
                pass
            assert await server.exit_code() == 0


async def test_a_drain_ends_the_process_within_five_seconds_of_its_end(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann = await server.join("Ann")
        assert await asyncio.to_thread(main, ["admin", "--data", str(tmp_path), "drain", "1"]) == 0
        assert (await ann.hear("notice"))["restart_in_ms"] == 1000
        async with asyncio.timeout(1 + 5 + BUSY_S):
            assert await ann.close_code() == 1012
            assert await server.exit_code() == 0
        assert not (tmp_path / "admin.sock").exists()


async def test_a_server_leaves_the_admin_socket_of_another_alone(tmp_path: Path) -> None:
    shared = f"--admin={tmp_path / 'shared'}"
    async with running(tmp_path / "one", shared):
        assert "another program listens on" in await asyncio.to_thread(refused, tmp_path / "two", shared)
        assert await asyncio.to_thread(main, ["admin", "--data", str(tmp_path / "one"), "stats"]) == 0


async def test_start_stop_drops_and_acts_are_logged_without_addresses_names_or_tokens(tmp_path: Path) -> None:
    process = await spawn("server.py", "--data", str(tmp_path), "--log-level", "info", "--log-format", "json")
    try:
        assert process.stdout is not None
        first = (await process.stdout.readline()).decode().split()[-1]
        ann = await Peer.connect(first)
        await ann.hello(name="Ann")
        again = await Peer.connect(first)
        await again.hello(token=ann.token)
        assert await ann.close_code() == 4001
        assert await asyncio.to_thread(main, ["admin", "--data", str(tmp_path), "kick", "Ann", "a secret reason"]) == 0
        assert await again.close_code() == 4005
    finally:
        send(process, signal.SIGTERM)
        async with asyncio.timeout(PATIENCE_S):
            _, errors = await process.communicate()
    lines = [json.loads(line) for line in errors.decode().splitlines()]
    messages = [line["message"] for line in lines]
    assert messages[0].startswith("started on port ")
    assert "a connection from 127.0.0.0/24 was ended: replaced" in messages
    assert "a connection from 127.0.0.0/24 was ended: kicked" in messages
    assert "admin: kick" in messages
    assert messages[-2:] == ["stopping", "stopped"]
    for secret in (ann.token, (tmp_path / "admin.token").read_text().strip(), "Ann", "127.0.0.1", "a secret reason"):
        assert secret not in errors.decode()


async def test_a_disk_that_hangs_holds_up_the_end_for_a_few_seconds_only(tmp_path: Path) -> None:
    switch = tmp_path / "hang"
    process = await spawn("-c", HANGING, str(switch), "--data", str(tmp_path / "data"))
    try:
        assert process.stdout is not None
        server = Process(process, (await process.stdout.readline()).decode().split()[-1])
        ann = await server.join("Ann")
        switch.touch()
        await ann.say("invite")
        await ann.say("rename", name="Anna")
        await ann.ok("ping")  # both requests wait for the disk
        server.send(signal.SIGTERM)
        async with asyncio.timeout(5 + BUSY_S):
            assert await ann.close_code() == 1012
            assert await server.exit_code() == 1
        assert process.stderr is not None
        assert b"the disk does not answer" in await process.stderr.read()
    finally:
        if process.returncode is None:
            send(process, signal.SIGKILL)
        await process.communicate()
