"""`kill -9` of a real server at random moments under live matches: no acknowledged move is ever lost.

Run it with `-s` to see the figures.
"""

import asyncio
import contextlib
import json
import random
import shutil
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from tests.end_to_end.process import Process, running
from tests.patience import PATIENCE_S
from tests.server.peer import Peer

MATCHES = 20
MOVES = 250
"""About so many are made until the next kill."""
SEED = 20261121


class Duel:
    """Two players with one match after the other on a board of their own, and what they know of the present one."""

    def __init__(self, number: int, rng: random.Random) -> None:
        self._rng = rng
        width, height = 19, 19 - number // 2
        self._game = f"mnk:{width}x{height},{19 - number % 2}"
        self._cells = width * height
        self._names = [f"{name}-{number}" for name in ("Ann", "Bob")]
        self._tokens = ["", ""]
        self._peers: list[Peer] = []
        self.match = ""
        self.plan: list[int] = []
        self.acknowledged = 0
        """How many moves of the plan have been answered with ok."""

    @property
    def left(self) -> int:
        return self._cells - self.acknowledged

    @property
    def is_over(self) -> bool:
        return not self.left

    async def come(self, server: Process) -> None:
        """Connect both; the first time as new players."""
        self._peers = [await Peer.connect(server.url) for _ in self._tokens]
        for side, peer in enumerate(self._peers):
            if self._tokens[side]:
                await peer.hello(token=self._tokens[side])
            else:
                await peer.hello(name=self._names[side])
                self._tokens[side] = peer.token

    async def begin(self) -> None:
        """Start a match."""
        for peer in self._peers:
            await peer.ok("seek", games=[self._game], time={"initial_ms": 600_000, "increment_ms": 0})
        snapshots = [await peer.hear("snapshot") for peer in self._peers]
        if snapshots[0]["you"] == 1:
            for pair in (self._peers, self._tokens, self._names):
                pair.reverse()
        self.match = snapshots[0]["match"]
        self.plan = self._rng.sample(range(self._cells), self._cells)
        self.acknowledged = 0

    async def play(self, made: asyncio.Semaphore) -> None:
        """Move by move, until the board is full or the server is gone; the answer is the only receipt, and counted."""
        with contextlib.suppress(ConnectionClosed):
            while not self.is_over:
                ply = self.acknowledged
                await self._peers[ply % 2].ok("play", match=self.match, ply=ply, move=self.plan[ply])
                self.acknowledged += 1
                made.release()

    def check_journal(self, events: list[dict[str, Any]]) -> int:
        """Compare with what is on the disk; return how many moves are there that nobody was told of."""
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1)), "no gap, no double"
        moves = [(event["ply"], event["side"], event["move"]) for event in events if event["type"] == "played"]
        assert moves == [(ply + 1, ply % 2, self.plan[ply]) for ply in range(len(moves))]
        unheard = len(moves) - self.acknowledged
        assert unheard in (0, 1), "all that was acknowledged, and at most the one that was on its way"
        return unheard

    async def check_resumed(self, events: list[dict[str, Any]]) -> None:
        """Compare seats, board, ply, side to move and clock as the server tells them with what is on the disk."""
        played = [event for event in events if event["type"] == "played"]
        self.acknowledged = len(played)
        for side, peer in enumerate(self._peers):
            snapshot = await peer.resume(self.match)
            assert (snapshot["you"], snapshot["seq"]) == (side, len(events))
            if played and played[-1]["side"] == side:  # who does not know whether a move arrived sends it again
                await peer.ok("play", match=self.match, ply=played[-1]["ply"] - 1, move=played[-1]["move"])
            assert [player["name"] for player in snapshot["players"]] == self._names
            assert snapshot["moves"] == self.plan[: len(played)]
            position = snapshot["position"]
            board = ["."] * self._cells
            for ply, move in enumerate(snapshot["moves"]):
                board[move] = "XO"[ply % 2]
            assert (position["ply"], position["board"]) == (len(played), "".join(board))
            if self.is_over:
                assert snapshot["outcome"] == {"winner": None, "reason": "draw"}
                continue
            assert position["to_move"] == len(played) % 2
            before = played[-1]["clock"]["remaining_ms"] if played else [600_000, 600_000]
            after = snapshot["clock"]["remaining_ms"]
            assert after[1 - position["to_move"]] == before[1 - position["to_move"]]
            assert 0 <= before[position["to_move"]] - after[position["to_move"]] < 1000 * PATIENCE_S, (
                "runs since they are back"
            )


def read_journal(data: Path, copy: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the events of each match from a copy of the files, so that the server finds them as the kill left them."""
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    for file in data.glob("journal.sqlite*"):
        if not file.name.endswith("-shm"):
            shutil.copy(file, copy)
    events: dict[str, list[dict[str, Any]]] = {}
    with closing(sqlite3.connect(copy / "journal.sqlite")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        for (text,) in connection.execute("SELECT fact FROM facts ORDER BY match, seq"):
            event = json.loads(text)
            events.setdefault(event["match"], []).append(event)
    return events


async def in_parallel(*waits: Any) -> None:
    async with asyncio.TaskGroup() as tasks:
        for wait in waits:
            tasks.create_task(wait)


@pytest.mark.parametrize("most", [4, pytest.param(50, marks=pytest.mark.long)], ids="{} times".format)
async def test_killed_again_and_again_under_twenty_matches_it_loses_no_acknowledged_move(
    tmp_path: Path, most: int
) -> None:
    rng, moments = random.Random(SEED), random.Random(SEED)  # who draws first hangs on the machine
    data = tmp_path / "data"
    duels = [Duel(number, rng) for number in range(MATCHES)]
    acknowledged = unheard = resumed = begun = 0
    back_s: list[float] = []
    events: dict[str, list[dict[str, Any]]] = {}
    for kills in range(most + 1):
        started_s = time.monotonic()
        async with asyncio.timeout(PATIENCE_S), running(data, "--rate", "1000000") as server:
            await in_parallel(*[duel.come(server) for duel in duels])
            if kills:
                await in_parallel(*[duel.check_resumed(events[duel.match]) for duel in duels])
                resumed += MATCHES
                back_s.append(time.monotonic() - started_s)
            if kills == most:
                break
            fresh = [duel for duel in duels if kills == 0 or duel.is_over]
            begun += len(fresh)
            await in_parallel(*[duel.begin() for duel in fresh])
            before, made = sum(duel.acknowledged for duel in duels), asyncio.Semaphore(0)
            async with asyncio.TaskGroup() as tasks:
                for duel in duels:
                    tasks.create_task(duel.play(made))
                for _ in range(min(moments.randrange(2 * MOVES), sum(duel.left for duel in duels))):
                    await made.acquire()
                server.send(signal.SIGKILL)
            assert await server.exit_code() == -signal.SIGKILL
        acknowledged += sum(duel.acknowledged for duel in duels) - before
        events = read_journal(data, tmp_path / "copy")
        assert len(events) == begun
        unheard += sum(duel.check_journal(events[duel.match]) for duel in duels)
    back_s.sort()
    print(
        f"\n{kills} kills under {MATCHES} live matches (seed {SEED}): {acknowledged} moves acknowledged, 0 lost; "
        f"{unheard} more were on the disk and their answer on its way; 0 gaps, 0 doubles; "
        f"{resumed} of {resumed} resumed with the same seats, board, ply, side to move and clock; "
        f"from the start of the process to all {MATCHES} matches resumed: "
        f"median {back_s[len(back_s) // 2]:.2f} s, longest {back_s[-1]:.2f} s"
    )
    assert acknowledged > most * MOVES / 2, "the kills came in the middle of play"
