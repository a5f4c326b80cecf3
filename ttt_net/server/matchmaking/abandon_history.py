"""Who has lately left matches that then ended without him: in the next ones the other has to wait less for him."""

from collections import OrderedDict

from ttt_net.server.players import PlayerId

REMEMBERED_MS = 3_600_000
"""For how long after a desertion the next one counts with it."""
MAX_REMEMBERED = 10_000
"""Players whose desertions are remembered; beyond them, whose last one is the longest ago is forgotten."""


class AbandonHistory:
    """The desertions of players, as many as are worth remembering."""

    def __init__(self, most: int = MAX_REMEMBERED) -> None:
        self._most = most
        self._known: OrderedDict[int, tuple[int, int]] = OrderedDict()
        """How many matches each has deserted, and when the last of them ended."""

    def deserted(self, player: PlayerId, now_ms: int) -> None:
        """Take note that a match has ended because the player was away."""
        self._known[player] = self.count(player, now_ms) + 1, now_ms
        self._known.move_to_end(player)
        if len(self._known) > self._most:
            self._known.popitem(last=False)

    def count(self, player: PlayerId, now_ms: int) -> int:
        """Return how many matches he has deserted, each less than an hour after the one before; 0 after an hour."""
        count, last_ms = self._known.get(player, (0, 0))
        return count if now_ms - last_ms < REMEMBERED_MS else 0
