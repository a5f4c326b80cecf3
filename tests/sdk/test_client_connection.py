import asyncio
import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, repeat
from typing import Any, cast

import pytest
from msgspec.structs import replace
from websockets.exceptions import InvalidHandshake
from websockets.frames import Frame, Opcode
from websockets.http11 import Request as HttpRequest
from websockets.server import ServerProtocol

from tests.client.fake_server import fake_server
from tests.client.samples import ok, played, snapshot, welcome
from tests.patience import PATIENCE_S
from tests.ports import reserved
from tests.sdk.linked import Client, client_of
from tests.simulation.loop import SimulatedLoop
from ttt_net.client.mailbox import MAX_QUEUED_EVENTS
from ttt_net.errors import Closing, Code
from ttt_net.messages import (
    AnyRequest,
    AnyServerMessage,
    HelloRequest,
    Notice,
    Ok,
    PingRequest,
    PlayRequest,
    Refused,
    RenameRequest,
    ResumeRequest,
    SeekRequest,
    Snapshot,
    Welcome,
    decode_request,
    encode,
)
from ttt_net.sdk import client_connection
from ttt_net.sdk.client_connection import (
    DELAYS_MS,
    FOREVER,
    LIVE_DELAY_MS,
    MAX_NODES,
    MAX_UNREAD_BYTES,
    ClientConnection,
    ReconnectLimits,
    SocketTransport,
    addresses,
    certificate_at,
    delay_ms,
    open_transport,
)
from ttt_net.sdk.client_protocol import HURRIED, PATIENT
from ttt_net.sdk.client_session import ClientSession
from ttt_net.sdk.received import Answered, Back, ConnectionEvent, Farewell, Garbled, Lost, Parting, Retrying
from ttt_net.sdk.trust import Trust


async def test_hello_comes_first_and_the_token_is_stored_and_not_shown() -> None:
    async with fake_server() as server, client_of(server) as client:
        link = await server.accepts()
        hello = await link.lets_in(token="secret")
        assert hello.name == "Ann"
        assert await client.hears(Welcome) == welcome()
        assert client.tokens == ["secret"]


async def test_requests_are_answered_one_by_one_and_events_come_in_order() -> None:
    async with fake_server() as server, client_of(server) as client:
        link = await server.accepts()
        await link.lets_in()
        await client.hears(Welcome)
        client.connection.say(SeekRequest(0, ["tictactoe"]))
        seek = await link.hears(SeekRequest)
        await link.tells(ok(seek.id), snapshot(), played("tictactoe", [4]), played("tictactoe", [4, 0]))
        assert await client.hears(Answered) == Answered(seek, Ok(seek.id))
        await client.hears(Snapshot)
        for moves in ([4], [4, 0]):
            event = await client.hears(object)
            assert event == played("tictactoe", moves)
        assert len(client.frames) == 6


async def test_waiting_for_an_answer_ends_with_its_delivery() -> None:
    async with fake_server() as server, client_of(server) as client:
        link = await server.accepts()
        await link.lets_in()
        await client.hears(Welcome)
        client.connection.say(PingRequest(0))
        await link.tells(ok((await link.hears(PingRequest)).id))
        async with asyncio.timeout(PATIENCE_S):
            while client.mailbox.empty():
                assert client.connection.is_asking, "the answer is on its way from the socket to the mailbox"
                await asyncio.sleep(0)
        assert not client.connection.is_asking


@pytest.mark.parametrize("how", [Closing.RESTART, Closing.FAULT, Closing.TOO_SLOW, Closing.NO_HELLO, 4999, None])
async def test_a_dropped_connection_reconnects_resumes_and_repeats_unanswered_requests(how: int | None) -> None:
    async with fake_server() as server, client_of(server) as client:
        link = await server.accepts()
        await link.lets_in(token="secret")
        await link.tells(snapshot())
        await client.comes_to(Snapshot)
        client.connection.say(PlayRequest(0, match="m1", ply=0, move=4))
        play = await link.hears(PlayRequest)
        await (link.breaks() if how is None else link.closes(how))
        lost = await client.hears(Lost)
        assert await client.hears(Retrying) == Retrying(1, DELAYS_MS[0] // 2, lost.reason)
        link = await server.accepts()
        hello = await link.lets_in("m1")
        assert (hello.name, hello.token) == (None, "secret")
        resume = await link.hears(ResumeRequest)
        assert (resume.match, resume.seq) == ("m1", 1)
        await client.hears(Back)
        await link.tells(ok(resume.id), snapshot())
        assert await link.hears(PlayRequest) == play
        await link.tells(ok(play.id), played("tictactoe", [4]))
        assert await client.comes_to(Answered) == Answered(resume, Ok(resume.id))
        assert await client.comes_to(Answered) == Answered(play, Ok(play.id))


async def test_clients_reconnect_to_a_killed_server_that_comes_back() -> None:
    with reserved() as port:
        async with fake_server() as server, client_of(server) as client:
            async with fake_server(port) as first:
                client.connection.url = first.url
                link = await server.accepts()
                await link.lets_in()
                await client.hears(Welcome)
                await link.breaks()
                await client.comes_to(Retrying)
            async with fake_server(port) as again:
                link = await again.accepts()
                await link.lets_in()
                await client.comes_to(Back)


async def test_clients_of_a_lost_node_go_to_the_next_and_come_round_again() -> None:
    async with fake_server() as one, fake_server() as other, client_of(one) as client:
        link = await one.accepts()
        await link.lets_in(token="secret", nodes=[one.url, other.url])
        await client.hears(Welcome)
        await link.breaks()
        link = await other.accepts()
        hello = await link.lets_in(nodes=[one.url, other.url])
        assert hello.token == "secret", "it is the same server, and we are the same player"
        assert await client.comes_to(Back) == Back(other.url)
        await link.closes(Closing.RESTART)
        await (await one.accepts()).lets_in()
        assert await client.comes_to(Back) == Back(one.url)


def test_clients_never_go_from_an_encrypted_node_to_an_unencrypted_or_invalid_one() -> None:
    nodes = ["wss://b", "ws://c", "http://d", "wss://[", "wss://", "wss://b", "wss://a:443", "wss://a"]
    assert addresses("wss://a", nodes) == ["wss://a", "wss://b", "wss://a:443"]
    assert addresses("ws://a", ["wss://b", "ws://c"]) == ["ws://a", "wss://b", "ws://c"]
    assert addresses("ws://a", []) == ["ws://a"]
    assert addresses("ws://a", ["http://d", "ws://", "ws://b:0", "ws://a/other", "ws://b", "ws://b", "ws://b:1"]) == [
        "ws://a",
        "ws://b",
        "ws://b:1",
    ]
    assert len(addresses("ws://a", [f"ws://{number}" for number in range(100)])) == MAX_NODES + 1


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (Closing.REPLACED, Parting.REPLACED),
        (Closing.TOO_BIG, Parting.GIVEN_UP),
        (Closing.TOO_FAST, Parting.GIVEN_UP),
        (Closing.NOT_TEXT, Parting.GIVEN_UP),
        (Closing.DONE, Parting.GIVEN_UP),
    ],
)
async def test_some_closings_end_it_with_a_sentence(code: Closing, why: Parting) -> None:
    async with fake_server() as server, client_of(server) as client:
        link = await server.accepts()
        await link.lets_in()
        await client.hears(Welcome)
        await link.closes(code)
        farewell = await client.hears(Farewell)
        assert farewell.why is why
        assert farewell.sentence.endswith(".")


async def test_kicked_players_are_shown_the_hosts_reason() -> None:
    async with fake_server() as server, client_of(server) as client:
        link = await server.accepts()
        await link.lets_in()
        await link.closes(Closing.KICKED, "you are banned from this server for good: rude")
        farewell = await client.comes_to(Farewell)
        assert farewell.sentence == "The server closed the connection: you are banned from this server for good: rude."


async def test_a_refused_hello_ends_it_with_the_refusal() -> None:
    async with fake_server() as server, client_of(server) as client:
        link = await server.accepts()
        hello = await link.hears(HelloRequest)
        await link.tells(Refused(hello.id, Code.NAME_TAKEN, "the name Ann\x1b[2J is taken"))
        farewell = await client.hears(Farewell)
        assert farewell == Farewell(Parting.REJECTED, "the name Ann[2J is taken", Code.NAME_TAKEN)


async def test_an_unknown_token_is_dropped_on_the_same_connection() -> None:
    async with fake_server() as server, client_of(server, token="old") as client:
        link = await server.accepts()
        first = await link.hears(HelloRequest)
        assert first.token == "old"
        await link.tells(Refused(first.id, Code.UNKNOWN_TOKEN, "who?"))
        second = await link.lets_in(token="new")
        assert second.name == "Ann"
        assert second.token != "old"
        await client.hears(Welcome)
        assert client.tokens == ["new"]


async def test_too_fast_is_tried_again_by_itself() -> None:
    async with fake_server() as server, client_of(server) as client:
        link = await server.accepts()
        await link.lets_in()
        await client.hears(Welcome)
        client.connection.say(PingRequest(0))
        ping = await link.hears(PingRequest)
        await link.tells(Refused(ping.id, Code.TOO_FAST, "slow down", retry_after_ms=5))
        assert await link.hears(PingRequest) == ping
        await link.tells(ok(ping.id))
        assert await client.hears(Answered) == Answered(ping, Ok(ping.id))


async def gives_up(url: str, reason: str) -> None:
    """Try to connect until the limit of 100 ms is over, which it is when it was tried again."""
    now_ms = 0
    client = Client(url, ReconnectLimits(100, 100), now_ms=lambda: now_ms)
    async with asyncio.TaskGroup() as group:
        group.create_task(client.connection.run())
        assert await client.hears(Retrying) == Retrying(1, 25, reason)
        now_ms = 100
        assert await client.comes_to(Farewell) == Farewell(Parting.UNREACHABLE, reason)


async def test_an_unreachable_server_is_given_up_after_a_while() -> None:
    with reserved() as port:
        await gives_up(f"ws://127.0.0.1:{port}", "nothing listens there")


async def test_a_connection_cut_in_the_first_handshake_is_tried_again() -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.close()

    other = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    async with other:
        await gives_up(f"ws://127.0.0.1:{other.sockets[0].getsockname()[1]}", "the connection broke")


async def test_foreign_servers_are_given_up_immediately() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        writer.close()

    other = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with other:
        port = other.sockets[0].getsockname()[1]
        client = Client(f"ws://127.0.0.1:{port}", ReconnectLimits(None, None))
        async with asyncio.timeout(PATIENCE_S):
            await client.connection.run()
        farewell = await client.hears(Farewell)
        assert farewell == Farewell(Parting.UNREACHABLE, "the server there is not a ttt_net server")


async def test_invalid_messages_are_reported_and_unknown_ones_silently_ignored() -> None:
    async with fake_server() as server, client_of(server) as client:
        link = await server.accepts()
        await link.lets_in()
        await client.hears(Welcome)
        for frame in (b"\x00\x01", '{"type":"lottery","id":5}'):
            await link.sends(frame)
        for frame in ("", "[]", "{", '{"type":"ok"}', '{"type":"snapshot"}', '{"type":5}', "[" * 100_000, "1" * 9999):
            await link.sends(frame)
            await client.hears(Garbled)
        await link.tells(snapshot())
        assert await client.hears(Snapshot) == snapshot()


async def test_an_oversized_frame_breaks_the_connection_and_not_the_client() -> None:
    async with fake_server() as server, client_of(server) as client:
        link = await server.accepts()
        await link.lets_in()
        await client.hears(Welcome)
        await link.sends('{"type":"' + "x" * 2**20 + '"}')
        assert await client.hears(Lost) == Lost("the connection broke")
        await (await server.accepts()).lets_in()
        await client.comes_to(Back)


async def test_a_flooding_server_is_read_no_faster_than_its_events_are_consumed() -> None:
    async with fake_server() as server, client_of(server) as client:
        link = await server.accepts()
        await link.lets_in()
        await client.hears(Welcome)
        for _ in range(2 * MAX_QUEUED_EVENTS):
            await link.tells(snapshot())
        assert client.mailbox.qsize() <= MAX_QUEUED_EVENTS
        for _ in range(2 * MAX_QUEUED_EVENTS):
            await client.hears(Snapshot)


async def test_leaving_closes_the_link_as_done() -> None:
    async with fake_server() as server:
        async with client_of(server) as client:
            link = await server.accepts()
            await link.lets_in()
            await client.hears(Welcome)
        assert await link.is_closed() == Closing.DONE


def test_waits_grow_and_are_only_ever_shortened() -> None:
    whole = [delay_ms(attempt, is_live=False, jitter=0.0) for attempt in range(1, 9)]
    assert whole == [*DELAYS_MS, DELAYS_MS[-1]]
    assert [delay_ms(attempt, is_live=False, jitter=1.0) for attempt in range(1, 9)] == [wait // 2 for wait in whole]
    assert max(delay_ms(attempt, is_live=True, jitter=0.0) for attempt in range(1, 99)) == LIVE_DELAY_MS


class Far(asyncio.Transport):
    """A socket whose far end is a server in memory, which is told of each request."""

    def __init__(self, near: SocketTransport, world: "World | None" = None) -> None:
        super().__init__()
        self.near, self.world = near, world
        self.wire = ServerProtocol()
        self.calls: list[str] = []
        self.is_ended = False
        self.unread_bytes = 0
        """The output of the client that the server has not read yet."""

    def get_write_buffer_size(self) -> int:
        """Return what the server has not read yet."""
        return self.unread_bytes

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return the address of this machine."""
        return ("127.0.0.1", 1) if name == "peername" else default

    def pause_reading(self) -> None:
        """Note the call."""
        self.calls.append("pause")

    def resume_reading(self) -> None:
        """Note the call."""
        self.calls.append("resume")

    def is_closing(self) -> bool:
        """Tell whether the socket is closed."""
        return self.is_ended

    def write(self, data: Any) -> None:
        """Pass bytes to the server."""
        assert data, "an empty piece is the end of the stream"
        assert not self.is_ended, "nothing is written to a closed socket"
        self.wire.receive_data(data)
        for event in self.wire.events_received():
            if isinstance(event, HttpRequest):
                self.wire.send_response(self.wire.accept(event))
            elif isinstance(event, Frame) and event.opcode is Opcode.TEXT and self.world is not None:
                self.world.serve(self, decode_request(bytes(event.data)))
        self.deliver()

    def tell(self, *messages: AnyServerMessage) -> None:
        """Send messages in one piece."""
        for message in messages:
            self.wire.send_text(encode(message))
        self.deliver()

    def deliver(self) -> None:
        """Let the client read, soon."""
        data = b"".join(self.wire.data_to_send())
        if data and self.world is not None:
            self.world.loop.call_soon(self._arrive, data)

    def _arrive(self, data: bytes) -> None:
        if not self.is_ended:
            self.near.data_received(data)

    def drop(self) -> None:
        """Cut the connection."""
        if not self.is_ended:
            self.is_ended = True
            self.near.connection_lost(None)

    def abort(self) -> None:
        """Close the socket."""
        self.calls.append("abort")
        self.drop()


Outcome = Exception | float | None
"""How an attempt to connect ends: it fails, or the welcome comes and the link lasts so many seconds, or for ever."""


class World:
    """A connection on simulated time, to servers in memory."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        outcomes: Iterable[Outcome],
        limits: ReconnectLimits = FOREVER,
        *,
        nodes: Sequence[str] = (),
        trust: Trust | None = None,
        is_begun: bool = False,
    ) -> None:
        self.loop = SimulatedLoop()
        self.outcomes, self.nodes = iter(outcomes), list(nodes)
        self.opened: list[tuple[str, int]] = []
        """The address and the patience of each attempt."""
        self.trusts: list[Trust] = []
        self.links: list[Far] = []
        self.requests: list[AnyRequest] = []
        self.told: list[ConnectionEvent] = []
        self.asking: list[bool] = []
        """Whether the connection was asking, at each delivery."""
        self.joined: list[int] = []
        """How many events had been delivered at each welcome."""
        self.on_event: Callable[[ConnectionEvent], None] = lambda event: None
        monkeypatch.setattr(client_connection, "open_transport", self._open)
        self.connection = ClientConnection(
            "ws://a",
            ClientSession("Ann", None),
            self._deliver,
            limits,
            lambda token: None,
            trust=trust,
            joined=lambda welcome: self.joined.append(len(self.told)),
            now_ms=lambda: round(self.loop.time() * 1000),
            jitter=lambda: 0.0,
        )
        self.begun: asyncio.Task[Farewell] | None = None
        self.task = self.loop.create_task(self._run_later() if is_begun else self.connection.run())

    async def _run_later(self) -> None:
        async with asyncio.TaskGroup() as group:
            self.begun = self.connection.begin(group)
            await asyncio.sleep(1)
            assert self.opened
            await self.connection.run()

    async def _open(self, url: str, trust: Trust, now_ms: Callable[[], int], patience_ms: int) -> SocketTransport:
        self.opened.append((url, patience_ms))
        self.trusts.append(trust)
        outcome = next(self.outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        near = SocketTransport(now_ms)
        far = Far(near, self)
        near.connection_made(far)
        self.links.append(far)
        if outcome is not None:
            self.loop.call_later(outcome, far.drop)
        return near

    def serve(self, far: Far, request: AnyRequest) -> None:
        """Take a request; welcome the player."""
        self.requests.append(request)
        if isinstance(request, HelloRequest):
            far.tell(ok(request.id), replace(welcome(), nodes=self.nodes))

    async def _deliver(self, event: ConnectionEvent) -> None:
        self.told.append(event)
        self.asking.append(self.connection.is_asking)
        self.on_event(event)

    def pass_time(self, seconds: float) -> list[ConnectionEvent]:
        """Let what is due happen, and return what was delivered."""
        before = len(self.told)
        self.loop.run_until(self.loop.time() + seconds, 10_000)
        assert self.loop.errors == []
        if self.task.done() and not self.task.cancelled():
            self.task.result()
        return self.told[before:]

    def retries(self) -> list[tuple[int, int]]:
        """Return the numbers and the waits of the attempts that are announced in a minute."""
        return [(event.attempt, event.in_ms) for event in self.pass_time(60) if isinstance(event, Retrying)]

    def end(self) -> None:
        """End the connection."""
        self.task.cancel()
        self.pass_time(5)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., World]]:
    """Make a world, and end it after the test."""
    worlds: list[World] = []

    def one(outcomes: Iterable[Outcome], *given: Any, **settings: Any) -> World:
        worlds.append(World(monkeypatch, outcomes, *given, **settings))
        return worlds[-1]

    yield one
    for each in worlds:
        each.end()


REFUSED = ConnectionRefusedError()


def test_waits_begin_anew_only_after_a_connection_that_has_lasted_a_second(world: Callable[..., World]) -> None:
    assert world([REFUSED, REFUSED, 1.0, REFUSED, 0.999, REFUSED, None]).retries() == [
        (1, 50),
        (2, 100),
        (1, 50),
        (2, 100),
        (3, 250),
        (4, 500),
    ]


@pytest.mark.parametrize(
    ("limits", "outcomes", "waits"),
    [
        (ReconnectLimits(300, None), [], [50, 100, 150]),
        (ReconnectLimits(51, None), [], [50, 1]),
        (ReconnectLimits(0, None), [], []),
        (ReconnectLimits(None, 400), [2.0], [50, 100, 250]),
        (ReconnectLimits(None, 0), [2.0], []),
    ],
)
def test_a_client_gives_up_after_its_limit(
    world: Callable[..., World], limits: ReconnectLimits, outcomes: list[Outcome], waits: list[int]
) -> None:
    each = world(chain(outcomes, repeat(REFUSED)), limits)
    assert [wait for _, wait in each.retries()] == waits
    assert each.told[-1] == Farewell(Parting.UNREACHABLE, "nothing listens there" if waits else each.told[-1].sentence)  # type: ignore[union-attr]
    assert each.task.done()


def test_a_foreign_server_ends_only_a_client_that_was_never_welcome(world: Callable[..., World]) -> None:
    foreign = InvalidHandshake("no")
    each = world([foreign])
    each.pass_time(1)
    assert each.task.done()
    assert world([2.0, foreign, foreign, None]).retries() == [(1, 50), (2, 100), (3, 250)]


def test_a_lost_node_is_followed_by_the_next_and_the_first_round_is_short(world: Callable[..., World]) -> None:
    each = world([2.0, *[REFUSED] * 5, None], nodes=["ws://b", "ws://c"])
    each.pass_time(60)
    hurried, patient = HURRIED.open_ms, PATIENT.open_ms
    assert each.opened == [
        ("ws://a", patient),
        ("ws://b", hurried),
        ("ws://c", hurried),
        ("ws://a", patient),
        ("ws://b", patient),
        ("ws://c", patient),
        ("ws://a", patient),
    ]
    assert each.told[-2:] == [Back(""), replace(welcome(), nodes=["ws://b", "ws://c"])]


@pytest.mark.parametrize("nodes", [[], ["ws://b"]])
def test_a_silent_node_is_left_sooner_while_there_is_another(world: Callable[..., World], nodes: list[str]) -> None:
    each = world([None, None], nodes=nodes)
    each.pass_time(1)
    each.links[0].tell(snapshot())
    each.pass_time(1.4)
    each.links[0].write = lambda data: None  # type: ignore[method-assign]
    assert any(isinstance(event, Lost) for event in each.pass_time(1.7)) is bool(nodes)


def test_a_connection_may_begin_before_it_is_run_and_does_so_once(world: Callable[..., World]) -> None:
    each = world([InvalidHandshake("no")], is_begun=True)
    assert each.pass_time(0.5) == []
    (farewell,) = each.pass_time(1)
    assert each.begun is not None
    assert each.begun.result() == farewell
    assert each.task.done()


async def test_the_certificate_of_a_host_is_at_the_usual_port(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[object, ...]] = []

    async def refuse(*place: object, ssl: object) -> None:
        asked.append(place)
        raise ConnectionRefusedError

    monkeypatch.setattr(asyncio, "open_connection", refuse)
    assert await certificate_at("wss://play.example") is None
    assert asked == [("play.example", 443)]


def test_a_client_that_never_reached_its_server_is_back_when_it_does(world: Callable[..., World]) -> None:
    each = world([REFUSED, None])
    each.pass_time(1)
    assert each.told == [Retrying(1, 50, "nothing listens there"), Back(), welcome()]
    assert each.joined == [1], "before anybody else hears of it"


def test_a_request_without_a_connection_is_sent_on_the_next(world: Callable[..., World]) -> None:
    each = world([REFUSED, 1.0, REFUSED, None])
    assert each.connection.latency_ms is None
    each.connection.say(PingRequest(0))
    assert each.connection.is_asking
    each.pass_time(0.5)
    assert [type(request) for request in each.requests] == [HelloRequest, PingRequest]
    each.links[0].tell(ok(each.requests[1].id))
    (answered,) = each.pass_time(0.1)
    assert isinstance(answered, Answered)
    assert each.asking[-1], "until it is delivered"
    assert not each.connection.is_asking
    each.pass_time(0.5)
    each.connection.say(PingRequest(0))
    each.pass_time(1)
    assert [type(request) for request in each.requests[2:]] == [HelloRequest, PingRequest]


def test_the_latency_is_that_of_the_open_connection(world: Callable[..., World]) -> None:
    each = world([3.0, *[REFUSED] * 9])
    each.pass_time(2.5)
    assert each.connection.latency_ms == 1
    each.pass_time(0.7)
    assert each.connection.latency_ms is None


def test_nothing_is_sent_to_a_server_that_is_not_trusted(world: Callable[..., World]) -> None:
    class Suspicious(Trust):
        def objection(self, transport: asyncio.BaseTransport) -> str | None:
            return "it is somebody else"

    trust = Suspicious()
    each = world([None], trust=trust)
    assert each.pass_time(1) == [Farewell(Parting.DISTRUSTED, "it is somebody else")]
    assert (each.trusts, each.requests) == ([trust], [])
    assert each.links[0].calls[-1] == "abort"


def test_what_comes_with_the_end_of_a_connection_is_delivered(world: Callable[..., World]) -> None:
    each = world([None, None])
    each.pass_time(1)
    each.connection.say(RenameRequest(0, "Anna"))
    (link,) = each.links
    each.on_event = lambda event: link.drop() if isinstance(event, Notice) else None
    link.tell(Notice("first"))
    first, answered, lost = each.pass_time(0.01)[:3]
    assert isinstance(answered, Answered)
    assert getattr(answered.answer, "code", None) == Code.UNKNOWN_OUTCOME
    assert (first, lost) == (Notice("first"), Lost("the connection broke"))


def test_a_server_that_closes_in_the_same_piece_and_keeps_the_socket_open_is_left(world: Callable[..., World]) -> None:
    each = world([None, None])
    each.pass_time(1)
    (link,) = each.links
    link.wire.send_text(encode(Notice("bye")))
    link.wire.send_close(Closing.REPLACED)
    each.loop.call_soon(link.deliver)
    assert each.pass_time(0.01)[0] == Notice("bye")
    each.pass_time(2)
    assert each.task.done()
    assert link.calls[-1] == "abort"


class Script:
    """A protocol that does what a test says."""

    def __init__(self, **state: Any) -> None:
        self.next_tick_ms: int | None = None
        self.has_events = self.awaits_close = False
        self.disconnect: object = None
        self.output: list[bytes] = []
        self.ticks: list[dict[str, Any]] = []
        """The changes of each tick."""
        self.calls: list[str] = []
        self.is_done = asyncio.Event()
        """Set by the last tick."""
        self.set(**state)

    def set(self, **state: Any) -> None:
        """Change fields."""
        for name, value in state.items():
            setattr(self, name, value)

    def data_to_send(self) -> list[bytes]:
        """Return the output once."""
        output, self.output = self.output, []
        return output

    def events_received(self) -> list[object]:
        """Return no events."""
        return []

    def receive_data(self, data: bytes, now_ms: int) -> None:
        """Note the call."""
        self.calls.append("data")

    def receive_eof(self, now_ms: int) -> None:
        """Note the call."""
        self.calls.append("eof")

    def close(self) -> None:
        """Note the call."""
        self.calls.append("close")

    def tick(self, now_ms: int) -> None:
        """Change what is next to change."""
        self.calls.append("tick")
        self.set(next_tick_ms=None)
        self.set(**self.ticks.pop(0))
        if not self.ticks:
            self.is_done.set()


class Socket(Far):
    """A socket that notes what is written."""

    def write(self, data: Any) -> None:
        """Note the data."""
        assert data
        assert not self.is_ended
        self.calls.append(data.decode())


def linked(script: Script) -> tuple[SocketTransport, Socket]:
    near = SocketTransport(lambda: 0)
    far = Socket(near)
    near.connection_made(far)
    near.begin(cast(Any, script))
    return near, far


def test_a_socket_is_read_only_while_nothing_waits() -> None:
    near = SocketTransport(lambda: 0)
    far = Socket(near)
    near.connection_made(far)
    assert far.calls == ["pause"], "there is no protocol yet"
    near.begin(cast(Any, Script(output=[b"hello", b""])))
    assert far.calls == ["pause", "hello", "resume"]
    near.data_received(b"1")
    assert far.calls[3:] == []
    near.data_received(b"2")
    assert far.calls[3:] == ["pause"]
    near.events()
    assert far.calls[4:] == ["resume"]


def test_nothing_is_written_to_a_socket_that_is_closed() -> None:
    script = Script()
    near, far = linked(script)
    far.drop()
    script.set(output=[b"late"])
    near.flush()
    assert script.calls == ["eof"]
    early = SocketTransport(lambda: 0)
    early.connection_made(far)
    early.connection_lost(None)


def test_a_server_that_reads_nothing_of_a_mebibyte_is_left() -> None:
    script = Script()
    near, far = linked(script)
    far.unread_bytes = MAX_UNREAD_BYTES
    script.set(output=[b"pong"])
    near.data_received(b"1")
    assert (far.calls[-1], script.calls) == ("pong", ["data"])
    far.unread_bytes += 1
    near.data_received(b"2")
    assert (far.calls[-1], script.calls) == ("abort", ["data", "data", "eof"])


@pytest.mark.parametrize("last", [{"has_events": True}, {"disconnect": "it is silent"}, None])
async def test_a_change_is_data_the_end_or_a_tick_that_brings_something(last: dict[str, Any] | None) -> None:
    script = Script(next_tick_ms=0, ticks=[{"next_tick_ms": 0}, {}])
    near, far = linked(script)
    if last is not None:
        script.ticks[1:] = [last]
    waiting = asyncio.ensure_future(near.changed())
    async with asyncio.timeout(PATIENCE_S):
        await script.is_done.wait()
        if last is None:
            for _ in range(3):
                await asyncio.sleep(0)
            assert not waiting.done()
            far.drop()
        await waiting


@pytest.mark.parametrize("awaits_close", [True, False])
async def test_a_socket_is_closed_after_the_server_has_closed_if_it_does(*, awaits_close: bool) -> None:
    script = Script()
    near, far = linked(script)
    near.data_received(b"1")
    near.data_received(b"2")
    script.set(awaits_close=awaits_close, output=[b"bye"])
    closing = asyncio.ensure_future(near.close())
    for _ in range(5):
        await asyncio.sleep(0)
    assert closing.done() is not awaits_close
    assert far.calls[far.calls.index("bye") :][:2] == ["bye", "resume"]
    far.drop()
    async with asyncio.timeout(PATIENCE_S):
        await closing
    assert far.calls[-1] == "abort"


async def test_a_socket_that_is_closed_already_or_has_no_protocol_is_only_aborted() -> None:
    script = Script(awaits_close=True)
    near, far = linked(script)
    far.drop()
    await near.close()
    assert (script.calls, far.calls[-1]) == (["eof"], "abort")
    early = SocketTransport(lambda: 0)
    unused = Socket(early)
    early.connection_made(unused)
    await early.close()
    assert unused.calls == ["pause", "abort"]


async def test_a_server_that_does_not_answer_the_tls_handshake_is_left_after_the_patience() -> None:
    is_left = asyncio.Event()

    async def be_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            await reader.read()
        writer.close()
        is_left.set()

    async with await asyncio.start_server(be_silent, "127.0.0.1", 0) as silent:
        url = f"wss://127.0.0.1:{silent.sockets[0].getsockname()[1]}"
        with pytest.raises(TimeoutError):
            await open_transport(url, Trust(), lambda: 0, 20)
        async with asyncio.timeout(PATIENCE_S):
            await is_left.wait()
