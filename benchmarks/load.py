"""The load generator: pairs of players on one thread, cheap enough that the server is what limits.

It checks all that it hears: numbers of plies, moves, sides, winners, and one `ok` per request. Anything unexpected
ends it with an error. Not a client to copy from: its frames are masked with zeros, which masks nothing and costs
nothing.
"""

import argparse
import gc
import itertools
import os
import random
import select
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import msgspec

from benchmarks.meter import Cost, cost, resident_bytes
from ttt_net.games import find_game

GAME = "connect4"
MIN_PLIES = 36
"""Long plays, so that a move is what is measured, and not how matches begin and end."""


def _scripts(count: int) -> Iterator[tuple[tuple[int, ...], int | None]]:
    """Yield random plays, each with its winner; the same ones each time."""
    rng, game = random.Random(4), find_game(GAME)
    while count:
        state, moves = game.initial, []
        while not game.is_terminal(state):
            moves.append(rng.choice(game.actions(state)))
            state = game.result(state, moves[-1])
        if len(moves) >= MIN_PLIES:
            count -= 1
            outcome = game.outcome(state)
            yield tuple(moves), outcome and outcome.winner


SCRIPTS = tuple(_scripts(4))
_TEXT, _PING, _PONG = 0x1, 0x9, 0xA


class Heard(msgspec.Struct):
    """The fields that are checked, of any message."""

    type: str = ""
    id: int | None = None
    match: str = ""
    side: int | None = None
    ply: int = 0
    move: int = -1
    you: Any = None
    """In a snapshot, the side."""
    winner: int | None = None


_decode = msgspec.json.Decoder(Heard).decode


class Socket:
    """A client's end of a WebSocket; `receive` returns the texts that are complete with what has come."""

    def __init__(self, port: int, path: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self._socket.recv(4096)
        head, _, self._rest = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101"), head
        self._socket.setblocking(False)
        self.fileno = self._socket.fileno

    def send(self, payload: bytes, opcode: int = _TEXT) -> None:
        """Send one short frame; the kernel's buffer is never full, as every player waits for their answers."""
        assert len(payload) < 126
        sent = self._socket.send(bytes((0x80 | opcode, 0x80 | len(payload), 0, 0, 0, 0)) + payload)
        assert sent == len(payload) + 6

    def receive(self) -> list[bytes]:
        """Read once, answer pings, and return the texts."""
        came = self._socket.recv(65_536)
        assert came, "the server has closed the connection"
        data = self._rest + came
        texts = []
        at = 0
        while len(data) - at >= 2:  # a ping has no more
            length, start = data[at + 1], at + 2
            if length == 126:
                if len(data) - at < 4:
                    break
                length, start = int.from_bytes(data[at + 2 : at + 4]), at + 4
            if start + length > len(data):
                break
            if data[at] == 0x80 | _TEXT:
                texts.append(data[start : start + length])
            else:
                assert data[at] == 0x80 | _PING, data[at:]
                self.send(data[start : start + length], _PONG)
            at = start + length
        self._rest = data[at:]
        return texts


class Pair:
    """Two players of one match: whose turn it is, since when, and when the last move was sent."""

    def __init__(self) -> None:
        self.next: Player | None = None
        self.sent_ns = 0


class Player(Protocol):
    """A client that plays by the scripts, or only sits there."""

    socket: Socket
    is_seated: bool

    def sit(self) -> None:
        """Ask for a match."""

    def play(self) -> None:
        """Send the next move."""

    def hear(self, text: bytes) -> None:
        """Check one message and do what it calls for."""


class RefereedPlayer:
    """A player on the server of this repository."""

    def __init__(self, load: "Load", number: int) -> None:
        self.socket = Socket(load.next_port(), "/")
        self.is_seated = False
        self._load = load
        self._requests = 0
        self._answers = 0
        self._matches = itertools.count()
        self._request(b'"hello","protocols":[1],"name":"load-%d-%d"' % (number, os.getpid()))

    def sit(self) -> None:
        """Seek anybody who seeks, too."""
        self._request(b'"seek","games":["%s"]' % GAME.encode())

    def play(self) -> None:
        """Send the next move of the script."""
        self._pair.sent_ns = time.perf_counter_ns()
        self._request(b'"play","match":"%s","ply":%d,"move":%d' % (self._match, self._ply, self._script[self._ply]))

    def hear(self, text: bytes) -> None:
        """Check one message and do what it calls for."""
        heard = _decode(text)
        match heard.type:
            case "ok":
                self._answers += 1
                assert heard.id == self._answers, text
            case "played":
                self._played(heard)
            case "ended":
                assert self._ply == len(self._script), text
                assert heard.winner == self._winner, text
                self._request(b'"offer","match":"%s","kind":"rematch"' % self._match)
            case "snapshot":
                self._start(heard)
            case "welcome":
                self._load.welcomed += 1
            case _:
                assert heard.type in {"offered", "rematched"}, text

    def _start(self, heard: Heard) -> None:
        self._match, self._side, self._ply = heard.match.encode(), heard.you, 0
        self._script, self._winner = SCRIPTS[next(self._matches) % len(SCRIPTS)]
        if not self.is_seated:
            self._pair = self._load.pairs.setdefault(heard.match, Pair())
            self.is_seated = True
        if self._side == 0:
            self._load.turn(self._pair, self)

    def _played(self, heard: Heard) -> None:
        assert (heard.side, heard.ply, heard.move) == (self._ply & 1, self._ply + 1, self._script[self._ply]), heard
        self._ply += 1
        if heard.side != self._side:
            self._load.arrived(self._pair)
            if self._ply < len(self._script):
                self._load.turn(self._pair, self)

    def _request(self, rest: bytes) -> None:
        self._requests += 1
        self.socket.send(b'{"id":%d,"type":%s}' % (self._requests, rest))


class RelayedPlayer:
    """A player on the relay that tells the other's moves and nothing else."""

    def __init__(self, load: "Load", number: int) -> None:
        name, self._side = divmod(number, 2)
        self.socket = Socket(load.next_port(), f"/{os.getpid()}/{name}")
        self.is_seated = False
        self._load = load
        self._name = b"%08d" % name
        self._pair = load.pairs.setdefault(str(name), Pair())
        self._count = 0
        self._ply = 0
        load.welcomed += 1

    def sit(self) -> None:
        """Begin: the path has said whom with."""
        self.is_seated = True
        if self._side == 0:
            self._load.turn(self._pair, self)

    def play(self) -> None:
        """Send the next move of the script."""
        script, _ = SCRIPTS[self._count % len(SCRIPTS)]
        self._pair.sent_ns = time.perf_counter_ns()
        request = b'{"id":%d,"type":"play","match":"%s","ply":%d,"move":%d}'
        self.socket.send(request % (self._count, self._name, self._ply, script[self._ply]))
        self._ply += 1
        if self._ply == len(script):
            self._swap()

    def hear(self, text: bytes) -> None:
        """Check the other's move, and make the next one, of this match or of the next."""
        heard = _decode(text)
        script, _ = SCRIPTS[self._count % len(SCRIPTS)]
        assert (heard.ply, heard.move) == (self._ply, script[self._ply]), text
        self._ply += 1
        self._load.arrived(self._pair)
        if self._ply == len(script):
            self._swap()
        self._load.turn(self._pair, self)

    def _swap(self) -> None:
        self._count += 1
        self._ply = 0


class EchoedPlayer(RelayedPlayer):
    """A player on the relay that tells all moves, one's own before the answer to it."""

    def __init__(self, load: "Load", number: int) -> None:
        super().__init__(load, number)
        self._own: tuple[int, int] | None = None

    def play(self) -> None:
        """Send the next move of the script."""
        script, _ = SCRIPTS[self._count % len(SCRIPTS)]
        self._own = (self._ply, script[self._ply])
        super().play()

    def hear(self, text: bytes) -> None:
        """Check their own move, or do what the other's calls for."""
        if self._own is None:
            super().hear(text)
            return
        heard = _decode(text)
        assert (heard.ply, heard.move) == self._own, text
        self._own = None


PLAYERS: dict[str, Callable[["Load", int], Player]] = {
    "server": RefereedPlayer,
    "relay": RelayedPlayer,
    "relay to both": EchoedPlayer,
}


@dataclass(frozen=True, slots=True)
class Report:
    """Measurements of one run; costs are those of the window alone."""

    seconds: float
    moves: int
    skipped: int
    """Moves that were due before the answer to the last one had come."""
    p50_us: float
    """The median time from the mover's send to the opponent's receipt."""
    p99_us: float
    server: Cost
    generator: Cost
    connection_bytes: float
    """RSS of the server per connection, after the greeting and before anything else."""


class Load:
    """All players, one epoll, and the clock. Moves are answered at once, or made when they are due."""

    def __init__(self, kind: str, ports: Sequence[int], pids: Sequence[int], connections: int) -> None:
        """Connect so many players, in turn to each of the ports, of the processes whose costs are counted."""
        self._ports = itertools.cycle(ports)
        self.pairs: dict[str, Pair] = {}
        self.welcomed = 0
        self._is_paced = True
        self._pids = pids
        self._skipped = 0
        self._epoll = select.epoll()
        self._latencies_ns: list[int] = []
        self._now_ns = 0
        before = sum(map(resident_bytes, pids))
        self._players = [PLAYERS[kind](self, number) for number in range(connections)]
        self._by_fd = {player.socket.fileno(): player for player in self._players}
        for fd in self._by_fd:
            self._epoll.register(fd, select.EPOLLIN)
        self._poll_until(lambda: self.welcomed == connections)
        self._connection_bytes = (sum(map(resident_bytes, pids)) - before) / connections

    def next_port(self) -> int:
        """Return where the next player connects to."""
        return next(self._ports)

    def turn(self, pair: Pair, player: Player) -> None:
        """Take note that the player is to move."""
        pair.next = player
        if not self._is_paced:
            player.play()

    def arrived(self, pair: Pair) -> None:
        """Take note that the last move has reached the opponent."""
        self._latencies_ns.append(self._now_ns - pair.sent_ns)

    def idle(self, seconds: float) -> Report:
        """Do nothing but answer pings."""
        return self._measure(self._poll_for, seconds)

    def saturate(self, warm_up_s: float, seconds: float) -> Report:
        """Answer every move at once."""
        self._seat()
        self._is_paced = False
        for pair in self.pairs.values():
            if pair.next:
                pair.next.play()
        self._poll_for(warm_up_s)
        return self._measure(self._poll_for, seconds, least=1 + len(self.pairs))

    def pace(self, rate: float, warm_up_s: float, seconds: float) -> Report:
        """Make `rate` moves per second, evenly spread over time and over the pairs."""
        self._seat()
        self._move_in_turn(rate, warm_up_s)
        return self._measure(partial(self._move_in_turn, rate), seconds, least=1 + len(self.pairs))

    def _seat(self) -> None:
        for player in self._players:
            player.sit()
        self._poll_until(lambda: all(player.is_seated for player in self._players))
        self._poll_for(0.1)

    def _measure(self, act: Callable[[float], None], seconds: float, least: int = 0) -> Report:
        """Measure for some seconds, and on until that many moves have arrived: a busy machine may bring none in time.

        With one more than there are pairs, one move at least was both made and brought while we measured.
        """
        self._latencies_ns.clear()
        self._skipped = 0
        server, generator, start_ns = cost(*self._pids), cost(os.getpid()), time.perf_counter_ns()
        act(seconds)
        while len(self._latencies_ns) < least:
            assert time.perf_counter_ns() - start_ns < (seconds + 30) * 1e9, "the server brings no moves"
            act(0.1)
        passed_s = (time.perf_counter_ns() - start_ns) / 1e9
        server, generator = cost(*self._pids).since(server), cost(os.getpid()).since(generator)
        latencies = sorted(self._latencies_ns) or [0]
        p50, p99 = (latencies[int(len(latencies) * share)] / 1000 for share in (0.5, 0.99))
        moves = len(self._latencies_ns)
        return Report(passed_s, moves, self._skipped, p50, p99, server, generator, self._connection_bytes)

    def _move_in_turn(self, rate: float, seconds: float) -> None:
        """Let the next pair move at each tick, unless the answer to its last move has not come."""
        pairs = list(self.pairs.values())
        start_s = time.perf_counter()
        for tick in range(int(rate * seconds)):
            while (left_s := start_s + tick / rate - time.perf_counter()) > 0:
                # epoll counts in milliseconds, select in microseconds; and one epoll is a file like any other
                if select.select([self._epoll], [], [], left_s)[0]:
                    self._poll(0)
            pair = pairs[tick % len(pairs)]
            player, pair.next = pair.next, None
            if player:
                player.play()
            else:
                self._skipped += 1

    def _poll_for(self, seconds: float) -> None:
        end_s = time.perf_counter() + seconds
        while time.perf_counter() < end_s:
            self._poll(0.05)

    def _poll_until(self, is_done: Callable[[], bool]) -> None:
        end_s = time.perf_counter() + 30
        while not is_done():
            assert time.perf_counter() < end_s, "the server does not answer"
            self._poll(0.05)

    def _poll(self, timeout_s: float) -> None:
        for fd, _ in self._epoll.poll(timeout_s):
            player = self._by_fd[fd]
            texts = player.socket.receive()
            self._now_ns = time.perf_counter_ns()
            for text in texts:
                player.hear(text)


def main() -> None:
    """Run once, as the command line says, and print the report as JSON."""
    parser = argparse.ArgumentParser(prog="load")
    parser.add_argument("kind", choices=PLAYERS)
    parser.add_argument("what", choices=["idle", "saturate", "pace"])
    parser.add_argument("--port", type=int, nargs="+", required=True)
    parser.add_argument("--pid", type=int, nargs="+", required=True)
    parser.add_argument("--connections", type=int, required=True)
    parser.add_argument("--rate", type=float, help="moves per second, for `pace`")
    parser.add_argument("--warm-up", type=float, default=0.0)
    parser.add_argument("--seconds", type=float, required=True)
    arguments = parser.parse_args()
    gc.disable()
    load = Load(arguments.kind, arguments.port, arguments.pid, arguments.connections)
    match arguments.what:
        case "idle":
            report = load.idle(arguments.seconds)
        case "saturate":
            report = load.saturate(arguments.warm_up, arguments.seconds)
        case _:
            report = load.pace(arguments.rate, arguments.warm_up, arguments.seconds)
    print(msgspec.json.encode(report).decode())


if __name__ == "__main__":
    main()
