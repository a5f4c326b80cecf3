import asyncio

import pytest

from tests.client.fake_server import fake_server
from tests.client.samples import ok, played, snapshot, welcome
from tests.patience import PATIENCE_S
from tests.ports import reserved
from tests.sdk.linked import Client, client_of
from ttt_net.client.mailbox import MAX_QUEUED_EVENTS
from ttt_net.errors import Closing, Code
from ttt_net.messages import (
    HelloRequest,
    Ok,
    PingRequest,
    PlayRequest,
    Refused,
    ResumeRequest,
    SeekRequest,
    Snapshot,
    Welcome,
)
from ttt_net.sdk.client_connection import DELAYS_MS, LIVE_DELAY_MS, MAX_NODES, ReconnectLimits, addresses, delay_ms
from ttt_net.sdk.received import Answered, Back, Farewell, Garbled, Lost, Parting, Retrying


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
