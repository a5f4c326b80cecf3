"""How long a hint, a warning and the first lesson of a match take, from the request to the answer: milliseconds.

`python -m benchmarks.coach` takes about ten seconds. A server runs in this process, and its coach in another; a person
plays a scripted bot.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from tests.server.peer import Peer
from tests.server.running import Server, running
from ttt_net.matches.analysis_processes import COACH

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


async def run(times: int) -> None:
    """Measure at a server with a journal in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        async with running(Path(folder), engine=None, coach=COACH) as server:
            await measure(server, times)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coach", description=__doc__.split("\n")[0])
    parser.add_argument("--times", type=int, default=9, help="of each question")
    asyncio.run(run(parser.parse_args().times))
    return 0


if __name__ == "__main__":
    sys.exit(main())
