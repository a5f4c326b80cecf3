"""The audience of a match, without sockets.

Players who leave, stay away, come back or change devices: the clock, the grace, and the seats of bots.
"""

from pathlib import Path

import pytest

from tests.server.running import running, until
from tests.simulation.scene import begin, end_of, person_and_bot, play
from ttt_net import messages as wire
from ttt_net.clock import TimeControl

GRACE_S = 60.0
MINUTE = {"initial_ms": 60_000, "increment_ms": 0}
LONG = {"initial_ms": 600_000, "increment_ms": 0}


@pytest.mark.parametrize("is_watched", [True, False])
async def test_the_first_of_two_absent_players_to_return_cannot_claim_at_once(
    tmp_path: Path, *, is_watched: bool
) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair(games=["gomoku"])
        await first.play(match, (first, 3), (second, 4))
        if is_watched:
            watcher = await server.join("Wes")
            await watcher.ok("watch", match=match)
        for peer in (first, second):
            peer.abort()
        await until(lambda: len(server.connections) == is_watched)
        server.later(3_600_000)
        back = await server.connect()
        await back.hello(token=first.token)
        await back.resume(match)
        assert await back.refused("claim", match=match, kind="win") == "opponent_here"


@pytest.mark.parametrize("is_watched", [True, False])
@pytest.mark.parametrize("last_side", [0, 1])
async def test_a_clock_runs_while_one_of_the_players_is_here_watched_or_not(
    tmp_path: Path, last_side: int, *, is_watched: bool
) -> None:
    async with running(tmp_path) as server:
        server.clock.stand_still()
        players = await server.pair(games=["gomoku"], time=LONG)
        first, second, match = players
        await first.play(match, (first, 3), (second, 4))
        if is_watched:
            watcher = await server.join("Wes")
            await watcher.ok("watch", match=match)
        last, other = (first, second) if last_side == 0 else (second, first)
        other.abort()
        await last.hear("presence", online=False)
        server.later(10_000)  # one is here: their time, or the other's, runs
        last.abort()
        await until(lambda: len(server.connections) == is_watched)
        server.later(3_600_000)
        back = await server.connect()
        await back.hello(token=last.token)
        snapshot = await back.resume(match)
        remaining_ms = [590_000, 600_000] if is_watched else [600_000, 600_000]  # unwatched: as the journal has it
        assert snapshot["clock"] == {"remaining_ms": remaining_ms, "running": 0}
        server.later(10_000)
        remaining_ms[0] -= 10_000
        assert (await back.resume(match))["clock"] == {"remaining_ms": remaining_ms, "running": 0}


async def test_three_changes_of_device_shorten_no_grace(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair(games=["gomoku"])
        await first.play(match, (first, 3), (second, 4))
        device = second
        for _ in range(3):
            newer = await server.connect()
            await newer.hello(token=second.token)
            assert await device.close_code() == 4001
            await newer.resume(match)
            device = newer
        await first.ok("ping")
        first.heard.clear()
        device.abort()
        away = (await first.hear("presence", online=False))["away"]
        assert away["claim_in_ms"] > 55_000


async def test_an_adjourned_match_continues_once_both_players_are_back(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        server.clock.stand_still()
        first, second, match = await server.pair(games=["gomoku"], time=LONG)
        await first.play(match, (first, 3), (second, 4), (first, 5))
        watcher = await server.join("Wes")
        await watcher.ok("watch", match=match)
        await watcher.hear("snapshot")
        second.abort()
        await first.hear("presence", online=False)
        server.later(60_000)
        await first.ok("claim", match=match, kind="adjourn")
        back = await server.connect()
        await back.hello(token=second.token)
        shown = await back.resume(match)
        assert shown.get("adjourned", False) is False
        for peer in (first, watcher):
            again = await peer.hear("snapshot", match=match)
            assert (again.get("adjourned", False), again["clock"]) == (False, shown["clock"])
        back.abort()
        await first.hear("presence", online=False)
        server.later(30_000)
        await first.ok("claim", match=match, kind="win")
        assert (await first.hear("ended"))["reason"] == "abandon"


async def test_a_silent_player_loses_a_match_that_was_adjourned_when_the_time_is_used_up(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair(games=["gomoku"], time=MINUTE)
        await first.play(match, (first, 3), (second, 4), (first, 5))
        second.abort()
        await first.hear("presence", online=False)
        server.later(15_000)
        await first.ok("claim", match=match, kind="adjourn")
        back = await server.connect()
        await back.hello(token=second.token)
        await back.resume(match)
        server.later(60_000)
        assert await first.refused("offer", match=match, kind="draw") == "match_over"
        assert (await first.hear("ended"))["reason"] == "time"


async def test_an_abandoned_match_is_neither_listed_nor_featured(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair(games=["gomoku"])
        await first.play(match, (first, 3), (second, 4))
        watcher = await server.join("Wes")
        await watcher.ok("watch", match=match)
        await watcher.ok("matches")
        assert [row["match"] for row in (await watcher.hear("live"))["matches"]] == [match]
        for peer in (first, second):
            peer.abort()
        await until(lambda: len(server.connections) == 1)
        server.later(2_000)
        await watcher.ok("matches")
        assert (await watcher.hear("live"))["matches"] == []
        back = await server.connect()
        await back.hello(token=first.token)
        await back.resume(match)
        server.later(2_000)
        await watcher.ok("matches")
        assert [row["match"] for row in (await watcher.hear("live"))["matches"]] == [match]


@pytest.mark.parametrize(
    ("plies", "is_rated", "end"),
    [(1, False, ("abort", None)), (2, False, ("abandon", None)), (4, True, ("abandon", "bot"))],
)
def test_the_server_frees_the_seat_of_a_bot_that_never_claims(
    plies: int, end: tuple[str, str | None], *, is_rated: bool
) -> None:
    world, person, bot = person_and_bot()
    match = begin(world, person, bot, rated=is_rated)
    play(world, match, plies, person, bot)
    bot_side = bot.matches[match].you
    person.die()
    world.wait(GRACE_S)
    assert end_of(world, match) is None
    world.wait(4.0)
    assert end_of(world, match) == (end[0], bot_side if end[1] else None)


def test_a_server_that_stalls_frees_the_seat_of_a_bot_all_the_same() -> None:
    world, person, bot = person_and_bot()
    match = begin(world, person, bot, time=TimeControl(60_000))
    play(world, match, 2, person, bot)
    person.die()
    world.wait(1.0)
    assert world.server is not None
    for _ in range(4):
        world.loop.pause(world.server.process, 1.2)
        world.wait(2.0)
    world.wait(12.0)
    assert end_of(world, match) == ("abandon", None)


def test_a_flag_falls_at_the_end_of_the_time_that_later_moves_added() -> None:
    world, person, bot = person_and_bot()
    match = begin(world, person, bot, time=TimeControl(10_000, 3_000))
    play(world, match, 12, person, bot)  # a second each, so the five moves after the first gain two seconds each
    world.wait(18.0)
    assert end_of(world, match) is None
    world.wait(2.0)
    assert end_of(world, match) == ("time", 1)


def test_a_bot_keeps_its_seat_for_a_person_who_returns_in_time() -> None:
    world, person, bot = person_and_bot()
    match = begin(world, person, bot)
    play(world, match, 2, person, bot)
    person.die()
    world.wait(GRACE_S)
    person.arrive()
    world.wait(GRACE_S)
    assert end_of(world, match) is None
    person.say(wire.ResignRequest(0, match=match))
    world.wait(1.0)
    assert end_of(world, match) == ("resign", bot.matches[match].you)


def test_a_match_that_loses_its_person_before_it_is_written_down_frees_the_bot() -> None:
    world, person, bot = person_and_bot()
    person.say(wire.ChallengeRequest(0, name=bot.name, game="connect4"))
    world.wait(1.0)
    world.disk.slowest_s = 1.0
    bot.say(wire.AnswerRequest(0, challenge=bot.challenges[-1], accept=True))
    world.wait(0.02)  # the answer arrives, and is being written
    person.die()
    assert not bot.matches
    world.wait(3.0)
    (match,) = bot.matches
    assert end_of(world, match) is None
    world.wait(GRACE_S + 4.0)
    assert end_of(world, match) == ("abort", None)
