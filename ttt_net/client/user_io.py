"""Speak to the person who started the client: whether they can answer, have a screen, and how sentences reach them."""

import os
import shutil
import signal
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from ttt_net.client.drawing.glyphs import Glyphs, encodable, glyphs_for, wrapped
from ttt_net.client.options import Options
from ttt_net.programs import CLIENT

try:
    import termios
except ImportError:  # Windows has none; nothing is thrown away there
    termios = None  # type: ignore[assignment]

ENDINGS = ("SIGINT", "SIGTERM", "SIGHUP")
"""The signals that end a program."""


def tell(sentence: str) -> None:
    """Print a sentence; where the terminal ends, a line ends with a whole word."""
    print(_filled(sentence))


def complain(sentence: str) -> None:
    """Write an error to standard error: in one line, but where a terminal would break it within a word."""
    line = f"{CLIENT}: {sentence}"
    print(_filled(line) if sys.stderr.isatty() else line, file=sys.stderr)


def _filled(sentence: str) -> str:
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


def columns_of_terminal() -> int | None:
    """Return how wide the terminal is by now that lines are written to; None where they go elsewhere."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def writer_of(options: Options) -> Callable[[str], None]:
    """Return what writes sentences for people; among JSON lines there is no place for them."""
    return (lambda text: None) if options.is_json else _write_for_people


def json_writer_of(options: Options) -> Callable[[str], None] | None:
    """Return what writes lines of JSON, where these were asked for."""
    return write_text if options.is_json else None


def write_text(text: str) -> None:
    """Write text at once, as far as the encoding of the output has its characters."""
    print(encodable(text, sys.stdout.encoding), flush=True)


def _write_for_people(text: str) -> None:
    """Print sentences; where a terminal would break a line within a word, it ends before the word."""
    columns = columns_of_terminal()
    if columns is not None:
        text = "\n".join(part for line in text.split("\n") for part in wrapped(line, columns))
    write_text(text)


def ask_anew(question: str) -> str:
    """Return a person's answer to a question; text that was typed before it is thrown away."""
    if termios is not None:
        with suppress(OSError, ValueError, termios.error):
            termios.tcflush(sys.stdin, termios.TCIFLUSH)
    return input(question)


@contextmanager
def signals_raised() -> Iterator[None]:
    """Let the signals that end a program raise `KeyboardInterrupt`, as Ctrl-C does, until the context ends."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for name in ENDINGS if (number := getattr(signal, name, None))}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
