"""Set limits and become an engine: `launch.py MEMORY_MB CPUS COMMAND...`. Imports nothing from this package.

A separate process sets the limits, so that none of our code runs between fork and exec: memory, file sizes, no core
dumps, the allowed cores, a lower priority, and, if the kernel supports it, its end when the parent ends.
"""

import contextlib
import ctypes
import os
import signal
import sys

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

MAX_FILE_BYTES = 64 << 20
MAX_OPEN_FILES = 256
_NICE = 5
_PR_SET_PDEATHSIG = 1


def main(memory_mb: str, cpus: str, *command: str) -> int:
    """Set the limits and become the command; return 127 if the program does not exist."""
    if os.name == "posix":
        _limit(int(memory_mb) << 20, int(cpus))
    try:
        os.execvp(command[0], command)  # noqa: S606 - the user's command
    except OSError as error:
        print(f"cannot start {command[0]}: {error.strerror}", file=sys.stderr)
        return 127


def _limit(memory_bytes: int, cpus: int) -> None:
    wanted = {
        resource.RLIMIT_AS: memory_bytes,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: MAX_FILE_BYTES,
        resource.RLIMIT_NOFILE: MAX_OPEN_FILES,
    }
    for limit, most in wanted.items():
        with contextlib.suppress(OSError, ValueError):  # a lower limit is already set, or the system lacks this limit
            resource.setrlimit(limit, (most, most))
    with contextlib.suppress(OSError):
        os.nice(_NICE)
    if sys.platform == "linux":
        usable = sorted(os.sched_getaffinity(0))
        first = os.getpid() % len(usable)
        os.sched_setaffinity(0, (usable[first:] + usable[:first])[:cpus])
        parent = os.getppid()
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            sys.exit(1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
