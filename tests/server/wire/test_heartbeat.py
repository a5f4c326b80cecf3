"""How the way to a peer is measured: when pings are due, and what their answers tell."""

from ttt_net.server.wire.heartbeat import Heartbeat

AFTER_S = 10.0


def test_the_first_ping_is_due_at_once_and_none_before_it_is_answered() -> None:
    beat = Heartbeat()
    assert beat.is_due(100.0, heard_s=100.0, after_s=AFTER_S)
    beat.asked(100.0)
    assert not beat.is_due(1_000.0, heard_s=100.0, after_s=AFTER_S)
    beat.answered(100.3)
    assert beat.is_due(1_000.0, heard_s=100.3, after_s=AFTER_S)


def test_a_silent_peer_is_pinged_after_a_while_and_one_that_is_heard_a_fifth_as_often() -> None:
    beat = Heartbeat()
    beat.asked(0.0)
    beat.answered(0.0)
    assert [beat.is_due(now_s, heard_s=3.0, after_s=AFTER_S) for now_s in (13.0, 13.1)] == [False, True]
    assert [beat.is_due(now_s, heard_s=now_s, after_s=AFTER_S) for now_s in (50.0, 50.1)] == [False, True]


def test_the_way_is_a_mean_in_which_the_newest_weighs_three_tenths() -> None:
    beat, ways_ms = Heartbeat(), []
    for now_s, way_s in ((0, 0.5), (10, 1.0), (20, 0.0)):
        beat.asked(now_s)
        ways_ms.append(beat.answered(now_s + way_s))
    assert ways_ms == [500, 650, 455]
    assert beat.answered(30.0) == 455, "a pong that nobody asked for says nothing"


def test_a_time_in_which_the_process_stood_still_is_no_part_of_the_way() -> None:
    beat = Heartbeat()
    beat.asked(5.0)
    beat.excuse(60.0)
    assert beat.answered(65.25) == 250
    assert not beat.is_due(75.0, heard_s=65.25, after_s=AFTER_S)
