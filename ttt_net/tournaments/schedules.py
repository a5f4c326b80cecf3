"""Pair the players of every kind of tournament except a Swiss, as pure functions and values.

Round robins follow the Berger tables of the FIDE Handbook (C.05, annex 1). In a knockout of 16, seeds meet in the order
1-16, 8-9, 4-13, 5-12, 2-15, 7-10, 3-14, 6-11, so the best two can only meet in the final.

An arena is continuous matches for a fixed time, as on lichess. A win is worth 2 points and a draw 1. After two wins in
a row a player is on a streak: each further match counts double until one is not won. After a draw, the next draws are
worth nothing until the player wins.

A king of the table plays the first in the queue. The winner stays, and the loser goes to the back. After `REIGN` wins
in a row both go to the back, the king first, and so do both after a draw. Players play in the order of arrival, except
kings.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

Entrant = int
"""The number of a player in one tournament."""
Pair = tuple[Entrant, Entrant]
"""Two entrants who play each other; the former moves first."""


def round_robin(entrants: Sequence[Entrant], cycles: int = 1) -> list[list[Pair]]:
    """Return the rounds in which each entrant meets each other one once per cycle. With an odd number one rests.

    Sides are reversed in every second cycle. Before another cycle, the last two rounds are exchanged, so that nobody
    moves first, or second, three times in a row. Raises `ValueError` if there are fewer than two entrants.
    """
    if len(entrants) < 2:
        raise ValueError("a round robin needs at least two entrants")
    rounds = _berger(entrants)
    found: list[list[Pair]] = []
    for cycle in range(cycles):
        is_followed = cycle + 1 < cycles and len(rounds) > 1
        order = [*rounds[:-2], rounds[-1], rounds[-2]] if is_followed else rounds
        found += [[(second, first) for first, second in each] if cycle % 2 else list(each) for each in order]
    return found


def _berger(entrants: Sequence[Entrant]) -> list[list[Pair]]:
    """Return the rounds of one cycle by the Berger tables."""
    size = len(entrants) + len(entrants) % 2
    places: list[Entrant | None] = [*entrants, *[None] * (size - len(entrants))]
    rounds = []
    for number in range(size - 1):
        turn = number * size // 2 % (size - 1)
        last = (turn, size - 1) if number % 2 == 0 else (size - 1, turn)
        others = [((turn + step) % (size - 1), (turn - step) % (size - 1)) for step in range(1, size // 2)]
        pairs = ((places[first], places[second]) for first, second in [last, *others])
        rounds.append([(first, second) for first, second in pairs if first is not None and second is not None])
    return rounds


class KnockoutBoard(NamedTuple):
    """One place of a bracket: two entrants, the better seed of the first round first; alone, one goes through."""

    one: Entrant
    other: Entrant | None


def first_boards(seeds: Sequence[Entrant]) -> list[KnockoutBoard]:
    """Return the first round of a knockout, from the top of the bracket. The best seeds get the byes.

    Raises `ValueError` if there are fewer than two entrants.
    """
    if len(seeds) < 2:
        raise ValueError("a knockout needs at least two entrants")
    order = [1]
    while len(order) < len(seeds):
        size = 2 * len(order)
        order = [place for seed in order for place in (seed, size + 1 - seed)]
    places = [seeds[seed - 1] if seed <= len(seeds) else None for seed in order]
    boards = []
    for one, other in zip(places[::2], places[1::2], strict=True):
        assert one is not None, "the better seed of a board is below half of the bracket"
        boards.append(KnockoutBoard(one, other))
    return boards


def next_boards(boards: Sequence[KnockoutBoard], winners: Mapping[int, Entrant]) -> list[KnockoutBoard]:
    """Return the round after one; empty after the final. `winners` are the winners of played boards, by index.

    Raises `ValueError` if a board has no winner, or a winner who did not play there.
    """
    through = [_through(board, winners.get(index)) for index, board in enumerate(boards)]
    if len(through) == 1:
        return []
    return [KnockoutBoard(one, other) for one, other in zip(through[::2], through[1::2], strict=True)]


def third_place(semifinals: Sequence[KnockoutBoard], winners: Mapping[int, Entrant]) -> KnockoutBoard | None:
    """Return the match of the losers of the semifinals; None without two semifinals with losers."""
    if len(semifinals) != 2:
        return None
    losers = [_loser(board, winners.get(index)) for index, board in enumerate(semifinals)]
    one, other = losers
    return None if one is None or other is None else KnockoutBoard(one, other)


def knockout_places(
    rounds: Sequence[Sequence[KnockoutBoard]],
    winners: Sequence[Mapping[int, Entrant]],
    third: Entrant | None = None,
) -> dict[Entrant, int]:
    """Return the places of all eliminated entrants, and of the winner after the final.

    Losers of the same round share the best of their places. `third` is the winner of the match for third place.
    """
    places: dict[Entrant, int] = {}
    for boards, won in zip(rounds, winners, strict=True):
        for index, board in enumerate(boards):
            loser = _loser(board, won.get(index)) if index in won else None
            if loser is not None:
                places[loser] = len(boards) + 1
        if len(boards) == 1 and 0 in won:
            places[won[0]] = 1
    if third is not None:
        places.update({entrant: 3 if entrant == third else 4 for entrant, place in places.items() if place == 3})
    return places


def _through(board: KnockoutBoard, winner: Entrant | None) -> Entrant:
    if board.other is None:
        return board.one
    if winner not in board or winner is None:
        raise ValueError(f"the board of {board.one} and {board.other} has no winner yet")
    return winner


def _loser(board: KnockoutBoard, winner: Entrant | None) -> Entrant | None:
    """Return the loser of a board; None for a bye."""
    if board.other is None:
        return None
    return board.other if _through(board, winner) == board.one else board.one


PATIENCE_MS = 15_000
"""The maximal wait in an arena before all waiting players are paired."""
MIN_CROWD, CROWD_SHARE = 4, 8
"""The number, or the fraction of the field, that must wait before pairing, so that large fields get equal opponents.

If everybody waits, there is nobody to wait for.
"""
ARENA_WIN, ARENA_DRAW = 2, 1
STREAK = 2
"""The number of consecutive wins after which points are doubled."""

ArenaResult = Literal["win", "draw", "early_draw", "loss", "void"]
"""How a match ended for one player. An early draw is worth nothing; a void match ended by an error of the server."""


class WaitingEntrant(NamedTuple):
    """A present player of an arena without a match."""

    entrant: Entrant
    rank: int
    """The place in the standings, from 1."""
    since_ms: int
    """The beginning of their wait."""
    last_opponent: Entrant | None = None
    firsts: int = 0
    """How many more matches they moved first in than their opponents."""


def arena_points(results: Iterable[ArenaResult]) -> list[int]:
    """Return the points of each match of one player, in the order in which they ended."""
    points, wins, has_drawn = [], 0, False
    for result in results:
        factor = 2 if wins >= STREAK else 1
        match result:
            case "win":
                points.append(ARENA_WIN * factor)
                wins, has_drawn = wins + 1, False
            case "draw":
                points.append(0 if has_drawn else ARENA_DRAW * factor)
                wins, has_drawn = 0, True
            case "early_draw":
                points.append(0)
                wins, has_drawn = 0, True
            case "loss":
                points.append(0)
                wins = 0
            case "void":
                points.append(0)
    return points


def arena_pairs(waiting: Sequence[WaitingEntrant], present: int, now_ms: int) -> list[Pair]:
    """Return the matches that begin now, often none. `present` counts all present players, playing or waiting.

    The longest waiting player is paired first, with the nearest in rank such that the two did not meet last. With an
    odd number, the latest arrival rests, unless somebody would have no other opponent. Two players who have just met
    play again only if nobody else is present.
    """
    queue = sorted(waiting, key=lambda each: (each.since_ms, each.rank, each.entrant))
    is_crowd = len(queue) >= min(present, max(MIN_CROWD, -(-present // CROWD_SHARE)))
    if len(queue) < 2 or not (is_crowd or now_ms - queue[0].since_ms >= PATIENCE_MS):
        return []
    resting = queue.pop() if len(queue) % 2 else None
    pairs = []
    while queue:
        one = queue.pop(0)
        fit = [other for other in queue if present <= 2 or not _met_last(one, other)]
        if not fit and resting is not None and not _met_last(one, resting):
            fit, resting = [resting], None
        if fit:
            other = min(fit, key=lambda each: (abs(each.rank - one.rank), each.since_ms, each.entrant))
            queue = [each for each in queue if each is not other]
            pairs.append((one.entrant, other.entrant) if one.firsts <= other.firsts else (other.entrant, one.entrant))
    return pairs


def _met_last(one: WaitingEntrant, other: WaitingEntrant) -> bool:
    return one.last_opponent == other.entrant or other.last_opponent == one.entrant


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
