"""Tell the standing seeks of the node that keeps the lobby to the others, which pair nobody."""

from collections.abc import Iterator, Mapping
from itertools import islice

from ttt_net.messages import SeekRequest
from ttt_net.pairing.lobby import Lobby
from ttt_net.pairing.seek import Seek
from ttt_net.server.accounts.session import Session
from ttt_net.server.cluster.entries import Author
from ttt_net.server.cluster.node_messages import StewardSeeks, decode_message, encode_message
from ttt_net.server.matchmaking.listing import MAX_CROWD
from ttt_net.server.players import PlayerId

UNTOLD = 1_000
"""More numbers than are given to seeks, or to challenges, from one telling to the next."""


class ToldSeeks:
    """The seeks that stand at another node; a `ListedSeeks`."""

    def __init__(self, sessions: Mapping[PlayerId, Session]) -> None:
        self._sessions = sessions
        """Sessions of players connected to any node; seeks of others are not listed."""
        self.last_number = 0
        """The greatest number that the other node can have given, or 0 if it told nothing yet."""
        self._total = 0
        self._found: dict[PlayerId, Seek] = {}
        self._hidden: dict[PlayerId, Seek] = {}

    def hear(self, data: bytes, steward: Author | None) -> bool:
        """Replace the list by one that was sent, and return whether it has changed.

        A list of another node than the steward is ignored. One that cannot be read leaves none, rather than an old one.
        """
        told = decode_message(data, StewardSeeks)
        if told is None:
            self._total = 0
            self._found.clear()
            self._hidden.clear()
            return True
        if told.by != steward:
            return False
        self._total, self.last_number = told.total, told.last + UNTOLD
        self._found = {seek.player: seek for seek in told.seeks}
        self._hidden = {seek.player: seek for seek in told.hidden}
        return True

    def forget(self, player: PlayerId) -> None:
        """Forget the seek of a player who took it back, or plays."""
        self._total -= self._found.pop(player, None) is not None
        self._hidden.pop(player, None)

    def __len__(self) -> int:
        return self._total

    def __iter__(self) -> Iterator[Seek]:
        return (seek for seek in self._found.values() if seek.player in self._sessions)

    def of(self, player: PlayerId) -> Seek | None:
        """Return the player's seek, hidden or not."""
        return self._found.get(player) or self._hidden.get(player)


def tell_seeks(by: Author, lobby: Lobby) -> bytes:
    """Return what the node that keeps the lobby tells the others of its seeks."""
    shown, hidden = islice(lobby.seeks, MAX_CROWD), islice(lobby.seeks.hidden(), MAX_CROWD)
    return encode_message(StewardSeeks(by, lobby.last_number, len(lobby.seeks), list(shown), list(hidden)))


def request_of(seek: Seek) -> SeekRequest:
    """Return the request that lets the same seek stand at another node."""
    return SeekRequest(
        0,
        games=list(seek.games),
        time=seek.time,
        opponents=seek.opponents,
        rated=seek.is_rated,
        or_casual=seek.or_casual,
        min_rating=seek.min_rating,
        max_rating=seek.max_rating,
        level=seek.level,
    )
