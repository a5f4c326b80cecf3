"""Hints, warnings and first lessons: with the real program, and with one that misbehaves."""

import sys
from pathlib import Path

import pytest

from tests.server.peer import Peer
from tests.server.running import Server, running, until
from ttt_net.matches.analysis_processes import COACH
from ttt_net.server.rooms import coach
from ttt_net.server.settings.configuration import Limits
from ttt_net.server.settings.setting import Rate

SLEEPS = (sys.executable, "-c", "import sys, time; sys.stdin.readline(); time.sleep(600)")


async def against_a_bot(server: Server, game: str = "tictactoe") -> tuple[Peer, Peer, str, bool]:
    """Return a person and a bot in a match, its id, and whether the person moves first."""
    person, bot = await server.join("Ann"), await server.join("Mia", bot="minimax")
    first, _, match = await server.match(person, bot, games=[game])
    return person, bot, match, first is person


async def test_a_person_is_told_a_move_and_the_reason_for_it(tmp_path: Path) -> None:
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


async def test_there_are_none_against_people_in_rated_matches_and_after_the_end(tmp_path: Path) -> None:
    async with running(tmp_path, coach=COACH) as server:
        ann, _, match = await server.pair()
        assert await ann.refused("hint", match=match) == "no_hints"
        cleo, bot = await server.join("Cleo"), await server.join("Mia", bot="minimax", places=2)
        assert await cleo.refused("hint", match=match) == "not_seated"
        await cleo.ok("challenge", name="Mia", game="connect4", rated=True)
        challenged = await bot.hear("challenged")
        await bot.ok("answer", challenge=challenged["challenge"], accept=True)
        rated = (await cleo.hear("snapshot"))["match"]
        assert await cleo.refused("hint", match=rated) == "only_casual"
        _, _, match = await server.match(cleo, bot)
        await cleo.ok("resign", match=match)
        assert await cleo.refused("hint", match=match) == "match_over"


async def test_a_host_may_give_none(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(hint_s=0), coach=COACH) as server:
        peer = await server.connect()
        assert "hint" not in (await peer.hello(name="Ann"))["features"]
        assert await peer.refused("hint", match="k3V9pCD5") == "no_hints"


async def test_a_player_asks_one_at_a_time_and_so_many_in_a_minute(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(hints=Rate(2, 60.0)), coach=COACH) as server:
        server.clock.stand_still()
        person, _, match, _ = await against_a_bot(server)
        for _ in range(2):
            await person.ok("hint", match=match, kind="warning")
        assert await person.refused("hint", match=match, kind="warning") == "too_fast"
    (tmp_path / "another").mkdir()
    async with running(tmp_path / "another", coach=SLEEPS) as server:
        person, _, match, _ = await against_a_bot(server)
        await person.say("hint", match=match, kind="warning")
        assert await person.refused("hint", match=match, kind="warning") == "busy"


@pytest.mark.parametrize("script", ["", "print('{}' * 90_000)", "print('[]', flush=True)", "print('{}', flush=True)"])
async def test_a_program_that_fails_is_a_refusal_and_started_again(tmp_path: Path, script: str) -> None:
    async with running(tmp_path, coach=(sys.executable, "-c", f"import sys; sys.stdin.readline(); {script}")) as server:
        person, _, match, _ = await against_a_bot(server)
        for _ in range(2):
            assert await person.refused("hint", match=match, kind="warning") == "busy"


async def test_one_that_hangs_is_ended_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coach, "GRACE_S", 0.2)
    async with running(tmp_path, coach=SLEEPS) as server:
        person, _, match, _ = await against_a_bot(server)
        assert await person.refused("hint", match=match, kind="warning") == "busy"
        await until(lambda: server.hub.coach.process_id is None)


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
