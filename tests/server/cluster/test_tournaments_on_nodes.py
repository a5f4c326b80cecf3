"""Tournaments of a cluster: three whole servers, on a log that works."""

import io
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.server.cluster.evening import Evening
from tests.simulation import tournaments
from ttt_net import messages as wire
from ttt_net.clock import TimeControl
from ttt_net.errors import Code
from ttt_net.server.cluster.replica import Replica
from ttt_net.tournaments.tournament import Board, BoardsBegan


def organised(evening: Evening, who: int = 0, **terms: Any) -> str:
    """Let somebody make a tournament; return its code."""
    usual: dict[str, Any] = {"time": TimeControl(60_000), "rounds": 2, "pause_s": 1, "begin_s": 60, "kind": "swiss"}
    evening.people[who].say(wire.OrganiseRequest(0, "Friday", **(usual | terms)))
    evening.go(0.5)
    return str(evening.heard(who, "tournament")[-1]["tournament"])


def entered(evening: Evening, code: str, *people: int) -> None:
    """Let people enter, all at the same moment."""
    for who in people:
        evening.people[who].say(wire.EnterRequest(0, code))
    evening.go(1.0)


def state(evening: Evening, who: int, code: str) -> dict[str, Any]:
    """Return the tournament as the node of somebody tells it."""
    for on in (True, False):
        evening.people[who].say(wire.AttendRequest(0, code, on=on))
        evening.go(0.5)
    return evening.heard(who, "tournament")[-1]


def seats(evening: Evening) -> dict[int, str]:
    """Return the open match of each person."""
    found = {}
    for who, peer in enumerate(evening.people):
        for match, seen in peer.matches.items():
            if seen.outcome is None and seen.you is not None:
                found[who] = match
    return found


def give_up(evening: Evening, *matches: str) -> None:
    """Let the player who moves second resign, in some matches or in all."""
    for who, match in seats(evening).items():
        if (not matches or match in matches) and evening.people[who].matches[match].you == 1:
            evening.people[who].say(wire.ResignRequest(0, match=match))
    evening.go(0.8)


def steward_of(evening: Evening) -> str:
    (steward,) = (name for name in "abc" if (node := evening.world.servers[name]) and node.ledger.is_steward)
    return steward


def test_players_on_three_nodes_play_a_swiss_that_all_nodes_tell_alike() -> None:
    evening = Evening("a", "b", "c", "a", "b")
    assert all("tournaments" in evening.heard(who, "welcome")[-1]["features"] for who in range(5))
    code = organised(evening, 1)
    entered(evening, code, 0, 2, 3, 4)
    evening.people[1].say(wire.DirectRequest(0, code, "start"))
    for number in (1, 2):
        evening.go(2.5)
        assert seats(evening).keys() == {0, 2, 3, 4}, f"round {number} has not all players"
        give_up(evening)
    evening.go(2.5)
    told = [state(evening, who, code) for who in (0, 1, 2)]
    assert told[0] == told[1] == told[2]
    assert (told[0]["state"], told[0]["ended"], told[0]["round"]) == ("over", "finished", 2)
    assert sum(row["score"] for row in told[0]["standings"]) == 8
    evening.world.check()
    tournaments.check(evening.world)


def test_players_entering_on_all_nodes_at_once_are_entered_once_each() -> None:
    evening = Evening("a", "b", "c", "a", "b", "c")
    code = organised(evening)
    entered(evening, code, *range(6))
    names = [row["player"] for row in state(evening, 5, code)["standings"]]
    assert sorted(names) == sorted(peer.name for peer in evening.people)
    for who in range(6):
        assert evening.people[who].talk.asked == {}
    assert not any("refused" in line for line in evening.said)


def test_a_round_continues_after_its_steward_dies_and_the_next_steward_begins_the_following_round() -> None:
    evening = Evening("a", "b", "c", "b", "c")
    steward = steward_of(evening)
    here, there = (name for name in "abc" if name != steward)
    evening.move(here, 0, 1, 3)
    evening.move(there, 2, 4)
    code = organised(evening)
    entered(evening, code, 1, 2, 3, 4)
    evening.people[0].say(wire.DirectRequest(0, code, "start"))
    evening.go(1.5)
    before = seats(evening)
    assert before.keys() == {1, 2, 3, 4}
    give_up(evening, before[1])
    evening.node(steward).die()
    evening.go(5.0)
    assert seats(evening).keys() == {who for who in before if before[who] != before[1]}
    give_up(evening)
    evening.go(3.0)
    after = seats(evening)
    assert after.keys() == {1, 2, 3, 4}
    assert not set(after.values()) & set(before.values())
    told = state(evening, 0, code)
    assert told == state(evening, 2, code)
    assert (told["round"], sum(row["score"] for row in told["standings"])) == (2, 4)


def test_a_node_that_dies_in_mid_round_and_returns_holds_the_round_and_its_players_play_on_elsewhere() -> None:
    evening = Evening("a", "b", "c", "b")
    steward = steward_of(evening)
    other, here = (name for name in "abc" if name != steward)
    evening.move(here, *range(4))
    code = organised(evening)
    entered(evening, code, 1, 2)
    evening.people[0].say(wire.DirectRequest(0, code, "start"))
    evening.go(1.5)
    (match,) = set(seats(evening).values())
    evening.world.crash(evening.node(here))  # which starts again later
    evening.world.places.update(dict.fromkeys(range(4), other))
    evening.go(8.0)
    assert seats(evening) == {1: match, 2: match}
    rooms = [evening.node(name).hub.registry.rooms for name in "abc"]
    assert all(match in each for each in rooms)
    give_up(evening)
    evening.go(3.0)
    evening.move(here, 0)
    assert state(evening, 0, code)["round"] == 2


def test_the_steward_ends_a_match_whose_players_are_on_no_node() -> None:
    evening = Evening("a", "b", "c", "b", "c")
    code = organised(evening, begin_s=5)
    entered(evening, code, 1, 2, 3, 4)
    evening.people[0].say(wire.DirectRequest(0, code, "start"))
    evening.go(1.5)
    boards = seats(evening)
    gone = {who for who in boards if boards[who] == boards[1]}
    for who in gone:
        evening.people[who].leave()
    evening.go(12.0)
    ends = dict(evening.world.truth.execute("SELECT match, winner FROM pairings WHERE reason = 'forfeit'").fetchall())
    other = next(match for match in boards.values() if match != boards[1])
    assert ends == {boards[1]: None, other: 1}  # of the others, the one who moves second waited
    late = next(who for who in boards if who not in gone and evening.people[who].matches[other].you == 0)
    left = [row["player"] for row in state(evening, 0, code)["standings"] if row.get("gone")]
    assert sorted(left) == sorted(evening.people[who].name for who in gone | {late})


def test_a_clock_runs_out_although_both_players_have_left_all_nodes() -> None:
    evening = Evening("a", "b", "c")
    steward = steward_of(evening)
    evening.move(next(name for name in "abc" if name != steward), 1, 2)
    code = organised(evening, time=TimeControl(8_000))
    entered(evening, code, 1, 2)
    evening.people[0].say(wire.DirectRequest(0, code, "start"))
    evening.go(1.5)
    (match,) = set(seats(evening).values())
    for _ in range(3):
        next(evening.people[who] for who in (1, 2) if match in evening.people[who].turns()).play(match)
        evening.go(0.5)
    for who in (1, 2):
        evening.people[who].leave()
    evening.go(12.0)
    query = "SELECT winner, reason FROM pairings WHERE match = ?"
    assert evening.world.truth.execute(query, (match,)).fetchone() == (0, "time")


def test_only_the_steward_begins_a_round() -> None:
    evening = Evening("a", "b", "c")
    code = organised(evening, pause_s=None)
    entered(evening, code, 0, 1)
    steward = steward_of(evening)
    for name in sorted("abc", key=lambda name: name == steward):
        node = evening.node(name)
        now, at_ms = node.hub.tournaments.desks[code].now, node.wall_ms()
        began = BoardsBegan(at_ms, 1, (Board(1, 1, 2, f"match-{name}"),))
        started = wire.Started(f"match-{name}", 1, at_ms, "tictactoe", (wire.PlayerInfo(""), wire.PlayerInfo("")))
        starts = [(started, (now.entrants[1].player, now.entrants[2].player))]
        said: list[object] = []
        with evening.world.loop.acting_as(node.process):
            journal = node.hub.services.journal
            journal.begin_boards(code, now.seq + 1, began, starts, partial(said.append, "begun"), said.append)
        evening.go(0.5)
        assert [getattr(each, "code", each) for each in said] == ["begun" if name == steward else Code.RESTARTING]


def test_a_node_that_begins_anew_from_a_snapshot_holds_the_running_tournaments() -> None:
    evening = Evening("a", "b", "c")
    steward = steward_of(evening)
    here = next(name for name in "abc" if name != steward)
    evening.move(steward, 0, 1, 2)
    code = organised(evening)
    entered(evening, code, 1, 2)
    evening.people[0].say(wire.DirectRequest(0, code, "start"))
    evening.go(1.5)
    world, image = evening.world, io.BytesIO()
    evening.node(steward).replica.write_to(image)
    world.crash(evening.node(here))
    world.stream.keep(evening.node(steward).replica.position, image.getvalue())
    world.replicas[here] = Replica(None)
    evening.go(6.0)
    assert set(seats(evening).values()) <= evening.node(here).hub.registry.rooms.keys()
    give_up(evening)
    evening.go(3.0)
    evening.move(here, 0, 1)
    assert state(evening, 0, code) == state(evening, 2, code)
    assert seats(evening).keys() == {1, 2}


@pytest.mark.parametrize(
    "request_of", [lambda code: wire.EnterRequest(0, code), lambda code: wire.JoinRequest(0, code)]
)
def test_a_code_works_on_a_node_that_does_not_know_its_tournament_yet(
    request_of: Callable[[str], wire.Request],
) -> None:
    evening = Evening("a", "b")
    there = evening.node("b")
    there.log.is_cut_off = True
    code = organised(evening)
    evening.people[1].say(request_of(code))
    evening.go(0.2)
    assert code not in there.hub.tournaments.desks
    there.log.is_cut_off = False
    there.log.deliver()
    evening.go(2.0)
    assert [row["player"] for row in state(evening, 1, code)["standings"]] == [evening.people[1].name]


def test_all_nodes_together_count_the_tournaments_that_a_player_makes() -> None:
    evening = Evening("a", "b")
    codes = [organised(evening) for _ in range(3)]
    evening.people[0].say(wire.DirectRequest(0, codes[0], "end"))
    evening.go(0.5)
    evening.move("b", 0)
    evening.people[0].say(wire.OrganiseRequest(0, "Friday", "swiss", TimeControl(60_000)))
    evening.go(0.5)
    assert evening.heard(0, "refused")[-1]["code"] == "too_fast"


@pytest.mark.parametrize("kind", ["arena", "king"])
def test_a_tournament_without_rounds_continues_after_its_steward_dies(kind: wire.TournamentKind) -> None:
    evening = Evening("a", "b", "c", "b", "c")
    steward = steward_of(evening)
    here, there = (name for name in "abc" if name != steward)
    evening.move(here, 0, 1, 3)
    evening.move(there, 2, 4)
    code = organised(evening, kind=kind, rounds=1, minutes=5)
    entered(evening, code, 1, 2, 3, 4)
    evening.people[0].say(wire.DirectRequest(0, code, "start"))
    evening.go(3.0)
    first = seats(evening)
    assert first
    give_up(evening)
    evening.go(3.0)
    second = seats(evening)
    assert second
    assert not set(second.values()) & set(first.values())
    evening.node(steward).die()
    evening.go(5.0)
    give_up(evening)
    evening.go(20.0)
    third = seats(evening)
    assert third
    assert not set(third.values()) & {*first.values(), *second.values()}
    give_up(evening)
    evening.people[0].say(wire.DirectRequest(0, code, "end"))
    evening.go(2.0)
    told = [state(evening, who, code) for who in (0, 2)]
    assert told[0] == told[1]
    assert (told[0]["state"], told[0]["ended"]) == ("over", "ended")
    assert sum(row["score"] for row in told[0]["standings"]) > 0
