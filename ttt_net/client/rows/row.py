"""The one list that all pages but a match consist of: rows to read, and rows that stand for something to do."""

from collections.abc import Sequence
from dataclasses import dataclass

from ttt_net.client.commands import AnyCommand


@dataclass(frozen=True, slots=True)
class Row:
    """A row of columns, known by its key while others come and go; `enter` is what it stands for.

    A row without it is only read: a heading, if it is one, or a sentence.
    """

    cells: tuple[str, ...]
    key: str = ""
    enter: AnyCommand | None = None
    is_heading: bool = False


def section(heading: str, rows: Sequence[Row]) -> list[Row]:
    """Return the rows under their heading; nothing if there are none."""
    return [Row((heading,), is_heading=True), *rows] if rows else []


def cursor_of(rows: Sequence[Row], key: str, place: int) -> int | None:
    """Return the index of the row that the cursor is on: the one with the key, or else the next one to its old place.

    None where there is nothing to choose.
    """
    choices = [index for index, row in enumerate(rows) if row.enter is not None]
    if not choices:
        return None
    return next((index for index in choices if rows[index].key == key), min(choices, key=lambda n: abs(n - place)))


def moved(rows: Sequence[Row], index: int, by: int) -> int:
    """Return the row `by` rows to choose from there, at most the first or the last."""
    choices = [number for number, row in enumerate(rows) if row.enter is not None]
    return choices[max(0, min(choices.index(index) + by, len(choices) - 1))]


def next_section(rows: Sequence[Row], index: int) -> int:
    """Return the first row to choose under the next heading, after the last one that under the first."""
    heads = [number for number, row in enumerate(rows) if row.is_heading]
    after = [head for head in heads if head > index] + heads
    starts = (number for head in after for number in range(head, len(rows)) if rows[number].enter is not None)
    return next(starts, index)
