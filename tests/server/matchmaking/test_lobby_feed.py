"""The live lists of the lobby, over real sockets."""

import asyncio
from itertools import count
from pathlib import Path

import pytest

from tests.server.peer import Message, Peer, said
from tests.server.running import Server, running, until
from ttt_net import messages as wire
from ttt_net.server.admission.fair_shares import FairShares
from ttt_net.server.matchmaking import lobby_feed
from ttt_net.server.matchmaking.lobby_feed import CROWD, LobbyFeed, Subject
from ttt_net.server.metrics import Guard, Metrics
from ttt_net.server.settings.configuration import Limits

SUBJECTS: tuple[Subject, ...] = ("seeks", "players", "live")


@pytest.fixture(autouse=True)
def _short_periods(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lobby_feed, "PERIODS_MS", dict.fromkeys(lobby_feed.PERIODS_MS, 20))


async def lists(peer: Peer) -> dict[str, int]:
    """Return how long each of the three lists is, as they are told at first."""
    await peer.ok("lobby", on=True)
    told = [await peer.hear(subject) for subject in ("seeks", "players", "live")]
    return {each["type"]: each["online" if "online" in each else "count"] for each in told}


def row_of(name: str, told: Message) -> Message:
    return next((row for row in told["players"] if row["name"] == name), {})


async def test_lobby_subscribers_get_the_lists_immediately_and_again_when_they_change(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann = await server.join("Ann")
        assert await lists(ann) == {"seeks": 0, "players": 1, "live": 0}
        bob = await server.join("Bob")
        await bob.ok("seek", games=["connect4"], time={"initial_ms": 180_000})
        (seek,) = (await ann.hear("seeks", count=1))["seeks"]
        assert (seek["by"], seek["games"]) == ({"name": "Bob"}, ["connect4"])
        while row_of("Bob", await ann.hear("players")).get("seeking") != ["connect4"]:
            pass  # the list of before the seek, if it was told in time
        await bob.ok("unseek")
        await ann.hear("seeks", count=0)
        first, _, match = await server.match(bob, await server.join("Carl"))
        (live,) = (await ann.hear("live", count=1))["matches"]
        assert live["match"] == match
        await first.ok("resign", match=match)
        await ann.hear("live", count=0)


async def test_a_seek_is_accepted_from_the_list_and_its_players_get_no_more_lists(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        await bob.ok("seek", games=["connect4"], opponents="people")
        await ann.ok("lobby", on=True)
        (seek,) = (await ann.hear("seeks"))["seeks"]
        assert await (await server.join("Rob", bot="random")).refused("accept", seek=seek["seek"]) == "not_welcome"
        assert await bob.refused("accept", seek=seek["seek"]) == "not_yourself"
        await ann.ok("accept", seek=seek["seek"])
        assert (await ann.hear("snapshot"))["game"]["name"] == "connect4"
        assert await ann.refused("accept", seek=seek["seek"]) == "unknown_seek"
        assert not readers(server)


async def test_nothing_is_sent_after_off_or_without_a_change(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.raw()
        await bob.hello("Bob")
        await lists(ann)
        await bob.send(said("seek", 2) + said("unseek", 3))  # at once, or Ann may hear of it in between
        for _ in range(2):
            await bob.hear("ok")
        await until(lambda: not any(map(board(server).is_pending, SUBJECTS)))
        await ann.ok("ping")
        assert "seeks" not in [message["type"] for message in ann.heard]
        await ann.ok("lobby", on=False)
        await bob.send(said("seek", 4))
        await bob.hear("ok")
        assert not any(map(board(server).is_pending, SUBJECTS))
        assert not readers(server)


async def test_all_readers_of_a_crowd_get_the_same_list(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        crowd = await asyncio.gather(*(server.join(f"P{number}") for number in range(CROWD + 20)))
        for peer in crowd:
            await lists(peer)
        await crowd[0].ok("seek")
        told = [await peer.hear("seeks", count=1) for peer in crowd]
        assert all(each == told[0] for each in told)


async def test_a_slow_reader_gets_the_list_once_they_have_caught_up(tmp_path: Path) -> None:
    limits = Limits(stalled_s=1_000, dead_after_s=1_000)
    async with running(tmp_path, limits) as server:
        slow = await server.raw()
        await slow.hello("Slow")
        await slow.send(said("lobby", on=True))
        connection = server.connection_of("Slow")
        await until(lambda: bool(readers(server)))
        connection.pause_writing()
        bob = await server.join("Bob")
        for games in (["connect4"], ["qubic"]):
            await bob.ok("seek", games=games)
            await until(lambda: not board(server).is_pending("seeks"))
        server.tick(0)
        assert len(board(server).late_readers) == 1
        connection.resume_writing()
        server.tick(0)
        assert not board(server).late_readers
        while not (seeks := (await slow.hear("seeks"))["seeks"]):
            pass
        assert seeks[0]["games"] == ["qubic"], "the list as it is by then"


def board(server: Server) -> LobbyFeed:
    return server.hub.services.feed


def readers(server: Server) -> set[int]:
    return set(board(server).readers)


async def test_the_list_of_matches_is_not_rebuilt_for_each_new_watcher(tmp_path: Path) -> None:
    """It is made from all tables: on a full server a few who come and go would keep it busy with nothing else."""
    async with running(tmp_path) as server:
        _, _, match = await server.pair()
        eve, fay = await server.join("Eve"), await server.join("Fay")
        server.clock.stand_still()
        await fay.ok("matches")
        before = await fay.hear("live")
        for _ in range(3):
            await eve.ok("watch", match=match)
            await fay.ok("matches")
            assert await fay.hear("live") == before
            await eve.ok("unwatch", match=match)
        await eve.ok("watch", match=match)
        server.later(2_000)
        await fay.ok("matches")
        assert (await fay.hear("live"))["matches"][0]["watchers"] == 1


async def test_new_lobby_subscribers_soon_get_changes_made_without_subscribers(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        _, _, match = await server.pair()
        eve, fay, gil = [await server.join(name) for name in ("Eve", "Fay", "Gil")]
        server.clock.stand_still()
        await fay.ok("matches")
        before = await fay.hear("live")
        await eve.ok("watch", match=match)
        await gil.ok("lobby", on=True)
        assert await gil.hear("live") == before, "as it was made a moment ago"
        assert (await gil.hear("live"))["matches"][0]["watchers"] == 1


async def rated_match(server: Server) -> tuple[Peer, Peer, str]:
    """Return two players and their match, whose result counts: each has moved twice."""
    first, second, match = await server.pair(games=["connect4"], rated=True)
    for ply, (mover, move) in enumerate([(first, 38), (second, 37), (first, 36), (second, 35)]):
        await mover.ok("play", match=match, ply=ply, move=move)
        await (second if mover is first else first).hear("played", ply=ply + 1)
    return first, second, match


async def test_a_seek_is_listed_with_the_rating_after_a_match(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, _, match = await rated_match(server)
        gil = await server.join("Gil")
        await first.ok("seek", games=["connect4"], rated=True, opponents="bots")
        await lists(gil)
        await first.ok("resign", match=match)
        after = (await first.hear("rated", match=match))["ratings"][0]["after"]
        assert (await gil.hear("seeks"))["seeks"][0]["by"]["rating"] == after


async def test_a_seek_with_a_rating_range_matches_a_player_whose_rating_moves_into_it(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await rated_match(server)
        gil = await server.join("Gil")
        await gil.ok("seek", games=["connect4"], rated=True, min_rating=1_501)
        await second.ok("seek", games=["connect4"], rated=True)
        await first.ok("resign", match=match)
        after = (await second.hear("rated", match=match))["ratings"][1]["after"]
        assert after > 1_501
        begun = await gil.hear("snapshot")
        assert {player["name"] for player in begun["players"]} == {"Gil", second.name}


async def test_a_match_is_listed_again_once_a_player_is_back(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair()
        gil = await server.join("Gil")
        assert (await lists(gil))["live"] == 1
        for player in (first, second):
            await player.close()
        await gil.hear("live", count=0)
        again = await server.connect()
        await again.hello(token=first.token)
        await again.resume(match)
        assert (await gil.hear("live", count=1))["matches"][0]["match"] == match


async def test_a_list_requested_between_two_updates_is_sent_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lobby_feed, "PERIODS_MS", dict.fromkeys(lobby_feed.PERIODS_MS, 300))
    async with running(tmp_path) as server:
        ann, gil = await server.join("Ann"), await server.join("Gil")
        await gil.ok("lobby", on=True)
        before = await gil.hear("players")
        await ann.ok("seek")
        await gil.ok("who")
        assert await gil.hear("players") != before
        await ann.ok("unseek")
        while await gil.hear("players") != before:
            pass


async def test_a_list_is_not_rebuilt_for_every_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(tmp_path) as server:
        ann = await server.join("Ann")
        server.clock.stand_still()
        made = 0
        players = server.hub.listing.players

        def count() -> object:
            nonlocal made
            made += 1
            return players()

        board(server).publish({"players": count})  # type: ignore[dict-item]
        for _ in range(30):
            await ann.ok("seek", games=["connect4"])
            await ann.ok("who")
            (row,) = (await ann.hear("players"))["players"]
            assert row["seeking"] == ["connect4"]
        assert made <= 11
        await ann.ok("unseek")
        server.later(100)
        await ann.ok("who")
        (row,) = (await ann.hear("players"))["players"]
        assert "seeking" not in row, "a tenth of a second later, whoever asks sees it as it is"


def test_a_list_that_is_dear_to_build_is_built_in_a_twentieth_of_the_time() -> None:
    spent_s, times_ms, numbers = [0.0], [1], count()

    def build() -> wire.LiveList:
        spent_s[0] += 0.5
        return wire.LiveList(next(numbers), [])

    guard, loop = Guard(Metrics()), asyncio.new_event_loop()
    shares = FairShares(Limits(), lambda: times_ms[0], lambda: spent_s[0])
    feed = LobbyFeed(loop, lambda: times_ms[0], guard, shares)
    feed.publish({"live": build})
    built = []
    for at_ms in (1, 5_000, 10_000, 10_002, 15_000):
        times_ms[0] = at_ms
        feed.changed("live")
        built.append(wire.decode_server_message(feed.encoded("live")).count)  # type: ignore[union-attr]
    loop.close()
    assert built == [0, 0, 0, 1, 1]
