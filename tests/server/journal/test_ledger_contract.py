"""The contract of `Ledger`. Each test runs over all backends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.server.journal.jobs import names, register, results
from tests.server.journal.ledgers import LEDGERS
from ttt_net.errors import Refusal
from ttt_net.server.journal import open_readonly
from ttt_net.server.journal.entries import AnyEntry
from ttt_net.server.journal.ledger import Ledger
from ttt_net.server.journal.queries import NameQuery
from ttt_net.server.players import Player


@pytest.fixture(params=LEDGERS)
async def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Ledger]:
    """One backend at work, with nothing in it."""
    async with LEDGERS[request.param](tmp_path / "journal") as made:
        yield made


async def test_entries_of_one_turn_are_applied_in_the_order_of_the_calls(ledger: Ledger) -> None:
    assert await results(ledger, *map(register, "abc")) == [Player(1, "a"), Player(2, "b"), Player(3, "c")]


async def test_answered_entries_are_in_the_tables(ledger: Ledger) -> None:
    await results(ledger, register("a"))
    assert await results(ledger, NameQuery("a")) == [(1, "a")]


async def test_a_refused_job_does_not_affect_others(ledger: Ledger) -> None:
    first, refused, last = await results(ledger, register("a"), register("a", b"another token"), register("b"))
    assert (first, last) == (Player(1, "a"), Player(2, "b"))
    assert isinstance(refused, Refusal)
    (unknown,) = await results(ledger, NameQuery("c"))
    assert isinstance(unknown, Refusal)


async def test_a_look_sees_every_write_that_was_acknowledged(ledger: Ledger) -> None:
    for name in "abc":
        await results(ledger, register(name))
        found: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()
        ledger.look(names, found.set_result)
        assert (await found)[-1] == name


async def test_followers_get_accepted_entries_in_order_each_before_its_author(ledger: Ledger) -> None:
    heard: list[AnyEntry | str] = []
    positions: list[int] = []

    def hear(position: int, entry: AnyEntry) -> None:
        heard.append(entry)
        positions.append(position)

    await results(ledger, register("a"))
    ledger.follow(ledger.position, hear)
    for entry in (register("b"), register("a", b"another token"), register("c")):
        ledger.append(entry, lambda player: heard.append(f"to {player.name}"), lambda _: heard.append("refused"))
    await results(ledger, register("d"))
    assert heard == [register("b"), "to b", "refused", register("c"), "to c", register("d")]
    assert positions == sorted(positions)
    assert positions[-1] == ledger.position


async def test_future_positions_cannot_be_followed(ledger: Ledger) -> None:
    with pytest.raises(LookupError):
        ledger.follow(ledger.position + 1, lambda *_: None)


async def test_a_snapshot_is_a_journal_without_later_writes(ledger: Ledger, tmp_path: Path) -> None:
    await results(ledger, register("a"))
    size = ledger.snapshot(tmp_path / "copy")
    ledger.trim(ledger.position)
    await results(ledger, register("b"))
    assert (tmp_path / "copy").stat().st_size == size
    with closing(open_readonly(tmp_path / "copy")) as connection:
        assert names(connection) == ["a"]


async def test_one_that_is_well_says_so(ledger: Ledger) -> None:
    await results(ledger, register("a"))
    assert ledger.health()[:3] == (None, 0, 0)
