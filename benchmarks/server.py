"""Cost of referee and journal: this server beside bare relays, in one run on one machine.

`python -m benchmarks.server` takes about three minutes and prints one table, the medians of a few short rounds in
which the servers take turns, and the ratios. Server and load generator are processes of their own, each kept on its
own core, and new for each measurement. Linux only, as it reads /proc.
See docs/developing/performance.md on how to read the figures.
"""

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import median
from typing import NamedTuple

import msgspec

from benchmarks.load import Report
from benchmarks.meter import is_supported, pin

ROOT = Path(__file__).parent.parent
_WITHOUT_UVLOOP = """
import runpy, sys
sys.modules["uvloop"] = None  # so that it cannot be imported
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


class Contestant(NamedTuple):
    """A server to be measured: how it is started, and how its clients talk."""

    name: str
    kind: str
    command: tuple[str, ...]
    has_journal: bool


_LIMITS = ("--rate", "1000000", "--limits-matches", "1000000/s")
_OURS = ("server.py", "--host", "127.0.0.1", "--port", "0", "--no-house-bots", *_LIMITS)
SERVER = Contestant("ttt_net", "server", ("-c", _WITHOUT_UVLOOP, *_OURS), has_journal=True)
FAST_SERVER = Contestant("ttt_net, uvloop", "server", _OURS, has_journal=True)
TWO_WAY_RELAY = Contestant("relay to both", "relay to both", ("-m", "benchmarks.relay", "--to-both"), has_journal=False)
ONE_WAY_RELAY = Contestant("relay to opponent", "relay", ("-m", "benchmarks.relay"), has_journal=False)
RELAYS = (TWO_WAY_RELAY, ONE_WAY_RELAY)


@dataclass(frozen=True)
class Scale:
    """How much is measured, and for how long."""

    rounds: int = 3
    idle_connections: int = 2_000
    saturated_connections: int = 200
    paced_connections: int = 1_000
    rate: float = 2_000.0
    warm_up_s: float = 0.7
    saturated_s: float = 2.5
    paced_s: float = 4.0


QUICK = Scale(1, 20, 8, 20, 100.0, 0.0, 0.0, 0.0)
"""The fewest moves that show that it works; its figures mean nothing."""


class Round(NamedTuple):
    """One server's figures of one round."""

    idle: Report
    saturated: Report
    paced: Report


class Column(NamedTuple):
    """One figure of the table, lower being better unless its heading says `/s`."""

    heading: str
    read: Callable[[Round], float]
    form: str = ".1f"


COLUMNS = (
    Column("CPU us/move saturated", lambda r: r.saturated.server.cpu_ns / r.saturated.moves / 1000),
    Column("moves/s", lambda r: r.saturated.moves / r.saturated.seconds, ",.0f"),
    Column("CPU us/move paced", lambda r: r.paced.server.cpu_ns / r.paced.moves / 1000),
    Column("p50 us", lambda r: r.paced.p50_us, ".0f"),
    Column("p99 us", lambda r: r.paced.p99_us, ".0f"),
    Column("KiB/connection", lambda r: r.idle.connection_bytes / 1024),
)
HEALTH = (
    Column("generator busy, saturated %", lambda r: r.saturated.generator.cpu_ns / r.saturated.seconds / 1e7, ".0f"),
    Column("server busy, saturated %", lambda r: r.saturated.server.cpu_ns / r.saturated.seconds / 1e7, ".0f"),
    Column("waited for a core, saturated %", lambda r: _waited(r.saturated)),
    Column("waited, paced %", lambda r: _waited(r.paced)),
    Column("moves skipped, paced %", lambda r: 100 * r.paced.skipped / (r.paced.moves + r.paced.skipped)),
)
"""Whether the other figures can be believed: the generator should have room, and nobody should wait for a core."""


def _waited(report: Report) -> float:
    return (report.server.wait_ns + report.generator.wait_ns) / report.seconds / 1e7


@contextmanager
def running(contestant: Contestant) -> Iterator[tuple[int, int]]:
    """Start the server, with its journal in a new folder; yield its process id and port, and end it."""
    data = tempfile.mkdtemp(prefix="ttt_net-benchmark-")
    command = [sys.executable, *contestant.command, *(["--data", data] if contestant.has_journal else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            pin(process.pid, 0)
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("listening on ws://"), f"{contestant.name} did not start"
            yield process.pid, int(line.rpartition(":")[2])
        finally:
            process.kill()
            shutil.rmtree(data)


def measure(contestant: Contestant, scale: Scale) -> Round:
    """Load the server in three ways; it is started anew for each, as one leaves a heap that changes the next."""

    def load(what: str, connections: int, *options: str) -> Report:
        with running(contestant) as (pid, port):
            command = [sys.executable, "-m", "benchmarks.load", contestant.kind, what, *options]
            command += ["--pid", str(pid), "--port", str(port), "--connections", str(connections)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
                pin(process.pid, -1)
                printed, _ = process.communicate()
            if process.returncode:
                sys.exit(f"the load generator failed on {contestant.name}")
            return msgspec.json.decode(printed, type=Report)

    warm_up = ("--warm-up", str(scale.warm_up_s))
    return Round(
        idle=load("idle", scale.idle_connections, "--seconds", "0.2"),
        saturated=load("saturate", scale.saturated_connections, "--seconds", str(scale.saturated_s), *warm_up),
        paced=load(
            "pace", scale.paced_connections, "--rate", str(scale.rate), "--seconds", str(scale.paced_s), *warm_up
        ),
    )


def table(columns: tuple[Column, ...], rounds: dict[str, list[Round]]) -> str:
    """Return the medians of the rounds as a Markdown table, a row for each server."""
    rows = [["server", *(column.heading for column in columns)]]
    for name, measured in rounds.items():
        rows.append([name, *(f"{median(map(column.read, measured)):{column.form}}" for column in columns)])
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    rows.insert(1, ["-" * width for width in widths])
    lines = (" | ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(f"| {line} |" for line in lines)


def ratios(rounds: dict[str, list[Round]], name: str, relay: str) -> str:
    """Return each figure of a server as a multiple of a relay's; the median of the rounds' own ratios."""
    pairs = list(zip(rounds[name], rounds[relay], strict=True))
    parts = (
        f"{column.heading} {median(column.read(ours) / column.read(theirs) for ours, theirs in pairs):.2f}"
        for column in COLUMNS
    )
    return f"{name} / {relay}: {', '.join(parts)}"


def main() -> int:
    """Measure and print; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.server", description=__doc__.split("\n")[0])
    parser.add_argument(
        "--quick", action="store_true", help="a second of one server and the relays, to see that it works"
    )
    parser.add_argument("--rounds", type=int, help="how often each server is measured (default: 3)")
    arguments = parser.parse_args()
    if not is_supported():
        print("benchmarks.server: needs Linux, with scheduler statistics in /proc", file=sys.stderr)
        return 2
    scale = QUICK if arguments.quick else Scale(rounds=arguments.rounds or Scale.rounds)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    servers = [FAST_SERVER, SERVER] if _has_uvloop() and not arguments.quick else [SERVER]
    contestants = [*servers, *RELAYS]
    rounds: dict[str, list[Round]] = {contestant.name: [] for contestant in contestants}
    for _ in range(scale.rounds):
        for contestant in contestants:
            rounds[contestant.name].append(measure(contestant, scale))
    print(
        f"saturated: {scale.saturated_connections} connections; paced: {scale.rate:,.0f} moves/s over"
        f" {scale.paced_connections:,} connections; idle: {scale.idle_connections:,} connections;"
        f" medians of {scale.rounds}"
    )
    print(table(COLUMNS, rounds))
    for server, relay in product(servers, RELAYS):
        print(ratios(rounds, server.name, relay.name))
    print(table(HEALTH, rounds))
    return 0


def _has_uvloop() -> bool:
    try:
        import uvloop  # noqa: F401
    except ImportError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
