"""Finished matches looked at by an engine: one at a time, in a process of its own that gives way to everything else.

The server knows no strategy: it starts `python -m ttt_net analyse`, hands it the match as a record, and reads what it
prints, line by line, so that what was found before the time was up is not lost.
"""

import asyncio
import contextlib
import importlib.util
import logging
import os
import sys
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import NamedTuple
from typing import Protocol as Interface

import msgspec

from ttt_net import messages as wire
from ttt_net.errors import Code, Refusal
from ttt_net.games.records import read_records
from ttt_net.programs import beside_us
from ttt_net.server.accounts.session import Session
from ttt_net.server.admission.rate_limiter import RateLimiter
from ttt_net.server.guard import Guard
from ttt_net.server.journal import Journal
from ttt_net.server.journal.queries import RecordQuery
from ttt_net.server.settings.limits import Limits
from ttt_net.server.wire.frames import frame

log = logging.getLogger(__name__)

MAX_WAITING = 4
"""Matches that may wait for their turn; whoever asks for one more is told to come back."""
MAX_KEPT = 64
"""Analyses that are kept, so that asking again costs nothing."""
MAX_BEST = 3
"""Best moves that are named for each that was made."""
_GRACE_S = 30.0
"""How much longer than its search the process may take, to load and to end."""
_NICE = 15
_RETRY_MS = 5_000
_LESSON = b'{"type": "lesson"'
COMMAND = (sys.executable, "-m", "ttt_net", "analyse", "--match", "-", "--json", "--match-time")


class JudgedMove(msgspec.Struct):
    """One line that the process prints: a move, from the view of who made it."""

    ply: int
    side: int
    move: int
    best: list[str]
    value: int | None
    estimate: int | None = None
    lost: int | None = None
    sign: str = ""
    text: str = ""


class AnalysisJob(NamedTuple):
    """A match to be analysed, and who wants to know."""

    match: str
    record: str
    askers: set[Session]


class AnalysisServices(Interface):
    """What the analyst asks of the hub."""

    journal: Journal
    limits: Limits
    quotas: RateLimiter
    guard: Guard


def has_engine() -> bool:
    """Tell whether the compiled searches can be loaded; what they need is looked for, not loaded."""
    return importlib.util.find_spec("numba") is not None


class AnalysisQueue:
    """Takes orders, and carries them out one after the other while `run` runs."""

    def __init__(self, house: AnalysisServices, command: Sequence[str] = COMMAND) -> None:
        self._house = house
        self._command = command
        self.is_open = house.limits.analysis_s > 0 and has_engine()
        """Whether anything is analysed here."""
        self._waiting: deque[AnalysisJob] = deque()
        self._current: AnalysisJob | None = None
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._ordered = asyncio.Event()

    def act(self, session: Session, said: wire.AnalyseRequest) -> None:
        """Take an order; `ok` comes once it is taken, the analysis when it is done. Raises `Refusal` if it is not."""
        if not self.is_open:
            raise Refusal(Code.NO_ENGINE, "this server analyses no matches")
        self._house.quotas.spend("inquiries", session.player, session.connection.metered_as)

        def found(record: wire.ServerMessage) -> None:
            assert isinstance(record, wire.RecordReply)
            self._take(session, said, record.text)

        asked = wire.RecordRequest(said.id, said.match)  # who may have the record may have the analysis
        self._house.journal.ask(RecordQuery(asked, session.player), found, partial(session.refuse, said.id))

    def _take(self, session: Session, said: wire.AnalyseRequest, record: str) -> None:
        orders = (*self._waiting, *filter(None, (self._current,)))
        order = next((order for order in orders if order.match == said.match), None)
        if said.match in self._kept:
            session.ok(said.id)
            self._kept.move_to_end(said.match)
            session.connection.send(self._kept[said.match])
        elif order:
            session.ok(said.id)
            order.askers.add(session)
        elif len(self._waiting) >= MAX_WAITING:
            session.refuse(said.id, Refusal(Code.BUSY, f"{MAX_WAITING} matches wait to be analysed already", _RETRY_MS))
        else:
            session.ok(said.id)
            self._waiting.append(AnalysisJob(said.match, record, {session}))
            self._ordered.set()

    async def run(self) -> None:
        """Carry out orders until cancelled."""
        while True:
            while self._waiting:
                self._current = order = self._waiting.popleft()
                analysis = await self._analyse(order)
                told = frame(wire.encode(analysis))
                self._current = None
                if analysis.moves:  # where nothing came of it, the next who asks may have more luck
                    self._kept[order.match] = told
                if len(self._kept) > MAX_KEPT:
                    self._kept.popitem(last=False)
                for session in order.askers:
                    session.connection.send(told)
            self._ordered.clear()
            await self._ordered.wait()

    async def _analyse(self, order: AnalysisJob) -> wire.AnalysisReply:
        moves: list[wire.AnalysedMove] = []
        lesson: wire.MatchLesson | None = None
        budget_s = self._house.limits.analysis_s
        judged_all = True
        try:
            (record,) = await asyncio.to_thread(read_records, order.record)
            async with asyncio.timeout(budget_s + _GRACE_S), self._process(order, budget_s) as lines:
                async for line in lines:
                    if line.startswith(_LESSON):
                        lesson = msgspec.json.decode(line, type=wire.MatchLesson)
                        continue
                    each = msgspec.json.decode(line, type=JudgedMove)
                    judged_all &= each.value is not None
                    moves.append(_told(each))
            if len(moves) < len(record.moves):
                raise EOFError("the process ended too early")
        except (TimeoutError, EOFError, OSError, ValueError, msgspec.MsgspecError, Refusal) as error:
            log.warning("match %s could not be analysed to its end: %s", order.match, error or "it took too long")
            judged_all = False
        except Exception:  # noqa: BLE001 - an analysis is not worth the server
            self._house.guard.note("analysis")
            judged_all = False
        return wire.AnalysisReply(order.match, moves, exact=judged_all, lesson=lesson)

    @contextlib.asynccontextmanager
    async def _process(self, order: AnalysisJob, budget_s: float) -> AsyncIterator[asyncio.StreamReader]:
        """Run the process inside the block; what it prints is read, and it does not outlive the block."""
        process = await asyncio.create_subprocess_exec(
            *self._command,
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
            process.stdin.write(order.record.encode())
            process.stdin.close()
            yield process.stdout
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _told(each: JudgedMove) -> wire.AnalysedMove:
    """Return what a client hears of a move; an estimate becomes a score between -1 and 1."""
    score = None if each.value is not None or each.estimate is None else each.estimate / (abs(each.estimate) + 50)
    return wire.AnalysedMove(
        ply=each.ply,
        move=each.move,
        value=each.value or 0,
        best=each.best[:MAX_BEST],
        turning=bool(each.lost),
        score=None if score is None else round(score, 2),
        side=each.side,
        more=max(0, len(each.best) - MAX_BEST),
        sign=each.sign,
        text=each.text,
    )
