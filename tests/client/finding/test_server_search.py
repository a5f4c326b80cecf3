"""Search for servers while somebody chooses, and ask line by line."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.patience import PATIENCE_S
from ttt_net.client.finding import discovery, server_search
from ttt_net.client.finding.address import DEFAULT_URL, Alone, Go, Host
from ttt_net.client.finding.choose_by_lines import choose_by_lines
from ttt_net.client.finding.server_list import ServerList
from ttt_net.client.finding.server_search import ServerSearch


async def test_what_is_chosen_while_an_address_is_tried_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    is_trying, may_answer, changed = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slowly(host: str, port: int) -> bool:
        is_trying.set()
        await may_answer.wait()
        return True

    async def nothing(report: object) -> None:
        return

    monkeypatch.setattr(server_search, "does_answer", slowly)
    monkeypatch.setattr(server_search, "look_around", nothing)
    monkeypatch.setattr(server_search, "servers_used", tuple)
    async with asyncio.timeout(PATIENCE_S):
        search = ServerSearch(changed.set)
        async with search.under_way():
            await is_trying.wait()
            search.servers = replace(search.servers, level=7)
            may_answer.set()
            await changed.wait()
            assert search.servers.level == 7
            assert search.servers.does_answer == {DEFAULT_URL: True}


@pytest.mark.parametrize(
    ("answers", "place"),
    [
        ([""], Alone(4)),
        (["1", "9", "7"], Alone(7)),
        (["2"], Host()),
        (["9", "0", "2"], Host()),
        (["x:y", "example.org"], Go("ws://example.org:8765")),
        (["BCD234", "example.org BCD234"], Go("ws://example.org:8765", "BCD234")),
    ],
)
def test_an_answer_is_a_number_an_address_or_a_code(answers: list[str], place: object) -> None:
    waiting: Iterator[str] = iter(answers)
    written: list[str] = []
    assert (
        choose_by_lines(lambda question: next(waiting, ""), written.append, lambda: ServerList(has_looked=True))
        == place
    )
    assert next(waiting, None) is None
    assert "1. Play the computer here, level 4 of 8" in written


@pytest.mark.parametrize("error", [ImportError("no module named zeroconf"), OSError(101, "Network is unreachable")])
async def test_a_network_that_cannot_be_searched_is_told_and_no_fault(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(name: str) -> None:
        raise error

    monkeypatch.setattr(discovery, "import_module", fail)
    seen: list[discovery.Sighting] = []
    await discovery.look_around(seen.append)
    (blocked,) = seen
    assert isinstance(blocked, discovery.Blocked)
    assert blocked.reason in str(error)
