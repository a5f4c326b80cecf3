"""Matches of games that other packages have added, on a server."""

import gzip
import json
import re
from pathlib import Path

import pytest

from tests.server.peer import Peer
from tests.server.running import running
from ttt_net.games import find_game
from ttt_net.matches.referee import RATED_PLIES
from ttt_net.server.settings.configuration import Configuration, Games
from ttt_net.server.wire.http import OwnPages, find_asset


async def test_a_match_keeps_the_version_of_the_rules_that_it_began_with(
    tmp_path: Path, examples: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find_game("hex"), "face", find_game("hex").face._replace(version=2))
    async with running(tmp_path) as server:
        ann, ben = await server.join("Ann"), await server.join("Ben")
        first, second, match = await server.match(ann, ben, games=["hex"])
        await first.play(match, (first, 24), (second, 25))
        await second.ok("resign", match=match)
        await first.ok("offer", match=match, kind="rematch", ply=2)
        await second.ok("agree", match=match, offer=(await second.hear("offered"))["seq"])
        await first.hear("rematched")
        facts = await server.execute("SELECT fact FROM facts WHERE fact ->> 'type' = 'started'")
        assert [json.loads(fact)["rules"] for (fact,) in facts] == [2, 2]
    for version, moves in ((2, "1. d4\n2. e4\n"), (3, "1. 24\n2. 25\n")):
        monkeypatch.setattr(find_game("hex"), "face", find_game("hex").face._replace(version=version))
        async with running(tmp_path) as server:
            again = await server.connect()
            await again.hello(token=first.token)
            assert moves in await record_of(again, match)
            answer = await again.ask("resume", match=f"{match}-2", seq=0)
            assert answer.get("code") == (None if version == 2 else "unknown_game")


async def test_a_game_of_another_package_is_rated_where_the_host_has_listed_it(tmp_path: Path, examples: None) -> None:
    wish = {"games": ["othello"], "rated": True, "time": {"initial_ms": 180_000}}
    async with running(tmp_path) as server:
        ann = await server.join("Ann")
        assert await ann.refused("seek", **wish) == "always_casual"
        assert await ann.refused("leaderboard", game="othello") == "always_casual"
    configuration = Configuration(name="test", games=Games(rated=("othello", "nothing")))
    async with running(tmp_path, configuration=configuration) as server:
        ann, ben = await server.connect(), await server.connect()
        welcome = await ann.hello(name="Cleo")
        await ben.hello(name="Ben")
        assert [game["name"] for game in welcome["games"] if game.get("rated")] == ["othello"]
        assert await ann.refused("seek", **{**wish, "games": ["hex"]}) == "always_casual"
        for player in (ann, ben):
            await player.ok("seek", **wish)
        snapshot = await ann.hear("snapshot")
        assert snapshot["rated"]
        players = (ann, ben) if snapshot["you"] == 0 else (ben, ann)
        for ply in range(RATED_PLIES):
            await players[ply % 2].ok("play", match=snapshot["match"], ply=ply, move=snapshot["position"]["legal"][0])
            snapshot = snapshot | await players[1 - ply % 2].hear("played", ply=ply + 1)
        await players[1].ok("resign", match=snapshot["match"])
        assert (await ann.hear("rated"))["ratings"][0]["after"] > 1500
        await ann.ok("leaderboard", game="othello", speed="blitz")
        assert (await ann.hear("leaderboard"))["game"] == "othello"
    for rated in ((), ("othello",)):
        page = find_asset("/", OwnPages("", is_any_name=True, rated=rated))
        assert page is not None
        found = re.search(rb'"name":"othello".*?"rated":(true|false)', gzip.decompress(page.coded["gzip"]))
        assert found is not None
        assert found[1] == (b"true" if rated else b"false")


async def record_of(peer: Peer, match: str) -> str:
    await peer.ok("record", match=match)
    return str((await peer.hear("record"))["text"])
