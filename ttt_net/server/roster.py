"""Who is connected, to be found by name and listed in its order."""

from bisect import bisect_left, insort
from collections.abc import Collection, Iterator
from itertools import islice

from ttt_net.server.journal.sqlite import PlayerId
from ttt_net.server.session import Session
from ttt_net.text import name_key


class Roster:
    """The sessions by name; one for each player."""

    def __init__(self) -> None:
        self._order: list[tuple[str, PlayerId]] = []
        self._sessions: dict[tuple[str, PlayerId], Session] = {}
        self._bots: dict[PlayerId, Session] = {}

    def __len__(self) -> int:
        return len(self._order)

    def add(self, session: Session) -> None:
        """Put a session on the list."""
        place = _place(session)
        if place not in self._sessions:
            insort(self._order, place)
        self._sessions[place] = session
        if session.info.bot is not None:
            self._bots[session.player] = session

    def remove(self, session: Session) -> None:
        """Take a session off the list, if it is on it."""
        place = _place(session)
        if self._sessions.get(place) is session:
            del self._sessions[place]
            del self._order[bisect_left(self._order, place)]
            self._bots.pop(session.player, None)

    @property
    def bots(self) -> Collection[Session]:
        """The sessions of bots."""
        return self._bots.values()

    def first(self, count: int) -> Iterator[Session]:
        """Return the first so many, in the order of their names."""
        return (self._sessions[place] for place in islice(self._order, count))

    def find(self, name: str) -> Session | None:
        """Return who people would take for the one of that name."""
        key = name_key(name)
        index = bisect_left(self._order, (key, 0))
        if index < len(self._order) and self._order[index][0] == key:
            return self._sessions[self._order[index]]
        return None


def _place(session: Session) -> tuple[str, PlayerId]:
    return name_key(session.info.name), session.player
