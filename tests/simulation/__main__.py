"""Run worlds: `python -m tests.simulation --seeds 1000 --first 1`, or one with its trace: `--seed 42`.

With `--nodes 3` they are of three servers on one log; with `--hot` three times as much goes wrong.
"""

import argparse
import logging
import random
import sys
import time
from collections.abc import Sequence

from tests.simulation import cluster, world
from tests.simulation.cluster import ClusterWorld
from tests.simulation.swarm import Swarm
from tests.simulation.world import World

MOST_TRIES = 300
"""How many smaller worlds a shrink looks at."""
_MOST_LINES = 40
"""How much is printed of the trace of the first failure: its end."""


def world_of(
    seed: int, nodes: int = 1, swarm: Swarm | None = None, trace: list[str] | None = None
) -> World | ClusterWorld:
    """Return the world of a seed."""
    write = trace.append if trace is not None else None
    return World(seed, swarm, write) if nodes == 1 else ClusterWorld(seed, swarm, write, nodes)


def swarm_of(seed: int, nodes: int, *, is_hot: bool = False) -> Swarm:
    """Return what a seed draws, as it is or as a hot world."""
    rng, faults = random.Random(seed), world.FAULTS if nodes == 1 else cluster.FAULTS
    later_faults = () if nodes == 1 else cluster.LATER_FAULTS
    drawn = Swarm.of(rng, faults, later_faults)
    return drawn.heated(rng, (*faults, *later_faults)) if is_hot else drawn


def failure_of(seed: int, swarm: Swarm | None = None, trace: list[str] | None = None, nodes: int = 1) -> str | None:
    """Run one world; return what is wrong with it, or None."""
    try:
        world_of(seed, nodes, swarm, trace).run()
    except Exception as error:  # noqa: BLE001 - whatever is raised in a world is its failure
        return f"{type(error).__name__}: {error}"
    return None


def shrink(seed: int, nodes: int = 1, *, is_hot: bool = False) -> Swarm:
    """Return the smallest world found that the seed fails in, by leaving out whatever is not needed for it."""
    swarm = swarm_of(seed, nodes, is_hot=is_hot)
    tries = 0
    is_smaller = True
    while is_smaller and tries < MOST_TRIES:
        is_smaller = False
        for smaller in swarm.smaller():
            tries += 1
            if failure_of(seed, smaller, nodes=nodes):
                swarm, is_smaller = smaller, True
                break
    return swarm


def replay(seed: int, nodes: int, *, is_shrunk: bool, is_hot: bool = False) -> int:
    """Print the trace of one world; return 1 if it fails."""
    trace: list[str] = []
    swarm = (shrink if is_shrunk else swarm_of)(seed, nodes, is_hot=is_hot)
    failure = failure_of(seed, swarm, trace, nodes)
    print(f"seed {seed}: {swarm}")
    print("\n".join(trace))
    print(f"seed {seed}: {failure or 'nothing is wrong'}")
    return 1 if failure else 0


def print_shortest(seed: int, nodes: int, *, is_hot: bool) -> None:
    """Print the end of the shortest trace that a shrink finds."""
    trace: list[str] = []
    smaller = shrink(seed, nodes, is_hot=is_hot)
    failure = failure_of(seed, smaller, trace, nodes)
    shown = trace[-_MOST_LINES:]
    print(f"  the smallest world found: {smaller}\n  the last {len(shown)} of the {len(trace)} lines of its trace:")
    print("\n".join(f"    {line[:200]}" for line in shown))
    print(f"  {failure}", flush=True)


def run_many(seeds: range, nodes: int, *, is_hot: bool = False) -> int:
    """Run a world for each seed; print what fails, and the count of all in the last line. Return 1 if any fails."""
    began_s, steps, failures = time.perf_counter(), 0, 0
    for done, seed in enumerate(seeds, 1):
        one = world_of(seed, nodes, swarm_of(seed, nodes, is_hot=is_hot))
        try:
            one.run()
        except Exception as error:  # noqa: BLE001 - as above
            failures += 1
            print(f"seed {seed} fails: {type(error).__name__}: {error}")
            which = f"{'HOT=1 ' if is_hot else ''}{f'NODES={nodes} ' if nodes > 1 else ''}SEED={seed}"
            print(f"  its trace:      make simulate {which}")
            print(f"  made smaller:   make simulate {which} SHRINK=1", flush=True)
            if failures == 1:
                print_shortest(seed, nodes, is_hot=is_hot)
        steps += one.steps
        if sys.stderr.isatty() and done % 20 == 0:
            print(f"\r{done} of {len(seeds)} seeds, {time.perf_counter() - began_s:.0f} s", end="", file=sys.stderr)
    print(f"seeds {seeds.start} to {seeds.stop - 1}, {time.perf_counter() - began_s:.1f} s")
    print(f"{len(seeds)} seeds, {steps} steps, {failures} failures")
    return 1 if failures else 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=100, help="how many worlds")
    parser.add_argument("--first", type=int, help="the first seed; without it, one that nobody has tried")
    parser.add_argument("--seed", type=int, help="one world, with its trace")
    parser.add_argument("--shrink", action="store_true", help="make the world of --seed as small as it fails in")
    parser.add_argument("--hot", action="store_true", help="let three times as much go wrong")
    parser.add_argument("--nodes", type=int, default=1, choices=(1, 3, 5), help="how many servers a world has")
    asked = parser.parse_args(argv)
    if asked.seed is not None:
        return replay(asked.seed, asked.nodes, is_shrunk=asked.shrink, is_hot=asked.hot)
    first = asked.first if asked.first is not None else time.time_ns() // 1_000 % 10**12
    return run_many(range(first, first + asked.seeds), asked.nodes, is_hot=asked.hot)


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)  # what a world logs is not its trace
    sys.exit(main())
