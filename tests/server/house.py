"""A hub without sockets and threads, whose journal answers when a test says so."""

import random
from collections.abc import Callable, Sequence
from typing import Any, cast

from tests.server.link import Link
from tests.simulation.loop import SimulatedLoop
from ttt_net import messages as wire
from ttt_net.errors import Closing, Refusal
from ttt_net.server.accounts import MIN_TOKEN, session_elsewhere
from ttt_net.server.admission.sanctions import Sanction
from ttt_net.server.cluster.log import Came
from ttt_net.server.hub import Hub
from ttt_net.server.journal import Journal, MemoryLedger
from ttt_net.server.online_players import Session
from ttt_net.server.players import Player
from ttt_net.server.services import build_services
from ttt_net.server.settings.configuration import Configuration, Games, Limits
from ttt_net.server.wire.connection import Connection, RemoteConnection

TOKEN = "a" * MIN_TOKEN


class Caller(Link):
    """A connection that has said nothing yet."""

    def __init__(self, place: str = "192.0.2.7") -> None:
        super().__init__()
        self.place, self.opened_s = place, 0.0
        self.turned_away: object = None
        self.closings: list[Closing] = []

    def charge(self, ms: float) -> None:
        """Charge nobody."""

    def close(self, closing: Closing, reason: str = "") -> None:
        self.closings.append(closing)
        super().close(closing, reason)

    def take(self) -> list[str]:
        """Return the kinds of the messages since the last call, refusals by their code."""
        news, self.heard = self.heard, []
        return [str(each.code) if isinstance(each, wire.Refused) else type(each).__name__.lower() for each in news]

    @property
    def welcome(self) -> wire.Welcome:
        return [each for each in self.heard if isinstance(each, wire.Welcome)][-1]

    @property
    def known_as(self) -> Session:
        """The session that the connection has."""
        assert isinstance(self.session, Session)
        return self.session


class Members:
    """Notes what a node writes about its sessions in the log of a cluster; the test says when that is there."""

    def __init__(self) -> None:
        self.is_fresh = self.keeps_lobby = True
        self.is_aside = False
        self.recounted: dict[str, None] = {}
        self.serial = 0
        self.log: list[Any] = []
        """The arrivals as entries, departures as (player, serial, on purpose), and seats as (player, serial, match)."""
        self.waiting: list[tuple[Callable[[Player], None], Callable[[Refusal], None]]] = []

    def urls(self) -> list[str]:
        return ["ws://one", "ws://two"]

    def next_serial(self) -> int:
        self.serial += 1
        return self.serial

    def came(self, came: Came, done: Callable[[Player], None], failed: Callable[[Refusal], None]) -> None:
        self.log.append(came)
        self.waiting.append((done, failed))

    def went(self, player: int, serial: int, *, on_purpose: bool) -> None:
        self.log.append((player, serial, on_purpose))

    def sat(self, player: int, serial: int, match: str) -> None:
        self.log.append((player, serial, match))


class House:
    """A hub whose journal answers when the test says so."""

    def __init__(
        self,
        words: Any = None,
        rng: random.Random | None = None,
        members: Members | None = None,
        games: Games | None = None,
        coach: Sequence[str] | None = None,
        engine: Sequence[str] | None = None,
        **limits: Any,
    ) -> None:
        self.loop, self.ledger, self.now_ms = SimulatedLoop(), MemoryLedger(), 5_000_000
        chosen = Limits(**{"unmetered": ("192.0.5.0/24",), **limits})
        configuration = Configuration(name="x", limits=chosen, games=games or Games())
        self.services = build_services(
            configuration, Journal(self.ledger), self.loop.as_asyncio, lambda: self.now_ms, rng or random.Random(1),
            engine, word_file=lambda: words, membership=cast(Any, members), coach=coach,
        )  # fmt: skip
        self.services.words.look()
        self.hub = Hub(self.services)

    def caller(self, place: str = "192.0.2.7") -> Caller:
        link = Caller(place)
        self.hub.opened(cast(Connection, link), place)
        return link

    def ask(self, link: Caller, request: wire.AnyRequest) -> None:
        self.hub.received(cast(Connection, link), wire.encode(request).decode())

    def hello(self, link: Caller | None = None, **who: Any) -> Caller:
        """Say hello; the answer comes with the next `deliver`."""
        link = link or self.caller()
        link.asked += 1
        self.ask(link, wire.HelloRequest(link.asked, [1], **who))
        return link

    def enter(self, **who: Any) -> Caller:
        """Let somebody in."""
        link = self.hello(**who)
        self.deliver()
        assert link.session is not None, link.heard
        return link

    def deliver(self) -> None:
        """Let the journal answer, and answer what is asked because of that."""
        for _ in range(20):
            self.ledger.deliver()

    def leave(self, link: Caller) -> None:
        link.is_open = False
        self.hub.closed(cast(Connection, link))
        self.deliver()

    def impose(self, act: Any, whom: str, **fields: Any) -> None:
        """Put a sanction in force, for an hour."""
        self.services.sanctions.impose([Sanction(act, whom, "", "rude", 5_000_000, 8_600_000, **fields)])


def elsewhere(house: House, number: int, name: str, told: list[object] | None = None, **fields: Any) -> Session:
    """Let a player arrive at another node; what is forwarded to them is told."""
    came = Came(number, 1, "key", 0, "", **fields)
    forward = lambda frames, closing: told.append(closing) if told is not None else None  # noqa: E731
    now_s = house.loop.time()
    connection = RemoteConnection("b", "", number, now_s, forward, house.services.shares, is_metered=False)
    session = session_elsewhere(came, Player(number, name), connection)
    house.hub.sessions.begin_elsewhere(session)
    return session


def known(house: House) -> Player:
    """Return Ann as the journal has her."""
    found: list[Player | None] = []
    house.services.journal.find(TOKEN, None, 0, found.append, lambda refusal: None)
    house.deliver()
    assert found[0] is not None
    return found[0]
