"""Seat players at tables where the winner stays: a queue for an evening on a local network.

The first in the queue plays the king of a table. The winner stays, and the loser goes to the back. After `REIGN` wins
in a row both go to the back, the king first, and so do both after a draw. Players play in the order of arrival, except
kings.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ttt_net.tournaments.schedules import Entrant, Pair

REIGN = 3
"""After this many consecutive wins, a king has to give up the table."""


@dataclass(frozen=True, slots=True)
class KingTable:
    """One table: free, held by a king who waits for the next in the queue, or in play."""

    king: Entrant | None = None
    """The winner of the last match here, or the first of two players who began at a free table."""
    challenger: Entrant | None = None
    wins: int = 0
    """The king's wins in a row."""


@dataclass(frozen=True, slots=True)
class TableQueue:
    """The queue and the tables. Every method returns the next state, and changes nothing."""

    waiting: tuple[Entrant, ...] = ()
    """The next one first."""
    tables: tuple[KingTable, ...] = ()
    missed: frozenset[Entrant] = frozenset()
    """The players who were away when it was their turn."""

    @property
    def entrants(self) -> tuple[Entrant, ...]:
        """All players: those at the tables, then the waiting ones."""
        seated = (each for table in self.tables for each in (table.king, table.challenger))
        return (*(each for each in seated if each is not None), *self.waiting)

    def joined(self, entrant: Entrant) -> "TableQueue":
        """Add a player to the back of the queue. Raises `ValueError` if they are already in it or at a table."""
        if entrant in self.entrants:
            raise ValueError(f"{entrant} is here already")
        return replace(self, waiting=(*self.waiting, entrant))

    def left(self, entrant: Entrant) -> "TableQueue":
        """Remove a player. Raises `ValueError` if they are in a match, which has to end first, or not here."""
        if entrant not in self.entrants or any(entrant in (_players(table) or ()) for table in self.tables):
            raise ValueError(f"{entrant} is not waiting")
        tables = tuple(KingTable() if table.king == entrant else table for table in self.tables)
        waiting = tuple(each for each in self.waiting if each != entrant)
        return TableQueue(waiting, tables, self.missed - {entrant})

    def without_absent(self, gone: Iterable[Entrant]) -> "TableQueue":
        """Remove those of these players who are here and in no match."""
        queue = self
        for entrant in gone:
            is_playing = any(entrant in (_players(table) or ()) for table in queue.tables)
            if entrant in queue.entrants and not is_playing:
                queue = queue.left(entrant)
        return queue

    def passed_over(self, entrant: Entrant) -> "TableQueue":
        """Move an absent player of the queue behind the next one; the second time, remove them.

        Raises `ValueError` if they are not in the queue.
        """
        if entrant not in self.waiting:
            raise ValueError(f"it is not the turn of {entrant}")
        if entrant in self.missed:
            return self.left(entrant)
        at = self.waiting.index(entrant)
        others = [*self.waiting[:at], *self.waiting[at + 1 :]]
        others.insert(at + 1, entrant)
        return replace(self, waiting=tuple(others), missed=self.missed | {entrant})

    def seated(self, pairs: Sequence[Pair], waiting: Sequence[Entrant]) -> "TableQueue":
        """Return the state after these matches began, with the queue as it was written down then."""
        wins = {table.king: table.wins for table in self.tables if table.king is not None}
        new = {each for pair in pairs for each in pair}
        kept = [
            table for table in self.tables if table.challenger is not None or table.king not in (None, *waiting, *new)
        ]
        tables = (*kept, *(KingTable(king, challenger, wins.get(king, 0)) for challenger, king in pairs))
        others = (each for each in self.waiting if each not in waiting and each not in new)  # whose match ended since
        return TableQueue((*waiting, *others), tables, self.missed - new)

    def started(self) -> tuple["TableQueue", list[Pair]]:
        """Begin a match at each table with two players, and return these matches too. The challenger moves first.

        There is one table per three players. A king whose table is no longer needed goes to the front of the queue.
        """
        count = max(1, (len(self.entrants) + 1) // 3)
        waiting, tables, pairs = list(self.waiting), list(self.tables), list[Pair]()
        for table in [table for table in reversed(tables) if table.challenger is None]:
            if len(tables) > count:
                tables.remove(table)
                waiting = [*([] if table.king is None else [table.king]), *waiting]
        tables += [KingTable()] * (count - len(tables))
        for number in sorted(range(len(tables)), key=lambda number: tables[number].king is None):
            table = tables[number]
            needed = (table.king is None) + 1
            if table.challenger is None and len(waiting) >= needed:
                king = waiting.pop(0) if table.king is None else table.king
                challenger = waiting.pop(0)
                tables[number] = KingTable(king, challenger, table.wins)
                pairs.append((challenger, king))
        missed = self.missed - {each for pair in pairs for each in pair}
        return TableQueue(tuple(waiting), tuple(tables), missed), pairs

    def ended(self, pair: Pair, winner: Entrant | None) -> "TableQueue":
        """End the match of two players; `winner` is None after a draw.

        Raises `ValueError` if there is no such match.
        """
        number = next((number for number, table in enumerate(self.tables) if _players(table) == pair), None)
        if number is None or (winner is not None and winner not in pair):
            raise ValueError(f"there is no such match of {pair[0]} and {pair[1]}")
        table = self.tables[number]
        assert table.king is not None, "a match has a king, or the first of two"
        assert table.challenger is not None, "a match has a challenger"
        wins = 0 if winner is None else table.wins + 1 if winner == table.king else 1
        loser = table.challenger if winner in (None, table.king) else table.king
        stays = winner if 0 < wins < REIGN else None
        gone = [loser] if stays is not None else [table.king if winner is None else winner, loser]
        after = KingTable() if stays is None else KingTable(stays, None, wins)
        tables = (*self.tables[:number], after, *self.tables[number + 1 :])
        return replace(self, waiting=(*self.waiting, *(each for each in gone if each is not None)), tables=tables)


def _players(table: KingTable) -> Pair | None:
    """Return the two players at a table, beginning with the one who moves first; None while nobody plays."""
    return None if table.king is None or table.challenger is None else (table.challenger, table.king)
