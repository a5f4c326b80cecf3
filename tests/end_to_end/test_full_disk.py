"""A disk that is truly full: a small file system of the test's own, which somebody else fills up."""

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.end_to_end.process import Process, refused, running
from tests.patience import PATIENCE_S
from tests.server.peer import Peer

PAIRS = 5
BOARD = "mnk:19x19,19"


class SmallDisk:
    """A file system of 4 MB in a mount namespace, which is gone with the last process in it."""

    def __init__(self, keeper: int, folder: Path) -> None:
        self.inside = ("nsenter", f"--mount=/proc/{keeper}/ns/mnt")
        """The command that runs another where the disk is mounted."""
        self.data = folder / "data"
        self._ballast = Path(f"/proc/{keeper}/root{folder}/ballast")

    def fill(self) -> None:
        """Leave no room at all."""
        with self._ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(4_096))

    def empty(self) -> None:
        """Make room again."""
        self._ballast.unlink()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    if os.geteuid() != 0 or not all(map(shutil.which, ("unshare", "nsenter", "mount"))):
        pytest.skip("needs root, and `unshare`, `nsenter` and `mount`, to have a disk of its own")
    script = 'mount -t tmpfs -o size=4m,mode=700 ttt_net "$0" && echo mounted && exec sleep 600'
    with _keeper("unshare", "--mount", "sh", "-c", script, str(tmp_path)) as pid:
        yield SmallDisk(pid, tmp_path)


@contextmanager
def _keeper(*words: str) -> Iterator[int]:
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "mounted\n"
            yield process.pid
        finally:
            process.kill()


class Duel:
    """Two in one match, and how many of their moves were acknowledged."""

    def __init__(self, peers: tuple[Peer, Peer], match: str) -> None:
        self._peers = peers
        self.match = match
        self.acknowledged = 0

    @classmethod
    async def begin(cls, server: Process, number: int) -> "Duel":
        """Start a match."""
        ann, bob = [await server.join(f"{name}-{number}") for name in ("Ann", "Bob")]
        for peer in (ann, bob):
            await peer.ok("seek", games=[BOARD])
        snapshots = [await peer.hear("snapshot") for peer in (ann, bob)]
        return cls((ann, bob) if snapshots[0]["you"] == 0 else (bob, ann), snapshots[0]["match"])

    @property
    def mover(self) -> Peer:
        return self._peers[self.acknowledged % 2]

    async def move(self) -> str:
        """Make the next move, or try to; return the code of the refusal, or an empty string."""
        ply = self.acknowledged
        answer = await self.mover.ask("play", match=self.match, ply=ply, move=ply)
        if answer["type"] == "ok":
            self.acknowledged += 1
            return ""
        assert answer["retry_after_ms"] > 0
        return str(answer["code"])

    async def play(self, most: int) -> str:
        """Make so many moves, or fewer if one is refused; return as `move` does."""
        for _ in range(most):
            if code := await self.move():
                return code
        return ""

    async def come_again(self, server: Process) -> None:
        """Connect both anew; what was acknowledged must be there, and nothing else."""
        for peer in self._peers:
            await peer.close()
        peers = [await Peer.connect(server.url) for _ in self._peers]
        for peer, before in zip(peers, self._peers, strict=True):
            peer.token = before.token
            await peer.hello(token=peer.token)
            assert (await peer.resume(self.match))["moves"] == list(range(self.acknowledged))
        self._peers = (peers[0], peers[1])


async def test_a_full_disk_refuses_moves_loses_none_and_play_continues_when_there_is_room(disk: SmallDisk) -> None:
    fast = ("--rate", "1000000", "--no-announce", "--limits-free-disk-mb", "0")  # no floor of ours
    async with asyncio.timeout(3 * PATIENCE_S):
        async with running(disk.data, *fast, inside=disk.inside) as server:
            duels = [await Duel.begin(server, number) for number in range(PAIRS)]
            assert {await duel.play(10) for duel in duels} == {""}
            disk.fill()
            codes = await asyncio.gather(*(duel.play(300) for duel in duels))
            assert set(codes) == {"storage"}
            for duel in duels:
                await duel.mover.ok("ping")
                assert (await duel.mover.resume(duel.match))["moves"] == list(range(duel.acknowledged))
            stranger = await Peer.connect(server.url)
            assert await stranger.refused("hello", protocols=[1], name="Cas") == "storage"
            disk.empty()
            assert {await duel.play(10) for duel in duels} == {""}
            await stranger.hello(name="Cas")

            disk.fill()
            assert set(await asyncio.gather(*(duel.play(300) for duel in duels))) == {"storage"}
            server.send(signal.SIGKILL)
            assert await server.exit_code() == -signal.SIGKILL
        assert "disk is full" in refused(disk.data / "new", inside=disk.inside)
        async with running(disk.data, *fast, inside=disk.inside) as server:
            for duel in duels:
                await duel.come_again(server)
            assert set(await asyncio.gather(*(duel.play(300) for duel in duels))) == {"storage"}
            disk.empty()
            assert {await duel.play(5) for duel in duels} == {""}
            for duel in duels:
                await duel.come_again(server)
