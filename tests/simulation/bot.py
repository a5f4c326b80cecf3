"""One of our bots on simulated time: the product's `Bot` between the session of a peer and a random engine."""

import asyncio
from typing import TYPE_CHECKING, Any

from msgspec import structs

from tests.simulation.swarm import RATED
from ttt_net import messages as wire
from ttt_net.client.mailbox import MAX_QUEUED_EVENTS, Event
from ttt_net.games import find_game
from ttt_net.games.notation import read_start
from ttt_net.sdk.bots import Bot, BotPlan, Thought, Turn

if TYPE_CHECKING:
    from tests.simulation.peer import Peer


LADDER_S = 60.0
"""The interval at which bots seek rated matches with bots, where they do."""


class SimulatedBot:
    """The bot and what it stands between; its tasks run on the simulated loop."""

    def __init__(self, peer: "Peer") -> None:
        self._peer = peer
        self.url = "ws://lobby.example/"
        self._mailbox: asyncio.Queue[Event] = asyncio.Queue(MAX_QUEUED_EVENTS)
        assert peer.profile is not None
        loop = peer.world.loop
        seek = structs.replace(peer.seeking(), opponents="people")  # two bots would play one another without end
        ladder_s = LADDER_S if peer.world.swarm.has_ladder else None
        if ladder_s is not None:
            seek = structs.replace(seek, games=[RATED], time=None, min_rating=None, max_rating=None)
        plan = BotPlan(seek, None, 400, peer.profile.places, peer.world.swarm.think_s, ladder_s=ladder_s)
        self._bot = Bot(self, self.think, plan, lambda text: None, now_ms=lambda: int(loop.time() * 1000))
        self._thoughts = 0
        self._task = loop.create_task(self._bot.play(self._mailbox))

    @property
    def is_thinking(self) -> bool:
        """Whether a move of the bot is to come."""
        return self._thoughts > 0 or len(self._bot.queue) > 0

    def hear(self, event: Any) -> None:
        """Give the bot an event."""
        self._mailbox.put_nowait(event)

    def stop(self) -> None:
        """Let the process of the bot be killed."""
        self._task.cancel()

    # As its connection.

    async def run(self) -> None:
        """Stay for as long as the process lives: the peer looks after the link."""
        await asyncio.get_running_loop().create_future()

    def say(self, request: wire.Request) -> None:
        """Send a request. Raises `Refusal` as the SDK does."""
        self._peer.ask(request)

    # As its engine.

    async def think(self, turn: Turn) -> Thought:
        """Choose any legal move, after a while."""
        self._thoughts += 1
        try:
            await asyncio.sleep(self._peer.world.swarm.think_s * self._peer.rng.random())
        finally:
            self._thoughts -= 1
        game: Any = find_game(turn.game.name)
        state = game.initial if turn.match.start is None else read_start(game, turn.match.start)
        for move in turn.match.moves:
            state = game.result(state, move)
        return Thought(self._peer.rng.choice(list(game.actions(state))))
