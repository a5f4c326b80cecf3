"""Run mutants against tests: everything is imported and collected once, and each mutant is a fork with other code.

In the child every living function of the changed file gets its new code, so that whoever has imported or decorated it
has the mutant. The child runs the tests that reach the changed lines, and stops at the first that fails: it begins with
those that killed mutants of the same function, and goes on with the fastest. Limits are in CPU seconds, so that load on
the machine decides nothing; a child that waits and uses hardly any CPU hangs. Several children run at once, because
those that hang use no CPU. Each has a temporary folder that is removed with it. Nothing is written to the tree.

A mutant is *killed* if a test fails, hangs or uses up its limit, a *survivor* if all tests pass, and *unreached* if no
test runs its lines. Before any verdict the unchanged code has to pass in the same kind of child (the control).
"""

import contextlib
import gc
import importlib
import json
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

import pytest
from _pytest.runner import runtestprotocol

from tests.mutation.mutants import Mutant

BASE_CPU_S, TIMES = 1.0, 4.0
"""The limit of each test of a mutant: so much, and so many times its CPU time without the mutant."""
IDLE_S, LEAST_CPU_S = 10.0, 0.1
"""A child hangs that, with its descendants, waits all of the first and uses less CPU time than the second in it."""
LOOK_S = 0.5
"""How often the runner looks whether children hang."""
MOST_BUSY, MOST_AT_ONCE = os.cpu_count() or 1, 40
"""Children that compute, and children in all, at once."""
TELL_EVERY = 100
MOST_FIRST = 4
"""Tests that a mutant is tried against first because they killed its neighbours."""
MOST_BYTES = 8 << 30
"""The memory that a child may use."""
MARK = "MUTANT_OF"
"""A variable of the environment. Its value is the child, in each program that the child's tests start."""


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
    """Tests that fail or hang without any mutant; they decide nothing."""


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
        for path in {mutant.path for mutant in self._mutants}:  # some modules are imported only when they are needed
            importlib.import_module(".".join(Path(path).with_suffix("").parts).removesuffix(".__init__"))
        reach = _reach(session.items, files)
        self.failing = reach.failing
        items = [item for item in session.items if item.nodeid not in reach.failing]
        functions = {path: _living_functions(path) for path in files}
        gc.freeze()
        total = sum(reach.cpu_s.values())
        self._tell(f"{len(items)} tests, {total:.1f} s of CPU; {len(self._mutants)} mutants")
        control = _Trial(items, reach.cpu_s, lambda: True)
        while not control.is_over:
            _wait_for([control])
        self.is_sound = (control.fate, control.killer) == ("survivor", "")
        if self.is_sound:
            self._try_all(items, reach, functions)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        self._tell(f"{used.ru_utime + used.ru_stime:.0f} s of CPU")
        return True

    def _try_all(
        self,
        items: Sequence[pytest.Item],
        reach: Reach,
        functions: Mapping[str, Mapping[tuple[str, int], list[FunctionType]]],
    ) -> None:
        """Try every mutant, several at once, and keep the verdicts in the order of the mutants."""
        found: dict[int, Verdict] = {}
        running: dict[int, _Trial] = {}
        waiting = iter(enumerate(self._mutants))
        while True:
            while _have_room([*running.values()]) and (following := next(waiting, None)):
                number, mutant = following
                trial = self._trial(mutant, items, reach, functions)
                if trial is None:
                    found[number] = Verdict(mutant, "unreached", "")
                    self._tell(f"{number + 1}: unreached: {mutant.key}")
                else:
                    running[number] = trial
            if not running:
                break
            _wait_for([*running.values()])
            for number, trial in [*running.items()]:
                if trial.is_over:
                    mutant = self._mutants[number]
                    found[number] = Verdict(mutant, trial.fate, trial.killer)
                    del running[number]
                    killers = self._killers[mutant.path, mutant.function]
                    if trial.killer and trial.killer not in killers:
                        killers.append(trial.killer)
                    if len(found) % TELL_EVERY == 0:
                        self._tell(f"{len(found)} tried")
                    if trial.fate != "killed":
                        self._tell(f"{number + 1}: {trial.fate}: {mutant.key}")
        self.verdicts = [found[number] for number in sorted(found)]

    def _trial(
        self,
        mutant: Mutant,
        items: Sequence[pytest.Item],
        reach: Reach,
        functions: Mapping[str, Mapping[tuple[str, int], list[FunctionType]]],
    ) -> "_Trial | None":
        """Begin to try a mutant; return None if no test reaches it."""
        path = str(Path(mutant.path).resolve())
        touched = {(path, line) for line in range(mutant.line, mutant.end + 1)}
        killers = self._killers[mutant.path, mutant.function]
        tests = sorted(
            (item for item in items if touched & reach.lines[item.nodeid]),
            key=lambda item: (item.nodeid not in killers[-MOST_FIRST:], reach.cpu_s[item.nodeid]),
        )
        if not tests:
            return None
        return _Trial(tests, reach.cpu_s, lambda: _install(mutant.code(), functions[path]))


class _Trial:
    """A child that runs tests after `prepare` has changed something."""

    def __init__(self, tests: Sequence[pytest.Item], cpu_s: Mapping[str, float], prepare: Callable[[], bool]) -> None:
        self.is_over = False
        self.fate = ""
        """`killed` or `survivor`, once it is over."""
        self.killer = ""
        """The test that failed, if any."""
        self._folder = _new_folder()
        self._reader, writer = os.pipe()
        self._child = os.fork()
        if self._child == 0:
            os.close(self._reader)
            _become_group()
            _be_quiet()
            _use_folder(tests, self._folder)
            resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            status = 1
            try:
                status = 0 if not prepare() or _all_pass(tests, cpu_s, writer) else 1
            finally:
                os._exit(status)
        with contextlib.suppress(PermissionError, ProcessLookupError):
            os.setpgid(self._child, self._child)  # whichever of us is first
        os.close(writer)
        self.watch = _Watch(self._child)

    def fileno(self) -> int:
        """Return the end of the pipe that the child writes to."""
        return self._reader

    def read(self) -> None:
        """Read what the child has written; at its end, note the verdict and remove what the child has left."""
        text = os.read(self._reader, 4_096)
        self.killer += text.decode()
        if not text:
            os.close(self._reader)
            _, status = os.waitpid(self._child, 0)
            _end_left_by(self._child)
            shutil.rmtree(self._folder, ignore_errors=True)
            self.fate, self.is_over = ("survivor" if status == 0 else "killed"), True


class _Watch:
    """Ends a child with its descendants, which are a group of processes, once all of them only wait."""

    def __init__(self, child: int) -> None:
        self._child = child
        self.looked_s = self._since_s = time.monotonic()
        self._used_s = self._before_s = 0.0
        self.is_waiting = False
        """Whether the child and its descendants waited at the last look."""

    def look(self, groups: Mapping[int, "_Group"], now_s: float) -> None:
        """Kill the child and its descendants if they have waited for `IDLE_S`."""
        self.looked_s, group = now_s, groups.get(self._child, _Group())
        self.is_waiting = not group.is_running and group.cpu_s == self._before_s
        self._before_s = group.cpu_s
        if group.is_running or group.cpu_s - self._used_s >= LEAST_CPU_S:
            self._used_s, self._since_s = group.cpu_s, now_s
        elif now_s - self._since_s >= IDLE_S:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._child, signal.SIGKILL)


@dataclass
class _Group:
    """The state of a group of processes."""

    cpu_s: float = 0.0
    is_running: bool = False
    """Whether one of them runs, or would run on a machine that is less busy."""


def _become_group() -> None:
    """Make this child known to `_end_left_by`, with all that it starts."""
    os.setpgid(0, 0)
    os.environ[MARK] = str(os.getpid())


def _end_left_by(child: int) -> None:
    """Kill what the tests of a child have started and left: its group, and programs in sessions of their own."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    mark = f"{MARK}={child}".encode()
    for file in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark in file.read_bytes().split(b"\0"):
                os.kill(int(file.parent.name), signal.SIGKILL)


def _have_room(trials: Sequence[_Trial]) -> bool:
    """Tell whether one more child may begin beside these."""
    return len(trials) < MOST_AT_ONCE and sum(not trial.watch.is_waiting for trial in trials) < MOST_BUSY


def _wait_for(trials: Sequence[_Trial]) -> None:
    """Read what the next of these children writes, and end those that hang; return after a second at most."""
    ready: Sequence[_Trial] = select.select(trials, [], [], LOOK_S)[0]
    for trial in ready:
        trial.read()
    now_s = time.monotonic()
    due = [trial.watch for trial in trials if not trial.is_over and now_s - trial.watch.looked_s >= LOOK_S]
    groups = _groups() if due else {}
    for watch in due:
        watch.look(groups, now_s)


def _groups() -> dict[int, _Group]:
    """Return the state of each group of processes; nothing where the system does not say."""
    found: defaultdict[int, _Group] = defaultdict(_Group)
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError):
            state, _, group, *fields = file.read_text().rpartition(")")[2].split()
            each = found[int(group)]
            each.cpu_s += sum(map(int, fields[8:12])) / os.sysconf("SC_CLK_TCK")
            each.is_running = each.is_running or state in "RD"
    return found


def _new_folder() -> Path:
    """Make a folder for the temporary files of a child; its path is short, for the names of sockets."""
    return Path(tempfile.mkdtemp(prefix="m", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")))


def _use_folder(tests: Sequence[pytest.Item], folder: Path) -> bool:
    for item in tests[:1]:
        item.config._tmp_path_factory._basetemp = folder  # type: ignore[attr-defined]
    return True


def _all_pass(tests: Iterable[pytest.Item], cpu_s: Mapping[str, float], writer: int) -> bool:
    for item in tests:
        signal.setitimer(signal.ITIMER_PROF, BASE_CPU_S + TIMES * cpu_s[item.nodeid])
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
    """Run every test twice, each in a child of its own: for the lines that it reaches, and for its time."""
    lines, cpu_s, failing = {}, {}, set()
    for item in items:
        traced = _alone(item, lambda item=item: _traced(item, files))  # type: ignore[misc]
        timed = None if traced is None else _alone(item, lambda item=item: _timed(item))  # type: ignore[misc]
        lines[item.nodeid] = {(str(path), int(line)) for path, line in traced or ()}
        cpu_s[item.nodeid], passes = timed or (0.0, False)
        if not passes:
            failing.add(item.nodeid)
    return Reach(lines, cpu_s, failing)


def _alone(item: pytest.Item, work: Callable[[], Any]) -> Any:
    """Return the result of a function that runs a test in a child with a temporary folder; None if the test hangs."""
    folder = _new_folder()
    try:
        return in_child(lambda: work() if _use_folder([item], folder) else None, is_bounded=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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


def _timed(item: pytest.Item) -> tuple[float, bool]:
    before = os.times()
    passes = _passes(item)
    after = os.times()
    return sum(after[:4]) - sum(before[:4]), passes


def in_child(work: Callable[[], Any], *, is_quiet: bool = True, is_bounded: bool = False) -> Any:
    """Return the result of a function that runs in a fork, which nothing it does can outlive; it is sent as JSON.

    With `is_bounded`, a child that hangs is killed, and the result is None.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _become_group()
        if is_quiet:
            _be_quiet()
        try:
            with os.fdopen(writer, "w") as pipe:
                json.dump(work(), pipe)
        finally:
            os._exit(0)
    os.close(writer)
    text, watch, is_over = b"", _Watch(child), False
    while not is_over:  # not until the pipe ends: what a test has started and left would keep it open
        is_over = os.waitpid(child, os.WNOHANG)[0] == child
        while select.select([reader], [], [], 0 if is_over else LOOK_S)[0] and (part := os.read(reader, 65_536)):
            text += part
        if is_bounded and not is_over:
            watch.look(_groups(), time.monotonic())
    os.close(reader)
    _end_left_by(child)
    return json.loads(text) if text or not is_bounded else None
