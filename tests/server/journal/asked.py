"""A journal whose answers can be awaited, and events to write into it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.server.journal.jobs import running
from ttt_net.errors import Refusal
from ttt_net.messages import Ended, MatchEvent, Played, PlayerInfo, Started
from ttt_net.server.journal import Changes, Journal, StoredMatch
from ttt_net.server.players import Player

ANN = PlayerInfo("Ann")

BOB = PlayerInfo("Bob", "random")


def started(match: str = "m") -> Started:
    return Started(match=match, seq=1, at_ms=10, game="tictactoe", players=(ANN, BOB))


def played(seq: int, match: str = "m") -> Played:
    return Played(match=match, seq=seq, at_ms=10 + seq, side=seq % 2, ply=seq - 1, move=seq - 2)


def ended(seq: int, match: str = "m") -> Ended:
    return Ended(match=match, seq=seq, at_ms=99, winner=None, reason="draw")


class Asked:
    """A journal whose answers can be awaited."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._answers: asyncio.Queue[Any] = asyncio.Queue()

    async def append(self, *events: MatchEvent, seats: tuple[int, int] | None = None) -> Refusal | Changes | None:
        self._journal.append(events, self._answers.put_nowait, self._answers.put_nowait, seats)
        answer: Refusal | Changes | None = await self._answers.get()
        return answer

    async def read(self, match: str) -> StoredMatch | Refusal:
        self._journal.read(match, self._answers.put_nowait, self._answers.put_nowait)
        record: StoredMatch | Refusal = await self._answers.get()
        return record

    async def register(self, name: str, token: str) -> Player | Refusal:
        self._journal.register(name, token, None, 5, self._answers.put_nowait, self._answers.put_nowait)
        player: Player | Refusal = await self._answers.get()
        return player

    async def find(self, token: str, bot: str | None = None, now_ms: int = 0) -> Player | Refusal | None:
        self._journal.find(token, bot, now_ms, self._answers.put_nowait, self._answers.put_nowait)
        player: Player | Refusal | None = await self._answers.get()
        return player


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[Asked]:
    """Open a journal in which Ann is player 1 and Bob player 2."""
    async with running(path) as ledger:
        asked = Asked(Journal(ledger))
        await asked.register("Ann", "token of Ann")
        await asked.register("Bob", "token of Bob")
        yield asked
