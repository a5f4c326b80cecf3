"""Declare the controller that the loops of a client drive."""

from typing import Protocol

from ttt_net.client.commands import AnyCommand
from ttt_net.client.display import Display
from ttt_net.client.events import WorldEvent
from ttt_net.messages import Request, SeekRequest
from ttt_net.sdk.trust import Trust


class RunnableConnection(Protocol):
    """What a loop keeps running: a connection, or a search."""

    @property
    def is_asking(self) -> bool:
        """Whether something was asked that has no answer yet."""

    async def run(self) -> None:
        """Keep the link up until there is no use."""


class PlayerConnection(RunnableConnection, Protocol):
    """The connection of a player: to a server, or to the matches at this keyboard."""

    @property
    def url(self) -> str:
        """The address of the server; empty where there is none."""

    @property
    def trust(self) -> Trust:
        """How the server is trusted."""

    @property
    def latency_ms(self) -> int | None:
        """The way to the server and back; None as long as it is not known."""

    def say(self, request: Request) -> None:
        """Send a request. Raises `Refusal` if too many are unanswered."""


class Controller(Protocol):
    """Keeps a display: that of a player, or that of one who chooses a server."""

    @property
    def connection(self) -> RunnableConnection:
        """The connection that has to run for as long as there is play."""

    @property
    def display(self) -> Display:
        """The display to be shown."""

    @property
    def is_to_go_on(self) -> bool:
        """Whether another match has been asked for, so that moves may wait for it."""

    @property
    def wanted(self) -> SeekRequest:
        """The search that was asked for last, or is to be asked for first."""

    @property
    def is_done(self) -> bool:
        """Whether there is nothing left to wait for."""

    def hear(self, event: WorldEvent, now_ms: int) -> None:
        """Take in an event."""

    def do(self, command: AnyCommand) -> None:
        """Carry out what the player did."""

    def look_at_link(self) -> None:
        """Take note of how long the way to the server is."""

    def forget_notice(self) -> None:
        """Take the notice away."""
