"""Speak to the person who started the client: whether they can answer, have a screen, and how errors reach them."""

import os
import sys

from ttt_net.client.command_line.options import Options
from ttt_net.client.drawing.glyphs import Glyphs, glyphs_for
from ttt_net.programs import CLIENT


def tell(sentence: str) -> None:
    """Print a sentence; where the terminal ends, a line ends with a whole word."""
    print(_filled(sentence))


def complain(sentence: str) -> None:
    """Write an error to standard error: in one line, but where a terminal would break it within a word."""
    line = f"{CLIENT}: {sentence}"
    print(_filled(line) if sys.stderr.isatty() else line, file=sys.stderr)


def _filled(sentence: str) -> str:
    import shutil  # a first picture does not wait for them
    import textwrap

    width = shutil.get_terminal_size().columns - 1
    return textwrap.fill(sentence, width, break_long_words=False, break_on_hyphens=False)


def is_on_screen(options: Options) -> bool:
    """Tell whether there is a terminal that can be drawn on, and nothing else was asked for."""
    has_screen = sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
    return has_screen and not (options.is_plain or options.is_json or options.is_spoken)


def may_ask(options: Options) -> bool:
    """Tell whether somebody sits here who can answer."""
    return options.bot is None and not options.is_json and sys.stdin.isatty() and sys.stdout.isatty()


def glyphs_of(options: Options) -> Glyphs:
    """Return the characters that the terminal can draw boards with."""
    return glyphs_for(sys.stdout.encoding, is_ascii=options.is_ascii)
