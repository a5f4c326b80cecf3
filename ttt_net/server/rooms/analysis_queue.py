"""Analyse finished matches: one at a time, in a process of its own that gives way to everything else.

The server knows no strategy: it starts `python -m ttt_net analyse`, hands it the match as a record, and reads what it
prints, line by line, so that what was found before the time was up is not lost.
"""

import asyncio
import contextlib
import logging
import os
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from ttt_net import messages as wire
from ttt_net.errors import Code, Refusal
from ttt_net.games.records import read_records
from ttt_net.matches.analysis_processes import COMMAND, LEAST_MOVES, described, has_engine, read_line
from ttt_net.programs import beside_us
from ttt_net.server.accounts.session import Session
from ttt_net.server.journal import Asker, PastQuestion
from ttt_net.server.journal.past import PastAnswer
from ttt_net.server.journal.queries import RecordQuery
from ttt_net.server.players import PlayerId
from ttt_net.server.rooms.coach import Coach
from ttt_net.server.services import Services
from ttt_net.server.wire.frames import frame

log = logging.getLogger(__name__)

MAX_JOBS = 4
"""Matches that may wait for their turn; one more is refused for now."""
MAX_KEPT = 64
"""Analyses that are kept, so that asking again costs nothing."""
GRACE_S = 30.0
"""How much longer than its search the process may take, to load and to end."""
_NICE = 15
_RETRY_MS = 5_000


class AnalysisJob(NamedTuple):
    """A match to be analysed, and who wants to know."""

    match: str
    record: str
    by: PlayerId
    address: str | None
    """The address under which limits count the first asking player; None if they do not apply."""
    askers: set[Session]


def installed_engine() -> Sequence[str] | None:
    """Return the command that analyses matches; None where the compiled searches cannot be loaded."""
    return COMMAND if has_engine() else None


class AnalysisQueue:
    """Takes jobs, and carries them out one after the other while `run` runs."""

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
        """The job that is under way, if one is, and those that wait."""
        return (*filter(None, (self._current,)), *self._waiting)

    @property
    def is_open(self) -> bool:
        """Whether anything is analysed here: where there is no engine, a coach finds the lesson alone."""
        return self._services.limits.analysis_s > 0 and (self._command is not None or self._coach.is_open)

    def act(self, session: Session, request: wire.AnalyseRequest) -> None:
        """Queue a job; `ok` comes once it is queued, the analysis when it is done. Raises `Refusal` if not queued."""
        if not self.is_open or (request.brief and not self._coach.is_open):
            raise Refusal(Code.NO_ENGINE, "this server analyses no matches")
        self._services.rate_limiter.spend("inquiries", session.player, session.connection.metered_as)

        def found(answer: PastAnswer) -> None:
            assert isinstance(answer.message, wire.RecordReply)
            self._take(session, request, answer.message.text)

        asked = wire.RecordRequest(request.id, request.match)  # who may have the record may have the analysis
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
                with contextlib.suppress(Refusal):  # it has too much to do; the lesson comes with the analysis
                    self._coach.look_at(record, partial(self._tell_first, job))

    def _tell_first(self, job: AnalysisJob, lesson: wire.MatchLesson | None) -> None:
        """Tell who waits for an analysis its lesson by what can be seen without a search."""
        if lesson is not None and job in self.jobs:
            told = frame(wire.encode(wire.AnalysisReply(job.match, [], exact=False, lesson=lesson, partial=True)))
            for session in job.askers:
                session.connection.send(told)

    def _tell_lesson(self, session: Session, request: wire.AnalyseRequest, lesson: wire.MatchLesson | None) -> None:
        """Tell an analysis that is a lesson alone: more was not asked for, or there is no engine."""
        session.tell(wire.AnalysisReply(request.match, [], exact=False, lesson=lesson, partial=request.brief))

    async def run(self) -> None:
        """Carry out jobs until cancelled."""
        while True:
            while self._waiting:
                self._current = job = self._waiting.popleft()
                analysis = await self._analyse(job)
                told = frame(wire.encode(analysis))
                self._current = None
                if analysis.moves or analysis.exact:  # where nothing came of it, the next who asks may have more luck
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
            async with asyncio.timeout(budget_s + GRACE_S), self._process(job, budget_s) as lines:
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
        except Exception:  # noqa: BLE001 - an analysis is not worth the server
            self._services.guard.note("analysis")
            judged_all = False
        return wire.AnalysisReply(job.match, moves, exact=judged_all, lesson=lesson)

    @contextlib.asynccontextmanager
    async def _process(self, job: AnalysisJob, budget_s: float) -> AsyncIterator[asyncio.StreamReader]:
        """Run the process inside the block; what it prints is read, and it does not outlive the block."""
        command = self._command
        assert command is not None, "where there is no engine, nothing is queued"
        process = await asyncio.create_subprocess_exec(
            *command,
            str(max(1, round(1000 * budget_s))),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=beside_us(os.environ),
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            with contextlib.suppress(OSError, AttributeError):  # Windows has no such call
                os.setpriority(os.PRIO_PROCESS, process.pid, _NICE)
            with contextlib.suppress(RuntimeError):  # uvloop's, where the process has ended already
                process.stdin.write(job.record.encode())
                process.stdin.close()
            yield process.stdout
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _is_of(job: AnalysisJob, session: Session) -> bool:
    """Tell whether a job was ordered by the player, or by somebody of the same address: each has one at a time."""
    address = session.connection.metered_as
    return job.by == session.player or (address is not None and job.address == address)
