from ttt_net.server.accounts.online_players import (
    APART_MS,
    FIRST_WAIT_MS,
    FREE_ABORTS,
    MAX_TURNED_AWAY,
    MAX_WAIT_MS,
    REMEMBERED_MS,
    WAITS_MS,
    AbandonHistory,
    AbortHistory,
    BotPlaces,
)


def test_abandoned_matches_add_up_and_are_forgotten_after_an_hour() -> None:
    history = AbandonHistory()
    for now_ms in (0, REMEMBERED_MS - 1, 2 * REMEMBERED_MS - 2):
        history.add(7, now_ms)
    assert history.count(7, 2 * REMEMBERED_MS) == 3
    assert history.count(8, 2 * REMEMBERED_MS) == 0
    assert history.count(7, 3 * REMEMBERED_MS - 2) == 0
    history.add(7, 3 * REMEMBERED_MS - 2)
    assert history.count(7, 3 * REMEMBERED_MS - 2) == 1


def test_only_so_many_players_are_remembered() -> None:
    history = AbandonHistory(most=2)
    for player in (1, 2, 1, 3):
        history.add(player, 0)
    assert [history.count(player, 0) for player in (1, 2, 3)] == [2, 0, 1]


def test_waits_after_aborts_double_up_to_a_bound_and_are_forgotten() -> None:
    history, waits = AbortHistory(), []
    for _ in range(12):
        history.add(7, 0)
        waits.append(history.wait_ms(7, 0))
    assert waits[: FREE_ABORTS + 3] == [0] * FREE_ABORTS + [FIRST_WAIT_MS, 2 * FIRST_WAIT_MS, 4 * FIRST_WAIT_MS]
    assert waits[-1] == MAX_WAIT_MS
    assert history.wait_ms(7, MAX_WAIT_MS - 1) == 1
    assert history.wait_ms(7, MAX_WAIT_MS) == 0
    assert history.wait_ms(8, 0) == 0


def test_two_people_are_apart_until_their_time_is_over() -> None:
    history = AbortHistory(most=2)
    history.part(2, 1, 0)
    assert history.are_apart(1, 2, APART_MS - 1)
    assert not history.are_apart(1, 2, APART_MS)
    assert not history.are_apart(1, 3, 0)
    history.part(1, 3, 10)
    assert history.reunited(APART_MS - 1) == []
    assert history.reunited(APART_MS) == [1]
    assert history.reunited(APART_MS + 10) == [1]
    assert history.reunited(APART_MS + 10) == []
    for number in range(3):
        history.part(7, 8 + number, 20)
    assert not history.are_apart(7, 8, 20), "the pair that parted first is forgotten"


def test_places_of_bots_are_counted_once_for_each_match() -> None:
    places = BotPlaces()
    for match, address in (("m", "one"), ("m", "one"), ("n", "one"), ("o", "other"), ("p", None)):
        places.hold(match, address)
    assert (places.held_by("one"), places.held_by("other")) == (2, 1)
    for match in ("m", "m", "p", "unknown"):
        places.free(match)
    assert (places.held_by("one"), places.held_by("other")) == (1, 1)


def test_a_refused_address_waits_for_a_minute_and_never_for_itself() -> None:
    places = BotPlaces()
    places.turn_away("one", 0)
    assert not places.others_were_turned_away("one", 0)
    assert places.others_were_turned_away("other", WAITS_MS - 1)
    assert not places.others_were_turned_away("other", WAITS_MS)
    for number in range(MAX_TURNED_AWAY):
        places.turn_away(f"crowd {number}", 1)
    assert places.others_were_turned_away("crowd 99", 2)
