"""What was played can be looked back on: over real sockets, by those who may, and not too often."""

from pathlib import Path

import pytest

from tests.server.peer import Peer
from tests.server.running import Server, running
from ttt_net.games.records import read_record
from ttt_net.server.limits import Limits
from ttt_net.server.rate import Rate


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


async def test_what_may_not_be_looked_at_is_refused(tmp_path: Path) -> None:
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
        with server.stopped_disk():
            first = await ann.say(verb, match=match)
            assert await ann.refused(verb, match=match) == "too_fast"
        assert (await ann.answer(first))["type"] == "ok"
        await ann.ok(verb, match=match)
