"""Packages whose games fail, on a server: the match ends with a reason and a log line, and nobody else notices."""

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.games.added import faulty, late, raises
from tests.server.running import running
from ttt_net.games import Game, outside
from ttt_net.games.game import Annotations, Note
from ttt_net.games.outside import OutsideGame


def blocks(_good: Game[Any], _state: Any) -> Any:
    while True:
        time.monotonic()


def grows(_good: Game[Any], state: Any) -> Any:
    return Annotations(notes=(Note("more", tuple(range(9)), "x" * 70),) * 4**state.ply)


FAULTS: dict[str, tuple[str, Callable[[Game[Any], Any], Any], str]] = {
    "raises": ("board", raises, "division by zero"),
    "blocks": ("actions", blocks, "took more than"),
    "answers nonsense": ("to_move", lambda _good, _state: "nobody", "is not 0 or 1"),
    "grows without bound": ("annotations", grows, "notes"),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_package_that_fails_ends_its_match_and_no_other(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    part, answer, sentence = FAULTS[fault]
    game = OutsideGame(faulty(**{part: late(answer, part)}))
    monkeypatch.setattr(outside, "outside_games", lambda _taken: {"faulty": game})
    monkeypatch.setattr(outside, "MOST_S", 0.05)
    async with running(tmp_path) as server:
        ann, ben, cleo, dora = [await server.join(name) for name in ("Ann", "Ben", "Cleo", "Dora")]
        first, second, match = await server.match(ann, ben, games=["faulty"])
        third, fourth, other = await server.match(cleo, dora, games=["connect4"])
        await first.play(match, (first, 0), (second, 4))
        with caplog.at_level(logging.WARNING):
            await first.say("play", match=match, ply=2, move=8)
            for player in (first, second):
                ended = await player.hear("ended", match=match)
                assert (ended.get("winner"), ended["reason"]) == (None, "abort")
                assert sentence in ended["fault"]
        assert "the rules of faulty failed" in caplog.text
        caplog.clear()  # no other error may be logged
        await third.play(other, (third, 38), (fourth, 37))
        await first.ok("record", match=match)
        record = (await first.hear("record"))["text"]
        assert "Reason: abort\n" in record
        assert "1. a3\n2. b2\n" in record
        _, _, body = await server.fetch(f"/api/matches/{match}")
        assert b'"reason":"abort"' in body


async def test_a_game_that_is_always_slow_ends_each_of_its_matches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(outside, "outside_games", lambda _taken: {"faulty": OutsideGame(faulty())})
    monkeypatch.setattr(outside, "SLOW_S", -1.0)
    async with running(tmp_path) as server:
        ann, ben = await server.join("Ann"), await server.join("Ben")
        first, second, match = await server.match(ann, ben, games=["faulty"])
        await first.play(match, (first, 0), (second, 4))
        await first.say("play", match=match, ply=2, move=8)
        assert "moves take longer than" in (await second.hear("ended", match=match))["fault"]
    assert caplog.text.count("faulty is slow") == 3
