"""Track which nodes may write to the log, which are silent or differ, and whether this one is up to date.

`Peers` knows the authors of the log. `Contact` proves that this node recently knew the whole log: it asks for the end
of the log, and once the node has applied everything up to that end, contact is proven for the time of the question.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Sequence
from functools import partial

from ttt_net.server.cluster.log import Author, Batch, Log, NodeName, Position

log = logging.getLogger(__name__)

LOST_S = 2.0
"""A node that is silent for longer is declared lost by the others."""
MOST_SKEW_MS = 30_000
"""A clock that differs by more from those of most others is wrong, and would write odd times into the log."""
POLL_S = 0.5
"""Interval at which a node asks for the end of the log."""
STALE_S = 1.5
"""Without proof of contact for longer, a node holds requests, since its state may be old."""
MOST_POLLS = 256
"""Most answers about the end that are kept until this node has applied as far: those of two minutes. A node that is
further behind drops the oldest, so its `silence_s` grows until it has caught up.
"""


class Peers:
    """The nodes that may write, including this one, and the state of each. Knows no log and no clock."""

    def __init__(self, node: NodeName) -> None:
        self._node = node
        self._authors: dict[Author, int] = {}
        """Authors that may write, oldest first, with the number of their last batch."""
        self._urls: dict[NodeName, str] = {}
        """Addresses for players of all nodes, past ones too; empty if unknown."""
        self._heard_s: dict[Author, float] = {}
        """Time of the last batch of each author, or when it was first missed."""
        self._claims: dict[NodeName, bool] = {}
        """Whether the running hash of each other node agreed with ours in its last batch."""
        self._ahead_ms: dict[NodeName, int] = {}
        """How far the clock of each other node is ahead of ours, by its newest batch."""

    def recall(self, authors: dict[Author, int], urls: dict[NodeName, str]) -> None:
        """Begin with the authors and addresses from the tables."""
        self._authors, self._urls = authors, urls

    def began(self, node: NodeName, url: str) -> None:
        """Note a new epoch of a node, which ends its earlier ones."""
        self._urls[node] = url
        self._authors = {author: number for author, number in self._authors.items() if author.node != node}

    def wrote(self, author: Author, number: int, now_s: float) -> None:
        """Note an accepted batch."""
        self._authors[author] = number
        self._heard_s[author] = now_s

    def is_lost(self, author: Author) -> None:
        """Note that an author may not write any more."""
        self._authors.pop(author, None)
        self._ahead_ms.pop(author.node, None)

    # The members.

    def members(self) -> Sequence[Author]:
        """Return the authors that may write as far as this node knows, oldest first."""
        return list(self._authors)

    def urls(self) -> list[str]:
        """Return the known addresses for players of all nodes that may write, this one too."""
        members = {author.node for author in self._authors}
        return [url for node, url in sorted(self._urls.items()) if url and node in members]

    def known_urls(self) -> list[str]:
        """Return the known addresses of all nodes, lost ones too, so that pages loaded from a lost node work on."""
        return [url for _, url in sorted(self._urls.items()) if url]

    def is_first(self, author: Author) -> bool:
        """Return whether an author is the oldest."""
        return next(iter(self._authors), None) == author

    # Silence.

    def excuse(self) -> None:
        """Measure silence from now on: this node was paused or cut off itself, and cannot judge the others."""
        self._heard_s.clear()

    def silence_s(self, author: Author, now_s: float) -> float:
        """Return how long an author has written nothing."""
        return now_s - self._heard_s.setdefault(author, now_s)

    def others_write(self, now_s: float) -> bool:
        """Tell whether another node takes part and is not silent."""
        return any(author.node != self._node and self.silence_s(author, now_s) <= LOST_S for author in self._authors)

    def silent(self, now_s: float) -> list[tuple[Author, int]]:
        """Return the authors to declare lost, with the number of their last batch; each every `LOST_S` at most."""
        found = []
        for author, number in self._authors.items():
            if self.silence_s(author, now_s) > LOST_S and author.node != self._node:
                self._heard_s[author] = now_s
                found.append((author, number))
        return found

    # Differences.

    def compare(self, batch: Batch, ours: str) -> None:
        """Compare the running hash of another node with ours at the same place."""
        self._claims[batch.node] = batch.state == ours
        if batch.state != ours:
            log.error("node %s is not at one with us about place %d", batch.node, batch.position)

    @property
    def contradict_us(self) -> bool:
        """Whether clearly more nodes differ from this one than agree with it, so that it must stop."""
        claims = list(self._claims.values())
        return claims.count(False) > 1 + claims.count(True)

    def tell_time(self, node: NodeName, ahead_ms: int) -> None:
        """Note how far the clock of another node is ahead of ours."""
        self._ahead_ms[node] = ahead_ms

    @property
    def wrong_clock(self) -> str | None:
        """The fault of the clock here, for people; None if there is none."""
        ahead_ms = sorted((0, *self._ahead_ms.values()), key=abs)  # if two nodes differ, either may be wrong
        most_ms = ahead_ms[(len(ahead_ms) - 1) // 2]
        if abs(most_ms) > MOST_SKEW_MS:
            return f"the clock here is {-most_ms // 1000} s ahead of the others'; set it right"
        return None


class Contact:
    """A node's knowledge of the end of the log. All calls and callbacks are on the event loop."""

    def __init__(self, stream: Log, loop: asyncio.AbstractEventLoop, position: Position) -> None:
        """Begin at the last position that the node has applied."""
        self.end: Position = 0
        """The end of the log by the newest answer."""
        self._log, self._loop, self._position = stream, loop, position
        self._polls: deque[tuple[float, Position]] = deque(maxlen=MOST_POLLS)
        """Time and answer of each question about an end that the node has not reached."""
        self._is_polling_since_s: float | None = None
        self._proven_s: float | None = None

    def poll(self, now_s: float) -> None:
        """Ask for the end unless a question is open. Call this several times a second."""
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
        """Record that the log was applied up to a position."""
        self._position = position
        while self._polls and self._polls[0][1] <= position:
            asked_s, _ = self._polls.popleft()
            self._proven_s = max(asked_s, self._proven_s or asked_s)

    @property
    def is_fresh(self) -> bool:
        """Whether contact was proven within `STALE_S`."""
        return self._proven_s is not None and self._loop.time() - self._proven_s < STALE_S

    @property
    def silence_s(self) -> float:
        """Seconds since the last proof of contact; 0 before the first."""
        return 0.0 if self._proven_s is None else self._loop.time() - self._proven_s

    @property
    def lag(self) -> int:
        """The positions that were not applied when the last answer about the end arrived."""
        return max(0, self.end - self._position)

    @property
    def ends_ahead(self) -> int:
        """Number of answers about ends that this node has not reached, `MOST_POLLS` at most."""
        return len(self._polls)
