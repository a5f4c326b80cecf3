"""How soon after a crash or a restart people can continue: with 10,000 unfinished matches, and in the middle of play.

`python -m benchmarks.restart` takes about a minute and prints two tables. Every round kills the server with SIGKILL, so
the next one starts from its write-ahead log. Times are from the start of the new process.
"""

import argparse
import asyncio
import json
import random
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import NamedTuple

from msgspec.structs import replace
from websockets.asyncio.client import connect

from benchmarks.soak import serving, thinking
from ttt_net.client.mailbox import MAX_QUEUED_EVENTS, Event
from ttt_net.clock import TimeControl
from ttt_net.games import find_game
from ttt_net.matches.match import Match
from ttt_net.matches.referee import decide
from ttt_net.messages import MatchEvent, PlayerInfo, PlayRequest, SeekRequest, Started
from ttt_net.sdk.bots import Bot, BotPlan
from ttt_net.sdk.client_connection import ClientConnection, ReconnectLimits
from ttt_net.sdk.client_session import BotProfile, ClientSession
from ttt_net.server.journal import JOURNAL_FILE, Journal, LocalLedger

ROOT = Path(__file__).parent.parent
GAME = "connect4"
_PATIENCE_S = 60.0
_PLAY_S = 1.0
"""How long they play between two restarts."""
EVERY = 100
"""By default, one of so many matches is played on."""
AT_ONCE = 200
"""How many return at the same time: this process alone takes longer than a handshake may for thousands."""


def _script() -> Iterator[int]:
    """Yield moves that end no match, for as long as there are any."""
    rng, game = random.Random(1), find_game(GAME)
    state = game.initial
    while moves := [move for move in game.actions(state) if not game.is_terminal(game.result(state, move))]:
        yield (move := rng.choice(moves))
        state = game.result(state, move)


SCRIPT = tuple(_script())


class Round(NamedTuple):
    """Seconds from the start of the process: until it listens, the first move is accepted, and one in every match."""

    listening_s: float
    first_move_s: float
    all_moved_s: float


def token_of(match: int, side: int) -> str:
    """Return the token of a player of match number `match`."""
    return f"token of player {side} of match {match:>12}"


def events_of(match: int, plies: int) -> Iterator[MatchEvent]:
    """Yield the events of an unfinished match."""
    players = (PlayerInfo(f"first-{match}"), PlayerInfo(f"second-{match}"))
    started = Started(f"m{match:07}", 1, 1_000, GAME, players, TimeControl(600_000, 0))
    yield started
    played = Match(started)
    for ply in range(plies):
        for event in decide(played, ply % 2, PlayRequest(0, started.match, ply, SCRIPT[ply]), 2_000 + ply):
            played.evolve(event)
            yield event


async def build(path: Path, matches: int, plies: int) -> int:
    """Write a journal of so many unfinished matches, each of two players of its own; return the number of events."""
    template = list(events_of(0, plies))
    with closing(LocalLedger(path)) as ledger:
        journal = Journal(ledger)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(ledger.run())
            for match in range(matches):
                for side, name in enumerate(("first", "second")):
                    journal.register(
                        f"{name}-{match}", token_of(match, side), None, 1_000, lambda _: None, lambda _: None
                    )
                events = [replace(event, match=f"m{match:07}") for event in template]
                journal.append(events, unheard, unheard, (2 * match + 1, 2 * match + 2))
                if match % 500 == 499:
                    await asyncio.sleep(0)
            ledger.stop()
    return matches * len(template)


def unheard(_: object) -> None:
    """Do nothing with an answer of the journal: what is missing shows in the figures."""


async def play_on(port: int, match: int, ply: int, places: asyncio.Semaphore) -> float:
    """Come back to a match, make its next move, and return when it was acknowledged."""
    async with (
        places,
        connect(f"ws://127.0.0.1:{port}/", proxy=None, compression=None, open_timeout=_PATIENCE_S) as socket,
    ):
        name = f"m{match:07}"
        for request in (
            {"type": "hello", "protocols": [1], "token": token_of(match, ply % 2)},
            {"type": "resume", "match": name, "seq": 0},
            {"type": "play", "match": name, "ply": ply, "move": SCRIPT[ply]},
        ):
            await socket.send(json.dumps({"id": 1, **request}))
            while (answer := json.loads(await socket.recv()))["type"] != "ok":
                assert answer["type"] != "refused", answer
        return time.perf_counter()


async def crash(data: Path, matches: int, every: int, ply: int) -> Round:
    """Start a server on the journal, play on in one of `every` so many matches, all at once, and kill it."""
    started_s = time.perf_counter()
    async with serving(data) as (process, port):
        listening_s = time.perf_counter()
        places = asyncio.Semaphore(AT_ONCE)
        moved_s = await asyncio.gather(*(play_on(port, match, ply, places) for match in range(0, matches, every)))
        process.send_signal(signal.SIGKILL)
    return Round(listening_s - started_s, min(moved_s) - started_s, max(moved_s) - started_s)


class Listener:
    """Notes how long a player was without their match: from `restarting` to the next snapshot."""

    def __init__(self) -> None:
        self.gaps_s: list[float] = []
        self.at_match = asyncio.Event()
        self._since_s: float | None = None

    def hear(self, frame: str) -> None:
        """Take note of one frame."""
        if frame.startswith('{"type":"restarting"'):
            self._since_s = time.perf_counter()
            self.at_match.clear()
        elif frame.startswith('{"type":"snapshot"'):
            self.at_match.set()
            if self._since_s is not None:
                self.gaps_s.append(time.perf_counter() - self._since_s)
                self._since_s = None


async def blink(folder: Path, pairs: int, restarts: int) -> list[float]:
    """Restart a server again and again in the middle of play; return how long each player was without their match."""
    listeners = [Listener() for _ in range(2 * pairs)]
    async with asyncio.TaskGroup() as tasks:
        port, bots = 0, []
        for restart in range(restarts + 1):
            async with serving(folder, port=port) as (process, port), asyncio.timeout(_PATIENCE_S):
                if not restart:
                    bots = [tasks.create_task(_bot(n, port, each)) for n, each in enumerate(listeners)]
                await asyncio.gather(*(each.at_match.wait() for each in listeners))
                await asyncio.sleep(_PLAY_S)
                process.send_signal(signal.SIGTERM)
                await process.wait()
        for bot in bots:
            bot.cancel()
    return sorted(gap for each in listeners for gap in each.gaps_s)


async def _bot(number: int, port: int, listener: Listener) -> None:
    mailbox: asyncio.Queue[Event] = asyncio.Queue(MAX_QUEUED_EVENTS)
    dialogue = ClientSession(f"ann-{number}", None, BotProfile("random"))
    connection = ClientConnection(
        f"ws://127.0.0.1:{port}", dialogue, mailbox.put, ReconnectLimits(None, None), lambda token: None, listener.hear
    )
    plan = BotPlan(SeekRequest(0, ["mnk:19x19,19"]), None, move_ms=0)  # long enough for all restarts
    await Bot(connection, thinking(random.Random(number), 0.3), plan, lambda text: None).play(mailbox)


async def run(matches: int, every: int, rounds: int, pairs: int, restarts: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="ttt_net-restart-") as folder:
        data = Path(folder) / "data"
        events = await build(data / JOURNAL_FILE, matches, plies=12)
        size = (data / JOURNAL_FILE).stat().st_size
        measured = [await crash(data, matches, every, 12 + number) for number in range(rounds)]
        gaps_s = await blink(Path(folder) / "other", pairs, restarts)
    print(f"{matches:,} unfinished matches, {events:,} events, {size / events:.0f} bytes an event; medians of {rounds}")
    print(f"| after a crash: listening | first move | a move of {len(range(0, matches, every)):,} who return at once |")
    print("|-------------------------:|-----------:|-----------------------------:|")
    print(f"| {' | '.join(f'{median(times):.2f} s' for times in zip(*measured, strict=True))} |")
    print(
        f"{2 * pairs} players in mid-play, {restarts} restarts: {len(gaps_s)} times without their match, none for good"
    )
    print("| median | longest |")
    print("|-------:|--------:|")
    print(f"| {median(gaps_s):.2f} s | {gaps_s[-1]:.2f} s |")


def main() -> int:
    """Run as the command line says; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.restart", description=__doc__.split("\n")[0])
    parser.add_argument("--matches", type=int, default=10_000)
    parser.add_argument("--every", type=int, default=EVERY, help="one of so many matches is played on")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--restarts", type=int, default=5)
    arguments = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    asyncio.run(run(arguments.matches, arguments.every, arguments.rounds, arguments.pairs, arguments.restarts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
