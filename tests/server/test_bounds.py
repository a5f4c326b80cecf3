"""Each bound of accounts, matchmaking and rooms: its value, and what happens one below, at and one above it."""

from importlib import import_module
from typing import Any

import pytest

from tests.server.house import Caller, House
from ttt_net import messages as wire
from ttt_net.clock import TimeControl
from ttt_net.server.journal.entries import FileReport
from ttt_net.server.settings.configuration import Rate

BOUNDS: dict[str, dict[str, float]] = {
    "accounts": {"MIN_TOKEN": 32, "MAX_ABOUT_CELLS": 60},
    "online_players": {
        "REMEMBERED_MS": 3_600_000, "MAX_REMEMBERED": 10_000, "WAITS_MS": 60_000, "FREE_ABORTS": 3,
        "FIRST_WAIT_MS": 30_000, "MAX_WAIT_MS": 600_000, "APART_MS": 300_000,
    },
    "matchmaking.eligibility": {"BOT_PLACES": 2, "MAX_WAITING_LOOKED_AT": 200},
    "matchmaking.match_registry": {"OPENED_AT_ONCE": 20},
    "matchmaking.matchmaker": {"WAIT_S": 1.5, "MOST_WAITING": 8, "RETRY_S": 5.0},
    "matchmaking.tournament_service": {
        "CODE_LENGTH": 5, "MAX_NAME_CELLS": 40, "MAX_OF_ORGANISER": 3, "MAX_ATTENDED": 10, "MAX_ENDED": 50,
        "MAX_QUEUED": 1_000, "MAX_ROWS": 50, "LATEST": 30, "PAGE_ROWS": 100, "INLINE": 40,
    },
    "players": {"MAX_BLOCKS": 200, "MAX_MISTAKES": 200},
    "rooms.audience": {"CROWD": 100, "COUNT_S": 0.5, "MAX_TAIL": 32, "MAX_HEARD": 50},
    "rooms.chat": {"MAX_CELLS": 140, "MAX_LINES": 20, "MAX_OPEN": 2_000},
    "rooms.coach": {
        "MAX_QUESTIONS": 32, "IDLE_S": 120.0, "ANSWER_GRACE_S": 10.0, "LESSON_MS": 2_000, "MAX_JOBS": 4,
        "MAX_KEPT": 64, "ANALYSIS_GRACE_S": 30.0,
    },
    "rooms.room": {"MAX_WAITING": 8, "MAX_STRANGERS": 32, "MAX_DECISIONS": 4},
}  # fmt: skip
OFTEN = Rate(1_000_000)
ALL_OFTEN = dict.fromkeys(
    ("matches", "challenges", "chats", "blocks", "codes", "inquiries", "reports", "registrations", "tournaments"), OFTEN
)


@pytest.mark.parametrize("module", BOUNDS)
def test_bounds_have_these_values(module: str) -> None:
    found = import_module(f"ttt_net.server.{module}")
    assert {name: getattr(found, name) for name in BOUNDS[module]} == BOUNDS[module]


class Evening(House):
    """A house with limits that nobody reaches, but for the one in question."""

    def __init__(self, **limits: Any) -> None:
        super().__init__(**{**ALL_OFTEN, "max_live_matches": 100, "unmetered": ("192.0.0.0/16",), **limits})
        self.hub.recall()
        self.deliver()

    def guests(self, most: int) -> list[Caller]:
        """Let people come."""
        links = [self.hello(self.caller(f"192.0.{number}.7")) for number in range(most)]
        self.deliver()
        return links

    def pair(self, one: Caller, other: Caller) -> str:
        """Let two people play; return the match."""
        self.ask(one, wire.ChallengeRequest(9, other.known_as.info.name))
        self.ask(other, wire.AnswerRequest(9, other.numbers()[-1], True))
        self.deliver()
        return [each.match for each in one.heard if isinstance(each, wire.Snapshot)][-1]

    def answers(self, link: Caller, *requests: wire.AnyRequest) -> list[str]:
        """Ask, and return `ok` or the code of the refusal for each."""
        before = len(link.heard)
        for request in requests:
            self.ask(link, request)
        self.deliver()
        told = [each for each in link.heard[before:] if isinstance(each, wire.Ok | wire.Refused)]
        return ["ok" if isinstance(each, wire.Ok) else str(each.code) for each in told]


def one_too_many(answers: list[str], most: int, code: str) -> None:
    """Check that all are accepted up to the bound, and none beyond it."""
    assert len(answers) == most + 2
    assert answers == ["ok"] * most + [code] * 2


@pytest.mark.parametrize(("cells", "shown"), [(1, 1), (139, 139), (140, 140), (141, 140), (300, 140)])
def test_a_text_is_cut(cells: int, shown: int) -> None:
    house = Evening()
    one, other = house.guests(2)
    match = house.pair(one, other)
    house.ask(one, wire.ChatRequest(9, match, "x" * cells))
    (said,) = [each for each in other.heard if isinstance(each, wire.Chatted)]
    assert len(said.text) == shown


@pytest.mark.parametrize(("lines", "kept"), [(0, 0), (1, 1), (19, 19), (20, 20), (21, 20)])
def test_a_report_has_the_last_lines(lines: int, kept: int) -> None:
    house = Evening()
    one, other = house.guests(2)
    match = house.pair(one, other)
    for number in range(lines):
        house.ask(other, wire.ChatRequest(9, match, f"line {number}"))
    report = wire.ReportRequest(9, other.known_as.info.name, match=match)
    assert house.answers(one, report) == ["ok"]
    (entry,) = [each for each in house.ledger.entries if isinstance(each, FileReport)]
    assert [line.text for line in entry.lines] == [f"line {number}" for number in range(lines - kept, lines)]


def test_so_many_matches_are_watched_at_once() -> None:
    house = Evening()
    watcher, *people = house.guests(1 + 2 * 52)
    matches = [house.pair(*people[at : at + 2]) for at in range(0, 2 * 52, 2)]
    one_too_many(house.answers(watcher, *(wire.WatchRequest(9, match) for match in matches)), 50, "too_many_matches")
    assert house.answers(watcher, wire.UnwatchRequest(9, matches[0]), wire.WatchRequest(9, matches[51])) == ["ok", "ok"]


def test_so_many_players_are_blocked_and_muted_together() -> None:
    house = Evening()
    ann, *others = house.guests(1 + 202)
    names = [each.known_as.info.name for each in others]
    one_too_many(house.answers(ann, *(wire.BlockRequest(9, name, True) for name in names)), 200, "too_many_blocked")
    house.ask(ann, wire.BlocksRequest(9))
    house.deliver()
    (listed,) = [each for each in ann.heard if isinstance(each, wire.BlockList)]
    assert sorted(listed.blocked) == sorted(names[:200])


def test_so_many_mistakes_are_kept_and_are_listed_page_by_page() -> None:
    house = Evening(lessons=OFTEN)
    (ann,) = house.guests(1)
    moves = [[one, other] for one in range(15) for other in range(15) if one != other]
    puzzles = [wire.OwnPuzzle("mnk:15x15,5", [200], each) for each in moves[:202]]
    assert house.answers(ann, *(wire.LearnRequest(9, wire.OwnMistake(each)) for each in puzzles)) == ["ok"] * 202
    pages = []
    for page in (1, 2, 10, 11):
        house.ask(ann, wire.MistakesRequest(9, page=page))
        house.deliver()
        pages.append(next(each for each in reversed(ann.heard) if isinstance(each, wire.MistakeList)))
    assert [(each.count, each.page) for each in pages] == [(200, 1), (200, 2), (200, 10), (200, 11)]
    listed = [[each.puzzle for each in page.mistakes] for page in pages]
    assert listed == [puzzles[2:22], puzzles[22:42], puzzles[182:202], []]


def test_so_many_wait_for_a_code_while_a_match_by_it_is_written() -> None:
    house = Evening()
    host, first, *others = house.guests(2 + 10)
    house.ask(host, wire.InviteRequest(9, "tictactoe"))
    house.deliver()
    code = host.codes()[-1]
    house.ask(first, wire.JoinRequest(9, code))
    for number, link in enumerate(others):
        link.heard.clear()
        house.ask(link, wire.JoinRequest(9, code))
        assert link.take() == ([] if number < 8 else ["too_fast"])


def test_so_many_requests_of_a_player_wait_for_one_match() -> None:
    house = Evening()
    one, other = house.guests(2)
    match = house.pair(one, other)
    mover = one if [each.you for each in one.heard if isinstance(each, wire.Snapshot)][-1] == 0 else other
    waiting = other if mover is one else one
    house.ask(mover, wire.PlayRequest(9, match, 0, 4))  # the room is busy until it is written
    before = len(waiting.heard)
    for number in range(10):
        house.ask(waiting, wire.PlayRequest(100 + number, match, 9, 0))
    refused = [each.id for each in waiting.heard[before:] if isinstance(each, wire.Refused)]
    assert refused == [108, 109]
    house.deliver()
    answered = [each.id for each in waiting.heard[before:] if isinstance(each, wire.Refused)]
    assert sorted(map(int, filter(None, answered))) == [*range(100, 110)]


def test_so_many_requests_wait_for_a_match_when_a_stranger_asks() -> None:
    house = Evening()
    one, other, *strangers = house.guests(2 + 34)
    match = house.pair(one, other)
    mover = one if [each.you for each in one.heard if isinstance(each, wire.Snapshot)][-1] == 0 else other
    house.ask(mover, wire.PlayRequest(9, match, 0, 4))
    for number, link in enumerate(strangers):
        link.heard.clear()
        house.ask(link, wire.WatchRequest(9, match))
        assert link.take() == ([] if number < 32 else ["too_fast"]), number
    house.ask(one if mover is other else other, wire.PlayRequest(9, match, 1, 0))
    house.deliver()
    assert all("ok" in link.take() for link in strangers[:32])


def test_so_many_tournaments_of_one_organiser_are_open() -> None:
    house = Evening()
    (ann,) = house.guests(1)
    house.ask(ann, wire.RenameRequest(9, "Ann"))
    house.deliver()
    request = wire.OrganiseRequest(9, "Cup", "swiss", TimeControl(180_000))
    one_too_many(sorted(house.answers(ann, *[request] * 5), reverse=True), 3, "bad_tournament")
    assert house.answers(ann, request) == ["bad_tournament"]


@pytest.mark.parametrize("most", [1, 2, 5])
def test_so_many_tournaments_are_open_in_all_also_while_they_are_written(most: int) -> None:
    house = Evening(open_tournaments=most)
    for number, link in enumerate(house.guests(most + 1)):
        house.ask(link, wire.RenameRequest(9, f"P{'abcdefg'[number]}"))
        house.deliver()
        house.ask(link, wire.OrganiseRequest(9, "Cup", "swiss", TimeControl(180_000)))
        assert ([each.code for each in link.heard if isinstance(each, wire.Refused)] == []) == (number < most)
    house.deliver()
    late = house.enter(name="Late")
    assert house.answers(late, wire.OrganiseRequest(9, "Cup", "swiss", TimeControl(180_000))) == ["bad_tournament"]
    assert len(house.hub.tournaments.desks) == most


def test_a_tournament_that_could_not_be_written_does_not_count() -> None:
    house = Evening(open_tournaments=1)
    ann = house.enter(name="Ann")
    request = wire.OrganiseRequest(9, "Cup", "swiss", TimeControl(180_000))
    house.ledger.database.connection.execute("PRAGMA query_only = ON")
    assert house.answers(ann, request) == ["storage"]
    house.ledger.database.connection.execute("PRAGMA query_only = OFF")
    assert sorted(house.answers(ann, request, request)) == ["bad_tournament", "ok"]


def test_so_many_tournaments_are_followed() -> None:
    house = Evening()
    people = house.guests(5)
    codes: list[str] = []
    for number, link in enumerate(people[1:]):
        house.ask(link, wire.RenameRequest(9, f"P{'abcd'[number]}"))
        house.deliver()
        for _ in range(3):
            assert house.answers(link, wire.OrganiseRequest(9, "Cup", "swiss", TimeControl(180_000))) == ["ok"]
        codes += dict.fromkeys(each.tournament for each in link.heard if isinstance(each, wire.TournamentReply))
    assert len(codes) == 12
    one_too_many(house.answers(people[0], *(wire.AttendRequest(9, code) for code in codes)), 10, "busy")
