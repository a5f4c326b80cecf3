"""Tell the events of a match: players at once, watchers in order, a hundred to a turn of the loop."""

import asyncio
from collections import deque
from collections.abc import Callable
from itertools import islice

from ttt_net.messages import Watching, encode
from ttt_net.server.accounts.session import Session
from ttt_net.server.players import PlayerId
from ttt_net.server.wire.frames import frame

CROWD = 100
"""How many watchers are told before the event loop looks after everything else again."""
COUNT_S = 0.5
"""How often at most it is told how many watch: when a class comes in, not with each of its members."""


def _everybody(session: Session) -> bool:
    return True


class Audience:
    """The sessions that hear one match, and the events that some of them are still to hear."""

    def __init__(self, match: str, loop: asyncio.AbstractEventLoop) -> None:
        self.players: dict[PlayerId, Session] = {}
        """The players who are connected to this server."""
        self.elsewhere: dict[PlayerId, Session] = {}
        """The players who hear the match on another node of the cluster, which tells them."""
        self.watching_elsewhere: dict[str, int] = {}
        """How many watch on each other node of a cluster, where any do."""
        self._match = match
        self._loop = loop
        self._watchers: dict[PlayerId, tuple[Session, int]] = {}
        """Each watcher, and how much had been told when they came."""
        self._queue: deque[tuple[int, bytes, deque[Session]]] = deque()
        self._told = 0
        self._told_count = 0
        self._counting: asyncio.TimerHandle | None = None

    def __bool__(self) -> bool:
        return bool(self.players or self._watchers or self.elsewhere)

    @property
    def is_telling(self) -> bool:
        """Whether some watchers have still to hear what others have."""
        return bool(self._queue)

    @property
    def watchers(self) -> int:
        """How many watch, on all nodes of a cluster."""
        return len(self._watchers) + sum(self.watching_elsewhere.values())

    def counted(self) -> int:
        """Return how many watch, for a snapshot; if others were told otherwise, all are told soon."""
        if self.watchers != self._told_count:
            self._told_count = -1
        return self.watchers

    @property
    def watchers_here(self) -> int:
        """How many watch on this server."""
        return len(self._watchers)

    def plays(self, session: Session) -> bool:
        """Tell whether the session hears the match as a player's."""
        return self.players.get(session.player) is session

    def seat(self, session: Session) -> None:
        """Let the session hear the match as a player's."""
        (self.elsewhere if session.is_elsewhere else self.players)[session.player] = session

    def plays_elsewhere(self, session: Session) -> bool:
        """Tell whether the session hears the match as a player's on another node."""
        return self.elsewhere.get(session.player) is session

    def watches(self, session: Session) -> bool:
        """Tell whether the session hears the match as a watcher's."""
        watcher = self._watchers.get(session.player)
        return watcher is not None and watcher[0] is session

    def watch(self, session: Session) -> None:
        """Let the session hear events from now on, and none of those before."""
        self._watchers[session.player] = session, self._told

    def leave(self, session: Session) -> None:
        """Let the session hear no more."""
        if self.plays(session):
            del self.players[session.player]
        elif self.plays_elsewhere(session):
            del self.elsewhere[session.player]
        elif self.watches(session):
            del self._watchers[session.player]

    def tell(self, frames: bytes, asker: Session | None = None, answer: bytes = b"") -> None:
        """Send frames to all who hear the match; who asked gets the answer first, even if they hear no more."""
        for session in self.players.values():
            if session is asker:
                session.connection.send(answer + frames)
                asker = None
            else:
                session.connection.send(frames)
        if asker:
            asker.connection.send(answer)
        self.tell_watchers(frames)

    def tell_players(self, frames: bytes, hears: Callable[[Session], bool] = _everybody) -> None:
        """Tell the players who want to hear it."""
        for session in self.players.values():
            if hears(session):
                session.connection.send(frames)

    def tell_watchers(self, frames: bytes, hears: Callable[[Session], bool] = _everybody) -> None:
        """Tell those who watch now: the first of them at once, unless somebody has older things to hear yet."""
        self._told += 1
        if not self._watchers:
            return
        hearers = deque(session for session, _ in self._watchers.values() if hears(session))
        if hearers:
            self._queue.append((self._told, frames, hearers))
            if len(self._queue) == 1:
                self._tell_some()

    def _tell_some(self) -> None:
        number, frames, hearers = self._queue[0]
        for session in islice(hearers, CROWD):
            if self.watches(session) and self._watchers[session.player][1] < number:
                session.connection.send(frames)
        for _ in range(min(CROWD, len(hearers))):
            hearers.popleft()
        if not hearers:
            self._queue.popleft()
        if self._queue:
            self._loop.call_soon(self._tell_some)

    def tell_count(self) -> None:
        """Tell how many watch, now or within half a second."""
        if self._counting is None and self.watchers != self._told_count:
            self._told_count = self.watchers
            self.tell(frame(encode(Watching(self._match, self.watchers))))
            self._counting = self._loop.call_later(COUNT_S, self._count_again)

    def _count_again(self) -> None:
        self._counting = None
        self.tell_count()

    def close(self) -> None:
        """Let nothing more happen by itself."""
        if self._counting:
            self._counting.cancel()
            self._counting = None
