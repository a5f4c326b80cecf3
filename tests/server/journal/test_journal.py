"""Events are numbered without a gap, players are known by a hash, and unfinished matches are found again."""

import asyncio
import secrets
from pathlib import Path

import pytest

from tests.server.journal.asked import Asked, ended, opened, played, started
from tests.server.journal.jobs import on_disk, running
from ttt_net.errors import Code, Refusal, StorageError
from ttt_net.messages import MatchEvent, Offered
from ttt_net.server.journal import Journal, StoredMatch
from ttt_net.server.players import Player


async def code(journal: Asked, match: str) -> Code:
    """Return how the reading of a match was refused."""
    refusal = await journal.read(match)
    assert isinstance(refusal, Refusal)
    return refusal.code


async def test_appended_events_are_read_back(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal") as journal:
        events: list[MatchEvent] = [started(), played(2), Offered("m", 3, 13, 0, "draw"), ended(4)]
        assert await journal.append(events[0], seats=(1, 2)) is None
        assert await journal.append(*events[1:]) is None
        assert await journal.read("m") == StoredMatch((1, 2), events)
        assert await code(journal, "n") is Code.UNKNOWN_MATCH


async def test_facts_of_many_matches_share_the_pages_of_a_commit(tmp_path: Path) -> None:
    matches = [secrets.token_hex(4) for _ in range(50)]
    log = tmp_path / "journal-wal"
    async with opened(tmp_path / "journal") as journal:
        for match in matches:
            await journal.append(started(match), *(played(seq, match) for seq in range(2, 32)), seats=(1, 2))
        before = log.stat().st_size
        assert await journal.append(*(played(32, match) for match in matches)) is None
        assert 0 < log.stat().st_size - before < len(matches) / 2 * 4096


@pytest.mark.parametrize("seq", [1, 2, 4, 0, -1, 1_000])
async def test_a_number_that_is_not_the_next_is_refused(tmp_path: Path, seq: int) -> None:
    async with opened(tmp_path / "journal") as journal:
        await journal.append(started(), seats=(1, 2))
        await journal.append(played(2))
        assert isinstance(await journal.append(played(seq)), StorageError)
        assert await journal.read("m") == StoredMatch((1, 2), [started(), played(2)])


async def test_a_move_without_company_is_one_statement_and_with_it_a_transaction(tmp_path: Path) -> None:
    matches, run, answers = ["m", "n"], list[str](), asyncio.Queue[object]()
    async with opened(tmp_path / "journal") as journal:
        for match in matches:
            await journal.append(started(match), seats=(1, 2))
    async with running(tmp_path / "journal") as ledger:

        def trace(statement: str) -> None:
            if not statement.startswith("PRAGMA"):  # the log is emptied of what was deleted when nothing waits
                run.append(statement)

        await on_disk(ledger, lambda connection: connection.set_trace_callback(trace))
        run.clear()
        asking = Journal(ledger)
        asking.append([played(2)], answers.put_nowait, answers.put_nowait)
        assert await answers.get() is None
        assert {each.split()[0] for each in run} == {"INSERT"}
        run.clear()
        for match in matches:
            asking.append([played(3 if match == "m" else 2, match)], answers.put_nowait, answers.put_nowait)
        assert [await answers.get() for _ in matches] == [None, None]
        verbs = [each.split()[0] for each in run]
        assert [verbs[0], *set(verbs[1:-1]), verbs[-1]] == ["BEGIN", "INSERT", "COMMIT"]
    async with opened(tmp_path / "journal") as journal:
        assert await journal.read("m") == StoredMatch((1, 2), [started(), played(2), played(3)])
        assert await journal.read("n") is not None


async def test_facts_are_written_all_or_none(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal") as journal:
        await journal.append(started(), seats=(1, 2))
        assert isinstance(await journal.append(played(2), ended(4)), StorageError)
        assert await journal.read("m") == StoredMatch((1, 2), [started()])


async def test_a_match_starts_once_and_only_with_players_that_there_are(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal") as journal:
        assert await journal.append(started(), seats=(1, 2)) is None
        assert isinstance(await journal.append(started(), seats=(2, 1)), StorageError)
        assert isinstance(await journal.append(started("n"), seats=(1, 3)), StorageError)
        assert isinstance(await journal.append(played(1, "o")), StorageError), "events of no match"
        assert await journal.read("m") == StoredMatch((1, 2), [started()])
        assert await code(journal, "n") is await code(journal, "o") is Code.UNKNOWN_MATCH


async def test_a_player_is_found_by_their_token_with_their_unfinished_matches(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal") as journal:
        for match in ("m", "n"):
            await journal.append(started(match), seats=(1, 2))
        assert await journal.find("token of Bob") == Player(2, "Bob", ("m", "n"))
        await journal.append(played(2), ended(3))
        assert await journal.find("token of Ann") == Player(1, "Ann", ("n",))
        assert await journal.find("token of Carl") is None


async def test_a_name_is_given_once_however_it_is_written(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal") as journal:
        for name in ("Ann", "ANN", "ａｎｎ"):
            assert isinstance(await journal.register(name, f"another {name}"), Refusal)
        assert isinstance(await journal.register("Carl", "token of Carl"), Player)


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


async def test_no_token_is_in_any_file(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal") as journal:
        await journal.find("token of nobody")
        files = contents(tmp_path)
        assert any(b"Ann" in content for content in files.values()), "what is there is found"
        assert [name for name, content in files.items() if b"token of" in content] == []


async def test_strange_text_is_only_text(tmp_path: Path) -> None:
    name = "'); DROP TABLE facts; --"
    async with opened(tmp_path / "journal") as journal:
        assert isinstance(await journal.register(name, name), Player)
        assert await code(journal, name) is Code.UNKNOWN_MATCH
        assert await journal.append(started(name), seats=(1, 2)) is None
        assert await journal.read(name) == StoredMatch((1, 2), [started(name)])
