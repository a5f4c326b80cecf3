"""A mailbox has room for keys and for the end, whatever a server sends."""

import asyncio
from contextlib import suppress

import pytest
from websockets.exceptions import ConnectionClosed

from tests.client.fake_server import fake_server
from tests.client.lines.paper import plain_at
from tests.client.samples import CHALLENGED
from tests.patience import PATIENCE_S
from ttt_net.client.mailbox import MAX_QUEUED_EVENTS, MAX_QUEUED_KEYS, Key, Line, Mailbox
from ttt_net.messages import SeekRequest
from ttt_net.sdk.received import Stop


def test_a_mailbox_full_of_events_takes_keys_and_returns_them_first() -> None:
    mailbox = Mailbox()
    for _ in range(MAX_QUEUED_EVENTS):
        mailbox.put_nowait(CHALLENGED)
    with pytest.raises(asyncio.QueueFull):
        mailbox.put_nowait(CHALLENGED)
    assert mailbox.post(Key("q"))
    assert mailbox.post(Key("y"))
    assert [mailbox.get_nowait() for _ in range(3)] == [Key("q"), Key("y"), CHALLENGED]


def test_a_mailbox_full_of_keys_still_takes_the_event_that_ends_the_client() -> None:
    for end in (Stop(), Key("c-c")):
        mailbox = Mailbox()
        taken = [mailbox.post(Key("x")) for _ in range(2 * MAX_QUEUED_KEYS)]
        assert taken == [True] * MAX_QUEUED_KEYS + [False] * MAX_QUEUED_KEYS
        assert mailbox.post(end)
        assert not mailbox.post(end)
        mailbox.put_nowait(CHALLENGED)


async def test_the_keys_of_a_mailbox_make_no_room_for_its_connection() -> None:
    mailbox = Mailbox()
    for _ in range(MAX_QUEUED_EVENTS):
        await mailbox.put(CHALLENGED)
    mailbox.post(Key("q"))
    assert mailbox.full()
    assert await mailbox.get() == Key("q")
    assert mailbox.full()
    assert await mailbox.get() == CHALLENGED
    assert not mailbox.full()


@pytest.mark.parametrize("last", [Line("quit"), Stop()])
async def test_a_server_that_floods_a_player_with_challenges_cannot_keep_them(last: Line | Stop) -> None:
    async with fake_server() as server, plain_at(server) as (paper, playing):
        link = await server.accepts()
        await link.lets_in()
        await link.hears(SeekRequest)

        async def flood() -> None:
            with suppress(ConnectionClosed):  # the client has gone
                while True:
                    await link.tells(CHALLENGED)

        async with asyncio.TaskGroup() as group:
            flooding = group.create_task(flood())
            await paper.shows("Ben challenges you: Connect Four, 3+2.")
            paper.mailbox.post(last)
            async with asyncio.timeout(PATIENCE_S):
                await playing
            flooding.cancel()
