"""What a program writes that plays."""

from asyncio import TaskGroup

import pytest

from tests.client.fake_server import fake_server
from tests.client.samples import ok, played, snapshot, welcome
from tests.ports import reserved
from ttt_net.errors import Code, Refusal
from ttt_net.messages import (
    HelloRequest,
    Played,
    ProfileReply,
    ProfileRequest,
    Refused,
    SeekRequest,
    Snapshot,
    UnseekRequest,
)
from ttt_net.sdk.client import DisconnectedError, connect
from ttt_net.sdk.connection import ReconnectLimits
from ttt_net.sdk.events import Parting


async def test_a_program_enters_asks_and_hears() -> None:
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


async def test_a_server_that_cannot_be_reached_or_refuses_is_an_exception() -> None:
    with reserved() as port, pytest.raises(DisconnectedError, match="nothing listens there") as raised:
        async with connect(f"ws://127.0.0.1:{port}", "Ann", limits=ReconnectLimits(0, 0)):
            pass
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
