"""Answer questions about matches: one process computes hints and first lessons, and one process per match an analysis.

The server knows no strategy. It starts `python -m ttt_net.strategies.coaching` with the first question, sends it one
question at a time as a line of JSON, and ends it after a while without questions. It starts `python -m ttt_net analyse`
for one finished match at a time, with the match as a record, and reads the output line by line, so that everything
found within the time limit is kept. Both processes have low priority.
"""

import asyncio
import contextlib
import logging
import os
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec

from ttt_net import messages as wire
from ttt_net.command_line import beside_us
from ttt_net.errors import Code, Refusal
from ttt_net.games.records import read_records
from ttt_net.matches.analyses import (
    COMMAND,
    LEAST_MOVES,
    described,
    has_engine,
    hint_question,
    lesson_question,
    read_line,
)
from ttt_net.matches.match import Match
from ttt_net.server.journal import Asker, PastQuestion
from ttt_net.server.journal.past import PastAnswer
from ttt_net.server.journal.queries import RecordQuery
from ttt_net.server.online_players import Session
from ttt_net.server.players import PlayerId
from ttt_net.server.rooms.room import MatchRoom
from ttt_net.server.services import Services
from ttt_net.server.wire.frames import frame

log = logging.getLogger(__name__)

MAX_QUESTIONS = 32
"""The maximal number of waiting questions to the coach."""
IDLE_S = 120.0
"""How long to keep an idle process: starting another takes some tenths of a second."""
ANSWER_GRACE_S = 10.0
"""How much longer than its search an answer may take on a busy machine."""
LESSON_MS = 2_000
"""The time limit for a whole match; what was found by then is sent."""
_COACH_NICE = 10
_ASK_AGAIN_MS = 1_000
_MAX_LINE_BYTES = 65_536
MAX_JOBS = 4
"""The maximal number of waiting matches."""
MAX_KEPT = 64
"""The number of cached analyses."""
ANALYSIS_GRACE_S = 30.0
"""How much longer than its search the process may take to load and to end."""
_ANALYSIS_NICE = 15
_RETRY_MS = 5_000


class HintAnswer(msgspec.Struct):
    """The moves of a hint or a warning, and its sentence; empty if there is none."""

    moves: list[int]
    text: str
    why: wire.ExplanationInfo | None = None


class CoachJob(NamedTuple):
    """A question, the time limit of its search, its asker, and the callback for the answer (None without one)."""

    question: dict[str, Any]
    ms: int
    by: Session | None
    answer: type[HintAnswer | wire.MatchLesson]
    done: Callable[[Any], None]


class Coach:
    """Queues questions, and answers them one by one while `run` runs."""

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
        """Whether this server gives hints."""
        return self._command is not None and self._services.limits.hint_s > 0

    @property
    def process_id(self) -> int | None:
        """The id of the coach's process; None while none runs."""
        return None if self._process is None or self._process.returncode is not None else self._process.pid

    def act(self, session: Session, request: wire.HintRequest) -> None:
        """Queue a question; `ok` and the hint follow with its answer. Raises `Refusal` if it is not allowed."""
        match, side = self._match_of(session, request)
        if any(job.by is session for job in (*filter(None, (self._current,)), *self._waiting)):
            raise Refusal(Code.BUSY, "one hint at a time; wait for the last", _ASK_AGAIN_MS)
        self._services.rate_limiter.spend("hints", session.player, session.connection.metered_as)
        ms = round(1000 * self._services.limits.hint_s) if request.kind == "move" else 0
        question = hint_question(match, side, request, ms)
        ply = len(match.moves)

        def done(found: HintAnswer | None) -> None:
            if found is None:
                session.refuse(request.id, Refusal(Code.BUSY, "no hint could be found; ask again", _ASK_AGAIN_MS))
                return
            session.ok(request.id, wire.HintReply(request.match, ply, request.kind, found.moves, found.text, found.why))

        self._add(CoachJob(question, ms, session, HintAnswer, done))

    def look_at(self, record: str, told: Callable[[wire.MatchLesson | None], None]) -> None:
        """Queue a match for a lesson without a search. Calls `told` with the lesson, or None.

        Raises `Refusal` if too many questions wait.
        """
        self._add(CoachJob(lesson_question(record, LESSON_MS), LESSON_MS, None, wire.MatchLesson, told))

    def _match_of(self, session: Session, request: wire.HintRequest) -> tuple[Match, int]:
        """Return the match for a hint, and the side of the asker. Raises `Refusal` if there is none."""
        if not self.is_open:
            raise Refusal(Code.NO_HINTS, "this server gives no hints")
        room = self._rooms.get(request.match)
        if room is None or (match := room.match) is None or (side := room.seats.side_of(session.player)) is None:
            raise Refusal(Code.NOT_SEATED, f"you do not play match {request.match}; resume it first")
        if session.is_bot or not room.has_bot_beside(session.player):
            raise Refusal(Code.NO_HINTS, "hints are for people who play a bot")
        if match.tournament is not None:
            raise Refusal(Code.NOT_IN_TOURNAMENT, "there are no hints in a tournament")
        if match.is_rated:
            raise Refusal(Code.ONLY_CASUAL, "there are no hints in a rated match")
        if match.is_over:
            raise Refusal(Code.MATCH_OVER, "the match is over; have it analysed")
        if request.kind == "move" and match.to_move != side:
            raise Refusal(Code.NOT_YOUR_TURN, "it is not your turn; a hint is for your next move")
        return match, side

    def _add(self, job: CoachJob) -> None:
        if len(self._waiting) >= MAX_QUESTIONS:
            raise Refusal(Code.BUSY, f"{MAX_QUESTIONS} questions wait already", _ASK_AGAIN_MS)
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
        """Return the answer, or None without one; end a process that is silent or sends errors."""
        try:
            async with asyncio.timeout(job.ms / 1000 + ANSWER_GRACE_S):
                if self.process_id is None:  # it may have ended by itself
                    await self._stop()
                process = self._process or await self._start()
                assert process.stdout is not None
                _write(process, msgspec.json.encode(job.question) + b"\n")
                line = await process.stdout.readline()
            return msgspec.json.decode(line, type=job.answer)
        except (TimeoutError, OSError, ValueError, msgspec.MsgspecError) as error:
            log.warning("the coach has no answer: %s", error or "it took too long")
            await self._stop()
            return None

    async def _start(self) -> asyncio.subprocess.Process:
        assert self._command is not None, "where there is no coach, nothing is queued"
        self._process = await _started(self._command, _COACH_NICE)
        return self._process

    async def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        assert process.stdin is not None
        process.stdin.close()
        ending = asyncio.ensure_future(process.wait())
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError:
            await ending  # it was killed: reap it, and close its pipes
            raise


class AnalysisJob(NamedTuple):
    """A match to be analysed, and who asked."""

    match: str
    record: str
    by: PlayerId
    address: str | None
    """The address under which limits count the first asking player; None if they do not apply."""
    askers: set[Session]


def installed_engine() -> Sequence[str] | None:
    """Return the command that analyses matches; None if the compiled searches cannot be loaded."""
    return COMMAND if has_engine() else None


class AnalysisQueue:
    """Queues jobs, and carries them out one by one while `run` runs."""

    def __init__(self, services: Services, coach: Coach) -> None:
        self._services = services
        self._coach = coach
        self._command = services.engine
        self._waiting: deque[AnalysisJob] = deque()
        self._current: AnalysisJob | None = None
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._ordered = asyncio.Event()

    @property
    def jobs(self) -> Sequence[AnalysisJob]:
        """The running job, if any, and the waiting ones."""
        return (*filter(None, (self._current,)), *self._waiting)

    @property
    def is_open(self) -> bool:
        """Whether this server analyses matches: without an engine, a coach finds only the lesson."""
        return self._services.limits.analysis_s > 0 and (self._command is not None or self._coach.is_open)

    def act(self, session: Session, request: wire.AnalyseRequest) -> None:
        """Queue a job; `ok` follows once it is queued, the analysis when it is done.

        Raises `Refusal` if it is not queued.
        """
        if not self.is_open or (request.brief and not self._coach.is_open):
            raise Refusal(Code.NO_ENGINE, "this server analyses no matches")
        self._services.rate_limiter.spend("inquiries", session.player, session.connection.metered_as)

        def found(answer: PastAnswer) -> None:
            assert isinstance(answer.message, wire.RecordReply)
            self._take(session, request, answer.message.text)

        asked = wire.RecordRequest(request.id, request.match)  # players who may read the record may have the analysis
        query, asker = RecordQuery(asked, session.player), Asker(session.player, session.connection.metered_as)
        self._services.archive.ask(PastQuestion(query, asker, found, partial(session.refuse, request.id)))

    def _take(self, session: Session, request: wire.AnalyseRequest, record: str) -> None:
        job = next((job for job in self.jobs if job.match == request.match), None)
        if self._command is None or request.brief:
            try:
                self._coach.look_at(record, partial(self._tell_lesson, session, request))
            except Refusal as refusal:
                session.refuse(request.id, refusal)
            else:
                session.ok(request.id)
        elif request.match in self._kept:
            session.ok(request.id)
            self._kept.move_to_end(request.match)
            session.connection.send(self._kept[request.match])
        elif job:
            session.ok(request.id)
            job.askers.add(session)
        elif any(_is_of(each, session) for each in self.jobs):
            reason = "another match of yours, or of your address, is being analysed; ask again when that is done"
            session.refuse(request.id, Refusal(Code.BUSY, reason, _RETRY_MS))
        elif len(self._waiting) >= MAX_JOBS:
            session.refuse(request.id, Refusal(Code.BUSY, f"{MAX_JOBS} matches wait to be analysed already", _RETRY_MS))
        else:
            session.ok(request.id)
            job = AnalysisJob(request.match, record, session.player, session.connection.metered_as, {session})
            self._waiting.append(job)
            self._ordered.set()
            if self._coach.is_open:
                with contextlib.suppress(Refusal):  # the coach is busy; the lesson follows with the analysis
                    self._coach.look_at(record, partial(self._tell_first, job))

    def _tell_first(self, job: AnalysisJob, lesson: wire.MatchLesson | None) -> None:
        """Send everybody who waits for an analysis the lesson that needs no search."""
        if lesson is not None and job in self.jobs:
            told = frame(wire.encode(wire.AnalysisReply(job.match, [], exact=False, lesson=lesson, partial=True)))
            for session in job.askers:
                session.connection.send(told)

    def _tell_lesson(self, session: Session, request: wire.AnalyseRequest, lesson: wire.MatchLesson | None) -> None:
        """Send an analysis with only a lesson: no more was requested, or there is no engine."""
        session.tell(wire.AnalysisReply(request.match, [], exact=False, lesson=lesson, partial=request.brief))

    async def run(self) -> None:
        """Carry out jobs until cancelled."""
        while True:
            while self._waiting:
                self._current = job = self._waiting.popleft()
                analysis = await self._analyse(job)
                told = frame(wire.encode(analysis))
                self._current = None
                if analysis.moves:  # an empty one is not cached: a later attempt may find more
                    self._kept[job.match] = told
                if len(self._kept) > MAX_KEPT:
                    self._kept.popitem(last=False)
                for session in job.askers:
                    session.connection.send(told)
            self._ordered.clear()
            await self._ordered.wait()

    async def _analyse(self, job: AnalysisJob) -> wire.AnalysisReply:
        moves: list[wire.AnalysedMove] = []
        lesson: wire.MatchLesson | None = None
        budget_s = self._services.limits.analysis_s
        judged_all = True
        try:
            (record,) = await asyncio.to_thread(read_records, job.record)
            if len(record.moves) < LEAST_MOVES:
                return wire.AnalysisReply(job.match, moves, exact=True)
            async with asyncio.timeout(budget_s + ANALYSIS_GRACE_S), self._process(job, budget_s) as lines:
                async for line in lines:
                    each = read_line(line)
                    if isinstance(each, wire.MatchLesson):
                        lesson = each
                        continue
                    judged_all &= each.value is not None
                    moves.append(described(each))
            if len(moves) < len(record.moves):
                raise EOFError("the process ended too early")
        except (TimeoutError, EOFError, OSError, ValueError, msgspec.MsgspecError, Refusal) as error:
            log.warning("match %s could not be analysed to its end: %s", job.match, error or "it took too long")
            judged_all = False
        except Exception:  # noqa: BLE001 - an analysis must not end the server
            self._services.guard.note("analysis")
            judged_all = False
        return wire.AnalysisReply(job.match, moves, exact=judged_all, lesson=lesson)

    @contextlib.asynccontextmanager
    async def _process(self, job: AnalysisJob, budget_s: float) -> AsyncIterator[asyncio.StreamReader]:
        """Run the process inside the block, reading its output; it does not outlive the block."""
        command = self._command
        assert command is not None, "where there is no engine, nothing is queued"
        process = await _started((*command, str(max(1, round(1000 * budget_s)))), _ANALYSIS_NICE)
        assert process.stdout is not None
        try:
            _write(process, job.record.encode(), is_all=True)
            yield process.stdout
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _is_of(job: AnalysisJob, session: Session) -> bool:
    """Tell whether a job was requested by the player or from the same address: each may have one at a time."""
    address = session.connection.metered_as
    return job.by == session.player or (address is not None and job.address == address)


async def _started(command: Sequence[str], nice: int) -> asyncio.subprocess.Process:
    """Start a low-priority process that reads standard input and writes lines."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=beside_us(os.environ),
        limit=_MAX_LINE_BYTES,
        start_new_session=True,  # Ctrl-C ends the server, which then ends the process
    )
    with contextlib.suppress(OSError, AttributeError):  # Windows has no such call
        os.setpriority(os.PRIO_PROCESS, process.pid, nice)
    return process


def _write(process: asyncio.subprocess.Process, data: bytes, *, is_all: bool = False) -> None:
    """Write to the standard input of a process, and end it after `is_all`; one that has ended reads nothing."""
    assert process.stdin is not None
    with contextlib.suppress(RuntimeError):  # uvloop's, where the process has ended already
        process.stdin.write(data)
    if is_all:
        process.stdin.close()


async def answer_of(command: Sequence[str], nice: int, question: bytes, limit_s: float) -> bytes:
    """Return the output of a process for a question on its standard input; it does not outlive the call.

    Raises `OSError` if it fails to start, and `TimeoutError` if it takes longer than `limit_s`.
    """
    process = await _started(command, nice)
    assert process.stdout is not None
    try:
        _write(process, question, is_all=True)
        async with asyncio.timeout(limit_s):
            return await process.stdout.read()
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
