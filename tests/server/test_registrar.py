"""A player and his name: over real sockets."""

from pathlib import Path

from tests.server.running import running


async def test_a_player_takes_another_name_and_his_old_one_is_free(tmp_path: Path) -> None:
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
        assert old.encode() not in b"".join(
            fact for (fact,) in server.database._connection.execute("SELECT fact FROM facts")
        )
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
