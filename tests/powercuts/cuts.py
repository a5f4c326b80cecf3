"""Cut the power of a recorded run at many points, and look for what was acknowledged in what is left."""

import asyncio
import bisect
import random
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from tests.powercuts.disk import Disk
from tests.powercuts.recorder import Record, read_log, recorded_server, server
from tests.powercuts.workload import Acknowledged, contents, log_size, play
from tests.server.peer import Peer
from ttt_net.server.journal import JOURNAL_FILE, Database
from ttt_net.server.journal.backups import check

Plant = Callable[[Path], None]
"""Spoils what is left after a cut, given its folder."""


class Run(NamedTuple):
    """A recorded run."""

    records: list[Record]
    acknowledged: list[Acknowledged]


class Finding(NamedTuple):
    """Results of the cuts."""

    cuts: int
    checks: int
    lost: int
    started: int
    """How many times the real server was started on what was left, and let a player in."""
    packed: int
    """How many packed matches were left, in all."""

    def __str__(self) -> str:
        """Return it in one line."""
        return f"{self.cuts} cuts, {self.checks} acknowledged checks, {self.lost} lost"


def record_run(folder: Path, library: Path, moves: int) -> Run:
    """Let players play on a recorded server, which is told to end once they are done, and puts its journal in order."""
    served, log = folder / "served", folder / "log"
    served.mkdir()
    with recorded_server(served, library, log) as (process, url):
        acknowledged = asyncio.run(play(url, moves, log_size(log)))
        process.terminate()
        process.wait()
    return Run(list(read_log(log)), acknowledged)


def cut(run: Run, cuts: int, seed: int, folder: Path, plant: Plant | None = None, start_every: int = 0) -> Finding:
    """Cut the power so many times; what is left must be whole, and have all that was acknowledged by then.

    The real server is started on the first, and on each `start_every`-th. Raises `AssertionError` or
    `ConfigurationError` if what is left is no journal, or one with gaps.
    """
    rng = random.Random(seed)
    points = sorted(rng.choices(range(1, len(run.records) + 1), k=cuts))
    disk, done, checks, lost, started, packed = Disk(), 0, 0, 0, 0, 0
    known = [each.by for each in run.acknowledged]
    for number, point in enumerate(points):
        for record in run.records[done:point]:
            disk.apply(record)
        done = point
        left = folder / "left"
        shutil.rmtree(left, ignore_errors=True)
        left.mkdir()
        disk.after_cut(random.Random(f"{seed} {number}"), left)
        if plant:
            plant(left / "data")
        owed = run.acknowledged[: bisect.bisect_right(known, run.records[point - 1].end)]
        if start_every and number % start_every == 0:
            asyncio.run(_start(left / "data"))
            started += 1
        checks += len(owed)
        gone, packs = missing(left / "data", owed)
        lost, packed = lost + len(gone), packed + packs
    return Finding(cuts, checks, lost, started, packed)


def missing(data: Path, owed: Sequence[Acknowledged]) -> tuple[list[Acknowledged], int]:
    """Open the journal as a server does, check that it is whole; return what is owed and not in it, and the packs."""
    with closing(Database(data / JOURNAL_FILE)) as database:
        check(database.connection)
        there = contents(database.connection)
        (packs,) = database.connection.execute("SELECT count(*) FROM matches WHERE is_packed").fetchone()
    return [each for each in owed if each.what not in there], packs


async def _start(data: Path) -> None:
    """Start the real server on what is left, and let a player in and make a move."""
    with server(data) as (_, url):
        async with asyncio.timeout(60):
            peers = [await Peer.connect(url) for _ in range(2)]
            for peer in peers:
                await peer.hello()
                await peer.close()
