"""The benchmark of a follower applies all moves, and takes some time for each."""

from benchmarks.follower import measure


async def test_the_cost_of_a_followed_move_is_measured() -> None:
    assert measure(None, size=64) > 0
