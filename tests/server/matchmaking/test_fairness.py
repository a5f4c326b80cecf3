"""Places of bots by address, and people who abort match after match."""

from pathlib import Path

from tests.server.peer import Peer
from tests.server.running import Server, running, until
from ttt_net.server.online_players import APART_MS, FIRST_WAIT_MS, FREE_ABORTS


async def join_from(server: Server, name: str, address: str) -> Peer:
    """Return a player whose connection counts for an address."""
    peer = await server.join(name)
    server.connection_of(name).metered_as = address
    return peer


async def leave_all(server: Server) -> None:
    """Restore the addresses that connections were counted for when they came."""
    for connection in server.connections:
        connection.metered_as = None


async def bots(server: Server, *names: str) -> list[Peer]:
    """Return bots with four places each, which accept nothing by themselves."""
    return [await server.join(name, bot="random", places=4, reserved=4) for name in names]


async def begin(person: Peer, bot: Peer) -> str:
    """Let a person challenge a bot, which accepts; return the code of the refusal, or the match."""
    asked = await person.ask("challenge", name=bot.name)
    if asked["type"] == "refused":
        return str(asked["code"])
    number = (await bot.hear("challenged", by={"name": person.name}))["challenge"]
    answer = await bot.ask("answer", challenge=number, accept=True)
    if answer["type"] == "refused":
        return str(answer["code"])
    return str((await person.hear("snapshot"))["match"])


async def test_one_guest_takes_half_of_all_places_of_bots_at_most(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        mia, tom = await bots(server, "Mia", "Tom")
        eve = await join_from(server, "Eve", "192.0.2.1")
        begun = [await begin(eve, (mia, tom)[number % 2]) for number in range(4)]
        assert len(set(begun)) == 4
        assert await begin(eve, mia) == "too_many_matches"
        twin = await join_from(server, "Eva", "192.0.2.1")
        assert await begin(twin, mia) == "too_many_matches", "another name of the same address"
        await eve.ok("abort", match=begun[0])
        await mia.hear("ended")
        assert await begin(twin, mia) not in ("too_many_matches", *begun)
        ann = await join_from(server, "Ann", "192.0.2.2")
        assert await begin(ann, mia) != "too_many_matches"
        await leave_all(server)


async def test_an_address_takes_two_places_of_bots_while_others_wait(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        mia = await server.join("Mia", bot="random", places=4)
        await mia.ok("seek", games=["connect4"], opponents="bots")
        eve = await join_from(server, "Eve", "192.0.2.1")
        ann = await join_from(server, "Ann", "192.0.2.2")
        tom, _ = await bots(server, "Tom", "Ben")
        await ann.ok("seek", games=["connect4"])
        begun = [await begin(eve, mia) for _ in range(2)]
        assert "too_many_matches" not in begun
        assert await begin(eve, mia) == "too_many_matches", "Ann waits"
        assert await begin(eve, tom) != "too_many_matches", "what Ann seeks is nothing that Tom plays"
        await ann.ok("unseek")
        assert await begin(eve, mia) != "too_many_matches", "nobody waits"
        await leave_all(server)


async def test_a_person_who_was_refused_a_busy_bot_counts_as_waiting(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        mia = await server.join("Mia", bot="random", places=1)
        tom, _ = await bots(server, "Tom", "Ben")
        eve = await join_from(server, "Eve", "192.0.2.1")
        ann = await join_from(server, "Ann", "192.0.2.2")
        for bot in (mia, tom):
            assert await begin(eve, bot) != "too_many_matches"
        assert await begin(ann, mia) == "too_many_matches"
        assert await begin(eve, tom) == "too_many_matches"
        server.later(60_000)
        assert await begin(eve, tom) != "too_many_matches"
        await leave_all(server)


async def test_a_seek_that_was_kept_from_a_bot_is_paired_when_nobody_else_waits(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        mia, _ = await bots(server, "Mia", "Tom")
        eve = await join_from(server, "Eve", "192.0.2.1")
        ann = await join_from(server, "Ann", "192.0.2.2")
        for _ in range(2):
            await begin(eve, mia)
        await ann.ok("seek", games=["qubic", "gomoku"], opponents="any", time={"initial_ms": 60_000})
        await mia.ok("seek", games=["connect4", "gomoku"], opponents="people")
        await eve.ok("seek", games=["connect4"])
        await eve.ok("ping")
        server.later(2_000)
        assert not [told for told in eve.heard if told["type"] == "snapshot"], "Ann waits for gomoku"
        await ann.ok("unseek")
        server.later(1_000)
        assert (await eve.hear("snapshot"))["game"]["name"] == "connect4"
        await leave_all(server)


async def test_the_place_of_a_bot_is_free_again_after_the_match(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        mia, _ = await bots(server, "Mia", "Tom")
        eve = await join_from(server, "Eve", "192.0.2.1")
        places = server.hub.services.players.bot_places
        for _ in range(3):
            match = await begin(eve, mia)
            assert places.held_by("192.0.2.1") == 1
            await eve.ok("abort", match=match)
            await until(lambda: places.held_by("192.0.2.1") == 0)
        await begin(eve, mia)
        await leave_all(server)
        for peer in (eve, mia):
            peer.abort()
        await until(lambda: places.held_by("192.0.2.1") == 0)


async def abort_a_match(server: Server, one: Peer, other: Peer) -> None:
    """Let two people seek and meet, and the first of them abort."""
    _, _, match = await server.match(one, other, games=["connect4"])
    await one.ok("abort", match=match)
    await other.hear("ended", match=match)


async def test_two_people_are_not_paired_again_after_an_aborted_match_for_a_while(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob, cleo = [await server.join(name) for name in ("Ann", "Bob", "Cleo")]
        await abort_a_match(server, ann, bob)
        for peer in (ann, bob):
            peer.heard.clear()
            await peer.ok("seek", games=["connect4"])
        server.later(10_000)
        await bob.ok("ping")
        assert not [told for told in bob.heard if told["type"] == "snapshot"]
        await cleo.ok("seek", games=["connect4"])
        names = [player["name"] for player in (await cleo.hear("snapshot"))["players"]]
        assert sorted(names) == ["Ann", "Cleo"], "others meet them as before"


async def test_seeks_that_were_kept_apart_meet_when_the_time_is_over(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob = [await server.join(name) for name in ("Ann", "Bob")]
        await abort_a_match(server, ann, bob)
        for peer in (ann, bob):
            peer.heard.clear()
            await peer.ok("seek", games=["connect4"])
        server.later(APART_MS)
        snapshots = [await peer.hear("snapshot") for peer in (ann, bob)]
        assert snapshots[0]["match"] == snapshots[1]["match"]


async def test_a_person_who_aborts_again_and_again_waits_longer_for_the_next_match(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann = await server.join("Ann")
        for number in range(FREE_ABORTS + 2):
            other = await server.join(f"Other {number}")
            wait_ms = 0 if number <= FREE_ABORTS else FIRST_WAIT_MS
            if wait_ms:
                refusal = await ann.ask("seek", games=["connect4"])
                assert refusal["code"] == "too_fast"
                assert wait_ms - 5_000 < refusal["retry_after_ms"] <= wait_ms
                assert await ann.refused("challenge", name=other.name, game="connect4") == "too_fast"
                await ann.ok("seek", games=["connect4"], opponents="bots")
                server.later(wait_ms)
            await abort_a_match(server, ann, other)
        refusal = await ann.ask("seek", games=["connect4"])
        assert FIRST_WAIT_MS < refusal["retry_after_ms"] <= 2 * FIRST_WAIT_MS
        server.later(3_600_000)
        await ann.ok("seek", games=["connect4"])


async def test_a_person_who_has_to_wait_after_aborts_may_play_bots_and_is_refused_people(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, robo = await server.join("Ann"), (await bots(server, "Robo"))[0]
        for number in range(FREE_ABORTS + 1):
            await abort_a_match(server, ann, await server.join(f"Other {number}"))
        bob = await server.join("Bob")
        for peer, answer in ((bob, "refused"), (robo, "ok")):
            await peer.ok("seek", games=["qubic"], opponents="people")
            seek = server.hub.lobby.seeks.of(server.player_of(peer.name))
            assert seek is not None
            assert (await ann.ask("accept", seek=seek.number))["type"] == answer
        assert await ann.refused("challenge", name="Bob") == "too_fast"
        await ann.ok("challenge", name="Robo")


async def test_a_bot_accepts_a_seek_with_a_level_only_if_it_plays_at_it(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann = await server.join("Ann")
        other, right = [await server.join(f"Level {level}", bot="random", level=level) for level in (1, 2)]
        await ann.ok("seek", games=["qubic"], opponents="bots", level=2)
        seek = server.hub.lobby.seeks.of(server.player_of("Ann"))
        assert seek is not None
        assert await other.refused("accept", seek=seek.number) == "not_welcome"
        await right.ok("accept", seek=seek.number)


async def test_a_person_who_leaves_before_both_have_moved_has_aborted(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob = [await server.join(name) for name in ("Ann", "Bob")]
        _, _, match = await server.match(ann, bob, games=["gomoku"], rated=True)
        ann.abort()
        await bob.hear("presence", online=False)
        server.later(60_000)
        await bob.ok("claim", match=match, kind="win")
        assert (await bob.hear("ended"))["reason"] == "abort"
        player = (await server.execute("SELECT id FROM players WHERE name = 'Ann'"))[0][0]
        assert server.hub.services.aborts.count(player, server.clock()) == 1
