"""The terminal as a canvas: the other screen, no cursor, no echo, and everything given back at the end."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rich.console import Console
from rich.live import Live
from rich.text import Text

from ttt_net.client.draw import draw
from ttt_net.client.glyphs import Glyphs, encodable
from ttt_net.client.view import View

try:
    import termios
except ImportError:  # Windows has no terminal attributes; prompt_toolkit sets the console's mode there
    termios = None  # type: ignore[assignment]


class Screen:
    """Shows views; writes only when the picture has changed."""

    def __init__(self, glyphs: Glyphs) -> None:
        self._glyphs = glyphs
        self._console = Console(file=sys.stdout, markup=False, highlight=False, emoji=False, force_terminal=True)
        self._live = Live(
            Text(),
            console=self._console,
            screen=True,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
            vertical_overflow="crop",
        )
        self._shown: tuple[Text, tuple[int, int]] | None = None

    @contextmanager
    def opened(self) -> Iterator["Screen"]:
        """Take the terminal for as long as the context lasts."""
        with _quiet_keyboard(), self._live:
            yield self

    def paint(self, view: View, now_ms: int) -> None:
        """Show the view in the size that the window has now."""
        size = (self._console.width, self._console.height)
        page = draw(view, size, now_ms, self._glyphs)
        if self._shown != (page, size):
            self._shown = (page.copy(), size)
            page.plain = encodable(page.plain, self._console.encoding)
            self._live.update(page, refresh=True)


@contextmanager
def _quiet_keyboard() -> Iterator[None]:
    """Switch off the echo before the first picture, long before the keyboard is read; restore all at the end."""
    if termios is None:
        yield
        return
    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    quiet = termios.tcgetattr(keyboard)
    quiet[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(keyboard, termios.TCSANOW, quiet)
    try:
        yield
    finally:
        with suppress(termios.error):  # the terminal itself may be gone
            termios.tcsetattr(keyboard, termios.TCSAFLUSH, before)
