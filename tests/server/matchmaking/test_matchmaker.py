"""Challenges, invitations and watching, over real sockets."""

import sqlite3
from pathlib import Path

import pytest

from tests.server.peer import Message, Peer
from tests.server.rated import open_rated
from tests.server.running import running, until
from ttt_net.messages import RatingChange
from ttt_net.pairing.lobby import Invitation
from ttt_net.pairing.seeks import BANDS, MOST_IN_TURN
from ttt_net.server.journal import queries
from ttt_net.server.matchmaking import matchmaker
from ttt_net.server.matchmaking.listing import MOVING_MS, shared
from ttt_net.server.online_players import Session
from ttt_net.server.settings.configuration import Limits, Rate


async def test_a_challenge_that_is_accepted_becomes_a_match(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        await ann.ok("challenge", name="BOB", game="connect4")
        told = await bob.hear("challenged")
        assert (told["by"], told["game"]) == ({"name": "Ann"}, "connect4")
        assert (await ann.hear("challenged"))["challenge"] == told["challenge"]
        await bob.ok("answer", challenge=told["challenge"], accept=True)
        for peer in (ann, bob):
            assert (await peer.hear("challengeaccepted"))["challenge"] == told["challenge"]
        sides = {(await peer.hear("snapshot"))["you"] for peer in (ann, bob)}
        assert sides == {0, 1}


async def test_a_challenge_ends_declined_taken_back_or_with_one_who_goes(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        for answerer, reason in ((bob, "later"), (ann, "generic")):
            await ann.ok("challenge", name="Bob")
            number = (await bob.hear("challenged"))["challenge"]
            await answerer.ok("answer", challenge=number, accept=False, reason=reason)
            for peer in (ann, bob):
                assert (await peer.hear("challengeover", challenge=number))["reason"] == reason
            assert await bob.refused("answer", challenge=number, accept=True) == "unknown_challenge"
        await ann.ok("challenge", name="Bob")
        await bob.close()
        assert (await ann.hear("challengeover", reason="gone"))["type"] == "challengeover"
        assert await ann.refused("challenge", name="Bob") == "unknown_player"
        assert await ann.refused("challenge", name="Ann") == "not_yourself"


async def test_two_challenges_that_cross_lead_to_one_match_though_both_are_accepted(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        numbers = []
        for one, other, name in ((ann, bob, "Bob"), (bob, ann, "Ann")):
            await one.ok("challenge", name=name)
            numbers.append((await other.hear("challenged"))["challenge"])
            await one.hear("challenged")
        assert await ann.refused("answer", challenge=numbers[0], accept=True) == "not_yourself"
        asked = [await ann.say("answer", challenge=numbers[1], accept=True)]
        asked.append(await bob.say("answer", challenge=numbers[0], accept=True))
        answers = [await ann.answer(asked[0]), await bob.answer(asked[1])]
        assert sorted(each.get("code", "ok") for each in answers) == ["ok", "unknown_challenge"]
        for peer in (ann, bob):
            assert {(await peer.hear("challengeaccepted"))["challenge"] for _ in numbers} == {*numbers}
        assert (await ann.hear("snapshot"))["match"] == (await bob.hear("snapshot"))["match"]
        assert await server.execute("SELECT count(*) FROM matches") == [(1,)]


async def test_the_other_challenges_of_a_person_end_when_their_match_begins_and_those_of_a_bot_do_not(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as server:
        ann, bob, cid = [await server.join(name) for name in ("Ann", "Bob", "Cid")]
        rob = await server.join("Rob", bot="random", places=2)
        for asker, code in ((ann, "unknown_challenge"), (rob, None)):
            await asker.ok("challenge", name="Bob")
            await asker.ok("challenge", name="Cid")
            to_bob, to_cid = [(await each.hear("challenged"))["challenge"] for each in (bob, cid)]
            await bob.ok("answer", challenge=to_bob, accept=True)
            await bob.hear("snapshot")
            if code is None:
                await cid.ok("answer", challenge=to_cid, accept=True)
                continue
            assert await cid.refused("answer", challenge=to_cid, accept=True) == code
            for peer in (asker, cid):
                assert (await peer.hear("challengeover", challenge=to_cid))["reason"] == "expired"


async def test_a_friend_joins_by_the_code_and_nobody_else_sees_the_match(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob, eve = [await server.join(name) for name in ("Ann", "Bob", "Eve")]
        await ann.ok("invite", game="tictactoe")
        code = (await ann.hear("invitation"))["code"]
        assert await ann.refused("join", code=code) == "not_yourself"
        await bob.ok("join", code=f" {code.lower()} ")
        match = (await bob.hear("snapshot"))["match"]
        assert (await ann.hear("snapshot"))["private"] is True
        assert await eve.refused("join", code=code) == "unknown_code"
        assert await eve.refused("watch", match=match) == "not_public"
        assert await eve.refused("watch", match=match, code="BCDFGH") == "unknown_code"
        await eve.ok("matches")
        assert (await eve.hear("live"))["count"] == 0


async def test_an_invitation_code_survives_a_restart_and_works_only_once(tmp_path: Path) -> None:
    asked = {
        "game": "connect4",
        "time": {"initial_ms": 60_000},
        "side": 1,
        "start": "......./......./......./......./......./XO.....",
    }
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        await ann.ok("invite", game="gomoku")
        old = (await ann.hear("invitation"))["code"]
        await ann.ok("invite", **asked)
        code = (await ann.hear("invitation"))["code"]
        await server.execute("PRAGMA query_only = ON")
        assert await bob.refused("invite") == "storage"
        tokens = ann.token, bob.token
    async with running(tmp_path) as server:
        ann, bob = await server.connect(), await server.connect()
        await bob.hello(token=tokens[1])
        assert await bob.refused("join", code=code) == "opponent_gone"
        await ann.hello(token=tokens[0])
        assert await bob.refused("join", code=old) == "unknown_code"
        await bob.ok("join", code=code)
        snapshot = await ann.hear("snapshot")
        assert {"you": 1, "time": asked["time"], "start": asked["start"], "code": code}.items() <= snapshot.items()
        await ann.ok("invite")
        late = (await ann.hear("invitation"))["code"]
        server.clock.offset_ms += 3_600_000
        await bob.ok("invite")  # which forgets what is too old
        await server.flushed()
        assert len(await server.execute("SELECT * FROM invitations")) == 1
    async with running(tmp_path) as server:
        cid = await server.join("Cid")
        for each in (code, late):
            assert await cid.refused("join", code=each) == "unknown_code"


async def test_a_code_is_good_as_long_as_no_other_is_written_down_and_its_maker_is_not_forgotten(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as server:
        ann, bob, cid = [await server.join(name) for name in ("Ann", "Bob", "Cid")]
        await ann.ok("invite")
        code = (await ann.hear("invitation"))["code"]
        await server.execute("PRAGMA query_only = ON")
        assert await ann.refused("invite") == "storage"
        await server.execute("PRAGMA query_only = OFF")
        await bob.ok("join", code=code)
        await cid.ok("invite")
        code = (await cid.hear("invitation"))["code"]
        await cid.ok("forget", name="Cid")
        assert await bob.refused("join", code=code) == "unknown_code"


async def test_of_two_who_join_by_one_code_at_once_the_second_waits_and_learns_that_it_was_used(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob, cid = [await server.join(name) for name in ("Ann", "Bob", "Cid")]
        await ann.ok("invite", game="tictactoe")
        code = (await ann.hear("invitation"))["code"]
        with server.stopped_disk():
            await bob.ok("join", code=code)
            asked = await cid.say("join", code=code.lower())
            await cid.ok("ping")
        assert (await cid.answer(asked))["code"] == "unknown_code"
        assert (await bob.hear("snapshot"))["match"]


async def test_a_code_is_not_spent_on_a_match_that_cannot_be_written_down(tmp_path: Path) -> None:
    """Nothing new fits on the disk, but what is there can still be deleted."""
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        await ann.ok("invite")
        code = (await ann.hear("invitation"))["code"]
        full = "CREATE TEMP TRIGGER planted BEFORE INSERT ON matches BEGIN SELECT raise(ABORT, 'full'); END"
        await server.execute(full)
        await bob.ok("join", code=code)
        assert [await peer.close_code() for peer in (ann, bob)] == [1011, 1011]
        await server.execute("DROP TRIGGER planted")
        tokens = ann.token, bob.token
        ann, bob = await server.connect(), await server.connect()
        for peer, token in zip((ann, bob), tokens, strict=True):
            await peer.hello(token=token)
        await bob.ok("join", code=code)
        await ann.hear("snapshot")
        assert await server.execute("SELECT * FROM invitations") == []


async def test_invitations_that_could_not_be_read_at_the_start_are_good_once_they_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seed 3 of the simulation found that they never were."""
    async with running(tmp_path) as server:
        ann = await server.join("Ann")
        await ann.ok("invite", game="tictactoe")
        code = (await ann.hear("invitation"))["code"]
    monkeypatch.setattr(matchmaker, "RETRY_S", 0.0)
    read, tries = queries.read_invitations, 0

    def fail_twice(connection: sqlite3.Connection, now_ms: int) -> list[Invitation]:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise sqlite3.OperationalError("disk I/O error")
        return read(connection, now_ms)

    monkeypatch.setattr(queries, "read_invitations", fail_twice)
    async with running(tmp_path) as server:
        again, bob = await server.connect(), await server.join("Bob")
        await again.hello(token=ann.token)
        await until(lambda: server.hub.lobby.is_code(code, server.clock()))
        await bob.ok("join", code=code)


async def test_an_invitation_may_name_the_side_and_the_position_to_begin_from(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob = [await server.join(name) for name in ("Ann", "Bob")]
        for start in ("XXX/OO./...", "nonsense"):
            assert await ann.refused("invite", start=start) == "bad_notation"
        assert await ann.refused("invite", side=2) == "bad_message"
        for side in (0, 1):
            await ann.ok("invite", side=side, start="x--/-o-/--x")
            await bob.ok("join", code=(await ann.hear("invitation"))["code"])
            snapshot = await ann.hear("snapshot")
            assert snapshot["you"] == side
            assert snapshot["start"] == "X../.O./..X"
            assert snapshot["position"]["board"] == "X...O...X"
            assert snapshot["position"]["to_move"] == 1
            await bob.hear("snapshot")
            await (ann, bob)[side == 0].ok("play", match=snapshot["match"], ply=0, move=1)
            await ann.ok("resign", match=snapshot["match"])
            for peer in (ann, bob):
                await peer.hear("ended")
        await ann.ok("invite", start=".../.../...")
        await bob.ok("join", code=(await ann.hear("invitation"))["code"])
        assert "start" not in await ann.hear("snapshot")


async def test_a_bot_is_challenged_to_play_on_from_a_position_with_a_side(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, mia = await server.join("Ann"), await server.join("Mia", bot="minimax", any_level=True)
        await server.join("Bob")
        assert await ann.refused("challenge", name="Bob", start="X../.O./..X") == "not_welcome"
        assert await ann.refused("challenge", name="Mia", start="XXX/OO./...") == "bad_notation"
        for more in ({"start": "....../" * 5 + "......."}, {"side": 0}):
            assert await ann.refused("challenge", name="Mia", game="connect4", rated=True, **more) == "always_casual"
        for side in (0, 1):
            await ann.ok("challenge", name="Mia", start="x--/-o-/--x", side=side, level=3)
            challenged = await mia.hear("challenged")
            assert (challenged["start"], challenged["level"]) == ("X../.O./..X", 3)
            await mia.ok("answer", challenge=challenged["challenge"], accept=True)
            snapshot = await ann.hear("snapshot")
            assert (snapshot["you"], snapshot["start"]) == (side, "X../.O./..X")
            assert snapshot["position"]["to_move"] == 1
            assert snapshot["players"][1 - side] == {"name": "Mia", "bot": "minimax", "level": 3}
            await ann.ok("resign", match=snapshot["match"])
            await mia.hear("ended")


async def test_guessing_codes_is_slow_also_for_one_who_comes_back(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(codes=Rate(3, 60.0))) as server:
        server.clock.stand_still()
        eve = await server.join("Eve")
        for _ in range(3):
            assert await eve.refused("join", code="BCDFGH") == "unknown_code"
        assert await eve.refused("join", code="BCDFGH") == "too_fast"
        await eve.close()
        server.tick(0)
        again = await server.connect()
        await again.hello(token=eve.token)
        assert await again.refused("join", code="BCDFGH") == "too_fast"


async def test_a_watcher_receives_the_players_events_and_is_counted(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair()
        eve = await server.join("Eve")
        await eve.ok("matches")
        (row,) = (await eve.hear("live"))["matches"]
        assert (row["match"], row["watchers"]) == (match, 0)
        await eve.ok("watch", match=match)
        assert "you" not in await eve.hear("snapshot", match=match)
        assert (await first.hear("watching"))["watchers"] == 1
        await first.ok("play", match=match, ply=0, move=4)
        assert await eve.hear("played") == await second.hear("played")
        assert await eve.refused("play", match=match, ply=1, move=0) == "not_seated"
        await eve.ok("unwatch", match=match)
        assert (await second.hear("watching", watchers=0))["match"] == match
        assert await eve.refused("unwatch", match=match) == "not_watching"
        assert await first.refused("watch", match=match) == "not_watching"


async def test_a_seek_outlives_a_lost_link_but_not_a_goodbye(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        await ann.ok("seek", games=["connect4"])
        ann.abort()
        await until(lambda: len(server.sessions) == 1)
        await bob.ok("seek", games=["connect4"], opponents="people")
        again = await server.connect()
        welcome = await again.hello(token=ann.token)
        assert (welcome["seek"]["games"], welcome["seek"]["by"]) == (["connect4"], {"name": "Ann"})
        assert (await again.hear("snapshot"))["match"] == (await bob.hear("snapshot"))["match"]
        carl = await server.join("Carl")
        await carl.ok("seek")
        await carl.close()
        await until(lambda: len(server.sessions) == 2)
        back = await server.connect()
        assert "seek" not in await back.hello(token=carl.token)
        assert await back.refused("unseek") == "not_seeking"


async def test_a_seek_asks_for_ratings_and_who_does_not_have_them_is_not_welcome(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        await ann.ok("seek", games=["connect4"], min_rating=1600, max_rating=2000)
        await bob.ok("seek", games=["connect4"])
        await bob.ok("lobby", on=True)
        row = (await bob.hear("seeks", count=2))["seeks"][0]
        assert (row["min_rating"], row["max_rating"]) == (1600, 2000)
        assert await bob.refused("accept", seek=row["seek"]) == "not_welcome"


async def test_waiting_makes_two_meet_who_were_too_far_apart_at_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as server:
        server.clock.stand_still()
        ann, bob = await server.join("Ann"), await server.join("Bob")
        ratings = {server.player_of("Ann"): 1_200, server.player_of("Bob"): 1_900}
        monkeypatch.setattr(Session, "rating_at", lambda session, game, time: ratings[session.player])
        await ann.ok("seek", games=["connect4"])
        await bob.ok("seek", games=["connect4"])
        await ann.ok("ping")
        assert not [message for message in ann.heard if message["type"] == "snapshot"]
        server.later(3_000)
        assert (await ann.hear("snapshot"))["match"] == (await bob.hear("snapshot"))["match"]


async def test_a_bot_for_people_only_always_rejects_bots(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        await server.join("Rob", bot="alphabeta", places=2, reserved=2)
        other = await server.join("Zed", bot="random")
        refusal = await other.ask("challenge", name="Rob")
        assert (refusal["code"], refusal["message"]) == ("not_welcome", "Rob plays people only")
        assert "retry_after_ms" not in refusal, "it would never come true"


async def test_a_bot_plays_as_many_as_it_has_places_and_keeps_some_for_people(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        rob = await server.join("Rob", bot="alphabeta", level=3, places=2, reserved=1)
        other = await server.join("Zed", bot="random", places=5)
        await rob.ok("seek")
        await rob.ok("who")
        row = (await rob.hear("players"))["players"][0]
        assert (row["bot"], row["level"], row["places"], row["free"]) == ("alphabeta", 3, 2, 2)
        await other.ok("seek")  # the place that is not reserved
        await rob.hear("snapshot")
        await rob.ok("seek")
        await other.ok("seek")
        assert await other.refused("challenge", name="Rob") == "too_many_matches"
        ann, bob = await server.join("Ann"), await server.join("Bob")
        await ann.ok("challenge", name="Rob")
        number = (await rob.hear("challenged"))["challenge"]
        await bob.ok("challenge", name="Rob")
        late = (await rob.hear("challenged"))["challenge"]
        await rob.ok("answer", challenge=number, accept=True)
        assert (await ann.hear("snapshot"))["players"]
        assert await rob.refused("answer", challenge=late, accept=True) == "too_many_matches"
        assert await rob.refused("seek") == "too_many_matches"
        assert await bob.refused("challenge", name="Rob") == "too_many_matches"


async def test_a_bot_that_says_nothing_of_places_plays_one_at_a_time(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        rob, ann = await server.join("Rob", bot="random"), await server.join("Ann")
        await server.match(rob, ann)
        assert await rob.refused("seek") == "too_many_matches"
        assert await (await server.join("Bob")).refused("challenge", name="Rob") == "too_many_matches"


async def test_a_bot_whose_adjourned_match_goes_on_waits_for_nobody_else(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.match(
            await server.join("Rob", bot="random"), await server.join("Ann"), games=["gomoku"]
        )
        rob, ann = (first, second) if first.name == "Rob" else (second, first)
        await ann.close()
        away = (await rob.hear("presence", online=False))["away"]
        server.later(away["claim_in_ms"] + 1)
        await rob.ok("claim", match=match, kind="adjourn")
        await rob.ok("seek")
        again = await server.connect()
        await again.hello(token=ann.token)
        await again.resume(match)
        await (rob if first is rob else again).ok("play", match=match, ply=0, move=0)
        bob, cid = await server.join("Bob"), await server.join("Cid")
        await bob.ok("lobby", on=True)
        (listed,) = (await bob.hear("seeks"))["seeks"]
        assert await bob.refused("accept", seek=listed["seek"]) == "too_many_matches"
        await bob.ok("seek", games=["gomoku"])
        await cid.ok("seek", games=["connect4"])
        await again.ok("resign", match=match)
        for peer in (rob, bob):
            assert (await peer.hear("snapshot", moves=[]))["game"]["name"] == "gomoku", "who has waited longest"
        await cid.ok("unseek")


async def test_a_lonely_seeker_is_offered_the_bots_that_play_their_game(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        for name, bot_fields in {
            "Abe": {"places": 1},
            "Four": {"places": 2, "level": 2},
            "Full": {"places": 0},
            "Qube": {"places": 1},
            "League": {"places": 3},
        }.items():
            bot = await server.join(name, bot="random", **bot_fields)
            if name != "Full":
                games = {"Abe": [], "Four": ["connect4", "gomoku"], "Qube": ["qubic"], "League": []}[name]
                whom = "bots" if name == "League" else "people"
                await bot.ok("seek", games=games, opponents=whom, time={"initial_ms": 1_000})
        ann = await server.join("Ann")
        await ann.ok("who")
        assert {each["name"]: each.get("free") for each in (await ann.hear("players"))["players"]} == {
            **{"Abe": 1, "Ann": None, "Four": 2, "Full": 0, "Qube": 1},
            "League": 0,
        }, "what a person could have"
        await ann.ok("seek", games=["connect4"], opponents="any")
        server.later(5_000)
        bots = (await ann.hear("suggestion"))["bots"]
        assert [(each["name"], each["free"]) for each in bots] == [("Four", 2), ("Abe", 1)]
        server.later(60_000)
        await ann.ok("unseek")
        assert "suggestion" not in [message["type"] for message in ann.heard]


async def test_rated_seeks_meet_rated_seeks_and_the_match_is_rated(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        assert await ann.refused("seek", rated=True) == "always_casual"
        assert await ann.refused("seek", games=["gomoku", "tictactoe"], rated=True) == "always_casual"
        assert await ann.refused("challenge", name="Bob", rated=True) == "always_casual"
        await (await server.join("Carl")).ok("seek", games=["gomoku"])
        first, second, match = await server.match(ann, bob, games=["gomoku"], rated=True)
        await second.ok("lobby", on=True)
        (row,) = [each for each in (await second.hear("live"))["matches"] if each["match"] == match]
        assert row["rated"] is True
        await open_rated(first, second, match, [0, 1, 2, 3])
        await first.ok("resign", match=match)
        change = (await second.hear("rated", match=match))["ratings"]
        assert change[0]["after"] < 1500 < change[1]["after"]
        await first.ok("challenge", name=second.name, game="gomoku", rated=True)
        told = await second.hear("challenged")
        assert told["rated"] is True
        assert [told[who]["rating"] for who in ("by", "to")] == [each["after"] for each in change]
        await second.ok("answer", challenge=told["challenge"], accept=True)
        snapshot = await first.hear("snapshot", rated=True)
        assert {player["rating"] for player in snapshot["players"]} == {each["after"] for each in change}


async def test_a_private_match_is_watched_with_its_code_and_so_is_the_rematch(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob, eve = [await server.join(name) for name in ("Ann", "Bob", "Eve")]
        await ann.ok("invite", game="tictactoe")
        await bob.ok("join", code=(await ann.hear("invitation"))["code"])
        snapshot = await bob.hear("snapshot")
        match, code = snapshot["match"], snapshot["code"]
        assert "code" not in await watched(eve, match, code)
        await ann.ok("resign", match=match)
        for peer in (ann, bob):
            await peer.ok("offer", match=match, kind="rematch")
        following = (await eve.hear("rematched"))["next"]
        assert (await bob.hear("snapshot", match=following))["code"] == code
        await watched(eve, following, code.lower())


async def watched(watcher: Peer, match: str, code: str) -> Message:
    """Watch a private match and return its snapshot."""
    await watcher.ok("watch", match=match, code=code)
    return await watcher.hear("snapshot", match=match)


async def test_a_series_keeps_its_score_and_whether_it_is_rated(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair(games=["gomoku"], rated=True)
        await open_rated(first, second, match, [0, 1, 2, 3])
        await first.ok("resign", match=match)
        for peer in (first, second):
            await peer.ok("offer", match=match, kind="rematch")
        snapshot = await first.hear("snapshot", previous=match)
        assert snapshot["players"][0]["name"] == second.name
        assert (snapshot["score"], snapshot["rated"]) == ([1, 0], True)
        ratings = [player["rating"] for player in snapshot["players"]]
        assert ratings[0] > 1500 > ratings[1], "as they are after the match before"


async def test_a_server_among_friends_may_take_any_name_that_can_be_shown(tmp_path: Path) -> None:
    async with running(tmp_path / "strict") as server:
        peer = await server.connect()
        assert await peer.refused("hello", protocols=[1], name="X") == "bad_name"
    async with running(tmp_path / "free", Limits(free_names=True)) as server:
        peer = await server.connect()
        await peer.ok("hello", protocols=[1], name="X")
        assert (await peer.hear("welcome"))["you"]["name"] == "X"
        await peer.ok("rename", name="Ö & X")
        assert (await peer.hear("renamed"))["you"]["name"] == "Ö & X"
        assert await peer.refused("rename", name="deleted") == "bad_name"
        peer = await server.connect()
        assert await peer.refused("hello", protocols=[1], name="\x1b") == "bad_name"


async def test_the_strongest_rated_match_is_featured_else_the_most_watched(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        eve = await server.join("Eve")

        async def featured() -> str:
            await eve.ok("matches")
            rows = (await eve.hear("live"))["matches"]
            assert [row.get("featured", False) for row in rows] == [True] + [False] * (len(rows) - 1)
            return str(rows[0]["match"])

        _, _, quiet = await server.pair("Ann", "Bob")
        _, _, watched = await server.pair("Carl", "Dora")
        await eve.ok("watch", match=watched)
        assert await featured() == watched
        first, second, rated = await server.pair("Emil", "Fay", games=["gomoku"], rated=True)
        await open_rated(first, second, rated, [0, 1, 2, 3])
        await first.ok("resign", match=rated)
        for peer in (first, second):
            await peer.ok("offer", match=rated, kind="rematch")
        following = (await first.hear("rematched"))["next"]
        assert await featured() == following, "both have ratings by now"
        assert quiet != following


async def test_a_match_in_which_nobody_moves_is_featured_no_more(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        eve = await server.join("Eve")
        _, _, watched = await server.pair("Carl", "Dora")
        await eve.ok("watch", match=watched)
        first, _, moving = await server.pair("Ann", "Bob")

        async def listed() -> list[str]:
            await eve.ok("matches")
            return [row["match"] for row in (await eve.hear("live"))["matches"]]

        assert await listed() == [watched, moving]
        server.later(MOVING_MS + 1)
        assert await listed() == [watched, moving], "where none moves, the most watched is as good as any"
        await first.ok("play", match=moving, ply=0, move=4)
        server.later(3_000)
        assert await listed() == [moving, watched]


async def test_one_address_does_not_fill_the_lists_of_a_crowd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ttt_net.server.matchmaking.listing.MAX_LISTED", 4)
    monkeypatch.setattr("ttt_net.server.matchmaking.listing.SHARE", 2)
    async with running(tmp_path) as server:
        eve = await server.join("Eve")
        for number, game in enumerate(("gomoku", "connect4", "qubic", "ultimate", "misere", "wild")):
            peer = await server.join(f"Zoe{number}")
            server.connection_of(f"Zoe{number}").metered_as = "192.0.2.1"
            await peer.ok("seek", games=[game])
        ann = await server.join("Ann")
        await ann.ok("seek", games=["tictactoe"])
        await eve.ok("lobby", on=True)
        told = await eve.hear("seeks")
        assert told["count"] == 7
        assert [row["by"]["name"] for row in told["seeks"]] == ["Zoe0", "Zoe1", "Zoe2", "Ann"]
        names = [row["name"] for row in (await eve.hear("players"))["players"]]
        assert names == ["Ann", "Eve", "Zoe4", "Zoe5"]
        for number in range(6):
            server.connection_of(f"Zoe{number}").metered_as = None  # as it was counted when it came


def test_shares_go_round_until_a_list_is_full() -> None:
    crowd = ["a"] * 30 + ["b"] * 12 + ["c"]
    assert shared(crowd, str, 24) == ["a"] * 13 + ["b"] * 10 + ["c"]
    assert shared(crowd, str, 100) == crowd
    assert shared(crowd, lambda _: None, 24) == crowd[:24], "nobody is metered"


def test_of_a_crowd_from_everywhere_no_more_are_looked_at_than_are_listed() -> None:
    crowd = iter(range(2_000))
    assert shared(crowd, str, 100) == list(range(100))
    assert next(crowd) == 100


async def test_suggestions_to_a_crowd_leave_others_their_turns(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        bot = await server.join("Mia", bot="any")
        await bot.ok("seek", opponents="people", time={"initial_ms": 1_000})
        crowd = [await server.join(f"P{number}") for number in range(5)]
        for number, peer in enumerate(crowd):
            await peer.ok("seek", games=[f"mnk:4x{4 + number},3"])
        server.clock.offset_ms += 5_000
        server.hub.tick(0)
        assert len(server.hub.turns) == len(crowd), "one in each pass of the event loop"
        await crowd[-1].ok("unseek")
        for peer in crowd[:-1]:
            await peer.hear("suggestion")


async def test_waiting_pairs_nobody_while_the_server_is_about_to_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        ratings = {server.player_of("Ann"): 1_200, server.player_of("Bob"): 1_900}
        monkeypatch.setattr(Session, "rating_at", lambda session, game, time: ratings[session.player])
        for peer in (ann, bob):
            await peer.ok("seek", games=["connect4"])
        assert server.rooms == {}
        server.hub.services.shutdown.drain()
        server.later(60_000)
        await server.flushed()
        assert server.rooms == {}


async def test_a_seek_does_not_wait_for_a_bot_that_comes_back_without_a_place_or_as_a_person(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        for number, who in enumerate(({"bot": "random", "places": 0}, {})):
            rob = await server.join(f"Rob{number}", bot="random", places=1)
            await rob.ok("seek", games=["connect4"])
            rob.abort()
            await until(lambda: not server.sessions)
            back = await server.connect()
            assert "seek" not in await back.hello(token=rob.token, **who)
            assert await back.refused("unseek") == "not_seeking"
            await back.close()
            await until(lambda: not server.sessions)


async def test_of_a_crowd_those_are_listed_who_have_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ttt_net.server.matchmaking.listing.MAX_LISTED", 2)

    async def listed(peer: Peer) -> set[str]:
        await peer.ok("who")
        told = await peer.hear("players")
        assert told["online"] == 4
        return {row["name"] for row in told["players"]}

    async with running(tmp_path) as server:
        first, second, match = await server.pair("Ann", "Bob")
        yan, _ = await server.join("Yan"), await server.join("Zoe")
        assert await listed(yan) == {"Yan", "Zoe"}
        await first.ok("resign", match=match)
        await second.hear("ended")
        assert await listed(yan) == {"Ann", "Bob"}


MIA = {"bot": "beginner", "level": 1, "places": 4, "any_level": True, "on_request": True, "about": "likes\x1b corners"}


async def test_a_bot_plays_at_the_level_that_a_challenge_asks_for_and_says_so(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        mia, ann, bob = await server.join("Mia", **MIA), await server.join("Ann"), await server.join("Bob")
        await ann.ok("who")
        (row,) = [each for each in (await ann.hear("players"))["players"] if each["name"] == "Mia"]
        assert (row["level"], row["any_level"], row["about"]) == (1, True, "likes corners")
        for asked in (6, None):
            await ann.ok("challenge", name="Mia", game="connect4", level=asked)
            told = await mia.hear("challenged")
            assert told.get("level") == asked
            await mia.ok("answer", challenge=told["challenge"], accept=True)
            match = await ann.hear("snapshot")
            assert match["players"][1 - match["you"]] == {"name": "Mia", "bot": "beginner", "level": asked or 1}
            await ann.ok("resign", match=match["match"])
            await ann.hear("ended")
            await mia.hear("ended")
        assert await ann.refused("challenge", name="Mia", game="connect4", level=6, rated=True) == "always_casual"
        assert await ann.refused("challenge", name="Bob", level=6) == "not_welcome"
        await server.join("Rob", bot="alphabeta", level=3)
        assert await ann.refused("challenge", name="Rob", level=6) == "not_welcome"
        await ann.ok("challenge", name="Rob", level=3)
        await bob.close()


async def test_a_rematch_is_played_at_the_same_level(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        mia, ann = await server.join("Mia", **MIA), await server.join("Ann")
        await ann.ok("challenge", name="Mia", level=5)
        await mia.ok("answer", challenge=(await mia.hear("challenged"))["challenge"], accept=True)
        match = (await ann.hear("snapshot"))["match"]
        await ann.ok("resign", match=match)
        for peer in (ann, mia):
            await peer.ok("offer", match=match, kind="rematch")
        again = await ann.hear("snapshot", match=f"{match}-2")
        assert again["players"][1 - again["you"]]["level"] == 5


async def test_a_bot_on_request_never_takes_the_place_of_a_person(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        mia, ann, bob, cleo = [
            await server.join(name, **(MIA if name == "Mia" else {})) for name in ("Mia", "Ann", "Bob", "Cleo")
        ]
        await mia.ok("seek", games=[], opponents="people")
        await ann.ok("seek", games=["gomoku"], opponents="any")
        await bob.ok("seek", games=["gomoku"], opponents="any")
        match = await ann.hear("snapshot")
        assert {player["name"] for player in match["players"]} == {"Ann", "Bob"}
        await cleo.ok("seek", games=["gomoku"], opponents="bots", level=4)
        match = await cleo.hear("snapshot")
        assert match["players"][1 - match["you"]] == {"name": "Mia", "bot": "beginner", "level": 4}


async def test_a_seek_with_a_level_is_for_bots_that_play_at_it(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        rob, ann = await server.join("Rob", bot="alphabeta", level=3), await server.join("Ann")
        await rob.ok("seek", games=["gomoku"])
        await ann.ok("seek", games=["gomoku"], level=5)
        await ann.ok("lobby", on=True)
        seeks = (await ann.hear("seeks"))["seeks"]
        assert [(seek["by"]["name"], seek.get("level")) for seek in seeks] == [("Rob", None), ("Ann", 5)]
        assert await rob.refused("accept", seek=seeks[1]["seek"]) == "not_welcome"
        assert await ann.refused("seek", games=["connect4"], level=5, rated=True) == "always_casual"
        await ann.ok("seek", games=["gomoku"], level=3)
        assert (await ann.hear("snapshot"))["game"]["name"] == "gomoku"


async def test_bots_are_not_counted_as_people(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        await server.join("Mia", **MIA)
        ann = await server.join("Ann")
        assert server.hub.census() == (1, 0)
        await ann.close()
        await until(lambda: server.hub.census() == (0, 0))


async def test_the_bots_that_are_suggested_are_the_nearest_in_strength_first(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        for name, level in {"Mia": 1, "Tom": 3, "Nora": 5, "Max": None}.items():
            bot = await server.join(name, bot="any", level=level)
            await bot.ok("seek", opponents="people", time={"initial_ms": 1_000})
        ann = await server.join("Ann")
        for rating, expected in ((None, ["Mia", "Tom", "Nora", "Max"]), (1_480, ["Nora", "Tom", "Mia", "Max"])):
            if rating is not None:
                (session,) = [each for each in server.hub.services.players.sessions.values() if not each.is_bot]
                session.rated("connect4", None, RatingChange(0, rating))
            await ann.ok("seek", games=["connect4"])
            server.later(5_000)
            assert [each["name"] for each in (await ann.hear("suggestion"))["bots"]] == expected


async def test_a_crowd_of_seeks_is_looked_at_in_several_turns_after_one_tick(tmp_path: Path) -> None:
    crowd = MOST_IN_TURN + 5
    async with running(tmp_path, Limits(players_per_address=1_000)) as server:
        server.clock.stand_still()
        for number in range(crowd):
            peer = await server.join(f"Player {number}")
            await peer.ok("seek", games=["qubic"], min_rating=3_900)
        seeks = server.hub.lobby.seeks
        server.later(BANDS[1][0])
        assert seeks.is_behind(server.clock())
        await until(lambda: not seeks.is_behind(server.clock()))
        assert len(seeks) == crowd
