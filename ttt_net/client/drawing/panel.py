"""Draw the panel beside a board: the score, the watchers, the moves, the chat."""

import textwrap

from rich.text import Text

from ttt_net.client import words
from ttt_net.client.display import Display
from ttt_net.client.drawing.draw_list import wrapped
from ttt_net.client.drawing.glyphs import COLOURS
from ttt_net.messages import Snapshot

WIDTH = 24
"""The columns that it takes."""
_HEAD = 2
"""The lines above each of its parts."""


def panel(display: Display, match: Snapshot, height: int) -> list[Text]:
    """Return at most `height` lines of at most `WIDTH` columns; of moves and chat the newest stay."""
    facts = [line for fact in words.facts(display, match) for line in wrapped(fact, WIDTH)]
    parts = [[Text(line, style="dim") for line in facts]]
    chat, moves = _chat(display), _moves(match)
    left = height - sum(map(len, parts))
    for_chat = min(len(chat), max(0, left // 2 - _HEAD)) if moves else max(0, left - _HEAD)
    for_moves = left - (for_chat + _HEAD if for_chat else 0) - _HEAD
    if moves and for_moves > 0:
        parts.append([Text("Moves", style="dim"), *moves[-for_moves:]])
    if chat and for_chat > 0:
        parts.append([Text("Chat", style="dim"), *chat[-for_chat:]])
    lines: list[Text] = []
    for part in filter(None, parts):
        lines += [Text(), *part] if lines else part
    return lines[:height]


def _chat(display: Display) -> list[Text]:
    """Return what was said, on as many lines as it needs; the later lines of a sentence are indented."""
    lines = []
    for told in display.chat:
        said = textwrap.wrap(words.chatted(told), WIDTH, subsequent_indent="  ")
        lines += [Text(line) for line in said]
    return lines


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
