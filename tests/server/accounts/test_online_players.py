"""Long lists of players, and players found by name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import pytest

from ttt_net.messages import PlayerInfo
from ttt_net.server.accounts.online_players import OnlinePlayers
from ttt_net.server.accounts.session import Session
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


def test_all_are_listed_where_there_is_room(crowd: Sequence[Session]) -> None:
    online, all_of_them = listed(crowd, 12)
    assert all_of_them == sorted(each.info.name for each in crowd)
    assert len(online) == 12


def test_of_a_crowd_the_people_who_came_last_are_listed(crowd: Sequence[Session]) -> None:
    assert listed(crowd, 3)[1] == ["Ann", "Bob", "Cid"]
    assert listed(crowd[::-1], 3)[1] == ["Hal", "Ian", "Jim"]


def test_who_plays_comes_after_those_who_do_not_and_after_bots(crowd: Sequence[Session]) -> None:
    online, _ = listed(crowd, 0)
    for each in crowd[5:10]:
        each.began("m")
        online.moved(each)
    assert names(online, 5) == ["Fay", "Gus", "Hal", "Ian", "Jim"]
    assert names(online, 7) == ["Abe", "Fay", "Gus", "Hal", "Ian", "Jim", "Zed"]
    crowd[5].finished("m")
    online.moved(crowd[5])
    assert names(online, 1) == ["Eve"], "whose match has just ended"


def test_who_has_gone_is_not_listed_nor_brought_back_by_the_end_of_their_match(crowd: Sequence[Session]) -> None:
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
