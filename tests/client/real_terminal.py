"""A client in a terminal of its own: pexpect presses the keys, pyte shows what a person sees."""

import os
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import pexpect
import ptyprocess
import pyte

from tests import forked
from tests.client.conftest import CLIENT
from tests.patience import PATIENCE_S

TOOK_ALTERNATE_SCREEN = b"\x1b[?1049h"
LEFT_ALTERNATE_SCREEN = b"\x1b[?1049l"
SHOWED_CURSOR = b"\x1b[?25h"


def end(child: "pexpect.spawn[Any]") -> None:
    """End a program that may still run in a terminal."""
    try:
        child.close(force=True)
    except pexpect.ExceptionPexpect:  # it was killed, and on a busy machine that takes longer than is waited for
        with suppress(ChildProcessError):
            os.waitpid(child.pid, 0)


READ_AT_START = ("PYTHONPATH", "PYTHONIOENCODING")
"""Variables that a forked Python no longer heeds."""


class ForkedInTerminal(ptyprocess.PtyProcess):  # type: ignore[misc]
    """A client in a terminal, forked from a process that has loaded it."""

    def __init__(self, process: "subprocess.Popen[str]", fd: int) -> None:
        super().__init__(process.pid, fd)
        self._process = process

    def isalive(self) -> bool:
        """Tell whether it runs; once its terminal is closed, wait for its end."""
        code = self._process.wait() if self.flag_eof else self._process.poll()
        if code is not None:
            self.terminated, self.status = True, code
            self.exitstatus = code if code >= 0 else None
            self.signalstatus = signal.Signals(-code) if code < 0 else None
        return code is None

    def wait(self) -> int | None:
        """Wait for its end, and return its exit code."""
        self._process.wait()
        self.isalive()
        return self.exitstatus


class Spawn(pexpect.spawn):  # type: ignore[misc]
    """A client that pexpect controls, forked where that can be done."""

    found: list[Any]
    """The terminal before the client took it. A forked client takes it within milliseconds."""

    def _spawnpty(self, args: list[bytes | str], **options: Any) -> Any:
        command = list(map(os.fsdecode, args))
        is_ours = command[: len(CLIENT)] == CLIENT and sys.platform == "linux"
        if not is_ours or any(options["env"].get(key) != os.environ.get(key) for key in READ_AT_START):
            process = super()._spawnpty(args, **options)
            self.found = termios.tcgetattr(process.fd)
            return process
        ours, theirs = os.openpty()
        termios.tcsetwinsize(theirs, options["dimensions"])
        self.found = termios.tcgetattr(theirs)
        ends = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
        process = forked.start("client.py", *command[len(CLIENT) :], env=options["env"], start_new_session=True, **ends)
        os.close(theirs)
        return ForkedInTerminal(process, ours)


class Terminal:
    """A client in a terminal of its own, and the screen that it draws."""

    def __init__(
        self,
        arguments: Sequence[str],
        environment: dict[str, str],
        columns: int = 80,
        rows: int = 24,
        command: Sequence[str] = CLIENT,
    ) -> None:
        self.raw = b""
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.child = Spawn(
            command[0],
            [*command[1:], *arguments],
            env={key: value for key, value in environment.items() if key not in ("COLUMNS", "LINES")},
            dimensions=(rows, columns),
            timeout=PATIENCE_S,
        )
        self.child.delaybeforesend = None
        self.before = self.child.found

    @property
    def picture(self) -> str:
        return "\n".join(line.rstrip() for line in self.screen.display)

    def shows(self, words: str) -> str:
        """Wait until the words are on the screen and return all of it."""
        return self.comes_to(lambda picture: words in picture, words)

    @property
    def is_whole(self) -> bool:
        """Whether the picture is drawn to its end: each is drawn from its first line to its last column.

        The bytes may end anywhere within a picture; the rest of the screen then still shows the one before.
        """
        is_drawn_on = self.raw.rfind(TOOK_ALTERNATE_SCREEN) > self.raw.rfind(LEFT_ALTERNATE_SCREEN)
        cursor, screen = self.screen.cursor, self.screen
        return not is_drawn_on or (cursor.y, cursor.x) == (screen.lines - 1, screen.columns)

    def comes_to(self, is_there: Callable[[str], bool], what: str) -> str:
        """Wait until a whole picture is as wanted, and return it."""
        until = time.monotonic() + PATIENCE_S
        while not (self.is_whole and is_there(self.picture)):
            assert time.monotonic() < until, f"never showed {what!r}:\n{self.picture}"
            if not self.reads():
                assert is_there(self.picture), f"ended without {what!r}:\n{self.picture}"
        return self.picture

    def reads(self) -> bool:
        """Read what there is, or wait for it a while; return whether more may come."""
        try:
            data = self.child.read_nonblocking(65_536, timeout=1)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.raw += data
        self._stream.feed(data)
        return True

    def press(self, *keys: str) -> None:
        for key in keys:
            self.child.send(key)

    def resize(self, columns: int, rows: int) -> None:
        self.screen.resize(rows, columns)
        self.child.setwinsize(rows, columns)

    def ends(self) -> int | None:
        """Read to the end and return the exit code."""
        until = time.monotonic() + PATIENCE_S
        while self.reads():
            assert time.monotonic() < until, f"never ended:\n{self.picture}"
        self.child.wait()
        code = self.child.exitstatus
        assert code is None or isinstance(code, int)
        return code

    def is_restored(self) -> bool:
        """Tell whether the terminal is as it was found."""
        after = termios.tcgetattr(self.child.child_fd)
        left = self.raw.rfind(LEFT_ALTERNATE_SCREEN)
        shown = self.raw.rfind(SHOWED_CURSOR)
        is_so = after == self.before and left > 0 and shown > 0 and b"\x1b[?25l" not in self.raw[shown:]
        if not is_so:
            print(f"{after == self.before=} {left=} {shown=}, at the end {self.raw[-400:]!r}")
        return is_so

    def click(self, words: str) -> None:
        """Click on the words where they come to be on the screen."""
        rows = self.shows(words).split("\n")
        row = next(y for y, line in enumerate(rows) if words in line)
        column = rows[row].index(words) + len(words) // 2
        self.press(f"\x1b[<0;{column + 1};{row + 1}M", f"\x1b[<0;{column + 1};{row + 1}m")


Open = Callable[..., Terminal]
