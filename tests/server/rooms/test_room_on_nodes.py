"""A match in a cluster: players on other nodes, and what those nodes write."""

import pytest

from tests.server.house import TOKEN, Members, elsewhere
from tests.server.matchmaking.parlour import number_of, shown
from tests.server.rooms.board import MINUTE, Board, presences
from ttt_net import messages as wire
from ttt_net.errors import Overtaken, UnknownOutcomeError

# Players on other nodes.


def test_all_are_told_of_a_player_who_resumes_and_leaves_on_another_node(board: Board, members: Members) -> None:
    ann, bob = board.people("Ann", "Bob")
    eve = board.enter(name="Eve")
    match = board.begin(ann, bob, "gomoku", time=MINUTE)
    board.tell(eve, wire.WatchRequest(9, match))
    board.play(match, ann, bob, plies=2)
    first, second = board.by_side(match, ann, bob)
    for link in (second, eve):
        presences(link)
    session = board.depart(first, match)
    assert shown(second) == shown(eve) == []
    assert [presences(link) for link in (second, eve)] == [[(0, False), (0, True)]] * 2
    found = board.room(match).match
    assert found is not None
    assert not found.absences
    board.room(match).leave(session)
    assert [presences(link) for link in (second, eve)] == [[(0, False)]] * 2
    assert found.absences.of(0) is not None
    board.room(match).leave(session)
    board.room(match).leave(first.known_as)
    assert [presences(link) for link in (second, eve)] == [[], []], "they had left"


def test_a_clock_stops_while_nobody_plays_and_goes_on_with_one_on_another_node(board: Board, members: Members) -> None:
    ann, bob = board.people("Ann", "Bob")
    eve = board.enter(name="Eve")
    match = board.begin(ann, bob, "gomoku", time=MINUTE)
    board.tell(eve, wire.WatchRequest(9, match))
    board.play(match, ann, bob, plies=2)
    found = board.room(match).match
    assert found is not None
    assert found.clock is not None
    players = board.room(match).seats.both
    board.go(10_000)
    for link in (ann, bob):
        board.leave(link)
    board.go(10_000)
    assert found.clock.read(board.now_ms) == (50_000, 60_000)
    board.room(match).seat_elsewhere(elsewhere(board, players[0], "Ann"))
    board.go(5_000)
    assert found.clock.read(board.now_ms) == (45_000, 60_000)


@pytest.mark.parametrize("back", ["here", "elsewhere"])
def test_an_adjourned_match_goes_on_for_all_when_the_other_is_back_and_stays_so(
    board: Board, members: Members, back: str
) -> None:
    ann = board.enter(name="Ann", token=TOKEN)
    (bob,), eve = board.people("Bob"), board.enter(name="Eve")
    match = board.begin(ann, bob, "gomoku", time=MINUTE)
    board.tell(eve, wire.WatchRequest(9, match))
    board.play(match, ann, bob, plies=4)
    board.leave(ann)
    board.go(10_000)
    assert not board.room(match).is_adjourned
    assert board.tell(bob, wire.ClaimRequest(9, match, "adjourn")) == ["ok", "adjourned"]
    assert board.room(match).is_adjourned
    for link in (bob, eve):
        link.heard.clear()
    board.registry.leave(bob.known_as, match)
    assert board.tell(bob, wire.ResumeRequest(9, match, 0)) == ["ok", "snapshot"]
    assert board.room(match).is_adjourned, "one of them is not enough"
    assert shown(eve) == []
    eve.heard.clear()
    ann = board.enter(token=TOKEN)
    if back == "elsewhere":
        board.depart(ann, match)
    else:
        assert board.tell(ann, wire.ResumeRequest(9, match, 0)) == ["ok", "snapshot"]
    assert not board.room(match).is_adjourned
    for link in (bob, eve):
        (again,) = shown(link)
        assert (again.adjourned, again.you is None) == (False, link is eve)
        assert again.present == (True, True)


def test_a_match_that_goes_on_after_a_break_goes_on_though_the_disk_failed(board: Board) -> None:
    ann = board.enter(name="Ann", token=TOKEN)
    (bob,) = board.people("Bob")
    match = board.begin(ann, bob, "gomoku", time=MINUTE)
    board.play(match, ann, bob, plies=4)
    board.leave(ann)
    board.go(10_000)
    board.tell(bob, wire.ClaimRequest(9, match, "adjourn"))
    ann = board.enter(token=TOKEN)
    board.tell(ann, wire.ResumeRequest(9, match, 0))
    board.break_disk()
    assert board.tell(bob, wire.OfferRequest(9, match, "draw")) == ["storage"]
    assert not board.room(match).is_adjourned, "it is not in memory"
    board.break_disk(False)
    board.go(1_000)
    assert board.room(match).known is not None
    assert not board.room(match).is_adjourned


def test_a_match_is_read_once_for_players_who_sit_on_another_node(board: Board, members: Members) -> None:
    ann, bob = board.people("Ann", "Bob")
    match = board.begin(ann, bob)
    names = {number_of(link): link.known_as.info.name for link in (ann, bob)}
    for link in (ann, bob):
        board.leave(link)
    sessions = [elsewhere(board, player, name) for player, name in names.items()]
    for session in sessions:
        board.registry.room(match).seat_elsewhere(session)
    board.deliver()
    assert board.reads == ["in order"]
    assert board.room(match).seats.present() == (True, True)
    for session in sessions:
        board.registry.room(match).leave(session)
    assert board.registry.rooms == {}


def test_a_player_who_leaves_while_their_match_is_not_in_memory_is_told_of(board: Board) -> None:
    ann, bob = board.people("Ann", "Bob")
    match = board.begin(ann, bob)
    board.break_disk()
    board.tell(ann, wire.ResignRequest(9, match))
    assert board.room(match).known is None
    first, second = board.by_side(match, ann, bob)
    presences(second)
    board.leave(first)
    assert presences(second) == [(0, False)]


def test_a_new_name_reaches_a_match_that_is_not_in_memory(board: Board) -> None:
    ann, bob = board.people("Ann", "Bob")
    match = board.begin(ann, bob)
    player, room = number_of(ann), board.room(match)
    side = room.seats.side_of(player)
    assert side is not None

    def name() -> str:
        assert room.match is not None
        return room.match.players[side].name

    room.rename(player, "Anna")
    assert name() == "Anna"
    bob.heard.clear()
    room.rename(999, "Nobody")
    assert bob.heard == [], "nobody by that number plays"
    for new in ("Annabel", "Annika"):
        room.match = None
        bob.heard.clear()
        room.rename(player, new)
        assert [each.name for each in bob.heard if isinstance(each, wire.PlayerRenamed)] == [new]
        board.tell(bob, wire.ResumeRequest(9, match, 0))
        assert name() == new
        room.rename(player, f"{new}2")
        room.match = None
        board.tell(bob, wire.ResumeRequest(9, match, 0))
        assert name() == "Ann", "as the journal has it, and not as it was once"


# What other nodes write.


def move(match: str, ply: int) -> wire.Played:
    return wire.Played(match, ply + 2, 5_000_000 + ply, ply % 2, ply + 1, ply)


@pytest.mark.parametrize(
    ("here", "is_kept"),
    [("nobody", True), ("player", False), ("watcher", False), ("absence", False), ("write", False), ("board", False)],
)
def test_moves_that_nobody_hears_here_are_kept_until_somebody_looks(
    board: Board, members: Members, here: str, is_kept: bool
) -> None:
    ann, bob = board.people("Ann", "Bob")
    eve = board.enter(name="Eve")
    match = board.begin_board(ann, bob, begin_ms=600_000) if here == "board" else board.begin(ann, bob, "gomoku")
    first, second = board.by_side(match, ann, bob)
    if here == "watcher":
        board.tell(eve, wire.WatchRequest(9, match))
    if here == "write":
        held = board.hold_writes()
        board.ask(second, wire.OfferRequest(9, match, "draw"))
        assert len(held) == 1
    for link in (first, second):
        if here != "player" or link is first:
            board.depart(link, match)
    room = board.room(match)
    if here == "absence":
        room.leave(board.services.players.sessions[number_of(second)])
    board.changed.clear()
    for ply in range(3):
        board.hear(move(match, ply))
        assert room.known is not None
        assert room.known.seq == (1 if is_kept else ply + 2)
        assert (room.newest_ms, board.changed["live", True]) == (5_000_000 + ply, ply + 1)
    board.hear(move(match, 2))
    assert room.match is not None
    assert room.match.seq == 4
    assert len(room.match.moves) == 3
    board.hear(move(match, 2))
    assert room.match.seq == 4
    board.hear(wire.Offered(match, 5, 5_000_009, 0, "draw"), wire.Declined(match, 6, 5_000_009, 1, "draw"))
    known = room.known
    assert known is not None
    assert known.seq == 6, "what is no move is applied at once"
    assert board.loop.errors == []
    ended = wire.Ended(match, 7, 5_000_010, 0, "resign")
    live = {number_of(link): board.services.players.sessions[number_of(link)] for link in (first, second)}
    board.changed.clear()
    board.hear(ended)
    assert [session.live for session in live.values()] == [set(), set()]
    assert board.changed["players", False] == 1
    assert (room.known is None) == is_kept
    if here == "write":
        held[0][2](Overtaken())
    board.hear(ended)
    assert board.changed["players", False] == (1 if not is_kept else 2), "one that is not in memory has none to compare"


def test_a_match_that_ended_on_another_node_is_not_kept_with_moves_that_wait(board: Board, members: Members) -> None:
    ann, bob = board.people("Ann", "Bob")
    match = board.begin(ann, bob, "gomoku", time=MINUTE)
    first, second = board.by_side(match, ann, bob)
    held = board.hold_writes()
    board.ask(first, wire.OfferRequest(9, match, "draw"))
    for link in (first, second):
        board.depart(link, match)
    held[0][2](UnknownOutcomeError("silent"))
    room = board.room(match)
    board.hear(move(match, 0))
    board.hear(wire.Ended(match, 3, 5_000_010, 0, "resign"))
    assert room.match is None
    board.go(5_000)
    assert (room.match, board.reads) == (None, []), "no timer reads it again"


def test_a_fault_of_the_rules_in_moves_that_waited_drops_the_copy(board: Board, members: Members) -> None:
    ann, bob = board.people("Ann", "Bob")
    match = board.begin(ann, bob)
    for link in (ann, bob):
        board.depart(link, match)
    board.hear(move(match, 0))
    board.hear(move(match, 2))
    board.hear(wire.Offered(match, 5, 5_000_009, 0, "draw"))
    room = board.room(match)
    assert (room.match, room.known) == (None, None)
    assert [type(error) for error in board.loop.errors] == [AssertionError]
    assert room.match is None
    assert len(board.loop.errors) == 1


def test_a_clock_counts_from_the_move_that_was_kept_and_not_from_the_first_look(board: Board, members: Members) -> None:
    ann, bob = board.people("Ann", "Bob")
    match = board.begin(ann, bob, "gomoku", time=MINUTE)
    for link in (ann, bob):
        board.depart(link, match)
    for ply in range(3):
        clock = wire.ClockInfo((60_000, 60_000), None if ply == 0 else 1 - ply % 2)
        board.hear(wire.Played(match, ply + 2, 7_000_000 + ply, ply % 2, ply + 1, ply, clock=clock))
        board.go(5_000)
    found = board.room(match).match
    assert found is not None
    assert found.clock is not None
    assert found.clock.read(board.now_ms) == (60_000, 55_000)


UP, DOWN = wire.RatingChange(1_500, 1_620), wire.RatingChange(1_500, 1_380)


@pytest.mark.parametrize("way", ["here", "heard", "kept"])
def test_new_ratings_are_told_kept_and_listed(board: Board, members: Members, way: str) -> None:
    ann, bob, cid = board.people("Ann", "Bob", "Cid")
    match = board.begin(ann, bob, "gomoku", time=MINUTE, rated=True)
    board.play(match, ann, bob, plies=4)
    movers = board.by_side(match, ann, bob)
    if way == "kept":
        for link in movers:
            board.depart(link, match)
    assert board.tell(cid, wire.SeekRequest(9, games=["qubic"])) == ["ok"]
    for link in movers:
        link.heard.clear()
    board.changed.clear()
    if way == "here":
        board.ask(movers[1], wire.ResignRequest(9, match))
        board.deliver()
    else:
        board.hear(wire.Ended(match, 6, board.now_ms, 0, "resign"), ratings=(UP, DOWN))
    told = [[each.ratings for each in link.heard if isinstance(each, wire.Rated)] for link in movers]
    assert [len(each) for each in told] == ([0, 0] if way == "kept" else [1, 1])
    sessions = [board.services.players.sessions[number_of(link)] for link in movers]
    ratings = [session.rating_at("gomoku", MINUTE) for session in sessions]
    assert ratings == ([1_620, 1_380] if way != "here" else [change.after for change in told[0][0]])
    assert ratings[0] > 1_500 > ratings[1]
    assert (board.changed["seeks", False], board.changed["players", False]) == (1, 2)


def test_a_rating_of_one_who_is_away_is_told_to_the_other(board: Board) -> None:
    ann, bob = board.people("Ann", "Bob")
    match = board.begin(ann, bob, "gomoku", time=MINUTE, rated=True)
    board.play(match, ann, bob, plies=4)
    first, second = board.by_side(match, ann, bob)
    board.leave(first)
    assert board.tell(second, wire.ResignRequest(9, match))[:3] == ["ok", "ended", "rated"]


@pytest.mark.parametrize(
    ("end", "counted"),
    [("abort", "asker"), ("resign", "asker"), ("claim", "other"), ("abort_of_absent", "other"), ("agree", None)],
)
def test_an_abort_counts_for_the_one_who_resigned_aborted_or_left(board: Board, end: str, counted: str | None) -> None:
    ann, bob = board.people("Ann", "Bob")
    match = board.begin(ann, bob, "gomoku", time=MINUTE, rated=True)
    aborts, players = board.services.aborts, (number_of(ann), number_of(bob))
    if end in ("claim", "abort_of_absent"):
        board.leave(bob)
        board.go(60_000)
    elif end == "agree":
        board.tell(bob, wire.OfferRequest(9, match, "draw"))
    requests: dict[str, wire.AnyRequest] = {
        "abort": wire.AbortRequest(9, match),
        "abort_of_absent": wire.AbortRequest(9, match),
        "resign": wire.ResignRequest(9, match),
        "claim": wire.ClaimRequest(9, match, "win"),
        "agree": wire.OfferRequest(9, match, "draw"),
    }
    assert board.tell(ann, requests[end])[:2] == ["ok", "ended"]
    assert board.is_over(match) == ("abort", None)
    expected = {None: [0, 0], "asker": [1, 0], "other": [0, 1]}[counted]
    assert [aborts.count(player, board.now_ms) for player in players] == expected
