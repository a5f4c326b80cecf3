"""The proof of tournaments in a short form: real processes, one kill in mid-round, and a count of all results."""

import asyncio
from pathlib import Path

import pytest

from benchmarks.nats_servers import nats_server
from benchmarks.tournament import Course, play, play_on_nodes


def test_a_server_that_is_killed_in_mid_round_loses_no_result_and_counts_none_twice(tmp_path: Path) -> None:
    verdict = asyncio.run(play(Course(players=6, rounds=2, kills=1, thought_s=0.05), tmp_path))
    assert verdict == (6, 0, 0, [])


@pytest.mark.long
@pytest.mark.skipif(nats_server() is None, reason="nats-server is not installed")
def test_a_cluster_whose_stewards_are_killed_in_mid_round_loses_no_result(tmp_path: Path) -> None:
    course = Course(players=12, rounds=3, kills=2, thought_s=0.05)
    assert asyncio.run(play_on_nodes(course, tmp_path, 3)) == (18, 0, 0, [])


@pytest.mark.long
def test_a_late_comer_and_a_leaver_play_the_rounds_of_their_presence(tmp_path: Path) -> None:
    verdict = asyncio.run(play(Course(players=8, rounds=4, kills=1, thought_s=0.05, late=1, leave=1), tmp_path))
    assert verdict == (16, 0, 0, [])
