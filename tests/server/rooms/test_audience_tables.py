"""Tables over simulated time: who receives what and when, whose time is over and where, and places of bots."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

import msgspec
import pytest

from tests.server.house import Members, elsewhere
from tests.server.matchmaking.parlour import Parlour, number_of, shown
from tests.server.rooms.board import BOT, Board, presences
from tests.server.running import until
from ttt_net import messages as wire
from ttt_net.clock import TimeControl
from ttt_net.messages import PlayerInfo
from ttt_net.server.admission.fair_shares import Account, FairShares
from ttt_net.server.journal.entries import AppendEvents
from ttt_net.server.online_players import Session
from ttt_net.server.rooms import audience
from ttt_net.server.rooms.audience import COUNT_S, CROWD, LATE_S, Audience
from ttt_net.server.settings.configuration import Limits, Rate
from ttt_net.server.wire.connection import Connection


class Wire:
    """A connection that keeps what is sent."""

    def __init__(self, account: Account | None = None) -> None:
        self.sent: list[bytes] = []
        self.account = account
        self.player: int | None = None
        self.owed_ms = 0.0

    def send(self, frames: bytes) -> None:
        self.sent.append(frames)

    @property
    def counts(self) -> list[int]:
        return [message["watchers"] for message in map(_decoded, self.sent)]


def _decoded(frames: bytes) -> Any:
    return msgspec.json.decode(frames[frames.index(b"{") :])


def session(number: int, account: Account | None = None) -> tuple[Session, Wire]:
    wire = Wire(account)
    return Session(cast(Connection, wire), number, PlayerInfo(f"P{number}")), wire


def audience_in(
    loop: object, shares: FairShares | None = None, show: Callable[[], bytes] = lambda: b"as it is"
) -> Audience:
    shares = shares or FairShares(Limits(), lambda: 0)
    return Audience("m", cast(asyncio.AbstractEventLoop, loop), shares, show)


async def test_players_receive_events_immediately_and_a_crowd_of_watchers_in_order() -> None:
    audience = audience_in(asyncio.get_running_loop())
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


async def test_a_returning_player_does_not_receive_events_twice() -> None:
    audience = audience_in(asyncio.get_running_loop())
    watchers = [session(number) for number in range(CROWD + 1)]
    for watcher, _ in watchers:
        audience.watch(watcher)
    audience.tell(b"1")
    back, wire = watchers[-1]
    audience.leave(back)
    audience.watch(back)
    await until(lambda: not audience.is_telling)
    assert wire.sent == []


async def test_the_requester_is_answered_first_even_after_leaving() -> None:
    audience = audience_in(asyncio.get_running_loop())
    asker, wire = session(1)
    audience.players[1] = asker
    audience.tell(b"event", asker, b"ok")
    audience.leave(asker)
    audience.tell(b"event", asker, b"ok")
    assert wire.sent == [b"okevent", b"ok"]
    assert not audience


class Later:
    """An event loop that calls back when the test says so, in the next turn or after the delays of an audience."""

    def __init__(self) -> None:
        self.due: list[Callable[[], None]] = []

    def call_later(self, delay: float, callback: Callable[[], None]) -> object:
        assert delay in (COUNT_S, LATE_S)
        self.due.append(callback)
        return callback

    def call_soon(self, callback: Callable[[], None]) -> None:
        self.due.append(callback)

    def come_round(self) -> None:
        """Call back what is due by now."""
        due, self.due = self.due, []
        for callback in due:
            callback()


def test_changes_of_the_number_of_watchers_are_sent_together() -> None:
    later = Later()
    audience = audience_in(later)
    player, wire = session(0)
    audience.players[0] = player
    audience.watch(session(1)[0])
    audience.tell_count()
    for number in range(2, 101):
        audience.watch(session(number)[0])
        audience.tell_count()
    assert wire.counts == [1]
    later.come_round()
    assert wire.counts == [1, 100]
    assert audience.counted() == 100, "as everybody knows"
    later.come_round()
    assert (wire.counts, later.due) == ([1, 100], [])


def test_a_new_session_of_a_watcher_takes_the_place_of_the_old_one() -> None:
    audience = audience_in(Later())
    (old, old_wire), (new, wire), (other, other_wire) = session(1), session(1), session(2)
    for each in (old, new, other):
        audience.watch(each)
    audience.leave(old)
    assert [audience.watches(each) for each in (old, new, other)] == [False, True, True]
    audience.tell_watchers(b"event")
    audience.tell_watchers(b"chat", lambda hearer: hearer is other)
    assert (old_wire.sent, wire.sent, other_wire.sent) == ([], [b"event"], [b"event", b"chat"])


class Bought:
    """The shares of a server, and an audience in which each frame that is sent takes 10 ms."""

    def __init__(self) -> None:
        self.now_ms, self.cost_s = 0, 0.0
        self.shares = FairShares(Limits(work=Rate(1_000, 20.0)), lambda: self.now_ms, lambda: self.cost_s)
        self.later = Later()
        self.shown = 0
        self.audience = audience_in(self.later, self.shares, self.show)

    def show(self) -> bytes:
        self.shown += 1
        return b"as it is"

    def watcher(self, number: int, network: str) -> tuple[Session, Wire]:
        found = session(number, self.shares.account_of(network))
        keep = found[1].send

        def send(frames: bytes) -> None:
            self.cost_s += 0.01
            keep(frames)

        found[1].send = send  # type: ignore[method-assign]
        self.audience.watch(found[0])
        return found

    def use(self, network: str, ms: float) -> None:
        """Use some of the share of an address."""
        self.shares.account_of(network).shares[0].use(self.now_ms, ms)

    def used_ms(self, network: str) -> float:
        return self.shares.account_of(network).shares[0].used(self.now_ms)


def test_watchers_pay_for_what_they_follow_and_the_player_who_moves_does_not() -> None:
    bought = Bought()
    shares, (_, mover) = bought.shares, session(0, bought.shares.account_of("192.0.2.1"))
    watchers = [bought.watcher(number, "192.0.2.2")[1] for number in (1, 2)]
    shares.payer, began_s = cast(Connection, mover), shares.clock_s()
    bought.audience.tell(b"move")
    bought.cost_s += 0.003
    shares.charge(cast(Connection, mover), (shares.clock_s() - began_s) * 1000)
    shares.payer = None
    used = [one.account.shares[0].used(0) for one in (mover, watchers[0]) if one.account is not None]
    assert used == pytest.approx([3.0, 20.0])


def test_watchers_of_an_address_that_has_used_its_share_receive_the_match_as_it_is_once_it_has_some_again() -> None:
    bought = Bought()
    (late, wire), (_, other) = bought.watcher(1, "192.0.2.1"), bought.watcher(2, "192.0.2.2")
    bought.use("192.0.2.1", 995.0)
    for frames in (b"1", b"2"):
        bought.audience.tell(frames)
    assert (wire.sent, other.sent) == ([], [b"1", b"2"])
    assert bought.audience.watches(late)
    assert bought.audience.watchers == 2
    bought.later.come_round()
    assert (wire.sent, bought.shown) == ([], 0), "there is too little of its share yet"
    bought.now_ms += 200
    bought.later.come_round()
    assert wire.sent == [b"as it is"]
    bought.now_ms += 1_000
    bought.audience.tell(b"3")
    assert (wire.sent, other.sent) == ([b"as it is", b"3"], [b"1", b"2", b"3"])
    assert bought.later.due == []


def test_a_late_watcher_may_leave_or_watch_anew() -> None:
    bought = Bought()
    (one, wire), (two, anew) = bought.watcher(1, "192.0.2.1"), bought.watcher(2, "192.0.2.1")
    bought.use("192.0.2.1", 1_000.0)
    bought.audience.tell(b"1")
    bought.audience.leave(one)
    bought.audience.watch(two)
    assert (bought.audience.watches(one), bought.audience.watches(two)) == (False, True)
    bought.now_ms += 20_000
    bought.later.come_round()
    bought.audience.tell(b"2")
    assert (wire.sent, anew.sent) == ([], [b"2"])
    bought.audience.leave(two)
    assert not bought.audience


def test_late_watchers_catch_up_a_crowd_at_a_time_and_pay_for_it() -> None:
    bought = Bought()
    wires = [bought.watcher(number, "192.0.2.1")[1] for number in range(CROWD + 1)]
    bought.use("192.0.2.1", 1_000.0)
    bought.audience.tell(b"1")
    while bought.audience.is_telling:
        bought.later.come_round()
    assert len(bought.later.due) == 1, "they wait together"
    bought.now_ms += 30_000
    bought.later.come_round()
    assert [len(wire.sent) for wire in wires] == [1] * CROWD + [0]
    assert bought.used_ms("192.0.2.1") == pytest.approx(10.0 * CROWD)
    bought.now_ms += 30_000
    bought.later.come_round()
    assert (wires[-1].sent, bought.later.due) == ([b"as it is"], [])


def test_frames_reach_those_who_still_watch_over_the_connection_with_which_they_watched() -> None:
    bought = Bought()
    watchers = [bought.watcher(number, f"192.0.2.{number}") for number in range(CROWD + 3)]
    bought.audience.tell(b"1")
    bought.audience.leave(watchers[CROWD][0])
    (anew, newer) = bought.watcher(CROWD + 1, "192.0.2.9")
    bought.later.come_round()
    assert [wire.sent for _, wire in watchers[CROWD:]] == [[], [], [b"1"]]
    assert newer.sent == [], "the first is replaced, and the match was shown to the second"
    assert bought.audience.watches(anew)


def test_a_player_who_joins_while_a_watcher_is_away_gets_the_new_count() -> None:
    later = Later()
    audience = audience_in(later)
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


def test_watchers_of_all_nodes_are_counted_and_only_changes_are_told() -> None:
    parlour = Parlour()
    ann, bob, cid = parlour.people("Ann", "Bob", "Cid")
    match = parlour.begin(ann, bob, "gomoku")
    parlour.ask(cid, wire.WatchRequest(9, match))
    parlour.later(2_000)
    room, changed, model = parlour.hub.registry.rooms[match], list[str](), dict[str, int]()
    parlour.services.feed.changed = lambda *subjects, slightly=False: changed.extend(subjects)  # type: ignore[method-assign]
    for node, watchers in (("b", 2), ("b", 2), ("c", 1), ("b", 0), ("b", 0), ("d", 0), ("c", 3), ("c", 0)):
        ann.heard.clear()
        before = dict(model)
        room.joining.count_elsewhere(node, watchers)
        model = {each: count for each, count in {**model, node: watchers}.items() if count}
        assert room.audience.watching_elsewhere == model
        assert room.audience.watchers == 1 + sum(model.values())
        assert changed == (["live"] if model != before else [])
        parlour.later(2_000)
        told = [each.watchers for each in ann.heard if isinstance(each, wire.Watching)]
        assert told == ([room.audience.watchers] if model != before else [])
        changed.clear()


HERE, ELSEWHERE, ARRIVING, LATE, BACK, AWAY = "here", "elsewhere", "arriving", "late", "back", "away"


@pytest.mark.parametrize("is_steward", [True, False])
@pytest.mark.parametrize("in_tournament", [True, False])
@pytest.mark.parametrize("other", [HERE, ELSEWHERE, AWAY])
@pytest.mark.parametrize("mover", [HERE, ELSEWHERE, ARRIVING, LATE, BACK, AWAY])
def test_the_node_of_a_player_decides_that_their_time_is_over_or_else_their_opponent_s_or_the_steward(
    mover: str, other: str, monkeypatch: pytest.MonkeyPatch, *, in_tournament: bool, is_steward: bool
) -> None:
    parlour = Parlour()
    ann, bob = parlour.people("Ann", "Bob")
    cid = parlour.enter(name="Cid")
    match = parlour.begin(ann, bob, "gomoku", time=TimeControl(60_000))
    parlour.ask(cid, wire.WatchRequest(9, match))
    monkeypatch.setattr(type(parlour.services), "keeps_lobby", property(lambda _: is_steward))
    room = parlour.hub.registry.rooms[match]
    assert room.match is not None
    room.match.tournament = cast(Any, object()) if in_tournament else None
    for link, place in ((ann, mover), (bob, other)):
        player = link.known_as.player
        if place != HERE:
            room.audience.leave(link.known_as)
            if place != BACK:  # connected again, and has not resumed the match yet
                parlour.services.players.remove(link.known_as)
        if place in (ELSEWHERE, ARRIVING, LATE):
            session = elsewhere(parlour, player, link.known_as.info.name)
            if place == ELSEWHERE:
                room.audience.seat(session)
    parlour.loop.run_until(2.0 if mover == LATE else 1.999, 1_000_000)
    side = room.seats.side_of(ann.known_as.player)
    assert side is not None
    decides = is_steward if in_tournament else other == HERE
    expected = decides if mover in (LATE, BACK, AWAY) else mover == HERE
    assert room.seats.watches_time(room.match, side) == expected
    assert not room.seats.lets_flag_fall(room.match), "no time runs before the first moves"


PERSON: dict[str, Any] = {}


@pytest.mark.parametrize(
    ("one", "other", "is_here", "held"),
    [
        (PERSON, BOT, True, [1, 0]),
        (BOT, PERSON, True, [0, 1]),
        (PERSON, PERSON, True, [0, 0]),
        (BOT, BOT, True, [0, 0]),
        (PERSON, BOT, False, [0, 0]),
    ],
)
def test_a_place_of_a_bot_is_held_while_both_are_at_a_match_that_another_node_began(
    one: dict[str, Any], other: dict[str, Any], held: list[int], *, is_here: bool
) -> None:
    parlour = Parlour(unmetered=())
    ann, bob = parlour.hello(parlour.caller("192.0.1.7"), name="Ann", **one), parlour.caller("192.0.2.7")
    parlour.hello(bob, name="Bob", **other)
    parlour.deliver()
    players = ann.known_as.player, bob.known_as.player
    if not is_here:
        parlour.leave(bob)
    infos = cast(
        tuple[wire.PlayerInfo, wire.PlayerInfo], tuple(wire.PlayerInfo("", who.get("bot")) for who in (one, other))
    )
    started = wire.Started("there", 1, 5_000_000, "gomoku", infos)
    names = {players[0]: "Ann", players[1]: "Bob"}
    parlour.hub.registry.hear(AppendEvents((started,), players), names, None)
    held_by = parlour.services.players.bot_places.held_by
    assert [held_by(str(link.metered_as)) for link in (ann, bob)] == held


@pytest.mark.parametrize("is_metered", [True, False])
@pytest.mark.parametrize("heard", [3, 4, 5])
def test_all_players_of_an_address_hear_so_many_matches_while_some_are_over(
    heard: int, monkeypatch: pytest.MonkeyPatch, *, is_metered: bool
) -> None:
    monkeypatch.setattr(audience, "MAX_HEARD", 2)
    often = Rate(1_000_000)
    parlour = Parlour(
        players_per_address=2, inquiries=often, openings=often, max_live_matches=50,
        unmetered=("192.0.0.0/24", *(() if is_metered else ("192.0.9.0/24",))),
    )  # fmt: skip
    ann, bob = [parlour.hello(parlour.caller("192.0.0.7"), name=name) for name in ("Ann", "Bob")]
    parlour.deliver()
    matches = [parlour.begin(ann, bob, "gomoku") for _ in range(3)]
    parlour.ask(ann, wire.ResignRequest(9, matches[2]))
    crowd = [parlour.hello(parlour.caller("192.0.9.7"), name=f"P{number}") for number in range(4)]
    parlour.deliver()
    for number in range(heard):
        parlour.ask(crowd[number // 2], wire.WatchRequest(9, matches[number % 2]))
    parlour.deliver()
    last = crowd[3]
    last.take()
    answers = []
    for match in (matches[2], matches[0]):  # one that is over, and one that is not
        parlour.ask(last, wire.WatchRequest(9, match))
        parlour.deliver()
        answers.append(last.take()[0])
    assert answers == ["ok" if heard < 4 or not is_metered else "too_many_matches", "ok"]


@pytest.mark.parametrize("heard", [1, 2, 3])
@pytest.mark.parametrize(
    ("kind", "is_limited"), [("own live", False), ("own finished", True), ("live", True), ("finished", True)]
)
def test_a_session_hears_so_many_matches_and_its_own_live_ones(
    monkeypatch: pytest.MonkeyPatch, board: Board, heard: int, kind: str, is_limited: bool
) -> None:
    monkeypatch.setattr(audience, "MAX_HEARD", 2)
    ann, bob, cid = board.people("Ann", "Bob", "Cid")
    match = board.begin(ann, bob)
    asker = ann if kind.startswith("own") else cid
    if kind.endswith("finished"):
        board.tell(ann, wire.ResignRequest(9, match))
    board.registry.leave(asker.known_as, match)
    for number in range(heard):
        asker.known_as.enter(f"other{number}")
    request = wire.ResumeRequest(9, match, 0) if asker is ann else wire.WatchRequest(9, match)
    told = "too_many_matches" if is_limited and heard >= 2 else "ok"
    assert board.tell(asker, request)[0] == told
    assert (match in asker.known_as.rooms) == (told == "ok")


@pytest.mark.parametrize(
    ("code", "answer"),
    [(None, "not_public"), ("", "unknown_code"), ("XXXXXX", "unknown_code"), ("{}", "ok"), (" {} ", "ok")],
)
def test_a_private_match_is_watched_by_its_code(board: Board, code: str | None, answer: str) -> None:
    ann, bob, eve = board.people("Ann", "Bob", "Eve")
    board.ask(ann, wire.InviteRequest(9))
    board.deliver()
    right = ann.codes()[-1]
    board.ask(bob, wire.JoinRequest(9, right))
    board.deliver()
    match = shown(ann)[-1].match
    request = wire.WatchRequest(9, match, None if code is None else code.format(right.lower()))
    assert board.tell(eve, request)[0] == answer
    assert (match in eve.known_as.rooms) == (answer == "ok")
    assert board.tell(bob, wire.WatchRequest(9, match, right)) == ["not_watching"], "they play"


def test_a_watcher_who_had_to_rest_is_shown_the_match_as_it_has_become(board: Board) -> None:
    ann, bob, eve = board.people("Ann", "Bob", "Eve")
    match = board.begin(ann, bob)
    assert board.tell(eve, wire.WatchRequest(9, match))[0] == "ok"
    eve.heard.clear()
    board.services.shares.rest_ms = lambda payer: 1  # type: ignore[method-assign]
    board.play(match, ann, bob, plies=2)
    assert eve.heard == []
    del board.services.shares.rest_ms
    board.go(2_000)
    (seen,) = shown(eve)
    assert (seen.position.ply, seen.you) == (2, None)


def test_those_who_watch_are_counted_on_all_nodes_and_listed(board: Board, members: Members) -> None:
    ann, bob, eve = board.people("Ann", "Bob", "Eve")
    match = board.begin(ann, bob)
    for request in (wire.WatchRequest(9, match), wire.UnwatchRequest(9, match)):
        members.recounted.clear()
        board.changed.clear()
        assert board.tell(eve, request)[0] == "ok"
        assert members.recounted == {match: None}
        assert board.changed == {("live", True): 1}
    assert eve.known_as.rooms == set()
    assert board.tell(eve, wire.UnwatchRequest(9, match)) == ["not_watching"]


def test_a_player_who_returns_is_told_to_all_nodes_and_to_the_opponent(board: Board, members: Members) -> None:
    ann, bob = board.people("Ann", "Bob")
    match = board.begin(ann, bob)
    session = ann.known_as
    board.registry.leave(session, match)
    presences(bob)
    for _ in range(2):
        board.tell(ann, wire.ResumeRequest(9, match, 0))
    assert members.log[-1] == (session.player, session.serial, match)
    assert members.log.count(members.log[-1]) == 1
    assert [type(each) for each in bob.heard] == [wire.Presence]
    assert [online for _, online in presences(bob)] == [True], "once"
    found = board.room(match).match
    assert found is not None
    assert not found.absences


def test_a_match_that_is_sent_again_counts_as_a_query() -> None:
    board = Board(inquiries=Rate(1, 60.0))
    ann, bob = board.people("Ann", "Bob")
    match = board.begin(ann, bob)
    board.registry.leave(ann.known_as, match)
    told = [board.tell(ann, wire.ResumeRequest(9, match, 0))[0] for _ in range(3)]
    assert told == ["ok", "ok", "too_fast"]


@pytest.mark.parametrize("missed", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("is_known", [True, False])
def test_a_few_missed_events_are_sent_one_by_one(
    monkeypatch: pytest.MonkeyPatch, board: Board, missed: int, is_known: bool
) -> None:
    monkeypatch.setattr(audience, "MAX_TAIL", 2)
    ann, bob = board.people("Ann", "Bob")
    match = board.begin(ann, bob, "gomoku")
    board.play(match, ann, bob, plies=5)
    first, _ = board.by_side(match, ann, bob)
    told = board.tell(first, wire.ResumeRequest(9, match, 6 - missed if is_known else 0))
    assert told == ["ok", *["played"] * (missed if is_known and missed <= 2 else 0), "snapshot"]


def test_matches_that_a_player_abandoned_shorten_their_grace(board: Board) -> None:
    ann, bob = board.people("Ann", "Bob")
    board.services.abandons.add(number_of(ann), board.now_ms)
    match = board.begin(ann, bob, "gomoku")
    bob.heard.clear()
    board.registry.leave(ann.known_as, match)
    (told,) = [each for each in bob.heard if isinstance(each, wire.Presence)]
    assert told.away is not None
    assert told.away.claim_in_ms == 30_000


@pytest.mark.parametrize("end", ["adjourned", "over"])
def test_a_place_of_a_bot_is_held_again_when_a_match_goes_on(end: str) -> None:
    board = Board(unmetered=())
    (ann,), bot = board.people("Ann"), board.enter(name="Bob", **BOT)
    match = board.begin(ann, bot, "gomoku")
    board.play(match, ann, bot, plies=4)
    address = str(ann.metered_as)
    board.registry.leave(ann.known_as, match)
    board.go(60_000)
    asked: wire.AnyRequest = (
        wire.ClaimRequest(9, match, "adjourn") if end == "adjourned" else wire.ResignRequest(9, match)
    )
    assert board.tell(bot, asked)[0] == "ok"
    assert board.services.players.bot_places.held_by(address) == 0
    board.tell(ann, wire.ResumeRequest(9, match, 0))
    assert board.services.players.bot_places.held_by(address) == (end == "adjourned")


def test_a_move_sets_no_new_timer_while_an_earlier_one_is_set(board: Board) -> None:
    ann, bob = board.people("Ann", "Bob")
    match = board.begin(ann, bob, "gomoku", time=TimeControl(60_000, 5_000))
    board.play(match, ann, bob, plies=2)
    movers = board.by_side(match, ann, bob)
    timers: list[float] = []
    call_later = board.loop.call_later

    def note(delay_s: float, *callback: Any) -> Any:
        timers.append(delay_s)
        return call_later(delay_s, *callback)

    board.loop.call_later = note  # type: ignore[method-assign,assignment]
    for ply in range(2, 12):
        board.go(1_000)
        timers.clear()
        assert board.tell(movers[ply % 2], wire.OfferRequest(9, match, "draw"))[0] == "ok"
        assert board.tell(movers[ply % 2], wire.PlayRequest(9, match, ply, ply))[0] == "ok"
        assert max(timers, default=0.0) < 2.0, "only for the lists of the lobby"
    board.go(79_999)
    assert board.is_over(match) is None
    board.go(1)
    assert board.is_over(match) == ("time", 1)
