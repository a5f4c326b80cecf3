"""A small deterministic world on simulated time, in which a test decides what people do."""

from dataclasses import replace
from itertools import count

from tests.simulation.peer import Peer
from tests.simulation.swarm import Swarm
from tests.simulation.world import World
from ttt_net import messages as wire
from ttt_net.clock import TimeControl

_QUIET = Swarm(
    peers=2,
    bots=True,
    guests=False,
    rated=True,
    times=(None, TimeControl(60_000)),
    requests=(),
    faults=(),
    delay_s=0.01,
    think_s=0.2,
    is_played_out=False,
)


def person_and_bot() -> tuple[World, Peer, Peer]:
    """Return a world with one person and one bot, both connected, who do only what they are told to."""
    for seed in count(1):
        world = World(seed, _QUIET)
        world.faults_are_on = False
        people, bots = ([peer for peer in world.peers if peer.is_bot == is_bot] for is_bot in (False, True))
        if people and bots:
            world.wait(3.0)
            assert people[0].is_welcome
            assert bots[0].is_welcome
            return world, people[0], bots[0]
    raise AssertionError("there is no last seed")


def bots_on_the_ladder() -> tuple[World, list[Peer]]:
    """Return a world with two of the product's bots and some people who do nothing; the bots seek rated matches."""
    swarm = replace(_QUIET, peers=4, think_s=0.02)
    seed = next(seed for seed in count(1) if sum(peer.is_bot for peer in World(seed, swarm).peers) == 2)
    world = World(seed, replace(swarm, has_house_bots=True, has_ladder=True))
    world.faults_are_on = False
    return world, [peer for peer in world.peers if peer.is_bot]


def begin(world: World, one: Peer, other: Peer, *, rated: bool = False, time: TimeControl | None = None) -> str:
    """Let one player challenge the other, who accepts; return the match that begins."""
    one.say(wire.ChallengeRequest(0, name=other.name, game="connect4", time=time, rated=rated))
    world.wait(1.0)
    other.say(wire.AnswerRequest(0, challenge=other.challenges[-1], accept=True))
    world.wait(1.0)
    return next(name for name, seen in one.matches.items() if seen.outcome is None)


def play(world: World, match: str, plies: int, *peers: Peer) -> None:
    """Let the players of a match make so many moves."""
    for _ in range(plies):
        next(peer for peer in peers if match in peer.turns()).play(match)
        world.wait(1.0)


def end_of(world: World, match: str) -> tuple[str, int | None] | None:
    """Return how a match ended, and who won, as it was written down; None if it goes on."""
    query = "SELECT reason, winner FROM matches WHERE id = ? AND is_over"
    row = world.truth.execute(query, (match,)).fetchone()
    return None if row is None else (row[0], row[1])
