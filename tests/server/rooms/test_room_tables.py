"""One match at a time on simulated time: what waits, what is read, what cannot be written, and what is listed."""

import random
from collections import Counter
from collections.abc import Callable
from typing import Any, cast

import pytest
from msgspec.structs import replace

from tests.server.house import TOKEN, Caller, Members
from tests.server.matchmaking.parlour import number_of, shown
from tests.server.rooms.board import BOT, MINUTE, Board, refusals
from ttt_net import messages as wire
from ttt_net.errors import Code, Overtaken, Refusal, StorageError, UnknownOutcomeError
from ttt_net.server.admission.rate_limiter import EVENT_BYTES
from ttt_net.server.journal import past
from ttt_net.server.journal.entries import AppendEvents
from ttt_net.server.rooms import room as rooms
from ttt_net.server.rooms.room import MAX_DECISIONS, MatchRoom

# What waits.


def test_requests_wait_while_one_is_written_and_are_answered_in_their_order(board: Board) -> None:
    ann, bob = board.people("Ann", "Bob")
    match = board.begin(ann, bob)
    first, second = board.by_side(match, ann, bob)
    for link in (first, second):
        link.take()
    for link, ply, move in ((first, 0, 4), (second, 1, 4), (second, 1, 0), (first, 2, 8)):
        board.ask(link, wire.PlayRequest(9, match, ply, move))
        assert (first.take(), second.take()) == ([], [])
    for count, told in enumerate(
        ((["ok", "played"], ["played", "cell_taken"]), (["played"], ["ok", "played"]), (["ok", "played"], ["played"])),
        1,
    ):
        board.ledger.deliver(1)
        assert (first.take(), second.take()) == told
        assert board.services.metrics.moves == count
    assert board.tell(first, wire.PlayRequest(9, match, 2, 8)) == ["ok"], "it was made, and is not made again"
    assert board.services.metrics.moves == 3
    assert not board.room(match).is_busy
    assert board.tell(first, wire.ResignRequest(9, match)) == ["ok", "ended"]
    assert board.services.metrics.moves == 3, "that was no move"
    assert (board.room(match).is_live, board.room(match).is_listed) == (False, False)


def test_so_many_requests_wait_of_each_and_of_those_who_do_not_play(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "MAX_WAITING", 2)
    monkeypatch.setattr(rooms, "MAX_STRANGERS", 3)
    board, dice = Board(), random.Random(1)
    ann, bob, eve, fay = links = board.people("Ann", "Bob", "Eve", "Fay")
    match = board.begin(ann, bob, "gomoku")
    movers = board.by_side(match, ann, bob)
    seen = Counter[str]()
    for ply in range(60):
        board.ask(movers[ply % 2], wire.PlayRequest(9, match, ply, 11 * ply % 225))
        waiting = Counter[Caller]()
        for link in links:
            link.heard.clear()
        for _ in range(10):
            link = dice.choice((ann, bob, eve, fay, fay))
            is_player, is_watching = link in (ann, bob), dice.random() < 0.7
            request = wire.UnwatchRequest(9, match) if is_watching else wire.DeclineRequest(9, match, "draw")
            if not is_player and not is_watching:
                expected = ["not_seated"]
            elif waiting[link] >= 2 or (not is_player and sum(waiting.values()) >= 3):
                expected = ["too_fast"]
            else:
                expected = []
                waiting[link] += 1
            assert board.do(link, request) == expected
            seen.update(expected)
        board.deliver()
        for link in links:
            assert sum(isinstance(each, wire.Refused) for each in link.heard) == waiting[link]
    assert min(seen["not_seated"], seen["too_fast"]) > 30


def test_a_match_that_is_read_may_be_asked_by_anybody_until_its_players_are_known(
    board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms, "MAX_STRANGERS", 2)
    ann = board.enter(name="Ann", token=TOKEN)
    bob, eve = board.people("Bob", "Eve")
    match = board.begin(ann, bob)
    for link in (ann, bob):
        board.leave(link)
    ann = board.enter(token=TOKEN)
    for link in (ann, eve):
        link.take()
    board.ask(eve, wire.ResumeRequest(9, match, 0))
    board.registry.renamed(number_of(eve), "Eva")
    board.ask(ann, wire.ResumeRequest(9, match, 0))
    assert board.do(ann, wire.ResumeRequest(9, match, 0)) == ["too_fast"], "nobody is known as a player yet"
    assert board.reads == ["beside"]
    board.deliver()
    assert (eve.take(), ann.take()) == (["not_seated"], ["ok", "snapshot"])


def test_a_request_of_a_closed_connection_is_skipped_and_the_next_is_carried_out(board: Board) -> None:
    ann, bob = board.people("Ann", "Bob")
    eve = board.enter(name="Eve")
    match = board.begin(ann, bob)
    first, second = board.by_side(match, ann, bob)
    board.ask(first, wire.PlayRequest(9, match, 0, 4))
    board.ask(second, wire.ResignRequest(9, match))
    eve.take()
    board.ask(eve, wire.WatchRequest(9, match))
    second.is_open = False
    board.deliver()
    assert eve.take() == ["ok", "snapshot", "watching"]
    assert board.is_over(match) is None


def test_time_is_charged_from_the_arrival_of_a_request_and_not_for_the_disk(board: Board) -> None:
    ann, bob = board.people("Ann", "Bob")
    match = board.begin(ann, bob, time=MINUTE)
    first, second = board.by_side(match, ann, bob)
    board.play(match, ann, bob, plies=2)

    def left_ms() -> tuple[int, int]:
        found = board.room(match).match
        assert found is not None
        assert found.clock is not None
        return found.clock.read(board.now_ms)

    board.go(10_000)
    board.room(match).request(first.known_as, wire.PlayRequest(9, match, 2, 2), board.now_ms - 4_000)
    board.pass_by(20_000)
    assert left_ms()[1] == 60_000
    board.deliver()
    assert left_ms() == (54_000, 60_000), "a move that came after 6 s, and a disk that took 20"
    board.go(5_000)
    assert board.tell(second, wire.OfferRequest(9, match, "draw")) == ["ok", "offered"]
    assert left_ms() == (54_000, 55_000), "an offer gives no time back"
    board.go(5_000)
    assert board.tell(first, wire.OfferRequest(9, match, "takeback")) == ["ok", "offered"]
    board.ask(second, wire.AgreeRequest(9, match, 6))
    board.pass_by(5_000)
    board.deliver()
    assert left_ms() == (54_000, 50_000), "neither has time for the disk that wrote the takeback"
    board.go(1_000)
    assert left_ms() == (53_000, 50_000)


def test_what_is_written_is_counted_for_an_address_and_refused_without_room_on_the_disk() -> None:
    board = Board(unmetered=())
    ann, bob = board.people("Ann", "Bob")
    match = board.begin(ann, bob)
    first, second = board.by_side(match, ann, bob)
    untold = board.services.rate_limiter.untold = Counter()
    for ply, (link, move) in enumerate(((first, 0), (second, 3), (first, 1), (second, 4), (first, 2))):
        assert "ok" in board.tell(link, wire.PlayRequest(9, match, ply, move))
    assert board.is_over(match) == ("line", 0)
    assert [untold["writes", str(link.metered_as)] for link in (first, second)] == [3, 2]
    assert [untold["bytes", str(link.metered_as)] // EVENT_BYTES for link in (first, second)] == [4, 2], "with the end"
    match = board.begin(ann, bob)

    def may_write() -> None:
        raise Refusal(Code.STORAGE, "there is no room")

    board.services.disk.may_write = may_write  # type: ignore[method-assign]
    assert board.tell(ann, wire.ResignRequest(9, match)) == ["storage"]
    assert board.is_over(match) is None


def test_the_time_of_a_move_is_measured(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(board.services), "stopwatch_s", property(lambda _: board.loop.time))
    ann, bob = board.people("Ann", "Bob")
    match = board.begin(ann, bob)
    first, _ = board.by_side(match, ann, bob)
    board.go(50_000)
    board.ask(first, wire.PlayRequest(9, match, 0, 4))
    board.go(2_000)
    assert board.services.metrics.move_s.total == pytest.approx(2.0)


# What is read, and what cannot be written.


@pytest.mark.parametrize(
    ("reader", "way"), [("own", "in order"), ("stranger", "beside"), ("faulty", "in order"), ("held", "in order")]
)
def test_a_match_is_read_beside_the_writes_only_for_one_who_does_not_play(board: Board, reader: str, way: str) -> None:
    ann = board.enter(name="Ann", token=TOKEN)
    bob, eve = board.people("Bob", "Eve")
    match = board.begin(ann, bob)
    if reader == "faulty":
        board.break_disk()
        board.tell(ann, wire.ResignRequest(9, match))
        board.break_disk(False)
        assert board.room(match).known is None
    else:
        board.tell(ann, wire.ResignRequest(9, match)) if reader == "stranger" else None
        for link in (ann, bob):
            board.leave(link)
    assert board.reads == []
    if reader == "held":
        board.registry.hold_boards([match], 60_000)
        board.registry.room(match).hold(60_000)
    elif reader == "own":
        ann = board.enter(token=TOKEN)
        assert board.tell(ann, wire.ResumeRequest(9, match, 0))[0] == "ok"
    else:
        assert board.tell(eve, wire.WatchRequest(9, match))[0] == "ok"
        board.reads *= 1
    board.deliver()
    assert board.reads == [way], "once"
    assert board.room(match).known is not None
    assert board.tell(eve, wire.UnwatchRequest(9, match)) == ["not_watching" if reader in ("own", "held") else "ok"]
    assert board.reads == [way]


def test_a_match_that_another_node_begins_while_it_is_looked_for_is_not_read_over(board: Board) -> None:
    ann, bob, eve = board.people("Ann", "Bob", "Eve")
    players = number_of(ann), number_of(bob)
    started = wire.Started("there", 1, 5_000_000, "tictactoe", (wire.PlayerInfo(""), wire.PlayerInfo("")))
    board.ask(eve, wire.WatchRequest(9, "there"))
    names = {players[0]: "Ann", players[1]: "Bob"}
    board.registry.hear(AppendEvents((started,), players), names, None)
    board.hear(wire.Played("there", 2, 5_000_001, 0, 1, 4))
    board.deliver()
    assert eve.take() == ["ok", "snapshot", "watching"]
    assert board.reads == ["beside", "in order"]
    found = board.room("there").match
    assert found is not None
    assert found.moves == [(0, 4)]


def test_a_match_that_is_written_and_heard_while_it_is_read_is_the_one_that_is_shown(board: Board) -> None:
    ann, bob, eve = board.people("Ann", "Bob", "Eve")
    match = board.begin(ann, bob)
    board.tell(ann, wire.ResignRequest(9, match))
    board.tell(ann, wire.OfferRequest(9, match, "rematch"))
    board.ask(bob, wire.OfferRequest(9, match, "rematch"))
    board.ask(eve, wire.WatchRequest(9, f"{match}-2"))
    board.ledger.deliver(1)
    before = board.room(f"{match}-2").known
    board.deliver()
    assert before is not None
    assert board.room(f"{match}-2").known is before
    assert eve.take() == ["ok", "snapshot", "watching"]


def test_a_rematch_is_shown_alike_to_both_who_are_not_away_from_the_match_before(board: Board) -> None:
    ann, bob, eve = board.people("Ann", "Bob", "Eve")
    match = board.begin(ann, bob, time=MINUTE)
    board.play(match, ann, bob, plies=2)
    board.tell(eve, wire.WatchRequest(9, match))
    board.tell(ann, wire.ResignRequest(9, match))
    for link in (ann, bob):
        board.ask(link, wire.OfferRequest(9, match, "rematch"))
        board.deliver()
    of_ann, of_bob = shown(ann)[-1], shown(bob)[-1]
    assert of_ann.match == f"{match}-2"
    assert {of_ann.you, of_bob.you} == {0, 1}
    assert replace(of_ann, you=of_bob.you) == of_bob
    board.ask(eve, wire.WatchRequest(9, match))
    board.deliver()
    told = shown(eve)[-1]
    assert (told.present, told.away) == ((False, False), None)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (Code.UNKNOWN_MATCH, "unknown_match"),
        (Code.BUSY, "busy"),
        (Code.UNKNOWN_GAME, "unknown_game"),
        (Code.GAME_FAULT, "game_fault"),
        (Code.STORAGE, "storage"),
        (Code.NOT_FINISHED, "storage"),
    ],
)
@pytest.mark.parametrize("asks_too_much", [False, True])
def test_all_who_wait_for_a_match_that_cannot_be_read_are_told_why(
    board: Board, code: Code, told: str, asks_too_much: bool
) -> None:
    eve, fay = board.people("Eve", "Fay")
    refusal = Refusal(code, "it cannot be read")
    if asks_too_much:

        def refuse(question: Any) -> None:
            raise refusal

        board.services.archive.ask = refuse  # type: ignore[method-assign]
        assert board.tell(eve, wire.WatchRequest(9, "nothing")) == [told]
        assert board.registry.rooms == {}
        return
    failing: list[Callable[[Refusal], None]] = []
    board.services.journal.read = lambda match, done, failed: failing.append(failed)  # type: ignore[method-assign]
    for link in (eve, fay):
        board.ask(link, wire.WatchRequest(9, "nothing"))
    board.deliver()
    failing[0](refusal)
    assert (eve.take(), fay.take()) == ([told], [told])
    assert board.registry.rooms == {}
    board.go(2_000)
    assert len(failing) == 1, "nobody waits for it any more"


def test_a_match_that_is_too_long_to_be_read_beside_the_writes_is_not_read_among_them(
    board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob, eve = board.people("Ann", "Bob", "Eve")
    match = board.begin(ann, bob)
    board.tell(ann, wire.ResignRequest(9, match))
    for link in (ann, bob):
        board.leave(link)
    monkeypatch.setattr(past, "MAX_EVENTS", 1)
    assert board.tell(eve, wire.WatchRequest(9, match)) == ["busy"]
    assert board.reads == ["beside"]


def test_a_match_of_a_game_that_is_gone_is_refused(board: Board) -> None:
    ann = board.enter(name="Ann", token=TOKEN)
    (bob,) = board.people("Bob")
    match = board.begin(ann, bob)
    for link in (ann, bob):
        board.leave(link)
    infos = wire.PlayerInfo(""), wire.PlayerInfo("")
    fact = wire.encode(wire.Started(match, 1, 5_000_000, "chess", infos))
    board.ledger.database.connection.execute("UPDATE facts SET fact = ?", (fact,))
    ann = board.enter(token=TOKEN)
    assert board.tell(ann, wire.ResumeRequest(9, match, 0)) == ["unknown_game"]
    assert board.registry.rooms == {}


@pytest.mark.parametrize("is_alone", [True, False])
@pytest.mark.parametrize(
    ("refusal", "code", "is_disk"),
    [
        (StorageError("full"), "storage", True),
        (UnknownOutcomeError("silent"), "storage", False),
        (Refusal(Code.NOT_WELCOME, "not those two"), "not_welcome", False),
    ],
)
def test_a_write_that_fails_is_told_and_the_match_is_read_again(
    board: Board, request: pytest.FixtureRequest, is_alone: bool, refusal: Refusal, code: str, is_disk: bool
) -> None:
    if not is_alone:
        request.getfixturevalue("members")
    ann, bob = board.people("Ann", "Bob")
    match = board.begin(ann, bob)
    first, second = board.by_side(match, ann, bob)
    append = board.services.journal.append
    held = board.hold_writes()
    for link in (first, second):
        link.take()
    board.ask(first, wire.PlayRequest(9, match, 0, 4))
    board.ask(second, wire.ResumeRequest(9, match, 0))
    board.ask(first, wire.PlayRequest(10, match, 0, 8))
    board.services.journal.append = append  # type: ignore[method-assign]
    before = board.room(match).known
    held[0][2](refusal)
    (told,) = refusals(first)[:1]
    assert (told.id, told.code) == (9, code)
    assert ("was not carried out" in told.message) == is_disk
    assert board.room(match).known is (None if is_alone else before)
    board.deliver()
    assert second.take() == ["ok", "snapshot", "played"]
    assert first.take() == [code, "ok", "played"]
    assert board.reads == (["in order"] if is_alone else [])
    board.go(3_000)
    assert board.reads == (["in order"] if is_alone else [])


@pytest.mark.parametrize("is_held", [True, False])
def test_a_match_that_somebody_hears_or_that_is_kept_is_read_again_until_it_can_be(board: Board, is_held: bool) -> None:
    ann, bob = board.people("Ann", "Bob")
    match = board.begin_board(ann, bob) if is_held else board.begin(ann, bob, time=MINUTE)
    board.play(match, ann, bob, plies=2)
    first, _ = board.by_side(match, ann, bob)
    board.break_disk()
    assert board.tell(first, wire.PlayRequest(9, match, 2, 8)) == ["storage"]
    connection = board.ledger.database.connection
    connection.execute("PRAGMA query_only = OFF")
    connection.execute("ALTER TABLE facts RENAME TO gone")
    for link in (ann, bob) if is_held else ():
        board.leave(link)
    for count in (1, 2, 3):
        assert len(board.reads) == count - 1
        board.go(1_000)
    connection.execute("ALTER TABLE gone RENAME TO facts")
    board.go(1_000)
    assert len(board.reads) == 4
    board.go(59_900)
    assert board.is_over(match) is None
    board.go(200)
    assert board.is_over(match) == ("time", 1)
    assert len(board.reads) == 4


def test_a_match_that_nobody_hears_any_more_is_not_read_again(board: Board) -> None:
    ann, bob = board.people("Ann", "Bob")
    match = board.begin(ann, bob, time=MINUTE)
    board.play(match, ann, bob, plies=2)
    board.go(59_500)
    board.break_disk()
    board.tell(ann, wire.ResignRequest(9, match))
    for link in (ann, bob):
        board.leave(link)
    assert match not in board.registry.rooms
    board.go(3_000)
    assert board.reads == []


def test_a_rematch_that_cannot_be_written_leaves_both_free(board: Board) -> None:
    ann, bob = board.people("Ann", "Bob")
    match = board.begin(ann, bob)
    board.tell(ann, wire.ResignRequest(9, match))
    board.tell(ann, wire.OfferRequest(9, match, "rematch"))
    board.break_disk()
    assert board.tell(bob, wire.OfferRequest(9, match, "rematch")) == ["storage"]
    assert board.services.players.starting == Counter()
    board.break_disk(False)
    assert board.tell(bob, wire.OfferRequest(9, match, "rematch"))[:2] == ["ok", "rematched"]
    for link in (ann, bob):
        assert [each for each in link.heard if isinstance(each, wire.Presence)] == [], "both go on"
    assert {*board.registry.rooms} == {f"{match}-2"}


def test_a_room_stays_while_something_is_written_and_goes_with_the_last_who_hears_it(board: Board) -> None:
    ann, bob = board.people("Ann", "Bob")
    match = board.begin(ann, bob)
    first, _ = board.by_side(match, ann, bob)
    board.ask(first, wire.PlayRequest(9, match, 0, 4))
    for link in (ann, bob):
        link.is_open = False
        board.hub.closed(cast(Any, link))
    assert match in board.registry.rooms
    board.deliver()
    assert board.registry.rooms == {}
    ann, bob = board.people("Cid", "Dan")
    board.ask_to_play(ann, bob)
    for link in (ann, bob):
        link.is_open = False
        board.hub.closed(cast(Any, link))
    board.deliver()
    assert board.registry.rooms == {}, "they had left before it began"


def test_a_watcher_who_leaves_hears_nothing_more_and_is_counted_no_more(board: Board) -> None:
    ann, bob, eve, fay = board.people("Ann", "Bob", "Eve", "Fay")
    match = board.begin(ann, bob)
    for link in (eve, fay):
        board.tell(link, wire.WatchRequest(9, match))
    board.go(2_000)
    for count, link in ((1, eve), (0, fay)):
        ann.heard.clear()
        if link is eve:
            assert board.tell(eve, wire.UnwatchRequest(9, match)) == ["ok"]
        else:
            board.leave(fay)
        board.go(2_000)
        assert [each.watchers for each in ann.heard if isinstance(each, wire.Watching)] == [count]
        assert board.room(match).audience.watchers == count
    board.tell(eve, wire.WatchRequest(9, match))
    for link in (ann, bob):
        board.leave(link)
    assert match in board.registry.rooms
    board.leave(eve)
    assert board.registry.rooms == {}


@pytest.mark.parametrize("times", [0, MAX_DECISIONS - 1, MAX_DECISIONS, MAX_DECISIONS + 1])
def test_a_request_that_another_node_overtakes_is_decided_again_so_often(
    board: Board, members: Members, times: int
) -> None:
    ann, bob = board.people("Ann", "Bob")
    match = board.begin(ann, bob)
    held = board.hold_writes()
    movers = board.by_side(match, ann, bob)
    ply = 0
    for _ in range(2):  # each request has as many
        mover = movers[ply % 2]
        mover.take()
        board.ask(mover, wire.PlayRequest(9, match, ply, ply))
        for _ in range(times):
            _, _, failed = held.pop()
            failed(Overtaken())
        if times > MAX_DECISIONS:
            assert (mover.take(), held) == (["storage"], [])
        else:
            _, done, _ = held.pop()
            done(None)
            assert mover.take() == ["ok", "played"]
            ply += 1


# What is said of a room.


def test_a_match_is_listed_while_it_is_played_in_public(board: Board) -> None:
    ann, bob, eve = board.people("Ann", "Bob", "Eve")
    match = board.begin(ann, bob, "gomoku")
    room = board.room(match)
    assert (room.is_live, room.is_listed) == (True, True)
    board.ask(ann, wire.InviteRequest(9))
    board.deliver()
    board.ask(bob, wire.JoinRequest(9, ann.codes()[-1]))
    board.deliver()
    secret = board.room(shown(bob)[-1].match)
    assert (secret.is_live, secret.is_listed) == (True, False)
    board.tell(eve, wire.WatchRequest(9, match))
    board.leave(bob)
    board.changed.clear()
    board.go(59_999)
    assert (room.is_live, room.is_listed, board.changed) == (True, True, Counter())
    board.go(1)
    assert (room.is_live, room.is_listed, board.changed) == (True, False, Counter({("live", True): 2})), "both matches"
    match = board.begin(ann, eve, "gomoku")
    assert board.tell(ann, wire.ResignRequest(9, match))[0] == "ok"
    assert (board.room(match).is_live, board.room(match).is_listed) == (False, False)
    board.leave(eve)
    board.changed.clear()
    board.go(300_000)
    assert board.changed == Counter(), "what is over is not looked at"
    assert board.room(match).match is not None
    for other in (match, secret.id):
        unread = MatchRoom(other, board.services, cast(Any, None))
        assert (unread.is_live, unread.is_listed, unread.is_adjourned) == (False, False, False)


def test_the_list_of_matches_has_changed_by_a_public_one_that_is_read(board: Board) -> None:
    ann, bob = board.people("Ann", "Bob")
    public = board.begin(ann, bob)
    board.ask(ann, wire.InviteRequest(9))
    board.deliver()
    board.ask(bob, wire.JoinRequest(9, ann.codes()[-1]))
    board.deliver()
    for match, count in ((public, 1), (shown(bob)[-1].match, 0)):
        board.break_disk()
        assert board.tell(ann, wire.ResignRequest(9, match)) == ["storage"]
        board.break_disk(False)
        board.changed.clear()
        board.go(1_000)
        assert board.changed["live", False] == count


def test_a_bot_beside_a_player_is_the_opponent(board: Board) -> None:
    (ann,), bob = board.people("Ann"), board.enter(name="Bob", **BOT)
    room = board.room(board.begin(ann, bob))
    assert [room.has_bot_beside(number_of(link)) for link in (ann, bob)] == [True, False]
