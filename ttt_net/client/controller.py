"""Declare the controller that the loops of a client drive."""

from typing import Protocol

from ttt_net.client.commands import AnyCommand
from ttt_net.client.display import Display
from ttt_net.client.events import WorldEvent
from ttt_net.messages import SeekRequest


class RunnableConnection(Protocol):
    """A connection, or several, that a loop keeps running."""

    @property
    def is_asking(self) -> bool:
        """Whether something was asked that has no answer yet."""

    async def run(self) -> None:
        """Keep the link up until there is no use."""


class Controller(Protocol):
    """Keeps a display; people who share a keyboard have another one than those who do not."""

    @property
    def connection(self) -> RunnableConnection:
        """The connection that has to run for as long as there is play."""

    @property
    def display(self) -> Display:
        """The display to be shown."""

    @property
    def is_shared(self) -> bool:
        """Whether more than one person sits here, so that "you" may be either."""

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
