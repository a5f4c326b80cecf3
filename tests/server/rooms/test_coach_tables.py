"""Hints, lessons and analyses on simulated time, by processes that a test plays."""

import asyncio
import itertools
import json
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from tests.server.house import Caller
from tests.server.matchmaking.parlour import Parlour, shown
from ttt_net import messages as wire
from ttt_net.errors import Code, Refusal
from ttt_net.matches.analyses import COMMAND
from ttt_net.server.rooms import coach
from ttt_net.server.rooms.coach import (
    ANALYSIS_GRACE_S,
    ANSWER_GRACE_S,
    IDLE_S,
    LESSON_MS,
    AnalysisQueue,
    Coach,
    answer_of,
    installed_engine,
)
from ttt_net.server.settings.configuration import Rate

HINT = {"moves": [2], "text": "Play there.", "why": None}
LESSON = {"type": "lesson", "ply": 2, "side": 1, "better": ["a1"], "text": "Move 2: a1 was better."}


def judged(ply: int, value: int | None = 0) -> bytes:
    return json.dumps({"ply": ply, "side": 1 - ply % 2, "move": ply, "best": [], "value": value}).encode() + b"\n"


def line(told: object) -> bytes:
    return json.dumps(told).encode() + b"\n"


class Program:
    """A process that answers each line, or the end of its input, with what a test has prepared, after a moment."""

    numbers = itertools.count(4_000)

    def __init__(
        self, *told: bytes, after_s: float = 0.1, ends_s: float = 0.1, at_end: bool = False, has_failed: bool = False
    ) -> None:
        self.told, self.after_s, self.ends_s, self.at_end = [*told], after_s, ends_s, at_end
        self.has_failed = self.is_gone = has_failed
        self.pid, self.written, self.stdin = next(self.numbers), b"", self
        self.is_killed = self.is_closed = self.has_ended = False
        self.returncode: int | None = None

    def begin(self) -> "Program":
        """Begin on the loop that runs."""
        self.stdout = asyncio.StreamReader(65_536, asyncio.get_running_loop())
        if self.has_failed:
            self.stdout.feed_eof()
        return self

    def write(self, data: bytes) -> None:
        if self.is_gone or self.is_closed:
            raise RuntimeError("the transport is closed")
        self.written += data
        if not self.at_end and self.told:
            asyncio.get_running_loop().call_later(self.after_s, self.stdout.feed_data, self.told.pop(0))

    def close(self) -> None:
        if self.at_end and not self.is_closed:
            loop = asyncio.get_running_loop()
            loop.call_later(self.after_s, self.stdout.feed_data, b"".join(self.told))
            loop.call_later(self.after_s, self.stdout.feed_eof)
        self.is_closed = True

    def kill(self) -> None:
        self.is_killed = True
        if self.is_gone:
            raise ProcessLookupError

    async def wait(self) -> int:
        await asyncio.sleep(self.ends_s)
        self.has_ended = True
        return self.returncode or -9

    @property
    def is_reaped(self) -> bool:
        return self.is_killed and self.is_closed and self.has_ended


class Studio(Parlour):
    """A parlour with a coach and an engine, whose processes are played."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **limits: Any) -> None:
        super().__init__(**{"coach": ("coach",), "engine": ("engine",), **limits})
        self.programs: list[Program | OSError] = []
        """Those that start next; without one, the next hangs."""
        self.started: list[tuple[tuple[str, ...], dict[str, Any], Program]] = []
        self.nice: list[tuple[int, int]] = []
        """Number and niceness of each process."""

        async def create(*command: str, **options: Any) -> Program:
            program = self.programs.pop(0) if self.programs else Program()
            if isinstance(program, OSError):
                raise program
            self.started.append((command, options, program))
            return program.begin()

        async def at_once(work: Callable[..., Any], *values: Any) -> Any:
            return work(*values)

        def set_priority(which: int, process: int, nice: int) -> None:
            assert which == os.PRIO_PROCESS
            self.nice.append((process, nice))
            raise PermissionError

        monkeypatch.setattr(asyncio, "create_subprocess_exec", create)
        monkeypatch.setattr(asyncio, "to_thread", at_once)
        monkeypatch.setattr(os, "setpriority", set_priority)
        self.coach, self.analysis = self.hub.coach, self.hub.analysis
        self.tasks = [self.loop.create_task(self.coach.run()), self.loop.create_task(self.analysis.run())]
        self.went_s = 0.0

    def go(self, seconds: float) -> int:
        """Let time pass; return how many callbacks that took."""
        self.went_s += seconds + 1e-6
        steps = self.loop.run_until(self.went_s, 1_000)
        assert steps < 1_000
        self.deliver()
        assert self.loop.errors == []
        return steps

    def last(self) -> Program:
        return self.started[-1][2]

    def against_a_bot(self, game: str = "tictactoe") -> tuple[Caller, Caller, str]:
        """Let a person and a bot play; the person moves first."""
        bot = self.enter(name="Mia", bot="minimax", places=9)
        for number in itertools.count():
            person = self.hello(self.caller(f"192.0.1.{number}"), name=f"Ann{number}")
            self.deliver()
            match = self.begin(person, bot, game)
            if shown(person)[-1].you == 0:
                person.take()
                return person, bot, match
        raise AssertionError

    def finished(self, one: Caller, other: Caller, plies: int = 3) -> str:
        """Let two play so many plies, and one resign; return the match."""
        match = self.begin(one, other, "gomoku")
        self.play(match, one, other, plies=plies)
        assert "ok" in self.tell(one, wire.ResignRequest(9, match))
        for link in (one, other):
            link.take()
        return match

    def ask_for(self, link: Caller, match: str, *, brief: bool = False) -> list[str]:
        """Ask for an analysis; return what was told at once."""
        return self.tell(link, wire.AnalyseRequest(9, match, brief))


Open = Callable[..., Studio]


@pytest.fixture
def open_studio(monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Return what makes a studio with some limits; in the end, all that runs in them ends."""
    studios: list[Studio] = []

    def make(**limits: Any) -> Studio:
        studios.append(Studio(monkeypatch, **limits))
        return studios[-1]

    yield make
    for studio in studios:
        for task in studio.tasks:
            task.cancel()
        studio.go(5.0)
        assert all(task.done() for task in studio.tasks)


@pytest.fixture
def studio(open_studio: Open) -> Studio:
    return open_studio()


def analyses(link: Caller) -> list[wire.AnalysisReply]:
    """Return the analyses since the last call."""
    told, link.heard = [each for each in link.heard if isinstance(each, wire.AnalysisReply)], []
    return told


# Hints.


@pytest.mark.parametrize(
    ("command", "hint_s", "is_open"),
    [
        (("coach",), 0.3, True),
        (("coach",), 1.5, True),
        (("coach",), 0.0, False),
        (None, 0.3, False),
        (None, 0.0, False),
    ],
)
def test_hints_are_given_with_a_command_and_time(
    open_studio: Open, command: Sequence[str] | None, hint_s: float, is_open: bool
) -> None:
    studio = open_studio(coach=command, hint_s=hint_s)
    person, _, match = studio.against_a_bot()
    assert studio.coach.is_open == is_open
    assert studio.tell(person, wire.HintRequest(9, match)) == ([] if is_open else ["no_hints"])


@pytest.mark.parametrize("kind", ["move", "warning"])
@pytest.mark.parametrize(
    ("case", "code"),
    [
        ("", None),
        ("unknown", "not_seated"),
        ("watcher", "not_seated"),
        ("unread", "not_seated"),
        ("bot", "no_hints"),
        ("bots", "no_hints"),
        ("people", "no_hints"),
        ("tournament", "not_in_tournament"),
        ("rated", "only_casual"),
        ("over", "match_over"),
        ("moved", "not_your_turn"),
    ],
)
def test_hints_are_for_people_on_their_turn_in_casual_matches_with_bots(
    studio: Studio, kind: Any, case: str, code: str | None
) -> None:
    person, bot, match = studio.against_a_bot()
    other = studio.hello(studio.caller("192.0.7.7"), name="Cid")
    studio.deliver()
    asker = {"bot": bot, "watcher": other}.get(case, person)
    room = studio.hub.registry.rooms[match]
    assert room.match is not None
    if case == "people":
        match = studio.begin(person, other)
    elif case == "bots":
        asker = studio.enter(name="Rob", bot="random", places=9)
        match = studio.begin(asker, bot)
    elif case == "tournament":
        room.match.tournament = wire.TournamentPlace("ABCDE", 1, 1)
    elif case == "rated":
        room.match.is_rated = True
    elif case == "over":
        studio.tell(person, wire.ResignRequest(9, match))
    elif case == "moved" or case == "bot":
        studio.play(match, person, bot)
    elif case == "unread":
        room.match = None
    if case == "moved" and kind == "warning":
        code = None
    told = studio.tell(asker, wire.HintRequest(9, "nothing" if case == "unknown" else match, kind))
    assert told == ([] if code is None else [code])
    studio.go(0)
    assert len(studio.started) == (code is None)


def test_questions_are_asked_one_by_one_of_one_process_and_answered_with_their_ply(studio: Studio) -> None:
    studio.programs = [Program(line(HINT), line({"moves": [], "text": ""}))]
    person, bot, match = studio.against_a_bot()
    assert studio.coach.process_id is None
    studio.play(match, person, bot, plies=2)
    asked = wire.HintRequest(8, match)
    assert studio.tell(person, asked) == []
    assert studio.tell(person, wire.HintRequest(9, match)) == ["busy"], "one at a time"
    studio.go(0.05)
    assert studio.coach.process_id == studio.last().pid
    assert studio.tell(person, wire.HintRequest(9, match)) == ["busy"]
    question = {"kind": "move", "game": "tictactoe", "start": None, "moves": [0, 1], "side": 0, "ms": 300}
    assert json.loads(studio.last().written) == question
    assert studio.last().written.endswith(b"\n")
    studio.go(0.05)
    assert person.heard == [wire.Ok(8), wire.HintReply(match, 2, "move", [2], "Play there.")]
    person.heard.clear()
    studio.tell(person, wire.HintRequest(9, match, "warning"))
    studio.go(0.2)
    assert person.heard == [wire.Ok(9), wire.HintReply(match, 2, "warning")]
    assert json.loads(studio.last().written.splitlines()[1]) == {**question, "kind": "warning", "ms": 0}
    ((command, options, program),) = studio.started
    assert command == ("coach",)
    assert (options["start_new_session"], options["limit"]) == (True, 65_536)
    assert options["env"]["PYTHONSAFEPATH"] == "1"
    assert studio.nice == [(program.pid, 10)]


def test_a_player_asks_for_hints_at_a_limited_rate(open_studio: Open) -> None:
    studio = open_studio(hints=Rate(1, 60.0))
    studio.programs = [Program(line(HINT), line(HINT))]
    person, _, match = studio.against_a_bot()
    assert studio.tell(person, wire.HintRequest(9, match)) == []
    studio.go(0.2)
    assert studio.tell(person, wire.HintRequest(9, match)) == ["too_fast"]


@pytest.mark.parametrize("waiting", [2, 3, 4])
def test_so_many_questions_wait(studio: Studio, monkeypatch: pytest.MonkeyPatch, waiting: int) -> None:
    monkeypatch.setattr(coach, "MAX_QUESTIONS", 3)
    person, _, match = studio.against_a_bot()
    lessons: list[object] = []
    for _ in range(min(waiting, 3)):
        studio.coach.look_at("a record", lessons.append)
    if waiting > 3:
        with pytest.raises(Refusal, match="3 questions") as refused:
            studio.coach.look_at("a record", lessons.append)
        assert refused.value.code is Code.BUSY
    assert studio.tell(person, wire.HintRequest(9, match)) == ([] if waiting < 3 else ["busy"])
    studio.go(0)
    if waiting == 3:  # one of them is answered now
        assert studio.tell(person, wire.HintRequest(9, match)) == []
    assert lessons == []


@pytest.mark.parametrize(("kind", "limit_s"), [("move", 0.3 + ANSWER_GRACE_S), ("warning", ANSWER_GRACE_S)])
def test_a_process_that_is_silent_for_too_long_is_ended_and_another_one_starts(
    studio: Studio, kind: Any, limit_s: float
) -> None:
    person, bot, match = studio.against_a_bot()
    other = studio.hello(studio.caller("192.0.7.7"), name="Cid")
    studio.deliver()
    another = studio.begin(other, bot)
    other.take()
    studio.tell(person, wire.HintRequest(9, match, kind))
    studio.tell(other, wire.HintRequest(9, another, "warning"))
    studio.programs = [Program(), Program(line(HINT))]
    studio.go(limit_s - 0.01)
    assert (person.take(), other.take(), len(studio.started)) == ([], [], 1)
    studio.go(0.05)
    assert studio.last().is_killed
    studio.go(0.3)
    assert studio.started[0][2].is_reaped
    assert (person.take(), other.take()) == (["busy"], ["ok", "hintreply"])
    assert studio.coach.process_id == studio.last().pid
    assert not studio.last().is_killed


def test_a_lesson_has_its_time_and_is_told_or_none(studio: Studio) -> None:
    told: list[wire.MatchLesson | None] = []
    studio.programs = [Program(line(LESSON))]
    for _ in range(2):
        studio.coach.look_at("a record", told.append)
    studio.go(0.2)
    assert told == [wire.MatchLesson(2, 1, ["a1"], "Move 2: a1 was better.")]
    assert json.loads(studio.last().written.splitlines()[0]) == {
        "kind": "lesson",
        "record": "a record",
        "ms": LESSON_MS,
    }
    studio.go(LESSON_MS / 1_000 + ANSWER_GRACE_S - 0.2)
    assert len(told) == 1
    studio.go(0.3)
    assert told[1:] == [None]


@pytest.mark.parametrize("answer", [b"", b"[]\n", b"{}\n", b"nonsense\n", b"x" * 70_000, OSError("no program")])
@pytest.mark.parametrize("is_gone", [False, True])
def test_a_process_that_fails_is_no_hint_and_is_started_again(
    studio: Studio, answer: bytes | OSError, is_gone: bool
) -> None:
    failing = answer if isinstance(answer, OSError) else Program(answer) if answer else Program(has_failed=True)
    person, _, match = studio.against_a_bot()
    studio.programs = [failing, Program(line(HINT))]
    studio.tell(person, wire.HintRequest(9, match))
    studio.go(0.05)
    if isinstance(failing, Program):
        failing.is_gone = is_gone
    studio.go(0.5)
    assert person.take() == ["busy"]
    assert studio.coach.process_id is None
    if isinstance(failing, Program):
        assert failing.is_reaped
    studio.tell(person, wire.HintRequest(9, match))
    studio.go(0.2)
    assert person.take() == ["ok", "hintreply"]


def test_a_process_is_ended_after_a_while_without_questions(studio: Studio) -> None:
    person, _, match = studio.against_a_bot()
    assert studio.go(0) > 0
    assert studio.go(10 * IDLE_S) == 0, "nothing looks at nothing"
    for _ in range(2):
        studio.programs = [Program(line(HINT), line(HINT))]
        studio.tell(person, wire.HintRequest(9, match))
        studio.go(0.1)
        studio.go(IDLE_S - 1)
        studio.tell(person, wire.HintRequest(9, match))
        studio.go(0.1)
        assert person.take().count("ok") == 1
        program = studio.last()
        assert studio.go(IDLE_S - 0.01) < 20
        assert not program.is_killed
        studio.go(0.2)
        assert program.is_reaped
        assert studio.coach.process_id is None
    assert len(studio.started) == 2


def test_a_process_that_has_ended_by_itself_is_started_again(studio: Studio) -> None:
    studio.programs = [Program(line(HINT)), Program(line(HINT))]
    person, _, match = studio.against_a_bot()
    for _ in range(2):
        studio.tell(person, wire.HintRequest(9, match))
        studio.go(0.3)
        assert person.take() == ["ok", "hintreply"]
        assert studio.coach.process_id == studio.last().pid
        studio.last().returncode, studio.last().is_gone = 1, True
        assert studio.coach.process_id is None
    assert studio.started[0][2].is_reaped


def test_a_fault_in_an_answer_ends_nothing(studio: Studio, caplog: pytest.LogCaptureFixture) -> None:
    def fail(lesson: object) -> None:
        raise ZeroDivisionError

    told: list[object] = []
    studio.programs = [Program(line(LESSON), line(LESSON))]
    studio.coach.look_at("a record", fail)
    studio.coach.look_at("a record", told.append)
    studio.go(1)
    assert studio.services.metrics.faults == 1
    assert len(told) == 1
    caplog.clear()


@pytest.mark.parametrize(("when", "times"), [("idle", 1), ("idle", 2), ("asked", 1), ("asked", 2), ("ending", 1)])
def test_a_coach_that_is_cancelled_ends_its_process_first(studio: Studio, when: str, times: int) -> None:
    studio.programs = [Program(*[line(LESSON)] * (when != "asked"), ends_s=1.0)]
    studio.coach.look_at("a record", lambda lesson: None)
    studio.go(0.5)
    program, (task, _) = studio.last(), studio.tasks
    if when == "ending":
        studio.go(IDLE_S)
        assert program.is_killed
    for _ in range(times):
        task.cancel()
        studio.go(0.1)
    assert program.is_killed
    assert (task.done(), program.has_ended) == (False, False)
    studio.go(1.0)
    assert program.is_reaped
    assert task.cancelled()


# Analyses.


@pytest.mark.parametrize(
    ("engine", "hints", "analysis_s", "is_open", "is_brief"),
    [
        (("engine",), ("coach",), 20.0, True, True),
        (("engine",), None, 0.5, True, False),
        (None, ("coach",), 20.0, True, True),
        (None, None, 20.0, False, False),
        (("engine",), ("coach",), 0.0, False, False),
    ],
)
def test_analyses_are_made_with_an_engine_or_a_coach_and_time(
    open_studio: Open, engine: Any, hints: Any, analysis_s: float, is_open: bool, is_brief: bool
) -> None:
    studio = open_studio(engine=engine, coach=hints, analysis_s=analysis_s)
    one, other = studio.people("Ann", "Bob")
    match = studio.finished(one, other)
    assert studio.analysis.is_open == is_open
    assert studio.ask_for(one, match) == (["ok"] if is_open else ["no_engine"])
    assert studio.ask_for(other, match, brief=True) == (["ok"] if is_brief else ["no_engine"])
    studio.go(0)
    commands = [command[0] for command, _, _ in studio.started]
    assert sorted(commands) == sorted(["engine"] * (is_open and engine is not None) + ["coach"] * is_brief)


@pytest.mark.parametrize("engine", [("engine",), None])
@pytest.mark.parametrize("is_brief", [True, False])
@pytest.mark.parametrize("is_found", [True, False])
def test_a_lesson_comes_before_an_analysis_or_alone(
    open_studio: Open, monkeypatch: pytest.MonkeyPatch, engine: Any, is_brief: bool, is_found: bool
) -> None:
    studio = open_studio(engine=engine)
    one, other = studio.people("Ann", "Bob")
    match = studio.finished(one, other)
    has_both = engine is not None and not is_brief
    lesson = wire.MatchLesson(2, 1, ["a1"], "Move 2: a1 was better.") if is_found else None
    answer = line(LESSON if is_found else None)
    moves = b"".join(map(judged, (1, 2, 3)))
    programs = {"coach": Program(answer), "engine": Program(moves, at_end=True, after_s=0.3)}

    async def create(*command: str, **options: Any) -> Program:
        return programs[command[0]].begin()

    monkeypatch.setattr(asyncio, "create_subprocess_exec", create)
    assert studio.ask_for(one, match, brief=is_brief) == ["ok"]
    if has_both:
        assert studio.ask_for(other, match) == ["ok"]
    studio.go(0.2)
    first = wire.AnalysisReply(match, [], exact=False, lesson=lesson, partial=has_both or is_brief)
    expected = [first] if is_found or not has_both else []
    assert analyses(one) == expected
    assert analyses(other) == (expected if has_both else [])
    studio.go(0.3)
    for link in (one, other):
        told = analyses(link)
        assert [(len(each.moves), each.exact, each.partial) for each in told] == (
            [(3, True, False)] if has_both else []
        )


def test_a_lesson_that_comes_after_its_analysis_is_not_sent(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = studio.people("Ann", "Bob")
    match = studio.finished(one, other)
    moves = b"".join(map(judged, (1, 2, 3)))
    programs = {"coach": Program(line(LESSON), after_s=0.5), "engine": Program(moves, at_end=True)}

    async def create(*command: str, **options: Any) -> Program:
        return programs[command[0]].begin()

    monkeypatch.setattr(asyncio, "create_subprocess_exec", create)
    studio.ask_for(one, match)
    studio.go(1)
    assert [each.partial for each in analyses(one)] == [False]


def test_too_many_questions_to_the_coach_are_told_or_the_lesson_is_left_out(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coach, "MAX_QUESTIONS", 0)
    one, other = studio.people("Ann", "Bob")
    match = studio.finished(one, other)
    assert studio.ask_for(one, match, brief=True) == ["busy"]
    assert studio.ask_for(one, match) == ["ok"]


@pytest.mark.parametrize("plies", [2, 3, 4])
@pytest.mark.parametrize("told", [0, 2, 3, 4])
def test_an_analysis_is_exact_if_every_move_is_valued(open_studio: Open, plies: int, told: int) -> None:
    for unvalued in (None, 1, told):
        studio = open_studio(coach=None)
        one, other = studio.people("Ann", "Bob")
        match = studio.finished(one, other, plies)
        lines = [judged(ply, None if ply == unvalued else 0) for ply in range(1, told + 1)]
        lines.insert(told // 2, line(LESSON))
        studio.programs = [Program(*lines, at_end=True)]
        studio.ask_for(one, match)
        studio.go(0.5)
        (analysis,) = analyses(one)
        if plies < 3:
            assert (analysis.moves, analysis.exact, analysis.lesson, studio.started) == ([], True, None, [])
            continue
        assert [each.ply for each in analysis.moves] == [*range(1, told + 1)]
        assert analysis.lesson == wire.MatchLesson(2, 1, ["a1"], "Move 2: a1 was better.")
        assert analysis.exact == (told >= plies and unvalued is None)
        assert studio.last().is_reaped
        assert studio.services.metrics.faults == 0


@pytest.mark.parametrize("analysis_s", [0.5, 20.0])
def test_an_analysis_has_its_time_and_what_was_found_by_then_is_kept(open_studio: Open, analysis_s: float) -> None:
    studio = open_studio(analysis_s=analysis_s, coach=None)
    one, other = studio.people("Ann", "Bob")
    match = studio.finished(one, other)
    studio.ask_for(one, match)
    studio.go(1)
    ((command, _, program),) = studio.started
    assert command == ("engine", str(round(1_000 * analysis_s)))
    assert studio.nice == [(program.pid, 15)]
    assert program.is_closed
    assert program.written.decode().startswith("Game: gomoku")
    program.stdout.feed_data(judged(1))
    studio.go(analysis_s + ANALYSIS_GRACE_S - 1.01)
    assert analyses(one) == []
    studio.go(0.2)
    (analysis,) = analyses(one)
    assert (len(analysis.moves), analysis.exact) == (1, False)
    assert program.is_reaped
    assert studio.ask_for(other, match) == ["ok", "analysisreply"]
    assert len(studio.started) == 1


@pytest.mark.parametrize("case", ["gone", "no_program", "nonsense", "unread", "fault"])
def test_an_analysis_that_fails_is_empty_and_made_again(
    studio: Studio, case: str, caplog: pytest.LogCaptureFixture
) -> None:
    one, other = studio.people("Ann", "Bob")
    match = studio.finished(one, other)
    for count in (1, 2):
        program = Program(b"nonsense\n", at_end=case != "gone", has_failed=case == "gone")
        studio.programs = [OSError("no program") if case == "no_program" else program]
        with pytest.MonkeyPatch.context() as patch:
            if case in ("unread", "fault"):
                error = Refusal(Code.BAD_NOTATION, "no record") if case == "unread" else ZeroDivisionError()

                def fail(text: str, error: Exception = error) -> Any:
                    raise error

                patch.setattr(coach, "read_records", fail)
            patch.setattr(Coach, "is_open", False)
            assert studio.ask_for(one, match)[0] == "ok"
            studio.go(0.5)
        (analysis,) = analyses(one)
        assert (analysis.moves, analysis.exact) == ([], False)
        assert studio.services.metrics.faults == (count if case == "fault" else 0)
        if case in ("gone", "nonsense"):
            assert program.is_killed
            assert program.has_ended
    caplog.clear()


def test_each_player_and_each_address_has_one_match_analysed_at_a_time(
    open_studio: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coach, "MAX_JOBS", 3)
    often = Rate(1_000_000)
    studio = open_studio(coach=None, inquiries=often, unmetered=("192.0.0.0/23",))
    links = {}
    for name, place in (("Ann", "192.0.2.1"), ("Bob", "192.0.2.1"), ("Cid", "192.0.2.2"), ("Dan", "192.0.1.1"),
                        ("Eve", "192.0.1.1"), ("Fay", "192.0.2.3")):  # fmt: skip
        links[name] = studio.hello(studio.caller(place), name=name)
    studio.deliver()
    ann, bob, cid, dan, eve, fay = links.values()
    matches = [studio.finished(cid, dan) for _ in range(5)]
    for link, number, answer in (
        (ann, 0, "ok"),
        (ann, 0, "ok"),  # the same
        (ann, 1, "busy"),
        (bob, 1, "busy"),  # of the same address
        (bob, 0, "ok"),
        (cid, 1, "ok"),
        (cid, 2, "busy"),
        (dan, 2, "ok"),
        (dan, 3, "busy"),
        (eve, 3, "ok"),  # of an address that many share
        (fay, 4, "busy"),  # too many wait
        (fay, 3, "ok"),
    ):
        link.heard.clear()
        studio.ask(link, wire.AnalyseRequest(9, matches[number]))
        studio.deliver()
        (said,) = link.heard
        assert said == wire.Ok(9) if answer == "ok" else isinstance(said, wire.Refused)
        if isinstance(said, wire.Refused):
            assert (said.code, said.retry_after_ms) == (answer, 5_000)
        studio.go(0)
    jobs = studio.analysis.jobs
    names = ["Ann Bob", "Cid", "Dan", "Eve Fay"]
    assert [job.match for job in jobs] == matches[:4]
    assert [" ".join(sorted(session.info.name for session in job.askers)) for job in jobs] == names
    for link in links.values():
        link.heard.clear()
    for number, askers in enumerate(names):
        program = studio.last()
        program.stdout.feed_data(b"".join(map(judged, (1, 2, 3))))
        program.stdout.feed_eof()
        studio.go(0.5)
        told = {name: [each.match for each in analyses(link)] for name, link in links.items()}
        assert {name: each for name, each in told.items() if each} == {
            name: [matches[number]] for name in askers.split()
        }
    assert studio.analysis.jobs == ()
    assert studio.go(1_000) == 0
    assert studio.ask_for(fay, matches[4]) == ["ok"]


def test_analyses_are_kept_for_those_who_ask_next_and_the_longest_unused_goes(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coach, "MAX_KEPT", 2)
    monkeypatch.setattr(Coach, "is_open", False)
    one, other = studio.people("Ann", "Bob")
    matches = [studio.finished(one, other) for _ in range(3)]
    kept: list[str] = []
    for match in (*matches[:2], matches[0], matches[2], matches[0], matches[1], matches[2], matches[1]):
        studio.programs = [Program(*map(judged, (1, 2, 3)), at_end=True)]
        count = len(studio.started)
        assert studio.ask_for(one, match) == (["ok", "analysisreply"] if match in kept else ["ok"])
        studio.go(0.5)
        assert len(studio.started) == count + (match not in kept)
        kept = [*(each for each in kept if each != match), match][-2:]


def test_analyses_are_asked_for_at_a_limited_rate_by_those_who_may_read_the_match(
    open_studio: Open,
) -> None:
    studio = open_studio(inquiries=Rate(2, 60.0))
    one, other = studio.people("Ann", "Bob")
    asked = ("nothing", studio.begin(one, other), "nothing")
    assert [studio.ask_for(one, match) for match in asked] == [["unknown_match"], ["not_finished"], ["too_fast"]]


@pytest.mark.parametrize("has_engine", [True, False])
def test_an_engine_is_installed_where_its_searches_can_be_loaded(
    monkeypatch: pytest.MonkeyPatch, has_engine: bool
) -> None:
    monkeypatch.setattr(coach, "has_engine", lambda: has_engine)
    assert installed_engine() == (COMMAND if has_engine else None)


@pytest.mark.parametrize("is_gone", [True, False])
@pytest.mark.parametrize("is_late", [True, False])
def test_the_output_of_a_process_is_returned_within_its_time(studio: Studio, is_late: bool, is_gone: bool) -> None:
    program = Program(b"an answer", at_end=True, after_s=2.0)
    studio.programs = [program]
    task = studio.loop.create_task(answer_of(("pair",), 5, b"a question", 1.9 if is_late else 2.1))
    studio.go(1.0)
    assert not task.done()
    program.is_gone = is_gone
    studio.go(2.0)
    assert program.written == b"a question"
    assert program.is_reaped
    assert studio.nice == [(program.pid, 5)]
    if is_late:
        assert isinstance(task.exception(), TimeoutError)
    else:
        assert task.result() == b"an answer"


def test_an_analysis_queue_has_no_jobs_at_first(studio: Studio) -> None:
    assert AnalysisQueue(studio.services, studio.coach).jobs == ()
