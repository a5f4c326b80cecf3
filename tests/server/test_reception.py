"""Challenges, invitations and watching, over real sockets."""

from pathlib import Path

from tests.server.running import running
from ttt_net.server.limits import Limits
from ttt_net.server.rate import Rate


async def test_a_challenge_that_is_accepted_becomes_a_match(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        await ann.ok("challenge", name="BOB", game="connect4")
        told = await bob.hear("challenged")
        assert (told["by"], told["game"]) == ({"name": "Ann"}, "connect4")
        assert (await ann.hear("challenged"))["challenge"] == told["challenge"]
        await bob.ok("answer", challenge=told["challenge"], accept=True)
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
        await eve.ok("matches")
        assert (await eve.hear("live"))["count"] == 0


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


async def test_guessing_codes_is_slow_also_for_one_who_comes_back(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(codes=Rate(3, 60.0))) as server:
        eve = await server.join("Eve")
        for _ in range(3):
            assert await eve.refused("join", code="BCDFGH") == "unknown_code"
        assert await eve.refused("join", code="BCDFGH") == "too_fast"
        await eve.close()
        server.tick(0)
        again = await server.connect()
        await again.hello(token=eve.token)
        assert await again.refused("join", code="BCDFGH") == "too_fast"


async def test_a_watcher_hears_what_the_players_hear_and_counts(tmp_path: Path) -> None:
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
