"""A running server hears SIGHUP: settings are read again, and a terminal that is closed is no such wish."""

import asyncio
import os
import pty
import signal
import subprocess
from pathlib import Path

from tests.end_to_end.process import Process, command, running
from tests.patience import PATIENCE_S
from tests.server.peer import Peer


async def test_sighup_reads_the_file_again_and_a_broken_one_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "server.toml"
    file.write_text("announce = false\n[limits]\nallow_guests = true\n")
    reading, writing = os.pipe()
    with os.fdopen(reading, encoding="utf-8") as log, os.fdopen(writing, "wb") as errors:

        async def logged(text: str) -> None:
            async with asyncio.timeout(PATIENCE_S):
                while text not in await asyncio.to_thread(log.readline):
                    pass

        async with running(tmp_path / "data", "--config", str(file), errors=errors) as server:
            ann = await server.join("Ann")
            file.write_text("announce = false\n[limits]\nallow_guests = false\n")
            server.send(signal.SIGHUP)
            await logged("limits.allow_guests is false now, it was true")
            assert await (await Peer.connect(server.url)).refused("hello", protocols=[1]) == "no_guests"
            file.write_text("announce = ")
            server.send(signal.SIGHUP)
            await logged("the settings in use stay: ")
            await ann.ok("ping")
            server.send(signal.SIGTERM)
            assert await ann.close_code() == 1012
            assert await server.exit_code() == 0


async def test_a_terminal_that_is_closed_ends_the_server_though_it_has_a_file(tmp_path: Path) -> None:
    file = tmp_path / "server.toml"
    file.write_text("announce = false\nhouse_bots = false\n")
    ours, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        *command(tmp_path / "data", "--config", str(file)), stdin=theirs, stdout=subprocess.PIPE
    )
    os.close(theirs)
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE_S):
        url = (await process.stdout.readline()).decode().removeprefix("listening on ").strip()
    server = Process(process, url)
    ann = await server.join("Ann")
    os.close(ours)
    server.send(signal.SIGHUP)
    assert await ann.close_code() == 1012
    assert await server.exit_code() == 0
