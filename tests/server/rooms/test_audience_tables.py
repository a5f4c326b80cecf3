"""Tables over simulated time: whose time is over and where, places of bots, and how many watch and listen."""

from typing import Any, cast

import pytest

from tests.server.accounts.house import Caller, elsewhere
from tests.server.matchmaking.parlour import Parlour
from ttt_net import messages as wire
from ttt_net.clock import TimeControl
from ttt_net.server.journal.entries import AppendEvents
from ttt_net.server.rooms import audience
from ttt_net.server.settings.setting import Rate


def begin(parlour: Parlour, one: Caller, other: Caller, **wish: Any) -> str:
    """Let two play; return the match."""
    parlour.ask(one, wire.ChallengeRequest(9, other.known_as.info.name, "gomoku", **wish))
    parlour.ask(other, wire.AnswerRequest(9, other.numbers()[-1], True))
    parlour.deliver()
    return [each.match for each in one.heard if isinstance(each, wire.Snapshot)][-1]


def test_watchers_of_all_nodes_are_counted_and_only_changes_are_told() -> None:
    parlour = Parlour()
    ann, bob, cid = parlour.people("Ann", "Bob", "Cid")
    match = begin(parlour, ann, bob)
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


HERE, ELSEWHERE, ARRIVING, LATE, AWAY = "here", "elsewhere", "arriving", "late", "away"


@pytest.mark.parametrize("is_steward", [True, False])
@pytest.mark.parametrize("in_tournament", [True, False])
@pytest.mark.parametrize("other", [HERE, ELSEWHERE, AWAY])
@pytest.mark.parametrize("mover", [HERE, ELSEWHERE, ARRIVING, LATE, AWAY])
def test_the_node_of_a_player_decides_that_their_time_is_over_or_else_their_opponent_s_or_the_steward(
    mover: str, other: str, monkeypatch: pytest.MonkeyPatch, *, in_tournament: bool, is_steward: bool
) -> None:
    parlour = Parlour()
    ann, bob = parlour.people("Ann", "Bob")
    cid = parlour.enter(name="Cid")
    match = begin(parlour, ann, bob, time=TimeControl(60_000))
    parlour.ask(cid, wire.WatchRequest(9, match))
    monkeypatch.setattr(type(parlour.services), "keeps_lobby", property(lambda _: is_steward))
    room = parlour.hub.registry.rooms[match]
    assert room.match is not None
    room.match.tournament = cast(Any, object()) if in_tournament else None
    for link, place in ((ann, mover), (bob, other)):
        player = link.known_as.player
        if place != HERE:
            room.audience.leave(link.known_as)
            parlour.services.players.remove(link.known_as)
        if place in (ELSEWHERE, ARRIVING, LATE):
            session = elsewhere(parlour, player, link.known_as.info.name)
            if place == ELSEWHERE:
                room.audience.seat(session)
    parlour.loop.run_until(2.0 if mover == LATE else 1.999, 1_000_000)
    side = room.seats.side_of(ann.known_as.player)
    assert side is not None
    decides = is_steward if in_tournament else other == HERE
    expected = decides if mover in (LATE, AWAY) else mover == HERE
    assert room.seats.watches_time(room.match, side) == expected
    assert not room.seats.lets_flag_fall(room.match), "no time runs before the first moves"


PERSON: dict[str, Any] = {}
BOT = {"bot": "alpha", "places": 3}


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
    matches = [begin(parlour, ann, bob) for _ in range(3)]
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
