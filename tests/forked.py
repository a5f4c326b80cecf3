"""Our programs, forked from one process that has loaded them: a start takes a tenth of the CPU time of a real one.

For tests of what is done with a server or a client. How they start, and end, is tested with real ones, as all is where
there is no `fork`, or no Linux.
"""

import atexit
import fcntl
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import termios
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).parent.parent
PROGRAMS = {"server.py": "ttt_net.server.start", "client.py": "ttt_net.commands.play"}
"""Programs, and the modules whose `main` they run."""
_LOADED = (
    *PROGRAMS.values(),
    "ttt_net.server.serving",
    "ttt_net.client.online_play",
    "ttt_net.client.lines.line_client",
    "ttt_net.client.bot.seats",
    "ttt_net.client.local.local_connection",
    "ttt_net.client.local.local_matches",
    "ttt_net.client.local.seated_strategies",
    "ttt_net.client.named",
    "ttt_net.client.terminal.canvas",
    "ttt_net.client.terminal.keyboard",
    "ttt_net.client.terminal.loop",
    "ttt_net.games.outside",
    "encodings.idna",
    "prompt_toolkit.input.vt100",
    "zeroconf.asyncio",
)
"""Modules that our programs import as late as they can. With them, a client starts in 0.05 s of CPU, not in 0.23 s."""
_MOST_BYTES = 2**20


def start(program: str, *arguments: str, env: Mapping[str, str] | None = None, **pipes: Any) -> "subprocess.Popen[str]":
    """Start one of our programs, with its ends as `subprocess.Popen` takes them, and as text."""
    command = [sys.executable, str(ROOT / program), *arguments]
    popen = Forked if sys.platform == "linux" else subprocess.Popen
    return popen(command, env=None if env is None else dict(env), text=True, **pipes)


class Forked(subprocess.Popen[str]):
    """A process that another has forked for us, which also tells us how it ended."""

    def _execute_child(
        self, args: Sequence[str], executable: None, preexec_fn: None, close_fds: bool, pass_fds: tuple[int, ...],
        cwd: None, env: dict[str, str] | None, *more: Any,
    ) -> None:  # fmt: skip
        p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite = more[3:9]
        self._told, tells = os.pipe()
        told = {"argv": args[1:], "env": dict(os.environ) if env is None else env, "cwd": str(Path.cwd())}
        order = json.dumps({**told, "is_apart": more[14]})  # start_new_session
        ends = [usual if end < 0 else end for usual, end in enumerate((p2cread, c2pwrite, errwrite))]
        parent = _parent()
        socket.send_fds(parent, [order.encode()], [*ends, tells])
        self.pid = int(parent.recv(32))
        self._child_created = True
        os.close(tells)
        self._close_pipe_fds(p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)  # type: ignore[attr-defined]

    def _internal_poll(self, _deadstate: int | None = None) -> int | None:
        if self.returncode is None:
            self._look(0)
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        if not self._look(timeout):
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return int(self.returncode)

    def _look(self, timeout_s: float | None) -> bool:
        """Wait until it has ended, and tell whether it has."""
        if self.returncode is None and select.select([self._told], [], [], timeout_s)[0]:
            self.returncode = int(os.read(self._told, 32) or -signal.SIGKILL)
            os.close(self._told)
        return self.returncode is not None


@cache
def _parent() -> socket.socket:
    """Start the process that forks the others, which ends when we do."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line = [sys.executable, "-m", "tests.forked", str(theirs.fileno())]
    process = subprocess.Popen(line, cwd=ROOT, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])
    theirs.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def _fork_for(orders: socket.socket) -> None:
    """Fork a program for each order, and tell how it ended, until nobody gives orders any more."""
    for module in _LOADED:
        import_module(module)
    gc.freeze()
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    told: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([orders.fileno(), woken], [], [])
        if woken in ready:
            os.read(woken, 1024)
            _tell_ends(told)
        if orders.fileno() not in ready:
            continue
        order, ends, _, _ = socket.recv_fds(orders, _MOST_BYTES, 4)
        if not order:
            return
        pid = os.fork()
        if not pid:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for number, end in enumerate(ends[:3]):
                os.dup2(end, number)
            orders.close()
            for end in (woken, wakes, *told.values(), *ends):
                os.close(end)
            _become(**json.loads(order))
        told[pid] = ends[3]
        for end in ends[:3]:
            os.close(end)
        orders.send(str(pid).encode())


def _tell_ends(told: dict[int, int]) -> None:
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            pid, status = ended
            with suppress(BrokenPipeError):
                os.write(told[pid], str(os.waitstatus_to_exitcode(status)).encode())
            os.close(told.pop(pid))


def _become(argv: list[str], env: dict[str, str], cwd: str, is_apart: bool) -> NoReturn:
    """Be that program until it ends; apart: in a session of its own, which has the terminal that it reads from."""
    if is_apart:
        os.setsid()
        if os.isatty(0):
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    sys.argv = argv
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    is_prompt = bool(env.get("PYTHONUNBUFFERED"))
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False, buffering=1 if is_prompt else -1)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False, buffering=1)
    try:
        code = import_module(PROGRAMS[Path(argv[0]).name]).main()
    except SystemExit as ended:
        code = ended.code
    _end(code)


def _end(code: int | str | None) -> NoReturn:
    """End like Python, but without taking all modules apart, which takes as long as most programs run."""
    with suppress(OSError):
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        if code is None or isinstance(code, int):
            os._exit(code or 0)
    sys.exit(code)


if __name__ == "__main__":
    _fork_for(socket.socket(fileno=int(sys.argv[1])))
