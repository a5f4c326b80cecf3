"""The arithmetic by which the benchmark of a cluster tells what more machines would reach."""

import pytest

from benchmarks.cluster_bench import Pieces, Row, ceiling, ceiling_of_partitions, ceilings, pieces_of

PIECES = Pieces(author_us=234.0, follower_us=115.0, nats_us=150.0)


def row(full_us: float, full_nats_us: float) -> Row:
    return Row("", 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, full_us, full_nats_us)


def test_two_of_three_nodes_follow_each_move() -> None:
    assert pieces_of(row(234.0, 300.0), row(464.0, 450.0)) == PIECES


@pytest.mark.parametrize(("nodes", "moves_per_s"), [(1, 4_274), (3, 6_466), (10, 7_880), (100, 8_607)])
def test_nodes_of_one_log_do_not_add_up(nodes: int, moves_per_s: int) -> None:
    assert round(ceiling(PIECES, nodes)) == moves_per_s
    busy_us = PIECES.author_us / nodes + PIECES.follower_us * (nodes - 1) / nodes
    assert ceiling(PIECES, nodes) * busy_us == pytest.approx(1e6)


def test_partitions_add_up_until_the_shared_log_fills_each_node() -> None:
    reached = [ceiling_of_partitions(PIECES, machines) for machines in (3, 30, 300, 3_000_000)]
    assert reached[0] == ceiling(PIECES, 3)
    assert reached[1] > 5 * reached[0]
    assert reached[3] == pytest.approx(1e6 / (2 / 30 * 115.0), rel=1e-3)
    assert ceilings(PIECES).count("\n") == 6
