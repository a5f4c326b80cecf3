"""Programs that play with the SDK."""

import asyncio
from asyncio import TaskGroup
from typing import cast

import pytest
from msgspec.structs import replace

from tests.client.fake_server import fake_server
from tests.client.samples import ok, played, snapshot, welcome
from tests.ports import reserved
from ttt_net.errors import Code, Refusal
from ttt_net.messages import (
    Challenged,
    HelloRequest,
    InvitationReply,
    InviteRequest,
    Notice,
    PingRequest,
    Played,
    PlayerInfo,
    ProfileReply,
    ProfileRequest,
    Refused,
    RenameRequest,
    Request,
    SeekRequest,
    Snapshot,
    UnseekRequest,
    WatchRequest,
)
from ttt_net.sdk.client import MAX_EVENTS, Client, DisconnectedError, connect
from ttt_net.sdk.client_connection import FOREVER, ClientConnection, ReconnectLimits
from ttt_net.sdk.client_session import BotProfile, ClientSession
from ttt_net.sdk.received import Answered, ConnectionEvent, Farewell, Lost, Parting, Retrying


async def test_a_program_logs_in_asks_and_receives_events() -> None:
    async with fake_server() as server, TaskGroup() as group:

        async def serve() -> None:
            link = await server.accepts()
            await link.lets_in(token="secret")
            seek = await link.hears(SeekRequest)
            await link.tells(snapshot(), ok(seek.id), played("tictactoe", [4]))
            refused = await link.hears(UnseekRequest)
            await link.tells(Refused(refused.id, Code.UNKNOWN_MATCH, "there is\x1b none"))
            assert await link.is_closed() == 1000

        serving = group.create_task(serve())
        tokens: list[str] = []
        async with connect(server.url, "Ann", keep_token=tokens.append) as client:
            assert client.welcome == welcome()
            assert tokens == ["secret"]
            await client.ask(SeekRequest(0, ["tictactoe"]))
            events = [await anext(client), await anext(client)]
            assert [type(event) for event in events] == [Snapshot, Played], "in the order in which they were heard"
            with pytest.raises(Refusal, match="there is none") as raised:
                await client.ask(UnseekRequest(0))
            assert raised.value.code is Code.UNKNOWN_MATCH
        await serving


async def test_the_reply_to_a_question_comes_after_its_answer() -> None:
    async with fake_server() as server, TaskGroup() as group:
        you = welcome().you

        async def serve() -> None:
            link = await server.accepts()
            await link.lets_in()
            asked = await link.hears(ProfileRequest)
            await link.tells(ok(asked.id), ProfileReply(you, 0, True, 0, 0, 0, [], None, []))

        group.create_task(serve())
        async with connect(server.url, "Ann") as client:
            assert (await client.ask_for(ProfileRequest(0), ProfileReply)).player == you


async def test_events_that_arrive_while_an_answer_or_a_reply_is_awaited_are_not_lost() -> None:
    challenged = Challenged(7, PlayerInfo("Ben"), PlayerInfo("Ann"), "tictactoe", 30_000)
    async with fake_server() as server, TaskGroup() as group:

        async def serve() -> None:
            link = await server.accepts()
            await link.lets_in()
            asked = await link.hears(ProfileRequest)
            reply = ProfileReply(welcome().you, 0, True, 0, 0, 0, [], None, [])
            await link.tells(snapshot(), ok(asked.id), challenged, played("tictactoe", [4]), reply)
            await link.tells(Notice("the end"))

        group.create_task(serve())
        async with connect(server.url, "Ann") as client:
            await client.ask_for(ProfileRequest(0), ProfileReply)
            assert [await anext(client) for _ in range(4)] == [
                snapshot(),
                challenged,
                played("tictactoe", [4]),
                Notice("the end"),
            ]


async def test_several_tasks_ask_while_another_one_reads_the_events() -> None:
    async with fake_server() as server, TaskGroup() as group:

        async def serve() -> None:
            link = await server.accepts()
            await link.lets_in()
            seek, ping = await link.hears(SeekRequest), await link.hears(PingRequest)
            await link.tells(Refused(ping.id, Code.BUSY, "no"), Notice("between"), ok(seek.id))

        group.create_task(serve())
        async with connect(server.url, "Ann") as client:

            async def read() -> ConnectionEvent:
                return await anext(client)

            reading = group.create_task(read())
            seeking = group.create_task(client.ask(SeekRequest(0)))
            await asyncio.sleep(0)
            assert await _code_of(client, PingRequest(0)) == Code.BUSY
            assert await reading == Notice("between")
            await seeking


async def _code_of(client: Client, request: Request) -> Code:
    with pytest.raises(Refusal) as raised:
        await client.ask(request)
    return raised.value.code


async def test_a_refusal_with_a_long_wait_is_raised_with_its_wait_and_a_short_one_is_waited() -> None:
    async with fake_server() as server, TaskGroup() as group:

        async def serve() -> None:
            link = await server.accepts()
            await link.lets_in()
            rename = await link.hears(RenameRequest)
            await link.tells(Refused(rename.id, Code.TOO_FAST, "in a moment", retry_after_ms=1))
            again = await link.hears(RenameRequest)
            assert again == rename
            await link.tells(Refused(again.id, Code.TOO_FAST, "ten names an hour", retry_after_ms=360_000))

        group.create_task(serve())
        async with connect(server.url, "Ann") as client:
            with pytest.raises(Refusal, match="ten names an hour") as raised:
                await client.ask(RenameRequest(0, "Anna"))
            assert (raised.value.code, raised.value.retry_after_ms) == (Code.TOO_FAST, 360_000)


@pytest.mark.parametrize("is_granted", [True, False])
async def test_a_request_whose_answer_or_reply_is_lost_is_an_exception_and_not_a_wait_for_ever(
    *, is_granted: bool
) -> None:
    async with fake_server() as server, TaskGroup() as group:

        async def serve() -> None:
            link = await server.accepts()
            await link.lets_in()
            asked = await link.hears(InviteRequest)
            if is_granted:
                await link.tells(ok(asked.id))
            await link.breaks()

        group.create_task(serve())
        async with connect(server.url, "Ann") as client:
            with pytest.raises(Refusal) as raised:
                await client.ask_for(InviteRequest(0), InvitationReply)
            assert raised.value.code is Code.UNKNOWN_OUTCOME


async def test_a_program_that_reads_no_events_gets_an_exception_and_not_a_wait_for_ever() -> None:
    async with fake_server() as server, TaskGroup() as group:

        async def serve() -> None:
            link = await server.accepts()
            await link.lets_in()
            asked = await link.hears(PingRequest)
            await link.tells(*[Notice("news")] * (MAX_EVENTS + 1), ok(asked.id))

        group.create_task(serve())
        async with connect(server.url, "Ann") as client:
            with pytest.raises(Refusal, match="256 events wait to be read"):
                await client.ask(PingRequest(0))
            with pytest.raises(Refusal, match="256 events wait to be read"):
                await client.ask(PingRequest(0))


@pytest.mark.parametrize(("bot", "limits"), [(BotProfile("random"), None), (None, FOREVER)])
async def test_a_program_that_may_start_first_waits_for_its_server_and_says_so(
    capsys: pytest.CaptureFixture[str], bot: BotProfile | None, limits: ReconnectLimits | None
) -> None:
    lines: asyncio.Queue[str] = asyncio.Queue()
    async with TaskGroup() as group:
        with reserved() as port:
            url = f"ws://127.0.0.1:{port}"

            async def play() -> str:
                async with connect(url, "Ann", bot=bot, limits=limits, said=lines.put_nowait) as client:
                    return client.welcome.you.name

            playing = group.create_task(play())
            assert await lines.get() == f"waiting for a server at {url}: nothing listens there"
        async with fake_server(port) as server:
            link = await server.accepts()
            await link.lets_in()
            assert await playing == "Ann"
            assert await link.is_closed() == 1000
    assert lines.empty(), "it is said once"
    assert capsys.readouterr().err == ""


async def test_a_server_that_cannot_be_reached_or_refuses_is_an_exception() -> None:
    with reserved() as port, pytest.raises(DisconnectedError) as raised:
        async with connect(f"ws://127.0.0.1:{port}", "Ann"):
            pass
    assert str(raised.value) == "nothing listens there"
    assert raised.value.farewell.why is Parting.UNREACHABLE
    async with fake_server() as server, TaskGroup() as group:

        async def refuse() -> None:
            link = await server.accepts()
            hello = await link.hears(HelloRequest)
            await link.tells(Refused(hello.id, Code.NAME_TAKEN, "the name Ann is taken"))

        group.create_task(refuse())
        with pytest.raises(DisconnectedError, match="the name Ann is taken"):
            async with connect(server.url, "Ann"):
                pass


@pytest.mark.parametrize("bot", [BotProfile("random"), None])
async def test_only_bots_say_on_the_standard_error_what_they_wait_for(
    capsys: pytest.CaptureFixture[str], bot: BotProfile | None
) -> None:
    async with fake_server() as server, TaskGroup() as group:

        async def serve() -> None:
            await (await server.accepts()).breaks()
            await (await server.accepts()).lets_in()

        group.create_task(serve())
        async with connect(server.url, "Ann", bot=bot, limits=FOREVER):
            pass
    line = f"waiting for a server at {server.url}: the connection broke\n"
    assert capsys.readouterr().err == (line if bot else "")


async def test_an_error_of_the_program_in_the_connection_ends_it_and_is_not_lost() -> None:
    def fail(token: str) -> None:
        raise OSError("the disk is full")

    async with fake_server() as server, TaskGroup() as group:

        async def serve() -> None:
            await (await server.accepts()).lets_in(token="secret")

        group.create_task(serve())
        with pytest.raises(OSError, match="the disk is full") as raised:
            async with connect(server.url, "Ann", keep_token=fail):
                pass
        assert isinstance(raised.value.__context__, DisconnectedError), "which the program would see"


class Line:
    """A connection that only keeps what is said."""

    url = "ws://x"

    def __init__(self) -> None:
        self.session = ClientSession("Ann", None)
        (hello,) = self.session.opened()
        for message in (ok(hello.id), welcome()):
            self.session.heard(message)
        self.said: list[Request] = []

    def say(self, request: Request) -> None:
        """Keep a request."""
        self.said += self.session.say(request)


PROFILE = ProfileReply(welcome().you, 0, True, 0, 0, 0, [], None, [])
FAREWELL = Farewell(Parting.GIVEN_UP, "The server closed the connection.")


def client_on(line: Line) -> Client:
    return Client(cast(ClientConnection, line), line.session)


async def asking(client: Client, line: Line, request: Request, kind: type | None = None) -> "asyncio.Task[object]":
    """Return a task that waits for an answer or a reply, once it has said the request."""
    count = len(line.said)
    task = asyncio.ensure_future(client.ask(request) if kind is None else client.ask_for(request, kind))
    await asyncio.sleep(0)
    assert len(line.said) == count + 1
    return task


def answer_to(request: Request) -> Answered:
    return Answered(request, ok(request.id))


async def test_answers_that_come_at_once_go_to_their_askers() -> None:
    line = Line()
    client = client_on(line)
    first = await asking(client, line, PingRequest(0))
    second = await asking(client, line, PingRequest(0))
    for request in (*line.said, *line.said):
        await client.deliver(answer_to(request))
    for task in (first, second):
        assert await task is None
    assert await anext(client) == answer_to(line.said[0]), "nobody waits for another answer"
    client.say(PingRequest(0))
    assert len(line.said) == 3


async def test_a_reply_is_the_first_of_its_kind_after_the_answer() -> None:
    line = Line()
    client = client_on(line)
    early, late = PROFILE, replace(PROFILE, won=1)
    asked = await asking(client, line, ProfileRequest(0), ProfileReply)
    for event in (early, answer_to(line.said[0]), Notice("between"), late, late):
        await client.deliver(event)
    assert await asked == late
    assert [await anext(client) for _ in range(3)] == [early, Notice("between"), late]


async def test_a_dropped_connection_fails_those_who_wait_for_a_reply_but_not_for_a_snapshot_or_an_answer() -> None:
    line = Line()
    client = client_on(line)
    waiting = await asking(client, line, ProfileRequest(0), ProfileReply)
    joining = await asking(client, line, WatchRequest(0, "m1"), Snapshot)
    granted = await asking(client, line, ProfileRequest(0), ProfileReply)
    for request in line.said[1:]:
        await client.deliver(answer_to(request))
    await client.deliver(Lost("it broke"))
    with pytest.raises(Refusal) as raised:
        await granted
    assert raised.value.code is Code.UNKNOWN_OUTCOME
    for event in (answer_to(line.said[0]), PROFILE, snapshot()):
        await client.deliver(event)
    assert (await waiting, await joining) == (PROFILE, snapshot())
    assert await anext(client) == Lost("it broke")


async def test_a_farewell_ends_all_that_waits_after_the_events_before_it() -> None:
    line = Line()
    client = client_on(line)
    asked = await asking(client, line, PingRequest(0))
    for event in (Notice("last"), FAREWELL):
        await client.deliver(event)
    for request in (asked, client.ask(PingRequest(0))):
        with pytest.raises(DisconnectedError) as raised:
            await request
        assert raised.value.farewell == FAREWELL
    assert await anext(client) == Notice("last")
    for _ in range(2):
        with pytest.raises(DisconnectedError):
            await anext(client)
    assert len(line.said) == 1


async def test_each_new_reason_to_wait_is_said_once() -> None:
    client, lines = client_on(Line()), list[str]()
    for event in (Retrying(1, 50, "no"), Lost("no"), Retrying(2, 50, "no"), Retrying(3, 50, "full"), welcome()):
        await client.deliver(event)
    await client.enter(lines.append)
    assert lines == ["waiting for a server at ws://x: no", "waiting for a server at ws://x: full"]
    assert client.welcome == welcome()
