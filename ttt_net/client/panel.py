"""What stands beside a board: the score, who watches, the moves."""

from rich.text import Text

from ttt_net.client import words
from ttt_net.client.glyphs import COLOURS
from ttt_net.client.view import View
from ttt_net.messages import Snapshot

WIDTH = 24
"""The columns that it takes."""


def panel(view: View, match: Snapshot, height: int) -> list[Text]:
    """Return at most `height` lines of at most `WIDTH` columns; of the moves the newest stay."""
    facts = [Text(line, style="dim") for line in words.facts(view, match)]
    moves = _moves(match)
    room = height - len(facts) - 2
    if not moves or room < 1:
        return facts[:height]
    return [*facts, *[Text()] * bool(facts), Text("Moves", style="dim"), *moves[-room:]][:height]


def _moves(match: Snapshot) -> list[Text]:
    """Return the moves two by two, each side's in a column of its own."""
    names = [words.move_name(match, move) for move in match.moves]
    columns = max((Text(name).cell_len for name in names), default=0) + 2
    lines = []
    for ply in range(0, len(names), 2):
        line = Text(f"{ply // 2 + 1:3}. ", style="dim")
        for side, name in enumerate(names[ply : ply + 2]):
            is_last = ply + side == len(names) - 1
            colour = COLOURS.get(words.mark_of(match, side), "default")
            line.append(name, f"not dim {colour} bold underline" if is_last else f"not dim {colour}")
            line.append(" " * max(1, columns - Text(name).cell_len))
        lines.append(line)
    return lines
