"""Cost of large tournaments: `python -m benchmarks.standings`, about a minute.

*Rounds*: a Swiss of so many players is paired in its process, as a server does, and its standings are counted and
encoded. *Watchers*: so many sessions receive a page of the standings, or the lobby's list of players with as many rows,
from the feed of the product; only the sockets are left out. Costs are CPU times, of which the best of several counts.
"""

import argparse
import asyncio
import random
import resource
import subprocess
import time
from collections.abc import Callable
from functools import partial
from itertools import count
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

from msgspec.structs import replace as restruct

from ttt_net import messages as wire
from ttt_net.clock import TimeControl
from ttt_net.server.admission.fair_shares import FairShares
from ttt_net.server.matchmaking.lobby_feed import LobbyFeed, Subject
from ttt_net.server.matchmaking.tournament_service import PAGE_ROWS, TournamentDesk
from ttt_net.server.metrics import Guard, Metrics
from ttt_net.server.online_players import Session
from ttt_net.server.settings.configuration import Limits
from ttt_net.tournaments import director, swiss
from ttt_net.tournaments.swiss import swiss_players
from ttt_net.tournaments.tournament import Begun, Entered, Opened, Terms, Tournament

ROUNDS = 9
"""Standings and pairings are those of the last round, which cost most."""
TRIES = 5


def played(players: int, rounds: int) -> Tournament:
    """Return a Swiss of which so many rounds were played, with a third of draws."""
    rng = random.Random(players)
    terms = Terms("Saturday", "swiss", "connect4", TimeControl(180_000), ROUNDS, most=1_000)
    now = Tournament("BCDFG", Opened(0, terms))
    for entrant in range(1, players + 1):
        now.evolve(Entered(0, entrant, entrant))
    now.evolve(Begun(0))
    for _ in range(rounds):
        plan = director.pairing(now, swiss.matched)
        now.evolve(director.round_of(now, plan, lambda: f"{rng.getrandbits(48):012x}", 0))
        for board in now.open_boards():
            now.settle(board.matches[-1], rng.choice([0, 1, None]), "line")
    return now


def desk_of(now: Tournament) -> TournamentDesk:
    """Return a desk that only tells its tournament."""
    names = {entrant: f"Player number {entrant}" for entrant in now.entrants}
    services = cast(Any, SimpleNamespace(now_ms=lambda: 0, wall_ms=lambda: 0))
    return TournamentDesk(now, names, services, cast(Any, None), cast(Any, None), lambda: None)


def best_ms(work: Callable[[], object]) -> float:
    """Return the CPU time of the cheapest of several runs."""
    costs = []
    for _ in range(TRIES):
        began_s = time.process_time()
        work()
        costs.append(time.process_time() - began_s)
    return 1000 * min(costs)


def pair_outside(now: Tournament) -> tuple[float, float]:
    """Pair the next round in a process; return its CPU time and the time until its answer, in seconds."""
    started = len(now.rounds)
    players = swiss_players(now.present, now.results(), now.offs())
    asked = swiss.question(players, is_last=False, rounds_played=started)
    before, began_s = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    answer = subprocess.run(swiss.COMMAND, input=asked, capture_output=True, check=True).stdout
    took_s, after = time.perf_counter() - began_s, resource.getrusage(resource.RUSAGE_CHILDREN)
    director.check(now, swiss.answered(answer))
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, took_s


class Turns:
    """The part of an event loop that a feed uses; calls run at once, and their delays are added up."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self._calls: list[Callable[[], None]] = []

    def call_later(self, wait_s: float, call: Callable[..., None], *args: object) -> None:
        """Let a call be next."""
        self.now_s += wait_s
        self._calls.append(partial(call, *args))

    def run(self) -> None:
        """Run all calls, and those that they add."""
        while self._calls:
            self._calls.pop(0)()


class Telling(NamedTuple):
    """The cost of sending a list to all its watchers once."""

    cost_ms: float
    every_s: float
    """How often that is done at the most."""


def tell(subject: Subject, message_of: Callable[[int], wire.AnyServerMessage], watchers: int) -> Telling:
    """Let a feed send a list that changes all the time; `message_of` makes it by a number."""
    turns, numbers, told = Turns(), count(), [0]

    def send(frames: bytes) -> None:
        told[0] += 1

    loop = cast(asyncio.AbstractEventLoop, turns)
    shares = FairShares(Limits(), lambda: int(turns.now_s * 1000), time.process_time)
    feed = LobbyFeed(loop, lambda: int(turns.now_s * 1000), Guard(Metrics()), shares)
    feed.publish({subject: lambda: message_of(next(numbers))})
    connection = SimpleNamespace(send=send, is_behind=False, account=None)
    for player in range(watchers):
        feed.subscribe(cast(Session, SimpleNamespace(player=player, connection=connection)))
    turns.run()
    told[0], began_s = 0, turns.now_s

    def change() -> None:
        feed.changed(subject)
        turns.run()

    cost_ms = best_ms(change)
    assert told[0] == TRIES * watchers, "everybody receives every list"
    return Telling(cost_ms, (turns.now_s - began_s) / TRIES)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.standings", description=(__doc__ or "").split("\n\n")[0]
    )
    parser.add_argument("--quick", action="store_true", help="small fields, to see that it works")
    sizes, crowds = ((20, 60), (10, 100)) if parser.parse_args().quick else ((25, 200, 1_000), (100, 1_000, 10_000))
    print("| players | pairing: CPU s | s to the answer | standings ms | a page ms | bytes |")
    print("|--:|--:|--:|--:|--:|--:|")
    for players in sizes:
        now = played(players, ROUNDS - 1)
        cpu_s, took_s = pair_outside(now)
        counted_ms = best_ms(now.standings)
        desk = desk_of(now)
        page = wire.encode(desk.message(1))
        page_ms = best_ms(lambda desk=desk: wire.encode(desk.message(1)))  # type: ignore[misc]
        print(f"| {players:,} | {cpu_s:.2f} | {took_s:.2f} | {counted_ms:.1f} | {page_ms:.2f} | {len(page):,} |")
    desk = desk_of(played(sizes[-1], ROUNDS - 1))
    names = [f"Player number {each}" for each in range(PAGE_ROWS)]

    def standings(number: int) -> wire.TournamentReply:
        return restruct(desk.message(1), seq=number)

    def lobby(number: int) -> wire.PlayerList:
        return wire.PlayerList(number, [wire.ListedPlayer(name) for name in names])

    print(
        "\n| watchers | standings: CPU ms | every s | share of the loop | list of players: CPU ms | every s | share |"
    )
    print("|--:|--:|--:|--:|--:|--:|--:|")
    for watchers in crowds:
        row = [f"{watchers:,}"]
        for each in (tell("tournament", standings, watchers), tell("players", lobby, watchers)):
            share = each.cost_ms / 1000 / each.every_s
            row += [f"{each.cost_ms:.2f}", f"{each.every_s:.1f}", f"{share:.2%}"]
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
