"""Tournaments on simulated time: what is asked, written and sent, up to the last millisecond and the last entrant."""

import asyncio
import gc
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from tests.server.house import TOKEN, Caller, Members
from tests.server.journal.jobs import committed
from tests.server.matchmaking.parlour import Parlour
from ttt_net import messages as wire
from ttt_net.clock import TimeControl
from ttt_net.errors import Code, Refusal, StorageError
from ttt_net.server.admission.rate_limiter import MATCH_BYTES
from ttt_net.server.journal.entries import AppendEvents, AppendTournament, BeginBoards
from ttt_net.server.matchmaking import tournament_service
from ttt_net.server.matchmaking.eligibility import Eligibility
from ttt_net.server.matchmaking.lobby_feed import LobbyFeed
from ttt_net.server.matchmaking.tournament_service import (
    MAX_ATTENDED,
    MAX_CROWDS,
    MAX_ROWS,
    PAGE_ROWS,
    RETRY_S,
    TournamentDesk,
    TournamentPreview,
    Tournaments,
    legs_of,
)
from ttt_net.server.players import Player
from ttt_net.server.settings.configuration import Rate
from ttt_net.server.wire.connection import Connection
from ttt_net.tournaments.director import PATIENCE_MS
from ttt_net.tournaments.tournament import (
    AnyFact,
    Begun,
    Board,
    BoardsBegan,
    Closed,
    Corrected,
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
        names = {} if by is None else {number_of(by): by.known_as.info.name}
        made: list[TournamentDesk] = []
        self.service.open(self.opened(by, **terms), names, made.append, fail)
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


def lists(link: Caller) -> list[wire.TournamentList]:
    """Return the lists of tournaments that somebody was told, and forget them."""
    news, link.heard = link.heard, []
    return [each for each in news if isinstance(each, wire.TournamentList)]


def shown(link: Caller) -> list[wire.Snapshot]:
    return [each for each in link.heard if isinstance(each, wire.Snapshot)]


def scores(reply: wire.TournamentReply) -> dict[str, int]:
    return {row.player: row.score for row in reply.standings}


def pairs(reply: wire.TournamentReply) -> list[set[str | None]]:
    return [{each.first, each.second} for each in reply.boards]


# Reading them after a restart.


def test_tournaments_are_read_at_the_start_until_that_succeeds(monkeypatch: pytest.MonkeyPatch) -> None:
    hall = Hall(is_read=False)
    (ann,) = hall.people("Ann")
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr(hall.services.journal, "tournaments", lambda *parts: asked.append(parts))
    hall.service.recall()
    requests = wire.TournamentsRequest(9), wire.OrganiseRequest(9, "Friday", "swiss", MINUTE)
    for request in requests:
        assert hall.do(ann, request) == ["restarting"]
    hall.hear("ABCDE", Opened(0, Terms("Friday", "swiss", "tictactoe", MINUTE)))
    assert hall.service.desks == {}, "it is in what is being read"
    _, _, failed = asked.pop()
    failed(StorageError("broken"))
    assert hall.do(ann, wire.TournamentsRequest(9)) == ["restarting"]
    hall.later(int(1_000 * RETRY_S) - 100)
    assert asked == []
    hall.later(200)
    (code, done, _), *others = asked
    assert (code, others) == (None, [])
    done([])
    assert hall.do(ann, wire.TournamentsRequest(9)) == ["ok", "tournamentlist"]


def again(hall: Hall) -> Tournaments:
    """Read the tournaments as after a restart."""
    service = Tournaments(hall.services, hall.registry, Eligibility(hall.services, hall.registry.rooms))
    service.recall()
    hall.service = service
    hall.settle()
    return service


@pytest.mark.parametrize("in_cluster", [False, True])
def test_an_arena_gets_back_the_time_in_which_its_only_server_stood(in_cluster: bool) -> None:
    hall = Hall(members=Node()) if in_cluster else Hall()
    people = [hall.arrive(name) for name in ("Ann", "Bob")] if in_cluster else hall.people("Ann", "Bob")
    code = hall.running(*people, kind="arena", minutes=10)
    before = hall.state(code)
    assert before.ends_in_ms == 600_000
    hall.now_ms += 100_000
    after = again(hall).find(code).message(1)
    assert after.ends_in_ms == (500_000 if in_cluster else 600_000)
    assert (after.standings, after.boards) == (before.standings, before.boards)


@pytest.mark.parametrize("by", ["restart", "election"])
def test_open_matches_are_kept_by_the_next_server_but_those_that_are_to_begin_again(
    hall: Hall, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = hall.people("Ann", "Bob", "Cid", "Dan")
    code = hall.running(*people, begin_s=20)
    one, two = hall.open_matches(code)
    hall.services.shutdown.begin(600.0, lambda: None)
    hall.end(one, None, "abort")
    held: list[tuple[list[str], int]] = []
    monkeypatch.setattr(hall.registry, "hold_boards", lambda matches, begin_ms: held.append(([*matches], begin_ms)))
    if by == "restart":
        again(hall)
    else:
        hall.service.take_over()
    assert held == [([two], 20_000)]


# What other nodes have written.


def test_a_tournament_of_another_node_is_listed_and_continues_here(hall: Hall) -> None:
    ann, bob = hall.people("Ann", "Bob")
    one, two = number_of(ann), number_of(bob)
    hall.do(bob, wire.TournamentsRequest(9, on=True))
    lists(bob)
    hall.hear("ABCDE", Opened(hall.now_ms, Terms("Friday", "swiss", "tictactoe", MINUTE), one), names={one: "Ann"})
    hall.later(3_000)
    assert [(each.tournament, each.organiser, each.players) for each in lists(bob)[-1].tournaments] == [
        ("ABCDE", "Ann", 0)
    ]
    entered = Entered(hall.now_ms, 1, two), Entered(hall.now_ms, 2, one)
    hall.hear("ABCDE", *entered, names={two: "Bobby"})
    assert scores(hall.state("ABCDE")) == {"Bobby": 0, "Ann": 0}
    hall.hear("ABCDE", TournamentPaused(hall.now_ms), seq=3)
    hall.hear("ABCDE", TournamentPaused(hall.now_ms), seq=2)
    assert (hall.state("ABCDE").state, hall.state("ABCDE").seq) == ("open", 3), "those are known already"
    hall.later(3_000)
    assert lists(bob)[-1].tournaments[0].players == 2
    hall.hear("ABCDE", TournamentPaused(hall.now_ms), Begun(hall.now_ms))
    began = BoardsBegan(hall.now_ms, 1, (Board(1, 2, 1, "there"),))
    infos = wire.PlayerInfo("Ann"), wire.PlayerInfo("Bob")
    started = wire.Started("there", 1, hall.now_ms, "tictactoe", infos)
    start = AppendEvents((started,), (one, two))
    hall.service.hear(BeginBoards("ABCDE", 6, began, (start,)), {})
    assert (shown(ann)[-1].match, shown(ann)[-1].you, shown(bob)[-1].you) == ("there", 0, 1)
    first_moves = hall.registry.rooms["there"].match
    assert first_moves is not None
    assert first_moves.first_moves is not None
    assert first_moves.first_moves.budget_ms == 60_000
    assert hall.open_matches("ABCDE") == ["there"]
    hall.service.hear(BeginBoards("ZZZZZ", 6, began, (start,)), {})
    hall.hear("YYYYY", Begun(hall.now_ms))
    assert hall.service.desks.keys() == {"ABCDE"}


@pytest.mark.parametrize(
    ("request_of", "is_known", "is_unknown"),
    [
        (lambda code: wire.AttendRequest(9, code), ["ok", "tournamentreply"], ["unknown_tournament"]),
        (lambda code: wire.EnterRequest(9, code), ["ok"], ["unknown_tournament"]),
        (lambda code: wire.JoinRequest(9, code), ["ok", "tournamentreply"], ["unknown_tournament"]),
        (lambda code: wire.WithdrawRequest(9, code), ["ok"], ["unknown_tournament"]),
        (lambda code: wire.DirectRequest(9, code, "pause"), ["not_organiser"], ["unknown_tournament"]),
    ],
)
def test_a_code_that_is_unknown_on_a_node_waits_for_the_log(
    request_of: Callable[[str], wire.AnyRequest], is_known: list[str], is_unknown: list[str]
) -> None:
    hall = Hall(members=Node())
    ann = hall.arrive("Ann")
    opened = Opened(hall.now_ms, Terms("Friday", "swiss", "tictactoe", MINUTE))
    hall.services.journal.direct("ABCDE", 1, [opened], lambda: None, fail)
    hall.deliver()
    assert hall.do(ann, request_of(" abcde")) == []
    hall.hear("ABCDE", opened)
    hall.settle()
    assert ann.take() == is_known
    assert hall.do(ann, request_of("ZZZZZ")) == []
    hall.settle()
    assert ann.take() == is_unknown
    assert hall.tell(ann, request_of("abcde")) == is_known
    assert hall.do(ann, wire.TournamentsRequest(9)) == ["ok", "tournamentlist"], "that waits for nothing"
    assert hall.tell(ann, wire.OrganiseRequest(9, "Friday", "swiss", MINUTE)) == ["ok", "tournamentreply"]


@pytest.mark.parametrize(("limit", "answers"), [("inquiries", [[], ["too_fast"]]), ("codes", [[], ["too_fast"]])])
def test_unknown_codes_on_a_node_count_against_limits(limit: str, answers: list[list[str]]) -> None:
    hall = Hall(members=Node(), **cast(Any, {limit: FEW}))
    ann = hall.arrive("Ann")
    for expected in answers:
        assert hall.do(ann, wire.EnterRequest(9, "ZZZZZ")) == expected
        hall.settle()
        ann.take()


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


def test_a_node_that_does_not_keep_the_lobby_takes_no_step() -> None:
    node = Node()
    hall = Hall(members=node)
    people = [hall.arrive(name) for name in ("Ann", "Bob", "Cid", "Dan")]
    code = hall.running(*people, rounds=2)
    one, two = hall.open_matches(code)
    node.keeps_lobby = False
    hall.end(one)
    hall.end(two, None, "forfeit")
    hall.later(60_000)
    assert (hall.state(code).round, hall.state(code).open_boards, hall.waiting) == (1, 0, 0)
    assert [row.gone for row in hall.state(code).standings] == [False] * 4
    node.keeps_lobby = True
    hall.later(0)
    assert hall.state(code).round == 2


# The list.


def test_the_list_is_sent_once_or_while_it_is_asked_for(hall: Hall) -> None:
    ann, bob = hall.people("Ann", "Bob")
    code = hall.organise(starts_in_s=100)
    hall.ask(ann, wire.TournamentsRequest(9))
    assert [each.tournament for each in lists(ann)[-1].tournaments] == [code]
    hall.organise(name="Another")
    hall.later(3_000)
    assert ann.take() == []
    assert hall.do(ann, wire.TournamentsRequest(9, on=True)) == ["ok", "tournamentlist"]
    hall.later(20_000)
    ann.take()
    hall.ask(bob, wire.TournamentsRequest(9, on=True))
    assert lists(bob)[-1].tournaments[0].starts_in_ms == 77_000, "a countdown is that of now"
    hall.enter_all(code, bob)
    hall.later(3_000)
    assert ann.take() == bob.take() == ["tournamentlist"]
    assert hall.do(ann, wire.TournamentsRequest(9, on=False)) == ["ok"]
    hall.organise(name="A third")
    hall.later(3_000)
    assert (ann.take(), bob.take()) == ([], ["tournamentlist"])
    hall.hub.closed(cast(Connection, bob))
    hall.organise(name="A fourth")
    hall.later(3_000)
    assert bob.take() == []


def test_the_list_has_the_newest_first_and_then_those_that_are_over(hall: Hall) -> None:
    (ann,) = hall.people("Ann")
    codes = []
    for name in ("over early", "early", "private", "over late", "late"):
        codes.append(hall.organise(name=name, private=name == "private"))
        hall.now_ms += 1_000
    for code in (codes[0], codes[3]):
        assert hall.direct(code, "end") == ["ok"]
    shown_now = hall.service.listed()
    assert [each.name for each in shown_now.tournaments] == ["late", "early", "over late", "over early"]
    assert shown_now.count == 4
    everything = hall.service.listed(has_private=True)
    assert [each.name for each in everything.tournaments] == ["late", "private", "early", "over late", "over early"]
    assert everything.count == 5
    assert [each.state for each in everything.tournaments] == ["open"] * 3 + ["over"] * 2
    hall.ask(ann, wire.TournamentsRequest(9))
    assert lists(ann)[-1] == shown_now


def test_a_long_list_is_cut() -> None:
    hall = Hall(open_tournaments=100)
    for number in range(MAX_ROWS + 1):
        hall.hear(f"C{number}", Opened(number, Terms("Friday", "swiss", "tictactoe", MINUTE)))
    shown_now = hall.service.listed()
    assert (shown_now.count, len(shown_now.tournaments)) == (MAX_ROWS + 1, MAX_ROWS)
    assert shown_now.tournaments[-1].tournament == "C1"


def test_one_who_was_behind_gets_the_list_and_the_tournament_afterwards(hall: Hall) -> None:
    ann, bob = hall.people("Ann", "Bob")
    code = hall.organise()
    hall.do(ann, wire.TournamentsRequest(9, on=True))
    hall.do(ann, wire.AttendRequest(9, code))
    ann.take()
    ann.is_behind = True
    hall.enter_all(code, bob)
    hall.later(3_000)
    assert ann.take() == []
    ann.is_behind = False
    hall.service.tick()
    assert sorted(ann.take()) == ["tournamentlist", "tournamentreply"]


def test_the_oldest_tournaments_that_are_over_are_forgotten(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tournament_service, "MAX_ENDED", 2)
    people = hall.people("Ann", "Bob")
    codes = [hall.organise(name=name) for name in ("over", "in play", "over", "open", "over")]
    hall.enter_all(codes[1], *people)
    hall.direct(codes[1], "start")
    for number in (0, 1, 2, 4):
        assert hall.direct(codes[number], "end") == ["ok"]
    hall.service.tick()
    assert [*hall.service.desks] == codes[1:]


# Limits.


def test_a_crowd_of_one_address_is_let_in_while_its_tournament_lasts() -> None:
    hall = Hall(unmetered=("192.0.3.0/24",))
    people = hall.people("Ann", "Bob", "Cid", "Dan")
    beside = hall.hello(hall.caller("192.0.0.7"), name="Eve")
    hall.deliver()
    codes = [hall.organise(per_address=most) for most in (50, 80, 60, None)]
    for code in codes[:3]:
        hall.enter_all(code, people[0], beside, people[3])
    hall.enter_all(codes[0], people[2])
    hall.enter_all(codes[3], people[1])
    hall.later(0)

    def crowds() -> list[int]:
        return [hall.services.rate_limiter.crowd_of(f"192.0.{number}.7") for number in range(4)]

    assert crowds() == [80, 0, 50, 0]
    hall.direct(codes[1], "end")
    hall.leave(people[2])
    hall.later(0)
    assert crowds() == [60, 0, 0, 0]
    hall.leave(people[0])
    hall.later(0)
    assert crowds() == [60, 0, 0, 0]
    hall.leave(beside)
    hall.later(0)
    assert crowds() == [0, 0, 0, 0]


def test_only_the_first_addresses_of_a_tournament_are_crowds() -> None:
    hall = Hall(unmetered=("192.0.0.0/24",))
    people = hall.people(*(f"Nr{number}" for number in range(MAX_CROWDS + 2)))
    code = hall.organise(per_address=50)
    hall.enter_all(code, *people)
    hall.later(0)
    crowds = [hall.services.rate_limiter.crowd_of(f"192.0.{number}.7") for number in range(MAX_CROWDS + 2)]
    assert crowds == [0, *[50] * MAX_CROWDS, 0]


REQUESTS: dict[str, tuple[Callable[[str], wire.AnyRequest], str, int]] = {
    "organise": (lambda code: wire.OrganiseRequest(9, "Friday", "swiss", MINUTE), "challenges", 1),
    "list": (lambda code: wire.TournamentsRequest(9), "inquiries", 0),
    "attend": (lambda code: wire.AttendRequest(9, code), "inquiries", 0),
    "attend no more": (lambda code: wire.AttendRequest(9, code, on=False), "inquiries", 0),
    "enter": (lambda code: wire.EnterRequest(9, code), "challenges", 1),
    "join": (lambda code: wire.JoinRequest(9, code), "challenges", 1),
    "withdraw": (lambda code: wire.WithdrawRequest(9, code), "challenges", 1),
    "direct": (lambda code: wire.DirectRequest(9, code, "pause"), "challenges", 1),
}
"""By name: a request, the limit that it counts against, and how many writes it may lead to."""


@pytest.mark.parametrize("name", REQUESTS)
@pytest.mark.parametrize("limit", ["challenges", "inquiries", "tournaments"])
def test_requests_count_against_limits(name: str, limit: str) -> None:
    hall = Hall(unmetered=(), **cast(Any, {limit: FEW}))
    (ann,) = hall.people("Ann")
    code = hall.organise(ann)
    untold = Counter[tuple[str, int | str]]()
    hall.services.rate_limiter.untold = untold
    request_of, act, writes = REQUESTS[name]
    assert hall.tell(ann, request_of(code))[0] == "ok"
    assert untold["bytes", str(ann.metered_as)] == MATCH_BYTES * writes
    is_limited = limit in (act, "tournaments" if name == "organise" else "")
    assert (hall.tell(ann, request_of(code)) == ["too_fast"]) == is_limited


@pytest.mark.parametrize("name", REQUESTS)
def test_nothing_is_written_while_the_disk_is_full(hall: Hall, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (ann,) = hall.people("Ann")
    code = hall.organise(ann)

    def may_not_write() -> None:
        raise Refusal(Code.STORAGE, "full")

    monkeypatch.setattr(hall.services.disk, "may_write", may_not_write)
    request_of, _, writes = REQUESTS[name]
    assert hall.tell(ann, request_of(code))[0] == ("storage" if writes else "ok")


@pytest.mark.parametrize("name", ["enter", "withdraw", "direct", "attend"])
def test_wrong_codes_are_counted_for_the_player(name: str) -> None:
    hall = Hall(codes=Rate(2, 600.0), unmetered=())
    ann, bob = hall.people("Ann", "Bob")
    code = hall.organise(ann)
    request_of, _, _ = REQUESTS[name]
    answers = [hall.tell(ann, request_of("WRONG")) for _ in range(4)]
    assert answers[:2] == [["unknown_tournament"]] * 2
    assert answers[3] == ["too_fast"]
    assert hall.tell(ann, request_of(f" {code.lower()} "))[0] == "ok"
    assert hall.tell(bob, request_of("WRONG")) == ["unknown_tournament"]


def test_an_unknown_code_is_looked_up_until_the_attempts_are_used_up() -> None:
    hall = Hall(codes=Rate(2, 600.0))
    (ann,) = hall.people("Ann")
    for _ in range(3):
        hall.ask(ann, wire.AttendRequest(9, "WRONG"))
    hall.settle()
    assert ann.take() == ["unknown_tournament"] * 3, "all were under way"
    assert hall.do(ann, wire.AttendRequest(9, "WRONG")) == ["too_fast"]


# Making one.


def test_a_player_makes_few_tournaments_at_a_time(hall: Hall) -> None:
    ann, bob = hall.people("Ann", "Bob")
    request = wire.OrganiseRequest(9, "Friday", "swiss", MINUTE)
    for link in (ann, bob, ann):
        assert hall.do(link, request) == []
    hall.deliver()
    assert ann.take() == ["ok", "tournamentreply"] * 2
    assert hall.do(ann, request) == []
    assert hall.do(ann, request) == ["bad_tournament"]
    hall.read_only()
    hall.deliver()
    assert ann.take() == ["storage"]
    hall.read_only(False)
    assert hall.tell(ann, request) == ["ok", "tournamentreply"]
    assert hall.tell(ann, request) == ["bad_tournament"]
    assert hall.tell(bob, request) == ["ok", "tournamentreply"]
    hall.direct(next(code for code, desk in hall.service.desks.items() if desk.now.organiser == number_of(ann)), "end")
    assert hall.tell(ann, request) == ["ok", "tournamentreply"]
    assert [each.organiser for each in hall.service.listed().tournaments].count("Ann") == 4


def test_a_server_has_so_many_open_tournaments() -> None:
    hall = Hall(open_tournaments=2)
    ann, bob, cid = hall.people("Ann", "Bob", "Cid")
    request = wire.OrganiseRequest(9, "Friday", "swiss", MINUTE)
    assert hall.tell(ann, request) == ["ok", "tournamentreply"]
    assert hall.do(bob, request) == []
    assert hall.do(cid, request) == ["bad_tournament"]
    hall.deliver()
    assert hall.do(cid, request) == ["bad_tournament"]
    hall.direct(next(iter(hall.service.desks)), "end")
    assert hall.tell(cid, request) == ["ok", "tournamentreply"]


@pytest.mark.parametrize(
    ("terms", "answer"),
    [
        ({}, None),
        ({"name": " "}, "bad_name"),
        ({"name": "a banana"}, "bad_name"),
        ({"rated": True}, "always_casual"),
        ({"rated": True, "game": "connect4"}, None),
        ({"game": "connect4"}, None),
        ({"full": 6}, None),
        ({"full": 7}, "bad_tournament"),
        ({"minutes": 5}, "bad_tournament"),
        ({"starts_in_s": 90}, None),
    ],
)
def test_a_tournament_has_the_terms_that_are_asked_for(
    terms: dict[str, Any], answer: str | None, tmp_path: Path
) -> None:
    (tmp_path / "words").write_text("banana\n")
    hall = Hall(words=tmp_path / "words", tournament_players=6)
    (ann,) = hall.people("Ann")
    fields = {"name": "Friday", "kind": "swiss", "time": MINUTE, **terms}
    hall.ask(ann, wire.OrganiseRequest(9, **fields))
    hall.settle()
    if answer is not None:
        assert ann.take() == [answer]
        assert hall.service.desks == {}
        return
    (reply,) = told(ann)
    assert reply.organiser == "Ann"
    made = hall.service.find(reply.tournament).now
    assert made.opened_ms == hall.now_ms
    starts_ms = hall.now_ms + 90_000 if "starts_in_s" in terms else None
    assert made.terms == Terms(
        name=fields["name"], kind="swiss", game=terms.get("game", "tictactoe"), time=MINUTE, most=6,
        rated=terms.get("rated", False), full=terms.get("full"), starts_ms=starts_ms,
    )  # fmt: skip


def test_a_server_may_leave_tournaments_to_its_host() -> None:
    hall = Hall(allow_tournaments=False)
    (ann,) = hall.people("Ann")
    assert hall.tell(ann, wire.OrganiseRequest(9, "Friday", "swiss", MINUTE)) == ["no_tournaments"]
    code = hall.organise()
    assert (hall.state(code).organiser, hall.service.find(code).names) == (None, {})


@pytest.mark.parametrize(("spare", "answer"), [(None, None), ("robo", "Robo"), ("Ann", Refusal), ("Nobody", Refusal)])
def test_a_spare_player_is_a_bot_that_is_here(hall: Hall, spare: str | None, answer: Any) -> None:
    hall.people("Ann")
    hall.enter(name="Robo", **BOT)
    if answer is Refusal:
        with pytest.raises(Refusal, match="no bot called") as refused:
            hall.opened(spare=spare)
        assert refused.value.code == Code.UNKNOWN_PLAYER
    else:
        assert hall.opened(spare=spare).terms.spare == answer


def test_a_code_is_that_of_one_tournament(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = iter(["AAAAA", "AAAAA", "BBBBB", "BBBBB", "AAAAA", "CCCCC"])
    monkeypatch.setattr(hall.services.rng, "choices", lambda letters, k: [*next(drawn)])
    made: list[str] = []
    hall.service.open(hall.opened(), {}, lambda desk: made.append(desk.now.id), fail)
    hall.settle()
    for _ in range(2):
        hall.service.open(hall.opened(), {}, lambda desk: made.append(desk.now.id), fail)
    hall.settle()
    assert made == ["AAAAA", "BBBBB", "CCCCC"]
    assert [*hall.service.desks] == made


@pytest.mark.parametrize(
    ("legs", "kind", "game", "expected"),
    [
        (None, "swiss", "tictactoe", 2),
        (None, "swiss", "connect4", 1),
        (None, "king", "tictactoe", 1),
        (None, "arena", "connect4", 1),
        (1, "swiss", "tictactoe", 1),
        (2, "knockout", "connect4", 2),
    ],
)
def test_a_pairing_has_two_matches_if_the_game_is_uneven(legs: Any, kind: Any, game: str, expected: int) -> None:
    assert legs_of(wire.OrganiseRequest(0, "Friday", kind, MINUTE, game, legs=legs)) == expected


# Codes.


def test_a_code_is_good_until_its_tournament_is_over(hall: Hall) -> None:
    code = hall.organise()
    answers = [hall.service.has(each) for each in (code, f" {code.lower()}", "ZZZZZ")]
    hall.direct(code, "end")
    assert [*answers, hall.service.has(code)] == [True, True, False, False]


def test_on_a_node_any_code_of_that_length_may_be_that_of_a_tournament() -> None:
    hall = Hall(members=Node())
    code = hall.organise()
    assert [hall.service.has(each) for each in (code.lower(), "zzzzz ", "ZZZZZZ")] == [True, True, False]
    hall.direct(code, "end")
    assert not hall.service.has(code)


def test_only_an_anonymous_tournament_has_a_preview() -> None:
    hall = Hall(wrong_codes=FEW, unmetered=())
    anonymous, usual = hall.organise(anonymous=True), hall.organise()
    preview = hall.service.preview
    codes = f" {anonymous.lower()} ", usual, "ZZZZZ"
    assert [preview(code, "192.0.9.7") for code in codes] == [TournamentPreview(), None, None]
    hall.services.rate_limiter.spend_of_address("wrong_codes", "192.0.9.7")
    assert [preview(anonymous, each) for each in ("192.0.9.7", "192.0.8.7")] == [None, TournamentPreview()]


@pytest.mark.parametrize(
    ("terms", "is_in", "is_over", "is_kept"),
    [
        ({"anonymous": True}, True, False, True),
        ({"anonymous": True}, False, False, False),
        ({"anonymous": True}, True, True, False),
        ({}, True, False, False),
    ],
)
def test_guests_keep_their_names_while_they_play_an_anonymous_tournament(
    hall: Hall, terms: dict[str, Any], is_in: bool, is_over: bool, is_kept: bool
) -> None:
    guest, other = hall.enter(), hall.enter()
    code = hall.organise(**terms)
    hall.enter_all(code, guest if is_in else other)
    if is_over:
        hall.direct(code, "end")
    answer = hall.tell(guest, wire.RenameRequest(9, "Ann"))
    assert ("not_in_tournament" in answer, "renamed" in answer) == (is_kept, not is_kept)


def test_only_phrases_are_said_in_matches_of_a_tournament_without_chat(hall: Hall) -> None:
    codes = hall.organise(chat=False), hall.organise(), "ZZZZZ"
    assert [hall.service.is_quiet(code) for code in codes] == [True, False, False]


# Entering, leaving, directing.


def test_players_enter_by_the_code_and_leave(hall: Hall) -> None:
    ann, bob = hall.people("Ann", "Bob")
    code = hall.organise()
    assert hall.do(ann, wire.EnterRequest(9, code)) == []
    hall.deliver()
    assert ann.take() == ["ok"]
    assert hall.tell(bob, wire.JoinRequest(9, code)) == ["ok", "tournamentreply"]
    assert scores(hall.state(code)) == {"Ann": 0, "Bob": 0}
    assert hall.tell(ann, wire.WithdrawRequest(9, code)) == ["ok"]
    assert [(row.player, row.gone) for row in hall.state(code).standings] == [("Ann", True), ("Bob", False)]
    assert hall.service.listed().tournaments[0].players == 1
    hall.direct(code, "end")
    for request in (wire.EnterRequest(9, code), wire.WithdrawRequest(9, code)):
        assert hall.tell(ann, request) == ["tournament_over"]


@pytest.mark.parametrize(
    ("terms", "is_guest", "answer"),
    [
        ({}, False, "ok"),
        ({}, True, "ok"),
        ({"rated": True, "game": "connect4"}, False, "ok"),
        ({"rated": True, "game": "connect4"}, True, "always_casual"),
        ({"anonymous": True}, False, "guests_only"),
        ({"anonymous": True}, True, "ok"),
    ],
)
def test_guests_and_others_enter_as_the_terms_allow(
    hall: Hall, terms: dict[str, Any], is_guest: bool, answer: str
) -> None:
    code = hall.organise(**terms)
    link = hall.enter() if is_guest else hall.enter(name="Ann")
    assert hall.tell(link, wire.EnterRequest(9, code)) == [answer]


def test_an_organiser_directs_their_own_tournament(hall: Hall) -> None:
    ann, bob, cid, dan = hall.people("Ann", "Bob", "Cid", "Dan")
    code, other = hall.organise(ann, rounds=3, pause_s=None), hall.organise(bob)
    hall.enter_all(code, bob, cid, dan)

    def direct(act: Any, **fields: Any) -> str:
        (answer,) = hall.tell(ann, wire.DirectRequest(9, code, act, **fields))
        return answer

    assert hall.tell(ann, wire.DirectRequest(9, other, "pause")) == ["not_organiser"]
    assert (direct("next"), direct("pause"), hall.state(code).state) == ("bad_tournament", "ok", "paused")
    assert (direct("resume"), hall.state(code).state) == ("ok", "open")
    assert (direct("start"), hall.state(code).state) == ("ok", "running")
    assert hall.state(code).round == 1
    assert direct("next") == "match_not_over"
    hall.end_round(code)
    hall.later(60_000)
    assert hall.state(code).round == 1, "the organiser begins each round"
    full: dict[str, Any] = {"round": 1, "board": 1, "result": "0-1"}
    for missing in full:
        hall.ask(ann, wire.DirectRequest(9, code, "correct", **{each: full[each] for each in full if each != missing}))
        refused = ann.heard.pop()
        assert isinstance(refused, wire.Refused)
        assert (refused.code, refused.message) == ("bad_tournament", "name the round, the board and the result")
    assert direct("correct", **full) == "ok"
    board = hall.state(code).boards[0]
    assert (board.result, board.corrected) == ("0-1", True)
    assert (direct("next"), hall.state(code).round) == ("ok", 2)
    assert (direct("end"), hall.state(code).state, hall.state(code).ended) == ("ok", "over", "ended")


@pytest.mark.parametrize(
    ("act", "name", "is_host", "answer", "names"),
    [
        ("add", "cid", False, "ok", ["Ann", "Bob", "Cid"]),
        ("add", "Dan", False, "unknown_player", ["Ann", "Bob"]),
        ("add", "dan", True, "ok", ["Ann", "Bob", "Dan"]),
        ("add", "Nobody", True, "unknown_player", ["Ann", "Bob"]),
        ("add", None, True, "unknown_player", ["Ann", "Bob"]),
        ("remove", "bob", False, "ok", ["Ann"]),
        ("remove", "bob", True, "ok", ["Ann"]),
        ("remove", "Dan", True, "unknown_player", ["Ann", "Bob"]),
        ("remove", None, False, "unknown_player", ["Ann", "Bob"]),
    ],
)
def test_an_organiser_adds_and_removes_players_and_a_host_adds_others(
    hall: Hall, act: Any, name: str | None, is_host: bool, answer: str, names: list[str]
) -> None:
    ann, bob, cid, _ = hall.people("Ann", "Bob", "Cid", "Dan")
    code = hall.organise(ann)
    hall.enter_all(code, ann, bob, cid)
    assert hall.direct(code, "remove", name="Cid") == ["ok"]
    if is_host:
        assert hall.direct(code, act, name=name) == [answer]
    else:
        assert hall.tell(ann, wire.DirectRequest(9, code, act, name=name)) == [answer]
    assert sorted(row.player for row in hall.state(code).standings if not row.gone) == names


def test_not_even_a_host_adds_one_with_a_name_to_an_anonymous_tournament(hall: Hall) -> None:
    hall.people("Ann")
    guest = hall.enter()
    code = hall.organise(anonymous=True)
    hall.enter_all(code, guest)
    assert hall.direct(code, "add", name="Ann") == ["unknown_player"]
    assert hall.direct(code, "remove", name=guest.known_as.info.name) == ["ok"]
    assert [row.gone for row in hall.state(code).standings] == [True]


# Following one.


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


def test_a_page_has_a_hundred_players(hall: Hall) -> None:
    ann, bob = hall.people("Ann", "Bob")
    code = hall.organise()
    assert [hall.state(code, page).pages for page in (1, None)] == [1, 1]
    hall.crowd(code, PAGE_ROWS)
    assert hall.state(code).pages == 1
    hall.crowd(code, 1)
    assert hall.state(code).pages == 2

    def page(link: Caller, number: int) -> tuple[int, list[str]]:
        hall.ask(link, wire.AttendRequest(9, code, page=number))
        (reply,) = told(link)
        return reply.page, [row.player for row in reply.standings]

    first = [f"Nr{number}" for number in range(1, PAGE_ROWS + 1)]
    assert page(ann, 1) == (1, first)
    assert page(bob, 2) == page(bob, 3) == (2, ["Nr101"])
    hall.later(5_000)
    hall.hear(code, TournamentPaused(hall.now_ms))
    hall.later(2_000)
    assert ([each.page for each in told(ann)], [each.page for each in told(bob)]) == ([1], [2])
    everything = hall.state(code, None)
    assert (everything.page, [row.player for row in everything.standings]) == (1, [*first, "Nr101"])
    assert everything.players == 101


def test_boards_are_shown_by_the_page(hall: Hall) -> None:
    code = hall.organise()
    hall.crowd(code, 2 * PAGE_ROWS + 4)
    boards = tuple(Board(number, 2 * number - 1, 2 * number, f"m{number}") for number in range(1, PAGE_ROWS + 3))
    hall.hear(code, Begun(0), BoardsBegan(0, 1, boards))
    shown_now = [[each.board for each in hall.state(code, page).boards] for page in (1, 2, 3, None)]
    numbers = [*range(1, PAGE_ROWS + 3)]
    assert shown_now == [numbers[:PAGE_ROWS], numbers[PAGE_ROWS:], [], numbers]
    assert hall.state(code, 3).open_boards == PAGE_ROWS + 2


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
    assert hall.tell(ann, wire.AttendRequest(9, codes[-2])) == ["ok", "tournamentreply"], "the first is long over"
    assert hall.tell(ann, wire.AttendRequest(9, codes[0], on=False)) == ["ok"]


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


def test_a_tournament_of_long_ago_is_read_once(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tournament_service, "MAX_ENDED", 1)
    (ann,) = hall.people("Ann")
    codes = [hall.organise() for _ in range(2)]
    hall.enter_all(codes[0], ann)
    for code in codes:
        hall.direct(code, "end")
    hall.service.tick()
    assert hall.do(ann, wire.AttendRequest(9, codes[0], page=7)) == []
    hall.deliver()
    (reply,) = told(ann)
    assert (reply.tournament, reply.state, reply.page, scores(reply)) == (codes[0], "over", 1, {"Ann": 0})
    assert hall.tell(ann, wire.AttendRequest(9, codes[0])) == ["ok", "tournamentreply"]


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


def test_the_new_connection_of_a_player_follows_for_itself(hall: Hall) -> None:
    old = hall.enter(name="Ann", token=TOKEN)
    code = hall.organise()
    hall.tell(old, wire.AttendRequest(9, code))
    new = hall.enter(token=TOKEN)
    hall.tell(new, wire.AttendRequest(9, code))
    hall.tell(new, wire.AttendRequest(9, code, on=False))
    hall.hub.closed(cast(Connection, old))
    assert hall.tell(new, wire.AttendRequest(9, code)) == ["ok", "tournamentreply"]
    hall.direct(code, "pause")
    hall.later(2_000)
    assert new.take() == ["tournamentreply"]


def test_names_of_players_who_may_not_enter_are_not_kept(hall: Hall) -> None:
    ann, bob, cid = hall.people("Ann", "Bob", "Cid")
    code = hall.organise(kind="knockout")
    hall.enter_all(code, ann, bob)
    hall.direct(code, "start")
    assert hall.tell(cid, wire.EnterRequest(9, code)) == ["too_late"]
    assert sorted(hall.service.find(code).names.values()) == ["Ann", "Bob"]


def test_a_new_name_is_told_where_the_player_is(hall: Hall) -> None:
    ann, bob, cid = hall.people("Ann", "Bob", "Cid")
    code, other = hall.organise(ann), hall.organise()
    hall.enter_all(code, bob)
    hall.tell(cid, wire.AttendRequest(9, code))
    for number, name in ((bob, "Robert"), (ann, "Anna")):
        hall.registry.renamed(number_of(number), name)
    hall.later(2_000)
    (reply,) = told(cid)
    assert (scores(reply), reply.organiser) == ({"Robert": 0}, "Anna")
    assert hall.service.find(other).names == {}
    assert hall.service.listed().tournaments[0].organiser in (None, "Anna")


# What is shown.


def test_a_countdown_is_that_of_now(hall: Hall) -> None:
    ann, bob = hall.people("Ann", "Bob")
    code = hall.organise(starts_in_s=100, full=5)
    hall.tell(ann, wire.AttendRequest(9, code))
    assert (hall.state(code).starts_in_ms, hall.state(code).full) == (100_000, 5)
    hall.later(40_000)
    hall.ask(bob, wire.AttendRequest(9, code))
    assert told(bob)[-1].starts_in_ms == 60_000
    assert hall.service.listed().tournaments[0].starts_in_ms == 60_000
    hall.later(60_000)
    assert hall.state(code).starts_in_ms == 0
    hall.enter_all(code, ann, bob)
    hall.later(0)
    assert (hall.state(code).state, hall.state(code).starts_in_ms, hall.state(code).full) == ("running", None, None)
    other = hall.organise(starts_in_s=100)
    hall.direct(other, "end")
    assert hall.state(other).starts_in_ms is None


def test_the_rest_before_the_next_round_is_told(hall: Hall) -> None:
    people = hall.people("Ann", "Bob", "Cid", "Dan")
    code = hall.organise(pause_s=30, rounds=2)

    def rest() -> int | None:
        return hall.state(code).next_in_ms

    hall.enter_all(code, *people)
    assert rest() is None
    hall.direct(code, "start")
    hall.now_ms += 7_000
    assert rest() is None
    one, two = hall.open_matches(code)
    hall.end(one)
    hall.now_ms += 7_000
    assert rest() is None
    hall.end(two)
    assert rest() == 30_000
    hall.later(12_000)
    assert rest() == 18_000
    hall.service.find(code).settle(one, wire.Ended(one, 2, hall.now_ms, 1, "resign"))
    assert rest() == 18_000, "that match was counted"
    hall.direct(code, "pause")
    assert rest() is None
    hall.direct(code, "resume")
    hall.now_ms += 17_999
    hall.service.tick()
    assert (rest(), hall.state(code).round) == (1, 1)
    hall.later(1)
    assert (rest(), hall.state(code).round) == (None, 2)
    hall.services.shutdown.begin(600.0, lambda: None)
    hall.end_round(code)
    assert (rest(), hall.state(code).state) == (None, "running"), "that was the last"


@pytest.mark.parametrize(
    ("terms", "is_over"),
    [({"pause_s": None}, False), ({"pause_s": 30}, True), ({"kind": "arena", "pause_s": 3}, False)],
)
def test_no_round_is_announced_that_does_not_begin_by_itself(hall: Hall, terms: dict[str, Any], is_over: bool) -> None:
    code = hall.running(*hall.people("Ann", "Bob", "Cid", "Dan"), rounds=3, **terms)
    if is_over:
        hall.direct(code, "end")
    hall.end_round(code)
    assert (hall.state(code).next_in_ms, hall.state(code).open_boards) == (None, 0)


def test_an_arena_shows_its_time_its_boards_and_its_winners(hall: Hall) -> None:
    code = hall.organise(kind="arena", minutes=10)
    assert (hall.state(code).boards, hall.state(code).ends_in_ms) == ([], None)
    hall.crowd(code, 6)
    hall.hear(code, Begun(hall.now_ms), BoardsBegan(hall.now_ms, 1, (Board(1, 1, 2, "a"), Board(2, 3, 4, "b"))))
    desk = hall.service.find(code)
    for match, winner in (("a", 0), ("b", 1)):
        desk.now.settle(match, winner, "resign")
    hall.hear(code, BoardsBegan(hall.now_ms, 1, (Board(3, 1, 4, "c"), Board(4, 5, 6, "d"))))
    reply = hall.state(code)
    assert [(each.board, each.result) for each in reply.boards] == [(3, None), (4, None), (2, "0-1"), (1, "1-0")]
    assert {row.player: row.streak for row in reply.standings if row.streak} == {"Nr1": 1, "Nr4": 1}
    assert (reply.open_boards, reply.ends_in_ms) == (2, 600_000)
    assert reply.seq == desk.now.seq + 2
    hall.hear(code, Closed(hall.now_ms, "finished", (3, 4)))
    reply = hall.state(code)
    assert (reply.state, reply.ends_in_ms) == ("over", None)
    assert [each.void for each in reply.boards] == [True, True, False, False]


def test_results_against_an_early_leaver_of_a_round_robin_are_shown_as_not_counting(hall: Hall) -> None:
    code = hall.running(*hall.people("Ann", "Bob", "Cid"), kind="round_robin", rounds=1, pause_s=None)
    hall.end_round(code)
    (board,) = hall.state(code).boards
    assert (board.result, board.void) == ("1-0", False)
    hall.direct(code, "remove", name=board.second)
    reply = hall.state(code)
    assert [(each.result, each.void) for each in reply.boards] == [("1-0", True)]
    assert [row.score for row in reply.standings] == [0, 0, 0]


def test_an_open_match_against_an_early_leaver_is_shown_as_not_counting_once_it_is_over(hall: Hall) -> None:
    code = hall.running(*hall.people("Ann", "Bob", "Cid"), kind="round_robin", rounds=1, pause_s=None)
    (board,) = hall.state(code).boards
    hall.direct(code, "remove", name=board.second)
    assert [(each.result, each.void) for each in hall.state(code).boards] == [(None, False)]
    hall.end_round(code)
    assert [(each.result, each.void) for each in hall.state(code).boards] == [("1-0", True)]


def test_a_king_of_the_table_shows_its_queue(hall: Hall) -> None:
    code = hall.organise(kind="king")
    assert hall.state(code).waiting is None
    hall.crowd(code, 3)
    assert hall.state(code).waiting == ["Nr1", "Nr2", "Nr3"]


def test_standings_are_computed_once_after_each_change(hall: Hall) -> None:
    desk = hall.service.find(hall.running(*hall.people("Ann", "Bob"), rounds=2, pause_s=60))
    before = desk.standings()
    assert desk.standings() is before
    hall.end_round(desk.now.id)
    after = desk.standings()
    assert ([row.score for row in after], desk.standings() is after) == ([2, 0], True)


def test_boards_tell_how_they_ended(hall: Hall) -> None:
    code = hall.organise(rounds=3)
    hall.crowd(code, 9)
    boards = (
        Board(1, 1, 2, "a"),
        Board(2, 3, 4, "b"),
        Board(3, 5, 6),
        Board(4, 7, 8, "c"),
        Board(5, 9),
    )
    hall.hear(code, Begun(0), BoardsBegan(0, 1, boards))
    desk = hall.service.find(code)
    desk.now.settle("b", None, "agreement")
    desk.now.settle("c", 1, "forfeit")
    hall.hear(code, Corrected(0, 1, 2, (0, 2), ""))
    assert hall.state(code).boards == [
        wire.TournamentBoard(1, "Nr1", "Nr2", "a"),
        wire.TournamentBoard(2, "Nr3", "Nr4", "b", "0-1", corrected=True),
        wire.TournamentBoard(3, "Nr5", "Nr6", None, "1-0", forfeit=True),
        wire.TournamentBoard(4, "Nr7", "Nr8", "c", "0-1", forfeit=True),
        wire.TournamentBoard(5, "Nr9", None, None, "1-0"),
    ]


def test_a_pairing_of_two_matches_shows_the_half_points_of_the_first(hall: Hall) -> None:
    code = hall.running(*hall.people("Ann", "Bob"), rounds=1, legs=2)
    (board,) = hall.state(code).boards
    assert board.legs is None
    hall.end_round(code)
    (after,) = hall.state(code).boards
    assert (after.first, after.second, after.legs, after.result) == (board.second, board.first, [0, 2], None)
    assert after.match not in (None, board.match)


# Requests in turn.


def test_requests_to_a_tournament_are_written_one_by_one(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tournament_service, "MAX_QUEUED", 2)
    ann, bob, cid, dan = hall.people("Ann", "Bob", "Cid", "Dan")
    code = hall.organise(ann)
    for link in (ann, bob, cid):
        assert hall.do(link, wire.EnterRequest(9, code)) == []
        assert hall.waiting == 1, "one is written, and others wait for it"
    assert hall.do(dan, wire.EnterRequest(9, code)) == ["too_fast"]
    hall.ledger.deliver(1)
    assert [link.take() for link in (ann, bob, cid)] == [["ok"], [], []]
    assert hall.do(dan, wire.EnterRequest(9, code)) == []
    assert hall.waiting == 1
    hall.settle()
    assert [link.take() for link in (bob, cid, dan)] == [["ok"]] * 3
    assert [*scores(hall.state(code))] == ["Ann", "Bob", "Cid", "Dan"]


def test_a_host_whose_player_is_found_when_too_many_requests_wait_is_refused(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tournament_service, "MAX_QUEUED", 1)
    ann, bob, _ = hall.people("Ann", "Bob", "Zed")
    code = hall.organise()
    answers: list[Code] = []
    add = wire.DirectRequest(0, code, "add", name="Zed")
    desk = hall.service.find(code)
    hall.service.direct(
        desk, add, lambda: fail(Refusal(Code.BUSY, "")), lambda refusal: answers.append(refusal.code), is_host=True
    )
    assert [hall.do(link, wire.EnterRequest(9, code)) for link in (ann, bob)] == [[], []]
    hall.settle()
    assert answers == [Code.TOO_FAST]
    assert [*scores(hall.state(code))] == ["Ann", "Bob"]


def test_a_request_that_is_refused_or_changes_nothing_holds_up_no_other(hall: Hall) -> None:
    ann, bob, cid = hall.people("Ann", "Bob", "Cid")
    code = hall.organise(ann)
    hall.enter_all(code, bob)
    requests: list[tuple[Caller, wire.AnyRequest, str]] = [
        (cid, wire.WithdrawRequest(9, code), "ok"),
        (ann, wire.DirectRequest(9, code, "next"), "bad_tournament"),
        (bob, wire.EnterRequest(9, code), "ok"),
        (cid, wire.EnterRequest(9, code), "ok"),
    ]
    hall.do(ann, wire.DirectRequest(9, code, "pause"))
    for link, request, _ in requests:
        assert hall.do(link, request) == []
    hall.ledger.deliver(1)
    assert [link.take() for link in (ann, bob, cid)] == [["ok", "bad_tournament"], ["ok"], ["ok"]]
    hall.deliver()
    assert cid.take() == ["ok"]
    assert hall.do(bob, wire.EnterRequest(9, code)) == ["ok"], "nothing is written"


def test_after_a_write_that_failed_the_next_request_is_carried_out(hall: Hall) -> None:
    ann, bob, cid = hall.people("Ann", "Bob", "Cid")
    code = hall.organise(ann)
    for link in (ann, bob, cid):
        hall.do(link, wire.EnterRequest(9, code))
    hall.read_only()
    hall.ledger.deliver(1)
    hall.read_only(False)
    hall.ledger.deliver(1)
    hall.ledger.deliver(1)
    assert [link.take() for link in (ann, bob, cid)] == [["storage"], ["ok"], ["ok"]]
    assert [*scores(hall.state(code))] == ["Bob", "Cid"]


@pytest.mark.parametrize("is_heard", [True, False])
@pytest.mark.parametrize("is_full", [True, False])
def test_a_request_is_decided_again_only_if_another_node_wrote_first(hall: Hall, is_heard: bool, is_full: bool) -> None:
    ann, bob, cid = hall.people("Ann", "Bob", "Cid")
    code = hall.organise(ann)
    for link in (ann, bob):
        hall.do(link, wire.EnterRequest(9, code))
    first = AppendTournament(code, 2, (Entered(hall.now_ms, 1, number_of(cid)),))
    if not is_full:
        committed(hall.ledger.database, first)
    if is_heard:
        hall.service.hear(first, {number_of(cid): "Cid"})
    hall.read_only(is_full)
    hall.ledger.deliver(1)
    hall.read_only(False)
    if is_full:
        committed(hall.ledger.database, first)
    hall.settle()
    is_good = [is_heard and not is_full, is_heard]
    assert [link.take() for link in (ann, bob)] == [["ok" if each else "storage"] for each in is_good]
    assert [*scores(hall.state(code))] == ["Cid"] * is_heard + ["Ann"] * is_good[0] + ["Bob"] * is_good[1]


def test_a_round_that_was_not_written_is_paired_anew_after_the_requests_that_wait(hall: Hall) -> None:
    people = hall.people("Ann", "Bob", "Cid")
    code = hall.running(*people, rounds=2, pause_s=1)
    hall.end_round(code)
    hall.now_ms += 1_000
    people[0].take()
    for _ in range(2):
        hall.service.tick()
        assert hall.waiting == 1, "the round is being written"
        assert hall.do(people[0], wire.WithdrawRequest(9, code)) == []
    hall.read_only()
    hall.ledger.deliver(1)
    hall.read_only(False)
    assert (hall.state(code).round, hall.waiting) == (1, 1)
    hall.ledger.deliver(1)
    assert people[0].take() == ["ok", "ok"]
    hall.settle()
    assert pairs(hall.state(code)) == [{"Bob", "Cid"}]


def test_the_step_that_another_node_was_ahead_of_is_taken_at_once(hall: Hall) -> None:
    people = hall.people("Ann", "Bob", "Cid", "Dan")
    code = hall.organise(pause_s=1, rounds=2)
    hall.enter_all(code, *people[:2])
    desk = hall.service.find(code)
    hall.direct(code, "start")
    hall.end_round(code)
    hall.now_ms += 1_000
    seq = desk.now.seq
    facts = [Entered(hall.now_ms, 3, number_of(people[2])), Entered(hall.now_ms, 4, number_of(people[3]))]
    hall.services.journal.direct(code, seq + 1, facts, lambda: None, fail)
    hall.service.tick()
    assert hall.waiting == 2
    hall.hear(code, *facts, names={number_of(people[2]): "Cid", number_of(people[3]): "Dan"})
    assert hall.waiting == 2
    hall.settle()
    assert (hall.state(code).round, len(hall.state(code).boards)) == (2, 2)


# The next step.


def test_a_tournament_begins_and_ends_by_itself(hall: Hall) -> None:
    people = hall.people("Ann", "Bob")
    code = hall.organise(full=2, rounds=1)
    hall.enter_all(code, people[0])
    assert hall.state(code).state == "open"
    hall.enter_all(code, people[1])
    assert (hall.state(code).state, hall.state(code).round) == ("running", 1)
    hall.end_round(code)
    assert (hall.state(code).state, hall.state(code).ended) == ("over", "finished")


def test_those_who_do_not_appear_are_paired_no_more(hall: Hall) -> None:
    people = hall.people("Ann", "Bob", "Cid", "Dan")
    code = hall.running(*people, rounds=2, pause_s=1)
    one, two = hall.open_matches(code)
    hall.end(one)
    loser = hall.state(code).boards[1].second
    hall.end(two, 0, "forfeit")
    assert [row.player for row in hall.state(code).standings if row.gone] == [loser]
    hall.later(999)
    assert hall.state(code).round == 1
    hall.later(1)
    assert loser not in {name for pair in pairs(hall.state(code)) for name in pair}


def test_the_end_of_a_match_is_counted_and_told_where_it_was_played(hall: Hall) -> None:
    ann, bob, cid, dan, eve = hall.people("Ann", "Bob", "Cid", "Dan", "Eve")
    codes = [hall.running(*pair, pause_s=5) for pair in ((ann, bob), (cid, dan))]
    for code in codes:
        hall.tell(eve, wire.AttendRequest(9, code))
    hall.later(2_000)
    eve.take()
    hall.end_round(codes[1])
    hall.later(2_000)
    (reply,) = told(eve)
    assert (reply.tournament, sum(scores(reply).values())) == (codes[1], 2)
    assert sum(scores(hall.state(codes[0])).values()) == 0
    hall.later(3_000)
    eve.take()
    hall.later(2_000)
    (reply,) = told(eve)
    assert (reply.tournament, reply.round, reply.open_boards) == (codes[1], 2, 1)


def test_a_request_that_comes_while_a_round_is_written_is_carried_out_then(hall: Hall) -> None:
    people = hall.people("Ann", "Bob", "Cid")
    code = hall.running(*people, rounds=2, pause_s=1)
    hall.end_round(code)
    hall.now_ms += 1_000
    hall.service.tick()
    people[0].take()
    assert hall.do(people[0], wire.WithdrawRequest(9, code)) == []
    hall.ledger.deliver(1)
    assert (hall.state(code).round, hall.waiting) == (2, 1)
    hall.ledger.deliver(1)
    assert people[0].take()[-1] == "ok"


def test_a_match_without_a_result_begins_again(hall: Hall) -> None:
    people = hall.people("Ann", "Bob")
    code = hall.running(*people, rounds=1)
    (before,) = hall.open_matches(code)
    hall.end(before, None, "abort")
    (after,) = hall.open_matches(code)
    assert (after != before, hall.state(code).round, shown(people[0])[-1].match) == (True, 1, after)


def test_no_round_begins_while_the_disk_is_full_or_the_server_is_about_to_restart(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = hall.running(*hall.people("Ann", "Bob", "Cid", "Dan"), rounds=2, pause_s=1)

    def may_not_write() -> None:
        raise Refusal(Code.STORAGE, "full")

    hall.end_round(code)
    hall.services.shutdown.begin(600.0, lambda: None)
    hall.later(2_000)
    assert hall.state(code).round == 1
    with monkeypatch.context() as full:
        full.setattr(hall.services.disk, "may_write", may_not_write)
        hall.services.shutdown.call_off()
        hall.later(2_000)
        assert hall.state(code).round == 1
    hall.later(0)
    assert hall.state(code).round == 2


def test_a_round_without_a_match_has_its_rest_too(hall: Hall) -> None:
    people = hall.people("Ann", "Bob", "Cid", "Dan")
    code = hall.running(*people, kind="round_robin", rounds=1, pause_s=10)
    for match in hall.open_matches(code):
        hall.end(match)
    first = pairs(hall.state(code))
    left = first[0]
    for link in people:
        if link.known_as.info.name in left:
            hall.tell(link, wire.WithdrawRequest(9, code))
    hall.later(10_000)
    reply = hall.state(code)
    assert (reply.round, [each.forfeit for each in reply.boards], reply.open_boards) == (2, [True, True], 0)
    assert reply.next_in_ms == 10_000
    hall.later(9_999)
    assert hall.state(code).round == 2
    hall.later(1)
    assert hall.state(code).round == 3


# Seating.


def test_each_player_of_a_round_is_seated_but_those_without_an_opponent(hall: Hall) -> None:
    people = hall.people("Ann", "Bob", "Cid")
    code = hall.organise(kind="knockout", private=True, begin_s=20)
    hall.enter_all(code, *people)
    assert hall.direct(code, "start") == ["ok"]
    reply = hall.state(code)
    assert [(each.board, each.second is None, each.match is None) for each in reply.boards] == [
        (1, True, True), (2, False, False),
    ]  # fmt: skip
    (match,) = hall.open_matches(code)
    seen = [each for link in people for each in shown(link)]
    assert [each.match for each in seen] == [match, match]
    assert {each.code for each in seen} == {code}
    assert {each.tournament for each in seen} == {wire.TournamentPlace(code, 1, 2)}
    known = hall.registry.rooms[match].match
    assert known is not None
    assert known.first_moves is not None
    assert known.first_moves.budget_ms == 20_000


def test_the_code_of_a_public_tournament_is_no_secret_of_its_matches(hall: Hall) -> None:
    people = hall.people("Ann", "Bob")
    hall.running(*people)
    assert [each.code for each in shown(people[0])] == [None]


@pytest.mark.parametrize(
    ("terms", "is_away", "is_rated"),
    [({"rated": True}, False, True), ({"rated": True}, True, False), ({}, False, False)],
)
@pytest.mark.parametrize("who", [0, 1])
def test_matches_are_rated_if_the_terms_say_so_and_both_are_here(
    hall: Hall, terms: dict[str, Any], is_away: bool, is_rated: bool, who: int
) -> None:
    people = hall.people("Ann", "Bob")
    code = hall.organise(game="connect4", **terms)
    hall.enter_all(code, *people)
    if is_away:
        hall.leave(people[who])
    hall.direct(code, "start")
    (match,) = hall.open_matches(code)
    known = hall.registry.rooms[match].match
    assert known is not None
    assert (known.is_rated, {player.name for player in known.players}) == (is_rated, {"Ann", "Bob"})


def test_those_who_are_forgotten_have_no_name(hall: Hall) -> None:
    code = hall.organise()
    hall.hear(code, Entered(0, 1, 999), Entered(0, 2, 998), names={998: "Bob"})
    assert [*scores(hall.state(code))] == ["deleted", "Bob"]
    assert hall.service.find(code).player_called("BOB") == 998
    assert hall.service.find(code).player_called("") == 999
    assert hall.service.find(code).player_called("Ann") is None
    hall.hear("ABCDE", Opened(0, Terms("Friday", "swiss", "tictactoe", MINUTE), 997))
    assert hall.state("ABCDE").organiser == "deleted"


def test_a_spare_bot_plays_while_the_number_of_players_is_odd(hall: Hall) -> None:
    people = hall.people("Ann", "Bob", "Cid", "Dan")
    robo = hall.enter(name="Robo", **BOT)
    code = hall.running(*people[:3], spare="Robo", rounds=9, pause_s=1)
    assert scores(hall.state(code)).keys() == {"Ann", "Bob", "Cid", "Robo"}
    hall.enter_all(code, people[3])
    hall.end_round(code)
    hall.later(1_000)
    assert [row.player for row in hall.state(code).standings if row.gone] == ["Robo"]
    assert len(hall.state(code).boards) == 2
    hall.tell(people[3], wire.WithdrawRequest(9, code))
    hall.leave(robo)
    hall.end_round(code)
    hall.later(1_000)
    assert {each.second for each in hall.state(code).boards} & {None, "Robo"} == {None}


@pytest.mark.parametrize("came", ["as a bot", "as a person", ""])
def test_only_a_bot_of_that_name_is_the_spare_player(hall: Hall, came: str) -> None:
    people = hall.people("Ann", "Bob", "Cid", "Dan")
    robo = hall.enter(name="Robo", **BOT)
    code = hall.organise(spare="Robo")
    hall.enter_all(code, *people[:3])
    if came == "as a person":
        hall.tell(robo, wire.RenameRequest(9, "Zed"))
        assert "renamed" in hall.tell(people[3], wire.RenameRequest(9, "Robo"))
    elif not came:
        hall.leave(robo)
    hall.direct(code, "start")
    assert ("Robo" in scores(hall.state(code))) == (came == "as a bot")


# Tournaments without rounds.


def test_free_players_of_an_arena_are_seated_after_their_rest(hall: Hall) -> None:
    people = hall.people(*(f"Nr{number}" for number in range(6)))
    code = hall.running(*people, kind="arena", minutes=60, pause_s=3)
    assert len(hall.open_matches(code)) == 3
    first, *others = hall.open_matches(code)
    for match in others:
        hall.end(match)
    for ms in (1_500, 1_499):
        hall.later(ms)
        assert hall.open_matches(code) == [first]
    hall.later(1)
    assert len(hall.open_matches(code)) == 3
    assert hall.open_matches(code)[0] == first


def test_one_who_was_away_or_busy_is_seated_once_they_are_free(hall: Hall) -> None:
    people = hall.people("Ann", "Bob", "Cid", "Dan")
    hall.ask(people[2], wire.ChallengeRequest(9, "Dan"))
    hall.ask(people[3], wire.AnswerRequest(9, people[3].numbers()[-1], True))
    hall.settle()
    elsewhere = shown(people[2])[-1].match
    code = hall.organise(kind="arena", minutes=60)
    hall.enter_all(code, *people[:3])
    hall.leave(people[1])
    hall.direct(code, "start")
    hall.later(20_000)
    assert hall.open_matches(code) == []
    hall.end(elsewhere)
    hall.later(0)
    assert pairs(hall.state(code)) == [{"Ann", "Cid"}]


def test_a_bot_plays_in_an_arena_beside_other_matches_but_once_at_a_time(hall: Hall) -> None:
    (ann,) = hall.people("Ann")
    bots = [hall.enter(name=name, **BOT) for name in ("Alf", "Ben", "Cyd", "Dot")]
    hall.ask(ann, wire.ChallengeRequest(9, "Alf"))
    hall.ask(bots[0], wire.AnswerRequest(9, bots[0].numbers()[-1], True))
    hall.settle()
    code = hall.running(*bots, kind="arena", minutes=60)
    assert len(hall.open_matches(code)) == 2
    assert {player.bot for player in shown(bots[0])[-1].players} == {"alpha"}
    hall.now_ms += 20_000
    hall.service.tick()
    assert (len(hall.open_matches(code)), hall.waiting) == (2, 0)


def test_at_a_table_one_who_is_away_loses_their_turn(hall: Hall) -> None:
    people = hall.people("Ann", "Bob", "Cid")
    code = hall.organise(kind="king")
    hall.enter_all(code, *people)
    hall.leave(people[0])
    hall.direct(code, "start")
    hall.later(PATIENCE_MS - 1)
    assert hall.state(code).waiting == ["Ann", "Bob", "Cid"]
    hall.later(1)
    assert pairs(hall.state(code)) == [{"Bob", "Cid"}] or hall.state(code).waiting == ["Bob", "Ann", "Cid"]


# Large rounds are paired in a process.


class Pairer:
    """Stands in for the process that pairs, and answers when a test says so."""

    def __init__(self, hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
        self._hall = hall
        self.asked: list[dict[str, Any]] = []
        self._answers: list[asyncio.Future[bytes]] = []
        monkeypatch.setattr(tournament_service, "answer_of", self._answer_of)

    async def _answer_of(self, command: Any, nice: int, question: bytes, limit_s: float) -> bytes:
        self.asked.append(json.loads(question))
        self._answers.append(self._hall.loop.create_future())
        return await self._answers[-1]

    def answer(self, *boards: tuple[int, int], bye: int | None = None) -> None:
        self._answers.pop(0).set_result(json.dumps([boards, bye, 0]).encode())
        self._hall.settle()

    def fail(self) -> None:
        self._answers.pop(0).set_exception(TimeoutError())
        self._hall.settle()


@pytest.fixture
def pairer(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> Pairer:
    monkeypatch.setattr(tournament_service, "INLINE", 2)
    return Pairer(hall, monkeypatch)


def test_a_process_pairs_the_large_rounds_of_a_swiss(hall: Hall, pairer: Pairer) -> None:
    people = hall.people("Ann", "Bob", "Cid")
    small = hall.running(*people[:2])
    assert (pairs(hall.state(small)), pairer.asked) == ([{"Ann", "Bob"}], [])
    hall.direct(small, "end")
    hall.running(*people, kind="round_robin", rounds=1)
    assert pairer.asked == []
    code = hall.running(*people, rounds=2, pause_s=1)
    assert (hall.state(code).round, len(pairer.asked)) == (0, 1)
    hall.later(5_000)
    assert len(pairer.asked) == 1, "one process at a time"
    pairer.answer((3, 1), bye=2)
    assert [(each.first, each.second) for each in hall.state(code).boards] == [("Cid", "Ann"), ("Bob", None)]
    hall.end_round(code)
    hall.later(1_000)
    pairer.answer((1, 2), bye=3)
    assert hall.state(code).round == 2
    assert [(each["is_last"], each["rounds_played"]) for each in pairer.asked] == [(False, 0), (True, 1)]


def test_a_process_that_fails_is_started_again_and_then_done_without(hall: Hall, pairer: Pairer) -> None:
    code = hall.running(*hall.people("Ann", "Bob", "Cid", "Dan"), rounds=3, pause_s=1)
    for count in (1, 2, 3):
        assert (len(pairer.asked), hall.state(code).round) == (count, 0)
        if count == 2:
            pairer.answer((1, 2), (1, 2))
        else:
            pairer.fail()
    assert (len(pairer.asked), hall.state(code).round) == (3, 1)
    hall.end_round(code)
    hall.later(1_000)
    assert (len(pairer.asked), hall.state(code).round) == (4, 1), "the next round is tried as often"


def test_a_pairing_of_other_players_than_those_of_now_is_dropped(hall: Hall, pairer: Pairer) -> None:
    people = hall.people("Ann", "Bob", "Cid")
    code = hall.running(*people)
    hall.direct(code, "pause")
    pairer.answer((1, 2), bye=3)
    assert (hall.state(code).round, len(pairer.asked)) == (0, 1)
    hall.direct(code, "resume")
    assert len(pairer.asked) == 2
    assert hall.do(people[0], wire.WithdrawRequest(9, code)) == []
    pairer.fail()
    assert hall.state(code).round == 1
    assert pairs(hall.state(code)) == [{"Bob", "Cid"}]


def test_no_round_begins_while_a_request_is_being_written(hall: Hall, pairer: Pairer) -> None:
    people = hall.people("Ann", "Bob", "Cid")
    code = hall.running(*people)
    hall.do(people[2], wire.WithdrawRequest(9, code))
    assert hall.waiting == 1
    pairer._answers.pop(0).set_result(b"[[[1, 2]], 3, 0]")
    hall.loop.run_until(hall.loop.time(), 1_000)
    assert hall.waiting == 1
    hall.settle()
    assert pairs(hall.state(code)) == [{"Ann", "Bob"}]
