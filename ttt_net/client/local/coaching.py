"""Give hints and analyse matches at this keyboard, in processes that give way to everything else."""

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec

from ttt_net.games.records import write_record
from ttt_net.matches.analysis import COACH, COMMAND, LEAST_MOVES, described, hint_question, lesson_question, read_line
from ttt_net.matches.match import Match, record_of
from ttt_net.messages import AnalysedMove, AnalysisReply, ExplanationInfo, HintReply, HintRequest, MatchLesson
from ttt_net.programs import beside_us

ANALYSIS_S = 20.0
HINT_MS = 1000
"""How long a search may take."""
GRACE_S = 30.0
"""How much longer a process may take, to load and to end."""
_NICE = 10


async def analyse(match: Match) -> AnalysisReply:
    """Return the analysis of a finished match: as far as it has come when the time is up."""
    record = write_record(record_of(match.events))
    moves = len(match.moves)
    judged: list[AnalysedMove] = []
    lesson: MatchLesson | None = None
    is_exact = True
    if moves < LEAST_MOVES:
        return AnalysisReply(match.id, judged, exact=True)
    try:
        budget = str(round(1000 * ANALYSIS_S))
        async with asyncio.timeout(ANALYSIS_S + GRACE_S), _process((*COMMAND, budget)) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(record.encode())
            process.stdin.close()
            async for line in process.stdout:
                each = read_line(line)
                if isinstance(each, MatchLesson):
                    lesson = each
                else:
                    is_exact &= each.value is not None
                    judged.append(described(each))
    except (TimeoutError, OSError, msgspec.MsgspecError):
        is_exact = False
    return AnalysisReply(match.id, judged, exact=is_exact and len(judged) == moves, lesson=lesson)


@contextlib.asynccontextmanager
async def _process(command: Sequence[str]) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a process inside the block, which gives way to everything else."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=beside_us(os.environ),
        start_new_session=True,  # Ctrl-C is for the client, which then ends it
    )
    try:
        with contextlib.suppress(OSError, AttributeError):  # Windows has no such call
            os.setpriority(os.PRIO_PROCESS, process.pid, _NICE)
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


class LocalCoach:
    """Gives hints, one after the other, by a process that is started for the first."""

    def __init__(self) -> None:
        self._running = contextlib.AsyncExitStack()
        self._process: asyncio.subprocess.Process | None = None

    async def hint(self, match: Match, side: int, request: HintRequest) -> HintReply:
        """Return a hint for the side, or a warning; without moves if there is nothing to say, or nothing was found."""
        question = hint_question(match, side, request, HINT_MS)
        ply = len(match.moves)
        try:
            async with asyncio.timeout(HINT_MS / 1000 + GRACE_S):
                found = await self._ask(json.dumps(question))
        except (TimeoutError, OSError, ValueError):
            await self.stop()
            found = {"moves": [], "text": ""}
        why = msgspec.convert(found.get("why"), ExplanationInfo | None)
        return HintReply(match.id, ply, request.kind, found["moves"], found["text"], why)

    async def look_at(self, match: Match) -> AnalysisReply:
        """Return an analysis of a finished match that has its lesson alone, by what can be seen without a search."""
        question = lesson_question(write_record(record_of(match.events)), HINT_MS)
        try:
            async with asyncio.timeout(HINT_MS / 1000 + GRACE_S):
                lesson = msgspec.convert(await self._ask(json.dumps(question)), MatchLesson)
        except (TimeoutError, OSError, ValueError, msgspec.MsgspecError):
            await self.stop()
            return AnalysisReply(match.id, [], exact=False, partial=True)
        return AnalysisReply(match.id, [], exact=False, lesson=lesson, partial=True)

    async def stop(self) -> None:
        """End the process."""
        self._process = None
        await self._running.aclose()

    async def _ask(self, question: str) -> dict[str, Any]:
        if self._process is None:
            self._process = await self._running.enter_async_context(_process(COACH))
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{question}\n".encode())
        await self._process.stdin.drain()
        answer: dict[str, Any] = json.loads(await self._process.stdout.readline())
        return answer
