"""The events of a connection: the server's messages, the answers to requests, and the loss and return of the link."""

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
    """The reason of the last failure."""


@dataclass(frozen=True, slots=True)
class Back:
    """The link stands again; what was missed is on its way."""

    url: str = ""
    """Where it leads now, if that is another node than before."""


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


ConnectionEvent = AnyServerMessage | Answered | Garbled | Lost | Retrying | Back | Farewell
"""All that a connection tells."""
