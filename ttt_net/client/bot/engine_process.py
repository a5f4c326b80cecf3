"""Run a strategy in a process of its own: a search holds the interpreter's lock, so a thread would not do."""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from ttt_net.client.bot.engine_worker import Question, Thought
from ttt_net.engines.external import ENGINE, settings_of
from ttt_net.programs import beside_us

START_TIMEOUT_S = 20.0
GRACE_S = 10.0
"""How much longer than it may think an engine may take to answer, on a busy machine."""
_LEAVE_S = 1.0
"""How long a process may take to end a program of others that it has started."""
_MAX_ANSWER_BYTES = 65_536


class EngineProcess:
    """The parent's end of a thinking process."""

    def __init__(
        self, strategy: str, seed: int | None = None, level: int | None = None, games: Sequence[str] = ()
    ) -> None:
        """`games` are those that it may be asked about, and none are all: what they need is loaded beforehand."""
        self._arguments = [strategy, *("" if number is None else str(number) for number in (seed, level)), *games]
        self._start_s, self._grace_s = START_TIMEOUT_S, GRACE_S
        self._has_child = strategy.startswith(ENGINE)
        self._tries = 2 if self._has_child else 1
        if self._has_child:  # within, a program of others is waited for, and perhaps started again
            settings = settings_of(strategy)
            self._start_s += settings.start_ms / 1000
            self._grace_s += 2 * (settings.start_ms + settings.overtime_ms) / 1000
        self.is_warming = False
        """Whether its searches are being compiled as it starts, and it plays without them until they are."""
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def start(self) -> None:
        """Start the process and wait until it is ready, so that no opponent has to."""
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "ttt_net.client.bot.engine_worker",
            *self._arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=beside_us(os.environ),
            limit=_MAX_ANSWER_BYTES,
            start_new_session=True,  # Ctrl-C is for the bot, which then ends the engine
        )
        (self.is_warming,) = await self._answer(self._start_s)

    async def think(self, question: Question) -> Thought:
        """Return what the strategy chooses, one question at a time; a process that died or hangs is started again.

        Raises `OSError`, `EOFError` or `TimeoutError` if that does not help either.
        """
        async with self._turn:
            for is_last in (False, True):
                try:
                    if self._process is None:
                        await self.start()
                    return await self._ask(question)
                except (OSError, EOFError, TimeoutError):
                    await self.stop()
                    if is_last:
                        raise
        raise AssertionError("unreachable")

    async def _ask(self, question: Question) -> Thought:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(question).encode() + b"\n")
        async with asyncio.timeout(GRACE_S):
            await self._process.stdin.drain()
        return Thought(*await self._answer(self._tries * question.ms / 1000 + self._grace_s))

    async def _answer(self, timeout_s: float) -> list[Any]:
        assert self._process is not None
        assert self._process.stdout is not None
        async with asyncio.timeout(timeout_s):
            line = await self._process.stdout.readline()
        if not line:
            raise EOFError("the thinking process ended")
        answer = json.loads(line)
        assert isinstance(answer, list)
        return answer

    async def stop(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        if self._has_child:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LEAVE_S):
                    await process.wait()  # it ends its own program first
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        ending = asyncio.ensure_future(process.wait())
        try:
            async with asyncio.timeout(GRACE_S):
                await asyncio.shield(ending)
        except asyncio.CancelledError:
            await ending  # it is killed: only to be reaped, and nothing of it may stay open
            raise
