"""Tests of what the server costs: bytecodes of Python, which depend on no load, and the memory of a connection.

The bounds are a fifth above what CPython 3.11 executes, since other versions compile a little differently.
"""

import asyncio
import gc
import random
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

import pytest
import websockets

import ttt_net
from benchmarks.requests import HANDSHAKE, Client, NoSocket, Wire, framed, messages
from ttt_net.server.hub import Hub
from ttt_net.server.journal import Journal
from ttt_net.server.journal.ledger import MemoryLedger
from ttt_net.server.services import build_services
from ttt_net.server.settings.configuration import Configuration
from ttt_net.server.wire.connection import Connection

OURS = tuple(str(Path(package.__file__).parent) for package in (ttt_net, websockets) if package.__file__)
LOCAL, METERED = "127.0.0.1", "192.0.2.7"
"""An address without limits, and one with."""
CLOCK = {"initial_ms": 180_000, "increment_ms": 2_000}
MOVES = [38, 37, 31, 30, 39, 40, 32, 33, 35, 36, 28, 29]
"""Cells of Connect Four, in which nobody gets a line."""


def new_hub() -> Hub:
    """Return a hub whose journal is in memory and answers at once."""
    journal = Journal(MemoryLedger(is_instant=True))
    services = build_services(
        Configuration(name="test"), journal, asyncio.get_running_loop(), lambda: 1_700_000_000_000, random.Random(1)
    )
    return Hub(services)


class Bytecodes:
    """How many bytecodes of the server and of `websockets` were executed."""

    count = 0

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count inside the block."""
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            yield
        finally:
            sys.settrace(before)

    def _enter(self, frame: FrameType, event: str, _: object) -> Any:
        if not frame.f_code.co_filename.startswith(OURS):
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        return self._step

    def _step(self, frame: FrameType, event: str, _: object) -> Any:
        self.count += event == "opcode"
        return self._step


async def hello(hub: Hub, name: str, address: str = "127.0.0.1") -> Client:
    client = Client(hub, address)
    await client.ok("hello", protocols=[1], name=name)
    return client


async def test_a_new_player_costs_few_bytecodes() -> None:
    hub = new_hub()
    for name in ("Ann", "Анна"):
        await hello(hub, name)
    for name, most in (("Robert_7", 7_800), ("Надежда 7", 11_000)):
        spent = Bytecodes()
        with spent.counting():
            await hello(hub, name)
        assert spent.count < most


async def test_a_player_is_welcomed_by_one_write() -> None:
    hub, writes = new_hub(), list[bytes]()
    connection = Connection(hub, asyncio.get_running_loop(), hub.services.read_buffer)
    connection.connection_made(Silent())
    connection.data_received(HANDSHAKE)
    with mock.patch.object(Silent, "write", lambda _, data: writes.append(data)):
        connection.data_received(framed(b'{"id":1,"type":"hello","protocols":[1],"name":"Ann"}'))
    (written,) = writes
    assert [each["type"] for each in messages(written)] == ["ok", "welcome"]


async def bytecodes_of_a_move(time: dict[str, int] | None, address: str) -> float:
    """Return the mean of the moves of a match after the opening, in which clocks do not run."""
    hub = new_hub()
    first, second = await hello(hub, "Ann", address), await hello(hub, "Bob", address)
    for client in (first, second):
        await client.ok("seek", games=["connect4"], opponents="people", time=time)
    snapshot = await second.told("snapshot")
    if snapshot["you"] == 0:
        first, second = second, first
    spent = Bytecodes()
    for ply, move in enumerate(MOVES):
        client = (first, second)[ply % 2]
        if ply < 2:
            await client.ok("play", match=snapshot["match"], ply=ply, move=move)
            continue
        with spent.counting():
            await client.ok("play", match=snapshot["match"], ply=ply, move=move)
    return spent.count / (len(MOVES) - 2)


@pytest.mark.parametrize(
    ("time", "address", "most"),
    [(None, LOCAL, 1_980), (CLOCK, LOCAL, 2_890), (None, METERED, 2_540), (CLOCK, METERED, 3_450)],
    ids=["untimed", "timed", "untimed, metered", "timed, metered"],
)
async def test_a_move_costs_few_bytecodes(time: dict[str, int] | None, address: str, most: int) -> None:
    await bytecodes_of_a_move(time, address)  # the first makes tables of the game
    assert await bytecodes_of_a_move(time, address) < most


async def test_moves_share_the_timer_of_a_flag() -> None:
    loop = asyncio.get_running_loop()
    with mock.patch.object(loop, "call_later", wraps=loop.call_later) as call_later:
        await bytecodes_of_a_move(CLOCK, LOCAL)
    flags = [call for call in call_later.call_args_list if call.args[0] > CLOCK["initial_ms"] / 2_000]
    assert len(flags) == 1


async def test_an_idle_connection_does_not_keep_its_request() -> None:
    hub = new_hub()
    long = HANDSHAKE.replace(b"\r\n\r\n", b"\r\nUser-Agent: " + b"x" * 3_000 + b"\r\n\r\n")

    def open_one() -> Connection:
        connection = Connection(hub, asyncio.get_running_loop(), hub.services.read_buffer)
        connection.connection_made(Silent())
        connection.data_received(long)
        return connection

    kept = [open_one() for _ in range(20)]
    gc.collect()
    tracemalloc.start()
    try:
        kept += [open_one() for _ in range(50)]
        gc.collect()
        bytes_each = tracemalloc.get_traced_memory()[0] / 50
    finally:
        tracemalloc.stop()
    assert all(connection.is_open for connection in kept)
    assert bytes_each < 3_000


class Silent(Wire):
    """A stand-in for a transport whose client keeps nothing."""

    def __init__(self) -> None:
        asyncio.Transport.__init__(self, {"socket": NoSocket(), "peername": ("127.0.0.1", 1)})

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Drop it."""
