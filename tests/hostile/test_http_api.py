"""Attacks on the HTTP API: each has one clear answer, and costs a bounded amount."""

import asyncio
import json
from pathlib import Path

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Response

from tests.server.encrypted_peer import Authority
from tests.server.peer import RawPeer
from tests.server.running import Server, running, until
from ttt_net.server.http_api import MAX_STREAMS_OF_ADDRESS
from ttt_net.server.settings.configuration import Limits

LIVE = b"GET /api/live HTTP/1.1\r\nHost: a\r\n\r\n"


async def code_of(server: Server, path: str) -> tuple[int, str]:
    status, _, body = await server.fetch(path)
    return status, json.loads(body)["code"]


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/api/", 404, "bad_message"),
        ("/api/nothing", 404, "bad_message"),
        ("/api//games", 404, "bad_message"),
        ("/api/games/", 404, "bad_message"),
        ("/api/players/%2e%2e%2fgames", 404, "unknown_player"),
        ("/api/players/" + "A" * 80, 404, "unknown_player"),
        ("/api/players/" + "A" * 81, 400, "bad_message"),
        ("/api/players/" + "%F0%9F%98%80" * 500, 400, "bad_message"),
        ("/api/players/%ff", 400, "bad_message"),
        ("/api/players/%00/matches", 404, "unknown_player"),
        ("/api/players/'%20OR%201=1--/matches", 404, "unknown_player"),
        ("/api/players/Ann?name=Bob", 400, "bad_message"),
        ("/api/matches/" + "k" * 33, 400, "bad_message"),
        ("/api/matches/%F0%9F%98%80", 404, "unknown_match"),
        ("/api/matches?most=0", 400, "bad_message"),
        ("/api/matches?most=101", 400, "bad_message"),
        ("/api/matches?most=1e9", 400, "bad_message"),
        ("/api/matches?most=5&most=5", 400, "bad_message"),
        ("/api/matches?after=yesterday", 400, "bad_message"),
        ("/api/matches?after=" + "9" * 79 + "-", 400, "bad_message"),
        ("/api/matches?since_ms=-1", 400, "bad_message"),
        ("/api/matches?since_ms=99999999999999999999999", 400, "bad_message"),
        ("/api/matches?rated=perhaps", 400, "bad_message"),
        ("/api/matches?colour=red", 400, "bad_message"),
        ("/api/matches?" + "a=1&" * 50, 400, "bad_message"),
        ("/api/leaderboard/chess", 404, "unknown_game"),
        ("/api/leaderboard/mnk:9999x9999,5", 404, "unknown_game"),
        ("/api/leaderboard/gomoku?page=10001", 400, "bad_message"),
        ("/api/leaderboard/gomoku?speed=warp", 400, "bad_message"),
        ("/api/games?x=1", 400, "bad_message"),
    ],
)
async def test_a_wrong_address_has_one_clear_answer(tmp_path: Path, path: str, status: int, code: str) -> None:
    async with running(tmp_path) as server:
        assert await code_of(server, path) == (status, code)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
async def test_nothing_can_be_written(tmp_path: Path, method: str) -> None:
    async with running(tmp_path) as server:
        status, headers, _ = await server.fetch("/api/games", method=method)
        assert (status, headers["Allow"]) == (405, "GET, HEAD")


async def test_a_request_with_a_body_is_refused(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        status, _, _ = await server.fetch("/api/games", "Content-Length: 5")
        assert status == 413


async def test_only_the_head_is_sent_for_head_requests(tmp_path: Path, authority: Authority | None) -> None:
    async with running(tmp_path, authority=authority) as server:
        for path, status in (("/api/games", 200), ("/api/live", 200), ("/api/players/Ann", 404)):
            found, _, body = await server.fetch(path, method="HEAD")
            assert (found, body) == (status, b"")
        assert server.hub.api.streams == 0


async def test_ten_thousand_pages_are_as_cheap_as_their_number_allows(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(unmetered=())) as server:
        server.clock.stand_still()
        statuses = []
        for page in range(1, 10_001, 140):
            status, headers, _ = await server.fetch(f"/api/leaderboard/gomoku?page={page}")
            statuses.append(status)
            if status == 429:
                assert int(headers["Retry-After"]) >= 1
        assert statuses == [200] * 60 + [429] * 12


async def test_stalled_readers_of_the_stream_hold_little_and_are_dropped(
    tmp_path: Path, authority: Authority | None
) -> None:
    async with running(tmp_path, Limits(ping_after_s=60, dead_after_s=600), authority=authority) as server:
        reader = await server.raw() if authority else await RawPeer.connect(server.port, receive_buffer=4_096)
        await reader.send(LIVE)
        await until(lambda: server.hub.api.streams == 1)
        (connection,) = server.connections
        ann, bob, _ = await server.pair()
        for number in range(2_000):
            if connection.is_behind:
                break
            connection.send_more(b"%d" % number * 1_000)
            await asyncio.sleep(0)
        assert connection.is_behind
        held = connection.unsent_bytes
        for _ in range(20):
            server.later(2_000)
        assert connection.unsent_bytes <= held < 65_536 + 8_192
        server.tick(6)
        await until(lambda: server.hub.api.streams == 0)
        assert server.hub.metrics.endings["unread_answers"] == 1
        await ann.ok("ping")
        await bob.ok("ping")
        reader.close()


async def test_an_address_has_so_many_streams(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(unmetered=())) as server:
        streams = [await server.raw() for _ in range(MAX_STREAMS_OF_ADDRESS)]
        for stream in streams:
            await stream.send(LIVE)
            assert await stream.line_after_head() == {"type": "live", "count": 0, "matches": []}
        assert await code_of(server, "/api/live") == (503, "busy")
        streams[0].close()
        await until(lambda: server.hub.api.streams == MAX_STREAMS_OF_ADDRESS - 1)
        again = await server.raw()
        await again.send(LIVE)
        assert await again.status() == 200


async def test_the_question_of_a_departed_reader_is_dropped(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        archive = server.hub.services.archive
        with server.busy_reader():
            peers = [await server.raw() for _ in range(8)]
            for number, peer in enumerate(peers, 1):
                await peer.send(b"GET /api/matches HTTP/1.1\r\nHost: a\r\n\r\n")
                await until(lambda number=number: archive.waiting == number)  # type: ignore[misc]  # the first runs
            for peer in peers[1:]:
                peer.close()
            await until(lambda: archive.waiting == 1)
        assert await peers[0].status() == 200


async def test_bytes_after_a_waiting_request_are_bounded_and_read_later(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        peer = await server.raw()
        ask = b"GET /api/players/Ann HTTP/1.1\r\nHost: a\r\n\r\n"
        with server.busy_reader():
            await peer.send(ask)
            await until(lambda: server.hub.services.archive.waiting == 1)
            await peer.send(ask * 20)
            assert server.hub.services.archive.waiting == 1
        for _ in range(21):
            assert await peer.status() == 404
            await peer.read_json()


async def test_sixty_four_questions_of_one_address_delay_nobody(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(unmetered=(), api_requests=Limits().messages)) as server:
        with server.busy_reader():
            peers = [await server.raw() for _ in range(66)]
            for number, peer in enumerate(peers):
                if number == 65:
                    await until(lambda: server.hub.services.archive.waiting == 65)
                await peer.send(b"GET /api/matches HTTP/1.1\r\nHost: a\r\n\r\n")
            assert await peers[-1].status() == 503
        assert await peers[0].status() == 200


async def test_streams_do_not_keep_the_server_from_ending(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        reader = await server.raw()
        await reader.send(LIVE)
        await reader.status()
        server.hub.close_all()
        await until(lambda: server.hub.api.streams == 0)


async def test_an_answer_to_a_reader_who_has_just_left_is_no_error(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        peer = await server.raw()
        with server.busy_reader():
            await peer.send(b"GET /api/matches HTTP/1.1\r\nHost: a\r\n\r\n")
            await until(lambda: server.hub.services.archive.waiting == 1)
            (connection,) = server.connections
            peer.close()
            connection.answer(Response(200, "OK", Headers({"Connection": "close"}), b"late"))
        await until(lambda: not server.connections)
