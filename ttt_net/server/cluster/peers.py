"""Those who write to the log, as one node knows them: where they are, who is silent, whose tables or clock differ."""

import logging
from collections.abc import Sequence

from ttt_net.server.cluster.entries import Author, Batch, NodeName

log = logging.getLogger(__name__)

LOST_S = 2.0
"""After so long a silence a node is declared lost by the others."""
MOST_SKEW_MS = 30_000
"""A clock that differs by more from those of most others is wrong: what is written down would have odd times."""


class Peers:
    """Who may write, this node too, and the state of each. Knows no log, and no clock."""

    def __init__(self, node: NodeName) -> None:
        self._node = node
        self._authors: dict[Author, int] = {}
        """Who may write, with the number of their last batch; first who has been there for the longest."""
        self._urls: dict[NodeName, str] = {}
        """Where players reach, or reached, all nodes that there were; empty of those that have not said it."""
        self._heard_s: dict[Author, float] = {}
        """When each last wrote, or was first missed."""
        self._claims: dict[NodeName, bool] = {}
        """Of each other node, whether its running hash agreed with ours when it last wrote."""
        self._ahead_ms: dict[NodeName, int] = {}
        """How far the clock of each other node is ahead of ours, as of its newest batch."""

    def recall(self, authors: dict[Author, int], urls: dict[NodeName, str]) -> None:
        """Begin with those whom the tables know."""
        self._authors, self._urls = authors, urls

    def began(self, node: NodeName, url: str) -> None:
        """Take note of an epoch: those before it of the same node are over."""
        self._urls[node] = url
        self._authors = {author: number for author, number in self._authors.items() if author.node != node}

    def wrote(self, author: Author, number: int, now_s: float) -> None:
        """Take note of a batch that counts."""
        self._authors[author] = number
        self._heard_s[author] = now_s

    def is_lost(self, author: Author) -> None:
        """Take note that one may not write any more."""
        self._authors.pop(author, None)
        self._ahead_ms.pop(author.node, None)

    # Who they are.

    def members(self) -> Sequence[Author]:
        """Return who may write, as far as this node knows; first who has been there for the longest."""
        return list(self._authors)

    def urls(self) -> list[str]:
        """Return where players reach the nodes that may write, this one too; only those that said it."""
        members = {author.node for author in self._authors}
        return [url for node, url in sorted(self._urls.items()) if url and node in members]

    def known_urls(self) -> list[str]:
        """Return where players reach, or reached, all nodes that there were: pages that came from a lost one go on."""
        return [url for _, url in sorted(self._urls.items()) if url]

    def is_first(self, author: Author) -> bool:
        """Tell whether one has been there for the longest."""
        return next(iter(self._authors), None) == author

    # Who is silent.

    def excuse(self) -> None:
        """Count every silence anew: this node was paused or cut off itself, and cannot tell who is silent."""
        self._heard_s.clear()

    def silence_s(self, author: Author, now_s: float) -> float:
        """Return for how long one has written nothing."""
        return now_s - self._heard_s.setdefault(author, now_s)

    def others_write(self, now_s: float) -> bool:
        """Tell whether another node takes part, and has not been silent for long."""
        return any(author.node != self._node and self.silence_s(author, now_s) <= LOST_S for author in self._authors)

    def silent(self, now_s: float) -> list[tuple[Author, int]]:
        """Return whom to declare lost, with the number of their last batch; each once in a while."""
        found = []
        for author, number in self._authors.items():
            if self.silence_s(author, now_s) > LOST_S and author.node != self._node:
                self._heard_s[author] = now_s
                found.append((author, number))
        return found

    # Who differs.

    def compare(self, batch: Batch, ours: str) -> None:
        """Compare the running hash that another node has of a place with ours."""
        self._claims[batch.node] = batch.state == ours
        if batch.state != ours:
            log.error("node %s is not at one with us about place %d", batch.node, batch.position)

    @property
    def contradict_us(self) -> bool:
        """Whether more of the others differ from this node than agree with it: then it must not go on."""
        claims = list(self._claims.values())
        return claims.count(False) > 1 + claims.count(True)

    def tell_time(self, node: NodeName, ahead_ms: int) -> None:
        """Take note of how far the clock of another node is ahead of ours."""
        self._ahead_ms[node] = ahead_ms

    @property
    def wrong_clock(self) -> str | None:
        """The fault of the clock here, for people; None: there is none."""
        ahead_ms = sorted((0, *self._ahead_ms.values()), key=abs)  # of two that differ, neither is known to be wrong
        most_ms = ahead_ms[(len(ahead_ms) - 1) // 2]
        if abs(most_ms) > MOST_SKEW_MS:
            return f"the clock here is {-most_ms // 1000} s ahead of the others'; set it right"
        return None
