"""A match at this keyboard, put together: the same loops and screens as over a network, and a server of one's own."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace

from ttt_net.client import json_lines
from ttt_net.client.bot.engine_process import EngineProcess
from ttt_net.client.bot.engine_worker import label_of, require
from ttt_net.client.bot.plan import BotPlan
from ttt_net.client.bot.player import Bot
from ttt_net.client.client_controller import ClientController
from ttt_net.client.command_line.local import AT_HOME, HUMAN, Local
from ttt_net.client.command_line.options import Options
from ttt_net.client.commands import Send
from ttt_net.client.controller import Controller
from ttt_net.client.ending import Ending
from ttt_net.client.events import MAX_QUEUED_EVENTS, Event
from ttt_net.client.local.table import BotOpponent, LocalTable, Opponent, SecondPerson
from ttt_net.client.rules_seen import is_first_match_of
from ttt_net.client.served import Serve
from ttt_net.client.signals import delivered
from ttt_net.client.user_io import json_writer_of, writer_of
from ttt_net.errors import ConfigurationError
from ttt_net.messages import InviteRequest, JoinRequest, SeekRequest, Snapshot, WatchRequest
from ttt_net.sdk.connection import ClientConnection, ReconnectLimits
from ttt_net.sdk.session import BotProfile, ClientSession

Show = Callable[[Controller, asyncio.Queue[Event]], Awaitable[None]]
"""Shows what a controller displays, on the screen or line by line, until it is done."""
PACE_S = 0.6
"""How long a move between bots takes at least, where somebody looks on."""
PAUSE_S = 1.5
"""The same before a match begins."""
_LIMITS = ReconnectLimits(10_000, 10_000)
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


def play(options: Options, serve: Serve, show: Show, *, is_on_screen: bool) -> Ending:
    """Let those play who were asked for, to the end that they want; of two strategies, lines tell the matches alone."""
    check_strategies(options)
    with serve(options) as served:
        return asyncio.run(_play(replace(options, url=served.url), show, is_on_screen=is_on_screen))


async def _play(options: Options, show: Show, *, is_on_screen: bool) -> Ending:
    room = _Room(options, is_in_lines=not is_on_screen)
    if room.local.people == 0:
        with delivered(room.mailbox):
            return await room.play_bots(show if is_on_screen else None)
    return await room.play(show)


class _Room:
    """Who is at the keyboard, and what each of them is made of."""

    def __init__(self, options: Options, *, is_in_lines: bool) -> None:
        assert options.local is not None
        self.options = options
        self.local: Local = options.local
        self.mailbox: asyncio.Queue[Event] = asyncio.Queue(MAX_QUEUED_EVENTS)
        self._is_in_lines = is_in_lines
        self._host = self.local.players.index(HUMAN) if self.local.people else 0
        """The side of the one who invites: the first person, or X."""

    async def play(self, show: Show) -> Ending:
        """Let one or two people, or a program, play."""
        table = self._table(self.options.games if self._is_in_lines else None)
        await show(table, self.mailbox)
        world, is_going_back = table.display.world, table.display.is_going_back
        return Ending(world.farewell, tally=table.tally, is_going_back=is_going_back)

    async def play_bots(self, show: Show | None) -> Ending:
        """Let two bots play, for somebody who looks on if there is a screen; else what X hears is told."""
        invitations: asyncio.Queue[str] = asyncio.Queue(MAX_QUEUED_EVENTS)
        onlooker = _Onlooker(self._connection(0, None, self.mailbox, "onlooker")) if show is not None else None

        def later(code: str) -> None:  # what the last match came to stays to be seen for a moment
            asyncio.get_running_loop().call_later(PAUSE_S, invitations.put_nowait, code)

        plan = BotPlan(
            self._invite(),
            self.options.games or 1,
            self.options.move_ms,
            invited=invitations.put_nowait if show is None else later,
            began=onlooker.watch if onlooker is not None else None,
            is_for_onlookers=True,
            pace_s=PACE_S if show is not None else 0.0,
        )
        mailbox = self.mailbox if show is None else asyncio.Queue[Event](MAX_QUEUED_EVENTS)
        first = self._bot(0, plan, mailbox, writer_of(self.options) if show is None else _unheard)
        async with asyncio.TaskGroup() as group:
            second = replace(plan, games=None, invited=None, began=None)
            tasks = [group.create_task(self._join_all(invitations, second))]
            if show is None or onlooker is None:
                await first.play(mailbox)
            else:
                tasks.append(group.create_task(first.play(mailbox)))
                await show(onlooker.table, self.mailbox)
            for task in tasks:
                task.cancel()
        return Ending(first.world.farewell, tally=first.world.tally)

    async def _join_all(self, invitations: "asyncio.Queue[str]", plan: BotPlan) -> None:
        """Let O take up one invitation after the other."""
        code = await invitations.get()
        opponent = BotOpponent(code, lambda join, mailbox: self._bot(1, replace(plan, seek=join), mailbox, _unheard))
        async with asyncio.TaskGroup() as group:
            group.create_task(opponent.play())
            while True:
                opponent.join(await invitations.get())

    def _table(self, games: int | None) -> LocalTable:
        invite = self._invite()
        host = self._place(self._host, invite, self.mailbox)
        return LocalTable(host, invite, self._seat, games)

    def _invite(self) -> InviteRequest:
        return InviteRequest(0, self.local.game, self.options.time, 0 if self._host == 0 else 1, self.local.start)

    def _seat(self, code: str) -> Opponent:
        side = 1 - self._host
        if self.local.players[side] == HUMAN:
            return SecondPerson(code, lambda join, mailbox: self._place(side, join, mailbox), self.mailbox)
        plan = BotPlan(JoinRequest(0, code=code), None, self.options.move_ms)
        return BotOpponent(code, lambda join, mailbox: self._bot(side, replace(plan, seek=join), mailbox, _unheard))

    def _place(
        self, side: int, opening: InviteRequest | JoinRequest, mailbox: "asyncio.Queue[Event]"
    ) -> ClientController:
        connection = self._connection(side, None, mailbox)
        is_read = side == self._host and sys.stdin.isatty() and sys.stdout.isatty() and not self.options.is_json
        table = ClientController(
            connection,
            SeekRequest(0, [self.local.game], self.options.time),
            AT_HOME,
            opening,
            is_in_lines=self._is_in_lines,
            is_first_match_of=is_first_match_of if is_read else None,
        )
        table.display = replace(table.display, has_server_picker=self.options.has_server_picker)
        return table

    def _bot(self, side: int, plan: BotPlan, mailbox: "asyncio.Queue[Event]", write: Callable[[str], None]) -> Bot:
        options, strategy = self.options, self.local.players[side]
        seed = None if options.seed is None else options.seed + side
        engine = EngineProcess(strategy, seed, options.level, [self.local.game])
        return Bot(self._connection(side, strategy, mailbox), engine, plan, write)

    def _connection(
        self, side: int, bot: str | None, mailbox: "asyncio.Queue[Event]", name: str | None = None
    ) -> ClientConnection:
        tap = json_lines.tap_of(json_writer_of(self.options)) if side == self._host else None
        machine = BotProfile(label_of(bot), self.options.level) if bot else None
        talk = ClientSession(name or self.local.names[side], None, machine)
        deliver = json_lines.delivering(json_writer_of(self.options) if tap is not None else None, mailbox.put)
        return ClientConnection(self.options.url, talk, deliver, _LIMITS, lambda token: None, tap)


class _Onlooker:
    """Somebody who watches each match of two bots from its beginning."""

    def __init__(self, connection: ClientConnection) -> None:
        self.table = ClientController(connection, SeekRequest(0), AT_HOME, is_seeking=False)

    def watch(self, match: Snapshot) -> None:
        """Look at a match that has begun, with the code that its players were told."""
        self.table.do(Send(WatchRequest(0, match=match.match, code=match.code)))


def _unheard(text: str) -> None:
    """Say nothing: of a match that two play here, one account is enough."""
