"""Ledgers: one order, applied directly or when told to; who follows hears what was accepted."""

from contextlib import closing
from pathlib import Path

import pytest

from tests.server.journal.jobs import before_commits, names, register, results, running
from ttt_net.errors import Refusal
from ttt_net.server.journal import LocalLedger, MemoryLedger, open_readonly
from ttt_net.server.journal.entries import AnyEntry, LabelBot
from ttt_net.server.journal.queries import NameQuery
from ttt_net.server.players import Player


async def test_what_is_asked_is_answered_between_the_writes_in_the_order_of_both(tmp_path: Path) -> None:
    async with running(tmp_path / "journal") as ledger:
        assert await results(ledger, register("a"), NameQuery("a"), register("b"), NameQuery("b")) == [
            Player(1, "a"), (1, "a"), Player(2, "b"), (2, "b"),
        ]  # fmt: skip


async def test_what_meets_in_one_turn_of_the_loop_shares_a_commit(tmp_path: Path) -> None:
    run: list[str] = []
    async with running(tmp_path / "journal") as ledger:
        with before_commits(ledger, lambda: run.append("commit")):
            await results(ledger, *(register(f"p{number}") for number in range(50)))
    assert run == ["commit"]


async def test_a_fault_of_ours_in_one_answer_does_not_keep_the_others_from_theirs(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def failing(_: object) -> None:
        raise OverflowError("planted")

    async with running(tmp_path / "journal") as ledger:
        ledger.append(register("a"), failing, failing)
        assert await results(ledger, register("b"), NameQuery("a")) == [Player(2, "b"), (1, "a")]
    assert "planted" in caplog.text
    caplog.clear()


async def test_what_was_appended_before_the_stop_is_done(tmp_path: Path) -> None:
    async with running(tmp_path / "journal") as ledger:
        for number in range(1_000):
            ledger.append(register(str(number)), lambda _: None, lambda _: None)
    with closing(open_readonly(tmp_path / "journal")) as connection:
        assert len(names(connection)) == 1_000


async def test_a_local_ledger_synchronizes_fully(tmp_path: Path) -> None:
    async with running(tmp_path / "journal") as ledger:
        assert ledger.database.connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert ledger.database.connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


async def test_who_follows_a_local_ledger_hears_what_is_accepted_from_now_on(tmp_path: Path) -> None:
    heard: list[tuple[int, AnyEntry]] = []
    async with running(tmp_path / "journal") as ledger:
        await results(ledger, register("a"))
        with pytest.raises(LookupError):
            ledger.follow(1, lambda *each: heard.append(each))
        ledger.follow(0, lambda *each: heard.append(each))
        ledger.trim(1)
        *_, refused = await results(
            ledger, register("b"), NameQuery("a"), LabelBot(1, "x"), register("a", b"another token")
        )
        assert isinstance(refused, Refusal)
    assert heard == [(1, register("b")), (2, LabelBot(1, "x"))]


def test_a_local_ledger_that_does_not_run_does_well(tmp_path: Path) -> None:
    with closing(LocalLedger(tmp_path / "journal")) as ledger:
        assert ledger.health()[:3] == (None, 0, 0)
        assert not ledger.is_stuck


def test_a_ledger_in_memory_waits_to_be_told_and_can_be_followed_from_what_it_keeps(tmp_path: Path) -> None:
    ledger, answers = MemoryLedger(), list[object]()
    early, late = list[int](), list[int]()
    ledger.follow(0, lambda position, _: early.append(position))
    for name in "abc":
        ledger.append(register(name), answers.append, answers.append)
    assert (answers, ledger.health().waiting) == ([], 3)
    ledger.deliver(2)
    assert answers == [Player(1, "a"), Player(2, "b")]
    ledger.trim(1)
    with pytest.raises(LookupError):
        ledger.follow(0, lambda *_: None)
    ledger.follow(1, lambda position, _: late.append(position))
    ledger.deliver()
    assert (early, late, ledger.position) == ([1, 2, 3], [2, 3], 3)
    ledger.snapshot(tmp_path / "copy")
    with closing(open_readonly(tmp_path / "copy")) as connection:
        assert names(connection) == ["a", "b", "c"]
    ledger.database.close()
