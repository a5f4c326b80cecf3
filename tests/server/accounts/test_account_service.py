"""Players and their names: over real sockets."""

import random
import re
from pathlib import Path

import pytest

from tests.server.running import running, until
from ttt_net.server.journal.entries import AuditNote
from ttt_net.server.settings.configuration import Limits
from ttt_net.server.settings.setting import Rate


async def test_a_player_takes_another_name_and_their_old_one_is_free(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann = await server.join("Ann", bot="random")
        await ann.ok("rename", name="Annabel")
        assert (await ann.hear("renamed"))["you"] == {"name": "Annabel", "bot": "random"}
        assert await ann.refused("rename", name="\u200b") == "bad_name"
        other = await server.join("Ann")
        assert await other.refused("rename", name="ANNABEL") == "name_taken"
        await other.ok("rename", name="ANN")
        await other.ok("who")
        assert [row["name"] for row in (await other.hear("players"))["players"]] == ["ANN", "Annabel"]
        token = ann.token
    async with running(tmp_path) as server:
        again = await server.connect()
        assert (await again.hello(token=token))["you"] == {"name": "Annabel"}


async def test_who_is_forgotten_takes_no_other_name_in_the_same_breath(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann = await server.join("Ann")
        with server.stopped_disk():
            await ann.say("forget", name="Ann")
            await ann.say("rename", name="Annabel")
        await ann.close_code()
        await server.flushed()
        rows = await server.execute("SELECT name, name_key, token_hash FROM players")
        assert rows == [("deleted", None, None)]
        await server.join("Annabel")


async def test_a_new_name_is_seen_in_the_matches_of_before(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob, match = await server.pair()
        old = ann.name
        await ann.ok("rename", name="Annabel")
        assert [player["name"] for player in (await bob.resume(match))["players"]] == ["Annabel", bob.name]
        await ann.ok("resign", match=match)
        await bob.ok("offer", match=match, kind="rematch")
        await ann.ok("offer", match=match, kind="rematch")
        snapshot = await bob.hear("snapshot", previous=match)
        assert [player["name"] for player in snapshot["players"]] == [bob.name, "Annabel"]
        token = bob.token
        journal = tmp_path / "journal.sqlite"
        assert old.encode() not in b"".join(fact for (fact,) in await server.execute("SELECT fact FROM facts"))
        assert journal.exists()
    async with running(tmp_path) as server:
        again = await server.connect()
        await again.hello(token=token)
        assert (await again.resume(snapshot["match"]))["players"][1]["name"] == "Annabel"


async def test_a_match_that_begins_while_a_name_changes_has_the_new_one(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        with server.stopped_disk():
            renaming = await ann.say("rename", name="Annabel")
            await ann.ok("seek")
            await bob.ok("seek")
        assert (await ann.answer(renaming))["type"] == "ok"
        snapshot = await bob.hear("snapshot")
        assert {player["name"] for player in snapshot["players"]} == {"Annabel", "Bob"}


async def test_who_takes_another_name_and_leaves_is_called_by_it_in_the_match_that_begins(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        with server.stopped_disk():
            await ann.say("rename", name="Annabel")
            await ann.ok("seek")
            await bob.ok("seek")
            await ann.close()
            await until(lambda: len(server.sessions) == 1)
        snapshot = await bob.hear("snapshot")
        assert {player["name"] for player in snapshot["players"]} == {"Annabel", "Bob"}


async def test_who_comes_again_while_their_name_changes_is_told_the_new_one(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, again = await server.join("Ann"), await server.connect()
        asked = server.hub.metrics.requests
        with server.stopped_disk():
            server.hub.services.journal.note(AuditNote(0, "wait", ""))
            hello = await again.say("hello", protocols=[1], token=ann.token)
            await until(lambda: server.hub.metrics.requests == asked + 1)
            await ann.say("rename", name="Annabel")
            await until(lambda: server.hub.metrics.requests == asked + 2)
        assert (await again.answer(hello))["type"] == "ok"
        assert (await again.hear("welcome"))["you"]["name"] == "Ann"
        assert (await again.hear("renamed"))["you"]["name"] == "Annabel"


async def test_new_names_have_a_rate(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(renames=Rate(2, 3_600.0))) as server:
        ann = await server.join("Ann")
        for name in ("Annabel", "Anna"):
            await ann.ok("rename", name=name)
        assert await ann.refused("rename", name="Annie") == "too_fast"


def files(folder: Path) -> bytes:
    """Return all that is on the disk; the server has closed its file, so that the log is part of it."""
    return b"".join(path.read_bytes() for path in folder.iterdir())


async def test_who_is_forgotten_leaves_no_trace_but_their_matches(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        zoe, bob, match = await server.pair("Zoetrope", "Bob")
        if zoe.name == "Bob":
            zoe, bob = bob, zoe
        await zoe.ok("resign", match=match)
        await bob.hear("ended")
        token = zoe.token
        await server.execute(
            "INSERT INTO sanctions SELECT 'mute', 'player:' || id, '', 'rude', 0, NULL, id, 'host' FROM players"
            " WHERE name = 'Zoetrope'"
        )
        await zoe.ok("forget", name="zoeTROPE")
        assert await zoe.close_code() == 4004
        snapshot = await bob.resume(match)
        assert {player["name"] for player in snapshot["players"]} == {"Bob", "deleted"}
        await bob.ok("record", match=match)
        assert "deleted" in (await bob.hear("record"))["text"]
        gone = await server.connect()
        assert await gone.refused("hello", protocols=[1], token=token) == "unknown_token"
        await bob.ok("who")
        assert [row["name"] for row in (await bob.hear("players"))["players"]] == ["Bob"]
    assert b"oetrope" not in files(tmp_path)
    assert b"oeTROPE" not in files(tmp_path)
    async with running(tmp_path) as server:
        await server.join("Zoetrope")
        again = await server.connect()
        await again.hello(token=bob.token)
        await again.ok("replay", match=match)


async def test_nobody_is_forgotten_by_mistake_or_while_they_play(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob, match = await server.pair()
        assert await ann.refused("forget", name=bob.name) == "bad_name"
        refused = await ann.answer(await ann.say("forget", name=ann.name))
        sentence = "you have 1 unfinished match; finish or resign first"
        assert (refused["code"], refused["message"]) == ("still_playing", sentence)
        await ann.ok("resign", match=match)
        with server.stopped_disk():
            forgetting = await ann.say("forget", name=ann.name)
            await bob.ok("ping")
        assert (await ann.answer(forgetting))["type"] == "ok"


async def test_a_match_that_has_just_begun_keeps_a_player_from_being_forgotten(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        await ann.ok("seek")
        with server.stopped_disk():
            await bob.ok("seek")
            forgetting = await ann.say("forget", name="Ann")
        assert (await ann.answer(forgetting))["code"] == "still_playing"
        await ann.hear("snapshot")


async def test_no_match_begins_with_somebody_who_is_being_forgotten(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        zoe, bob = await server.join("Zoetrope"), await server.join("Bob")
        await bob.ok("challenge", name="Zoetrope", game="tictactoe")
        challenge = (await zoe.hear("challenged"))["challenge"]
        await zoe.ok("seek", games=["tictactoe"])
        with server.stopped_disk():
            forgetting = await zoe.say("forget", name="Zoetrope")
            assert await zoe.refused("forget", name="Zoetrope") == "too_fast"
            assert await zoe.refused("seek", games=["tictactoe"]) == "unknown_player"
            assert await zoe.refused("answer", challenge=challenge, accept=True) == "unknown_player"
            assert await bob.refused("challenge", name="Zoetrope", game="connect4") == "unknown_player"
            await bob.ok("seek", games=["tictactoe"])
        assert (await zoe.answer(forgetting))["type"] == "ok"
        assert await zoe.close_code() == 4004
        assert not server.rooms
        cid = await server.join("Cid")
        await cid.ok("seek", games=["tictactoe"])
        assert {player["name"] for player in (await bob.hear("snapshot"))["players"]} == {"Bob", "Cid"}


async def test_who_could_not_be_forgotten_plays_on(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann = await server.join("Ann")
        await server.execute("PRAGMA query_only = ON")
        assert await ann.refused("forget", name="Ann") == "storage"
        await server.execute("PRAGMA query_only = OFF")
        await server.match(ann, await server.join("Bob"))


async def test_a_guest_needs_no_name_and_comes_back_with_their_token(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        names = set()
        for _ in range(3):
            guest = await server.connect()
            welcome = await guest.hello()
            assert re.fullmatch(r"guest-\d{4}", guest.name)
            assert "guests" in welcome["features"]
            names.add(guest.name)
        assert len(names) == 3
    async with running(tmp_path) as server:
        again = await server.connect()
        assert (await again.hello(token=guest.token))["you"] == {"name": guest.name}
        (session,) = server.sessions.values()
        assert session.is_guest
        await again.ok("rename", name="Gus")
        assert not session.is_guest
    async with running(tmp_path) as server:
        again = await server.connect()
        await again.hello(token=guest.token)
        (session,) = server.sessions.values()
        assert (session.info.name, session.is_guest) == ("Gus", False)


class LowDice(random.Random):
    """Dice that show the lowest number."""

    def random(self) -> float:
        return 0.0


async def test_a_guest_gets_a_longer_name_where_the_short_ones_are_taken(tmp_path: Path) -> None:
    async with running(tmp_path, rng=LowDice()) as server:
        for expected in ("guest-1000", "guest-10000", "guest-100000"):
            guest = await server.connect()
            await guest.hello()
            assert guest.name == expected


async def test_a_host_may_let_no_guests_in(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(allow_guests=False)) as server:
        peer = await server.connect()
        assert await peer.refused("hello", protocols=[1]) == "no_guests"
        assert "guests" not in (await peer.hello(name="Ann")).get("features", [])


async def test_a_name_that_looks_like_anothers_is_taken(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        paul = await server.join("Paul")
        coco = await server.join("сосо")  # Cyrillic
        for name in ("PAUI", "pau1", "coco"):
            other = await server.connect()
            assert await other.refused("hello", protocols=[1], name=name) == "name_taken"
        assert await coco.refused("rename", name="pau1") == "name_taken"
        await paul.ok("rename", name="PAUI")
        await paul.ok("rename", name="Peter")
        await coco.ok("rename", name="pau1")


@pytest.mark.parametrize("name", ["admin", "Guest-12", "b0t", "A", "Ann.Lee", "Annа"])
async def test_what_may_be_no_name_is_refused_in_words(tmp_path: Path, name: str) -> None:
    async with running(tmp_path) as server:
        peer = await server.connect()
        answer = await peer.ask("hello", protocols=[1], name=name)
        assert answer["code"] == "bad_name"
        assert "2 to 20 letters of one script" in answer["message"]
        await peer.hello(name="Ann")
        assert await peer.refused("rename", name=name) == "bad_name"


async def test_a_name_of_before_the_rules_is_kept(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        peer = await server.join("Old-name")
        await server.execute("UPDATE players SET name = 'O N', name_key = 'o n'")
        token = peer.token
    async with running(tmp_path) as server:
        again = await server.connect()
        assert (await again.hello(token=token))["you"] == {"name": "O N"}
        await again.ok("profile", name="o n")


async def test_nobody_is_called_as_the_forgotten_are(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(free_names=True)) as server:
        peer = await server.connect()
        assert await peer.refused("hello", protocols=[1], name="Deleted") == "bad_name"
