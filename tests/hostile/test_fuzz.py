"""Anything said by anybody at any time: exactly one answer, and every law of a match still holds."""

import asyncio
import json
import random
from typing import Any, cast

import msgspec
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.any_message import SAID
from tests.hostile.targets import TARGETS
from ttt_net import messages as wire
from ttt_net.clock import TimeControl
from ttt_net.errors import ProtocolError, Refusal
from ttt_net.matches.match import Match
from ttt_net.matches.referee import decide
from ttt_net.server.hub import Hub
from ttt_net.server.journal import Journal, MemoryLedger
from ttt_net.server.services import build_services
from ttt_net.server.settings.configuration import Configuration
from ttt_net.server.wire.connection import Connection

GAMES = ("tictactoe", "connect4", "misere", "wild", "vanishing", "ultimate", "mnk:3x3,3+swap", "tictactoe3d", "qubic")
OF_A_MATCH = [
    wire.PlayRequest,
    wire.ResignRequest,
    wire.AbortRequest,
    wire.OfferRequest,
    wire.AgreeRequest,
    wire.DeclineRequest,
    wire.ClaimRequest,
]
TIMES = [None, TimeControl(1_000, 0), TimeControl(60_000, 2_000), TimeControl(5_000, per_move=True)]


class AnyMatch(RuleBasedStateMachine):
    """Commands of both sides in any order, at any time; moves are often such as could be legal."""

    match: Match
    now_ms = 0

    @initialize(game=st.sampled_from(GAMES), time=st.sampled_from(TIMES))
    def start(self, game: str, time: TimeControl | None) -> None:
        players = (wire.PlayerInfo("Ann"), wire.PlayerInfo("Bob"))
        self.match = Match(wire.Started("m", 1, 0, game, players, time))
        self.events: list[wire.MatchEvent] = []

    def decide(self, side: int, command: Any) -> None:
        before = self.match.position()
        try:
            events = decide(self.match, side, command, self.now_ms)
        except Refusal:
            assert self.match.position() == before, "a refusal changes nothing"
            return
        for event in events:
            if isinstance(event, wire.Started):
                return  # it is the first of the next match
            self.match.evolve(event)
            self.events.append(wire.decode_event(wire.encode(event)))

    @rule(side=st.sampled_from([0, 1]), number=st.integers(0, 2**31), late=st.sampled_from([0, 0, 0, 0, -1, 1]))
    def plays(self, side: int, number: int, late: int) -> None:
        legal = self.match.position().legal or [0]
        ply = max(0, self.match.position().ply + late)
        self.decide(side, wire.PlayRequest(1, "m", ply, legal[number % len(legal)]))

    @rule(side=st.sampled_from([0, 1]), said=st.one_of(*[SAID[kind] for kind in OF_A_MATCH]))
    def says(self, side: int, said: Any) -> None:
        self.decide(side, said)

    @rule(passed_ms=st.integers(0, 70_000))
    def waits(self, passed_ms: int) -> None:
        self.now_ms += passed_ms

    @invariant()
    def numbers_follow_one_another(self) -> None:
        if hasattr(self, "events"):
            assert [event.seq for event in self.events] == list(range(2, 2 + len(self.events)))


TestAnyMatch = AnyMatch.TestCase
TestAnyMatch.settings = settings(max_examples=60, stateful_step_count=40)

FRAMES = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=200).map(str.encode),
    st.one_of(*SAID.values()).map(lambda said: msgspec.json.encode(msgspec.to_builtins(said))),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=10,
    ).map(lambda value: json.dumps(value).encode()),
)


READER_OF_A_LIST_THAT_CHANGES = [
    (0, b'{"type":"hello","id":0,"protocols":[1]}'),
    (0, b'{"type":"lobby","id":0,"on":true}'),
    (0, b'{"type":"unwatch","id":0,"match":"m"}'),
]


@given(st.lists(st.tuples(st.integers(0, 2), FRAMES), max_size=30), st.integers(0, 1_000))
@example(READER_OF_A_LIST_THAT_CHANGES, 0)
@settings(max_examples=150)
def test_a_hub_answers_every_frame_exactly_once_and_is_never_at_fault(said: list[tuple[int, bytes]], seed: int) -> None:
    asyncio.run(answer_all(said, seed))


async def answer_all(said: list[tuple[int, bytes]], seed: int) -> None:
    """Let a hub answer, on an event loop that never turns: what is told later is never told."""
    ledger = MemoryLedger(is_instant=True)
    journal, loop = Journal(ledger), asyncio.get_running_loop()
    hub = Hub(build_services(Configuration(name="test"), journal, loop, lambda: 0, random.Random(seed)))
    peers = [Silent() for _ in range(3)]
    for number, frame in said:
        peer = peers[number]
        before = len(peer.answers)
        try:
            hub.received(cast(Connection, peer), frame.decode(errors="replace"))
        except ProtocolError:
            continue
        assert len(peer.answers) == before + 1
    ledger.database.close()


class Silent:
    """A connection that writes down the answers."""

    session: object = None
    is_open = True
    lag_ms = 0
    address = "127.0.0.1"
    metered_as = None
    account = None
    has_said_hello = False
    lacks_place = False
    left_on_purpose = False

    def __init__(self) -> None:
        self.answers: list[bytes] = []

    def hold(self) -> None:
        """Nothing is read from it that could wait."""

    def meter(self) -> int:
        return 0

    def send(self, frames: bytes) -> None:
        if b'"type":"ok"' in frames or b'"type":"refused"' in frames:
            self.answers.append(frames)

    def refuse(self, request: int | None, refusal: Refusal) -> None:
        self.send(wire.encode(wire.refused(request, refusal)))

    def close(self, closing: object, reason: str = "") -> None:
        self.is_open = False


@given(st.binary(max_size=500))
@settings(max_examples=300)
def test_any_bytes_pass_every_target_of_the_fuzzer(data: bytes) -> None:
    for target in TARGETS.values():
        target(data)
