import pytest

from ttt_net.clock import TimeControl
from ttt_net.matches.absence import Absences, grace_ms


@pytest.mark.parametrize(
    ("initial_s", "on_purpose", "earlier", "grace_s"),
    [
        (None, False, 0, 60),
        (None, True, 0, 15),
        (None, False, 1, 30),
        (None, False, 3, 7.5),
        (None, False, 99, 5),
        (None, True, 2, 5),
        (180, False, 0, 30),
        (180, True, 0, 7.5),
        (600, False, 0, 60),
        (20, False, 0, 10),
        (20, True, 0, 5),
    ],
)
def test_the_grace_scales_with_the_clock_and_shrinks_for_leavers(
    initial_s: int | None, on_purpose: bool, earlier: int, grace_s: float
) -> None:
    time = None if initial_s is None else TimeControl(initial_s * 1000)
    assert grace_ms(time, on_purpose=on_purpose, earlier=earlier) == grace_s * 1000


def test_each_absence_of_one_player_counts_for_them_alone() -> None:
    absences = Absences(None)
    absences.went(0, 0, on_purpose=False)
    absences.returned(0)
    assert absences.of(0) is None
    absences.went(0, 1_000, on_purpose=False)
    absences.went(1, 1_000, on_purpose=False)
    first, second = absences.of(0), absences.of(1)
    assert first is not None
    assert second is not None
    assert (first.claim_at_ms, second.claim_at_ms) == (31_000, 61_000)


def test_who_deserts_often_has_less_grace_from_the_start() -> None:
    absences = Absences(None)
    absences.expect(0, 2)
    for side in (0, 1):
        absences.went(side, 0, on_purpose=False)
    assert [absence.claim_at_ms for side in (0, 1) if (absence := absences.of(side))] == [15_000, 60_000]
