"""The connection to the matches at this keyboard: what is delivered, in which order, and what is kept."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S
from ttt_net.client.local.local_connection import LocalConnection, Series
from ttt_net.client.local.local_matches import Seating
from ttt_net.client.records import MAX_BYTES, OLD_FILE, keep_record, records_file
from ttt_net.clock import TimeControl
from ttt_net.games.records import read_records
from ttt_net.messages import (
    AnalyseRequest,
    AnalysisReply,
    Ended,
    OfferRequest,
    Played,
    PlayerInfo,
    PlayRequest,
    ResignRequest,
    Snapshot,
    Tookback,
    Welcome,
)
from ttt_net.sdk.received import Answered, ConnectionEvent, Farewell

ANN, BEN = PlayerInfo("Ann"), PlayerInfo("Ben")


class Listener:
    """Hears what a connection delivers, and what it tells as text."""

    def __init__(self, games: int | None = None, time: TimeControl | None = None) -> None:
        self.heard: asyncio.Queue[ConnectionEvent] = asyncio.Queue()
        self.lines: list[dict[str, object]] = []
        seating = Seating("tictactoe", (ANN, BEN), time)
        self.connection = LocalConnection(
            seating, Series(games), self.heard.put, lambda line: self.lines.append(json.loads(line))
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
            task = group.create_task(self.connection.run())
            yield
            task.cancel()

    @property
    def id(self) -> str:
        assert self.connection.matches.match is not None
        return self.connection.matches.match.id

    def play(self, *cells: int) -> None:
        for cell in cells:
            assert self.connection.matches.match is not None
            self.connection.say(PlayRequest(7, self.id, len(self.connection.matches.match.moves), cell))

    async def until(self, kind: type[ConnectionEvent]) -> list[ConnectionEvent]:
        found = [await self.heard.get()]
        while not isinstance(found[-1], kind):
            found.append(await self.heard.get())
        return found


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TTT_NET_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


async def test_an_answer_comes_before_what_follows_and_an_offer_that_is_accepted_is_not_delivered() -> None:
    listener = Listener()
    listener.connection.begin()
    async with listener.running():
        listener.play(4)
        listener.connection.say(OfferRequest(8, listener.id, "takeback"))
        heard = [type(event) for event in await listener.until(Tookback)]
        assert heard == [Welcome, Snapshot, Answered, Played, Answered, Tookback]
        assert [line["type"] for line in listener.lines][-3:] == ["ok", "offered", "tookback"]
        seen = [line["seq"] for line in listener.lines if "seq" in line]
        assert seen == [1, 2, 3, 4], "what is written for programs has no gap"


async def test_a_refusal_is_an_answer() -> None:
    listener = Listener()
    listener.connection.begin()
    async with listener.running():
        listener.connection.say(ResignRequest(3, "elsewhere"))
        answered = (await listener.until(Answered))[-1]
        assert isinstance(answered, Answered)
        assert getattr(answered.answer, "code", None) == "unknown_match"


async def test_a_series_goes_on_by_itself_says_farewell_and_is_kept() -> None:
    listener = Listener(games=2)
    listener.connection.begin()
    async with listener.running():
        listener.play(4, 0, 8, 1, 7, 2)
        await listener.until(Ended)
        await listener.until(Snapshot)
        listener.play(4)
        listener.connection.say(ResignRequest(9, listener.id))
        assert isinstance((await listener.until(Farewell))[-1], Farewell)
    first, second = read_records(records_file().read_text(encoding="utf-8"))
    assert (len(first.moves), len(second.moves)) == (6, 1)


async def test_a_match_of_hardly_any_moves_is_analysed_without_a_process() -> None:
    listener = Listener()
    listener.connection.begin()
    async with listener.running():
        listener.play(4)
        listener.connection.say(ResignRequest(1, listener.id))
        listener.connection.say(AnalyseRequest(2, listener.id))
        analysis = (await listener.until(AnalysisReply))[-1]
        assert isinstance(analysis, AnalysisReply)
        assert (analysis.match, analysis.moves, analysis.exact) == (listener.id, [], True)


async def test_a_flag_falls_by_itself() -> None:
    listener = Listener(time=TimeControl(20, 0))
    listener.connection.begin()
    async with listener.running():
        listener.play(4, 0)
        ended = (await listener.until(Ended))[-1]
        assert isinstance(ended, Ended)
        assert (ended.winner, ended.reason) == (1, "time")


def test_a_file_that_has_grown_too_large_becomes_the_old_one(home: Path) -> None:
    home.mkdir()
    records_file().write_text("x" * MAX_BYTES, encoding="utf-8")
    keep_record("Game: tictactoe\nFirst: Ann\nSecond: Ben\n\n1. b2\n")
    assert len(read_records(records_file().read_text(encoding="utf-8"))) == 1
    assert (home / OLD_FILE).stat().st_size == MAX_BYTES
    assert records_file().stat().st_mode & 0o777 == 0o600
