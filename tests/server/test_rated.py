"""Rated matches over real sockets: both hear what the end did to their ratings, and it outlives a restart."""

from pathlib import Path
from typing import Any

from tests.server.rated import open_rated, rated_match
from tests.server.running import running
from ttt_net.clock import TimeControl
from ttt_net.matches.referee import RATED_PLIES
from ttt_net.server.settings.configuration import Configuration, Limits


async def test_players_and_watchers_receive_the_changes_of_ratings(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob, cleo = [await server.join(name) for name in ("Ann", "Bob", "Cleo")]
        await rated_match(server, ann, bob, "m")
        await cleo.ok("watch", match="m")
        await ann.ok("resign", match="m")
        for peer in (ann, bob, cleo):
            await peer.hear("ended", match="m")
            told = await peer.hear("rated", match="m")
            assert [change["before"] for change in told["ratings"]] == [1500, 1500]
            assert told["ratings"][0]["after"] < 1500 < told["ratings"][1]["after"]
            assert [change["provisional"] for change in told["ratings"]] == [True, True]
        after = told["ratings"][1]["after"]
        (session,) = (each for each in server.sessions.values() if each.info.name == "Bob")
        assert session.rating_at("connect4", TimeControl(180_000)) == after
        assert session.info_at("connect4", TimeControl(180_000)).rating == after
        assert session.info_at("connect4", None).rating is None
        assert session.rating_at("connect4", None) == 1500
        token = bob.token
    async with running(tmp_path) as server:
        again = await server.connect()
        await again.hello(token=token)
        (session,) = server.sessions.values()
        assert session.rating_at("connect4", TimeControl(180_000)) == after


async def test_an_aborted_match_is_not_rated(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob = [await server.join(name) for name in ("Ann", "Bob")]
        await rated_match(server, ann, bob, "m", plies=RATED_PLIES - 1)
        await ann.ok("abort", match="m")
        await bob.hear("ended", match="m")
        await bob.ok("ping")
        assert "rated" not in [message["type"] for message in bob.heard]


async def test_an_abort_that_crosses_the_fourth_move_is_refused_and_loses_nothing(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob = [await server.join(name) for name in ("Ann", "Bob")]
        await rated_match(server, ann, bob, "m")
        assert await ann.refused("abort", match="m") == "too_late"
        assert (await bob.resume("m")).get("outcome") is None


async def test_a_disk_that_fails_at_the_end_leaves_the_match_live_and_the_ratings_as_they_were(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob = [await server.join(name) for name in ("Ann", "Bob")]
        await rated_match(server, ann, bob, "m")
        await server.execute(
            "CREATE TEMP TRIGGER planted BEFORE INSERT ON ratings BEGIN SELECT raise(ABORT, 'full'); END"
        )
        assert await ann.refused("resign", match="m") == "storage"
        assert (await bob.resume("m")).get("outcome") is None
        assert await server.execute("SELECT count(*) FROM ratings") == [(0,)]
        await server.execute("DROP TRIGGER planted")
        await ann.ok("resign", match="m")
        await bob.hear("rated", match="m")


async def test_a_host_may_have_no_rated_match_between_two_of_one_address(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(rated_same_address=False)) as server:
        ann, bob, cleo = [await server.join(name) for name in ("Ann", "Bob", "Cleo")]
        (elsewhere,) = (each for each in server.sessions.values() if each.info.name == "Cleo")
        elsewhere.connection.address = "192.0.2.7"
        assert await ann.refused("challenge", name="Bob", game="gomoku", rated=True) == "always_casual"
        await ann.ok("challenge", name="Bob", game="gomoku")
        for peer in (ann, bob):
            await peer.ok("seek", games=["gomoku"], rated=True)
        await bob.ok("lobby", on=True)
        seeks = (await bob.hear("seeks", count=2))["seeks"]
        (number,) = (seek["seek"] for seek in seeks if seek["by"]["name"] == "Ann")
        assert await bob.refused("accept", seek=number) == "always_casual"
        await cleo.ok("seek", games=["gomoku"], rated=True)
        snapshot = await cleo.hear("snapshot")
        assert snapshot["rated"]
        assert {player["name"] for player in snapshot["players"]} == {"Ann", "Cleo"}


async def test_seeks_for_rated_or_casual_matches_are_never_refused(tmp_path: Path) -> None:
    both: dict[str, Any] = {"rated": True, "or_casual": True}
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        guest = await server.connect()
        await guest.hello()
        for peer in (ann, bob):
            await peer.ok("seek", games=["connect4"], **both)
        assert (await ann.hear("snapshot")).get("rated") is True
        await ann.ok("seek", games=["tictactoe"], **both)
        await bob.ok("lobby", on=True)
        (row,) = (await bob.hear("seeks"))["seeks"]
        assert not row.get("rated"), "the game has no ratings"
        await ann.ok("seek", games=["gomoku"], **both)
        (row,) = (await bob.hear("seeks"))["seeks"]
        assert (row["rated"], row["or_casual"]) == (True, True)
        await guest.ok("accept", seek=row["seek"])
        snapshot = await guest.hear("snapshot")
        assert (snapshot["game"]["name"], snapshot.get("rated", False)) == ("gomoku", False)
        mia = await server.join("Mia", bot="beginner", level=1, places=4)
        for peer, name, is_rated in ((bob, "Ann", True), (guest, "Ann", False), (mia, "Bob", False)):
            await peer.ok("challenge", name=name, game="connect4", **both)
            assert (await peer.hear("challenged")).get("rated", False) is is_rated
        assert await guest.refused("challenge", name="Ann", game="connect4", rated=True) == "always_casual"


BOTH: dict[str, Any] = {"rated": True, "or_casual": True}


async def test_bots_that_ask_for_rated_or_casual_matches_are_rated_among_themselves(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann = await server.join("Ann")
        max_, zoe = [await server.join(name, bot="sdk", places=1) for name in ("Max", "Zoe")]
        for peer in (max_, zoe):
            await peer.ok("seek", games=["connect4"], **BOTH)
        snapshot = await max_.hear("snapshot")
        assert snapshot["rated"]
        first, second = (max_, zoe) if snapshot["you"] == 0 else (zoe, max_)
        await open_rated(first, second, snapshot["match"], snapshot["position"]["legal"], plies=4)
        await second.ok("resign", match=snapshot["match"])
        await first.hear("rated")
        for who, names in (({}, [first.name, second.name]), ({"people": False}, [first.name, second.name])):
            await ann.ok("leaderboard", game="connect4", **who)
            assert [row["player"]["name"] for row in (await ann.hear("leaderboard"))["leaders"]] == names
        await ann.ok("leaderboard", game="connect4", bots=False)
        assert (await ann.hear("leaderboard"))["leaders"] == [], "people's list is not touched"
        assert await ann.refused("leaderboard", game="connect4", bots=False, people=False) == "bad_message"


async def test_a_bot_that_asks_for_rated_matches_with_its_like_plays_people_casually(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, max_ = await server.join("Ann"), await server.join("Max", bot="sdk", places=1)
        await max_.ok("seek", games=["connect4"], **BOTH)
        await ann.ok("seek", games=["connect4"], rated=True)
        await ann.ok("lobby", on=True)
        seeks = (await ann.hear("seeks", count=2))["seeks"]
        assert len(seeks) == 2, "one wants a rated match, which the other wants with bots alone"
        (number,) = (row["seek"] for row in seeks if row["by"]["name"] == "Max")
        await ann.ok("accept", seek=number)
        assert (await ann.hear("snapshot")).get("rated", False) is False
        await max_.hear("snapshot")


async def test_two_of_one_address_play_casually_where_the_host_has_it_so(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(rated_same_address=False)) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        for peer in (ann, bob):
            await peer.ok("seek", games=["connect4"], rated=True, or_casual=True)
        assert (await ann.hear("snapshot")).get("rated", False) is False


async def test_names_that_are_thrown_away_win_no_place_on_a_public_leaderboard(tmp_path: Path) -> None:
    async with running(tmp_path, configuration=Configuration(public=True, behind_proxy=True)) as server:
        ann = await server.join("Ann")
        for number in range(8):
            victim = await server.join(f"Victim {number}")
            assert await victim.refused("challenge", name="Ann", game="connect4", rated=True) == "always_casual"
            (session,) = (each for each in server.sessions.values() if each.info.name == victim.name)
            session.connection.address = f"192.0.2.{number}"
            await victim.ok("challenge", name="Ann", game="connect4", rated=True)
            number = (await ann.hear("challenged", by={"name": victim.name}))["challenge"]
            await ann.ok("answer", challenge=number, accept=True)
            snapshot = await ann.hear("snapshot")
            first, second = (ann, victim) if snapshot["you"] == 0 else (victim, ann)
            await open_rated(first, second, snapshot["match"], snapshot["position"]["legal"], plies=2)
            await victim.ok("resign", match=snapshot["match"])
            assert (await ann.hear("ended", match=snapshot["match"]))["reason"] == "abort"
        assert await server.execute("SELECT count(*) FROM ratings") == [(0,)]
