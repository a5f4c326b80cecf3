"""Everybody who seeks, challenges, invites, leaves and comes back at once, with a disk that is slow and sometimes full.

The hub is real, and so is all below it; sockets, disk and clock are not. Laws: seated players are here and have room,
no seated player still waits, no bot plays beyond its places, and every request has one reply.
"""

import asyncio
import random
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import cast

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.server.link import Link
from ttt_net import messages as wire
from ttt_net.errors import Code, Refusal, StorageError
from ttt_net.server.hub import Hub
from ttt_net.server.journal import Failed, Journal
from ttt_net.server.players import Player
from ttt_net.server.services import build_services
from ttt_net.server.settings.configuration import Configuration
from ttt_net.server.wire.connection import Connection

PEOPLE, BOTS = (0, 1, 2), (3, 4)
PLACES = {3: (1, 0), 4: (3, 1)}
"""How many matches at once each bot plays, and how many of its places are for people."""
EVERYBODY = st.sampled_from((*PEOPLE, *BOTS))
GAMES = st.lists(st.sampled_from(["gomoku", "connect4"]), max_size=2, unique=True)
ALL = 1_000
"""More jobs than ever wait for the disk."""
OPPONENTS = st.sampled_from(["any", "any", "people", "bots"])


class SlowDisk:
    """A journal that keeps the seats of unfinished matches; it does what it is asked, in order, when it is told to."""

    def __init__(self, check: Callable[[tuple[int, int]], None]) -> None:
        self.unfinished: dict[str, tuple[int, int]] = {}
        self.starting: list[tuple[int, int]] = []
        """The seats of matches that are to be written down."""
        self._check = check
        self._waiting: deque[Callable[[bool], None]] = deque()

    def charge_to(self, _: object) -> None:
        """Charge nobody."""

    def append(
        self,
        events: Sequence[wire.MatchEvent],
        done: Callable[[None], None],
        failed: Failed,
        seats: tuple[int, int] | None = None,
    ) -> None:
        if seats is not None:
            self._check(seats)
            self.starting.append(seats)
        self._waiting.append(lambda is_full: self._append(events, done, failed, seats, is_full=is_full))

    def _append(
        self,
        events: Sequence[wire.MatchEvent],
        done: Callable[[None], None],
        failed: Failed,
        seats: tuple[int, int] | None,
        *,
        is_full: bool,
    ) -> None:
        if seats is not None:
            self.starting.remove(seats)
            if is_full:
                failed(StorageError("full"))
                return
        for event in events:
            if isinstance(event, wire.Started):
                assert seats is not None
                self.unfinished[event.match] = seats
            elif isinstance(event, wire.Ended):
                del self.unfinished[event.match]
        done(None)

    def find(self, token: str, bot: str | None, now_ms: int, done: Callable[[Player], None], failed: Failed) -> None:
        number = int(token)

        def work(_: bool) -> None:
            unfinished = tuple(match for match, seats in self.unfinished.items() if number in seats)
            done(Player(number, f"Player-{number}", unfinished))

        self._waiting.append(work)

    def invite(self, invitation: object, now_ms: int, done: Callable[[], None], failed: Failed) -> None:
        self._waiting.append(lambda is_full: failed(StorageError("full")) if is_full else done())

    def read(self, match: str, done: object, failed: Failed) -> None:
        failed(Refusal(Code.UNKNOWN_MATCH, "there is no such match"))

    def look(self, read: object, tell: object) -> None:
        raise AssertionError("nobody asks about the past here")

    def write(self, most: int = ALL, *, is_full: bool = False) -> None:
        while self._waiting and most:
            self._waiting.popleft()(is_full)
            most -= 1


class TimelessLoop:
    """An event loop on which no timer ever goes off: no match here has a clock, and no grace runs out."""

    def time(self) -> float:
        return 0.0

    def call_later(self, delay_s: float, callback: Callable[..., object], *args: object) -> "TimelessLoop":
        return self

    def call_soon(self, callback: Callable[..., object], *args: object) -> None:
        callback(*args)

    def cancel(self) -> None:
        """Cancel a timer: there is nothing to do."""


class Meeting(RuleBasedStateMachine):
    """A hub, and what five players may do to it."""

    def __init__(self) -> None:
        super().__init__()
        self.now_ms = 1_000_000
        self.disk = SlowDisk(self.check_seats)
        loop = cast(asyncio.AbstractEventLoop, TimelessLoop())
        journal, settings = cast(Journal, self.disk), Configuration(name="x")
        self.hub = Hub(build_services(settings, journal, loop, lambda: self.now_ms, random.Random(1)))
        self.links: dict[int, Link] = {}

    def check_seats(self, seats: tuple[int, int]) -> None:
        assert seats[0] != seats[1]
        pairs = (*self.disk.unfinished.values(), *self.disk.starting)
        counts = Counter(player for pair in pairs for player in pair)
        for player, other in (seats, seats[::-1]):
            assert player in self.hub.services.players.sessions, "nobody is seated who is gone"
            assert self.hub.lobby.seeks.of(player) is None, "who plays waits no more"
            if player in PLACES:
                places, reserved = PLACES[player]
                assert counts[player] < places
                if other in PLACES:
                    assert counts[player] < places - reserved

    def say(self, player: int, make: Callable[[int], wire.AnyRequest]) -> None:
        link = self.links.get(player)
        if link is not None and link.is_open:
            link.asked += 1
            self.hub.received(cast(Connection, link), wire.encode(make(link.asked)).decode())

    @rule(player=EVERYBODY)
    def come(self, player: int) -> None:
        self.links[player] = Link()
        places, reserved = PLACES.get(player, (None, 0))
        bot = "random" if player in PLACES else None
        self.say(
            player,
            lambda number: wire.HelloRequest(number, [1], token=str(player), bot=bot, places=places, reserved=reserved),
        )

    @initialize()
    def all_come(self) -> None:
        for player in (*PEOPLE, *BOTS):
            self.come(player)
        self.disk.write()

    @rule(players=st.lists(EVERYBODY, min_size=2, max_size=6))
    def seek_anything(self, players: list[int]) -> None:
        for player in players:
            self.say(player, wire.SeekRequest)

    @rule(player=EVERYBODY, on_purpose=st.booleans())
    def go(self, player: int, on_purpose: bool) -> None:
        link = self.links.pop(player, None)
        if link is not None:
            link.left_on_purpose = on_purpose
            link.is_open = False
            self.hub.closed(cast(Connection, link))

    @rule()
    def those_who_were_closed_are_gone(self) -> None:
        for player, link in list(self.links.items()):
            if not link.is_open:
                self.go(player, on_purpose=False)

    @rule(player=EVERYBODY, games=GAMES, opponents=OPPONENTS)
    def seek(self, player: int, games: list[str], opponents: wire.Opponents) -> None:
        self.say(player, lambda number: wire.SeekRequest(number, games, opponents=opponents))

    @rule(player=EVERYBODY)
    def unseek(self, player: int) -> None:
        self.say(player, wire.UnseekRequest)

    @rule(player=EVERYBODY, seek=st.integers(1, 12))
    def accept(self, player: int, seek: int) -> None:
        self.say(player, lambda number: wire.AcceptRequest(number, seek))

    @rule(player=EVERYBODY, other=EVERYBODY)
    def challenge(self, player: int, other: int) -> None:
        self.say(player, lambda number: wire.ChallengeRequest(number, f"Player-{other}", "gomoku"))

    @rule(player=EVERYBODY, is_accepted=st.booleans())
    def answer(self, player: int, is_accepted: bool) -> None:
        for challenge in (self.links[player].numbers() if player in self.links else [])[-2:]:
            self.say(player, lambda number, which=challenge: wire.AnswerRequest(number, which, is_accepted))  # type: ignore[misc]

    @rule(player=EVERYBODY)
    def invite(self, player: int) -> None:
        self.say(player, lambda number: wire.InviteRequest(number, "gomoku"))

    @rule(player=EVERYBODY, host=EVERYBODY)
    def join(self, player: int, host: int) -> None:
        for code in (self.links[host].codes() if host in self.links else [])[-1:]:
            self.say(player, lambda number, it=code: wire.JoinRequest(number, it))  # type: ignore[misc]

    @rule(player=EVERYBODY)
    def resign_all(self, player: int) -> None:
        session = self.hub.services.players.sessions.get(player)
        for match in sorted(session.rooms & session.live) if session else ():
            self.say(player, lambda number, which=match: wire.ResignRequest(number, which))  # type: ignore[misc]

    @rule(later_ms=st.sampled_from([500, 5_000, 31_000]))
    def time_passes(self, later_ms: int) -> None:
        self.now_ms += later_ms
        self.hub.matchmaker.tick()

    @rule(most=st.sampled_from([1, 2, ALL]), is_full=st.booleans())
    def disk_writes(self, most: int, is_full: bool) -> None:
        self.disk.write(most, is_full=is_full)

    @invariant()
    def the_lists_are_about_those_who_are_here(self) -> None:
        here = {f"Player-{player}" for player in self.hub.services.players.sessions}
        listing = self.hub.listing
        assert {row.by.name for row in listing.seeks().seeks} <= here
        rows = {row.name: row for row in listing.players().players}
        assert rows.keys() == here
        assert all(row.free is None or 0 <= row.free <= (row.places or 0) for row in rows.values())

    def teardown(self) -> None:
        self.disk.write()
        for link in self.links.values():
            if link.is_open:
                assert sorted(link.answers) == list(range(1, link.asked + 1))
        assert not self.hub.services.players.starting
        for player, session in self.hub.services.players.sessions.items():
            assert session.live == {match for match, seats in self.disk.unfinished.items() if player in seats}


Meeting.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestMeeting = Meeting.TestCase


def test_a_bot_that_comes_back_while_its_match_is_written_down_is_not_paired_beyond_its_places() -> None:
    room = Meeting()
    room.all_come()
    room.seek(3, ["gomoku"], "any")
    room.come(3)
    room.seek(0, ["gomoku"], "any")  # the match stands behind the hello
    room.disk.write(1)
    room.seek(3, ["gomoku"], "any")
    room.seek(1, ["gomoku"], "any")
    room.teardown()
