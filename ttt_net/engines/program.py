"""Run an external program as a child process, and exchange lines within bounds of length, number and time.

Between questions a signal stops the program and its children, so that it uses no processor time; systems without such
signals rely on it to wait. Its standard error is kept for the log, and for the error message if it fails.
"""

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO

from ttt_net.command_line import without_us
from ttt_net.engines.settings import EngineSettings
from ttt_net.errors import EngineError
from ttt_net.text import clean

MAX_LINE_BYTES = 4096
"""The maximal length of a line; longer ones are cut."""
MAX_QUEUED_LINES = 256
"""The maximal number of unread lines of output; beyond that, the pipe fills up and the program waits."""
MAX_LINES_PER_ANSWER = 10_000
"""An engine that sends more lines than this before an answer counts as broken."""
MAX_LOG_BYTES = 4 << 20
"""At this size a log is rotated; the previous one is kept beside it."""
_LAUNCH = Path(__file__).with_name("launch.py")
_SHOWN_CELLS = 160
_LEAVE_S = 1.0
"""How long the program may take to exit by itself."""
_IS_POSIX = os.name == "posix"


class EngineLog:
    """Logs the dialogue with an engine, with times; foreign text is sanitized."""

    def __init__(self, path: str | None) -> None:
        self._path = None if path is None else Path(path)
        self._lock = threading.Lock()

    def write(self, sign: str, text: str) -> None:
        """Add a line: `>` for sent lines, `<` for received lines, `!` for standard error, `#` for changes of state."""
        if self._path is None:
            return
        now = time.time()
        stamp = f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(now))}.{int(now * 1000) % 1000:03d}"
        with self._lock, contextlib.suppress(OSError):  # a full disk must not lose the match
            if self._path.exists() and self._path.stat().st_size > MAX_LOG_BYTES:
                self._path.replace(self._path.with_name(f"{self._path.name}.1"))
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"{stamp} {sign} {clean(text, MAX_LINE_BYTES)}\n")


class EngineProgram:
    """One run of an engine; `stop` ends it in any case."""

    def __init__(self, settings: EngineSettings, log: EngineLog) -> None:
        """Start the program. Raises `EngineError` if the system fails to."""
        self._log = log
        self._lines: queue.Queue[str | None] = queue.Queue(MAX_QUEUED_LINES)
        self._last_error = ""
        self._has_ended = False
        command = [sys.executable, "-I", "-S", str(_LAUNCH), str(settings.memory_mb), str(settings.cpus)]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user's command, without a shell
                [*command, *settings.words] if _IS_POSIX else settings.words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=settings.directory,
                env=without_us(os.environ),
                bufsize=0,
                start_new_session=_IS_POSIX,
            )
        except OSError as error:
            raise EngineError(f"cannot start: {error.strerror}") from None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        log.write("#", f"started: {settings.command}")
        self._readers = [
            threading.Thread(target=self._read, args=(stream, is_error), daemon=True)
            for stream, is_error in ((self._process.stdout, False), (self._process.stderr, True))
        ]
        for reader in self._readers:
            reader.start()

    def say(self, line: str) -> None:
        """Send one line. Raises `EngineError` if the program has ended.

        This never blocks long: everything sent before an answer fits into a pipe, and a program that does not answer is
        stopped.
        """
        assert self._process.stdin is not None
        self._log.write(">", line)
        try:
            self._process.stdin.write(line.encode() + b"\r\n")
        except OSError:
            raise self._gone() from None

    def hear(self, deadline_s: float) -> str | None:
        """Return the next nonempty line, or None if the monotonic clock reaches `deadline_s` first.

        Raises `EngineError` if the program has ended.
        """
        try:
            line = self._lines.get(timeout=max(0.0, deadline_s - time.monotonic()))
        except queue.Empty:
            return None
        if line is None:
            self._lines.put(None)  # also for the next question
            raise self._gone()
        return line

    def rest(self) -> None:
        """Suspend the program and its children until `wake`."""
        self._signal("SIGSTOP")

    def wake(self) -> None:
        """Resume the program and its children."""
        self._signal("SIGCONT")

    def stop(self, farewell: str = "") -> None:
        """End the program: with a last line, or else by force."""
        if self._has_ended:
            return
        self._has_ended = True
        assert self._process.stdin is not None
        self.wake()
        with contextlib.suppress(OSError):
            self._process.stdin.write(farewell.encode() + b"\r\n")
        self._process.stdin.close()
        if farewell:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_LEAVE_S)
        self._signal("SIGKILL")  # including the processes that it started
        self._process.kill()
        self._process.wait()
        self._log.write("#", f"ended with {self._process.returncode}")
        for reader in self._readers:
            self._drain()
            reader.join(_LEAVE_S)  # a thread whose pipe another process still holds is abandoned

    def _drain(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                self._lines.get_nowait()

    def _signal(self, name: str) -> None:
        if _IS_POSIX:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, getattr(signal, name))

    def _gone(self) -> EngineError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_LEAVE_S)
        self._readers[1].join(_LEAVE_S)
        code = self._process.poll()
        how = "closed its output" if code is None else f"ended with {code}" if code >= 0 else _killed_by(-code)
        return EngineError(f"{how}: {self._last_error}" if self._last_error else how)

    def _read(self, stream: IO[bytes], is_error: bool) -> None:
        """Split the output into lines; overlong lines are cut, and empty ones are skipped."""
        rest = b""
        with stream:
            while chunk := stream.read(65536):
                *lines, rest = (rest + chunk.replace(b"\r", b"\n")).split(b"\n")
                rest = rest[:MAX_LINE_BYTES]
                for line in lines:
                    self._take(line, is_error)
        self._take(rest, is_error)
        if not is_error:
            self._put(None)

    def _take(self, line: bytes, is_error: bool) -> None:
        text = line[:MAX_LINE_BYTES].decode("utf-8", "replace").strip()
        if not text:
            return
        self._log.write("!" if is_error else "<", text)
        if is_error:
            self._last_error = clean(text, _SHOWN_CELLS)
        else:
            self._put(text)

    def _put(self, text: str | None) -> None:
        while not self._has_ended:
            try:
                self._lines.put(text, timeout=_LEAVE_S)
                return
            except queue.Full:
                continue


def _killed_by(number: int) -> str:
    try:
        return f"was killed by {signal.Signals(number).name}"
    except ValueError:
        return f"was killed by signal {number}"
