"""Tables of figures: as narrow as they can be, and none of their cells ever cut off."""

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

_GAPS = (2, 1)
"""How many blanks part two columns: fewer where there is no room for more."""
_NO_LIMIT = 1_000


def new_table(first: str, *, title: str = "", caption: str = "") -> Table:
    """Return a table whose first column, of names, has that heading; a line break in a heading makes it narrower."""
    table = Table(title=title or None, caption=caption or None, box=None, pad_edge=False)
    table.add_column(first, no_wrap=True, vertical="bottom")
    return table


def show_table(console: Console, table: Table) -> None:
    """Print a table; one that is wider than the terminal goes on at its edge, and in a pipe there is none."""
    for gap in _GAPS:
        table.padding = (0, gap, 0, 0)
        needed = Measurement.get(console, console.options.update(max_width=_NO_LIMIT), table).maximum
        if needed <= console.width:
            break
    console.width = max(console.width, needed)
    console.print(table)
