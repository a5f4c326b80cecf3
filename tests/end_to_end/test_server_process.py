"""`python server.py`: how it starts, what it refuses, and how it ends."""

import asyncio
import contextlib
import re
import resource
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from tests.end_to_end.process import Process, refused, running
from tests.patience import BUSY_S, PATIENCE_S
from tests.server.peer import HANDSHAKE, Peer, RawPeer, said


async def test_the_first_line_is_for_scripts_and_the_rest_says_how_to_join(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        assert server.process.stdout is not None
        server.send(signal.SIGTERM)
        said = (await server.process.stdout.read()).decode()
        assert re.search(rf"python client\.py 127\.0\.0\.1:{server.port}\b", said)
        assert await server.exit_code() == 0


async def test_a_port_that_is_taken_is_refused_in_one_line(tmp_path: Path) -> None:
    async with running(tmp_path / "one") as server:
        line = await asyncio.to_thread(refused, tmp_path / "two", port=server.port)
        assert f"127.0.0.1:{server.port} is taken" in line
        assert "--port" in line


async def test_a_folder_that_is_in_use_is_refused_in_one_line(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        line = await asyncio.to_thread(refused, tmp_path)
        assert "another server is using" in line
        ann = await server.join("Ann")
        await ann.ok("ping")


def test_a_folder_that_cannot_be_written_to_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "data: it is no folder; choose a folder with --data" in refused(tmp_path / "file" / "data")


def test_data_of_a_newer_version_are_refused_in_one_line(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "journal.sqlite")) as connection:
        connection.execute("PRAGMA user_version = 1000")
    assert "newer ttt_net" in refused(tmp_path)


def test_data_that_are_no_journal_are_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "journal.sqlite").write_text("dear diary")
    said = refused(tmp_path)
    assert "not a ttt_net journal" in said
    assert "put a backup back with restore, or choose a folder with --data" in said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_with_a_code_that_means_come_back(tmp_path: Path, number: signal.Signals) -> None:
    async with running(tmp_path) as server:
        peers = [await server.join(name) for name in ("Ann", "Bob")]
        server.send(number)
        for peer in peers:
            assert await peer.close_code() == 1012
            assert peer.heard[-1]["type"] == "restarting"
        assert await server.exit_code() == 0


@pytest.mark.parametrize("pause_s", [0.0, 0.01, 0.1])
async def test_a_second_signal_changes_nothing(tmp_path: Path, pause_s: float) -> None:
    async with running(tmp_path) as server:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(ProcessLookupError):
                server.send(number)
            await asyncio.sleep(pause_s)
        assert await server.exit_code() == 0


async def test_it_ends_in_5_seconds_though_twenty_clients_have_stopped_reading(tmp_path: Path) -> None:
    async with running(tmp_path, "--rate", "1000000") as server:
        stalled = []
        for number in range(20):
            peer = await RawPeer.connect(server.port, receive_buffer=4_096)
            await peer.hello(f"Mallory-{number}")
            await fill(peer)
            stalled.append(peer)
        ann = await server.join("Ann")
        server.send(signal.SIGTERM)
        async with asyncio.timeout(5 + BUSY_S):
            assert await ann.close_code() == 1012
            assert await server.exit_code() == 0
        for peer in stalled:
            peer.close()


async def fill(peer: RawPeer) -> None:
    """Ask without reading until some answers can go nowhere: 128 KiB are more than the kernel takes for us."""
    question = said("who", 2)
    for _ in range(1_500):
        await peer.send(question)


async def test_a_storm_of_moves_is_cut_clean_by_the_signal(tmp_path: Path) -> None:
    """Acknowledged moves are there after a restart."""
    async with running(tmp_path, "--rate", "1000000") as server:
        pairs = [await pair(server, number) for number in range(10)]
        under_way = asyncio.Barrier(len(pairs) + 1)
        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
            storms = [tasks.create_task(storm(*each, under_way)) for each in pairs]
            await under_way.wait()
            server.send(signal.SIGTERM)
        assert await server.exit_code() == 0
    async with running(tmp_path) as server:
        for (first, _, match), task in zip(pairs, storms, strict=True):
            again = await Peer.connect(server.url)
            await again.hello(token=first.token)
            moves = (await again.resume(match))["moves"]
            assert len(moves) in (task.result(), task.result() + 1), "the last one may have lost its answer"


async def pair(server: Process, number: int) -> tuple[Peer, Peer, str]:
    peers = [await server.join(f"{name}-{number}") for name in ("Ann", "Bob")]
    for peer in peers:
        await peer.ok("seek", games=["mnk:19x19,19"])
    snapshots = [await peer.hear("snapshot") for peer in peers]
    first, second = peers if snapshots[0]["you"] == 0 else reversed(peers)
    return first, second, snapshots[0]["match"]


async def storm(first: Peer, second: Peer, match: str, under_way: asyncio.Barrier) -> int:
    """Move as fast as possible until the server ends; return how many moves were answered with ok."""
    made = 0
    with contextlib.suppress(ConnectionClosed):
        while made < 361:
            if made == 5:
                await under_way.wait()
            answer = await (first, second)[made % 2].ask("play", match=match, ply=made, move=made)
            if answer["type"] == "refused":
                assert answer["code"] == "restarting"
                break
            made += 1
    return made


async def test_connections_during_shutdown_are_rejected_and_do_not_delay_it(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann = await server.join("Ann")
        half = await RawPeer.connect(server.port)
        stalled = await RawPeer.connect(server.port)
        await stalled.hello("Mallory")  # never takes part in the closing, so that the end takes a while
        server.send(signal.SIGTERM)
        await ann.hear("restarting")
        with contextlib.suppress(ConnectionError):
            await half.send(HANDSHAKE)
        assert await half.status() in (None, 503)
        with pytest.raises(ConnectionRefusedError):
            await RawPeer.connect(server.port)
        assert await server.exit_code() == 0
        half.close()
        stalled.close()


async def test_a_failing_disk_rejects_moves_and_play_continues_when_it_works_again(tmp_path: Path) -> None:
    """The kernel itself says no: the file may not grow beyond a limit, which is then lifted."""
    async with running(tmp_path, "--rate", "1000000") as server:
        first, second, match = await pair(server, 1)
        pid = server.process.pid
        none = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (100_000, none[1]))
        made, answer = 0, {"type": "ok"}
        while made < 361 and answer["type"] == "ok":
            answer = await (first, second)[made % 2].ask("play", match=match, ply=made, move=made)
            made += answer["type"] == "ok"
        assert answer.get("code") == "storage", answer
        snapshot = await second.resume(match)
        assert len(snapshot["moves"]) == made
        resource.prlimit(pid, resource.RLIMIT_FSIZE, none)
        await (first, second)[made % 2].ok("play", match=match, ply=made, move=made)
        server.send(signal.SIGKILL)
        assert await server.exit_code() == -signal.SIGKILL
    async with running(tmp_path) as server:
        again = await Peer.connect(server.url)
        await again.hello(token=first.token)
        assert len((await again.resume(match))["moves"]) == made + 1


async def test_no_token_is_in_the_files_or_in_what_it_prints(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, _, _ = await pair(server, 1)
        assert first.token.encode() not in b"".join(contents(tmp_path))
        assert b"Ann-1" in b"".join(contents(tmp_path))
        server.send(signal.SIGTERM)
        assert server.process.stdout is not None
        assert first.token not in (await server.process.stdout.read()).decode()
        assert await server.exit_code() == 0
    assert first.token.encode() not in b"".join(contents(tmp_path))


def contents(folder: Path) -> list[bytes]:
    return [file.read_bytes() for file in folder.iterdir() if file.is_file()]


@pytest.mark.parametrize(
    "wrong", [("--port", "65536"), ("--port", "-1"), ("--host", "256.0.0.1"), ("--host", "192.0.2.1")]
)
def test_a_place_where_none_can_listen_is_refused_in_one_line(tmp_path: Path, wrong: tuple[str, str]) -> None:
    assert "server.py: " in refused(tmp_path, *wrong)


@pytest.mark.parametrize("rate", ["0", "-1", "nan", "inf"])
def test_a_rate_that_makes_no_sense_is_refused_in_one_line(tmp_path: Path, rate: str) -> None:
    assert "--rate" in refused(tmp_path, f"--rate={rate}")
