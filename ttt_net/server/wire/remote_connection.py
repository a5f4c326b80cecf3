"""Stand for the connection of a player to another node, in the sessions of this one."""

from collections.abc import Callable

from ttt_net.errors import UNKNOWN, Closing, Refusal, UnknownOutcomeError
from ttt_net.messages import encode
from ttt_net.messages.codec import refused
from ttt_net.server.wire.frames import frame


class RemoteConnection:
    """The connection of a player on another node, as a session uses it.

    Messages go to the player's node, and may be lost on the way. Events of a match never go this way: each node sends
    them to its own connections.
    """

    __slots__ = ("_forward", "address", "left_on_purpose", "metered_as", "node", "opened_s", "session")

    def __init__(
        self,
        node: str,
        address: str,
        opened_s: float,
        forward: Callable[[bytes, Closing | None], None],
        *,
        is_metered: bool,
    ) -> None:
        self.node = node
        """Where the player is connected."""
        self.address = address
        """No address, but what sanctions of it are kept under; empty if it is not known."""
        self.metered_as: str | None = address if is_metered else None
        self.opened_s = opened_s
        self.left_on_purpose = False
        """Whether the player had said goodbye when the connection ended."""
        self.session: object = None
        self._forward = forward

    @property
    def is_open(self) -> bool:
        """Return True: its end is heard in the log."""
        return True

    @property
    def is_behind(self) -> bool:
        """Return False: their own node sees to it."""
        return False

    @property
    def lag_ms(self) -> int:
        """Return 0: it is measured on their own node."""
        return 0

    @property
    def unsent_bytes(self) -> int:
        """Return 0: unsent messages wait on their own node."""
        return 0

    def charge(self, ms: float) -> None:
        """Do nothing: their own node charges what it does for them."""

    def send(self, frames: bytes) -> None:
        """Send frames by way of the player's node."""
        self._forward(frames, None)

    def refuse(self, request: int | None, refusal: Refusal) -> None:
        """Refuse a request; if it is not known whether it was carried out, close."""
        if isinstance(refusal, UnknownOutcomeError):
            self.close(Closing.RESTART, UNKNOWN)
            return
        self.send(frame(encode(refused(request, refusal))))

    def close(self, closing: Closing, reason: str = "") -> None:
        """Have the player's node close the connection."""
        self._forward(reason.encode(), closing)
