"""Play as the house bots of a server: `python -m ttt_net.client.bot.house`, which a server starts.

They are ordinary clients that share one engine process, which starts when it is first needed. One line of JSON on
standard input gives the server's address. The bots leave when the input ends, so they never outlive the server.
"""

import asyncio
import json
import sys
import threading
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import NamedTuple

from ttt_net.client.bot.engine_process import EngineProcess, knows_game, playable_games
from ttt_net.client.bot.seats import SeatsOrder, engines_in, play_seats
from ttt_net.client.mailbox import MAX_QUEUED_EVENTS, Event
from ttt_net.errors import Code, ConfigurationError
from ttt_net.games.catalogue import NAMES
from ttt_net.games.rules import ELO
from ttt_net.messages import SeekRequest
from ttt_net.sdk import identity
from ttt_net.sdk.bots import Bot, BotPlan
from ttt_net.sdk.client_connection import ClientConnection, ReconnectLimits
from ttt_net.sdk.client_session import BotProfile, ClientSession
from ttt_net.sdk.received import Farewell, Parting
from ttt_net.sdk.trust import Trust

STRATEGY = "alphabeta"
MOVE_MS = 400
"""The thinking time per move: the bots share the engine with each other, and the machine with the server."""
PACE_S = 0.5
"""The minimal time per move, so that people can follow."""
PLACES = 4
"""How many matches each bot plays at once."""
_HERE = "this server"
"""The name of the server in the bots' identities. It has no port, so their folder survives a change of port."""
_LIMITS = ReconnectLimits(10_000, 600_000)
_KEPT_OUT = (Parting.GIVEN_UP, Parting.REPLACED)
"""Closings that the host intended: a kicked bot stays away until the server restarts."""


@dataclass(frozen=True, slots=True)
class Character:
    """A house bot: its name, its character in one or two words, its level, and its strategy."""

    name: str
    label: str
    level: int
    """From 1 to 8; each bot also plays at any other level on request."""
    style: str
    bots: int = 0
    """How many of its places may go to bots."""

    @property
    def about(self) -> str:
        """The description in the list of players: the style, and between which Elo points it is stronger, by game."""
        if find_spec("numba") is None:  # the points were measured with the compiled searches
            return self.style
        above = sorted(elo[self.level - 1] - elo[CHARACTERS[0].level - 1] for elo in ELO.values())
        if not above[-1]:
            return self.style
        return f"{self.style}; {above[0]} to {above[-1]} above {CHARACTERS[0].name}"


CHARACTERS = (
    Character("Mia", "beginner", 1, "learns the rules, and is easily surprised", bots=2),
    Character("Tom", "casual player", 3, "sees their own lines, often yours"),
    Character("Nora", "club player", 5, "blocks in time, waits for a slip"),
    Character("Viktor", "expert", 6, "makes two threats if you let it"),
    Character("Sophia", "master", 8, "plays as well as it can"),
)


class HouseTask(NamedTuple):
    """The server's address, the fingerprint of its certificate if it is encrypted, and the file of external engines."""

    url: str
    fingerprint: str | None = None
    engines: str | None = None
    """A file of engines that play as well."""


async def play_house(order: HouseTask) -> bool:
    """Run the house bots until they are disconnected; return whether the host disconnected all of them."""
    engine = EngineProcess(STRATEGY)
    try:
        async with asyncio.TaskGroup() as group:
            if order.engines is not None:
                group.create_task(_seat_engines(order, order.engines))
            playing = [group.create_task(_play(order, character, engine)) for character in CHARACTERS]
    finally:
        await engine.stop()
    return all(task.result().why in _KEPT_OUT for task in playing)


async def _seat_engines(order: HouseTask, file: str) -> None:
    """Run the engines of a file too. An error in the file is reported, and the house bots play without them."""
    trust = Trust(order.fingerprint, is_insecure=True)
    place = SeatsOrder(order.url, _HERE, trust, limits=(_LIMITS.first_ms, _LIMITS.later_ms))
    try:
        await play_seats(place, engines_in(file), lambda text: None, asyncio.Queue())
    except ConfigurationError as error:
        print(f"ttt_net: house engines: {error}; the house bots play without engines", file=sys.stderr, flush=True)


async def _play(order: HouseTask, character: Character, engine: EngineProcess) -> Farewell:
    """Run one bot under its name, or under a free one."""
    taken: set[str] = set()
    while True:
        mine = identity.take_numbered(_HERE, character.name, frozenset(taken))
        try:
            farewell = await _play_as(mine, order, character, engine)
        finally:
            mine.release()
        if farewell.code != Code.NAME_TAKEN:
            return farewell
        taken.add(mine.name)


async def _play_as(mine: identity.Identity, order: HouseTask, character: Character, engine: EngineProcess) -> Farewell:
    mailbox: asyncio.Queue[Event] = asyncio.Queue(MAX_QUEUED_EVENTS)
    profile = BotProfile(character.label, character.level, PLACES, PLACES - character.bots, True, True, character.about)
    session = ClientSession(mine.name, mine.token(), profile)
    connection = ClientConnection(
        order.url, session, mailbox.put, _LIMITS, mine.keep_token, trust=Trust(order.fingerprint, is_insecure=True)
    )
    seek = SeekRequest(0, playable_games(STRATEGY), None, "any" if character.bots else "people")
    plan = BotPlan(seek, None, MOVE_MS, PLACES, pace_s=PACE_S, knows=knows_game(STRATEGY), known=NAMES)
    bot = Bot(connection, partial(engine.choose, any_level=True), plan, lambda text: None)
    await bot.play(mailbox)
    return bot.farewell or Farewell(Parting.DONE, "")


async def _play_until_the_input_ends(order: HouseTask) -> bool:
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()

    def wait() -> None:
        sys.stdin.read()
        loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=wait, daemon=True).start()  # not every system's event loop can wait for a pipe
    async with asyncio.TaskGroup() as group:
        playing = group.create_task(play_house(order))
        ending = group.create_task(ended.wait())
        await asyncio.wait((playing, ending), return_when=asyncio.FIRST_COMPLETED)
        is_over = playing.done()
        for task in (playing, ending):
            task.cancel()
    return not is_over or playing.result()


def main() -> int:
    """Play until the input ends; return 0 if the input ended or the host disconnected the bots."""
    order = HouseTask(*json.loads(sys.stdin.readline()))
    return 0 if asyncio.run(_play_until_the_input_ends(order)) else 1


if __name__ == "__main__":
    sys.exit(main())
