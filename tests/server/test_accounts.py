"""Names and accounts of players, and their questions about the past, over real sockets."""

import datetime
import random
import re
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from tests.server.house import Caller, House, elsewhere
from tests.server.peer import Peer
from tests.server.rated import rated_match
from tests.server.running import Server, running, until
from ttt_net import messages as wire
from ttt_net.errors import Closing
from ttt_net.games.records import read_record
from ttt_net.server.journal import apply
from ttt_net.server.journal.entries import AuditNote, KeepInvitation
from ttt_net.server.settings.configuration import Limits, Rate


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


async def test_a_player_being_deleted_cannot_be_renamed(tmp_path: Path) -> None:
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


async def test_a_renamed_player_who_left_has_the_new_name_in_the_match_that_begins(tmp_path: Path) -> None:
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


async def test_a_player_who_reconnects_during_a_rename_gets_the_new_name(tmp_path: Path) -> None:
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
        for name in ("Annie", "\u200b"):
            assert await ann.refused("rename", name=name) == "too_fast", "before the name is looked at"


def files(folder: Path) -> bytes:
    """Return all that is on the disk, the write-ahead log included."""
    return b"".join(path.read_bytes() for path in folder.iterdir())


async def test_deleted_players_leave_only_their_matches(tmp_path: Path) -> None:
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
        assert server.hub.services.players.leaving == set()
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


async def test_a_running_server_has_a_deleted_or_former_name_in_none_of_its_files(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        players = [await server.join(f"Zoetrope{letter}") for letter in "ABCDEFGH"]
        assert b"oetrope" in files(tmp_path)
        for number, player in enumerate(players):
            if number % 2:
                await player.ok("forget", name=player.name)
            else:
                await player.ok("rename", name=f"Anna-{number}")
        while server.ledger.database.has_traces:  # the log is emptied when nobody waits for the writer
            await server.execute("SELECT 1")
        assert b"oetrope" not in files(tmp_path)
        assert b"Anna-2" in files(tmp_path)


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


async def test_a_bot_that_may_not_be_forgotten_goes_on_seeking(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        robo, bob = await server.join("Robo", bot="x", places=2), await server.join("Bob")
        await server.match(robo, bob)
        await robo.ok("seek", games=["connect4"])
        assert await robo.refused("forget", name="Robo") == "still_playing"
        await robo.ok("unseek")


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


async def test_a_player_whose_deletion_failed_plays_on(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann = await server.join("Ann")
        await server.execute("PRAGMA query_only = ON")
        assert await ann.refused("forget", name="Ann") == "storage"
        await server.execute("PRAGMA query_only = OFF")
        await server.match(ann, await server.join("Bob"))


async def test_a_guest_needs_no_name_and_returns_with_their_token(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        names = set()
        for _ in range(3):
            guest = await server.connect()
            welcome = await guest.hello()
            assert re.fullmatch(r"guest-[a-z]+-[a-z]+", guest.name)
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
        for expected in ("guest-agile-bear", "guest-agile-bear-1", "guest-agile-bear-10"):
            guest = await server.connect()
            await guest.hello()
            assert guest.name == expected


async def test_a_host_may_reject_guests(tmp_path: Path) -> None:
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
async def test_invalid_names_are_refused_in_words(tmp_path: Path, name: str) -> None:
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


async def played_out(server: Server) -> tuple[Peer, Peer, str]:
    """Return the players of a match that the first has won, and its id."""
    ann, bob, match = await server.pair()
    await ann.play(match, (ann, 4), (bob, 0), (ann, 2), (bob, 1), (ann, 6))
    for peer in (ann, bob):
        await peer.hear("ended")
    return ann, bob, match


async def test_a_finished_match_is_replayed_position_by_position(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, _, match = await played_out(server)
        await ann.ok("replay", match=match)
        told = await ann.hear("replay")
        assert (told["ply"], told["last"]) == (0, 5)
        assert [position["board"] for position in told["positions"]] == [
            ".........",
            "....X....",
            "O...X....",
            "O.X.X....",
            "OOX.X....",
            "OOX.X.X..",
        ]
        assert [position["to_move"] for position in told["positions"]] == [0, 1, 0, 1, 0, None]
        assert [position["ply"] for position in told["positions"]] == [0, 1, 2, 3, 4, 5]
        assert not any(position["legal"] for position in told["positions"])
        assert told["positions"][-1]["line"] == [2, 4, 6]
        assert told["starts"][0] == ".../.../..."
        assert told["starts"][-2:] == ["OOX/.X./...", ""], "nobody can go on from the end"


async def test_the_legal_moves_are_sent_with_the_positions_of_a_finished_match_only(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob, match = await played_out(server)
        await ann.ok("replay", match=match, legal=True)
        positions = (await ann.hear("replay"))["positions"]
        assert [len(position["legal"]) for position in positions] == [9, 8, 7, 6, 5, 0]
        first, second, live = await server.match(ann, bob)
        await first.play(live, (first, 4))
        await second.ok("replay", match=live, legal=True)
        assert not any(position["legal"] for position in (await second.hear("replay"))["positions"])


async def test_a_match_of_strong_bots_is_sent_for_guessing_its_moves(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(inquiries=Rate(3, 3_600.0))) as server:
        ann = await server.join("Ann")
        await ann.ok("study", number=0)
        first = await ann.hear("study")
        assert (first["number"], first["snapshot"]["match"]) == (0, "study-0")
        await ann.ok("study", number=first["count"] + 1)
        assert (await ann.hear("study"))["number"] == 1
        await ann.ok("study")
        assert await ann.refused("study") == "too_fast"


async def test_mistakes_are_kept_with_the_player_on_every_device_until_they_are_forgotten(tmp_path: Path) -> None:
    mistake = {"puzzle": {"game": "tictactoe", "better": [4], "moves": [0]}, "text": "The centre was free."}
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        today = (await listed(ann))["day"]
        for _ in range(2):
            await ann.ok("learn", mistake=mistake)
        assert await listed(ann) == {"type": "mistakes", "day": today, "mistakes": [mistake], "count": 1, "page": 1}
        assert (await listed(bob))["mistakes"] == []
        later = (datetime.date.fromisoformat(today) + datetime.timedelta(days=1)).isoformat()
        phone = await server.connect()
        await phone.hello(token=ann.token)
        solved = mistake | {"due": later, "times": 1}
        await phone.ok("learn", mistake=solved)
        await phone.ok("learn", mistake=mistake)
        assert (await listed(phone))["mistakes"] == []
        assert (await listed(phone, all=True))["mistakes"] == [solved]
        assert await phone.refused("learn", mistake=mistake | {"due": "soon"}) == "bad_message"
        await phone.ok("forget", name="Ann")
        assert await server.execute("SELECT * FROM mistakes") == []


async def listed(peer: Peer, **which: object) -> dict[str, Any]:
    await peer.ok("mistakes", **which)
    return await peer.hear("mistakes")


def test_mistakes_have_a_rate_and_count_against_the_bytes_of_their_address() -> None:
    house = House(lessons=Rate(2, 600.0), daily_mb=1)
    ann, bob, cid = (house.enter(name=name) for name in ("Ann", "Bob", "Cid"))
    request = wire.LearnRequest(9, wire.OwnMistake(wire.OwnPuzzle("tictactoe", [4], [0]), "why"))
    size = len(wire.encode(request))
    for link in (ann, bob, cid):
        link.take()

    def answer(link: Caller) -> str:
        house.ask(link, request)
        house.deliver()
        (told,) = link.take()
        return told

    house.services.rate_limiter.wrote(ann.metered_as, 750_001 - size)
    assert answer(ann) == "ok", "a quarter of the bytes is kept for matches"
    assert answer(bob) == "too_fast"
    house.now_ms += 86_400_000
    assert [answer(cid) for _ in range(3)] == ["ok", "ok", "too_fast"]
    house.now_ms += 600_000
    with mock.patch.object(apply, "LEARNED", object()):
        assert answer(cid) == "storage"


async def test_a_long_match_is_replayed_in_pages(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob, match = await server.pair(games=["mnk:7x7,7"])
        await ann.play(match, *[((ann, bob)[ply % 2], ply * 10 % 49) for ply in range(40)])
        await ann.ok("resign", match=match)
        pages = []
        for ply in (0, 32):
            await bob.ok("replay", match=match, ply=ply)
            pages.append(await bob.hear("replay"))
        assert [position["ply"] for page in pages for position in page["positions"]] == list(range(41))
        assert pages[1]["last"] == 40
        assert await bob.refused("replay", match=match, ply=41) == "stale_ply"


async def test_a_finished_match_is_given_as_a_record_that_can_be_read(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob, match = await played_out(server)
        cleo = await server.join("Cleo")
        await cleo.ok("record", match=match)
        record = read_record((await cleo.hear("record"))["text"])
        assert [player.name for player in record.players] == [ann.name, bob.name]
        assert [move.move for move in record.moves] == [4, 0, 2, 1, 6]
        assert record.event == match


async def test_forbidden_questions_are_refused(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob, live = await server.pair()
        cleo = await server.join("Cleo")
        for verb in ("replay", "record"):
            assert await cleo.refused(verb, match=live) == "not_finished"
            assert await cleo.refused(verb, match="nowhere") == "unknown_match"
        assert await ann.refused("record", match=live) == "not_finished"
        await cleo.ok("watch", match=live)
        await cleo.ok("replay", match=live)
        await ann.ok("replay", match=live)
        assert len((await ann.hear("replay"))["positions"]) == 1

        await bob.ok("invite")
        code = (await bob.hear("invitation"))["code"]
        await ann.ok("join", code=code)
        private = str((await ann.hear("snapshot", private=True))["match"])
        await ann.ok("abort", match=private)
        for verb in ("replay", "record"):
            assert await cleo.refused(verb, match=private) == "not_public"
            await ann.ok(verb, match=private)


async def test_questions_have_a_rate(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(inquiries=Rate(3, 3_600.0))) as server:
        ann, bob, match = await played_out(server)
        for _ in range(3):
            await ann.ok("record", match=match)
        answer = await ann.ask("record", match=match)
        assert (answer["code"], answer["retry_after_ms"] > 1_000) == ("too_fast", True)
        await bob.ok("record", match=match)


@pytest.mark.parametrize("verb", ["replay", "record"])
async def test_one_question_at_a_time(tmp_path: Path, verb: str) -> None:
    async with running(tmp_path) as server:
        ann, _, match = await played_out(server)
        with server.busy_reader():
            first = await ann.say(verb, match=match)
            assert await ann.refused(verb, match=match) == "too_fast"
        assert (await ann.answer(first))["type"] == "ok"
        await ann.ok(verb, match=match)


async def test_moves_do_not_wait_for_questions_about_the_past(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob, match = await played_out(server)
        cleo, dora, live = await server.pair("Cleo", "Dora")
        with server.busy_reader():
            asked = [await peer.say("record", match=match) for peer in (ann, bob)]
            await cleo.play(live, (cleo, 4), (dora, 0), (cleo, 2), (dora, 1), (cleo, 6))
            assert (await dora.hear("ended"))["winner"] == 0
        for peer, request in zip((ann, bob), asked, strict=True):
            assert (await peer.answer(request))["type"] == "ok"


async def test_questions_about_the_past_do_not_wait_for_the_disk(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, _, match = await played_out(server)
        with server.stopped_disk():
            for verb in ("record", "replay"):
                await ann.ok(verb, match=match)
            for verb in ("history", "profile"):
                await ann.ok(verb)


async def test_a_player_who_has_just_finished_a_match_finds_it_in_the_past(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        for number in range(1, 11):
            first, _, match = await server.match(ann, bob)
            await first.ok("resign", match=match)
            await first.ok("record", match=match)
            await first.ok("history")
            told = await first.hear("history")
            assert (told["matches"][0]["match"], len(told["matches"])) == (match, number)
            for peer in (ann, bob):
                await peer.hear("ended", match=match)


async def test_the_question_of_a_player_who_leaves_is_dropped(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob, match = await played_out(server)
        with server.busy_reader():
            await bob.say("record", match=match)
            await bob.ok("ping")
            await ann.say("record", match=match)
            await ann.ok("ping")
            assert server.hub.services.archive.waiting == 2
            await ann.close()
            await until(lambda: server.hub.services.archive.waiting == 1)
            again = await server.connect()
            await again.hello(token=ann.token)
            asked = await again.say("record", match=match)
        assert (await again.answer(asked))["type"] == "ok"


async def test_a_second_connection_may_ask_while_the_question_of_the_first_waits(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, _, match = await played_out(server)
        with server.busy_reader():
            await ann.say("record", match=match)
            await ann.ok("ping")
            again = await server.connect()
            await again.hello(token=ann.token)
            asked = await again.say("replay", match=match)
            await again.ok("ping")
            assert await again.refused("record", match=match) == "too_fast"
        assert (await again.answer(asked))["type"] == "ok"
        assert (await again.hear("replay"))["match"] == match


async def test_a_question_over_the_limit_is_refused_with_the_time_to_retry(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob, match = await played_out(server)
        cleo = await server.join("Cleo")
        with server.busy_reader(), mock.patch("ttt_net.server.journal.archive.MAX_WAITING", 1):
            for peer in (ann, cleo):
                await peer.say("record", match=match)
                await peer.ok("ping")
            answer = await bob.ask("record", match=match)
        assert (answer["type"], answer["code"], answer["retry_after_ms"]) == ("refused", "busy", 100)
        for peer in (ann, cleo):
            assert (await peer.hear("record"))["match"] == match
        await bob.ok("record", match=match)


async def test_a_profile_says_who_somebody_is_and_what_they_play_now(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob, _ = await played_out(server)
        live = (await server.match(ann, bob))[2]
        cleo = await server.join("Cleo", bot="random")
        with server.sends() as sent:
            await cleo.ok("profile", name=ann.name.upper())
            told = await cleo.hear("profile")
        assert any(b'"ok"' in each and b'"profile"' in each for each in sent), "ok and the answer share a write"
        assert told["player"] == {"name": ann.name}
        assert (told["online"], told["won"], told["drawn"], told["lost"]) == (True, 1, 0, 0)
        assert told["against"] == {"won": 0, "drawn": 0, "lost": 0}
        assert told["live"] == [live]
        await bob.ok("profile", name=ann.name)
        assert (await bob.hear("profile"))["against"] == {"won": 0, "drawn": 0, "lost": 1}
        await cleo.ok("profile")
        mine = await cleo.hear("profile")
        assert (mine["player"], mine["against"]) == ({"name": "Cleo", "bot": "random"}, None)
        assert await cleo.refused("profile", name="Nobody") == "unknown_player"
        token = bob.token
    async with running(tmp_path) as server:
        bob = await server.connect()
        await bob.hello(token=token)
        await bob.ok("profile", name=ann.name)
        told = await bob.hear("profile")
        assert (told["online"], told["live"], told["won"]) == (False, [], 1)


async def test_a_history_is_asked_for_page_by_page(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob = [await server.join(name) for name in ("Ann", "Bob")]
        matches = []
        for _ in range(23):
            first, _, match = await server.match(ann, bob)
            await first.ok("resign", match=match)
            for peer in (ann, bob):
                await peer.hear("ended", match=match)
            matches.append(match)
        before, told = None, []
        for size in (20, 3):
            await ann.ok("history", name="bob", game="tictactoe", before=before)
            page = await ann.hear("history")
            assert (page["player"], len(page["matches"])) == ({"name": "Bob"}, size)
            told += [row["match"] for row in page["matches"]]
            before = page["before"]
        assert before is None
        assert sorted(told) == sorted(matches)
        assert page["matches"][0]["reason"] == "resign"
        await ann.ok("history", game="connect4")
        assert (await ann.hear("history"))["matches"] == []
        assert await ann.refused("history", game="chess") == "unknown_game"
        assert await ann.refused("history", before="nonsense") == "bad_message"


async def test_a_list_of_ratings_names_the_best_and_ones_own_rank(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob", bot="random")
        await rated_match(server, ann, bob, "m")
        await ann.ok("resign", match="m")
        await ann.hear("rated")
        await ann.ok("leaderboard", game="connect4", speed="blitz")
        told = await ann.hear("leaderboard")
        assert (told["game"], told["speed"], told["page"], told["pages"], told["you"]) == ("connect4", "blitz", 1, 1, 2)
        assert [(leader["rank"], leader["player"]["name"]) for leader in told["leaders"]] == [(1, "Bob"), (2, "Ann")]
        assert told["leaders"][0]["player"]["bot"] == "random"
        assert told["leaders"][0]["player"]["provisional"]
        await ann.ok("leaderboard", game="connect4", speed="blitz", bots=False)
        told = await ann.hear("leaderboard")
        assert [(leader["rank"], leader["player"]["name"]) for leader in told["leaders"]] == [(1, "Ann")]
        await ann.ok("leaderboard", game="connect4")
        assert (await ann.hear("leaderboard"))["leaders"] == []
        assert await ann.refused("leaderboard", game="tictactoe") == "always_casual"
        assert await ann.refused("leaderboard", game="connect4", page=0) == "bad_message"
        await bob.ok("profile", name="Ann")
        (rating,) = (await bob.hear("profile"))["ratings"]
        assert (rating["game"], rating["speed"], rating["games"], rating["provisional"]) == (
            "connect4",
            "blitz",
            1,
            True,
        )
        await ann.ok("history")
        (row,) = (await ann.hear("history"))["matches"]
        assert (row["rated"], row["time"]) == (True, {"initial_ms": 180_000, "increment_ms": 2_000})


def test_a_new_name_and_a_deletion_on_another_node_are_seen_wherever_the_player_was() -> None:
    house = House()
    reader, gus = house.enter(name="Ann"), house.enter(name="Gus").known_as.player
    house.ask(reader, wire.LobbyRequest(2, on=True))
    forwarded: list[object] = []
    there = elsewhere(house, gus, "Gus", forwarded)
    house.impose("mute", f"player:{gus}", player=gus)
    house.hub.matchmaker.seek_again(there, wire.SeekRequest(1, games=["connect4"]))
    house.hub.matchmaker.invitations.invite(there, wire.InviteRequest(2, "tictactoe"))
    house.deliver()
    (invitation,) = [entry.invitation for entry in house.ledger.entries if isinstance(entry, KeepInvitation)]

    def shown() -> tuple[list[str], list[str], list[str]]:
        """Return the names in the lists of players and seeks, and of the sanctions."""
        house.loop.run_until(house.loop.time() + 5.0, 10_000)
        players = [each for each in reader.heard if isinstance(each, wire.PlayerList)][-1].players
        seeks = [each for each in reader.heard if isinstance(each, wire.SeekList)][-1].seeks
        sanctions = house.services.sanctions.in_force()
        return [each.name for each in players], [each.by.name for each in seeks], [each.shown for each in sanctions]

    assert shown()[:2] == (["Ann", "Gus"], ["Gus"])
    house.hub.accounts.renamed(gus, "Gustav")
    assert shown() == (["Ann", "Gustav"], ["Gustav"], ["Gustav"])
    assert house.hub.lobby.is_code(invitation.code, 5_000_000)
    house.hub.accounts.forgotten(gus, "token:x")
    assert (forwarded[-1], there.player in house.services.players.sessions) == (Closing.FORGOTTEN, False)
    assert shown() == (["Ann"], [], ["deleted"])
    assert [each.whom for each in house.services.sanctions.in_force()] == ["token:x"]
    assert not house.hub.lobby.is_code(invitation.code, 5_000_000)
    assert house.hub.lobby.seeks.of(gus) is None, "nobody waits in their name, hidden or not"
    house.hub.accounts.forgotten(gus, "token:x")
    assert shown() == (["Ann"], [], ["deleted"]), "they are away by now"
