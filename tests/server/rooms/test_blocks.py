"""Players who have blocked one another, or only muted, over real sockets."""

from pathlib import Path

from tests.server.peer import Peer
from tests.server.running import Server, running, until
from ttt_net.server.settings.configuration import Limits, Rate


async def listed(peer: Peer) -> tuple[list[str], list[str], bool]:
    """Return whom a peer has blocked and muted, and whether that is everybody."""
    await peer.ok("blocks")
    told = await peer.hear("blocks")
    return told["blocked"], told["muted"], told.get("everybody", False)


async def said(peer: Peer) -> list[str]:
    """Return all that a peer has received of the chat by now."""
    await peer.ok("ping")
    return [message["text"] for message in peer.heard if message["type"] == "chat"]


async def three(server: Server) -> tuple[Peer, Peer, Peer]:
    """Return three players; the first has blocked the second."""
    ann, bob, cid = [await server.join(name) for name in ("Ann", "Bob", "Cid")]
    await ann.ok("block", name="bob", on=True)
    return ann, bob, cid


async def test_a_blocked_player_can_neither_challenge_nor_accept_and_learns_only_that_they_are_not_welcome(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as server:
        ann, bob, cid = await three(server)
        assert await bob.refused("challenge", name="Ann") == "not_welcome"
        assert await ann.refused("challenge", name="Bob") == "blocked"
        for seeker, other, code in ((ann, bob, "not_welcome"), (bob, ann, "blocked")):
            await cid.ok("lobby", on=True)
            await seeker.ok("seek", games=["connect4"])
            number = (await cid.hear("seeks", count=1))["seeks"][0]["seek"]
            assert await other.refused("accept", seek=number) == code
            await seeker.ok("unseek")
            await cid.ok("lobby", on=False)
            cid.heard.clear()
        await cid.ok("challenge", name="Ann")
        await ann.hear("challenged")
        assert not [each for each in bob.heard if each["type"] == "blocks"], "nobody tells them"
        await ann.ok("block", name="Bob", on=False)
        await bob.ok("challenge", name="Ann")


async def test_blocked_players_are_not_paired_by_their_seeks_until_the_block_ends(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob, cid = await three(server)
        await ann.ok("seek", games=["connect4"])
        await bob.ok("seek", games=["connect4"])
        assert len(server.hub.lobby.seeks) == 2
        await cid.ok("seek", games=["connect4"])
        players = {each["name"] for each in (await cid.hear("snapshot"))["players"]}
        assert players in ({"Ann", "Cid"}, {"Bob", "Cid"})
        waiting = bob if "Ann" in players else ann
        free = ann if waiting is bob else bob
        await free.ok("resign", match=(await free.hear("snapshot"))["match"])
        free.heard.clear()
        await free.ok("seek", games=["connect4"])
        assert len(server.hub.lobby.seeks) == 2
        await ann.ok("block", name="Bob", on=False)
        assert {each["name"] for each in (await free.hear("snapshot"))["players"]} == {"Ann", "Bob"}
        await waiting.hear("snapshot")


async def test_a_block_ends_challenges_between_the_two_and_rematches_but_no_match(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair()
        cid = await server.join("Cid")
        for challenger in (second, cid):
            await challenger.ok("challenge", name=first.name)
        number = (await first.hear("challenged", by={"name": second.name}))["challenge"]
        await first.ok("block", name="whatever they are called", match=match, side=1, on=True)
        for peer in (first, second):
            assert (await peer.hear("challengeover", challenge=number))["reason"] == "generic"
        await second.ok("chat", match=match, text="hello?")
        await first.ok("chat", match=match, text="good bye")
        assert (await second.hear("chat", text="good bye"))["by"]["name"] == first.name
        assert "hello?" not in await said(first)
        await first.ok("resign", match=match)
        await first.ok("offer", match=match, kind="rematch")
        assert await second.refused("offer", match=match, kind="rematch") == "not_welcome"
        assert not [each for each in first.heard if each["type"] == "challengeover" and each["challenge"] != number]


async def test_no_match_begins_while_a_block_is_written(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob, cid = [await server.join(name) for name in ("Ann", "Bob", "Cid")]
        await ann.ok("challenge", name="Bob")
        numbers = [(await bob.hear("challenged"))["challenge"]]
        await bob.ok("challenge", name="Ann", game="connect4")
        numbers.append((await ann.hear("challenged", game="connect4"))["challenge"])
        await cid.ok("lobby", on=True)
        await ann.ok("seek", games=["connect4"])
        seek = (await cid.hear("seeks", count=1))["seeks"][0]["seek"]
        with server.stopped_disk():
            blocking = await ann.say("block", name="Bob", on=True)
            await ann.ok("ping")
            for peer, number in zip((bob, ann), numbers, strict=True):
                assert await peer.refused("answer", challenge=number, accept=True) == "unknown_challenge"
            assert await bob.refused("accept", seek=seek) == "not_welcome"
            assert await bob.refused("challenge", name="Ann") == "not_welcome"
            assert await ann.refused("challenge", name="Bob") == "blocked"
            await bob.ok("seek", games=["connect4"])
            await cid.ok("challenge", name="Bob")
        assert (await ann.answer(blocking))["type"] == "ok"
        await server.flushed()
        assert server.rooms == {}


async def test_a_block_that_is_not_written_keeps_nobody_apart(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        await ann.ok("seek", games=["connect4"])
        await server.execute("PRAGMA query_only = ON")
        with server.stopped_disk():
            blocking = await ann.say("block", name="Bob", on=True)
            await ann.ok("ping")
            await bob.ok("seek", games=["connect4"])
        assert (await ann.answer(blocking))["code"] == "storage"
        assert not server.hub.services.players.blocking
        assert not server.hub.lobby.seeks, "they are paired after all"


async def test_a_private_match_by_code_is_possible_because_both_chose_it(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob, _ = await three(server)
        for host, guest in ((ann, bob), (bob, ann)):
            await host.ok("invite")
            await guest.ok("join", code=(await host.hear("invitation"))["code"])
            match = (await guest.hear("snapshot"))["match"]
            await bob.ok("chat", match=match, text="still here")
            assert await said(ann) == []
            await host.ok("resign", match=match)
            for peer in (ann, bob):
                peer.heard.clear()


async def test_blocks_and_mutes_outlive_connection_rename_and_restart(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob, cid = await three(server)
        await ann.ok("mute", name="Cid", on=True)
        await cid.ok("mute", name=None, on=True)
        await bob.ok("rename", name="Bert")
        tokens = [each.token for each in (ann, bob, cid)]
        await ann.close()
        again = await server.connect()
        await again.hello(token=tokens[0])
        assert await listed(again) == (["Bert"], ["Cid"], False)
        assert await bob.refused("challenge", name="Ann") == "not_welcome"
    async with running(tmp_path) as server:
        ann, bob, cid = [await server.connect() for _ in range(3)]
        for peer, token in zip((ann, bob, cid), tokens, strict=True):
            assert "blocks" in (await peer.hello(token=token))["features"]
        assert await bob.refused("challenge", name="Ann") == "not_welcome"
        assert await listed(ann) == (["Bert"], ["Cid"], False)
        assert await listed(bob) == ([], [], False)
        assert await listed(cid) == ([], [], True)
        await ann.ok("challenge", name="Cid")
        await cid.ok("answer", challenge=(await cid.hear("challenged"))["challenge"], accept=True)
        match = (await ann.hear("snapshot"))["match"]
        await cid.ok("chat", match=match, text="la la la")
        await ann.ok("chat", match=match, text="hello?")
        assert [await said(ann), await said(cid)] == [["hello?"], ["la la la"]], "their own"
        await ann.ok("mute", name="Cid", on=False)
        await cid.ok("mute", name=None, on=False)
        await cid.ok("chat", match=match, text="well?")
        await ann.ok("chat", match=match, text="well!")
        assert (await ann.hear("chat", text="well?"))["by"]["name"] == "Cid"
        assert (await cid.hear("chat", text="well!"))["by"]["name"] == "Ann"


async def test_players_who_are_away_can_be_blocked_by_name_and_nobody_blocks_themselves(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob, _ = await three(server)
        await bob.close()
        await until(lambda: server.hub.services.players.find("Bob") is None)
        await ann.ok("block", name="Bob", on=False)
        await ann.ok("block", name="BOB", on=True)
        assert await listed(ann) == (["Bob"], [], False)
        assert await ann.refused("block", name="Ann", on=True) == "bad_message"
        assert await ann.refused("mute", name="ann", on=True) == "bad_message"
        assert await ann.refused("block", name="Nobody", on=True) == "unknown_player"
        assert await ann.refused("mute", name="Bob", on=False) == "blocked", "silence is part of a block"


async def test_a_guest_blocks_as_others_do_and_is_forgotten_in_lists(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann = await server.join("Ann")
        guest = await server.connect()
        name = (await guest.hello())["you"]["name"]
        await guest.ok("block", name="Ann", on=True)
        await ann.ok("block", name=name, on=True)
        assert await ann.refused("challenge", name=name) == "blocked"
        assert await listed(guest) == (["Ann"], [], False)
        await guest.ok("forget", name=name)
        await server.flushed()
        assert await listed(ann) == ([], [], False)
        assert await server.execute("SELECT * FROM blocks") == []


async def test_blocks_have_a_rate_and_are_refused_where_the_disk_cannot_be_written(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(blocks=Rate(2, 60.0))) as server:
        server.clock.stand_still()
        ann, _, _ = await three(server)
        await server.execute("PRAGMA query_only = ON")
        assert await ann.refused("block", name="Cid", on=True) == "storage"
        await server.execute("PRAGMA query_only = OFF")
        assert await ann.refused("mute", name="Cid", on=True) == "too_fast"
        assert await listed(ann) == (["Bob"], [], False)


async def test_blocked_bots_are_not_suggested(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann = await server.join("Ann")
        for name in ("Robby", "Marvin"):
            bot = await server.connect()
            await bot.hello(name=name, bot="mcts", on_request=True)
            await bot.ok("seek", games=["connect4"])
        await ann.ok("block", name="Robby", on=True)
        await ann.ok("seek", games=["connect4"])
        (seek,) = [each for each in server.hub.lobby.seeks if not each.is_bot]
        assert [each.name for each in server.hub.listing.bots_for(seek)] == ["Marvin"]
