"""Run mutants against tests: everything is imported and collected once, and each mutant is a fork with other code.

In the child every living function of the changed file gets its new code, so that whoever has imported or decorated it
has the mutant. The child runs the tests that reach the changed lines, and stops at the first that fails: it begins with
those that killed mutants of the same function, and goes on with the fastest. Limits are in CPU seconds, so that load on
the machine decides nothing; a child that waits and uses hardly any CPU hangs. Nothing is written to the tree.

A mutant is *killed* if a test fails, hangs or uses up its limit, a *survivor* if all tests pass, and *unreached* if no
test runs its lines. Before any verdict the unchanged code has to pass in the same kind of child (the control).
"""

import contextlib
import gc
import json
import math
import os
import resource
import select
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

import pytest
from _pytest.runner import runtestprotocol

from tests.mutation.mutants import Mutant

BASE_CPU_S, TIMES = 2.0, 4.0
"""The limit of a mutant: so much, and so many times the CPU time of its tests without it."""
IDLE_S, LEAST_CPU_S = 15.0, 0.1
"""A child hangs that uses less CPU time than the second within the first, whatever else the machine does."""
MOST_FIRST = 4
"""Tests that a mutant is tried against first because they killed its neighbours."""
MOST_BYTES = 8 << 30
"""The memory that a child may use."""


class Verdict(NamedTuple):
    """The fate of one mutant."""

    mutant: Mutant
    fate: str
    """`killed`, `survivor` or `unreached`."""
    killer: str
    """The test that failed; empty if none did."""


class Reach(NamedTuple):
    """The tests of a session as one run of each without a mutant shows them."""

    lines: Mapping[str, set[tuple[str, int]]]
    """By test, the lines of the mutated files that it runs."""
    cpu_s: Mapping[str, float]
    failing: set[str]
    """Tests that fail without any mutant; they decide nothing."""


class Runner:
    """A plugin of pytest that runs mutants instead of tests."""

    def __init__(self, mutants: Sequence[Mutant], tell: Callable[[str], None]) -> None:
        self._mutants, self._tell = mutants, tell
        self.verdicts: list[Verdict] = []
        self._killers: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        """By file and function, the tests that killed its mutants, the last one last: they are tried first."""
        self.failing: set[str] = set()
        self.is_sound = False
        """Whether the control passed."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Make hypothesis repeatable: no verdict may depend on the mutant before it."""
        from hypothesis import Phase, settings  # pytest's plugin has to be the first to load it

        settings.register_profile(
            "mutation", deadline=None, derandomize=True, database=None, phases=(Phase.explicit, Phase.generate)
        )
        settings.load_profile("mutation")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the control, then every mutant."""
        gc.unfreeze()
        gc.collect()
        files = {str(Path(mutant.path).resolve()) for mutant in self._mutants}
        reach = _reach(session.items, files)
        self.failing = reach.failing
        items = [item for item in session.items if item.nodeid not in reach.failing]
        functions = {path: _living_functions(path) for path in files}
        gc.freeze()
        total = sum(reach.cpu_s.values())
        self._tell(f"{len(items)} tests, {total:.1f} s of CPU; {len(self._mutants)} mutants")
        self.is_sound = _verdict_of(items, BASE_CPU_S + TIMES * total, lambda: True) == ("survivor", "")
        for mutant in self._mutants if self.is_sound else ():
            verdict = self._verdict(mutant, items, reach, functions)
            self.verdicts.append(verdict)
            if verdict.fate != "killed":
                self._tell(f"{len(self.verdicts)}: {verdict.fate}: {mutant.key}")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        self._tell(f"{used.ru_utime + used.ru_stime:.0f} s of CPU")
        return True

    def _verdict(
        self,
        mutant: Mutant,
        items: Sequence[pytest.Item],
        reach: Reach,
        functions: Mapping[str, Mapping[tuple[str, int], list[FunctionType]]],
    ) -> Verdict:
        path = str(Path(mutant.path).resolve())
        touched = {(path, line) for line in range(mutant.line, mutant.end + 1)}
        killers = self._killers[mutant.path, mutant.function]
        tests = sorted(
            (item for item in items if touched & reach.lines[item.nodeid]),
            key=lambda item: (item.nodeid not in killers[-MOST_FIRST:], reach.cpu_s[item.nodeid]),
        )
        if not tests:
            return Verdict(mutant, "unreached", "")
        limit_s = BASE_CPU_S + TIMES * sum(reach.cpu_s[item.nodeid] for item in tests)
        fate, killer = _verdict_of(tests, limit_s, lambda: _install(mutant.code(), functions[path]))
        if killer and killer not in killers:
            killers.append(killer)
        return Verdict(mutant, fate, killer)


def _verdict_of(tests: Sequence[pytest.Item], limit_s: float, prepare: Callable[[], bool]) -> tuple[str, str]:
    """Return the fate of what `prepare` does in a child that then runs the tests, and the test that failed."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.setpgid(0, 0)
        _be_quiet()
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, limit_s)
        status = 1
        try:
            status = 0 if not prepare() or _all_pass(tests, writer) else 1
        finally:
            os._exit(status)
    os.close(writer)
    killer = _read(reader, child)
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what its tests have started and left
    return ("survivor" if status == 0 else "killed"), killer


def _read(reader: int, child: int) -> str:
    """Return what a child writes until it ends; end one that hangs."""
    text, used_s, since_s = b"", 0.0, time.monotonic()
    while True:
        if select.select([reader], [], [], 1.0)[0]:
            more = os.read(reader, 4_096)
            if not more:
                os.close(reader)
                return text.decode()
            text += more
        elif time.monotonic() - since_s >= IDLE_S:
            now_s = _cpu_s(child)
            if now_s - used_s < LEAST_CPU_S:
                os.killpg(child, signal.SIGKILL)
            used_s, since_s = now_s, time.monotonic()


def _cpu_s(process: int) -> float:
    """Return the CPU time of a process in seconds; infinite where the system does not say."""
    try:
        ticks = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    except OSError:
        return math.inf
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def _all_pass(tests: Iterable[pytest.Item], writer: int) -> bool:
    for item in tests:
        if not _passes(item):
            os.write(writer, item.nodeid.encode())
            return False
    return True


def _passes(item: pytest.Item) -> bool:
    item._initrequest()  # type: ignore[attr-defined]
    return all(report.passed or report.skipped for report in runtestprotocol(item, nextitem=None, log=False))


def _be_quiet() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)


def _living_functions(path: str) -> dict[tuple[str, int], list[FunctionType]]:
    """Return every function of a file that exists, by qualified name and first line."""
    found = defaultdict(list)
    for each in gc.get_objects():
        if type(each) is FunctionType and each.__code__.co_filename == path:
            found[each.__code__.co_qualname, each.__code__.co_firstlineno].append(each)
    return found


def _install(code: CodeType, functions: Mapping[tuple[str, int], list[FunctionType]]) -> bool:
    """Give the living functions their new code; return whether any changed."""
    is_changed = False
    for each in _codes(code):
        for function in functions.get((each.co_qualname, each.co_firstlineno), ()):
            if function.__code__ != each and len(function.__code__.co_freevars) == len(each.co_freevars):
                function.__code__ = each
                is_changed = True
    return is_changed


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _reach(items: Sequence[pytest.Item], files: set[str]) -> Reach:
    """Run every test twice in children: for the lines that it reaches, each in a fork of its own, and for its time."""
    lines = {}
    for item in items:
        traced = in_child(lambda item=item: _traced(item, files))  # type: ignore[misc]
        lines[item.nodeid] = {(str(path), int(line)) for path, line in traced}
    cpu_s, failing = in_child(lambda: _timed(items))
    return Reach(lines, cpu_s, set(failing))


def _traced(item: pytest.Item, files: set[str]) -> list[tuple[str, int]]:
    found: set[tuple[str, int]] = set()

    def line(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            found.add((frame.f_code.co_filename, frame.f_lineno))
        return line

    def call(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename not in files:
            return None
        return line

    threading.settrace(call)
    sys.settrace(call)
    _passes(item)
    sys.settrace(None)
    return sorted(found)


def _timed(items: Iterable[pytest.Item]) -> tuple[dict[str, float], list[str]]:
    cpu_s, failing = {}, []
    for item in items:
        before = os.times()
        if not _passes(item):
            failing.append(item.nodeid)
        after = os.times()
        cpu_s[item.nodeid] = sum(after[:4]) - sum(before[:4])
    return cpu_s, failing


def in_child(work: Callable[[], Any], *, is_quiet: bool = True) -> Any:
    """Return the result of a function that runs in a fork, which nothing it does can outlive; it is sent as JSON."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.setpgid(0, 0)
        if is_quiet:
            _be_quiet()
        try:
            with os.fdopen(writer, "w") as pipe:
                json.dump(work(), pipe)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return json.loads(text)
