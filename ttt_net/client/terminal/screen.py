"""The terminal as a canvas: the other screen, no cursor, no echo, and everything given back at the end.

Terminals that know more than the oldest ones also tell clicks, pasted text and the focus, carry a title, and ring when
it becomes our turn while nobody looks. Nothing that a peer wrote goes into a title.
"""

import base64
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.text import Text

from ttt_net.client.drawing.glyphs import Glyphs, encodable
from ttt_net.client.drawing.targets import Target, target_at, without_targets

if TYPE_CHECKING:
    from ttt_net.client.display import Display

try:
    import termios
except ImportError:  # Windows has no terminal attributes; prompt_toolkit sets the console's mode there
    termios = None  # type: ignore[assignment]

_OLD_TERMINALS = ("linux", "vt", "ansi", "cons", "sun", "wyse")
_ROOMY_ROWS, _STATUS_ROW = 16, 2
_MODES = (1000, 1006, 1004, 2004)
"""What is switched on: clicks, told with any column; the focus; marks around pasted text."""
_KEEP_TITLE, _GIVE_TITLE_BACK = "\x1b[22;2t", "\x1b[23;2t"
TITLE, TITLE_ON_TURN, TITLE_ON_CHALLENGE = "ttt_net", "* your turn - ttt_net", "* a challenge - ttt_net"


class TerminalScreen:
    """Shows views; writes only when the picture has changed. `is_focused` is what the terminal last told."""

    def __init__(self, glyphs: Glyphs, *, is_quiet: bool = False) -> None:
        self.is_focused = True
        self._is_quiet = is_quiet
        self._glyphs = glyphs
        self._console = Console(file=sys.stdout, markup=False, highlight=False, emoji=False, force_terminal=True)
        self._is_modern = not os.environ.get("TERM", "").startswith(_OLD_TERMINALS) and not self._console.legacy_windows
        self._held = ExitStack()
        """All that has to be given back."""
        self._live = self._canvas()
        self._shown: tuple[Text, tuple[int, int]] | None = None
        self._title: str | None = None
        self._copied = ""

    @contextmanager
    def opened(self) -> Iterator["TerminalScreen"]:
        """Take the terminal for as long as the context lasts."""
        with self._held:
            self._take()
            yield self

    @contextmanager
    def given_back(self) -> Iterator[None]:
        """Give the terminal back, as it was found, for as long as the context lasts; what comes after is drawn anew."""
        self._held.close()
        try:
            yield
        finally:
            self._live, self._shown, self._title, self.is_focused = self._canvas(), None, None, True
            self._take()

    def _take(self) -> None:
        for part in (_quiet_keyboard(), self._live, self._told_more()):
            self._held.enter_context(part)

    def _canvas(self) -> Live:
        return Live(
            Text(),
            console=self._console,
            screen=True,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
            vertical_overflow="crop",
        )

    def greet(self, sentence: str, *, row: int | None = None) -> None:
        """Show a sentence before anything else is loaded, where the status will stand, or in another row."""
        lines = [Text(sentence, style="bold"), *[Text()] * self.size[1]]
        status_row = _STATUS_ROW if self.size[1] > _ROOMY_ROWS else 0
        blank = [Text()] * (status_row if row is None else row)
        page = Text("\n", no_wrap=True, overflow="crop", end="").join([*blank, *lines][: self.size[1]])
        page.no_wrap, page.overflow, page.end = True, "crop", ""
        self.show(page, self.size)

    def paint(self, display: "Display", now_ms: int) -> None:
        """Show the display in the size that the window has now."""
        from ttt_net.client.drawing.draw import draw  # after the greeting

        self._tell_turn(display)
        self._copy(display.copied)
        self.show(draw(display, self.size, now_ms, self._glyphs), self.size)

    @property
    def size(self) -> tuple[int, int]:
        """The columns and rows that the window has now."""
        return self._console.width, self._console.height

    def show(self, page: Text, size: tuple[int, int]) -> None:
        """Show a page that was drawn for a window of that size."""
        if self._shown != (page, size):
            self._shown = (page, size)
            written = without_targets(page)
            written.plain = encodable(written.plain, self._console.encoding)
            self._live.update(written, refresh=True)

    def target_at(self, column: int, row: int) -> "Target | None":
        """Return what a click there means in the picture that is shown."""
        return target_at(self._shown[0], column, row) if self._shown is not None else None

    def _tell_turn(self, display: "Display") -> None:
        """Say in the title what waits for us; ring if something has come to wait and nobody looks."""
        is_my_turn = display.is_my_turn or display.elsewhere is not None
        title = TITLE_ON_TURN if is_my_turn else TITLE_ON_CHALLENGE if display.world.challenge is not None else TITLE
        if title == self._title or not self._is_modern or self._is_quiet:
            return
        is_news = title != TITLE and not self.is_focused
        self._title = title
        self._write(f"\x1b]2;{title}\x07" + "\x07" * is_news)

    def _copy(self, text: str) -> None:
        """Put a new text on the clipboard, as far as the terminal knows how; the display shows it in any case."""
        if text != self._copied and self._is_modern:
            self._write(f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\x07")
        self._copied = text

    @contextmanager
    def _told_more(self) -> Iterator[None]:
        if not self._is_modern:
            yield
            return
        self._write(_KEEP_TITLE + "".join(f"\x1b[?{mode}h" for mode in _MODES))
        try:
            yield
        finally:
            with suppress(OSError):  # the terminal itself may be gone
                self._write("".join(f"\x1b[?{mode}l" for mode in reversed(_MODES)) + _GIVE_TITLE_BACK)

    def _write(self, codes: str) -> None:
        self._console.file.write(codes)
        self._console.file.flush()


@contextmanager
def _quiet_keyboard() -> Iterator[None]:
    """Switch off the echo before the first picture, long before the keyboard is read; restore all at the end."""
    if termios is None:
        yield
        return
    keyboard = sys.stdin.fileno()
    try:
        before = termios.tcgetattr(keyboard)
        quiet = termios.tcgetattr(keyboard)
        quiet[3] &= ~(termios.ECHO | termios.ICANON)
        termios.tcsetattr(keyboard, termios.TCSANOW, quiet)
    except termios.error as error:
        raise OSError(*error.args) from None  # as whatever else is done to a terminal that is gone
    try:
        yield
    finally:
        with suppress(termios.error):  # the terminal itself may be gone
            termios.tcsetattr(keyboard, termios.TCSAFLUSH, before)
