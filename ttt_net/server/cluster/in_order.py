"""Put the batches of a log into their order: each is delivered once, and after all before it. Knows no log."""

from ttt_net.server.cluster.log import Hear, Position

MOST_EARLY = 1_024
"""How many batches are kept that came before one that is missing; the rest is fetched again."""


class InOrder:
    """Delivers batches in the order of their places; those that come before one that is missing wait for it."""

    def __init__(self, position: Position, hear: Hear) -> None:
        """Call `hear` with each batch after the position."""
        self.position = position
        """The place of the last batch that was delivered."""
        self._hear = hear
        self._early: dict[Position, bytes] = {}

    def offer(self, position: Position, batch: bytes) -> bool:
        """Deliver a batch if it is the next, and those after it that came early; tell whether none is missing before.

        One that was delivered already is left out.
        """
        if position > self.position + 1:
            if len(self._early) < MOST_EARLY:
                self._early[position] = batch
            return False
        next_batch = batch if position > self.position else None
        while next_batch is not None:
            self.position += 1
            self._hear(self.position, next_batch)
            next_batch = self._early.pop(self.position + 1, None)
        return True

    def missing(self, last: Position) -> list[Position]:
        """Return the places up to `last` whose batches have not come yet."""
        return [place for place in range(self.position + 1, last + 1) if place not in self._early]

    def end(self) -> None:
        """Let go of the batches that wait."""
        self._early.clear()
