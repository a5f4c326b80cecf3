"""Batches in their order, whatever order they come in."""

import random

from ttt_net.server.cluster.in_order import MOST_EARLY, InOrder


def test_a_batch_that_is_next_is_delivered_and_one_that_was_is_not() -> None:
    heard: list[tuple[int, bytes]] = []
    batches = InOrder(4, lambda *each: heard.append(each))
    assert batches.offer(5, b"5")
    assert batches.offer(5, b"5")
    assert batches.offer(3, b"3")
    assert (heard, batches.position) == ([(5, b"5")], 5)


def test_those_that_came_early_follow_the_one_that_was_missing() -> None:
    heard: list[int] = []
    batches = InOrder(0, lambda position, _: heard.append(position))
    assert not batches.offer(3, b"3")
    assert not batches.offer(2, b"2")
    assert batches.missing(5) == [1, 4, 5]
    assert batches.offer(1, b"1")
    assert (heard, batches.missing(5)) == ([1, 2, 3], [4, 5])


def test_any_order_comes_to_the_same() -> None:
    rng, places = random.Random(1), list(range(1, 50))
    for _ in range(20):
        heard: list[int] = []
        batches = InOrder(0, lambda position, _, heard=heard: heard.append(position))  # type: ignore[misc]
        rng.shuffle(places)
        for place in places:
            batches.offer(place, b"")
        assert heard == sorted(places)


def test_of_too_many_that_come_early_the_last_are_fetched_again() -> None:
    heard: list[int] = []
    batches = InOrder(0, lambda position, _: heard.append(position))
    for place in range(2, MOST_EARLY + 5):
        batches.offer(place, b"")
    assert batches.missing(MOST_EARLY + 4) == [1, MOST_EARLY + 2, MOST_EARLY + 3, MOST_EARLY + 4]


def test_what_waits_is_let_go_of_at_the_end_even_amid_a_delivery() -> None:
    heard: list[int] = []

    def hear(position: int, _: bytes) -> None:
        heard.append(position)
        batches.end()

    batches = InOrder(0, hear)
    batches.offer(2, b"2")
    batches.offer(1, b"1")
    assert heard == [1]
