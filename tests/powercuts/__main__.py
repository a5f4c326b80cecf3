"""Cut the power of a server many times: `python -m tests.powercuts --cuts 500 [--moves 3000] [--seed 1]`."""

import argparse
import logging
import sys
import tempfile
import time
from pathlib import Path

from tests.powercuts.cuts import cut, record_run
from tests.powercuts.recorder import build_recorder


def main() -> int:
    """Print what came of it; return 1 if anything was lost."""
    parser = argparse.ArgumentParser(prog="python -m tests.powercuts", description=__doc__)
    parser.add_argument("--cuts", type=int, default=500, help="how often the power is cut (default: 500)")
    parser.add_argument("--moves", type=int, default=3_000, help="how many moves are recorded (default: 3000)")
    parser.add_argument("--seed", type=int, default=1, help="what the cuts are drawn from (default: 1)")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)  # a journal that was being made when the power went is finished, and says so
    with tempfile.TemporaryDirectory(prefix="powercuts-") as name:
        folder = Path(name)
        since_s = time.monotonic()
        run = record_run(folder, build_recorder(folder), arguments.moves)
        syncs = sum(record.kind in "SD" for record in run.records)
        print(f"recorded {len(run.records)} calls, {syncs} of them syncs, in {time.monotonic() - since_s:.0f} s")
        found = cut(run, arguments.cuts, arguments.seed, folder, start_every=max(1, arguments.cuts // 5))
        print(f"the server was started on what was left {found.started} times")
        print(found)
    return 1 if found.lost else 0


if __name__ == "__main__":
    sys.exit(main())
