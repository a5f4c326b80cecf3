"""A match at this keyboard, put together: the same loops and screens as over a network, and a server of one's own."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from ttt_net.client.bot.mind import Mind
from ttt_net.client.bot.player import Bot, Plan
from ttt_net.client.bot.thinker import require
from ttt_net.client.connection import Connection, Patience
from ttt_net.client.dialogue import Dialogue, Machine
from ttt_net.client.events import MAILBOX_LETTERS, Mail
from ttt_net.client.local_options import AT_HOME, HUMAN, Local
from ttt_net.client.local_table import BotOpponent, LocalTable, Opponent, SecondPerson
from ttt_net.client.options import Options
from ttt_net.client.plain import Plain, read_lines
from ttt_net.client.sessions import Ending, tap_of, telling_of, writer_of
from ttt_net.client.signals import delivered
from ttt_net.client.table import Table
from ttt_net.errors import ConfigurationError
from ttt_net.messages import Invite, Join, Seek

if TYPE_CHECKING:
    from ttt_net.client.screen import Screen

_PATIENCE = Patience(10_000, 10_000)
"""The server is in this very program; one that does not answer never will."""


def check_strategies(options: Options) -> None:
    """Raise `ConfigurationError` for a strategy that there is not, or that does not play the game."""
    local = options.local
    assert local is not None
    for player in local.players:
        if player != HUMAN:
            try:
                require(player, options.level, local.game)
            except ConfigurationError as error:
                raise ConfigurationError(f"{error}; or {HUMAN}") from None


def local_session(options: Options, screen: "Screen | None") -> Ending:
    """Let those play who were asked for, on the screen if there is one, to the end that they want."""
    return asyncio.run(_play(options, screen))


async def _play(options: Options, screen: "Screen | None") -> Ending:
    room = _Room(options)
    if room.local.people == 0:
        return await room.play_bots()
    with delivered(room.mailbox):
        return await room.play_plainly() if screen is None else await room.play_on_screen(screen)


class _Room:
    """Who is at the keyboard, and what each of them is made of."""

    def __init__(self, options: Options) -> None:
        assert options.local is not None
        self.options = options
        self.local: Local = options.local
        self.mailbox: asyncio.Queue[Mail] = asyncio.Queue(MAILBOX_LETTERS)
        self._host = self.local.players.index(HUMAN) if self.local.people else 0
        """The side of whoever invites: the first person, or X."""

    async def play_on_screen(self, screen: "Screen") -> Ending:
        """Let one or two people play on the full screen."""
        from ttt_net.client.terminal import play_on_screen

        table = self._table(None)
        await play_on_screen(table, screen, self.mailbox)
        return Ending(table.view.farewell, tally=table.tally)

    async def play_plainly(self) -> Ending:
        """Let one or two people, or a program, play line by line."""
        table = self._table(self.options.games)
        read_lines(self.mailbox)
        await Plain(table, telling_of(self.options), writer_of(self.options)).play(self.mailbox)
        return Ending(table.view.farewell, tally=table.tally)

    async def play_bots(self) -> Ending:
        """Let two bots play; what X hears is what is told."""
        write, guests = writer_of(self.options), list[BotOpponent]()
        async with asyncio.TaskGroup() as group:

            def invited(code: str) -> None:
                if guests:
                    guests[0].join(code)
                    return
                guests.append(BotOpponent(code, lambda join, mailbox: self._bot(1, join, mailbox, _unheard)))
                playing.append(group.create_task(guests[0].play()))

            playing: list[asyncio.Task[None]] = []
            with delivered(self.mailbox):
                bot = self._bot(0, self._invite(), self.mailbox, write, invited)
                await bot.play(self.mailbox)
            for task in playing:
                task.cancel()
        return Ending(bot.view.farewell, tally=bot.view.tally)

    def _table(self, games: int | None) -> LocalTable:
        invite = self._invite()
        host = self._place(self._host, invite, self.mailbox)
        return LocalTable(host, invite, self._seat, games)

    def _invite(self) -> Invite:
        return Invite(0, self.local.game, self.options.time, 0 if self._host == 0 else 1, self.local.start)

    def _seat(self, code: str) -> Opponent:
        side = 1 - self._host
        if self.local.players[side] == HUMAN:
            return SecondPerson(code, lambda join, mailbox: self._place(side, join, mailbox), self.mailbox)
        return BotOpponent(code, lambda join, mailbox: self._bot(side, join, mailbox, _unheard))

    def _place(self, side: int, opening: Invite | Join, mailbox: "asyncio.Queue[Mail]") -> Table:
        connection = self._connection(side, None, mailbox)
        return Table(connection, Seek(0, [self.local.game], self.options.time), AT_HOME, opening)

    def _bot(
        self,
        side: int,
        opening: Invite | Join,
        mailbox: "asyncio.Queue[Mail]",
        write: Callable[[str], None],
        invited: Callable[[str], None] | None = None,
    ) -> Bot:
        options, strategy = self.options, self.local.players[side]
        seed = None if options.seed is None else options.seed + side
        mind = Mind(strategy, seed, options.level, [self.local.game])
        games = options.games if isinstance(opening, Invite) else None
        connection = self._connection(side, strategy, mailbox)
        return Bot(connection, mind, Plan(opening, games, options.move_ms, invited=invited), write)

    def _connection(self, side: int, bot: str | None, mailbox: "asyncio.Queue[Mail]") -> Connection:
        tap = tap_of(self.options) if side == self._host else None
        dialogue = Dialogue(self.local.names[side], None, Machine(bot) if bot else None)
        return Connection(self.options.url, dialogue, mailbox, _PATIENCE, lambda token: None, tap)


def _unheard(text: str) -> None:
    """Say nothing: of a match that two play here, one account is enough."""
