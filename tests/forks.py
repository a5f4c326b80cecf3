"""Run tests in forks of one process that has imported and collected everything: `pytest --forks auto`.

With pytest-xdist each process collects all tests for itself, which takes 5 s of CPU, and twice that in a fresh clone.
Here that happens once. The forks take a file at a time from one pipe, and send a report of each test through their own.
Fixtures of a package, such as the browser of tests/page, live as long as a fork takes files of that package.
"""

import atexit
import multiprocessing
import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from multiprocessing.connection import Connection, wait
from signal import SIGINT, Signals
from typing import Any

import pytest

Files = Sequence[Sequence[pytest.Item]]

END_S = 30
"""How long a fork may take to end its servers and browsers after an interrupt."""
_NUMBER = struct.Struct("i")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--forks`."""
    parser.addoption("--forks", metavar="N", help="run tests in N forks of this process; auto: three for each core")


def pytest_configure(config: pytest.Config) -> None:
    """Replace pytest's loop over the tests if forks are wanted."""
    wanted = config.getoption("--forks")
    if wanted and not config.option.collectonly:
        # three for each core, because tests wait for more than half of their time
        config.pluginmanager.register(Forks(3 * (os.cpu_count() or 1) if wanted == "auto" else int(wanted)))


class Forks:
    """A plugin that runs the collected tests in forks."""

    def __init__(self, count: int) -> None:
        self._count = count

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Have the forks run all files, and report each test as if it had run here."""
        if session.testsfailed and not session.config.option.continue_on_collection_errors:
            return None  # pytest's own loop says so
        files = [list(items) for _, items in groupby(session.items, key=lambda item: item.path)]
        queue, fill = os.pipe()
        os.set_blocking(fill, False)  # room for 16,000 files
        os.write(fill, b"".join(map(_NUMBER.pack, range(len(files)))))
        os.close(fill)
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        forks: dict[Connection, Fork] = {}
        try:
            for number in range(min(self._count, len(files))):
                fork = Fork(session, files, queue, number)
                forks[fork.reports] = fork
            while forks:
                for reports in wait(list(forks)):
                    fork = forks[reports]  # type: ignore[index]
                    if not fork.report(session.config):
                        del forks[fork.reports]
                        if fork.has_crashed(session.config):
                            fork = Fork(session, files, queue, fork.number)
                            forks[fork.reports] = fork
                    if session.shouldfail:
                        raise session.Failed(session.shouldfail)
                    if session.shouldstop:
                        raise session.Interrupted(session.shouldstop)
        finally:
            for fork in forks.values():
                fork.end()
            os.close(queue)
        return True


class Fork:
    """A child that runs tests, as its parent sees it."""

    def __init__(self, session: pytest.Session, files: Files, queue: int, number: int) -> None:
        self.number = number
        self.reports, sender = multiprocessing.Pipe(duplex=False)
        self._running: tuple[str, tuple[str, int | None, str]] | None = None
        self._process = multiprocessing.get_context("fork").Process(
            target=_work, args=(session, files, queue, sender, number)
        )
        self._process.start()
        sender.close()

    def report(self, config: pytest.Config) -> bool:
        """Pass on one message to the plugins of this process; return False if there are no more."""
        try:
            message = self.reports.recv()
        except EOFError:
            return False
        match message:
            case ("start", nodeid, location):
                self._running = nodeid, location
                config.hook.pytest_runtest_logstart(nodeid=nodeid, location=location)
            case ("finish", nodeid, location):
                self._running = None
                config.hook.pytest_runtest_logfinish(nodeid=nodeid, location=location)
            case ("report", data):
                report = config.hook.pytest_report_from_serializable(config=config, data=data)
                config.hook.pytest_runtest_logreport(report=report)
        return True

    def has_crashed(self, config: pytest.Config) -> bool:
        """Wait for the end of the child; report a failure unless it has ended well."""
        self._process.join()
        code = self._process.exitcode
        if not code:
            return False
        how = f"was killed by {Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        nodeid, location = self._running or (f"fork {self.number}", ("", None, "between two tests"))
        text = f"The process of this test {how}; the rest of its file did not run."
        report = pytest.TestReport(nodeid, location, {}, "failed", text, "call")
        config.hook.pytest_runtest_logreport(report=report)
        return True

    def end(self) -> None:
        """Interrupt the child, which then ends the servers and browsers of its tests."""
        with suppress(ProcessLookupError):
            os.kill(self._process.pid or 0, SIGINT)
        self._process.join(END_S)
        self._process.kill()
        self._process.join()


def _work(session: pytest.Session, files: Files, queue: int, sender: Connection, number: int) -> None:
    """Run files from the queue in the child until there are none."""
    atexit._clear()  # what the parent does at its end
    manager = session.config.pluginmanager
    capture = manager.getplugin("capturemanager")
    capture.stop_global_capturing()  # its files are the parent's
    capture.start_global_capturing()
    manager.unregister(name="terminalreporter")
    manager.register(_Sender(session.config, sender))
    folders = session.config._tmp_path_factory  # type: ignore[attr-defined]
    folders._basetemp = folders.mktemp(f"fork{number}-")
    try:
        items = _items(files, queue)
        item = next(items, None)
        while item is not None:
            following = next(items, None)
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            item = following
    finally:
        session._setupstate.teardown_exact(None)
        capture.stop_global_capturing()
        atexit._run_exitfuncs()  # the child ends by `os._exit`


def _items(files: Files, queue: int) -> Iterator[pytest.Item]:
    while number := os.read(queue, _NUMBER.size):
        yield from files[_NUMBER.unpack(number)[0]]


class _Sender:
    """The plugin of a child that sends what it reports to the parent."""

    def __init__(self, config: pytest.Config, sender: Connection) -> None:
        self._config, self._sender = config, sender

    def pytest_runtest_logstart(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        self._sender.send(("start", nodeid, location))

    def pytest_runtest_logfinish(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        self._sender.send(("finish", nodeid, location))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data: Any = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._sender.send(("report", data))
