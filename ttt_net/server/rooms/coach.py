"""Answer requests for hints and warnings, and find first lessons: in one process that gives way to everything else.

The server knows no strategy: it starts `python -m ttt_net.strategies.coaching` with the first question, and hands it
one question after the other as a line of JSON. A process that nobody has asked for a while is ended.
"""

import asyncio
import contextlib
import logging
import os
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import msgspec

from ttt_net import messages as wire
from ttt_net.errors import Code, Refusal
from ttt_net.matches.analysis_processes import hint_question, lesson_question
from ttt_net.matches.match import Match
from ttt_net.programs import beside_us
from ttt_net.server.accounts.session import Session
from ttt_net.server.rooms.room import MatchRoom
from ttt_net.server.services import Services

log = logging.getLogger(__name__)

MAX_JOBS = 32
"""Questions that may wait for their turn; one more is refused for now."""
IDLE_S = 120.0
"""How long the process stays that nobody asks: the next question waits some tenths of a second for a new one."""
GRACE_S = 10.0
"""How much longer than its search an answer may take, on a busy machine."""
LESSON_MS = 2_000
"""How long a look at a whole match may take; what was seen by then is told."""
_NICE = 10
_RETRY_MS = 1_000
_MAX_ANSWER_BYTES = 65_536


class HintAnswer(msgspec.Struct):
    """The moves that a hint or a warning is about, and its sentence; none if there is nothing to say."""

    moves: list[int]
    text: str
    why: wire.ExplanationInfo | None = None


class CoachJob(NamedTuple):
    """A question, how long its search may take, who asks it, and the callback for the answer, None if none came."""

    question: dict[str, Any]
    ms: int
    by: Session | None
    answer: type[HintAnswer | wire.MatchLesson]
    done: Callable[[Any], None]


class Coach:
    """Takes questions, and has them answered one after the other while `run` runs."""

    def __init__(self, services: Services, rooms: Mapping[str, MatchRoom]) -> None:
        self._services = services
        self._rooms = rooms
        self._command = services.coach
        self._waiting: deque[CoachJob] = deque()
        self._current: CoachJob | None = None
        self._ordered = asyncio.Event()
        self._process: asyncio.subprocess.Process | None = None

    @property
    def is_open(self) -> bool:
        """Whether there are hints here."""
        return self._command is not None and self._services.limits.hint_s > 0

    @property
    def process_id(self) -> int | None:
        """The number of the process that answers; None while there is none."""
        return None if self._process is None else self._process.pid

    def act(self, session: Session, request: wire.HintRequest) -> None:
        """Queue a question; `ok` and the hint come with its answer. Raises `Refusal` if it may not be asked."""
        match, side = self._match_of(session, request)
        if any(job.by is session for job in (*filter(None, (self._current,)), *self._waiting)):
            raise Refusal(Code.BUSY, "one hint at a time; wait for the last", _RETRY_MS)
        self._services.rate_limiter.spend("hints", session.player, session.connection.metered_as)
        ms = round(1000 * self._services.limits.hint_s) if request.kind == "move" else 0
        question = hint_question(match, side, request, ms)
        ply = len(match.moves)

        def done(found: HintAnswer | None) -> None:
            if found is None:
                session.refuse(request.id, Refusal(Code.BUSY, "no hint could be found; ask again", _RETRY_MS))
                return
            session.ok(request.id)
            session.tell(wire.HintReply(request.match, ply, request.kind, found.moves, found.text, found.why))

        self._add(CoachJob(question, ms, session, HintAnswer, done))

    def look_at(self, record: str, told: Callable[[wire.MatchLesson | None], None]) -> None:
        """Have a match looked at without a search; `told` is called with its lesson, or None if there comes none.

        Raises `Refusal` if too many questions wait.
        """
        self._add(CoachJob(lesson_question(record, LESSON_MS), LESSON_MS, None, wire.MatchLesson, told))

    def _match_of(self, session: Session, request: wire.HintRequest) -> tuple[Match, int]:
        """Return the match that a hint is asked for, and the side of who asks. Raises `Refusal` if there is none."""
        if not self.is_open:
            raise Refusal(Code.NO_HINTS, "this server gives no hints")
        room = self._rooms.get(request.match)
        match, side = (room.match, room.seats.side_of(session.player)) if room else (None, None)
        if room is None or match is None or side is None:
            raise Refusal(Code.NOT_SEATED, f"you do not play match {request.match}; resume it first")
        if session.is_bot or not room.has_bot_beside(session.player):
            raise Refusal(Code.NO_HINTS, "hints are for people who play a bot")
        if match.is_rated:
            raise Refusal(Code.ONLY_CASUAL, "there are no hints in a rated match")
        if match.is_over:
            raise Refusal(Code.MATCH_OVER, "the match is over; have it analysed")
        if request.kind == "move" and match.to_move != side:
            raise Refusal(Code.NOT_YOUR_TURN, "it is not your turn; a hint is for your next move")
        return match, side

    def _add(self, job: CoachJob) -> None:
        if len(self._waiting) >= MAX_JOBS:
            raise Refusal(Code.BUSY, f"{MAX_JOBS} questions wait already", _RETRY_MS)
        self._waiting.append(job)
        self._ordered.set()

    async def run(self) -> None:
        """Answer questions until cancelled."""
        try:
            while True:
                try:
                    async with asyncio.timeout(IDLE_S if self._process else None):
                        await self._ordered.wait()
                except TimeoutError:
                    await self._stop()
                    continue
                while self._waiting:
                    self._current = job = self._waiting.popleft()
                    answer = await self._answer(job)
                    self._current = None
                    self._services.guard.attempt("hint", partial(job.done, answer))
                self._ordered.clear()
        finally:
            await self._stop()

    async def _answer(self, job: CoachJob) -> HintAnswer | wire.MatchLesson | None:
        """Return the answer, or None if none came; a process that is silent or at fault is ended."""
        try:
            async with asyncio.timeout(job.ms / 1000 + GRACE_S):
                process = self._process or await self._start()
                assert process.stdin is not None
                assert process.stdout is not None
                process.stdin.write(msgspec.json.encode(job.question) + b"\n")
                await process.stdin.drain()
                line = await process.stdout.readline()
            return msgspec.json.decode(line, type=job.answer)
        except (TimeoutError, OSError, ValueError, msgspec.MsgspecError) as error:
            log.warning("the coach has no answer: %s", error or "it took too long")
            await self._stop()
            return None

    async def _start(self) -> asyncio.subprocess.Process:
        assert self._command is not None, "where there is no coach, nothing is queued"
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=beside_us(os.environ),
            limit=_MAX_ANSWER_BYTES,
            start_new_session=True,  # Ctrl-C is for the server, which then ends it
        )
        with contextlib.suppress(OSError, AttributeError):  # Windows has no such call
            os.setpriority(os.PRIO_PROCESS, self._process.pid, _NICE)
        return self._process

    async def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        if process.stdin is not None:
            process.stdin.close()
        ending = asyncio.ensure_future(process.wait())
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError:
            await ending  # it is killed: only to be reaped, and nothing of it may stay open
            raise
