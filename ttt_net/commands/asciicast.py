"""Write a match as an asciicast, version 2: lines of JSON that players of terminal recordings show as a film."""

import io
import json
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

STEP_S, HOLD_S = 0.8, 3.0
"""How long each position stays to be seen, and the last."""
_ANEW = "\x1b[H\x1b[2J"
"""Clears the screen, from its upper left corner."""
_LEAST = (40, 8)


def asciicast(title: str, pictures: Sequence[Text]) -> Iterator[str]:
    """Yield the lines: a head with the size of the largest picture, then each picture and the second it is shown at."""
    width = max(_LEAST[0], *(line.cell_len for picture in pictures for line in picture.split()))
    height = max(_LEAST[1], *(len(picture.split()) + 1 for picture in pictures))
    yield json.dumps({"version": 2, "width": width, "height": height, "title": title}, ensure_ascii=False)
    for number, picture in enumerate(pictures):
        drawn = _as_terminal(picture, width).replace("\n", "\r\n")
        yield json.dumps([round(number * STEP_S, 3), "o", _ANEW + drawn], ensure_ascii=False)
    yield json.dumps([round((len(pictures) - 1) * STEP_S + HOLD_S, 3), "o", ""])


def _as_terminal(picture: Text, width: int) -> str:
    """Return the text with its colours as control sequences."""
    console = Console(file=io.StringIO(), force_terminal=True, color_system="standard", width=width, no_color=False)
    with console.capture() as captured:
        console.print(picture, soft_wrap=True, end="", highlight=False)
    return captured.get()
