"""Who is connected, to be found by name, and listed: whoever can be played first."""

from bisect import bisect_left, insort
from collections.abc import Collection
from itertools import chain, islice

from ttt_net.server.accounts.session import Session
from ttt_net.server.players import PlayerId
from ttt_net.text import name_key


class OnlinePlayers:
    """The sessions by name; one for each player."""

    def __init__(self) -> None:
        self._order: list[tuple[str, PlayerId]] = []
        self._sessions: dict[tuple[str, PlayerId], Session] = {}
        self._free: dict[PlayerId, Session] = {}
        """The people who play no match, in the order in which that came to be."""
        self._bots: dict[PlayerId, Session] = {}
        self._playing: dict[PlayerId, Session] = {}
        """The people who do."""

    def __len__(self) -> int:
        return len(self._order)

    def add(self, session: Session) -> None:
        """Put a session on the list."""
        place = _place(session)
        if place not in self._sessions:
            insort(self._order, place)
        self._sessions[place] = session
        self._shelf(session)[session.player] = session

    def remove(self, session: Session) -> None:
        """Take a session off the list, if it is on it."""
        place = _place(session)
        if self._sessions.get(place) is session:
            del self._sessions[place]
            del self._order[bisect_left(self._order, place)]
            self._unshelve(session)

    def moved(self, session: Session) -> None:
        """Take note that a match of his has begun or ended."""
        shelf = self._shelf(session)
        if self._sessions.get(_place(session)) is session and session.player not in shelf:
            self._unshelve(session)
            shelf[session.player] = session

    def _shelf(self, session: Session) -> dict[PlayerId, Session]:
        if session.info.bot is not None:
            return self._bots
        return self._playing if session.live else self._free

    def _unshelve(self, session: Session) -> None:
        for shelf in (self._free, self._bots, self._playing):
            shelf.pop(session.player, None)

    @property
    def bots(self) -> Collection[Session]:
        """The sessions of bots."""
        return self._bots.values()

    def some(self, count: int) -> list[Session]:
        """Return up to so many, in the order of their names.

        Of more than that the people who play no match come first, who came or ended one last in front; then bots; then
        people who play. So everybody is seen for a while, whatever he is called.
        """
        shelves = (reversed(shelf.values()) for shelf in (self._free, self._bots, self._playing))
        return sorted(islice(chain.from_iterable(shelves), count), key=_place)

    def find(self, name: str) -> Session | None:
        """Return who people would take for the one of that name."""
        key = name_key(name)
        index = bisect_left(self._order, (key, 0))
        if index < len(self._order) and self._order[index][0] == key:
            return self._sessions[self._order[index]]
        return None


def _place(session: Session) -> tuple[str, PlayerId]:
    return name_key(session.info.name), session.player
