"""What reaches a client's loop besides the server's messages: the fate of link and requests, keys, lines, signals."""

from dataclasses import dataclass
from enum import Enum

from ttt_net.messages import AnyServerMessage, Ok, Refused, Request


@dataclass(frozen=True, slots=True)
class Answered:
    """The one answer to a request of ours."""

    request: Request
    answer: Ok | Refused


@dataclass(frozen=True, slots=True)
class Garbled:
    """The server said something that makes no sense; it was left out."""

    reason: str


@dataclass(frozen=True, slots=True)
class Lost:
    """The link is gone, for the reason given; it is being looked after."""

    reason: str


@dataclass(frozen=True, slots=True)
class Retrying:
    """The link will be tried for the `attempt`-th time after `in_ms`."""

    attempt: int
    in_ms: int
    reason: str = ""
    """What was wrong the last time."""


@dataclass(frozen=True, slots=True)
class Back:
    """The link stands again; what was missed is on its way."""


@dataclass(frozen=True, slots=True)
class RecordSaved:
    """The record of a match was written into a file, or could not be; `sentence` tells."""

    sentence: str


class Parting(Enum):
    """Why a client comes to its end."""

    DONE = "done"
    UNREACHABLE = "unreachable"
    DISTRUSTED = "distrusted"
    REPLACED = "replaced"
    GIVEN_UP = "given up"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Farewell:
    """The last event of all: why there will be no other, and a sentence for people.

    `code` is the refusal's, when the server did not accept who we said we are.
    """

    why: Parting
    sentence: str
    code: str | None = None


@dataclass(frozen=True, slots=True)
class SecondPlayerEvent:
    """An event of the controller of the second person at this keyboard."""

    event: "WorldEvent"


WorldEvent = AnyServerMessage | Answered | Garbled | Lost | Retrying | Back | RecordSaved | Farewell | SecondPlayerEvent
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
"""The events that a mailbox holds; a connection then waits, a keyboard or a signal is left out."""
