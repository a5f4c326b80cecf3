"""People on three whole servers, on a log that works, who do only what they are told to."""

import json
import random
from dataclasses import replace
from typing import Any

from tests.simulation.cluster import ClusterWorld
from tests.simulation.node_server import NodeServer
from tests.simulation.peer import Peer
from tests.simulation.swarm import Swarm
from ttt_net import messages as wire
from ttt_net.clock import TimeControl


class Evening:
    """People on the nodes a, b and c, who do only what they are told to."""

    def __init__(self, *places: str) -> None:
        swarm = replace(Swarm.of(random.Random(1), ()), peers=len(places), bots=False, guests=False, delay_s=0.01)
        self.said: list[str] = []
        self.world = ClusterWorld(1, swarm, self.said.append, is_troubled=False)
        self.world.places.update(enumerate(places))
        self.go(4.0)
        self.people: list[Peer] = self.world.peers
        assert all(peer.is_welcome for peer in self.people)

    def go(self, seconds: float) -> None:
        """Let time pass."""
        loop = self.world.loop
        loop.run_until(loop.time() + seconds, 1_000_000)
        for error in loop.errors:
            raise error

    def move(self, node: str, *people: int) -> None:
        """Cut the links of people, who come back to that node."""
        for who in people:
            self.world.places[who] = node
            link = self.people[who].link
            assert link is not None
            self.people[who].lost(link)
        self.go(2.0)

    def node(self, name: str) -> NodeServer:
        server = self.world.servers[name]
        assert server is not None
        return server

    def heard(self, who: int, kind: str) -> list[dict[str, Any]]:
        """Return what somebody heard of a kind."""
        lines = [line for line in self.said if line.split()[1] == str(who) and " << " in line]
        told = [json.loads(line.partition(" << ")[2]) for line in lines]
        return [message for message in told if message["type"] == kind]

    def match(self, time: TimeControl | None = None) -> str:
        """Let the first two play, and return the id of their match."""
        for peer in self.people[:2]:
            peer.say(wire.SeekRequest(0, games=["tictactoe"], time=time))
        self.go(1.0)
        (match,) = self.people[0].matches
        assert self.people[1].matches.keys() == {match}
        return match


def steward_and_guest(evening: Evening) -> tuple[NodeServer, NodeServer]:
    """Let the first come to a node that does not keep the lobby; return the one that does, and theirs."""
    steward, _, here = (author.node for author in evening.node("a").ledger.peers.members())
    evening.move(here, 0)
    return evening.node(steward), evening.node(here)
