"""A table of openings and frames that no client would send, each with the answer that it earns."""

import zlib
from pathlib import Path

import pytest

from tests.hostile.frames import FRAMES, HUGE
from tests.server.encrypted_peer import Authority
from tests.server.peer import BINARY, CLOSE, CONT, HANDSHAKE, PING, TEXT, client_frame
from tests.server.running import running, until
from ttt_net.server.settings.configuration import Limits, Rate

FAST = Limits(messages=Rate(1_000_000), dead_after_s=600, stalled_s=600)


def opening(*lines: bytes, method: bytes = b"GET", version: bytes = b"HTTP/1.1", drop: bytes = b"~") -> bytes:
    """Return a handshake without the header line that starts with `drop`, and with more lines."""
    _, *headers = HANDSHAKE.rstrip().split(b"\r\n")
    kept = [header for header in headers if not header.startswith(drop)]
    return b"\r\n".join((method + b" / " + version, *kept, *lines)) + b"\r\n\r\n"


def rebound(name: bytes) -> bytes:
    """Return the handshake of a page that a browser found under that name, which leads here."""
    return opening(b"Host: " + name, b"Origin: http://" + name, drop=b"Host")


OPENINGS = [
    ("a handshake", opening(), 101),
    ("no key", opening(drop=b"Sec-WebSocket-Key"), 400),
    ("a short key", opening(b"Sec-WebSocket-Key: aaaa", drop=b"Sec-WebSocket-Key"), 400),
    ("two keys", opening(b"Sec-WebSocket-Key: " + b"A" * 22 + b"=="), 400),
    ("an old version", opening(b"Sec-WebSocket-Version: 8", drop=b"Sec-WebSocket-Version"), 400),
    ("no upgrade in Connection", opening(b"Connection: close", drop=b"Connection"), 426),
    ("an upgrade to something else", opening(b"Upgrade: h2c", drop=b"Upgrade"), 426),
    ("a POST", opening(method=b"POST"), 405),
    ("HTTP/1.0", opening(version=b"HTTP/1.0"), 505),
    ("HTTP/9", opening(version=b"HTTP/9"), 505),
    ("a body", opening(b"Content-Length: 5") + b"12345", 413),
    ("a body in chunks", opening(b"Transfer-Encoding: chunked") + b"5\r\n12345\r\n0\r\n\r\n", 411),
    ("a POST with a body", opening(b"Content-Length: 5", method=b"POST") + b"12345", 405),
    ("line feeds alone", opening().replace(b"\r\n", b"\n"), 400),
    ("a header without a name", opening(b": x"), 400),
    ("more than 16 KiB", opening(*[b"X%d: " % n + b"y" * 1_000 for n in range(20)]), 431),
    ("a very long line", b"GET /" + b"a" * 10_000, 414),
    ("a very long header", opening(b"X: " + b"a" * 10_000), 431),
    ("a thousand headers", opening(*[b"X: y"] * 1_000), 431),
    ("no HTTP at all", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
    ("zeros", bytes(10_000), 414),
    ("zeros without end", bytes(20_000), 431),
    ("line feeds", b"\n" * 10_000, 400),
    ("a foreign page", opening(b"Origin: http://evil.example"), 403),
    ("a page of nowhere", opening(b"Origin: null"), 403),
    ("a page of our own", opening(b"Origin: http://127.0.0.1"), 101),
    ("a page of another scheme", opening(b"Origin: https://127.0.0.1"), 403),
    ("a page that another name led here", rebound(b"evil.example"), 403),
    ("a page under a name of the local network", rebound(b"raspberry.local"), 101),
    ("two origins", opening(b"Origin: http://127.0.0.1", b"Origin: http://evil.example"), 403),
    ("two hosts", opening(b"Origin: http://127.0.0.1", b"Host: evil.example"), 400),
    ("two hosts, and no page", opening(b"Host: evil.example"), 400),
    ("an origin that cannot be read", opening(b"Origin: http://[", b"X: y"), 403),
    ("a plain request", b"GET / HTTP/1.1\r\n\r\n", 200),
    ("a check of health", b"GET /healthz HTTP/1.1\r\n\r\n", 200),
    ("a page that is not there", b"GET /favicon.ico HTTP/1.1\r\n\r\n", 404),
    ("a plain POST", b"POST / HTTP/1.1\r\n\r\n", 405),
    ("two requests at once", b"GET /healthz HTTP/1.1\r\n\r\n" * 2, 200),
    ("a handshake and a close at once", opening() + client_frame(CLOSE), 101),
    ("a handshake and a ping at once", opening() + client_frame(PING), 101),
    ("a handshake and rubbish at once", opening() + b"\xff" * 100, 101),
]


RECORD_BYTES = 16_384
"""Of TLS, at most: a line that is too long is seen to be so before the opening is."""


async def test_every_opening_is_answered_with_its_status(tmp_path: Path, authority: Authority | None) -> None:
    async with running(tmp_path, FAST, authority=authority) as server:
        answered: dict[str, int | None] = {}
        for name, sent, _ in OPENINGS:
            peer = await server.raw()
            await peer.send(sent)
            answered[name] = await peer.status()
            peer.close()
        await server.until_empty()
    expected = {name: status for name, _, status in OPENINGS}
    if authority is not None:
        expected |= {name: 414 for name, sent, _ in OPENINGS if len(sent) > RECORD_BYTES and b"\n" not in sent}
    assert answered == expected


@pytest.mark.parametrize("is_in", [False, True], ids=["before hello", "after hello"])
async def test_every_broken_frame_is_answered_with_its_close_code(
    tmp_path: Path, authority: Authority | None, is_in: bool
) -> None:
    async with running(tmp_path, FAST, authority=authority) as server:
        closed: dict[str, int | None] = {}
        for number, (name, sent, _) in enumerate(FRAMES):
            peer = await server.raw()
            await (peer.hello(f"Ann {number}") if is_in else peer.upgrade())
            await peer.send(sent)
            closed[name] = await peer.close_code()
            peer.close()
        await server.until_empty()
    fits = {name: closed[name] in ((1000, 1003, 1007) if code is None else (code,)) for name, _, code in FRAMES}
    assert all(fits.values()), {name: closed[name] for name, is_so in fits.items() if not is_so}


async def test_compression_is_never_agreed_to_and_a_compressed_bomb_is_a_broken_frame(
    tmp_path: Path, authority: Authority | None
) -> None:
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    bomb = deflate.compress(bytes(50_000_000)) + deflate.flush(zlib.Z_SYNC_FLUSH)
    assert len(bomb) < 50_000
    async with running(tmp_path, authority=authority) as server:
        peer = await server.raw()
        await peer.send(opening(b"Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"))
        head = await peer.read_head()
        assert head.startswith(b"HTTP/1.1 101 ")
        assert b"extensions" not in head.lower()
        await peer.send(client_frame(TEXT, bomb[:4_000], rsv=4))
        assert await peer.close_code() == 1002


def fragments(sizes: list[int]) -> bytes:
    """Return a message in fragments of those sizes, without its last one."""
    return b"".join(client_frame(CONT if number else TEXT, b" " * size, fin=False) for number, size in enumerate(sizes))


BOMBS = [
    ("1 MB in one frame", client_frame(TEXT, bytes(1_000_000)), 1009),
    ("4,097 bytes in pieces of 17", fragments([17] * 241), 1009),
    ("a binary frame of 1 MB", client_frame(BINARY, bytes(1_000_000)), 1009),
    ("2^62 bytes announced", HUGE, 1009),
    ("a deep array", client_frame(TEXT, b"[" * 4_096), "bad_message"),
    ("a long number", client_frame(TEXT, b'{"type":"who","id":' + b"9" * 4_000 + b"}"), "bad_message"),
    ("an endless exponent", client_frame(TEXT, b'{"type":"who","id":1e999999999}'), "bad_message"),
    ("a thousand keys", client_frame(TEXT, b"{" + b'"a":1,' * 600 + b'"b":2}'), "bad_message"),
    ("escapes", client_frame(TEXT, b'{"type":"' + b"\\u0000" * 600 + b'"}'), "bad_message"),
]


@pytest.mark.parametrize(("bomb", "end"), [row[1:] for row in BOMBS], ids=[row[0] for row in BOMBS])
async def test_a_hundred_bombs_cost_their_senders_and_nobody_else(
    tmp_path: Path, authority: Authority | None, bomb: bytes, end: int | str
) -> None:
    async with running(tmp_path, FAST, authority=authority) as server:
        first, second, match = await server.pair()
        bombs = 100 if authority is None else 20
        for number in range(bombs):
            peer = await server.raw()
            await peer.upgrade()
            try:
                await peer.send(bomb)
            except ConnectionError:  # closed before all of it was there
                assert end == 1009
            if isinstance(end, int):
                assert await peer.close_code() in (end, None), "a reset may overtake the close frame"
            else:
                assert (await peer.hear("refused"))["code"] == end
            peer.close()
            if number in (bombs // 5, bombs // 2):
                ply = int(number > bombs // 5)
                await (first, second)[ply].ok("play", match=match, ply=ply, move=4 + ply)
        assert len((await second.resume(match))["moves"]) == 2
        await first.close()
        await second.close()
        await server.until_empty()


async def test_a_closed_peer_that_keeps_sending_is_reset_early(tmp_path: Path, authority: Authority | None) -> None:
    async with running(tmp_path, Limits(closing_s=60), authority=authority) as server:
        peer = await server.raw()
        await peer.upgrade()
        with pytest.raises(ConnectionError):
            await peer.send(client_frame(TEXT, bytes(10_000_000)))
        await until(lambda: not server.connections)


async def test_a_message_that_never_ends_is_held_in_4_kib(tmp_path: Path, authority: Authority | None) -> None:
    async with running(tmp_path, FAST, authority=authority) as server:
        peer = await server.raw()
        await peer.hello("Mallory")
        connection = server.connection_of("Mallory")
        await peer.send(fragments([1_000] * 4 + [0] * 12_000) + client_frame(PING, b"?"))
        while (heard := await peer.read_frame()) is not None and heard[1] != b"?":
            pass
        assert heard is not None, "it was ended"
        assert connection.fragment_bytes == 4_000


async def test_the_same_bytes_end_the_same_way_at_any_split(tmp_path: Path, authority: Authority | None) -> None:
    """A frame may come in any number of segments, or of TLS's records; so may a broken one."""
    async with running(tmp_path, FAST, authority=authority) as server:
        for _, sent, code in FRAMES:
            for pieces in (2, 7):
                peer = await server.raw()
                await peer.upgrade()
                step = max(1, len(sent) // pieces)
                for start in range(0, len(sent), step):
                    try:
                        await peer.send(sent[start : start + step])
                    except ConnectionError:
                        break
                    await peer.pause()
                assert await peer.close_code() in (code, None) if code else True
                peer.close()
        await server.until_empty()
