"""Tournaments on simulated time: what is asked, written and sent, up to the last millisecond and the last entrant."""

import gc
from typing import Any, cast

import pytest

from tests.server.accounts.house import Caller, Members
from tests.server.matchmaking.parlour import Parlour
from ttt_net import messages as wire
from ttt_net.clock import TimeControl
from ttt_net.errors import Refusal
from ttt_net.server.journal.entries import AppendEvents, AppendTournament
from ttt_net.server.matchmaking import tournament_service
from ttt_net.server.matchmaking.lobby_feed import LobbyFeed
from ttt_net.server.matchmaking.tournament_service import (
    MAX_ATTENDED,
    TournamentDesk,
)
from ttt_net.server.players import Player
from ttt_net.server.settings.setting import Rate
from ttt_net.server.wire.connection import Connection
from ttt_net.tournaments.tournament import (
    AnyFact,
    Entered,
    Opened,
    Terms,
    TournamentPaused,
)

MINUTE = TimeControl(60_000)
BOT: dict[str, Any] = {"bot": "alpha", "places": 9}
FEW = Rate(1, 600.0)


class Node(Members):
    """A node of a cluster whose log is elsewhere."""

    def __init__(self, *, keeps_lobby: bool = True) -> None:
        super().__init__()
        self.keeps_lobby = keeps_lobby


class Hall(Parlour):
    """A parlour in which tournaments are played."""

    def __init__(self, *, is_read: bool = True, **limits: Any) -> None:
        often = dict.fromkeys(("tournaments", "inquiries", "reports"), Rate(1_000_000))
        super().__init__(**{**often, **limits})
        self.service, self.registry = self.hub.tournaments, self.hub.registry
        if is_read:
            self.service.recall()
            self.settle()

    def settle(self) -> None:
        """Let everything happen that needs no time."""
        for _ in range(3):
            self.deliver()
            self.loop.run_until(self.loop.time(), 1_000_000)
        assert self.loop.errors == []

    def later(self, ms: int) -> None:
        """Let time pass, and look after the lobby and the tournaments."""
        super().later(ms)
        self.service.tick()
        self.settle()

    def tell(self, link: Caller, request: wire.AnyRequest) -> list[str]:
        """Ask, and return what was told until the journal has answered."""
        link.take()
        self.ask(link, request)
        self.settle()
        return link.take()

    def arrive(self, name: str) -> Caller:
        """Let somebody come to a node of a cluster."""
        members = cast(Node, self.services.membership)
        link = self.hello(name=name)
        self.deliver()
        done, _ = members.waiting.pop()
        done(Player(members.log[-1].player, name))
        link.take()
        return link

    def opened(self, by: Caller | None = None, **terms: Any) -> Opened:
        """Return the first fact of a tournament of a player, or of the host."""
        own = {each: terms.pop(each) for each in ("per_address", "spare") if each in terms}
        usual = {"name": "Friday", "kind": "swiss", "time": MINUTE, "pause_s": 0}
        return self.service.checked(
            wire.OrganiseRequest(0, **{**usual, **terms}), None if by is None else number_of(by), **own
        )

    def organise(self, by: Caller | None = None, **terms: Any) -> str:
        """Make a tournament of a player, or of the host; return its code."""
        name = None if by is None else by.known_as.info.name
        made: list[TournamentDesk] = []
        self.service.open(self.opened(by, **terms), name, made.append, fail)
        self.settle()
        return made[0].now.id

    def enter_all(self, code: str, *links: Caller) -> None:
        for link in links:
            assert "ok" in self.tell(link, wire.EnterRequest(9, code))

    def direct(self, code: str, act: Any, **fields: Any) -> list[str]:
        """Let the host direct; return what came of it."""
        came: list[str] = []

        def failed(refusal: Refusal) -> None:
            came.append(str(refusal.code))

        desk, request = self.service.find(code), wire.DirectRequest(0, code, act, **fields)
        try:
            self.service.direct(desk, request, lambda: came.append("ok"), failed, is_host=True)
        except Refusal as refusal:
            failed(refusal)
        self.settle()
        return came

    def running(self, *links: Caller, **terms: Any) -> str:
        """Let people begin a tournament of the host; return its code."""
        code = self.organise(**terms)
        self.enter_all(code, *links)
        assert self.direct(code, "start") == ["ok"]
        return code

    def state(self, code: str, page: int | None = 1) -> wire.TournamentReply:
        return self.service.find(code).message(page)

    def open_matches(self, code: str) -> list[str]:
        return [str(each.match) for each in self.state(code).boards if each.result is None and each.match]

    def end(self, match: str, winner: int | None = 0, reason: str = "resign") -> None:
        """End a match as another node writes it."""
        known = self.registry.rooms[match].match
        assert known is not None
        ended = wire.Ended(match, known.seq + 1, self.now_ms, winner, reason)
        self.services.journal.append([ended], lambda _: None, fail)
        self.deliver()
        self.registry.hear(AppendEvents((ended,)), {}, None)
        self.settle()

    def end_round(self, code: str) -> None:
        """Let those who move first win all open boards."""
        for match in self.open_matches(code):
            self.end(match)

    def hear(self, code: str, *facts: AnyFact, names: dict[int, str] | None = None, seq: int | None = None) -> None:
        """Apply what another node has written."""
        known = self.service.desks.get(code)
        following = 1 if known is None else known.now.seq + 1
        self.service.hear(AppendTournament(code, following if seq is None else seq, facts), names or {})

    def crowd(self, code: str, count: int) -> None:
        """Let so many strangers enter on another node."""
        known = len(self.service.find(code).now.entrants)
        numbers = range(known + 1, known + count + 1)
        facts = [Entered(self.now_ms, each, 10_000 + each) for each in numbers]
        self.hear(code, *facts, names={10_000 + each: f"Nr{each}" for each in numbers})

    def read_only(self, is_on: bool = True) -> None:
        """Let nothing be written any more, or again."""
        self.ledger.database.connection.execute(f"PRAGMA query_only = {'ON' if is_on else 'OFF'}")

    @property
    def waiting(self) -> int:
        """How many writes and reads the journal has to answer."""
        return self.ledger.health().waiting


@pytest.fixture
def hall() -> Hall:
    return Hall()


def fail(refusal: Refusal) -> None:
    raise AssertionError(refusal)


def number_of(link: Caller) -> int:
    return link.known_as.player


def told(link: Caller) -> list[wire.TournamentReply]:
    """Return the tournaments that somebody was told, and forget them."""
    news, link.heard = link.heard, []
    return [each for each in news if isinstance(each, wire.TournamentReply)]


def test_one_who_has_left_a_node_before_the_log_answers_subscribes_to_nothing() -> None:
    hall = Hall(members=Node())
    ann = hall.arrive("Ann")
    hall.do(ann, wire.AttendRequest(9, "ABCDE"))
    hall.hub.closed(cast(Connection, ann))
    hall.hear("ABCDE", Opened(hall.now_ms, Terms("Friday", "swiss", "tictactoe", MINUTE)))
    hall.settle()
    ann.take()
    hall.hear("ABCDE", TournamentPaused(hall.now_ms))
    hall.later(3_000)
    assert ann.take() == []


def test_a_subscriber_gets_each_change_until_they_have_enough(hall: Hall) -> None:
    ann, bob, cid = hall.people("Ann", "Bob", "Cid")
    code = hall.organise()
    for _ in range(2):
        assert hall.tell(ann, wire.AttendRequest(9, f" {code.lower()}")) == ["ok", "tournamentreply"]
        hall.tell(cid, wire.AttendRequest(9, code))
    hall.enter_all(code, bob)
    hall.later(2_000)
    assert (len(told(ann)), len(told(cid))) == (1, 1)
    for _ in range(2):
        assert hall.tell(ann, wire.AttendRequest(9, code, on=False)) == ["ok"]
    hall.direct(code, "pause")
    hall.later(2_000)
    assert (ann.take(), cid.take()) == ([], ["tournamentreply"])
    hall.hub.closed(cast(Connection, cid))
    hall.direct(code, "resume")
    hall.later(2_000)
    assert cid.take() == []


def test_a_player_follows_few_tournaments_at_a_time(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    (ann,) = hall.people("Ann")
    codes = [hall.organise() for _ in range(MAX_ATTENDED + 2)]
    for code in (*codes[:MAX_ATTENDED], codes[0]):
        assert hall.tell(ann, wire.AttendRequest(9, code)) == ["ok", "tournamentreply"]
    assert hall.tell(ann, wire.AttendRequest(9, codes[-1])) == ["busy"]
    hall.tell(ann, wire.AttendRequest(9, codes[3], on=False))
    assert hall.tell(ann, wire.AttendRequest(9, codes[-1])) == ["ok", "tournamentreply"]
    assert hall.tell(ann, wire.AttendRequest(9, codes[-2])) == ["busy"]
    monkeypatch.setattr(tournament_service, "MAX_ENDED", 1)
    for code in codes[:2]:
        hall.direct(code, "end")
    hall.later(2_000)
    assert codes[0] not in hall.service.desks
    assert hall.tell(ann, wire.AttendRequest(9, codes[0], on=False)) == ["ok"], "it is long over"
    assert hall.tell(ann, wire.AttendRequest(9, codes[-2])) == ["ok", "tournamentreply"]


def test_one_who_follows_a_tournament_that_is_forgotten_may_leave(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    (ann,) = hall.people("Ann")
    codes = [hall.organise() for _ in range(3)]
    for code in codes:
        hall.tell(ann, wire.AttendRequest(9, code))
    monkeypatch.setattr(tournament_service, "MAX_ENDED", 1)
    for code in codes[:2]:
        hall.direct(code, "end")
    hall.later(2_000)
    assert [*hall.service.desks] == codes[1:]
    hall.hub.closed(cast(Connection, ann))
    ann.take()
    hall.direct(codes[2], "pause")
    hall.later(2_000)
    assert ann.take() == []


def test_pages_without_readers_are_dropped(hall: Hall) -> None:
    ann, bob = hall.people("Ann", "Bob")
    code = hall.organise()

    def feeds() -> int:
        gc.collect()
        return sum(isinstance(each, LobbyFeed) for each in gc.get_objects())

    before = feeds()
    for link in (ann, bob):
        hall.tell(link, wire.AttendRequest(9, code))
    hall.tell(ann, wire.AttendRequest(9, code, on=False))
    assert feeds() == before + 1
    hall.tell(bob, wire.AttendRequest(9, code, on=False))
    hall.later(3_000)
    assert feeds() == before
