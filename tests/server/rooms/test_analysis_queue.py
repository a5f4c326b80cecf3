"""Analyses on request: with the real program, and with one that misbehaves."""

import sys
from pathlib import Path

import pytest

from tests.server.peer import Peer
from tests.server.running import Server, running
from ttt_net.errors import Code, Refusal
from ttt_net.games.records import Record
from ttt_net.matches.analysis_processes import has_engine
from ttt_net.server.rooms import analysis_queue
from ttt_net.server.settings.configuration import Limits

NOTHING = ("/no/such/program",)
PRINTS = 'print(\'{"ply": 1, "side": 0, "move": 4, "best": [], "value": 0}\', flush=True)'
PRINTS_AND_HANGS = f"import time; {PRINTS}; time.sleep(600)"


async def finished(server: Server) -> tuple[Peer, Peer, str]:
    """Return the players of a match that the second player lost with their first move, and its id."""
    first, second, match = await server.pair()
    await first.play(match, (first, 4), (second, 1), (first, 0), (second, 8), (first, 6), (second, 2), (first, 3))
    await first.hear("ended")
    return first, second, match


async def test_a_finished_match_is_analysed_move_by_move(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await finished(server)
        if not has_engine():
            assert await first.refused("analyse", match=match) == "no_engine"
            return
        await first.ok("analyse", match=match)
        await second.ok("analyse", match=match)
        analysis = await first.hear("analysis")
        assert analysis["exact"]
        assert [each["move"] for each in analysis["moves"]] == [4, 1, 0, 8, 6, 2, 3]
        assert [each.get("side", 0) for each in analysis["moves"]] == [0, 1] * 3 + [0]
        lost = analysis["moves"][1]
        assert (lost["value"], lost["turning"]) == (-1, True)
        assert set(lost["best"]) < {"a1", "a3", "c1", "c3"}
        assert (lost["more"], lost["sign"]) == (1, "??")
        lesson = analysis["lesson"]
        assert (lesson["type"], lesson["ply"], lesson["side"]) == ("lesson", 2, 1)
        assert set(lesson["better"]) == {"a1", "a3", "c1", "c3"}
        assert lesson["text"].startswith("Move 2: ")
        assert await second.hear("analysis") == analysis
        await second.ok("analyse", match=match)  # kept: no process is started again
        assert await second.hear("analysis") == analysis


async def test_one_who_asks_again_and_again_is_told_once_and_slowed_down(tmp_path: Path) -> None:
    async with running(tmp_path, engine=(sys.executable, "-c", PRINTS_AND_HANGS)) as server:
        first, _, match = await finished(server)
        server.clock.stand_still()  # else one of the tries comes back while a loaded machine asks
        answers = [await first.ask("analyse", match=match) for _ in range(server.hub.limits.inquiries.count + 1)]
        assert [answer["type"] for answer in answers] == ["ok"] * (len(answers) - 1) + ["refused"]
        assert answers[-1]["code"] == "too_fast"
        (job,) = server.hub.analysis.jobs
        assert len(job.askers) == 1


async def test_only_who_may_look_back_on_a_match_has_it_analysed(tmp_path: Path) -> None:
    async with running(tmp_path, engine=NOTHING) as server:
        first, _, match = await server.pair()
        assert await first.refused("analyse", match=match) == "not_finished"
        assert await first.refused("analyse", match="nothing") == "unknown_match"


async def test_a_host_may_turn_it_off(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(analysis_s=0)) as server:
        peer = await server.connect()
        welcome = await peer.hello(name="Ann")
        assert "analyse" not in welcome.get("features", [])
        assert await peer.refused("analyse", match="k3V9pCD5") == "no_engine"


async def test_what_was_found_before_the_time_was_up_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis_queue, "GRACE_S", 5.0)  # it has to start and print within it
    async with running(tmp_path, Limits(analysis_s=0.1), engine=(sys.executable, "-c", PRINTS_AND_HANGS)) as server:
        first, _, match = await finished(server)
        await first.ok("analyse", match=match)
        analysis = await first.hear("analysis")
        assert (len(analysis["moves"]), analysis["exact"]) == (1, False)


async def test_each_player_has_one_order_at_a_time(tmp_path: Path) -> None:
    async with running(tmp_path, engine=(sys.executable, "-c", "import time; time.sleep(600)")) as server:
        ann, bob, match = await finished(server)
        another = (await server.match(ann, bob))[2]
        await ann.ok("resign", match=another)
        await bob.hear("ended", match=another)
        await ann.ok("analyse", match=match)
        await bob.ok("analyse", match=match)  # the same, so it is one order
        refused = await ann.ask("analyse", match=another)
        assert (refused["code"], refused["retry_after_ms"]) == ("busy", 5_000)
        await bob.ok("analyse", match=another)
        assert [job.match for job in server.hub.analysis.jobs] == [match, another]


async def test_all_players_of_one_address_have_one_order_at_a_time(tmp_path: Path) -> None:
    limits = Limits(unmetered=())
    async with running(tmp_path, limits, engine=(sys.executable, "-c", "import time; time.sleep(600)")) as server:
        ann, bob, match = await finished(server)
        another = (await server.match(ann, bob))[2]
        await ann.ok("resign", match=another)
        await bob.hear("ended", match=another)
        await ann.ok("analyse", match=match)
        assert await bob.refused("analyse", match=another) == "busy"
        await bob.ok("analyse", match=match)


async def test_a_match_of_two_moves_is_answered_without_a_process(tmp_path: Path) -> None:
    async with running(tmp_path, engine=NOTHING) as server:
        first, second, match = await server.pair()
        await first.play(match, (first, 4), (second, 1))
        await first.ok("resign", match=match)
        await second.ok("analyse", match=match)
        analysis = await second.hear("analysis")
        assert (analysis["moves"], analysis["exact"]) == ([], True)


async def test_too_many_orders_are_turned_down_and_the_server_ends_in_the_midst(tmp_path: Path) -> None:
    async with running(tmp_path, engine=(sys.executable, "-c", "import time; time.sleep(600)")) as server:
        codes = []
        for number in range(analysis_queue.MAX_JOBS + 2):
            first, second, match = await server.pair(f"Ann{number}", f"Bob{number}")
            await first.play(match, (first, 4), (second, 1), (first, 0))
            await first.ok("resign", match=match)
            answer = await second.ask("analyse", match=match)
            codes.append(answer.get("code"))
        assert codes == [None] * (analysis_queue.MAX_JOBS + 1) + ["busy"]


@pytest.mark.parametrize("command", [NOTHING, (sys.executable, "-c", "print('x' * 200_000)")])
async def test_an_analysis_of_which_nothing_came_is_not_kept(tmp_path: Path, command: tuple[str, ...]) -> None:
    async with running(tmp_path, engine=command) as server:
        ann, _, match = await finished(server)
        await ann.ok("analyse", match=match)
        assert (await ann.hear("analysis"))["moves"] == []
        await ann.ok("analyse", match=match)
        assert (await ann.hear("analysis"))["moves"] == [], "another try"


async def test_the_program_that_analyses_is_ours_wherever_the_server_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ttt_net.py").write_text("raise ImportError('another')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    async with running(tmp_path, engine=(sys.executable, "-S", "-c", f"import ttt_net\n{PRINTS}")) as server:
        first, _, match = await finished(server)
        await first.ok("analyse", match=match)
        analysis = await first.hear("analysis")
        assert (len(analysis["moves"]), analysis["exact"]) == (1, False), "it has said nothing of the other moves"


async def test_a_record_that_cannot_be_read_ends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(text: str) -> list[Record]:
        raise Refusal(Code.BAD_NOTATION, "that is no record")

    monkeypatch.setattr(analysis_queue, "read_records", refuse)
    async with running(tmp_path, engine=NOTHING) as server:
        first, _, match = await finished(server)
        await first.ok("analyse", match=match)
        assert (await first.hear("analysis"))["moves"] == []
        await first.ok("ping")
