"""Clients that know nothing of ttt_net: one over `websockets` and `json`, one over a bare socket."""

import asyncio
import base64
import json
import socket
import ssl
import struct
from collections import deque
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.patience import PATIENCE_S

Message = dict[str, Any]


class Peer:
    """A client over `websockets`. Messages that arrive while it waits for another are kept in order."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.token = ""
        self.name = ""
        self.heard: deque[Message] = deque()
        self._last_id = 0

    @classmethod
    async def connect(cls, url: str, tls: ssl.SSLContext | None = None) -> "Peer":
        return cls(
            await connect(url, proxy=None, compression=None, ping_interval=None, open_timeout=PATIENCE_S, ssl=tls)
        )

    async def say(self, type: str, **fields: object) -> int:
        """Send a request; return its id."""
        self._last_id += 1
        await self.socket.send(json.dumps({"type": type, "id": self._last_id, **fields}))
        return self._last_id

    async def hear(self, type: str, **fields: object) -> Message:
        """Return the next message of that type and those fields; the others wait."""
        for message in self.heard:
            if message["type"] == type and fields.items() <= message.items():
                self.heard.remove(message)
                return message
        while True:
            told: Message = json.loads(await self.socket.recv())
            if told["type"] == type and fields.items() <= told.items():
                return told
            self.heard.append(told)

    async def answer(self, request: int) -> Message:
        """Return the answer to a request."""
        while True:
            for message in self.heard:
                if message["type"] in ("ok", "refused") and message["id"] == request:
                    self.heard.remove(message)
                    return message
            self.heard.append(json.loads(await self.socket.recv()))

    async def ask(self, type: str, **fields: object) -> Message:
        """Send a request and return its answer."""
        return await self.answer(await self.say(type, **fields))

    async def ok(self, type: str, **fields: object) -> None:
        """Send a request that must be carried out."""
        answer = await self.ask(type, **fields)
        assert answer["type"] == "ok", answer

    async def refused(self, type: str, **fields: object) -> str:
        """Send a request that must be refused; return the code."""
        answer = await self.ask(type, **fields)
        assert answer["type"] == "refused", answer
        assert answer["message"]
        return str(answer["code"])

    async def hello(self, **who: object) -> Message:
        """Say hello and return the welcome."""
        await self.ok("hello", protocols=[1], **who)
        welcome = await self.hear("welcome")
        self.token = welcome.get("token", self.token)
        self.name = welcome["you"]["name"]
        return welcome

    async def play(self, match: str, *moves: tuple["Peer", int], ply: int = 0) -> None:
        """Let moves be made, each after the one before was heard; `self` is only one of the two who hear."""
        for number, (peer, move) in enumerate(moves, ply):
            await peer.ok("play", match=match, ply=number, move=move)
            await self.hear("played", match=match, ply=number + 1)

    async def resume(self, match: str, seq: int = 0) -> Message:
        """Resume a match and return its snapshot."""
        await self.ok("resume", match=match, seq=seq)
        return await self.hear("snapshot", match=match)

    async def close_code(self) -> int | None:
        """Wait for the end of the connection; return the code that the server closed it with."""
        try:
            while True:
                self.heard.append(json.loads(await self.socket.recv()))
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else None

    async def close(self) -> None:
        await self.socket.close()

    def abort(self) -> None:
        """Vanish without a word."""
        self.socket.transport.abort()


HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + base64.b64encode(bytes(16)) + b"\r\n\r\n"
)
TEXT, BINARY, CLOSE, PING, PONG, CONT = 1, 2, 8, 9, 10, 0


def client_frame(opcode: int, payload: bytes = b"", *, fin: bool = True, masked: bool = True, rsv: int = 0) -> bytes:
    """Return the bytes of one frame as a client sends it, or as a bad one does."""
    first = (0x80 if fin else 0) | rsv << 4 | opcode
    mask_bit = 0x80 if masked else 0
    if len(payload) < 126:
        head = struct.pack("!BB", first, mask_bit | len(payload))
    elif len(payload) < 65_536:
        head = struct.pack("!BBH", first, mask_bit | 126, len(payload))
    else:
        head = struct.pack("!BBQ", first, mask_bit | 127, len(payload))
    return head + (bytes(4) if masked else b"") + payload  # a mask of zeros changes nothing


def said(type: str, id: int = 1, **fields: object) -> bytes:
    """Return the frame of one request."""
    return client_frame(TEXT, json.dumps({"type": type, "id": id, **fields}).encode())


class RawPeer:
    """A client that writes and reads bytes, and stops reading when the test says so."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self._unread = b""

    @classmethod
    async def connect(cls, port: int, receive_buffer: int | None = None, source: str | None = None) -> "RawPeer":
        sock = socket.socket()
        if source:
            sock.bind((source, 0))
        if receive_buffer:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        sock.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
        except ConnectionResetError:
            pass  # dropped before this task had its turn; who reads or writes will see
        except OSError:
            sock.close()
            raise
        return cls(sock)

    async def send(self, data: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self.socket, data)

    async def pause(self) -> None:
        """Let what was sent arrive as a segment of its own, most of the time."""
        for _ in range(3):
            await asyncio.sleep(0)

    async def receive(self) -> bytes:
        """Return bytes as they come; none at the end of the stream."""
        try:
            return await asyncio.get_running_loop().sock_recv(self.socket, 65_536)
        except ConnectionError:
            return b""

    async def read(self, count: int) -> bytes:
        """Return exactly that many bytes, or fewer at the end of the stream."""
        while len(self._unread) < count:
            data = await self.receive()
            if not data:
                break
            self._unread += data
        taken, self._unread = self._unread[:count], self._unread[count:]
        return taken

    async def read_head(self) -> bytes:
        """Return the head of an HTTP answer, or what came of it before the end of the stream."""
        while b"\r\n\r\n" not in self._unread:
            data = await self.receive()
            if not data:
                break
            self._unread += data
        head, _, self._unread = self._unread.partition(b"\r\n\r\n")
        return head

    async def status(self) -> int | None:
        """Return the status of an HTTP answer; None if the stream ended without one."""
        head = await self.read_head()
        return int(head.split()[1]) if head else None

    async def upgrade(self) -> None:
        """Perform the opening handshake."""
        await self.send(HANDSHAKE)
        assert await self.status() == 101

    async def read_frame(self) -> tuple[int, bytes] | None:
        """Return opcode and payload of the next frame; None at the end of the stream."""
        head = await self.read(2)
        if len(head) < 2:
            return None
        length = head[1] & 0x7F
        if length == 126:
            (length,) = struct.unpack("!H", await self.read(2))
        elif length == 127:
            (length,) = struct.unpack("!Q", await self.read(8))
        return head[0] & 0x0F, await self.read(length)

    async def hear(self, type: str) -> Message:
        """Return the next message of that type; forget the others."""
        while frame := await self.read_frame():
            if frame[0] == TEXT:
                message: Message = json.loads(frame[1])
                if message["type"] == type:
                    return message
        raise AssertionError(f"the stream ended without {type}")

    async def hello(self, name: str) -> None:
        await self.upgrade()
        await self.send(said("hello", protocols=[1], name=name))
        await self.hear("welcome")

    async def close_code(self) -> int | None:
        """Read on to the end; return the code of the close frame, or None if there was none."""
        while frame := await self.read_frame():
            if frame[0] == CLOSE:
                return int.from_bytes(frame[1][:2], "big")
        return None

    async def read_to_end(self) -> bytes:
        """Return all that is still to come."""
        while data := await self.receive():
            self._unread += data
        taken, self._unread = self._unread, b""
        return taken

    async def line_after_head(self) -> Message:
        """Return the first line of a stream that has just been asked for."""
        assert await self.status() == 200
        return await self.line()

    async def read_json(self) -> Message:
        """Return the one JSON object that comes next."""
        data = await self.read(1)
        while True:
            try:
                message: Message = json.loads(data)
            except ValueError:
                data += await self.read(1)
            else:
                return message

    async def line(self) -> Message:
        """Return the next line of a stream of JSON."""
        data = b""
        while not data.endswith(b"\n"):
            data += await self.read(1)
        message: Message = json.loads(data)
        return message

    def close(self) -> None:
        self.socket.close()
