"""The registry of matches on simulated time: how they begin, who is told, what is counted, and what is dropped."""

import gc
import weakref
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.server.house import TOKEN, Caller
from tests.server.matchmaking.parlour import Parlour, number_of, shown
from ttt_net import messages as wire
from ttt_net.clock import TimeControl
from ttt_net.errors import Closing, Refusal, StorageError, UnknownOutcomeError
from ttt_net.server.journal.entries import AppendEvents
from ttt_net.server.matchmaking.match_registry import OPENED_AT_ONCE, Start
from ttt_net.server.settings.configuration import Rate


class Den(Parlour):
    """A parlour in which matches are played, which notes changes in the lists of the lobby, and takes turns by hand."""

    def __init__(self, **limits: Any) -> None:
        super().__init__(**limits)
        self.registry = self.hub.registry
        self.changed: Counter[str] = Counter()
        self.turns: list[Callable[[], None]] = []
        self.services.turns.join = lambda take_turn, holder=None: self.turns.append(take_turn)  # type: ignore[method-assign]
        real = self.services.feed.changed

        def note(*subjects: Any, slightly: bool = False) -> None:
            self.changed.update(each for each in subjects if not slightly)
            real(*subjects, slightly=slightly)

        self.services.feed.changed = note  # type: ignore[method-assign]


@pytest.fixture
def den() -> Den:
    return Den()


PERSON: dict[str, Any] = {}
BOT = {"bot": "alpha", "places": 9}


@pytest.mark.parametrize(
    ("one", "other", "held"), [(PERSON, BOT, 1), (BOT, PERSON, 1), (PERSON, PERSON, 0), (BOT, BOT, 0)]
)
@pytest.mark.parametrize("end", ["refused", "resigned", "left"])
def test_a_place_of_a_bot_is_held_for_the_address_of_the_person(one: Any, other: Any, held: int, end: str) -> None:
    den = Den(unmetered=())
    (ann,), (bob,) = den.people("Ann", **one), [den.enter(name="Bob", **other)]
    person = bob if one is BOT else ann
    held_by = den.services.players.bot_places.held_by
    den.ask_to_play(ann, bob)
    assert held_by(str(person.metered_as)) == held
    if end == "refused":
        den.ledger.database.connection.execute("PRAGMA query_only = ON")
        den.deliver()
    else:
        den.deliver()
        assert held_by(str(person.metered_as)) == held
        if end == "resigned":
            (match,) = den.registry.rooms
            assert "ok" in den.tell(ann, wire.ResignRequest(9, match))
        else:
            den.leave(ann)
            assert held_by(str(person.metered_as)) == held
            den.leave(bob)
    assert [held_by(str(link.metered_as)) for link in (ann, bob)] == [0, 0]


@pytest.mark.parametrize(
    ("refusal", "closing", "is_good", "is_being_spent"),
    [(StorageError("full"), Closing.FAULT, True, False), (UnknownOutcomeError("silent"), Closing.RESTART, False, True)],
)
@pytest.mark.parametrize("by_code", [True, False])
def test_players_of_a_match_that_is_not_written_reconnect_and_its_code_stays_good(
    den: Den,
    monkeypatch: pytest.MonkeyPatch,
    refusal: Refusal,
    closing: Closing,
    is_good: bool,
    is_being_spent: bool,
    by_code: bool,
) -> None:
    ann, bob = den.people("Ann", "Bob")
    den.ask(ann, wire.InviteRequest(9))
    den.deliver()
    code = ann.codes()[-1]
    failed: list[Callable[[Refusal], None]] = []
    monkeypatch.setattr(den.services.journal, "append", lambda events, done, refused, seats: failed.append(refused))
    settled: list[str] = []
    den.hub.lobby.settled = settled.append
    if by_code:
        den.ask(bob, wire.JoinRequest(9, code))
    else:
        den.ask_to_play(ann, bob)
    players = [number_of(link) for link in (ann, bob)]
    assert [den.services.players.starting[each] for each in players] == [1, 1]
    failed[0](refusal)
    assert [ann.closings, bob.closings] == [[closing], [closing]]
    assert den.services.players.starting == Counter()
    assert den.hub.lobby.is_code(code, den.now_ms) == (is_good or not by_code)
    assert den.hub.lobby.is_being_spent(code) == (is_being_spent and by_code)
    assert settled == ([code] if by_code and is_good else [])
    den.registry.renamed(players[0], "Anna")
    assert ann.known_as.info.name == "Ann", "nothing begins any more"


def test_matches_that_are_being_written_are_counted_one_by_one() -> None:
    den = Den(unmetered=())
    ann, bob, cid = den.people("Ann", "Bob", "Cid")
    for other in (bob, cid):  # the second challenge of Ann is over with the first match
        den.ask(other, wire.ChallengeRequest(9, "Ann"))
    untold = Counter[tuple[str, int | str]]()
    den.services.rate_limiter.untold = untold
    numbers = ann.numbers()
    starting = den.services.players.starting
    for number in numbers:
        den.ask(ann, wire.AnswerRequest(9, number, True))
    one, two, three = (number_of(link) for link in (ann, bob, cid))
    assert starting == Counter({one: 2, two: 1, three: 1})
    assert [untold["matches", each] for each in (one, two, three)] == [2, 1, 1]
    assert [untold["writes", str(link.metered_as)] for link in (ann, bob, cid)] == [2, 1, 1]
    assert [untold["bytes", str(link.metered_as)] for link in (ann, bob, cid)] == [1_000, 500, 500]
    den.ledger.deliver(1)
    assert dict(starting) == {one: 1, three: 1}
    den.deliver()
    assert dict(starting) == {}
    assert den.services.metrics.matches == 2


def over(link: Caller) -> list[tuple[str, int]]:
    """Return the challenges that a player was told are over, and how."""
    told = []
    for each in link.heard:
        if isinstance(each, wire.ChallengeOver):
            told.append((str(each.reason), each.challenge))
        elif isinstance(each, wire.ChallengeAccepted):
            told.append(("accepted", each.challenge))
    link.heard.clear()
    return sorted(told)


@pytest.mark.parametrize("when", ["before", "meanwhile"])
@pytest.mark.parametrize("is_bot", [False, True])
def test_a_match_that_begins_ends_the_challenges_that_would_begin_another(den: Den, when: str, is_bot: bool) -> None:
    (ann,) = den.people("Ann", **(BOT if is_bot else PERSON))
    bob, cid, dan = (den.enter(name=name) for name in ("Bob", "Cid", "Dan"))

    def challenge(by: Caller, to: Caller, game: str) -> int:
        den.ask(by, wire.ChallengeRequest(9, to.known_as.info.name, game))
        return to.numbers()[-1]

    first = challenge(ann, bob, "tictactoe")
    if when == "meanwhile":
        den.ask(bob, wire.AnswerRequest(9, first, True))
    between, out, back = challenge(bob, ann, "qubic"), challenge(ann, cid, "qubic"), challenge(dan, ann, "qubic")
    for link in (ann, bob, cid, dan):
        over(link)
    if when == "before":
        den.ask(bob, wire.AnswerRequest(9, first, True))
    else:
        den.deliver()
    accepted = [("accepted", between), *([("accepted", first)] if when == "before" else [])]
    gone = [] if is_bot else [("expired", out)]
    assert over(ann) == sorted([*accepted, *gone])
    assert over(bob) == sorted(accepted)
    assert over(cid) == gone
    assert over(dan) == []
    den.ask(dan, wire.AnswerRequest(9, back, False))
    assert over(dan), "it still waits"


def test_the_match_of_one_who_left_while_it_was_written_has_one_player_here(den: Den) -> None:
    ann, bob, cid = den.people("Ann", "Bob", "Cid")
    den.ask_to_play(ann, bob)
    den.ask(bob, wire.ChallengeRequest(9, "Cid", "qubic"))
    den.hub.closed(ann)  # type: ignore[arg-type]
    den.deliver()
    (room,) = den.registry.rooms.values()
    assert room.seats.present().count(True) == 1
    assert ("expired", cid.numbers()[-1]) in over(bob)


@pytest.mark.parametrize("has_left", [False, True])
def test_a_player_who_is_renamed_while_a_match_is_written_has_the_new_name_in_it(den: Den, has_left: bool) -> None:
    ann, bob, cid = den.people("Ann", "Bob", "Cid")
    seen: list[tuple[int, str]] = []
    den.registry.on_renamed = lambda player, name: seen.append((player, name))
    den.ask_to_play(ann, bob)
    player = number_of(ann)
    if has_left:
        den.hub.closed(ann)  # type: ignore[arg-type]
    den.registry.renamed(player, "Anna")
    den.registry.renamed(number_of(cid), "Cidonia")
    den.deliver()
    assert {each.name for each in shown(bob)[-1].players} == {"Anna", "Bob"}
    assert seen == [(player, "Anna"), (number_of(cid), "Cidonia")]
    assert "Cid" in cid.known_as.info.name
    den.registry.renamed(player, "Annabel")
    told = [each for each in bob.heard if isinstance(each, wire.PlayerRenamed)]
    assert [each.name for each in told] == ["Annabel"]
    room = den.registry.rooms[shown(bob)[-1].match]
    assert room.match is not None
    assert {each.name for each in room.match.players} == {"Annabel", "Bob"}


def test_a_player_who_is_renamed_while_their_match_is_read_has_the_new_name_in_it(den: Den) -> None:
    ann, bob = den.people("Ann", "Bob")
    cid = den.enter(name="Cid")
    match = den.begin(ann, bob)
    player = number_of(ann)
    for link in (ann, bob):
        den.leave(link)
    assert den.registry.rooms == {}
    cid.take()
    den.ask(cid, wire.WatchRequest(9, match))
    den.registry.renamed(player, "Anna")
    den.deliver()
    assert {each.name for each in shown(cid)[-1].players} == {"Anna", "Bob"}


# Matches of tournaments, which open some at a time.


def board(number: int, players: tuple[int, int], names: tuple[str, str] = ("Ann", "Bob")) -> Start:
    infos = wire.PlayerInfo(names[0]), wire.PlayerInfo(names[1])
    return wire.Started(f"board{number}", 1, 5_000_000, "tictactoe", infos), players


def turn(den: Den) -> int:
    """Take the turns that wait; return how many rooms there are."""
    waiting = den.turns.copy()
    den.turns.clear()
    for take_turn in waiting:
        take_turn()
    return len(den.registry.rooms)


@pytest.mark.parametrize(
    "count", [0, 1, OPENED_AT_ONCE - 1, OPENED_AT_ONCE, OPENED_AT_ONCE + 1, 2 * OPENED_AT_ONCE + 1]
)
def test_boards_open_some_at_a_time(den: Den, count: int) -> None:
    ann, bob = den.people("Ann", "Bob")
    starts = [board(number, (number_of(ann), number_of(bob))) for number in range(count)]
    den.registry.begin_boards(starts, 60_000)
    expected = min(count, OPENED_AT_ONCE)
    assert len(den.registry.rooms) == expected
    for _ in range(3):
        expected = min(count, expected + OPENED_AT_ONCE)
        assert turn(den) == expected
    assert [*den.registry.rooms] == [start[0].match for start in starts]
    assert den.turns == [], "nothing waits any more"


def test_more_boards_wait_behind_those_that_open(den: Den) -> None:
    ann, bob = den.people("Ann", "Bob")
    players = number_of(ann), number_of(bob)
    den.registry.begin_boards([board(number, players) for number in range(OPENED_AT_ONCE + 2)], 60_000)
    den.registry.begin_boards([board(number, players) for number in range(50, 50 + OPENED_AT_ONCE)], 60_000)
    den.registry.hold_boards(["board51"], 1)
    assert len(den.registry.rooms) == OPENED_AT_ONCE
    assert turn(den) == 2 * OPENED_AT_ONCE
    assert turn(den) == 2 * OPENED_AT_ONCE + 2
    assert turn(den) == 2 * OPENED_AT_ONCE + 2
    match = den.registry.rooms["board51"].match
    assert match is not None
    assert match.first_moves is not None
    assert match.first_moves.budget_ms == 60_000, "as it was to begin"


def test_a_board_opens_for_one_who_needs_it_or_whose_opponent_moves_elsewhere(den: Den) -> None:
    ann, bob = den.people("Ann", "Bob")
    cid = den.enter(name="Cid")
    one, two = number_of(ann), number_of(bob)
    starts = [board(number, (one, two) if number % 2 else (two, one)) for number in range(OPENED_AT_ONCE + 5)]
    den.registry.begin_boards(starts, 60_000)
    assert "board21" not in den.registry.rooms
    den.registry.renamed(one, "Anna")
    den.registry.renamed(number_of(cid), "Cidonia")
    den.ask(cid, wire.WatchRequest(9, "board21"))
    assert [each.name for each in shown(cid)[-1].players] == ["Ann", "Bob"], "those who are here have their own names"
    state = wire.Played("board22", 2, 5_000_001, 0, 1, 4)
    den.registry.hear(AppendEvents((state,)), {}, None)
    opened = den.registry.rooms["board22"].match
    assert opened is not None
    assert opened.moves == [(0, 4)]
    assert len(den.registry.rooms) == OPENED_AT_ONCE + 2
    turn(den)
    assert len(den.registry.rooms) == OPENED_AT_ONCE + 5
    assert opened.moves == [(0, 4)], "it opened once"


def test_a_board_that_waits_has_the_new_name_of_a_player_who_is_away(den: Den) -> None:
    away, two = 999, 998
    den.registry.begin_boards(
        [board(number, (away, two) if number % 2 else (two, away)) for number in range(OPENED_AT_ONCE + 2)], 60_000
    )
    den.registry.renamed(away, "Anna")
    turn(den)
    for number, names in ((20, ["Ann", "Anna"]), (21, ["Anna", "Bob"])):
        match = den.registry.rooms[f"board{number}"].match
        assert match is not None
        assert [each.name for each in match.players] == names
        assert match.first_moves is not None
        assert match.first_moves.budget_ms == 60_000


# What other nodes of a cluster have written.


def test_a_match_that_another_node_began_seats_its_players_and_spends_its_code(den: Den) -> None:
    ann, bob = den.people("Ann", "Bob")
    den.ask(ann, wire.InviteRequest(9))
    den.deliver()
    code = ann.codes()[-1]
    settled: list[str] = []
    den.hub.lobby.settled = settled.append
    players = number_of(ann), number_of(bob)
    names = {players[0]: "Ann", players[1]: "Bob"}
    infos = wire.PlayerInfo(""), wire.PlayerInfo("")
    started = wire.Started("there", 1, 5_000_000, "tictactoe", infos, private=True, code=code)
    for link in (ann, bob):
        den.ask(link, wire.SeekRequest(9, games=["qubic" if link is ann else "connect4"]))
    den.changed.clear()
    den.registry.hear(AppendEvents((started,), players), names, None)
    assert not den.hub.lobby.is_code(code, den.now_ms)
    assert [each.name for each in shown(bob)[-1].players] == ["Ann", "Bob"]
    assert len(den.hub.lobby.seeks) == 0
    assert {"seeks", "players", "live"} <= den.changed.keys()
    played = wire.Played("there", 2, 5_000_001, 0, 1, 4)
    next_one = wire.Started("there-2", 1, 5_000_003, "tictactoe", infos, previous="there", private=True, code=code)
    ended = wire.Ended("there", 3, 5_000_002, 1, "resign")
    den.registry.hear(AppendEvents((played, ended, next_one), (players[1], players[0])), names, None)
    assert shown(ann)[-1].match == "there-2"
    assert shown(ann)[-1].you == 1
    assert ann.known_as.live == {"there-2"}
    third = wire.Started("there-3", 1, 5_000_003, "tictactoe", infos)
    ended = wire.Ended("there-2", 2, 5_000_004, 1, "resign")
    den.registry.hear(AppendEvents((third, ended), players), names, None)
    assert ann.known_as.live == {"there-3"}
    assert settled == [code, code], "of matches that have one"


def test_a_match_of_a_game_that_is_not_known_here_is_only_logged(den: Den) -> None:
    (ann,) = den.people("Ann")
    infos = wire.PlayerInfo(""), wire.PlayerInfo("")
    started = wire.Started("there", 1, 5_000_000, "chess", infos)
    den.registry.hear(AppendEvents((started,), (number_of(ann), 999)), {number_of(ann): "Ann", 999: "Bob"}, None)
    assert (den.registry.rooms, ann.take()) == ({}, [])


@pytest.mark.parametrize("ratings", [None, (wire.RatingChange(1_500, 1_620), wire.RatingChange(1_500, 1_380))])
def test_the_end_of_a_match_that_is_not_in_memory_is_counted(den: Den, ratings: Any) -> None:
    ended: list[str] = []
    den.registry.on_ended = lambda match, event: ended.append(match)
    ann, bob = den.enter(name="Ann", token=TOKEN), den.enter(name="Bob", token=TOKEN[1:] + "b")
    match = den.begin(ann, bob, "connect4", time=TimeControl(60_000))
    players = den.registry.rooms[match].seats.players
    assert players is not None
    for link in (ann, bob):
        den.leave(link)
    ann, bob = den.enter(token=TOKEN), den.enter(token=TOKEN[1:] + "b")
    assert ann.known_as.live == bob.known_as.live == {match}
    assert den.registry.rooms == {}
    den.changed.clear()
    den.registry.hear(AppendEvents((wire.Played(match, 2, 5_000_001, 0, 1, 3),)), {}, None)
    assert (ended, ann.known_as.live) == ([], {match})
    den.registry.hear(AppendEvents((wire.Ended(match, 3, 5_000_002, 0, "resign"),)), {}, ratings)
    assert (ended, ann.known_as.live, bob.known_as.live) == ([match], set(), set())
    assert den.changed["players"] == den.changed["live"] == 1
    den.deliver()
    by_number = {number_of(link): link.known_as for link in (ann, bob)}
    shown_now = [by_number[player].rating_at("connect4", TimeControl(60_000)) for player in players]
    assert shown_now == ([1_500, 1_500] if ratings is None else [1_620, 1_380])
    assert den.changed["seeks"] == (ratings is not None)
    assert den.registry.rooms == {}


def test_the_end_of_a_match_that_is_being_read_is_counted(den: Den) -> None:
    ended: list[str] = []
    den.registry.on_ended = lambda match, event: ended.append(match)
    ann, bob = den.enter(name="Ann", token=TOKEN), den.enter(name="Bob")
    match = den.begin(ann, bob)
    for link in (ann, bob):
        den.leave(link)
    ann = den.enter(token=TOKEN)
    den.services.players.bot_places.hold(match, "somewhere")
    den.ask(ann, wire.ResumeRequest(9, match, 1))
    den.registry.hear(AppendEvents((wire.Ended(match, 2, 5_000_002, 0, "resign"),)), {}, None)
    assert (ended, ann.known_as.live) == ([match], set())
    assert den.services.players.bot_places.held_by("somewhere") == 0


def test_an_end_without_players_here_and_a_match_that_cannot_be_read_are_no_fault(den: Den) -> None:
    ratings = wire.RatingChange(1_500, 1_620), wire.RatingChange(1_500, 1_380)
    den.registry.hear(AppendEvents((wire.Ended("there", 3, 5_000_002, 0, "resign"),)), {}, ratings)
    den.deliver()
    ann, bob = den.people("Ann", "Bob")
    match = den.begin(ann, bob, "connect4", time=TimeControl(60_000))
    for link in (ann, bob):
        den.leave(link)
    den.registry.hear(AppendEvents((wire.Ended(match, 2, 5_000_002, 0, "resign"),)), {}, ratings)
    den.deliver()


@pytest.mark.parametrize(
    ("previous", "has_code", "is_good"), [(None, True, True), (None, False, False), ("before", True, False)]
)
def test_a_code_is_good_again_if_the_match_by_it_did_not_begin_after_all(
    den: Den, previous: str | None, has_code: bool, is_good: bool
) -> None:
    ann, bob = den.people("Ann", "Bob")
    den.ask(ann, wire.InviteRequest(9))
    den.deliver()
    code = ann.codes()[-1]
    den.ask(bob, wire.JoinRequest(9, code))
    assert den.hub.lobby.is_being_spent(code)
    infos = wire.PlayerInfo(""), wire.PlayerInfo("")
    ended = wire.Ended("before", 3, 5_000_002, 0, "resign")
    started = wire.Started(
        "m", 1, 5_000_000, "tictactoe", infos, previous=previous, private=True, code=code if has_code else None
    )
    settled: list[str] = []
    den.hub.lobby.settled = settled.append
    den.registry.refused(AppendEvents((ended,)))
    den.registry.refused(AppendEvents((ended, started), (1, 2)))
    assert den.hub.lobby.is_code(code, den.now_ms) == is_good
    assert settled == ([code] if is_good else [])


# Rooms.


@pytest.mark.parametrize(("is_own", "answers"), [(True, ["ok"] * 4), (False, ["ok", "ok", "too_fast", "too_fast"])])
def test_matches_that_must_be_read_are_counted_unless_they_are_one_s_own_live_ones(
    is_own: bool, answers: list[str]
) -> None:
    den = Den(inquiries=Rate(2, 60.0))
    ann, bob = den.enter(name="Ann", token=TOKEN), den.enter(name="Bob")
    matches = [den.begin(ann, bob) for _ in range(4)]
    for link in (ann, bob):
        den.leave(link)
    reader = den.enter(token=TOKEN) if is_own else den.enter(name="Cid")
    told = []
    for match in matches:
        asked = wire.ResumeRequest(9, match, 1) if is_own else wire.WatchRequest(9, match)
        told.append(den.tell(reader, asked)[0])
    assert told == answers


def test_the_public_live_matches_of_a_player_are_told_in_order(den: Den) -> None:
    ann, bob = den.people("Ann", "Bob")
    cid = den.enter(name="Cid")
    matches = [den.begin(ann, other) for other in (bob, cid, bob)]
    den.ask(ann, wire.InviteRequest(9))
    den.deliver()
    den.tell(bob, wire.JoinRequest(9, ann.codes()[-1]))
    assert len(ann.known_as.live) == 4
    assert den.registry.live_of(ann.known_as) == sorted(matches)
    den.tell(ann, wire.ResignRequest(9, matches[1]))
    ann.known_as.began("not in memory")
    assert den.registry.live_of(ann.known_as) == sorted({*matches} - {matches[1]})


def test_a_match_that_begins_ends_the_audience_of_those_that_are_over(den: Den) -> None:
    ann, bob = den.people("Ann", "Bob")
    cid, dan = den.enter(name="Cid"), den.enter(name="Dan")
    over_now, live, watched = den.begin(ann, bob), den.begin(ann, cid), den.begin(cid, dan)
    den.tell(ann, wire.WatchRequest(9, watched))
    den.tell(ann, wire.ResignRequest(9, over_now))
    den.tell(cid, wire.ResignRequest(9, watched))
    bob.take()
    new = den.begin(ann, dan)
    assert {*ann.known_as.rooms} == {live, watched, new}
    assert [each.online for each in bob.heard if isinstance(each, wire.Presence)] == [False]
    assert {*den.registry.rooms} == {over_now, live, watched, new}


def test_one_who_leaves_a_match_that_is_not_in_memory_has_left_it(den: Den) -> None:
    (ann,) = den.people("Ann")
    ann.known_as.enter("nowhere")
    den.registry.leave(ann.known_as, "nowhere")
    assert {*ann.known_as.rooms} == set()


@pytest.mark.parametrize("is_replaced", [False, True])
def test_the_others_are_told_whether_a_player_left_or_changed_devices(den: Den, is_replaced: bool) -> None:
    ann, bob = den.people("Ann", "Bob")
    match = den.begin(ann, bob, "gomoku")
    den.play(match, ann, bob, plies=2)
    ann.left_on_purpose = True
    bob.take()
    den.ask(bob, wire.PingRequest(9))
    bob.heard.clear()
    den.registry.leave(ann.known_as, match, is_replaced=is_replaced)
    (told,) = [each for each in bob.heard if isinstance(each, wire.Presence)]
    assert told.away is not None
    assert told.away.on_purpose != is_replaced
    assert {*ann.known_as.rooms} == set()


def test_a_room_is_dropped_with_the_last_of_its_audience(den: Den) -> None:
    ann, bob = den.people("Ann", "Bob")
    cid = den.enter(name="Cid")
    one, two = den.begin(ann, bob), den.begin(ann, cid)
    rooms = [weakref.ref(den.registry.rooms[match]) for match in (one, two)]
    den.leave(bob)
    den.leave(cid)
    den.tell(ann, wire.ResignRequest(9, one))
    den.changed.clear()
    den.begin(ann, den.enter(name="Dan"))
    den.later(300_000)  # until then, the loop keeps the timers that were cancelled
    gc.collect()
    assert one not in den.registry.rooms
    assert (rooms[0]() is None, rooms[1]() is None) == (True, False)
    assert den.changed["live"] == 2, "for a match that begins, and for the room that is gone"
    den.registry.renamed(number_of(ann), "Anna")
    room = rooms[1]()
    assert room is not None
    assert room.match is not None
    assert "Anna" in {each.name for each in room.match.players}
    del room
    den.leave(ann)
    den.later(300_000)
    gc.collect()
    assert rooms[1]() is None
    assert two not in den.registry.rooms


# After a match.


@pytest.mark.parametrize(
    ("prepare", "code"),
    [
        ("", None),
        ("left", "opponent_gone"),
        ("elsewhere", "opponent_gone"),
        ("busy", "too_many_matches"),
        ("restart", "restarting"),
        ("blocked", "not_welcome"),
        ("blocks", "not_welcome"),
    ],
)
def test_a_rematch_begins_if_both_are_there_and_may_play(prepare: str, code: str | None) -> None:
    den = Den(max_live_matches=1)
    ann, bob = den.people("Ann", "Bob")
    cid = den.enter(name="Cid")
    match = den.begin(ann, bob)
    den.tell(ann, wire.ResignRequest(9, match))
    den.tell(ann, wire.OfferRequest(9, match, "rematch"))
    if prepare == "left":
        den.leave(ann)
    elif prepare == "elsewhere":
        new = den.begin(ann, cid)
        den.tell(ann, wire.ResignRequest(9, new))
    elif prepare == "busy":
        den.ask_to_play(ann, cid)
    elif prepare == "restart":
        den.services.shutdown.begin(60.0, lambda: None)
    elif prepare:
        by, to = (ann, "Bob") if prepare == "blocks" else (bob, "Ann")
        den.tell(by, wire.BlockRequest(9, to, True))
    for link in (ann, bob) if not prepare else ():
        den.ask(link, wire.SeekRequest(9, games=["qubic" if link is ann else "connect4"]))
    bob.take()
    den.changed.clear()
    den.ask(bob, wire.OfferRequest(9, match, "rematch"))
    starting = dict(den.services.players.starting)
    if code is not None:
        assert bob.take() == [code]
    else:
        assert starting == {number_of(ann): 1, number_of(bob): 1}
        assert len(den.hub.lobby.seeks) == 0
        assert den.changed["seeks"] == 1
        den.deliver()
        assert shown(bob)[-1].previous == match
        assert {shown(link)[-1].you for link in (ann, bob)} == {0, 1}
        assert den.services.players.starting == Counter()


@pytest.mark.parametrize("against_bot", [False, True])
def test_an_abort_is_counted_for_the_person_who_aborts_a_match_of_people(den: Den, against_bot: bool) -> None:
    ann = den.enter(name="Ann")
    bob = den.enter(name="Bob", **(BOT if against_bot else PERSON))
    untold = Counter[tuple[str, int | str]]()
    den.services.rate_limiter.untold = untold
    one, two = number_of(ann), number_of(bob)
    aborts = den.services.aborts
    for count in (1, 2):
        match = den.begin(ann, bob)
        den.changed.clear()
        assert "ok" in den.tell(ann, wire.AbortRequest(9, match))
        assert den.changed["players"] == den.changed["live"] == 1
        assert aborts.are_apart(one, two, den.now_ms) != against_bot
        assert [aborts.count(each, den.now_ms) for each in (one, two)] == [0 if against_bot else count, 0]
        assert [untold["aborts", each] for each in (one, two)] == [0 if against_bot else count, 0]
        assert (ann.known_as.live, bob.known_as.live) == (set(), set())


def test_the_abort_of_one_who_is_away_is_known_to_all_nodes_and_not_told(den: Den) -> None:
    ann, bob = den.people("Ann", "Bob")
    untold = Counter[tuple[str, int | str]]()
    den.services.rate_limiter.untold = untold
    match = den.begin(ann, bob)
    one, two = number_of(ann), number_of(bob)
    den.leave(ann)
    assert "ok" in den.tell(bob, wire.AbortRequest(9, match))
    assert [den.services.aborts.count(each, den.now_ms) for each in (one, two)] == [1, 0]
    assert untold["aborts", one] == untold["aborts", two] == 0


@pytest.mark.parametrize("reason", ["resign", "abandon"])
def test_a_match_that_is_abandoned_counts_for_the_one_who_is_away(den: Den, reason: str) -> None:
    ann, bob = den.people("Ann", "Bob")
    match = den.begin(ann, bob, "gomoku")
    den.play(match, ann, bob, plies=4)
    players = [number_of(link) for link in (ann, bob)]
    den.leave(ann)
    den.now_ms += 120_000
    asked = wire.ResignRequest(9, match) if reason == "resign" else wire.ClaimRequest(9, match, "win")
    assert "ok" in den.tell(bob, asked)
    counts = [den.services.abandons.count(player, den.now_ms) for player in players]
    assert counts == [int(reason == "abandon"), 0]
    assert bob.known_as.live == set()


def test_only_the_ends_of_matches_of_tournaments_are_passed_on(den: Den) -> None:
    ended: list[str] = []
    den.registry.on_ended = lambda match, event: ended.append(match)
    ann, bob = den.people("Ann", "Bob")
    usual = den.begin(ann, bob)
    den.tell(ann, wire.ResignRequest(9, usual))
    assert ended == []
    infos = wire.PlayerInfo(""), wire.PlayerInfo("")
    place = wire.TournamentPlace("ABCDE", 1, 1)
    started = wire.Started("board", 1, 5_000_000, "tictactoe", infos, tournament=place)
    players = number_of(ann), number_of(bob)
    den.services.journal.append([started], lambda _: None, lambda _: None, players)
    den.deliver()
    den.registry.begin_boards([(started, players)], 60_000)
    assert "ok" in den.tell(ann, wire.ResignRequest(9, "board"))
    assert ended == ["board"]


@pytest.mark.parametrize("end", ["resign", "adjourn", "elsewhere"])
def test_a_bot_that_has_a_free_place_again_meets_one_who_waits(den: Den, end: str) -> None:
    ann, bob = den.people("Ann", "Bob")
    robo = den.enter(name="Robo", bot="alpha", places=2)
    match = den.begin(ann, robo, "gomoku")
    den.play(match, ann, robo, plies=4)
    assert den.tell(robo, wire.SeekRequest(9, games=["gomoku"])) == ["ok"]
    robo.known_as.offer_places(1, 0)
    assert den.tell(bob, wire.SeekRequest(9, games=["gomoku"])) == ["ok"]
    if end == "resign":
        den.ask(ann, wire.ResignRequest(9, match))
    elif end == "adjourn":
        den.leave(ann)
        den.now_ms += 120_000
        assert "ok" in den.tell(robo, wire.ClaimRequest(9, match, "adjourn"))
    else:
        for link in (ann, robo):
            den.registry.leave(link.known_as, match)
        assert match not in den.registry.rooms
        den.registry.hear(AppendEvents((wire.Ended(match, 6, 5_000_002, 0, "resign"),)), {}, None)
    den.deliver()
    assert {each.name for each in shown(bob)[-1].players} == {"Bob", "Robo"}


@pytest.mark.parametrize("is_restarting", [False, True])
@pytest.mark.parametrize("is_read", [False, True])
def test_seeks_that_fit_by_a_new_rating_are_paired(den: Den, is_restarting: bool, is_read: bool) -> None:
    ann, bob, cid = den.people("Ann", "Bob", "Cid")
    minute = TimeControl(60_000)
    match = den.begin(ann, bob, "connect4", time=minute, rated=True)
    first = shown(ann)[-1].you == 0
    assert den.tell(ann, wire.SeekRequest(9, games=["connect4"], time=minute)) == ["ok"]
    assert den.tell(cid, wire.SeekRequest(9, games=["connect4"], time=minute, min_rating=1_600, max_rating=1_700)) == [
        "ok"
    ]
    if not is_read:
        for link in (ann, bob):
            den.registry.leave(link.known_as, match)
    if is_restarting:
        den.services.shutdown.begin(60.0, lambda: None)
    up, down = wire.RatingChange(1_500, 1_620), wire.RatingChange(1_500, 1_380)
    ended = wire.Ended(match, 2, 5_000_002, 0 if first else 1, "resign")
    den.registry.hear(AppendEvents((ended,)), {}, (up, down) if first else (down, up))
    den.deliver()
    assert [{each.name for each in told.players} for told in shown(cid)] == ([] if is_restarting else [{"Ann", "Cid"}])


def test_players_of_a_match_are_listed_behind_those_who_have_time(den: Den) -> None:
    cid, ann, bob = den.people("Cid", "Ann", "Bob")

    def in_order() -> list[str]:
        return [each.info.name for each in den.services.players.by_leisure(9)]

    den.ask(ann, wire.LobbyRequest(9, True))
    den.changed.clear()
    den.ask_to_play(ann, bob)
    assert (den.changed["seeks"], den.changed["players"]) == (1, 1)
    den.deliver()
    match = shown(ann)[-1].match
    assert in_order()[0] == "Cid"
    ann.take()
    den.ask(cid, wire.SeekRequest(9, games=["qubic"]))
    den.later(5_000)
    assert ann.take() == [], "lists are not sent to one who plays"
    den.tell(ann, wire.ResignRequest(9, match))
    assert set(in_order()[:2]) == {"Ann", "Bob"}, "the last first"
    match = den.begin(ann, bob)
    assert in_order()[0] == "Cid"
    for link in (ann, bob):
        den.registry.leave(link.known_as, match)
    den.begin(cid, den.enter(name="Dan"))
    den.registry.hear(AppendEvents((wire.Ended(match, 2, 5_000_002, 0, "resign"),)), {}, None)
    assert set(in_order()[:2]) == {"Ann", "Bob"}


@pytest.mark.parametrize("by_code", [True, False])
def test_a_code_is_spent_by_the_match_that_begins_with_it(den: Den, by_code: bool) -> None:
    ann, bob = den.people("Ann", "Bob")
    den.ask(ann, wire.InviteRequest(9))
    den.deliver()
    code = ann.codes()[-1]
    settled: list[str] = []
    den.hub.lobby.settled = settled.append
    if by_code:
        den.ask(bob, wire.JoinRequest(9, code))
        assert den.hub.lobby.is_being_spent(code)
    else:
        den.ask_to_play(ann, bob)
    den.deliver()
    assert not den.hub.lobby.is_being_spent(code)
    assert den.hub.lobby.is_code(code, den.now_ms) != by_code
    assert settled == ([code] if by_code else [])


def test_boards_of_before_a_restart_are_read_and_kept() -> None:
    den = Den(max_live_matches=100)
    ann, bob = den.people("Ann", "Bob")
    matches = [den.begin(ann, bob) for _ in range(OPENED_AT_ONCE + 1)]
    player = number_of(ann)
    for link in (ann, bob):
        den.leave(link)
    assert den.registry.rooms == {}
    den.registry.hold_boards(matches, 60_000)
    den.registry.renamed(player, "Anna")
    den.deliver()
    assert len(den.registry.rooms) == OPENED_AT_ONCE
    turn(den)
    den.deliver()
    assert [*den.registry.rooms] == matches
    for room in den.registry.rooms.values():
        assert room.match is not None
        assert room.match.first_moves is not None
        assert room.match.first_moves.budget_ms == 60_000


def test_a_room_of_no_match_is_dropped(den: Den) -> None:
    (ann,) = den.people("Ann")
    ann.known_as.enter("forgotten")
    den.ask(ann, wire.WatchRequest(9, "nowhere"))
    (room,) = [weakref.ref(each) for each in den.registry.rooms.values()]
    den.deliver()
    assert ann.take() == ["unknown_match"]
    den.later(300_000)
    gc.collect()
    assert (den.registry.rooms, room()) == ({}, None)
    den.begin(ann, den.enter(name="Bob"))
    assert ann.known_as.live


def test_an_old_room_of_a_match_does_not_drop_the_new_one(den: Den) -> None:
    ann, bob = den.people("Ann", "Bob")
    cid = den.enter(name="Cid")
    match = den.begin(ann, bob)
    old = den.registry.rooms[match]
    for link in (ann, bob):
        den.leave(link)
    assert den.registry.rooms == {}
    assert den.tell(cid, wire.WatchRequest(9, match))[0] == "ok"
    new = den.registry.rooms[match]
    old.hear([wire.Played(match, 2, 5_000_001, 0, 1, 4)], None)
    assert den.registry.rooms == {match: new}


def test_an_abort_that_another_node_wrote_is_counted_for_nobody(den: Den) -> None:
    ann, bob = den.people("Ann", "Bob")
    players = number_of(ann), number_of(bob)
    match = den.begin(ann, bob)
    den.registry.hear(AppendEvents((wire.Ended(match, 2, 5_000_002, None, "abort"),)), {}, None)
    assert [den.services.aborts.count(each, den.now_ms) for each in players] == [0, 0]
    assert den.services.aborts.are_apart(*players, den.now_ms)
    den.now_ms += 1_000_000
    match = den.begin(ann, bob)
    den.tell(ann, wire.ResignRequest(9, match))
    assert not den.services.aborts.are_apart(*players, den.now_ms), "that was no abort"


def test_one_who_leaves_is_told_of_to_those_they_have_challenged(den: Den) -> None:
    ann, bob = den.people("Ann", "Bob")
    den.ask(ann, wire.ChallengeRequest(9, "Bob"))
    number = bob.numbers()[-1]
    bob.heard.clear()
    den.leave(ann)
    assert over(bob) == [("gone", number)]
