"""Protection from bad peers: broken frames, dripping handshakes, readers that stop, wires that are cut."""

import asyncio
import contextlib
import socket
import struct
from pathlib import Path

import pytest

from tests.patience import BUSY_S
from tests.server.peer import BINARY, CONT, HANDSHAKE, PING, PONG, TEXT, client_frame, said
from tests.server.running import running, until
from ttt_net.errors import Closing
from ttt_net.server.settings.configuration import Limits, Rate
from ttt_net.server.wire.connection import Connection
from ttt_net.server.wire.frames import frame

FAST = Limits(messages=Rate(1_000_000), dead_after_s=600, stalled_s=600)
"""No limit of rate, for those who are to be stopped by another, and no limit of silence: bare peers say no pong."""


HELLO = said("hello", protocols=[1], name="Ann")


async def test_a_message_of_4096_bytes_is_read_and_refused_with_its_id(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        peer = await server.raw()
        await peer.upgrade()
        await peer.send(client_frame(TEXT, b'{"type":"who","id":7}'.ljust(4_096)))
        assert await peer.hear("refused") == {
            "type": "refused", "id": 7, "code": "hello_first", "message": "say hello first, and wait for its answer",
        }  # fmt: skip


async def test_a_message_in_pieces_with_a_ping_between_them_is_read(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        peer = await server.raw()
        await peer.hello("Ann")
        await peer.send(
            client_frame(TEXT, b'{"type":', fin=False)
            + client_frame(PING, b"?")
            + client_frame(CONT, b'"ping",', fin=False)
            + client_frame(CONT, b'"id":9}')
        )
        assert {await peer.read_frame(), await peer.read_frame()} == {(PONG, b"?"), (TEXT, b'{"type":"ok","id":9}')}


async def test_a_request_in_the_same_segment_as_the_handshake_is_answered_after_it(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        peer = await server.raw()
        await peer.send(HANDSHAKE + client_frame(PING, b"?") + HELLO)
        assert await peer.status() == 101
        assert await peer.read_frame() == (PONG, b"?")
        assert (await peer.hear("welcome"))["you"] == {"name": "Ann"}


async def test_requests_in_the_same_segment_as_the_hello_are_answered_after_it_in_order(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        peer = await server.raw()
        await peer.upgrade()
        await peer.send(HELLO + said("seek", id=8) + client_frame(TEXT, b'{"type":"unseek","id":9}'))
        heard = [await peer.hear(kind) for kind in ("ok", "welcome", "ok", "ok")]
        assert [each["type"] for each in heard] == ["ok", "welcome", "ok", "ok"]
        assert [each["id"] for each in heard if each["type"] == "ok"][1:] == [8, 9]


async def test_a_peer_that_is_closed_while_its_requests_wait_for_the_hello_ends_at_once(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        peer = await server.raw()
        await peer.upgrade()
        (connection,) = server.connections
        connection.hold()
        connection.close(Closing.FULL)
        await peer.send(HELLO)
        assert await peer.close_code() == Closing.FULL
        peer.close()
        await until(lambda: not server.connections)


async def test_a_silent_and_a_dripping_handshake_are_cut_in_time(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(handshake_s=60, hello_s=600, dead_after_s=600)) as server:
        silent, dripping, slow = [await server.raw() for _ in range(3)]
        await dripping.send(HANDSHAKE[:40])
        await until(lambda: len(server.connections) == 3)
        server.tick(server.hub.limits.handshake_s / 2)
        assert len(server.connections) == 3
        await slow.send(HANDSHAKE)
        assert await slow.status() == 101, "who is slow but in time is let in"
        await dripping.send(HANDSHAKE[40:60])
        server.tick(server.hub.limits.handshake_s + 0.1)
        assert await silent.read_to_end() == await dripping.read_to_end() == b""
        await until(lambda: len(server.connections) == 1)


async def test_the_running_server_looks_after_handshakes_by_itself(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(handshake_s=0.1)) as server:
        peer = await server.raw()
        assert await peer.read_to_end() == b""


async def test_connections_without_hello_are_closed_with_4002(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        peer = await server.raw()
        await peer.upgrade()
        await peer.send(client_frame(PONG))
        server.tick(server.hub.limits.hello_s + 0.1)
        assert await peer.close_code() == 4002


async def test_a_silent_peer_is_pinged_once_and_its_pong_keeps_it(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        peer = await server.raw()
        await peer.hello("Ann")
        limits = server.hub.limits
        server.tick(limits.ping_after_s + 0.1)
        server.tick(limits.ping_after_s + 1.1)
        assert await peer.read_frame() == (PING, b"")
        await peer.send(client_frame(PONG) + said("ping", 2))
        assert await peer.read_frame() == (TEXT, b'{"type":"ok","id":2}'), "and no second ping"


async def test_an_active_peer_is_pinged_a_fifth_as_often(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        peer = await server.raw()
        await peer.hello("Ann")
        connection, after_s = server.connection_of("Ann"), server.hub.limits.ping_after_s
        now_s = asyncio.get_running_loop().time()
        connection.tick(now_s)  # measures the way for the first time
        assert await peer.read_frame() == (PING, b"")
        await peer.send(client_frame(PONG) + said("ping", 2))
        assert await peer.read_frame() == (TEXT, b'{"type":"ok","id":2}')
        connection.heard_s = now_s + 4.5 * after_s
        connection.tick(now_s + 4.9 * after_s)
        await peer.send(said("ping", 3))
        assert await peer.read_frame() == (TEXT, b'{"type":"ok","id":3}'), "and no ping before it"
        connection.heard_s = now_s + 4.5 * after_s
        connection.tick(now_s + 5.1 * after_s)
        assert await peer.read_frame() == (PING, b"")


async def test_a_peer_without_a_pong_is_found_dead_within_8_seconds(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair()
        connection = server.connection_of(first.name)
        limits = server.hub.limits
        assert limits.dead_after_s + 1.0 < 8.0, "with a look every second"
        now_s = asyncio.get_running_loop().time()
        connection.tick(now_s + limits.ping_after_s + 0.1)
        connection.tick(now_s + limits.dead_after_s + 0.1)
        assert (await second.hear("presence", match=match, online=False))["side"] == 0
        assert first.name not in [session.info.name for session in server.sessions.values()]


async def test_a_reason_takes_all_the_room_of_a_close_frame_and_ends_with_a_whole_letter(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        peer = await server.raw()
        await peer.hello("Ann")
        server.connection_of("Ann").close(Closing.KICKED, "ä" * 100)
        _, frame = await peer.read_frame() or (0, b"")
        assert frame[2:].decode() == "ä" * 61


async def test_a_closing_handshake_that_is_not_answered_ends_in_time(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        peer = await server.raw()
        await peer.upgrade()
        await peer.send(client_frame(BINARY))
        assert await peer.close_code() == 1003
        assert len(server.connections) == 1, "it is our turn to close, and we do not"
        server.tick(server.hub.limits.closing_s + 0.1)
        await server.until_empty()


def flood(connection: Connection) -> None:
    """Send to a peer that does not read, until the server has to keep what the kernel will not take."""
    while connection.is_open and not connection.is_behind:
        connection.send(frame(b'{"type":"filler","x":"' + b"x" * 1_000 + b'"}'))
    assert connection.is_open


async def test_a_stopped_reader_that_hangs_up_half_does_not_hurt_the_server(tmp_path: Path) -> None:
    async with running(tmp_path, FAST) as server:
        stalled = await server.stalled("Mallory")
        connection = server.connection_of("Mallory")
        flood(connection)
        stalled.socket.shutdown(socket.SHUT_WR)
        await until(lambda: not connection.is_open)
        server.tick(server.hub.limits.ping_after_s + 0.1)
        await server.join("Ann")
        server.tick(server.hub.limits.closing_s + 0.1)
        await until(lambda: len(server.connections) == 1)


async def test_a_fault_in_looking_after_one_connection_costs_only_that_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        tick, broken = Connection.tick, server.connection_of("Ann")

        def failing(connection: Connection, now_s: float) -> None:
            assert connection is not broken, "planted"
            tick(connection, now_s)

        monkeypatch.setattr(Connection, "tick", failing)
        server.tick(0.0)
        assert await ann.close_code() is None
        await bob.ok("ping")
        assert "planted" in caplog.text
        caplog.clear()


def held(connection: Connection) -> int:
    """Return how many bytes of ours wait for the peer."""
    return connection.unsent_bytes


@pytest.mark.parametrize("size", [1, 100, 1_000, 4_000, 60_000])
async def test_a_stopped_reader_holds_at_most_64_kib_and_is_gone_in_time(tmp_path: Path, size: int) -> None:
    async with running(tmp_path, FAST) as server:
        await server.stalled("Mallory")
        connection = server.connection_of("Mallory")
        flood(connection)
        most = 0
        while connection.is_open:
            connection.send(frame(b"x" * size))
            most = max(most, held(connection))
        assert most <= 65_536
        assert held(connection) <= 65_536 + 200, "and the close frame"
        server.tick(server.hub.limits.closing_s + 0.1)
        await server.until_empty()


async def test_a_stopped_reader_in_a_match_is_dropped_and_its_opponent_unhurt(tmp_path: Path) -> None:
    async with running(tmp_path, FAST) as server:
        stalled = await server.stalled("Mallory")
        ann = await server.join("Ann")
        await stalled.send(said("seek", 2, games=["tictactoe"]))
        await ann.ok("seek", games=["tictactoe"])
        match = (await ann.hear("snapshot"))["match"]
        connection = server.connection_of("Mallory")
        while connection.is_open:
            await stalled.send(said("who", 3) * 20)
            await ann.ok("ping")
        assert held(connection) <= 65_536 + 200
        server.tick(server.hub.limits.closing_s + 0.1)
        await ann.hear("presence", match=match, online=False)
        await ann.ok("abort", match=match)


async def test_a_stopped_reader_that_still_answers_pings_is_dropped_when_it_has_stalled_too_long(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, Limits(messages=Rate(1_000_000), stalled_s=60, dead_after_s=50)) as server:
        stalled = await server.stalled("Mallory")
        connection = server.connection_of("Mallory")
        flood(connection)
        now_s = asyncio.get_running_loop().time()
        for second in range(10, 50, 10):
            await stalled.send(client_frame(PONG))
            connection.tick(now_s + second)
            assert connection.is_open
        connection.heard_s = now_s + 50  # what one more pong would do
        connection.tick(now_s + server.hub.limits.stalled_s + 0.1)
        await server.until_empty()


async def test_a_reader_that_catches_up_is_kept_and_misses_nothing(tmp_path: Path) -> None:
    async with running(tmp_path, FAST) as server:
        slow = await server.stalled("Ann")
        connection = server.connection_of("Ann")
        for _ in range(20):
            flood(connection)
            for _ in range(60):
                connection.send(frame(b'{"type":"filler"}'))
            connection.send(frame(b'{"type":"mark"}'))
            await slow.hear("mark")
            await until(lambda: not connection.is_behind)
        assert connection.is_open


async def test_pings_without_reading_the_pongs_do_not_fill_the_memory(tmp_path: Path) -> None:
    async with running(tmp_path, FAST) as server:
        stalled = await server.stalled("Mallory")
        connection = server.connection_of("Mallory")
        most = 0
        with contextlib.suppress(ConnectionError):
            while connection in server.connections:
                await stalled.send(client_frame(PING, bytes(125)) * 100)
                most = max(most, held(connection))
        assert most <= 65_536 + 262_144, "one read of the event loop on top"
        await server.join("Ann")


async def test_twenty_stopped_readers_do_not_keep_the_server_from_ending(tmp_path: Path) -> None:
    async with asyncio.timeout(5 + BUSY_S):
        async with running(tmp_path, FAST) as server:
            for number in range(20):
                await server.stalled(f"Mallory-{number}")
                flood(server.connection_of(f"Mallory-{number}"))
            ann = await server.join("Ann")
    assert await ann.close_code() == 1012
    assert server.connections == set()


async def test_a_wire_that_is_cut_in_the_middle_of_a_frame_leaves_nothing(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        whole = said("ping", 2)
        for cut in range(len(whole)):
            peer = await server.raw()
            await peer.upgrade()
            await peer.send(whole[:cut])
            if cut % 2:
                peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            peer.close()
        await server.until_empty()
        await server.join("Ann")


async def test_small_answers_do_not_wait_for_the_acknowledgement_of_earlier_ones(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        await server.join("Ann")
        peer = server.connection_of("Ann").transport.get_extra_info("socket")
        assert peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
