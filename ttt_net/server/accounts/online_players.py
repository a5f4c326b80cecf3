"""Keep the connected players, by number, by name and as a list; and remember who abandoned matches."""

from bisect import bisect_left, insort
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterator
from itertools import chain, islice

from ttt_net.clock import TimeControl
from ttt_net.server.accounts.session import Session
from ttt_net.server.players import PlayerId
from ttt_net.text import name_key

REMEMBERED_MS = 3_600_000
"""For how long after an abandoned match the next one counts with it."""
MAX_REMEMBERED = 10_000
"""Players whose abandoned matches are remembered; beyond them, whose last one is the longest ago is forgotten."""


class OnlinePlayers:
    """The sessions of connected players, one for each."""

    def __init__(self) -> None:
        self.sessions: dict[PlayerId, Session] = {}
        """By number; changed here alone."""
        self.starting: Counter[PlayerId] = Counter()
        """How many matches of a player are being written down; they may come again meanwhile, as another session."""
        self.leaving: set[PlayerId] = set()
        """Those who have said `forget`, until it is written down."""
        self._order: list[tuple[str, PlayerId]] = []
        self._sessions: dict[tuple[str, PlayerId], Session] = {}
        self._of_address: dict[str, set[Session]] = {}
        self._free: dict[PlayerId, Session] = {}
        """The people who play no match, in the order in which that came to be."""
        self._bots: dict[PlayerId, Session] = {}
        self._playing: dict[PlayerId, Session] = {}
        """The people who do."""

    def __len__(self) -> int:
        return len(self._order)

    def add(self, session: Session) -> None:
        """Add a session; there must be none of that player."""
        self.sessions[session.player] = session
        if session.connection.metered_as is not None:
            self._of_address.setdefault(session.connection.metered_as, set()).add(session)
        place = place_of(session)
        if place not in self._sessions:
            insort(self._order, place)
        self._sessions[place] = session
        self._shelf(session)[session.player] = session

    def remove(self, session: Session) -> bool:
        """Remove a session; tell whether it was there."""
        is_here = self.sessions.get(session.player) is session
        if is_here:
            del self.sessions[session.player]
            self._forget_address(session)
            self._unlist(session)
        return is_here

    def _forget_address(self, session: Session) -> None:
        address = session.connection.metered_as
        others = self._of_address.get(address, set()) if address is not None else set()
        others.discard(session)
        if address is not None and not others:
            self._of_address.pop(address, None)

    def of_address(self, address: str) -> Collection[Session]:
        """Return the sessions that come from what counts as one address."""
        return self._of_address.get(address, ())

    def rename(self, player: PlayerId, name: str) -> None:
        """Let a player, if they are connected, be found by another name."""
        session = self.sessions.get(player)
        if session:
            self._unlist(session)
            session.rename(name)
            self.add(session)

    def get(self, player: PlayerId) -> Session | None:
        """Return the session of a player; None if they are not connected."""
        return self.sessions.get(player)

    def rating_of(self, player: PlayerId, game: str, time: TimeControl | None) -> int:
        """Return the rating of a connected player at a game and the speed of a time control."""
        return self.sessions[player].rating_at(game, time)

    def _unlist(self, session: Session) -> None:
        place = place_of(session)
        if self._sessions.get(place) is session:
            del self._sessions[place]
            del self._order[bisect_left(self._order, place)]
            self._unshelve(session)

    def moved(self, session: Session) -> None:
        """Sort a session anew whose match has begun or ended."""
        shelf = self._shelf(session)
        if self._sessions.get(place_of(session)) is session and session.player not in shelf:
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
    def people(self) -> int:
        """How many people are connected; bots are none."""
        return len(self._order) - len(self._bots)

    @property
    def bots(self) -> Collection[Session]:
        """The sessions of bots."""
        return self._bots.values()

    def by_leisure(self, most: int) -> Iterator[Session]:
        """Return up to so many: the people who play no match, then bots, then people who play.

        Of each kind those are first who came or ended a match last, so that everybody is seen for a while.
        """
        shelves = (reversed(shelf.values()) for shelf in (self._free, self._bots, self._playing))
        return islice(chain.from_iterable(shelves), most)

    def find(self, name: str) -> Session | None:
        """Return the player whose name looks like that one; None if nobody does."""
        key = name_key(name)
        index = bisect_left(self._order, (key, 0))
        if index < len(self._order) and self._order[index][0] == key:
            return self._sessions[self._order[index]]
        return None


def place_of(session: Session) -> tuple[str, PlayerId]:
    """Return where a session stands in a list in the order of names."""
    return name_key(session.info.name), session.player


class AbandonHistory:
    """Counts abandoned matches: the next opponent has to wait less for who has some."""

    def __init__(self, most: int = MAX_REMEMBERED) -> None:
        self._most = most
        self._known: OrderedDict[int, tuple[int, int]] = OrderedDict()
        """How many matches each has abandoned, and when the last of them ended."""

    def abandoned(self, player: PlayerId, now_ms: int) -> None:
        """Count a match that has ended because the player was away."""
        self._known[player] = self.count(player, now_ms) + 1, now_ms
        self._known.move_to_end(player)
        if len(self._known) > self._most:
            self._known.popitem(last=False)

    def count(self, player: PlayerId, now_ms: int) -> int:
        """Return how many matches they abandoned, each less than an hour after the one before; 0 after an hour."""
        count, last_ms = self._known.get(player, (0, 0))
        return count if now_ms - last_ms < REMEMBERED_MS else 0
