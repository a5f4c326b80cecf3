"""Play at this keyboard: one or two people, or strategies that a person watches; no server and no socket.

To a client, `LocalConnection` looks like the connection to a server: events answer requests, in order. It ends matches
when time runs out, starts the next of several games, keeps records, and gets hints and analyses from low-priority
processes.
"""

import asyncio
import json
import os
import secrets
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import msgspec

from ttt_net import messages
from ttt_net.client.address import AT_HOME
from ttt_net.client.bot.bot_log import BotLog
from ttt_net.client.client_controller import ClientController, Controller
from ttt_net.client.display import Send
from ttt_net.client.local.local_matches import LocalMatches, Seating
from ttt_net.client.mailbox import Event, Mailbox, TerminalEvent, delivered
from ttt_net.client.options import Options
from ttt_net.client.remembered import Achievements, is_first_match_of, load_achievements, save_achievements
from ttt_net.client.saved_matches import keep_record
from ttt_net.client.user_io import Ending, json_writer_of, tap_of, writer_of
from ttt_net.client.world import LinkState, World, update_world
from ttt_net.command_line import beside_us
from ttt_net.errors import Refusal
from ttt_net.games import Reason
from ttt_net.games.records import write_record
from ttt_net.matches.analyses import (
    COACH,
    COMMAND,
    LEAST_MOVES,
    described,
    has_engine,
    hint_question,
    lesson_question,
    read_line,
)
from ttt_net.matches.match import Match, record_of
from ttt_net.sdk.received import Answered, ConnectionEvent, Farewell, Parting, Stop
from ttt_net.sdk.trust import Trust

ANALYSIS_S = 20.0
HINT_MS = 1000
"""The time limit of a search."""
GRACE_S = 30.0
"""How much longer a process may take to load and to end."""
_NICE = 10


async def analyse(match: Match) -> messages.AnalysisReply:
    """Return the analysis of a finished match, partial if the time runs out."""
    record = write_record(record_of(match.events))
    moves = len(match.moves)
    judged: list[messages.AnalysedMove] = []
    lesson: messages.MatchLesson | None = None
    is_exact = True
    if moves < LEAST_MOVES:
        return messages.AnalysisReply(match.id, judged, exact=True)
    try:
        budget = str(round(1000 * ANALYSIS_S))
        async with asyncio.timeout(ANALYSIS_S + GRACE_S), _process((*COMMAND, budget)) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(record.encode())
            process.stdin.close()
            async for line in process.stdout:
                each = read_line(line)
                if isinstance(each, messages.MatchLesson):
                    lesson = each
                else:
                    is_exact &= each.value is not None
                    judged.append(described(each))
    except (TimeoutError, OSError, msgspec.MsgspecError):
        is_exact = False
    return messages.AnalysisReply(match.id, judged, exact=is_exact and len(judged) == moves, lesson=lesson)


@asynccontextmanager
async def _process(command: Sequence[str]) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a low-priority process inside the block."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=beside_us(os.environ),
        start_new_session=True,  # Ctrl-C ends the client, which then ends the process
    )
    try:
        with suppress(OSError, AttributeError):  # Windows has no such call
            os.setpriority(os.PRIO_PROCESS, process.pid, _NICE)
        yield process
    finally:
        assert process.stdin is not None
        process.stdin.close()  # before the loop ends: since Python 3.13, `wait` does not wait until pipes are closed
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


class LocalCoach:
    """Computes hints one at a time in a process that starts with the first."""

    def __init__(self) -> None:
        self._running = AsyncExitStack()
        self._process: asyncio.subprocess.Process | None = None

    async def hint(self, match: Match, side: int, request: messages.HintRequest) -> messages.HintReply:
        """Return a hint for the side, or a warning; without moves if nothing was found."""
        question = hint_question(match, side, request, HINT_MS)
        ply = len(match.moves)
        try:
            async with asyncio.timeout(HINT_MS / 1000 + GRACE_S):
                found = await self._ask(json.dumps(question))
        except (TimeoutError, OSError, ValueError):
            await self.stop()
            found = {"moves": [], "text": ""}
        why = msgspec.convert(found.get("why"), messages.ExplanationInfo | None)
        return messages.HintReply(match.id, ply, request.kind, found["moves"], found["text"], why)

    async def look_at(self, match: Match) -> messages.AnalysisReply:
        """Return an analysis that contains only the lesson of a finished match, found without a search."""
        question = lesson_question(write_record(record_of(match.events)), HINT_MS)
        try:
            async with asyncio.timeout(HINT_MS / 1000 + GRACE_S):
                lesson = msgspec.convert(await self._ask(json.dumps(question)), messages.MatchLesson)
        except (TimeoutError, OSError, ValueError, msgspec.MsgspecError):
            await self.stop()
            return messages.AnalysisReply(match.id, [], exact=False, partial=True)
        return messages.AnalysisReply(match.id, [], exact=False, lesson=lesson, partial=True)

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


_ID_BYTES = 4
_MARGIN_S = 0.001


@dataclass(frozen=True, slots=True)
class Series:
    """How matches at this keyboard follow each other."""

    games: int | None = None
    """How many matches start by themselves; None: each starts on request."""
    pause_s: float = 0.0
    """How long the end of each match stays visible before the next."""
    is_seen_at_leisure: bool = False
    """Whether the end of the last match stays visible until the watching person leaves."""


class Others(NamedTuple):
    """The players here that are not people."""

    labels: Mapping[int, str]
    """The labels of their sides."""
    play: Callable[["LocalConnection"], Coroutine[Any, Any, None]]
    """Makes their moves until cancelled."""


class LocalConnection:
    """The connection to the matches at this keyboard: run `run` in a task, and send requests with `say`."""

    url = ""
    trust = Trust()
    latency_ms: int | None = None

    def __init__(
        self,
        seating: Seating,
        series: Series,
        deliver: Callable[[ConnectionEvent], Awaitable[None]],
        tap: Callable[[str], None] | None = None,
        others: Others | None = None,
    ) -> None:
        """`tap` is called with every message as text."""
        self.began: Callable[[str], None] | None = None
        """Called with the id of each match that starts by itself."""
        self._series = series
        self._deliver, self._tap = deliver, tap
        self._others = others
        self._coach = LocalCoach()
        self._events: asyncio.Queue[ConnectionEvent] = asyncio.Queue()
        """Undelivered events: at most those that follow from one request."""
        self._is_delivering = False
        self._has_moved, self._clock_changed = asyncio.Event(), asyncio.Event()
        self._jobs: asyncio.Queue[tuple[messages.HintRequest | messages.AnalyseRequest, Match]] = asyncio.Queue()
        self._played = 0
        self.matches = LocalMatches(seating, lambda: secrets.token_hex(_ID_BYTES), _wall_ms)
        you = seating.players[seating.people[0] if seating.people else 0]
        self.tell([messages.Welcome(messages.PROTOCOL, "", you, [], chat=False, features=_features(seating))])

    @property
    def is_asking(self) -> bool:
        """Whether the answer to a request is not delivered yet."""
        return self._is_delivering or not self._events.empty()

    def say(self, request: messages.Request) -> None:
        """Carry out a request; its messages are delivered in order."""
        told: list[messages.AnyServerMessage] = []
        try:
            if isinstance(request, messages.HintRequest | messages.AnalyseRequest):
                self._jobs.put_nowait((request, self.matches.to_coach(request)))
            else:
                told = self.matches.request(request, now_ms())
        except Refusal as refusal:
            answer: messages.Ok | messages.Refused = messages.Refused(
                request.id, refusal.code, str(refusal), refusal.retry_after_ms
            )
        else:
            answer = messages.Ok(request.id)
        self._heard(answer, Answered(request, answer))
        self.tell(told)

    def begin(self) -> None:
        """Begin a match, unless one is being played."""
        with suppress(Refusal):
            self.tell(self.matches.begin(now_ms()))
            if self.began is not None and self.matches.match is not None:
                self.began(self.matches.match.id)

    def tell(self, told: Sequence[messages.AnyServerMessage]) -> None:
        """Queue messages for delivery; of an offer that is accepted immediately, only the acceptance."""
        for number, message in enumerate(told, start=1):
            is_accepted = isinstance(message, messages.Offered) and isinstance(
                told[number], messages.Tookback | messages.Ended
            )
            self._heard(message, None if is_accepted else message)
        self._has_moved.set()
        self._clock_changed.set()
        match = self.matches.match
        if match is not None and any(isinstance(message, messages.Ended) for message in told):
            self._ended(match)

    async def moved(self) -> None:
        """Wait until something has happened since the last call."""
        await self._has_moved.wait()
        self._has_moved.clear()

    async def run(self) -> None:
        """Deliver messages, check clocks and let strategies play until all games are over, or forever."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each) for each in (self._watch_clock(), self._coach_all())]
            if self._others is not None:
                tasks.append(group.create_task(self._others.play(self)))
            while True:
                event = await self._events.get()
                self._is_delivering = True
                await self._deliver(event)
                self._is_delivering = False
                if isinstance(event, Farewell):
                    break
            for task in tasks:
                task.cancel()

    def _heard(self, message: messages.AnyServerMessage, event: ConnectionEvent | None) -> None:
        if self._tap is not None:
            self._tap(messages.encode(message).decode())
        if event is not None:
            self._events.put_nowait(event)

    def _ended(self, match: Match) -> None:
        """Save the match, and schedule the next one of a series; a match without a result does not count."""
        if match.moves and match.outcome is not None and match.outcome.reason is not Reason.ABORT:
            keep_record(self.matches.record(match.id))
        if self._series.games is None:
            return
        self._played += match.outcome is not None and match.outcome.reason is not Reason.ABORT
        loop = asyncio.get_running_loop()
        if self._played < self._series.games:
            loop.call_later(self._series.pause_s, self.begin)
        elif not self._series.is_seen_at_leisure:
            self._events.put_nowait(Farewell(Parting.DONE, ""))

    async def _watch_clock(self) -> None:
        while True:
            at_ms = self.matches.flag_at_ms
            self._clock_changed.clear()
            try:
                async with asyncio.timeout(None if at_ms is None else max(0, at_ms - now_ms()) / 1000 + _MARGIN_S):
                    await self._clock_changed.wait()
            except TimeoutError:
                self.tell(self.matches.look_at_clock(now_ms()))

    async def _coach_all(self) -> None:
        try:
            while True:
                request, match = await self._jobs.get()
                if isinstance(request, messages.AnalyseRequest) and request.brief:
                    self.tell([await self._coach.look_at(match)])
                elif isinstance(request, messages.AnalyseRequest):
                    self.tell([await analyse(match)])
                else:
                    self.tell([await self._coach.hint(match, self.matches.you or 0, request)])
        finally:
            await self._coach.stop()


def now_ms() -> int:
    """Return the time on the clock of the matches."""
    return time.monotonic_ns() // 1_000_000


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


def _features(seating: Seating) -> list[str]:
    """Return the available features: hints are available to a single person who plays against a strategy."""
    return [*["analyse"] * has_engine(), *["hint"] * (len(seating.people) == 1), "puzzle", "study"]


_PAUSE_S = 1.5
"""How long the end of a game between strategies stays visible before the next."""
Show = Callable[[Controller, asyncio.Queue[Event]], Awaitable[None]]
"""Renders a controller's displays, on the screen or line by line, until it is done."""


def play(options: Options, others: Others | None, show: Show, *, is_on_screen: bool) -> Ending:
    """Run the requested match; `others` plays for strategies.

    In lines mode, matches of two strategies print only results.
    """
    local = options.local
    assert local is not None
    if local.people:
        return asyncio.run(_play(options, others, show, is_on_screen=is_on_screen))
    return asyncio.run(_look_on(options, others, show) if is_on_screen else _tell(options, others))


async def _play(options: Options, others: Others | None, show: Show, *, is_on_screen: bool) -> Ending:
    """Run a match of one or two people."""
    mailbox = Mailbox()
    seating = _seating(options, others)
    series = Series(None if is_on_screen else options.games)
    is_read = sys.stdin.isatty() and sys.stdout.isatty() and not options.is_json
    connection = LocalConnection(seating, series, mailbox.put, _tap(options), others)
    connection.begin()
    controller = ClientController(
        connection,
        messages.SeekRequest(0, [seating.game], seating.time),
        AT_HOME,
        is_in_lines=not is_on_screen,
        is_seeking=False,
        is_shared=seating.is_shared,
        is_first_match_of=is_first_match_of if is_read else None,
        keep_achievements=save_achievements if is_read else None,
    )
    world = replace(controller.display.world, link=LinkState.ONLINE)
    controller.display = replace(
        controller.display,
        world=world,
        is_arriving=True,
        has_server_picker=options.has_server_picker,
        achieved=load_achievements() if is_read else Achievements(),
    )
    await show(controller, mailbox)
    display = controller.display
    return Ending(display.world.farewell, tally=display.world.tally, is_going_back=display.is_going_back)


async def _look_on(options: Options, others: Others | None, show: Show) -> Ending:
    """Run a match of strategies for a watching person; the end of the last game stays until they leave."""
    mailbox = Mailbox()
    series = Series(options.games or 1, _PAUSE_S, is_seen_at_leisure=True)
    connection = LocalConnection(
        replace(_seating(options, others), has_onlooker=True), series, mailbox.put, None, others
    )
    controller = ClientController(connection, messages.SeekRequest(0), AT_HOME, is_seeking=False)
    controller.display = replace(controller.display, has_server_picker=options.has_server_picker)
    connection.began = lambda match: controller.do(Send(messages.WatchRequest(0, match=match)))
    connection.begin()
    await show(controller, mailbox)
    return Ending(controller.display.world.farewell, is_going_back=controller.display.is_going_back)


async def _tell(options: Options, others: Others | None) -> Ending:
    """Run games of strategies, and print the players and result of each, or with JSON everything that X receives."""
    mailbox = Mailbox()
    connection = LocalConnection(
        _seating(options, others), Series(options.games or 1), mailbox.put, _tap(options), others
    )
    connection.begin()
    log, write, world = BotLog(is_for_onlookers=True), writer_of(options), World()
    with delivered(mailbox):
        async with asyncio.TaskGroup() as group:
            playing = group.create_task(connection.run())
            while not isinstance(event := await mailbox.get(), Stop | Farewell):
                if isinstance(event, TerminalEvent):
                    continue
                before, world = world, update_world(world, event, now_ms())
                if (
                    said := event.text
                    if isinstance(event, messages.Notice)
                    else log.line_of(event, before, world, now_ms())
                ):
                    write(said)
            playing.cancel()
    return Ending(None, tally=world.tally)


def _seating(options: Options, others: Others | None) -> Seating:
    local = options.local
    assert local is not None
    labels = others.labels if others is not None else {}
    first, second = (
        messages.PlayerInfo(name, labels[side], options.level) if side in labels else messages.PlayerInfo(name)
        for side, name in enumerate(local.names)
    )
    return Seating(local.game, (first, second), options.time, local.start)


def _tap(options: Options) -> Callable[[str], None] | None:
    return tap_of(json_writer_of(options))
