"""Long lists of players, players found by name, and what is remembered of aborted and abandoned matches."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import pytest

from ttt_net.messages import PlayerInfo
from ttt_net.server.online_players import (
    APART_MS,
    FIRST_WAIT_MS,
    FREE_ABORTS,
    MAX_WAIT_MS,
    REMEMBERED_MS,
    WAITS_MS,
    AbandonHistory,
    AbortHistory,
    BotPlaces,
    OnlinePlayers,
    Session,
)
from ttt_net.server.wire.connection import Connection


@dataclass
class At:
    """A connection from an address."""

    metered_as: str | None = None


def session(number: int, name: str, bot: str | None = None, address: str | None = None) -> Session:
    return Session(cast(Connection, At(address)), number, PlayerInfo(name, bot))


@pytest.fixture
def crowd() -> Sequence[Session]:
    """Ann, Bob, Cid ... Jim, and two bots, in the order in which they came."""
    people = [
        session(n, name)
        for n, name in enumerate(["Jim", "Ian", "Hal", "Gus", "Fay", "Eve", "Dan", "Cid", "Bob", "Ann"])
    ]
    return [*people, session(10, "Abe", "minimax"), session(11, "Zed", "mcts")]


def listed(crowd: Sequence[Session], count: int) -> tuple[OnlinePlayers, list[str]]:
    online = OnlinePlayers()
    for each in crowd:
        online.add(each)
    return online, names(online, count)


def names(online: OnlinePlayers, count: int) -> list[str]:
    return sorted(each.info.name for each in online.by_leisure(count))


def test_a_session_receives_the_matches_that_it_has_entered_and_not_left() -> None:
    ann = session(1, "Ann")
    for match in ("a", "b", "a"):
        ann.enter(match)
    assert [*ann.rooms] == ["a", "b"]
    for match in ("a", "a", "c"):
        ann.exit(match)
    assert [*ann.rooms] == ["b"]


def test_all_are_listed_where_there_is_room(crowd: Sequence[Session]) -> None:
    online, all_of_them = listed(crowd, 12)
    assert all_of_them == sorted(each.info.name for each in crowd)
    assert len(online) == 12


def test_of_a_crowd_the_people_who_came_last_are_listed(crowd: Sequence[Session]) -> None:
    assert listed(crowd, 3)[1] == ["Ann", "Bob", "Cid"]
    assert listed(crowd[::-1], 3)[1] == ["Hal", "Ian", "Jim"]


def test_playing_people_are_listed_after_free_people_and_bots(crowd: Sequence[Session]) -> None:
    online, _ = listed(crowd, 0)
    for each in crowd[5:10]:
        each.began("m")
        online.moved(each)
    assert names(online, 5) == ["Fay", "Gus", "Hal", "Ian", "Jim"]
    assert names(online, 7) == ["Abe", "Fay", "Gus", "Hal", "Ian", "Jim", "Zed"]
    crowd[5].finished("m")
    online.moved(crowd[5])
    assert names(online, 1) == ["Eve"], "whose match has just ended"


def test_departed_players_are_not_listed_even_after_their_match_ends(crowd: Sequence[Session]) -> None:
    online, _ = listed(crowd, 0)
    for each in crowd[:10]:
        online.remove(each)
        online.moved(each)
    assert names(online, 9) == ["Abe", "Zed"]
    assert online.find("ann") is None
    assert online.find("ABE") is crowd[10]


def test_a_session_that_was_replaced_takes_nobody_off_the_list(crowd: Sequence[Session]) -> None:
    online, _ = listed(crowd, 0)
    again = session(9, "Ann")
    again.began("m")
    online.remove(crowd[9])
    online.add(again)
    online.remove(crowd[9])
    assert names(online, 12)[1] == "Ann"
    assert online.find("Ann") is again


def test_sessions_of_an_address_are_known_until_they_leave() -> None:
    online = OnlinePlayers()
    ann, bob, cid = session(1, "Ann", address="a"), session(2, "Bob", address="a"), session(3, "Cid")
    for each in (ann, bob, cid):
        online.add(each)
    online.rename(1, "Anna")
    assert set(online.of_address("a")) == {ann, bob}
    online.remove(ann)
    assert set(online.of_address("a")) == {bob}
    online.remove(bob)
    online.remove(cid)
    assert not online.of_address("a")


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
    places.turn_away("other", 1)
    assert places.others_were_turned_away("other", WAITS_MS - 1), "the newest is their own, the one before is not"
    places.turn_away("one", WAITS_MS)
    places.turn_away("third", WAITS_MS)
    assert places.others_were_turned_away("third", 2 * WAITS_MS - 1), "the second time counts"
    for number in range(100):
        places.turn_away(f"crowd {number}", 2)
    assert places.others_were_turned_away("crowd 99", 2)
