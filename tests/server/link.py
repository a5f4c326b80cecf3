"""A connection to a hub, without a socket."""

from ttt_net import messages as wire
from ttt_net.errors import Closing, Refusal


class Link:
    """A connection that reads what it is sent at once."""

    def __init__(self) -> None:
        self.session: object = None
        self.is_open = True
        self.is_behind = False
        self.address = ""
        self.metered_as = None
        self.account, self.player, self.owed_ms = None, None, 0.0
        self.has_said_hello = False
        self.lacks_place = False
        self.left_on_purpose = False
        self.lag_ms = 0
        self.heard: list[wire.AnyServerMessage] = []
        self.asked = 0

    def meter(self) -> int:
        return 0

    def hold(self) -> None:
        """Nothing is read from it that could wait."""

    def send(self, frames: bytes) -> None:
        while self.is_open and frames:
            start, size = (2, frames[1]) if frames[1] < 126 else (4, int.from_bytes(frames[2:4], "big"))
            self.heard.append(wire.decode_server_message(frames[start : start + size]))
            frames = frames[start + size :]

    def refuse(self, request: int | None, refusal: Refusal) -> None:
        if self.is_open:
            self.heard.append(wire.refused(request, refusal))

    def close(self, closing: Closing, reason: str = "") -> None:
        self.is_open = False

    @property
    def answers(self) -> list[int]:
        return [each.id or 0 for each in self.heard if isinstance(each, wire.Ok | wire.Refused)]

    def numbers(self) -> list[int]:
        return [each.challenge for each in self.heard if isinstance(each, wire.Challenged)]

    def codes(self) -> list[str]:
        return [each.code for each in self.heard if isinstance(each, wire.InvitationReply)]
