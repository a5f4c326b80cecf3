"""Talk at the table, over real sockets."""

from pathlib import Path

import pytest

from tests.server.peer import Peer
from tests.server.running import Server, running
from ttt_net.server.admin.moderation import load_sanctions
from ttt_net.server.admission.sanctions import Sanction, of_player
from ttt_net.server.rooms.chat import PHRASES
from ttt_net.server.settings.configuration import Limits, Rate


async def watched(server: Server) -> tuple[Peer, Peer, Peer, Peer, str]:
    """Return two players, two who watch them, and the match."""
    first, second, match = await server.pair()
    watchers = [await server.join(name) for name in ("Eve", "Mal")]
    for watcher in watchers:
        await watcher.ok("watch", match=match)
    return first, second, watchers[0], watchers[1], match


async def said(peer: Peer) -> list[str]:
    """Return all that the peer has heard in the chat by now."""
    await peer.ok("ping")
    return [message["text"] for message in peer.heard if message["type"] == "chat"]


async def test_players_chat_with_players_and_watchers_with_watchers(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, eve, mal, match = await watched(server)
        await first.ok("chat", match=match, text="  gl \x1b[2J\u202e hf ")
        told = await second.hear("chat")
        assert (told["room"], told["by"]["name"], told["text"]) == ("players", first.name, "gl [2J hf")
        await eve.ok("chat", match=match, phrase="well_played")
        told = await mal.hear("chat")
        assert (told["room"], told["by"], told["phrase"], told["text"]) == (
            "watchers",
            {"name": "Eve"},
            "well_played",
            PHRASES["well_played"],
        )
        assert [await said(peer) for peer in (first, second, eve, mal)] == [["gl [2J hf"], [], ["Well played!"], []]


async def test_impossible_messages_are_refused(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, _, _, _, match = await watched(server)
        assert await first.refused("chat", match=match) == "bad_message"
        assert await first.refused("chat", match=match, text="hi", phrase="hello") == "bad_message"
        assert await first.refused("chat", match=match, text="\u200b \n") == "bad_message"
        assert await first.refused("chat", match=match, text="x" * 561) == "bad_message"
        assert await first.refused("chat", match="nowhere", text="hi") == "not_watching"
        stranger = await server.join("Stranger")
        assert await stranger.refused("chat", match=match, text="hi") == "not_watching"
        await first.ok("chat", match=match, text="x" * 300)
        assert (await first.hear("chat"))["text"] == "x" * 140


async def test_one_player_or_all_can_be_muted_and_unmuted(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, _, _, match = await watched(server)
        assert await second.refused("mute", name="Nobody", on=True) == "unknown_player"
        for name in (first.name.upper(), None):
            await second.ok("mute", name=name, on=True)
            await first.ok("chat", match=match, text="la la la")
            assert await said(second) == []
            await second.ok("mute", name=name, on=False)
            await first.ok("chat", match=match, text="well?")
            assert (await second.hear("chat"))["text"] == "well?"
        await first.ok("mute", name=None, on=True)
        await first.ok("chat", match=match, text="I hear myself")
        assert (await said(first))[-1] == "I hear myself"


async def test_where_chat_is_off_phrases_are_said(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(allow_chat=False)) as server:
        first, second, match = await server.pair()
        assert await first.refused("chat", match=match, text="hi") == "chat_off"
        await first.ok("chat", match=match, phrase="oops")
        assert (await second.hear("chat"))["phrase"] == "oops"
        welcome = await (await server.connect()).hello(name="Carl")
        assert welcome["chat"] is False
        assert "chat" not in welcome["features"]


async def test_whom_the_host_has_muted_says_not_even_phrases(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, _, match = await server.pair()
        whom = of_player(server.player_of(first.name))
        server.hub.services.sanctions.add(
            [Sanction("mute", whom, first.name, "shouting", 0, None, server.player_of(first.name))]
        )
        assert await first.refused("chat", match=match, phrase="hello") == "muted"


async def test_talking_too_much_is_refused(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(chats=Rate(2, 60.0))) as server:
        server.clock.stand_still()
        first, _, match = await server.pair()
        for _ in range(2):
            await first.ok("chat", match=match, phrase="hello")
        assert await first.refused("chat", match=match, phrase="hello") == "too_fast"


async def test_a_crowd_of_talkers_is_asked_to_wait(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        server.clock.stand_still()
        first, _, eve, _, match = await watched(server)
        server.hub.chat.deliveries.take(server.clock(), 6_000)
        assert await eve.refused("chat", match=match, phrase="hello") == "too_fast"
        await first.ok("chat", match=match, phrase="hello")
        server.later(2_000)
        await eve.ok("chat", match=match, phrase="hello")


async def test_nobody_chats_while_it_cannot_be_read_who_is_muted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair()
        await server.execute("ALTER TABLE sanctions RENAME TO elsewhere")
        load_sanctions(server.hub.services)
        await server.flushed()
        assert await first.refused("chat", match=match, text="hi") == "storage"
        await server.execute("ALTER TABLE elsewhere RENAME TO sanctions")
        load_sanctions(server.hub.services)
        await server.flushed()
        await first.ok("chat", match=match, text="hi again")
        assert (await second.hear("chat"))["text"] == "hi again"
    assert "bans and mutes are not in force" in caplog.text
    caplog.clear()  # it was meant


async def test_a_player_is_muted_by_their_seat_after_a_rename(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, eve, _, match = await watched(server)
        freed = second.name
        await second.ok("rename", name="Renamed")
        stranger = await server.join(freed)
        await first.ok("mute", name=freed, match=match, side=1, on=True)
        await second.ok("chat", match=match, text="are you there?")
        assert await said(first) == []
        await first.ok("mute", name=freed, match=match, side=1, on=False)
        await second.ok("chat", match=match, text="now?")
        assert await said(first) == ["now?"]
        assert await stranger.refused("mute", name=freed, match=match, side=1, on=True) == "not_watching"
        assert await eve.refused("mute", name=None, side=1, on=True) == "not_watching"


async def test_a_mute_outlives_the_connection(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, _, _, match = await watched(server)
        await first.ok("mute", name=second.name, on=True)
        again = await server.connect()
        await again.hello(token=first.token)
        await again.ok("resume", match=match, seq=0)
        await second.ok("chat", match=match, text="hello?")
        assert await said(again) == []
