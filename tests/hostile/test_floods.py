"""Many at once who want no match: those who do want one go on playing. Answers are counted, not milliseconds."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from websockets.exceptions import WebSocketException

from tests.patience import BUSY_S
from tests.server.peer import CONT, HANDSHAKE, PING, TEXT, Peer, RawPeer, client_frame, said
from tests.server.running import Server, running, until
from ttt_net.server.rooms import audience
from ttt_net.server.settings.configuration import Limits, Rate
from ttt_net.server.wire.connection import Connection

EMPTY = client_frame(CONT, fin=False)

BOARD = "mnk:7x7,7"
"""49 moves, none of which ends the match when they are made in order."""
PLIES = 40


class Players:
    """Two who play on whatever happens; each move is answered and heard by both."""

    def __init__(self, first: Peer, second: Peer, match: str) -> None:
        self._peers = (first, second)
        self.match = match
        self.plies = 0

    async def play_on(self) -> None:
        """Make the rest of the moves, one after the other."""
        while self.plies < PLIES:
            await self.move()

    async def move(self) -> None:
        """Make one move."""
        mover, other = self._peers[self.plies % 2], self._peers[1 - self.plies % 2]
        await mover.ok("play", match=self.match, ply=self.plies, move=self.plies)
        await other.hear("played", match=self.match, move=self.plies)
        self.plies += 1


@asynccontextmanager
async def at_play(server: Server) -> AsyncIterator[Players]:
    """Let two play while the block runs; at its end they must have made every move, and be there still."""
    first, second, match = await server.pair(games=[BOARD])
    players = Players(first, second, match)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(players.play_on())
        yield players
    assert players.plies == PLIES
    await first.ok("ping")
    await second.ok("ping")


async def test_silent_and_dripping_openings_keep_nobody_out(tmp_path: Path) -> None:
    limits = Limits(max_newcomers=300, max_connections=400, handshake_s=60, dead_after_s=600)
    async with running(tmp_path, limits) as server, at_play(server):
        drips = [await server.raw() for _ in range(500)]
        for number, drip in enumerate(drips):
            with contextlib.suppress(ConnectionError):
                await drip.send(HANDSHAKE[: number % len(HANDSHAKE)])
        for number in range(20):
            peer = await server.join(f"Visitor-{number}")
            await peer.ok("ping")
            for drip in drips[-5:]:
                await drip.send(b"X")
        assert len(server.connections) <= 400
        server.tick(limits.handshake_s + 0.1)
        await until(lambda: len(server.connections) == 22)


async def test_connections_that_come_and_go_keep_nobody_out(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(max_connections=100)) as server, at_play(server):
        for number in range(60):
            await storm(server.port, 30)
            if number % 6 == 0:
                await admitted(server, f"Visitor-{number}")
        await until(lambda: len(server.connections) == 12)


async def storm(port: int, count: int) -> None:
    """Open many connections, and leave each in another way."""
    for number in range(count):
        peer = await RawPeer.connect(port)
        with contextlib.suppress(ConnectionError):
            await peer.send(HANDSHAKE[: number * 20])
        if number % 2:
            peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()


async def admitted(server: Server, name: str) -> Peer:
    """Join, coming again as a client does as long as the server is full."""
    while True:
        with contextlib.suppress(OSError, WebSocketException):
            return await server.join(name)


async def test_a_flood_from_one_address_leaves_room_for_the_others(tmp_path: Path) -> None:
    """The flood comes from 127.0.0.2, and everybody else from 127.0.0.1."""
    limits = Limits(unmetered=(), max_per_address=20, openings=Rate(100_000, 1.0))
    async with running(tmp_path, limits) as server, at_play(server):
        flood = [await RawPeer.connect(server.port, source="127.0.0.2") for _ in range(200)]
        await until(lambda: server.hub.metrics.endings["address"] >= 150)
        await until(lambda: server.hub.limiter.count_of("127.0.0.2") <= 20 + 8)
        for number in range(10):
            await (await server.join(f"Visitor-{number}")).ok("ping")
        for peer in flood:
            peer.close()


async def test_reads_of_the_disk_are_metered_for_every_request(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(inquiries=Rate(5, 3_600.0))) as server:
        first, second, over = await server.pair()
        await first.ok("resign", match=over)
        await second.hear("ended")
        for peer in (first, second):
            await peer.close()
        await until(lambda: not server.rooms)
        eve = await server.join("Eve")
        for _ in range(2):
            await eve.ok("watch", match=over)
            await eve.ok("unwatch", match=over)
        assert await eve.refused("resume", match="unknown1", seq=0) == "unknown_match"
        await eve.ok("history")
        assert await eve.refused("play", match="unknown1", ply=0, move=0) == "unknown_match"
        assert await eve.refused("watch", match=over) == "too_fast"
        assert await eve.refused("resume", match=over, seq=0) == "too_fast"
        assert not server.rooms
        _, _, live = await server.pair("Cid", "Dan")
        await eve.ok("watch", match=live)


async def test_repeated_requests_for_a_whole_match_are_metered(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        server.clock.stand_still()
        ann, _, match = await server.pair()
        most = server.hub.limits.inquiries.count
        answers = [await ann.ask("resume", match=match, seq=0) for _ in range(2 * most)]
        assert [answer.get("code", "ok") for answer in answers] == ["ok"] * most + ["too_fast"] * most
        server.later(answers[-1]["retry_after_ms"])
        await ann.resume(match)


async def test_a_returning_player_gets_all_their_live_matches_immediately(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(inquiries=Rate(1, 3_600.0))) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        matches = [(await server.match(ann, bob))[2] for _ in range(5)]
        tokens = ann.token, bob.token
    async with running(tmp_path, Limits(inquiries=Rate(1, 3_600.0))) as server:
        for token in tokens:
            back = await server.connect()
            await back.hello(token=token)
            for match in matches:
                await back.resume(match)
            await back.close()
            await until(lambda: not server.rooms)


async def test_requests_that_build_boards_are_metered(tmp_path: Path) -> None:
    """A board of 19 by 19 costs milliseconds to make, and there are thousands of them."""
    async with running(tmp_path) as server:
        server.clock.stand_still()
        eve = await server.join("Eve")
        start = "/".join(["." * 19] * 19)
        answers = [await eve.ask("invite", game=f"mnk:19x19,{k}", start=start) for k in range(2, 20) for _ in range(2)]
        most = server.hub.limits.challenges.count
        assert [answer["type"] for answer in answers[:most]] == ["ok"] * most
        assert {answer["code"] for answer in answers[most:]} == {"too_fast"}


async def test_rejected_names_are_metered_by_address_before_they_are_checked(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(unmetered=(), mistakes=Rate(4, 3_600.0))) as server:
        eve, other = await server.join("Eve"), await server.connect()
        assert await eve.refused("rename", name="admin") == "bad_name"
        for name in ("admin", "x", "Ann Ann Ann Ann Ann Ann"):
            assert await other.refused("hello", protocols=[1], name=name) == "bad_name"
        for name in ("admin", "Good"):
            refused = await other.ask("hello", protocols=[1], name=name)
            assert refused["code"] == "too_fast"
            assert "limits.mistakes" in refused["message"]
        assert await eve.refused("rename", name="admin") == "too_fast"
        known = await server.connect()
        await known.hello(token=eve.token)  # who has a name already comes in as ever
        server.later(refused["retry_after_ms"])
        await other.hello(name="Good")


async def test_requests_over_their_rate_are_refused_before_their_text_is_checked(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(chats=Rate(1, 3_600.0), renames=Rate(1, 3_600.0))) as server:
        ann, _, match = await server.pair()
        nothing = "\u200b" * 500
        assert await ann.refused("chat", match="nowhere1", text=nothing) == "not_watching"
        assert await ann.refused("chat", match=match, text=nothing) == "bad_message"
        assert await ann.refused("chat", match=match, text=nothing) == "too_fast"
        assert await ann.refused("rename", name="admin") == "bad_name"
        await ann.ok("rename", name="Anna")
        assert await ann.refused("rename", name="admin") == "too_fast"


@pytest.mark.parametrize(
    "flood",
    [client_frame(TEXT, b"1") * 1_000, client_frame(PING) * 1_000, client_frame(TEXT, fin=False) + EMPTY * 1_000],
    ids=["one-byte messages", "pings", "empty fragments"],
)
async def test_a_crowd_that_floods_together_is_closed_after_few_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flood: bytes
) -> None:
    """Each of 200 connections of one address had its 200 messages, and 200 refusals more, before it was closed."""
    limits = Limits(unmetered=(), messages=Rate(200, 3_600.0), players_per_address=1)
    async with running(tmp_path, limits) as server:
        server.clock.stand_still()
        crowd = [await server.raw() for _ in range(20)]
        for peer in crowd:
            await peer.upgrade()
        counted: list[Connection] = []
        meter = server.hub.meter

        def count(connection: Connection) -> None:
            counted.append(connection)
            meter(connection)

        monkeypatch.setattr(server.hub, "meter", count)
        for peer in crowd:
            await peer.send(flood)
        for peer in crowd:
            assert await peer.close_code() == 1008
        assert 200 <= len(counted) < 200 + 20 * 50


async def test_journal_writes_are_metered_by_address(tmp_path: Path) -> None:
    limits = Limits(unmetered=(), writes=Rate(3, 3_600.0), players_per_address=2)
    async with running(tmp_path, limits) as server:
        server.clock.stand_still()
        first, second, match = await server.pair()  # a match counts for each of its players
        for ply, peer in enumerate((first, second, first, second)):
            await peer.ok("play", match=match, ply=ply, move=ply)
        refused = await first.ask("play", match=match, ply=4, move=4)
        assert (refused["code"], "limits.writes" in refused["message"]) == ("too_fast", True)
        assert await second.refused("play", match=match, ply=4, move=5) == "not_your_turn", (
            "what is refused is not counted"
        )
        assert await second.refused("seek", games=["qubic"]) == "too_fast"
        server.later(refused["retry_after_ms"])
        await first.ok("play", match=match, ply=4, move=4)


async def test_rules_of_large_boards_count_five_times_against_their_address(tmp_path: Path) -> None:
    """The first who asks for those of a board has it made, which takes as long as a hundred pings."""
    limits = Limits(unmetered=(), inquiries=Rate(20, 3_600.0), players_per_address=2)
    async with running(tmp_path, limits) as server:
        server.clock.stand_still()
        ann, bob = await server.join("Ann"), await server.join("Bob")
        for k in range(3, 11):
            await (ann if k % 2 else bob).ok("rules", game=f"mnk:19x19,{k}")
        for peer in (ann, bob):
            assert await peer.refused("rules", game="mnk:19x18,5") == "too_fast"


async def test_the_finished_matches_followed_per_address_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is kept in memory for as long as it is heard, a long one with 100 KB."""
    monkeypatch.setattr(audience, "MAX_HEARD", 3)
    async with running(tmp_path, Limits(unmetered=(), players_per_address=2)) as server:
        ann, bob, match = await server.pair()
        finished = []
        for _ in range(7):
            await ann.ok("resign", match=match)
            finished.append(match)
            ann, bob, match = await server.match(ann, bob)
        readers = [await server.join(f"Eve-{number}") for number in range(3)]
        for number in range(4):  # Ann and Bob hear one each
            await readers[number // 2].ok("watch", match=finished[number])
        assert await readers[2].refused("watch", match=finished[4]) == "too_many_matches"
        await readers[2].ok("watch", match=match)
        await readers[0].ok("unwatch", match=finished[0])
        await readers[2].ok("unwatch", match=match)
        await readers[2].ok("watch", match=finished[4])


async def test_starts_of_matches_are_metered(tmp_path: Path) -> None:
    """Each is a commit and perhaps a board to make, which costs a thousand times as much as a ping."""
    async with running(tmp_path, Limits(matches=Rate(3, 60.0))) as server:
        server.clock.stand_still()
        ann, bob, match = await server.pair()
        for _ in range(2):
            await ann.ok("resign", match=match)
            await bob.hear("ended", match=match)
            await ann.ok("offer", match=match, kind="rematch")
            await bob.ok("offer", match=match, kind="rematch")
            match = (await bob.hear("rematched"))["next"]
            await bob.hear("snapshot", match=match)
        await ann.ok("resign", match=match)
        await ann.ok("offer", match=match, kind="rematch")
        assert await bob.refused("offer", match=match, kind="rematch") == "too_fast"
        assert await ann.refused("seek") == "too_fast"
        refused = await bob.ask("challenge", name="Ann")
        assert (refused["code"], refused["message"]) == (
            "too_fast",
            "too many matches: 3/min for one player (limits.matches)",
        )
        await server.pair("Cid", "Dan")
        server.later(refused["retry_after_ms"])
        await server.match(ann, bob)


@pytest.mark.parametrize(
    "flood",
    [
        said("who", 7),
        said("seek", 7, games=["tictactoe"]) + said("unseek", 8),
        said("hello", 7, protocols=[1], name="Mallory"),
        said("invite", 7, game="tictactoe"),
        said("join", 7, code="BCDFGH"),
        said("challenge", 7, name="Ann"),
        said("play", 7, match="nothere1", ply=0, move=0),
        said("resume", 7, match="nothere1", seq=0),
        said("watch", 7, match="nothere1"),
        said("history", 7, name="Ann"),
        said("lobby", 7, on=True) + said("lobby", 8, on=False),
        client_frame(1, b"{"),
        client_frame(PING, b"?"),
    ],
    ids=lambda flood: flood[6:30].decode(errors="replace"),
)
async def test_floods_of_messages_end_with_1008_and_disturb_nobody(tmp_path: Path, flood: bytes) -> None:
    async with running(tmp_path) as server, at_play(server):
        flooders = [await server.raw() for _ in range(5)]
        for number, flooder in enumerate(flooders):
            await flooder.hello(f"Mallory-{number}")
        async with asyncio.TaskGroup() as tasks:
            codes = [tasks.create_task(flooded(flooder, flood)) for flooder in flooders]
        assert {code.result() for code in codes} <= {1008, None}, "a reset may overtake the close frame"
        await until(lambda: not any("Mallory" in each.info.name for each in server.sessions.values()))


async def flooded(peer: RawPeer, flood: bytes) -> int | None:
    """Send without end and read what comes; return the code that the connection is closed with."""

    async def send() -> None:
        with contextlib.suppress(ConnectionError):
            while True:
                await peer.send(flood * 20)
                await asyncio.sleep(0)

    async with asyncio.TaskGroup() as tasks:
        sending = tasks.create_task(send())
        code = await peer.close_code()
        sending.cancel()
    peer.close()
    return code


def held(connection: Connection) -> int:
    """Return how many bytes of ours wait for the peer."""
    return connection.unsent_bytes


async def test_twenty_stopped_readers_under_a_flood_hold_64_kib_each_and_are_gone_in_6_seconds(tmp_path: Path) -> None:
    """They sit at matches and watch others, ask for much and read nothing; the server's own ticks end them."""
    limits = Limits(messages=Rate(1_000_000), dead_after_s=600)
    async with running(tmp_path, limits) as server, at_play(server) as players:
        stalled = [await server.stalled(f"Mallory-{number}") for number in range(20)]
        opponents = [await server.join(f"Bob-{number}") for number in range(20)]
        matches = []
        for peer, opponent in zip(stalled, opponents, strict=True):
            await peer.send(said("seek", 2, games=["tictactoe"]) + said("watch", 3, match=players.match))
            await opponent.ok("seek", games=["tictactoe"])
            matches.append((await opponent.hear("snapshot"))["match"])
        connections = [server.connection_of(f"Mallory-{number}") for number in range(20)]
        most = 0
        while any(not connection.is_behind for connection in connections if connection.is_open):
            for peer, connection in zip(stalled, connections, strict=True):
                if connection.is_open and not connection.is_behind:
                    await peer.send(said("who", 4) * 50)
            await asyncio.sleep(0)
            most = max(most, *map(held, connections))
        for peer, connection in zip(stalled, connections, strict=True):
            while connection.is_open and held(connection) < 50_000 and connection.unsent_messages < 60:
                await peer.send(said("who", 5))
                await asyncio.sleep(0)
            most = max(most, held(connection))
        assert most <= 65_536 + 200, "and the close frame"
        ticks = 0
        while len(server.connections) > 22:
            ticks += 1
            assert ticks <= 6, "with a look every second they are gone within six"
            server.tick(float(ticks))
            await opponents[0].ok("ping")
        for opponent, match in zip(opponents, matches, strict=True):
            assert (await opponent.hear("presence", match=match, online=False))["side"] in (0, 1)
            await opponent.ok("abort", match=match)


async def test_stalled_readers_do_not_delay_the_end_of_the_server(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(messages=Rate(1_000_000))) as server:
        for number in range(20):
            peer = await server.stalled(f"Mallory-{number}")
            connection = server.connection_of(f"Mallory-{number}")
            while connection.is_open and not connection.is_behind:
                await peer.send(said("who", 4) * 50)
                await asyncio.sleep(0)
        ann = await server.join("Ann")
        started_s = asyncio.get_running_loop().time()
    assert asyncio.get_running_loop().time() - started_s < 5.0 + BUSY_S
    assert await ann.close_code() == 1012
