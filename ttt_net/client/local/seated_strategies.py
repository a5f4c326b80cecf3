"""Run strategies at this keyboard: each thinks in a separate process when it is to move."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from ttt_net.client.address import HUMAN
from ttt_net.client.bot.engine_process import EngineProcess, Question, label_of, require
from ttt_net.client.local.local_connection import LocalConnection, Others, now_ms
from ttt_net.client.options import Options
from ttt_net.client.user_io import is_on_screen
from ttt_net.client.words import MAX_NOTICE_CELLS
from ttt_net.errors import ConfigurationError
from ttt_net.matches.match import Match
from ttt_net.messages import Notice
from ttt_net.sdk.bots import Thought, budget_ms
from ttt_net.text import clean

PACE_S = 0.6
"""The minimal time per move between strategies while a person watches."""


@dataclass(slots=True)
class SeatedStrategies:
    """The strategies that play here, by side."""

    engines: dict[int, EngineProcess]
    move_ms: int
    """The thinking time per move."""
    pace_s: float
    """The minimal time per move, so that people can follow."""
    asked: tuple[str, int] | None = field(default=None, init=False)
    """The match and the ply of the last search."""

    async def play(self, connection: LocalConnection) -> None:
        """Make their moves until cancelled."""
        async with AsyncExitStack() as ends:  # runs each, also when a second cancellation disturbs one
            for engine in self.engines.values():
                ends.push_async_callback(engine.stop)
            await asyncio.gather(*(engine.start() for engine in self.engines.values()))
            while True:
                await self._move(connection)
                await connection.moved()

    async def _move(self, connection: LocalConnection) -> None:
        """Make a move if a strategy is to move, and the position has not changed during its search."""
        while (match := connection.matches.match) is not None and match.to_move in self.engines:
            side, before = match.to_move, (match.id, match.seq)
            assert side is not None
            thought = await self.engines[side].think(self._question(match, side))
            await asyncio.sleep(self.pace_s)
            if connection.matches.match is match and before == (match.id, match.seq):
                self._carry_out(connection, side, thought)

    def _question(self, match: Match, side: int) -> Question:
        snapshot = match.snapshot(side, (True, True), now_ms())
        return Question(match.game.name, snapshot.moves, budget_ms(snapshot, side, self.move_ms), match.start)

    def _carry_out(self, connection: LocalConnection, side: int, thought: Thought) -> None:
        matches = connection.matches
        if thought.move is None:
            why = f"{matches.seating.players[side].name} cannot go on: {thought.objection}."
            connection.tell([*matches.give_up(side, now_ms()), Notice(clean(why, MAX_NOTICE_CELLS))])
            return
        matches.has_seen_win[side] = thought.is_winning
        connection.tell(matches.play(side, thought.move, now_ms()))


def seated(options: Options) -> Others:
    """Return the requested strategies. Raises `ConfigurationError` if one does not play the game."""
    local = options.local
    assert local is not None
    engines, labels = {}, {}
    for side, player in enumerate(local.players):
        if player == HUMAN:
            continue
        try:
            require(player, options.level, local.game)
        except ConfigurationError as error:
            raise ConfigurationError(f"{error}; or {HUMAN}, for a person") from None
        labels[side] = label_of(player)
        seed = None if options.seed is None else options.seed + side
        engines[side] = EngineProcess(player, seed, options.level, [local.game])
    has_onlooker = local.people == 0 and is_on_screen(options)
    strategies = SeatedStrategies(engines, options.move_ms, PACE_S if has_onlooker else 0.0)
    return Others(labels, strategies.play)
