"""The same entries in the same order lead to the same tables: live, in bites, from a snapshot."""

import random
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import get_args

import pytest

from tests.server.journal.jobs import committed, decode_entry, encode_entry, results, running
from tests.server.journal.walk import Walk, canonical
from ttt_net.errors import Refusal, StorageError
from ttt_net.server.journal import Database, MemoryLedger
from ttt_net.server.journal.entries import AnyEntry

STEPS = 1_500
SEEDS = range(1, 5)


@pytest.fixture(autouse=True)
def refused_entries_are_no_news(caplog: pytest.LogCaptureFixture) -> None:
    """Entries that break a law of the tables are logged, and many do on purpose."""
    caplog.set_level("CRITICAL", "ttt_net.server.journal.database")


def walked(seed: int) -> Walk:
    walk = Walk(seed)
    walk.go(STEPS)
    return walk


def comparable(answers: Sequence[object]) -> list[object]:
    """Return answers as they can be compared: refusals by code and words."""
    return [(each.code, str(each)) if isinstance(each, Refusal) else each for each in answers]


def accepted(walk: Walk) -> list[AnyEntry]:
    return [entry for entry, answer in zip(walk.asked, walk.answers, strict=True) if not isinstance(answer, Refusal)]


@pytest.mark.parametrize("seed", SEEDS)
def test_entries_applied_in_portions_of_any_size_give_the_same_answers_and_tables(seed: int) -> None:
    walk, rng, answers = walked(seed), random.Random(seed), list[object]()
    with closing(Database(None)) as other:
        left = list(walk.asked)
        while left:
            size = rng.randint(1, 40)
            answers += committed(other, *left[:size])
            del left[:size]
        assert comparable(answers) == comparable(walk.answers)
        assert canonical(other.connection) == canonical(walk.database.connection)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_snapshot_and_the_entries_accepted_after_it_give_the_same_tables(seed: int, tmp_path: Path) -> None:
    walk, ledger = walked(seed), MemoryLedger(is_instant=True)
    entries = accepted(walk)
    half = len(entries) // 2
    for entry in entries[:half]:
        ledger.append(entry, lambda _: None, lambda _: None)
    ledger.snapshot(tmp_path / "journal")
    at = ledger.position
    ledger.trim(at)
    for entry in entries[half:]:
        ledger.append(entry, lambda _: None, lambda _: None)
    assert ledger.position == len(entries), "what was accepted once is accepted again"
    with closing(Database(tmp_path / "journal")) as later:
        later.connection.execute("PRAGMA synchronous = OFF")  # no power is cut here

        def hear(_: int, entry: AnyEntry) -> None:
            committed(later, entry)

        ledger.follow(at, hear)
        assert canonical(later.connection) == canonical(walk.database.connection)
        assert later.connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert canonical(ledger.database.connection) == canonical(walk.database.connection)


async def test_a_local_ledger_gives_the_same_tables(tmp_path: Path) -> None:
    walk, heard = walked(1), list[AnyEntry]()
    async with running(tmp_path / "journal") as ledger:
        ledger.follow(0, lambda _, entry: heard.append(entry))
        answers = await results(ledger, *walk.asked)
    assert comparable(answers) == comparable(walk.answers)
    assert heard == accepted(walk)
    with closing(Database(tmp_path / "journal")) as again:
        assert canonical(again.connection) == canonical(walk.database.connection)


def test_entries_come_back_from_their_bytes() -> None:
    walk = walked(1)
    assert [decode_entry(encode_entry(entry)) for entry in walk.asked] == walk.asked


def test_the_walk_has_every_entry_accepted_and_refused_for_many_reasons() -> None:
    walks = [walked(seed) for seed in SEEDS]
    assert {type(entry) for walk in walks for entry in accepted(walk)} == set(get_args(AnyEntry))
    refusals = [answer for walk in walks for answer in walk.answers if isinstance(answer, Refusal)]
    codes = {each.code.value for each in refusals}
    known = "name_taken still_playing unknown_player bad_message too_fast storage blocked tournament_over"
    assert codes == set(known.split())
    causes = {each.cause for each in refusals if isinstance(each, StorageError)}
    assert {"the journal expects another fact number", "FOREIGN KEY constraint failed"} <= causes
    rated = sum(isinstance(answer, tuple) for walk in walks for answer in walk.answers)
    assert rated > 100


def test_the_dump_distinguishes_databases() -> None:
    walk = walked(1)
    before = canonical(walk.database.connection)
    walk.database.connection.execute("UPDATE ratings SET rating = rating + 0.0001")
    assert canonical(walk.database.connection) != before
