"""Declare the events of a client's loop: those of its connection, keys, lines, signals."""

from dataclasses import dataclass

from ttt_net.sdk.received import ConnectionEvent


@dataclass(frozen=True, slots=True)
class LocalNotice:
    """Something that happened on this machine: a file was written, or could not be."""

    sentence: str


@dataclass(frozen=True, slots=True)
class ReachableAt:
    """Others on the network reach the server at this address."""

    address: str


WorldEvent = ConnectionEvent | LocalNotice | ReachableAt
"""The events that change what is known of the world."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key was pressed, named as prompt_toolkit names it."""

    name: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line was typed, or None: no other will come."""

    text: str | None


@dataclass(frozen=True, slots=True)
class Clicked:
    """The mouse was clicked, in a column and row counted from 0."""

    column: int
    row: int


@dataclass(frozen=True, slots=True)
class Pasted:
    """A text was pasted, whatever it holds."""

    text: str


@dataclass(frozen=True, slots=True)
class Focused:
    """The window came into focus, or went out of it."""

    is_focused: bool


@dataclass(frozen=True, slots=True)
class Resized:
    """The window has another size."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The system asks us to end, or the person at the keyboard does so without being asked."""


TerminalEvent = Key | Line | Resized | Clicked | Pasted | Focused
"""The events of a keyboard, a mouse and a window."""
Event = WorldEvent | TerminalEvent | Stop
"""The events that reach the loop of a client."""

MAX_QUEUED_EVENTS = 256
"""The events of a connection that a mailbox holds; then the connection waits."""
MAX_QUEUED_KEYS = 64
"""The keys, clicks and lines that a mailbox holds besides; more are lost, as with any keyboard."""
HANG_UP = ("c-c", "<sigint>")
"""The keys that leave at once."""
