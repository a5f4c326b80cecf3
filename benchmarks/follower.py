"""Cost of a move on a node of a cluster whose players are all on another node: CPU time by the size of the batches.

One thread gives batches of a log to a node whose tables are in a file: 32 matches of Connect Four from ply 4 to 30.
Receiving a batch from NATS is not part of it. For each size, the fastest tenth of all batches of several runs, since
neighbours on the machine make a batch only slower. `python -m benchmarks.instructions` counts the same without a file.
"""

import asyncio
import os
import platform
import sys
import tempfile
import time
from pathlib import Path
from statistics import quantiles

from benchmarks.instructions import CLOCK, Follower
from benchmarks.requests import Message

SIZES = (1, 16, 64)
RUNS = 5


def measure(clock: Message | None, size: int) -> float:
    """Return the microseconds of CPU time per move."""
    spent_ns = []
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory(prefix="ttt_net-follower-") as folder:
            follower = Follower(clock, Path(folder) / "journal.sqlite")
            for batch in follower.batches(size):
                began_ns = time.process_time_ns()
                follower.hear(batch)
                spent_ns.append(time.process_time_ns() - began_ns)
            follower.end()
    return quantiles(spent_ns, n=10)[0] / 1e3 / size


async def main() -> int:
    """Measure, and print a table; return the exit code."""
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {platform.python_version()}\n")
    print("| CPU us per move | no clock | a clock |\n|---|--:|--:|")
    for size in SIZES:
        print(f"| {size} in a batch | {measure(None, size):.1f} | {measure(CLOCK, size):.1f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
