"""Show the display on the canvas: draw it, ring when it becomes our turn while nobody looks, fill the clipboard.

Nothing that a peer wrote goes into a title.
"""

import base64
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from rich.text import Text

from ttt_net.client.display import Display
from ttt_net.client.drawing.draw import draw
from ttt_net.client.drawing.glyphs import Glyphs, encodable
from ttt_net.client.drawing.motion import Motion, in_motion, motion_between
from ttt_net.client.drawing.targets import Target, target_at, without_targets
from ttt_net.client.terminal.canvas import Canvas

TITLE, TITLE_ON_TURN, TITLE_ON_CHALLENGE = "ttt_net", "* your turn - ttt_net", "* a challenge - ttt_net"
MOTION_VARIABLE = "TTT_NET_MOTION"


def has_motion(environment: Mapping[str, str]) -> bool:
    """Tell whether marks may fall: as `TTT_NET_MOTION` says, on or off, or else unless the terminal is far away."""
    wanted = environment.get(MOTION_VARIABLE, "")
    return wanted == "on" if wanted in ("on", "off") else "SSH_CONNECTION" not in environment


class TerminalScreen:
    """Shows displays; writes only when the picture has changed. `is_focused` is what the terminal last told."""

    def __init__(self, canvas: Canvas, glyphs: Glyphs, *, is_quiet: bool = False, has_motion: bool = False) -> None:
        """With `has_motion` marks fall, and winning lines flash."""
        self.is_focused = True
        self.wait_ms: int | None = None
        """How long what was last shown is to be seen; None while nothing moves."""
        self._has_motion = has_motion and canvas.is_modern
        self._before: Display | None = None
        self._motion: Motion | None = None
        self._canvas = canvas
        self._is_quiet = is_quiet
        self._glyphs = glyphs
        self._shown: tuple[Text, tuple[int, int]] | None = None
        self._title: str | None = None
        self._copied = ""

    @contextmanager
    def given_back(self) -> Iterator[None]:
        """Give the terminal back, as it was found, for as long as the context lasts; what comes after is drawn anew."""
        with self._canvas.given_back():
            yield
        self._shown, self._title, self.is_focused = None, None, True

    def paint(self, display: Display, now_ms: int) -> None:
        """Show the display in the size that the window has now."""
        self._tell_turn(display)
        self._copy(display.copied)
        size = self._canvas.size
        display = self._moving(display, now_ms)
        page = draw(display, size, now_ms, self._glyphs)
        if self._shown != (page, size):
            self._shown = (page, size)
            written = without_targets(page)
            written.plain = encodable(written.plain, self._canvas.encoding)
            self._canvas.show(written)

    def _moving(self, display: Display, now_ms: int) -> Display:
        """Return the display as it is to be seen now, while something moves in it."""
        if not self._has_motion:
            return display
        self._motion = motion_between(self._before, display, now_ms) or self._motion
        self._before = display
        frame = self._motion.frame(display, now_ms) if self._motion is not None else None
        self.wait_ms = frame.ms if frame is not None else None
        return in_motion(display, frame) if frame is not None else display

    def target_at(self, column: int, row: int) -> Target | None:
        """Return what a click there means in the picture that is shown."""
        return target_at(self._shown[0], column, row) if self._shown is not None else None

    def _tell_turn(self, display: Display) -> None:
        """Say in the title what waits for us; ring if something has come to wait and nobody looks."""
        is_my_turn = (display.is_my_turn and not display.world.is_shared) or display.elsewhere is not None
        title = TITLE_ON_TURN if is_my_turn else TITLE_ON_CHALLENGE if display.world.challenge is not None else TITLE
        if title == self._title or not self._canvas.is_modern or self._is_quiet:
            return
        is_news = title != TITLE and not self.is_focused
        self._title = title
        self._canvas.write(f"\x1b]2;{title}\x07" + "\x07" * is_news)

    def _copy(self, text: str) -> None:
        """Put a new text on the clipboard, as far as the terminal knows how; the display shows it in any case."""
        if text != self._copied and self._canvas.is_modern:
            self._canvas.write(f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\x07")
        self._copied = text
