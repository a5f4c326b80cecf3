"""The audience of a match, without sockets."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

import msgspec

from tests.server.running import until
from ttt_net.messages import PlayerInfo
from ttt_net.server.accounts.session import Session
from ttt_net.server.rooms.audience import COUNT_S, CROWD, Audience
from ttt_net.server.wire.connection import Connection


class Wire:
    """A connection that keeps what is sent."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def send(self, frames: bytes) -> None:
        self.sent.append(frames)

    @property
    def counts(self) -> list[int]:
        return [message["watchers"] for message in map(_decoded, self.sent)]


def _decoded(frames: bytes) -> Any:
    return msgspec.json.decode(frames[frames.index(b"{") :])


def session(number: int) -> tuple[Session, Wire]:
    wire = Wire()
    return Session(cast(Connection, wire), number, PlayerInfo(f"P{number}")), wire


async def test_players_are_told_at_once_and_a_crowd_of_watchers_in_order() -> None:
    audience = Audience("m", asyncio.get_running_loop())
    player, heard = session(0)
    audience.players[0] = player
    watchers = [session(number) for number in range(1, 2 * CROWD + 50)]
    for watcher, _ in watchers:
        audience.watch(watcher)
    for frames in (b"1", b"2", b"3"):
        audience.tell(frames)
    assert heard.sent == [b"1", b"2", b"3"]
    assert sum(len(wire.sent) for _, wire in watchers) == CROWD, "the others wait until the loop comes round"
    late, late_wire = session(10_000)
    audience.watch(late)
    audience.leave(watchers[-1][0])
    await until(lambda: not audience.is_telling)
    assert all(wire.sent == [b"1", b"2", b"3"] for _, wire in watchers[:-1])
    assert watchers[-1][1].sent == []
    assert late_wire.sent == [], "what was told before is in the snapshot"


async def test_who_comes_back_does_not_hear_again_what_was_told_before() -> None:
    audience = Audience("m", asyncio.get_running_loop())
    watchers = [session(number) for number in range(CROWD + 1)]
    for watcher, _ in watchers:
        audience.watch(watcher)
    audience.tell(b"1")
    back, wire = watchers[-1]
    audience.leave(back)
    audience.watch(back)
    await until(lambda: not audience.is_telling)
    assert wire.sent == []


async def test_who_asked_is_answered_first_even_when_they_have_left() -> None:
    audience = Audience("m", asyncio.get_running_loop())
    asker, wire = session(1)
    audience.players[1] = asker
    audience.tell(b"event", asker, b"ok")
    audience.leave(asker)
    audience.tell(b"event", asker, b"ok")
    assert wire.sent == [b"okevent", b"ok"]
    assert not audience


class Later:
    """An event loop that calls back when the test says so."""

    def __init__(self) -> None:
        self.due: list[Callable[[], None]] = []

    def call_later(self, delay: float, callback: Callable[[], None]) -> object:
        assert delay == COUNT_S
        self.due.append(callback)
        return callback

    def call_soon(self, callback: Callable[[], None]) -> None:
        raise AssertionError("nobody waits for the next turn")


def test_how_many_watch_is_told_together() -> None:
    later = Later()
    audience = Audience("m", cast(asyncio.AbstractEventLoop, later))
    player, wire = session(0)
    audience.players[0] = player
    audience.watch(session(1)[0])
    audience.tell_count()
    for number in range(2, 101):
        audience.watch(session(number)[0])
    assert wire.counts == [1]
    later.due.pop()()
    assert wire.counts == [1, 100]
    later.due.pop()()
    assert (wire.counts, later.due) == ([1, 100], [])


def test_who_comes_while_a_watcher_is_away_is_told_that_they_are_back() -> None:
    later = Later()
    audience = Audience("m", cast(asyncio.AbstractEventLoop, later))
    player, wire = session(0)
    watcher, _ = session(1)
    audience.watch(watcher)
    audience.tell_count()
    audience.leave(watcher)
    audience.tell_count()
    audience.players[0] = player
    assert audience.counted() == 0
    audience.watch(watcher)
    audience.tell_count()
    later.due.pop()()
    assert wire.counts == [1]
