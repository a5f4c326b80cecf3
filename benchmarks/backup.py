"""Cost of a backup for players: reply times during a backup, compared with a quiet server.

`python -m benchmarks.backup` takes about a minute and prints one table. A journal of 20,000 matches is copied again and
again: by `python -m ttt_net backup`, a separate process, or by the server itself on an admin's request. The server has
its own core, unless `--shared`.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

from benchmarks.flood import MOVES_PER_S, PAIRS, pairs, server
from benchmarks.meter import pin
from benchmarks.restart import build
from ttt_net.commands.admin import reached
from ttt_net.server.admin import protocol
from ttt_net.server.journal import JOURNAL_FILE

WAYS = ("none", "command", "admin")


class Round(NamedTuple):
    """Measurements with backups of one kind."""

    p50_ms: float
    p99_ms: float
    backup_s: float
    """The mean duration of a backup; 0 without any."""


async def by_command(data: Path, file: Path) -> None:
    """Back up from outside."""
    command = (sys.executable, "-m", "ttt_net", "backup", str(file), "--data", str(data))
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.DEVNULL)
    assert await process.wait() == 0


async def by_admin(data: Path, file: Path) -> None:
    """Let the server make the backup."""

    def ask() -> None:
        with reached(data) as line:
            answer = line.ask(protocol.Backup(str(file)))
            assert not isinstance(answer, protocol.Failed), answer

    await asyncio.to_thread(ask)


BACKUPS: dict[str, Callable[[Path, Path], Awaitable[None]]] = {"command": by_command, "admin": by_admin}


async def repeat(way: str, data: Path, end_s: float, times_s: list[float]) -> None:
    """Make backups until a time, and record their durations."""
    while way in BACKUPS and (started_s := time.perf_counter()) < end_s:
        file = data.with_name("backup")
        await BACKUPS[way](data, file)
        times_s.append(time.perf_counter() - started_s)
        file.unlink()


async def measure(data: Path, way: str, mark: str, seconds: float, is_shared: bool) -> Round:
    """Return the reply times of players meanwhile."""
    with server(is_shared, data) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline().decode().rpartition(":")[2])
        backups_s: list[float] = []
        async with pairs(port, mark) as seated:
            end_s = time.perf_counter() + seconds
            await asyncio.gather(repeat(way, data, end_s, backups_s), *(pair.play(end_s) for pair in seated))
    cuts = quantiles([each for pair in seated for each in pair.times_s], n=100)
    return Round(cuts[49] * 1000, cuts[98] * 1000, sum(backups_s) / max(1, len(backups_s)))


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.backup", description=__doc__.split("\n")[0])
    parser.add_argument("--matches", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4.0, help="of each kind in each round")
    parser.add_argument("--shared", action="store_true", help="let all compete for all cores")
    given = parser.parse_args()
    if not given.shared:
        pin(os.getpid(), -1)
    found: dict[str, list[Round]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory(prefix="ttt_net-backup-") as folder:
        data = Path(folder) / "data"
        events = asyncio.run(build(data / JOURNAL_FILE, given.matches, plies=12))
        size = (data / JOURNAL_FILE).stat().st_size
        for turn in range(given.rounds):
            for way in WAYS:
                found[way].append(asyncio.run(measure(data, way, f"{turn}{way}", given.seconds, given.shared)))
    print(
        f"{events:,} events, {size / 1e6:.0f} MB; {PAIRS} pairs at {MOVES_PER_S} moves a second each;"
        f" medians of {given.rounds} rounds; load {os.getloadavg()[0]:.1f}"
    )
    print("| backups by | each takes s | move p50 ms | p99 ms | p99/none |")
    print("|------------|-------------:|------------:|-------:|---------:|")
    medians = {way: Round(*map(median, zip(*rounds, strict=True))) for way, rounds in found.items()}
    for way, one in medians.items():
        print(
            f"| {way:<10} | {one.backup_s:>12.2f} | {one.p50_ms:>11.2f} | {one.p99_ms:>6.2f}"
            f" | {one.p99_ms / medians['none'].p99_ms:>8.1f} |"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
