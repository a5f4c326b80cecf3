"""How long a hint, a warning and the first lesson of a match take, from the request to the answer: milliseconds.

`python -m benchmarks.coach` takes about ten seconds. A server runs in this process, and its coach in another; a person
plays a scripted bot. With `--lines N`, hints and lessons of N matches of Connect Four are timed instead, by CPU, and
within them the best play that is followed to its end to name it.
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any, TypeVar
from unittest.mock import patch

from tests.server.peer import Peer
from tests.server.running import Server, running
from ttt_net.games import Move, find_game
from ttt_net.games.records import Record, RecordedMove, RecordedPlayer, write_record
from ttt_net.matches.analyses import COACH
from ttt_net.strategies import Limit, find_strategy
from ttt_net.strategies.analysis import Kept
from ttt_net.strategies.coaching import answer
from ttt_net.strategies.connect4 import Connect4Solver
from ttt_net.strategies.engine import warm
from ttt_net.strategies.hints import advise

Result = TypeVar("Result")

LOST = (35, 36, 28, 29, 21, 22, 14)
"""Connect Four: four in the first column, which the second player does not block."""


async def timed(peer: Peer, type_: str, reply: str, **request: object) -> float:
    """Return how many milliseconds a request takes until its reply is there."""
    began_s = time.perf_counter()
    await peer.ok(type_, **request)
    await peer.hear(reply, match=request["match"])
    return 1000 * (time.perf_counter() - began_s)


async def measure(server: Server, times: int) -> None:
    """Print a line for each kind of question."""
    person, bot = await server.join("Ann"), await server.join("Mia", bot="script", places=3)
    lessons, hints, warnings = [], [], []
    for _ in range(times):
        first, second, match = await server.match(person, bot, games=["connect4"])
        await first.play(match, *(((first, second)[ply % 2], move) for ply, move in enumerate(LOST)))
        await person.hear("ended", match=match)
        lessons.append(await timed(person, "analyse", "analysis", match=match, brief=True))
        first, _, match = await server.match(person, bot, games=["connect4"])
        if first is bot:
            await bot.play(match, (bot, 38))
            await person.hear("played", match=match)
        hints.append(await timed(person, "hint", "hint", match=match))
        warnings.append(await timed(person, "hint", "hint", match=match, kind="warning"))
        await person.ok("resign", match=match)
        await bot.hear("ended", match=match)
    print(f"the first lesson, with the start of the process: {lessons[0]:.0f} ms")
    for name, found in (("a lesson", lessons[1:]), ("a hint", hints[1:]), ("a warning", warnings[1:])):
        print(f"{name}: {median(found):.0f} ms, at most {max(found):.0f} ms")


def measure_lines(matches: int, seed: int) -> None:
    """Print the cost of all hints and lessons of matches between bots of levels 2, 4 and 6."""
    game, rng, kept = find_game("connect4"), random.Random(seed), Kept(line_plies=0)
    cost_ms = dict[str, list[float]]()
    best_play = Connect4Solver.best_play

    def timed(kind: str, call: Callable[[], Result]) -> Result:
        began_s = time.process_time()
        result = call()
        cost_ms.setdefault(kind, []).append(1000 * (time.process_time() - began_s))
        return result

    def followed(*arguments: Any) -> tuple[Move, ...]:  # noqa: ANN401 - those of `best_play`
        return timed("best play, followed", lambda: best_play(*arguments))

    warm(game)
    advise(game, game.initial, Limit(), kept)
    with patch.object(Connect4Solver, "best_play", followed):
        for _ in range(matches):
            players = [find_strategy("alphabeta", seed=rng.randrange(2**32), level=rng.choice((2, 4, 6))) for _ in "XO"]
            state, moves = game.initial, list[RecordedMove]()
            while not game.is_terminal(state):
                timed("a hint", partial(advise, game, state, Limit(ms=1000), kept))
                move = players[len(moves) % 2](game, state, Limit(nodes=2000)).move
                moves.append(RecordedMove(move))
                state = game.result(state, move)
            record = Record(game.name, (RecordedPlayer("X"), RecordedPlayer("O")), tuple(moves), game.outcome(state))
            timed("a lesson", partial(answer, {"kind": "lesson", "record": write_record(record), "ms": 1000}))
    for kind, costs in sorted(cost_ms.items()):
        middle, *_, high = quantiles(costs, n=100, method="inclusive")[49:99]
        print(f"{kind}: {middle:.1f} ms, 99 % at most {high:.1f}, all {max(costs):.1f} ({len(costs)} times)")


async def run(times: int) -> None:
    """Measure at a server with a journal in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        async with running(Path(folder), engine=None, coach=COACH) as server:
            await measure(server, times)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coach", description=__doc__.split("\n")[0])
    parser.add_argument("--times", type=int, default=9, help="of each question")
    parser.add_argument("--lines", type=int, metavar="N", help="time the hints and lessons of this many matches")
    parser.add_argument("--seed", type=int, default=1, help="of these matches")
    options = parser.parse_args()
    if options.lines:
        measure_lines(options.lines, options.seed)
    else:
        asyncio.run(run(options.times))
    return 0


if __name__ == "__main__":
    sys.exit(main())
