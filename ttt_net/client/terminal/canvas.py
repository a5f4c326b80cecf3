"""Show lines on a terminal: on the alternate screen, without cursor and echo, and restore everything at the end.

Most terminals also report clicks, pasted text and the focus, and have a title. This module imports only what it needs
to show a sentence, so that the first picture does not wait for other modules.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from rich.console import Console
from rich.live import Live
from rich.text import Text

try:
    import termios
except ImportError:  # Windows has no terminal attributes; prompt_toolkit sets the console's mode there
    termios = None  # type: ignore[assignment]

_OLD_TERMINALS = ("linux", "vt", "ansi", "cons", "sun", "wyse")
_ROOMY_ROWS, _STATUS_ROW = 16, 2
_MODES = (1000, 1006, 1004, 2004)
"""The modes to switch on: mouse reports for any column, focus reports, bracketed paste."""
_KEEP_TITLE, _GIVE_TITLE_BACK = "\x1b[22;2t", "\x1b[23;2t"


class Canvas:
    """Shows lines of text on a terminal that it controls."""

    def __init__(self) -> None:
        self._console = Console(file=sys.stdout, markup=False, highlight=False, emoji=False, force_terminal=True)
        self.is_modern = not os.environ.get("TERM", "").startswith(_OLD_TERMINALS) and not self._console.legacy_windows
        """Whether the terminal supports clicks, titles and a clipboard."""
        self._held = ExitStack()
        """Everything to restore."""
        self._live = self._new_live()

    @contextmanager
    def opened(self) -> Iterator["Canvas"]:
        """Take over the terminal inside the context."""
        with self._held:
            self._take()
            yield self

    @contextmanager
    def given_back(self) -> Iterator[None]:
        """Restore the terminal inside the context; redraw everything afterwards."""
        self._held.close()
        try:
            yield
        finally:
            self._live = self._new_live()
            self._take()

    @property
    def size(self) -> tuple[int, int]:
        """The current columns and rows of the window."""
        return self._console.width, self._console.height

    @property
    def colours(self) -> str | None:
        """The colour system of the terminal, by rich's name; None if it has no colours or the user wants none."""
        return None if self._console.no_color else self._console.color_system

    @property
    def encoding(self) -> str:
        """The encoding of the output."""
        return self._console.encoding

    def greet(self, sentence: str, *, row: int | None = None) -> None:
        """Show a sentence before anything else is loaded, in the row of the status or in another row."""
        lines = [Text(sentence, style="bold"), *[Text()] * self.size[1]]
        status_row = _STATUS_ROW if self.size[1] > _ROOMY_ROWS else 0
        blank = [Text()] * (status_row if row is None else row)
        page = Text("\n", no_wrap=True, overflow="crop", end="").join([*blank, *lines][: self.size[1]])
        page.no_wrap, page.overflow, page.end = True, "crop", ""
        self.show(page)

    def show(self, page: Text) -> None:
        """Show a page instead of the previous one."""
        self._live.update(page, refresh=True)

    def write(self, codes: str) -> None:
        """Write codes that do not change the page: a title, a bell, a text for the clipboard."""
        self._console.file.write(codes)
        self._console.file.flush()

    def _take(self) -> None:
        for part in (_quiet_keyboard(), self._live, self._told_more()):
            self._held.enter_context(part)

    def _new_live(self) -> Live:
        return Live(
            Text(),
            console=self._console,
            screen=True,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
            vertical_overflow="crop",
        )

    @contextmanager
    def _told_more(self) -> Iterator[None]:
        if not self.is_modern:
            yield
            return
        self.write(_KEEP_TITLE + "".join(f"\x1b[?{mode}h" for mode in _MODES))
        try:
            yield
        finally:
            with suppress(OSError):  # the terminal itself may be gone
                self.write("".join(f"\x1b[?{mode}l" for mode in reversed(_MODES)) + _GIVE_TITLE_BACK)


@contextmanager
def _quiet_keyboard() -> Iterator[None]:
    """Switch off the echo before the first picture, long before the keyboard is read; restore it at the end.

    Ctrl-Z also waits until it is read: the terminal has to be restored before the client stops.
    """
    if termios is None:
        yield
        return
    keyboard = sys.stdin.fileno()
    try:
        before = termios.tcgetattr(keyboard)
        quiet = termios.tcgetattr(keyboard)
        quiet[3] &= ~(termios.ECHO | termios.ICANON)
        quiet[6][termios.VSUSP] = bytes([os.fpathconf(keyboard, "PC_VDISABLE")])
        termios.tcsetattr(keyboard, termios.TCSANOW, quiet)
    except termios.error as error:
        raise OSError(*error.args) from None  # as whatever else is done to a terminal that is gone
    try:
        yield
    finally:
        with suppress(termios.error):  # the terminal itself may be gone
            termios.tcsetattr(keyboard, termios.TCSAFLUSH, before)
