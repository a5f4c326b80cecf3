"""Keep the standing seeks: they come, wait, are hidden while a link is down, and go in pairs.

Two seeks fit if game, time, rated or casual, kind of opponent and ranges of ratings do, and if their ratings are no
further apart than the wider of their two bands. A band is narrow at first and widens with waiting. The law that all
of this keeps: **no two standing seeks fit each other**. A seek that comes is paired at once or fits nobody; after
that two can only begin to fit when a band widens, when a rating changes, or when one is hidden no more, and then that
seek looks again.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from ttt_net.pairing.seek import MayMeet, Player, RatingOf, Seek, SeekIndex

BANDS = ((0, 200), (1_000, 400), (3_000, 800), (6_000, 10_000))
"""After so many ms of waiting, how far apart ratings may be; at last as far as they can."""
ALONE_MS = 5_000
"""After how long somebody who waits is told whom else they could play."""
GRACE_MS = 10_000
"""How long the seek of a player whose link was lost waits for them, hidden."""
MOST_IN_TURN = 100
"""Seeks whose bands are widened, or whose players are told of bots, at one time; of a larger crowd the rest have theirs
with the next `tick`."""


@dataclass(slots=True)
class _Standing:
    """A seek that stands, since when, how often its band has widened, and until when it is hidden, if it is."""

    seek: Seek
    since_ms: int
    stage: int = 0
    hidden_until_ms: int | None = None


class SeekMatch(NamedTuple):
    """Two seeks that fit, and the game for both: `found` stood already."""

    seek: Seek
    found: Seek
    game: str


class StandingSeeks:
    """The standing seeks; a player has at most one, and is never matched with themselves."""

    def __init__(self, rating_of: RatingOf, may_meet: MayMeet) -> None:
        self.index = SeekIndex(rating_of, may_meet, tuple(band for _, band in BANDS))
        """The seeks that can be found: all but the hidden ones."""
        self._of_player: dict[Player, _Standing] = {}
        self._numbered: dict[int, _Standing] = {}
        self.last_number = 0
        """The number that was given last."""
        self._narrow: tuple[deque[int], ...] = tuple(deque() for _ in BANDS[1:])
        """For each band that may widen, who has it, in the order in which that is due."""
        self._alone: deque[int] = deque()
        self._hidden: deque[tuple[int, int]] = deque()
        """Until when a player is waited for, and the number of their seek."""

    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[Seek]:
        """Go through the seeks that are not hidden, the oldest first."""
        return (each.seek for each in self._numbered.values() if each.hidden_until_ms is None)

    def of(self, player: Player) -> Seek | None:
        """Return the player's seek, hidden or not."""
        standing = self._of_player.get(player)
        return standing.seek if standing else None

    def hidden(self) -> Iterator[Seek]:
        """Go through the seeks that are hidden, whose players may be back soon."""
        return (each.seek for each in self._numbered.values() if each.hidden_until_ms is not None)

    def find(self, number: int) -> Seek | None:
        """Return the seek of that number, if it stands and is not hidden."""
        standing = self._numbered.get(number)
        return standing.seek if standing and standing.hidden_until_ms is None else None

    def seek(self, seek: Seek, now_ms: int) -> SeekMatch | None:
        """Match the seek with the best of those that fit, who stands no longer; or let it stand."""
        self.withdraw(seek.player)
        self.last_number += 1
        standing = _Standing(replace(seek, number=self.last_number), now_ms)
        match = self._matched(standing)
        if match is None:
            self._of_player[seek.player] = self._numbered[self.last_number] = standing
            self._narrow[0].append(self.last_number)
            self._alone.append(self.last_number)
            self.index.add(standing.seek, standing.stage)
        return match

    def withdraw(self, player: Player) -> bool:
        """Forget the player's seek; tell whether there was one."""
        standing = self._of_player.pop(player, None)
        if standing is None:
            return False
        del self._numbered[standing.seek.number]
        if standing.hidden_until_ms is None:
            self.index.remove(standing.seek)
        return True

    def hide(self, player: Player, now_ms: int) -> None:
        """Hide the seek of a player whose link was lost, until they are back or their grace is over."""
        standing = self._of_player.get(player)
        if standing and standing.hidden_until_ms is None:
            self.index.remove(standing.seek)
            standing.hidden_until_ms = now_ms + GRACE_MS
            self._hidden.append((standing.hidden_until_ms, standing.seek.number))

    def restore(self, player: Player) -> SeekMatch | None:
        """Let the player's hidden seek be found again, or match it with one that has come meanwhile."""
        standing = self._of_player.get(player)
        if standing is None or standing.hidden_until_ms is None:
            return None
        standing.hidden_until_ms = None
        self.index.add(standing.seek, standing.stage)
        return self._matched(standing)

    def look_again(self, player: Player) -> SeekMatch | None:
        """Match the player's seek if `may_meet` allows now what it did not."""
        standing = self._of_player.get(player)
        return None if standing is None or standing.hidden_until_ms is not None else self._matched(standing)

    def rated(self, player: Player) -> SeekMatch | None:
        """List the player's seek with the rating that they have now, and match it if it suits another by that."""
        standing = self._of_player.get(player)
        if standing is None or standing.hidden_until_ms is not None:
            return None
        self._list_anew(standing)
        return self._matched(standing)

    def tick(self, now_ms: int) -> list[SeekMatch]:
        """Widen the bands that are due, and return the matches that this leads to; forget who has not come back."""
        while self._hidden and self._hidden[0][0] <= now_ms:
            until_ms, number = self._hidden.popleft()
            standing = self._numbered.get(number)
            if standing and standing.hidden_until_ms == until_ms:
                self.withdraw(standing.seek.player)
        matches = []
        for stage, queue in enumerate(self._narrow, 1):
            for standing in islice(self._due(queue, now_ms - BANDS[stage][0]), MOST_IN_TURN):
                match = self._widened(standing, stage)
                if match:
                    matches.append(match)
                elif stage < len(self._narrow):
                    self._narrow[stage].append(standing.seek.number)
        return matches

    def alone(self, now_ms: int) -> list[Seek]:
        """Return, once each and some at a time, the seeks of people who have waited for `ALONE_MS`."""
        due = [standing.seek for standing in islice(self._due(self._alone, now_ms - ALONE_MS), MOST_IN_TURN)]
        return [seek for seek in due if not seek.is_bot]

    def _due(self, queue: deque[int], since_ms: int) -> Iterator[_Standing]:
        """Take from a queue those who have waited since then; who stands no longer is left out."""
        while queue:
            standing = self._numbered.get(queue[0])
            if standing and standing.since_ms > since_ms:
                return
            queue.popleft()
            if standing:
                yield standing

    def _widened(self, standing: _Standing, stage: int) -> SeekMatch | None:
        standing.stage = stage
        if standing.hidden_until_ms is not None:
            return None
        self._list_anew(standing)
        return self._matched(standing)

    def _list_anew(self, standing: _Standing) -> None:
        self.index.remove(standing.seek)
        self.index.add(standing.seek, standing.stage)

    def _matched(self, standing: _Standing) -> SeekMatch | None:
        """Return the best match of a seek; both stand no longer."""
        best = self.index.best(standing.seek, standing.stage)
        if best is None:
            return None
        found, game = best
        self.withdraw(found.player)
        self.withdraw(standing.seek.player)
        return SeekMatch(standing.seek, found, game)
