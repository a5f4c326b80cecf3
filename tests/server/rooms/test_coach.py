"""Hints, warnings, first lessons and analyses: with the real programs, and with some that misbehave.

The tables of `test_coach_tables` have the limits and the failures, on simulated time.
"""

import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S
from tests.server.peer import Peer
from tests.server.running import Server, running, until
from ttt_net.matches.analyses import COACH, has_engine
from ttt_net.server.rooms import coach
from ttt_net.server.settings.configuration import Limits

READS = "import sys, time; sys.stdin.readline()"


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for programs as long as a test waits: they run below all others, and a busy machine starts them late."""
    monkeypatch.setattr(coach, "ANSWER_GRACE_S", PATIENCE_S)


async def against_a_bot(server: Server, game: str = "tictactoe") -> tuple[Peer, Peer, str, bool]:
    """Return a person and a bot in a match, its id, and whether the person moves first."""
    person, bot = await server.join("Ann"), await server.join("Mia", bot="minimax")
    first, _, match = await server.match(person, bot, games=[game])
    return person, bot, match, first is person


async def test_a_person_gets_a_move_and_its_reason(tmp_path: Path) -> None:
    async with running(tmp_path, coach=COACH) as server:
        person, bot, match, is_first = await against_a_bot(server)
        assert await bot.refused("hint", match=match) == "no_hints"
        if is_first:
            await person.play(match, (person, 4), (bot, 0), (person, 8), (bot, 1))
        else:
            await person.play(match, (bot, 0), (person, 4), (bot, 1))
        await person.ok("hint", match=match)
        hint = await person.hear("hint")
        assert (hint["match"], hint["kind"], hint["ply"]) == (match, "move", 4 if is_first else 3)
        assert (hint["moves"], hint["text"]) == ([2], "You have to play c3: they have two in a row.")


async def test_warnings_come_on_either_side_s_turn_and_are_empty_where_there_is_nothing(tmp_path: Path) -> None:
    async with running(tmp_path, coach=COACH) as server:
        person, bot, match, is_first = await against_a_bot(server)
        await person.ok("hint", match=match, kind="warning")
        nothing = await person.hear("hint")
        assert {"moves", "text"}.isdisjoint(nothing)
        if is_first:
            await person.play(match, (person, 8), (bot, 0), (person, 5), (bot, 1))
        else:
            await person.play(match, (bot, 0), (person, 8), (bot, 1))
        await person.ok("hint", match=match, kind="warning")
        assert (await person.hear("hint"))["moves"] == [2]
        await person.play(match, (person, 3), ply=4 if is_first else 3)
        assert await person.refused("hint", match=match) == "not_your_turn"
        await person.ok("hint", match=match, kind="warning")
        assert (await person.hear("hint"))["text"] == "They can win at once with c3."


async def test_a_host_may_give_none(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(hint_s=0), coach=COACH) as server:
        peer = await server.connect()
        assert "hint" not in (await peer.hello(name="Ann"))["features"]
        assert await peer.refused("hint", match="k3V9pCD5") == "no_hints"


@pytest.mark.parametrize("script", ["", "print('{}' * 90_000)"])
async def test_a_program_that_fails_is_a_refusal_and_started_again(tmp_path: Path, script: str) -> None:
    async with running(tmp_path, coach=(sys.executable, "-c", f"{READS}; {script}")) as server:
        person, _, match, _ = await against_a_bot(server)
        for _ in range(2):
            assert await person.refused("hint", match=match, kind="warning") == "busy"


async def test_the_process_goes_when_nobody_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(tmp_path, coach=COACH) as server:
        person, _, match, _ = await against_a_bot(server)
        assert server.hub.coach.process_id is None, "nobody has asked yet"
        await person.ok("hint", match=match, kind="warning")
        first = server.hub.coach.process_id
        assert first is not None
        monkeypatch.setattr(coach, "IDLE_S", 0.01)
        await person.ok("hint", match=match, kind="warning")
        await until(lambda: server.hub.coach.process_id is None)
        await person.ok("hint", match=match, kind="warning")
        assert server.hub.coach.process_id != first


async def test_a_process_that_has_ended_by_itself_is_started_again_for_the_next_question(tmp_path: Path) -> None:
    once = f'{READS}; print(\'{{"moves": [], "text": ""}}\', flush=True)'
    async with running(tmp_path, coach=(sys.executable, "-c", once)) as server:
        person, _, match, _ = await against_a_bot(server)
        for _ in range(2):
            await person.ok("hint", match=match, kind="warning")
            await until(lambda: server.hub.coach.process_id is None)


async def test_the_first_lesson_comes_before_any_search_and_stays_where_there_is_no_engine(tmp_path: Path) -> None:
    hangs = (sys.executable, "-c", "import time; time.sleep(600)")
    async with running(tmp_path, engine=hangs, coach=COACH) as server:
        first, second, match = await server.pair()
        await first.play(match, (first, 4), (second, 1), (first, 0), (second, 3), (first, 8))
        await first.ok("analyse", match=match)
        told = await first.hear("analysis")
        assert (told["partial"], told["moves"], told["exact"]) == (True, [], False)
        assert (told["lesson"]["ply"], told["lesson"]["side"], told["lesson"]["better"]) == (4, 1, ["c1"])
    async with running(tmp_path, engine=None, coach=COACH) as server:
        peer = await server.connect()
        assert "analyse" in (await peer.hello(token=second.token))["features"]
        await peer.ok("analyse", match=match)
        told = await peer.hear("analysis")
        assert "partial" not in told
        assert told["lesson"]["text"].startswith("Move 4: ")


PRINTS = 'print(\'{"ply": 1, "side": 0, "move": 4, "best": [], "value": 0}\', flush=True)'


async def finished(server: Server) -> tuple[Peer, Peer, str]:
    """Return the players of a match that the second player lost with their first move, and its id."""
    first, second, match = await server.pair()
    await first.play(match, (first, 4), (second, 1), (first, 0), (second, 8), (first, 6), (second, 2), (first, 3))
    await first.hear("ended")
    return first, second, match


async def test_a_finished_match_is_analysed_move_by_move(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(analysis_s=600)) as server:
        first, second, match = await finished(server)
        if not has_engine():
            assert await first.refused("analyse", match=match) == "no_engine"
            return
        await first.ok("analyse", match=match)
        await second.ok("analyse", match=match)
        analysis = await first.hear("analysis", exact=True)
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
        assert await second.hear("analysis", exact=True) == analysis
        await second.ok("analyse", match=match)  # kept: no process is started again
        assert await second.hear("analysis", exact=True) == analysis


async def test_a_host_may_turn_it_off(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(analysis_s=0)) as server:
        peer = await server.connect()
        welcome = await peer.hello(name="Ann")
        assert "analyse" not in welcome.get("features", [])
        assert await peer.refused("analyse", match="k3V9pCD5") == "no_engine"


async def test_too_many_orders_are_turned_down_and_the_server_ends_in_the_midst(tmp_path: Path) -> None:
    async with running(tmp_path, engine=(sys.executable, "-c", "import time; time.sleep(600)")) as server:
        codes = []
        for number in range(coach.MAX_JOBS + 2):
            first, second, match = await server.pair(f"Ann{number}", f"Bob{number}")
            await first.play(match, (first, 4), (second, 1), (first, 0))
            await first.ok("resign", match=match)
            answer = await second.ask("analyse", match=match)
            codes.append(answer.get("code"))
        assert codes == [None] * (coach.MAX_JOBS + 1) + ["busy"]


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
