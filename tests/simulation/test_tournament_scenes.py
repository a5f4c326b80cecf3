"""Tournaments whose server is killed at every single write, and one of five hundred players."""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import pytest

from tests.simulation import invariants, tournaments
from tests.simulation.peer import Peer
from tests.simulation.swarm import Swarm
from tests.simulation.world import World
from ttt_net import messages as wire
from ttt_net.clock import TimeControl
from ttt_net.server.journal.database import Answer, Job
from ttt_net.server.journal.entries import JournalEntry
from ttt_net.server.matchmaking import tournament_service

_TRIES = 60


def people(count: int) -> World:
    """Return a world of so many people, who do only what they are told to."""
    swarm = replace(Swarm.of(random.Random(1), ()), peers=count, bots=False, guests=False, delay_s=0.01)
    world = World(1, replace(swarm, is_contested=False, is_strict=False, has_tournaments=True))
    world.faults_are_on = False
    for peer in world.peers:
        peer.address = f"192.0.2.{1 + peer.number // 50}"
    return world


class Kill:
    """Kills the server at one write, if any: before it is committed, or after that and before anybody knows."""

    def __init__(self, world: World, number: int, moment: Literal["before", "after"]) -> None:
        self._world, self._number, self._moment = world, number, moment
        self.writes = 0
        self._commit = world.disk.commit
        world.disk.commit = self._committed  # type: ignore[method-assign]

    def _committed(self, jobs: Sequence[Job]) -> list[Answer]:
        self.writes += any(isinstance(job.asked, JournalEntry) for job in jobs)
        if not self._number or self.writes != self._number:
            return self._commit(jobs)
        self._number = 0
        answers = self._commit(jobs) if self._moment == "after" else []
        with self._world.loop.acting_as(0):
            self._world.crash()
        return answers


class Evening:
    """A tournament that is held until it is over: people ask again for what is not written."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.teacher, *self.players = world.peers

    def count(self, fact: str) -> int:
        """Return how many facts of a kind are written."""
        query = "SELECT count(*) FROM tournament_facts WHERE fact ->> 'fact' = ?"
        return int(self.world.truth.execute(query, (fact,)).fetchone()[0])

    def until(self, is_done: Callable[[], bool], act: Callable[[], None]) -> None:
        """Act again and again until it is done."""
        for _ in range(_TRIES):
            self.world.wait(1.0)
            if is_done():
                return
            act()
        raise AssertionError("it is not done in time")

    def say(self, peer: Peer, request: wire.Request) -> None:
        if peer.is_idle:
            peer.say(request)

    def has_entered(self, peer: Peer) -> bool:
        query = "SELECT 1 FROM tournament_facts WHERE fact ->> 'fact' = 'entered' AND fact ->> 'player' = ?"
        return self.world.truth.execute(query, (self.world.player_of(peer.token),)).fetchone() is not None

    def hold(self, rounds: int) -> None:
        """Hold a Swiss in which those who move second resign, with a correction at its end."""
        terms = wire.OrganiseRequest(0, "Friday", "swiss", TimeControl(60_000), "tictactoe", rounds, pause_s=None)
        self.until(lambda: self.count("opened") > 0, lambda: self.say(self.teacher, terms))
        (code,) = self.world.truth.execute("SELECT id FROM tournaments").fetchone()

        def enter() -> None:
            for peer in self.players:
                if not self.has_entered(peer):
                    self.say(peer, wire.EnterRequest(0, code))

        self.until(lambda: self.count("entered") == len(self.players), enter)

        def direct(act: wire.TournamentAct) -> Callable[[], None]:
            request = wire.DirectRequest(0, code, act, round=1, board=1, result="1/2-1/2", note="both agreed")
            return lambda: self.say(self.teacher, request)

        self.until(lambda: self.count("begun") == 1, direct("start"))
        for number in range(1, rounds + 1):
            self.until(lambda number=number: self.count("began") == number, direct("next"))  # type: ignore[misc]
            self.until(self.is_settled, self.resign)
            if number == 1:
                self.until(lambda: self.count("corrected") == 1, direct("correct"))
        self.until(lambda: self.count("closed") == 1, lambda: None)

    def is_settled(self) -> bool:
        return self.world.truth.execute("SELECT 1 FROM pairings WHERE NOT is_over").fetchone() is None

    def resign(self) -> None:
        for peer in self.players:
            for match, seen in list(peer.matches.items()):
                if seen.you == 1 and seen.outcome is None:
                    self.say(peer, wire.ResignRequest(0, match))

    def check(self, rounds: int) -> None:
        """Check that each round has each player once, and that the standings are those of all results."""
        world = self.world
        tournaments.check(world)
        assert world.server is not None
        ((number, code),) = world.truth.execute("SELECT number, id FROM tournaments").fetchall()
        read = tournaments.Read(world.truth, number)
        assert [fact["round"] for fact in read.facts if fact["fact"] == "began"] == [*range(1, rounds + 1)]
        desk = world.server.hub.tournaments.desks.get(code)
        scores = read.scores()
        assert sum(scores.values()) == rounds * len(self.players)
        if desk is not None:  # else it had ended when the server was killed
            assert {row.entrant: row.score for row in desk.now.standings()} == scores
        for peer in world.peers:
            peer.end()


def held(number: int, moment: Literal["before", "after"], players: int = 4, rounds: int = 2) -> int:
    """Hold a tournament whose server is killed at a write; return how many writes there were."""
    world = people(1 + players)
    kill = Kill(world, number, moment)
    evening = Evening(world)
    evening.hold(rounds)
    evening.check(rounds)
    return kill.writes


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_server_that_is_killed_at_any_write_of_a_tournament_loses_and_repeats_nothing(
    moment: Literal["before", "after"],
) -> None:
    writes = held(0, moment)
    assert writes > 12
    for number in range(1, writes + 1):
        held(number, moment)


@pytest.mark.long
def test_five_hundred_players_play_a_swiss_on_a_server_that_is_killed_in_mid_round(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(invariants, "MOST_IN_MEMORY", 4_000)
    monkeypatch.setattr(tournament_service, "INLINE", 1_000)  # a simulated world starts no processes
    world = people(501)
    evening = Evening(world)
    resign, struck = evening.resign, dict[int, int]()

    def strike() -> None:
        (open_boards,) = world.truth.execute("SELECT count(*) FROM pairings WHERE NOT is_over").fetchone()
        struck[evening.count("began")] = open_boards
        world.crash()

    def resign_and_strike() -> None:
        resign()
        if evening.count("began") not in struck:
            world.loop.call_later(0.005, strike)

    evening.resign = resign_and_strike  # type: ignore[method-assign]
    evening.hold(3)
    evening.check(3)
    assert struck.keys() == {1, 2, 3}
    assert all(0 < open_boards < 250 for open_boards in struck.values()), struck
    boards = [json.loads(fact) for (fact,) in world.truth.execute("SELECT fact FROM tournament_facts")]
    assert [len(fact["boards"]) for fact in boards if fact["fact"] == "began"] == [250, 250, 250]
