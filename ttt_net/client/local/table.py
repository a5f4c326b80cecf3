"""One or two people at this keyboard: a table for each of them, and the one whose turn it is is seen and has the keys.

The first of them invites, and the other, a person or a bot, joins by the code: so sides and start are as they were
asked for. A new game and a rematch are another invitation, with the same sides. What the one offers, the other, who
sits beside them, accepts.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol

from ttt_net.client.bot.player import Bot
from ttt_net.client.client_controller import ClientController
from ttt_net.client.commands import AnyCommand, Command
from ttt_net.client.display import Display
from ttt_net.client.events import (
    MAX_QUEUED_EVENTS,
    Event,
    RecordSaved,
    SecondPlayerEvent,
    Stop,
    TerminalEvent,
    WorldEvent,
)
from ttt_net.client.world import LinkState
from ttt_net.messages import (
    Ended,
    InvitationReply,
    InviteRequest,
    JoinRequest,
    Offered,
    OfferRequest,
    RecordReply,
    SeekRequest,
    Snapshot,
)
from ttt_net.sdk.events import Farewell
from ttt_net.sdk.matches import Tally


class Opponent(Protocol):
    """The one who takes the invitations up."""

    async def play(self) -> None:
        """Join the match of the first code, and go on for as long as there is a link."""

    def join(self, code: str) -> None:
        """Join the match of another code."""


class BotOpponent:
    """A bot, which plays by itself."""

    def __init__(self, code: str, make: Callable[[JoinRequest, "asyncio.Queue[Event]"], Bot]) -> None:
        self._mailbox: asyncio.Queue[Event] = asyncio.Queue(MAX_QUEUED_EVENTS)
        self._bot = make(JoinRequest(0, code=code), self._mailbox)

    async def play(self) -> None:
        """Let the bot come in and play."""
        await self._bot.play(self._mailbox)

    def join(self, code: str) -> None:
        """Let the bot join another match."""
        self._bot.ask(JoinRequest(0, code=code))


class SecondPerson:
    """The second person at the keyboard: what happens at their table comes into the mailbox of the first."""

    def __init__(
        self,
        code: str,
        make: Callable[[JoinRequest, "asyncio.Queue[Event]"], ClientController],
        first: "asyncio.Queue[Event]",
    ) -> None:
        self._mailbox: asyncio.Queue[Event] = asyncio.Queue(MAX_QUEUED_EVENTS)
        self._first = first
        self.table = make(JoinRequest(0, code=code), self._mailbox)

    async def play(self) -> None:
        """Keep their link up, and pass on what they hear."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.table.connection.run())
            while True:
                event = await self._mailbox.get()
                if isinstance(event, RecordReply):  # is no matter of a table, but of the one who writes it down
                    await self._first.put(event)
                elif not isinstance(event, TerminalEvent | Stop):
                    await self._first.put(SecondPlayerEvent(event))
                if isinstance(event, Farewell):
                    return

    def join(self, code: str) -> None:
        """Sit down at another match."""
        self.table.say(JoinRequest(0, code=code))


class LocalTable:
    """What stands between the loops of a client and the tables of this keyboard; is a `Controller`."""

    def __init__(
        self, host: ClientController, invite: InviteRequest, seat: Callable[[str], Opponent], games: int | None = None
    ) -> None:
        """Seat the opponent when there is a code for them; leave after so many `games`, or None: never."""
        self._host = host
        self._invite = invite
        self._seat = seat
        self._games = games
        self._opponent: Opponent | None = None
        self._seen = host
        self._is_inviting = False
        self._display = host.display
        self._group: asyncio.TaskGroup | None = None
        self._playing: asyncio.Task[None] | None = None

    @property
    def connection(self) -> "LocalTable":
        """The links of this keyboard, which `run` keeps up."""
        return self

    @property
    def is_asking(self) -> bool:
        """Whether something was asked that has no answer yet."""
        return any(table.connection.is_asking for table in (self._host, self._second) if table is not None)

    async def run(self) -> None:
        """Keep the links up for as long as the first person's has a use."""
        async with asyncio.TaskGroup() as self._group:
            await self._host.connection.run()
            if self._playing is not None:
                self._playing.cancel()

    @property
    def display(self) -> Display:
        """What is seen: the table of the side to move; after the end, of who was last to move."""
        return self._display

    def _look(self) -> None:
        """See who is to move; until both tables have heard of a move, what was seen before it."""
        tables = [self._host, *([self._second] if self._second is not None else [])]
        self._seen = next((table for table in tables if table.display.is_my_turn), self._seen)
        is_on_its_way = len(tables) > 1 and not self._seen.display.is_my_turn and self._seen.display.is_live
        if not is_on_its_way or self._seen.display.world.link is not LinkState.ONLINE:
            self._display = self._seen.display

    @property
    def is_shared(self) -> bool:
        """Whether two people sit here."""
        return self._second is not None

    @property
    def is_to_go_on(self) -> bool:
        """Whether another match is about to begin."""
        return self._is_inviting

    @property
    def wanted(self) -> SeekRequest:
        """What would be sought, if one sought here."""
        return self._host.wanted

    @property
    def tally(self) -> Tally:
        """What the first person, or the host, has won and lost."""
        return self._host.display.world.tally

    @property
    def is_done(self) -> bool:
        """Whether there is nothing left to wait for."""
        has_played = self._games is not None and self._host.display.world.tally.games >= self._games
        return has_played or self._host.display.world.farewell is not None or self._seen.is_done

    def hear(self, event: WorldEvent, now_ms: int) -> None:
        """Take in an event of one of the tables."""
        if isinstance(event, InvitationReply):
            self._seat_opponent(event.code)
        elif isinstance(event, RecordSaved):
            self._seen.hear(event, now_ms)
        elif not isinstance(event, SecondPlayerEvent):
            self._host.hear(event, now_ms)
            if self._second is not None:
                self._accept(event, self._host)
            if isinstance(event, Ended) and self._games is not None and not self.is_done:
                self._invite_again()
        elif self._second is not None:
            self._second.hear(event.event, now_ms)
            self._accept(event.event, self._second)
        if isinstance(event, Snapshot):
            self._is_inviting = False
        self._look()

    def do(self, command: AnyCommand) -> None:
        """Carry out what was done at the keyboard, for the side that is seen."""
        display = self.display
        is_over = display.match is not None and display.match.outcome is not None
        if command in (Command.NEW, Command.REMATCH) and is_over:
            self._invite_again()
        elif command is Command.TAKE_BACK and self._second is not None:
            (self._host if self._seen is self._second else self._second).do(command)  # whose move was the last
        else:
            self._seen.do(command)
        self._display = self._seen.display

    def look_at_link(self) -> None:
        """Take no note of the way to a server that is in this very program."""

    def forget_notice(self) -> None:
        """Take the notice away, once it has been said where nothing stays on a screen."""
        self._seen.forget_notice()
        self._look()

    @property
    def _second(self) -> ClientController | None:
        return self._opponent.table if isinstance(self._opponent, SecondPerson) else None

    def _seat_opponent(self, code: str) -> None:
        if self._opponent is not None:
            self._opponent.join(code)
        elif self._group is not None:
            self._opponent = self._seat(code)
            self._playing = self._group.create_task(self._opponent.play())

    def _invite_again(self) -> None:
        if not self._is_inviting:
            self._is_inviting = True
            self._host.say(self._invite)

    def _accept(self, event: WorldEvent, table: ClientController) -> None:
        """Let the one agree to what the other has offered: they have talked about it."""
        match = table.display.match
        if isinstance(event, Offered) and match is not None and match.you != event.side:
            table.say(OfferRequest(0, match=event.match, kind=event.kind))
