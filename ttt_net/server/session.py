"""A player's presence: who he is, over which connection, and at which tables he sits."""

from ttt_net.errors import Refusal
from ttt_net.messages import Heard, Ok, PlayerInfo, encode
from ttt_net.server.connection import Connection, frame
from ttt_net.server.journal.sqlite import PlayerId


class Session:
    """One connected player, from his accepted `hello` to the end of the connection.

    Nothing of value lives here: a player who connects again gets a new session, and his matches, which live in the
    journal and at their tables, take him back by his id.
    """

    __slots__ = ("connection", "info", "live", "player", "tables")

    def __init__(self, connection: Connection, player: PlayerId, info: PlayerInfo) -> None:
        self.connection = connection
        self.player = player
        self.info = info
        self.tables: set[str] = set()
        """The matches whose facts he hears."""
        self.live: set[str] = set()
        """His unfinished matches."""

    def tell(self, message: Heard) -> None:
        """Send him one message."""
        self.connection.send(frame(encode(message)))

    def ok(self, request: int) -> None:
        """Answer a request that was carried out."""
        self.tell(Ok(request))

    def refuse(self, request: int, refusal: Refusal) -> None:
        """Answer a request that was not carried out."""
        self.connection.refuse(request, refusal)
