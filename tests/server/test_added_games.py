"""Matches of games that other packages have added, on a server."""

import json
from pathlib import Path

import pytest

from tests.server.peer import Peer
from tests.server.running import running
from ttt_net.games import find_game


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


async def record_of(peer: Peer, match: str) -> str:
    await peer.ok("record", match=match)
    return str((await peer.hear("record"))["text"])
