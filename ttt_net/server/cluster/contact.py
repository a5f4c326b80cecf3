"""Contact of a node with the log: proof that it knows all that was in there a moment ago.

The log is asked where it ends; once the node has applied that far, it had contact at the moment of the question.
"""

import asyncio
from collections import deque
from functools import partial

from ttt_net.server.cluster.log import Log, Position

POLL_S = 0.5
"""How often a node asks for the end of the log."""
STALE_S = 1.5
"""After so long without proof of contact a node holds requests: what it knows may be old."""
MOST_POLLS = 256
"""How many answers about the end are kept until this node has applied as far: those of two minutes. Of a node that is
further behind the oldest are let go, so its `silence_s` goes on to grow until it has caught up to the others.
"""


class Contact:
    """A node's knowledge of the end of the log. All calls and callbacks are on the event loop."""

    def __init__(self, stream: Log, loop: asyncio.AbstractEventLoop, position: Position) -> None:
        """`position`: up to which place the node has applied the log."""
        self.end: Position = 0
        """Where the log ended when that was last heard of."""
        self._log, self._loop, self._position = stream, loop, position
        self._polls: deque[tuple[float, Position]] = deque(maxlen=MOST_POLLS)
        """When it was asked, and the answer, of those that the node has not applied as far as."""
        self._is_polling_since_s: float | None = None
        self._proven_s: float | None = None

    def poll(self, now_s: float) -> None:
        """Ask for the end, unless an answer is awaited; to be called every so often."""
        since_s = self._is_polling_since_s
        if since_s is None or now_s - since_s > 2 * POLL_S:
            self._is_polling_since_s = now_s
            self._log.end(partial(self._polled, now_s))

    def _polled(self, asked_s: float, end: Position | None) -> None:
        if self._is_polling_since_s == asked_s:
            self._is_polling_since_s = None
        if end is not None:
            self.end = end
            self._polls.append((asked_s, end))
            self.reached(self._position)

    def reached(self, position: Position) -> None:
        """Take note that all was applied up to a place."""
        self._position = position
        while self._polls and self._polls[0][1] <= position:
            asked_s, _ = self._polls.popleft()
            self._proven_s = max(asked_s, self._proven_s or asked_s)

    @property
    def is_fresh(self) -> bool:
        """Whether there was contact within `STALE_S`."""
        return self._proven_s is not None and self._loop.time() - self._proven_s < STALE_S

    @property
    def silence_s(self) -> float:
        """For how long there was no proof of contact; 0 before the first."""
        return 0.0 if self._proven_s is None else self._loop.time() - self._proven_s

    @property
    def lag(self) -> int:
        """How many places of the log were not applied yet when its end was last heard of."""
        return max(0, self.end - self._position)

    @property
    def ends_ahead(self) -> int:
        """How many answers about the end of the log wait for this node to have applied as far, `MOST_POLLS` at most."""
        return len(self._polls)
