"""The proof of tournaments in a short form: real processes, one kill in mid-round, and a count of all results."""

import asyncio
from pathlib import Path

from benchmarks.tournament import Course, play


def test_a_server_that_is_killed_in_mid_round_loses_no_result_and_counts_none_twice(tmp_path: Path) -> None:
    verdict = asyncio.run(play(Course(players=6, rounds=2, kills=1, thought_s=0.05), tmp_path))
    assert verdict == (6, 0, 0, [])
