from ttt_net.matches.absence import CHANGE_MS, Absences


def left_ms(absences: Absences, side: int, now_ms: int) -> int | None:
    absence = absences.of(side)
    return None if absence is None else absence.left_ms(now_ms)


def test_each_absence_shortens_the_next_grace_of_the_same_player_alone() -> None:
    absences = Absences(None)
    absences.went(0, 0, on_purpose=False)
    absences.returned(0, 0)
    assert absences.of(0) is None
    absences.went(0, 0, on_purpose=False)
    assert left_ms(absences, 0, 0) == 30_000
    absences.returned(0, 0)
    absences.went(1, 0, on_purpose=False)
    assert left_ms(absences, 1, 0) == 60_000


def test_a_player_who_abandoned_matches_has_less_grace_from_the_start() -> None:
    absences = Absences(None)
    absences.expect(0, 2)
    for side in (0, 1):
        absences.went(side, 0, on_purpose=False)
    assert [left_ms(absences, side, 0) for side in (0, 1)] == [15_000, 60_000]


def test_absence_does_not_count_while_both_players_are_away() -> None:
    absences = Absences(None)
    absences.went(0, 0, on_purpose=False)
    absences.went(1, 20_000, on_purpose=False)
    both = [absences.of(side) for side in (0, 1)]
    assert [absence and absence.claim_at_ms for absence in both] == [None, None]
    assert [left_ms(absences, side, 10**9) for side in (0, 1)] == [40_000, 60_000]
    absences.returned(1, 10**9)
    assert left_ms(absences, 0, 10**9 + 39_999) == 1
    assert left_ms(absences, 0, 10**9 + 40_000) == 0


def test_a_change_of_device_is_no_absence() -> None:
    absences = Absences(None)
    for at_ms in (0, 10_000, 20_000):
        absences.went(0, at_ms, on_purpose=False, is_replaced=True)
        absences.returned(0, at_ms + CHANGE_MS)
    absences.went(0, 30_000, on_purpose=False)
    assert left_ms(absences, 0, 30_000) == 60_000


def test_a_replaced_player_who_stays_away_has_been_absent() -> None:
    absences = Absences(None)
    absences.went(0, 0, on_purpose=False, is_replaced=True)
    absences.returned(0, CHANGE_MS + 1)
    absences.went(0, 10_000, on_purpose=False)
    assert left_ms(absences, 0, 10_000) == 30_000
