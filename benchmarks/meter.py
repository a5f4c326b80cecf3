"""Cost of a process, as Linux counts it in /proc: CPU of all its threads, waiting for a core, memory.

`python -m benchmarks.meter` prints the machine, its load and the versions, which `make bench` puts before each table.
"""

import datetime
import os
import platform
import sqlite3
import sys
import sysconfig
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

PACKAGES = ("websockets", "msgspec", "uvloop", "numba", "nats-py")
"""The packages whose versions change the figures most."""


class Cost(NamedTuple):
    """Nanoseconds, over all threads: on a core (user and system), and ready to run but without a core."""

    cpu_ns: int
    wait_ns: int

    def since(self, before: "Cost") -> "Cost":
        """Return what was added since `before`."""
        return Cost(self.cpu_ns - before.cpu_ns, self.wait_ns - before.wait_ns)


def is_supported() -> bool:
    """Tell whether this machine counts what we read."""
    return Path("/proc/self/schedstat").exists()


def cost(*pids: int) -> Cost:
    """Return what the processes have cost until now; the ticks of /proc/PID/stat would be far too coarse."""
    threads = [path.read_text().split() for pid in pids for path in Path(f"/proc/{pid}/task").glob("*/schedstat")]
    return Cost(sum(int(thread[0]) for thread in threads), sum(int(thread[1]) for thread in threads))


def resident_bytes(pid: int) -> int:
    """Return the memory of the process that is in RAM, without what the kernel holds for its sockets."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Rss:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("smaps_rollup has an Rss line")


def open_descriptors(pid: int) -> int:
    """Return how many files and sockets the process has open."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def pin(pid: int, index: int) -> None:
    """Keep the process on one core, counted from either end; with a single core, do nothing."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) > 1:
        os.sched_setaffinity(pid, {cores[index]})


def describe_machine() -> str:
    """Return the date, the load, the machine and the versions, for people who compare figures."""
    with Path("/proc/cpuinfo").open() as lines:
        model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown CPU")
    built = "optimised" if "--enable-optimizations" in (sysconfig.get_config_var("CONFIG_ARGS") or "") else "plain"
    return (
        f"{datetime.date.today()}, load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores ({model}), "
        f"Linux {platform.release()}; CPython {platform.python_version()} ({built} build), "
        f"{', '.join(filter(None, map(_named, PACKAGES)))}, SQLite {sqlite3.sqlite_version}"
    )


def _named(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return ""


def main() -> int:
    """Print the machine; return the exit code."""
    if not is_supported():
        print("benchmarks.meter: needs Linux, with scheduler statistics in /proc", file=sys.stderr)
        return 2
    print(" ".join(sys.argv[1:]) or "benchmarks", describe_machine(), sep=": ", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
