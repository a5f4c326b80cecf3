"""Schedule tournaments whose pairings follow from the entry list: round robin and knockout.

Round robins follow the Berger tables of the FIDE Handbook (C.05, annex 1). In a knockout of 16, seeds meet in the order
1-16, 8-9, 4-13, 5-12, 2-15, 7-10, 3-14, 6-11, so the best two can only meet in the final.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

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
