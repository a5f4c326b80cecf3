"""The ratings change with the end of a rated match and with nothing else: in one transaction, or not at all."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.server.journal.asked import ANN, BOB, Asked, played
from tests.server.journal.jobs import on_disk, running
from ttt_net.clock import Speed, TimeControl
from ttt_net.errors import StorageError
from ttt_net.messages import Ended, RatingChange, Started
from ttt_net.ratings import PERIOD_MS, Rating, rated
from ttt_net.server.journal import Journal, LocalLedger
from ttt_net.server.players import Player

BLITZ = TimeControl(180_000, 2_000)


def begun(match: str, *, is_rated: bool = True, time: TimeControl | None = BLITZ, game: str = "connect4") -> Started:
    return Started(match=match, seq=1, at_ms=10, game=game, players=(ANN, BOB), time=time, rated=is_rated)


def end(match: str, seq: int, winner: int | None = 0, reason: str = "line", at_ms: int = 1_000) -> Ended:
    return Ended(match=match, seq=seq, at_ms=at_ms, winner=winner, reason=reason)


class Club:
    """A journal in which Ann (a bot) is 1 and Bob is 2, and what it has of their ratings."""

    def __init__(self, ledger: LocalLedger) -> None:
        self.ledger = ledger
        self.journal = Asked(Journal(ledger))

    async def rows(self, query: str = "SELECT * FROM ratings") -> list[tuple[Any, ...]]:
        return await on_disk(self.ledger, lambda connection: connection.execute(query).fetchall())

    async def ratings(self, name: str, bot: str | None, now_ms: int) -> dict[tuple[str, Speed], Rating]:
        player = await self.journal.find(f"token of {name}", bot, now_ms)
        assert isinstance(player, Player)
        return dict(player.ratings)

    async def play(self, match: str, winner: int | None, at_ms: int = 1_000, **kind: Any) -> object:
        assert await self.journal.append(begun(match, **kind), seats=(1, 2)) is None
        return await self.journal.append(played(2, match), end(match, 3, winner, at_ms=at_ms))


def planted(table: str) -> str:
    """Return the statement after which no more can be written to a table."""
    event = "UPDATE" if table in ("ratings", "meetings") else "INSERT"
    return f"CREATE TEMP TRIGGER planted BEFORE {event} ON {table} BEGIN SELECT raise(ABORT, 'planted'); END"


@asynccontextmanager
async def club(path: Path) -> AsyncIterator[Club]:
    async with running(path) as ledger:
        made = Club(ledger)
        for name, bot in (("Ann", "random"), ("Bob", None)):
            await made.journal.register(name, f"token of {name}")
            await made.journal.find(f"token of {name}", bot)
        yield made


async def test_a_rated_end_changes_both_ratings_and_reports_the_changes(tmp_path: Path) -> None:
    async with club(tmp_path / "journal") as our:
        first, second = rated(Rating(), Rating(), 1, 1_000, (1, 1))
        assert await our.play("m", 0) == (
            RatingChange(1500, first.shown, provisional=True),
            RatingChange(1500, second.shown, provisional=True),
        )
        assert await our.rows() == [
            (1, "connect4", "blitz", *first, 1, first.standing, None),
            (2, "connect4", "blitz", *second, 0, second.standing, None),
        ]
        third, fourth = rated(first, second, 0.5, 2_000, (1, 1))
        assert await our.play("n", None, 2_000) == (
            RatingChange(first.shown, third.shown, provisional=True),
            RatingChange(second.shown, fourth.shown, provisional=True),
        )


async def test_each_game_and_speed_has_a_rating_of_its_own(tmp_path: Path) -> None:
    async with club(tmp_path / "journal") as our:
        await our.play("m", 0)
        await our.play("n", 1, game="qubic")
        await our.play("o", 1, time=None)
        await our.play("p", 0, time=TimeControl(60_000))
        ratings = await our.ratings("Ann", "random", 1_000)
        assert {key: each.games for key, each in ratings.items()} == {
            ("connect4", "blitz"): 1,
            ("qubic", "blitz"): 1,
            ("connect4", "untimed"): 1,
            ("connect4", "bullet"): 1,
        }


@pytest.mark.parametrize(("is_rated", "reason"), [(False, "line"), (True, "abort"), (False, "abort")])
async def test_casual_and_aborted_matches_change_nothing(tmp_path: Path, reason: str, *, is_rated: bool) -> None:
    async with club(tmp_path / "journal") as our:
        await our.journal.append(begun("m", is_rated=is_rated), seats=(1, 2))
        assert await our.journal.append(end("m", 2, None if reason == "abort" else 0, reason)) is None
        assert await our.rows() == []


async def test_a_write_that_fails_leaves_neither_the_end_nor_the_ratings(tmp_path: Path) -> None:
    async with club(tmp_path / "journal") as our:
        await our.play("m", 0)
        before = await our.rows()
        await our.journal.append(begun("n"), seats=(1, 2))
        for table in ("ratings", "facts", "results", "meetings", "standings"):
            await our.rows(planted(table))
            assert isinstance(await our.journal.append(end("n", 2, at_ms=5_000)), StorageError), table
            await our.rows("DROP TRIGGER planted")
            assert await our.rows() == before
            assert await our.rows("SELECT is_over, ended_ms FROM matches WHERE id = 'n'") == [(0, None)]
            assert await our.rows(
                "SELECT max(seq) FROM facts JOIN matches ON number = match WHERE matches.id = 'n'"
            ) == [(1,)]
            assert await our.rows("SELECT won, lost FROM players") == [(1, 0), (0, 1)]
        assert isinstance(await our.journal.append(end("n", 2, at_ms=5_000)), tuple)
        before = await our.rows()
        assert await our.journal.append(end("n", 3)) is None, "a match has one end"
        assert await our.rows() == before


async def test_an_end_that_is_written_twice_counts_once(tmp_path: Path) -> None:
    async with club(tmp_path / "journal") as our:
        await our.play("m", 0)
        before = await our.rows()
        assert isinstance(await our.journal.append(end("m", 3)), StorageError)
        assert await our.rows() == before


async def test_ends_that_share_a_commit_are_rated_one_after_the_other(tmp_path: Path) -> None:
    async with club(tmp_path / "journal") as our:
        journal = Journal(our.ledger)
        for match in "abcde":
            await our.journal.append(begun(match), seats=(1, 2))
        answers: list[object] = []
        expected = (Rating(), Rating())
        for number, match in enumerate("abcde"):  # in one turn of the loop, so in one commit
            journal.append([end(match, 2, number % 2, at_ms=1_000 + number)], answers.append, answers.append)
            expected = rated(expected[0], expected[1], 1 - number % 2, 1_000 + number)
        rows = await our.rows()
        assert [Rating(*row[3:8]) for row in rows] == list(expected)
        assert [change[0].before for change in answers[1:]] == [change[0].after for change in answers[:-1]]  # type: ignore[index]


async def test_a_rating_that_comes_in_after_a_long_time_is_less_sure(tmp_path: Path) -> None:
    async with club(tmp_path / "journal") as our:
        for number in range(4):
            player = await our.journal.register(f"P{number}", f"token {number}")
            assert isinstance(player, Player)
            await our.journal.append(begun(f"p{number}"), seats=(player.id, 2))
            await our.journal.append(end(f"p{number}", 2, at_ms=0))
        for number in range(30):
            await our.play(f"m{number}", number % 2, number)
        assert not (await our.ratings("Bob", None, 30))["connect4", "blitz"].is_provisional
        assert (await our.ratings("Bob", None, 30 + 300 * PERIOD_MS))["connect4", "blitz"].is_provisional


async def test_the_standings_count_every_rating_once(tmp_path: Path) -> None:
    async with club(tmp_path / "journal") as our:
        for number in range(20):
            await our.play(f"m{number}", number % 3 % 2, number)
        counted = (
            "SELECT game, speed, standing, sum(NOT is_bot), sum(is_bot) FROM ratings GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
        )
        assert await our.rows("SELECT * FROM standings ORDER BY 1, 2, 3") == await our.rows(counted)
        await our.journal.find("token of Ann", None)  # Ann is a person from now on
        await our.play("last", 1)
        assert await our.rows("SELECT * FROM standings ORDER BY 1, 2, 3") == await our.rows(counted)

        await our.rows("DELETE FROM ratings WHERE player = 1")
        assert await our.rows("SELECT * FROM standings ORDER BY 1, 2, 3") == await our.rows(counted)
        assert len(await our.rows("SELECT * FROM standings")) == 1


async def test_a_rating_is_settled_only_after_five_different_opponents(tmp_path: Path) -> None:
    async with club(tmp_path / "journal") as our:
        for number in range(40):
            await our.play(f"m{number}", number % 2, 1_000 + number)
        (rating,) = (await our.ratings("Bob", None, 2_000)).values()
        assert rating.is_provisional
        for number in range(4):
            name = f"Partner {number}"
            player = await our.journal.register(name, f"token of {name}")
            assert isinstance(player, Player)
            for again in range(8):
                match = f"p{number}.{again}"
                await our.journal.append(begun(match), seats=(player.id, 2))
                await our.journal.append(played(2, match), end(match, 3, again % 2, at_ms=2_000))
            (rating,) = (await our.ratings("Bob", None, 2_000)).values()
            assert rating.is_provisional == (number < 3)


async def test_opponents_count_alike_in_one_batch_and_in_many(tmp_path: Path) -> None:
    made = []
    for is_together in (True, False):
        async with club(tmp_path / str(is_together) / "journal") as our:
            players = [await our.journal.register(f"P{number}", f"token {number}") for number in range(5)]
            for number in range(40):
                await our.play(f"m{number}", number % 2, 1_000 + number)
            ends = []
            for number, player in enumerate(players):
                assert isinstance(player, Player)
                await our.journal.append(begun(f"p{number}"), seats=(player.id, 2))
                ends.append(end(f"p{number}", 2, 1, at_ms=3_000))
            if is_together:
                await our.journal.append(*ends)
            else:
                for each in ends:
                    await our.journal.append(each)
            made.append(await our.rows())
    assert made[0] == made[1]
