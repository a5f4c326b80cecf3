"""Paint displays on the canvas: marks fall or are drawn, lines light up, the bell rings, the clipboard is filled.

Text from peers never goes into the title of the window.
"""

import base64
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

from msgspec import structs
from rich.text import Text

from ttt_net.client.display import Display
from ttt_net.client.drawing.board import STROKED, shape_of, target_at, without_targets
from ttt_net.client.drawing.draw import draw, grounded
from ttt_net.client.drawing.glyphs import Glyphs, encodable
from ttt_net.client.drawing.sheet import Target
from ttt_net.client.drawing.themes import Depth, is_on_light, theme_for
from ttt_net.client.options import Options
from ttt_net.client.terminal.canvas import Canvas
from ttt_net.client.user_io import glyphs_of
from ttt_net.messages import Snapshot

FALL_MS = 35
"""How long a falling mark is visible in each row."""
STROKE_MS, STROKES = 25, 6
"""How long each step of drawing a mark is visible, and the number of steps."""
SWEEP_MS = 500
"""How long light takes to run along a winning line."""
SLOW_MS = 150
"""With a longer round trip to the server, nothing is animated: moves are late enough."""


class MotionFrame(NamedTuple):
    """A frame of an animation: the board, the lit part of a completed line, a partly drawn mark, and its duration."""

    ms: int
    board: str
    line: tuple[int, ...]
    growing: tuple[int, float] = (-1, 1.0)


class Motion(NamedTuple):
    """The animation of a move from a given time; it ends early when the match continues."""

    match: str
    ply: int
    began_ms: int
    frames: tuple[MotionFrame, ...]

    def frame(self, display: Display, now_ms: int) -> MotionFrame | None:
        """Return the frame at a time; None after the end, or if the display shows something else."""
        match, left = display.match, now_ms - self.began_ms
        if match is None or (match.match, len(match.moves)) != (self.match, self.ply) or not _is_board(display):
            return None
        for frame in self.frames:
            if left < frame.ms:
                return frame
            left -= frame.ms
        return None


def motion_between(before: Display | None, after: Display, now_ms: int) -> Motion | None:
    """Return the motion between two displays, the second with one move more; None if nothing moves."""
    if before is None or before.match is None or after.match is None or not _is_board(after):
        return None
    was, match = before.match, after.match
    is_next = was.match == match.match and match.moves[:-1] == was.moves and len(match.moves) == len(was.moves) + 1
    latency_ms = after.world.latency_ms
    if not is_next or (latency_ms is not None and latency_ms > SLOW_MS):
        return None
    frames = (*_falling(match), *_growing(match), *_sweeping(match))
    return Motion(match.match, len(match.moves), now_ms, frames) if frames else None


def in_motion(display: Display, frame: MotionFrame) -> Display:
    """Return the display with the board of a frame instead of its own."""
    match = display.match
    if match is None:
        return display
    position = structs.replace(match.position, board=frame.board, line=list(frame.line))
    is_falling = frame.board != match.position.board
    match = structs.replace(match, position=position, last=None if is_falling else match.last)
    return replace(display, world=display.world.with_match(match), growing=frame.growing)


def _is_board(display: Display) -> bool:
    return display.page.screen == "match"


def _falling(match: Snapshot) -> list[MotionFrame]:
    """Return the frames of a falling mark: the mark in each row above its final one."""
    if not match.game.gravity or len(match.game.shape) != 2:
        return []
    board, width = match.position.board, match.game.shape[-1]
    cell = match.game.move_cells[match.moves[-1]]
    if not 0 <= cell < len(board):
        return []
    mark, empty = board[cell], board[:cell] + "." + board[cell + 1 :]
    rows = range(cell % width, cell, width)
    return [MotionFrame(FALL_MS, empty[:row] + mark + empty[row + 1 :], ()) for row in rows if empty[row] == "."]


def _growing(match: Snapshot) -> list[MotionFrame]:
    """Return the frames of the last mark as it is drawn stroke by stroke, where marks do not fall."""
    cell = match.game.move_cells[match.moves[-1]]
    if match.game.gravity or shape_of(match.game).looks.get(match.position.board[cell : cell + 1]) not in STROKED:
        return []
    return [MotionFrame(STROKE_MS, match.position.board, (), (cell, n / STROKES)) for n in range(1, STROKES)]


def _sweeping(match: Snapshot) -> list[MotionFrame]:
    """Return the frames of the light that runs along a completed line, cell by cell."""
    line = tuple(match.position.line)
    return [MotionFrame(SWEEP_MS // len(line), match.position.board, line[:n]) for n in range(len(line))]


TITLE, TITLE_ON_TURN, TITLE_ON_CHALLENGE = "ttt_net", "* your turn - ttt_net", "* a challenge - ttt_net"
MOTION_VARIABLE = "TTT_NET_MOTION"


def has_motion(environment: Mapping[str, str]) -> bool:
    """Tell whether to animate: `TTT_NET_MOTION` switches it on or off; by default, only on local terminals."""
    wanted = environment.get(MOTION_VARIABLE, "")
    return wanted == "on" if wanted in ("on", "off") else "SSH_CONNECTION" not in environment


class TerminalScreen:
    """Shows displays; writes only if the picture has changed. `is_focused` is the terminal's latest report."""

    def __init__(self, canvas: Canvas, glyphs: Glyphs, *, is_quiet: bool = False, has_motion: bool = False) -> None:
        """`has_motion`: animate marks and winning lines."""
        self.is_focused = True
        self.keys: Mapping[str, str] = {}
        """The keys that replace other keys."""
        self.wait_ms: int | None = None
        """How long to show the last picture; None if nothing is animated."""
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
        """Restore the terminal inside the context; redraw everything afterwards."""
        with self._canvas.given_back():
            yield
        self._shown, self._title, self.is_focused = None, None, True

    @property
    def size(self) -> tuple[int, int]:
        """The current columns and rows of the window."""
        return self._canvas.size

    def paint(self, display: Display, now_ms: int) -> None:
        """Show the display at the current size of the window."""
        self._tell_turn(display)
        self._copy(display.copied)
        size = self.size
        display = self._moving(display, now_ms)
        page = draw(display, size, now_ms, self._glyphs)
        if self._shown != (page, size):
            self._shown = (page, size)
            written = without_targets(grounded(page, size, self._glyphs))
            written.plain = encodable(written.plain, self._canvas.encoding)
            self._canvas.show(written)

    def _moving(self, display: Display, now_ms: int) -> Display:
        """Return the display with the current frame of the animation, if any."""
        if not self._has_motion:
            return display
        self._motion = motion_between(self._before, display, now_ms) or self._motion
        self._before = display
        frame = self._motion.frame(display, now_ms) if self._motion is not None else None
        self.wait_ms = frame.ms if frame is not None else None
        return in_motion(display, frame) if frame is not None else display

    def target_at(self, column: int, row: int) -> Target | None:
        """Return the target of a click in the current picture."""
        return target_at(self._shown[0], column, row) if self._shown is not None else None

    def _tell_turn(self, display: Display) -> None:
        """Show in the title what the player has to do; ring the bell if this is new and the window has no focus."""
        is_my_turn = (display.is_my_turn and not display.world.is_shared) or display.elsewhere is not None
        title = TITLE_ON_TURN if is_my_turn else TITLE_ON_CHALLENGE if display.world.challenge is not None else TITLE
        if title == self._title or not self._canvas.is_modern or self._is_quiet:
            return
        is_news = title != TITLE and not self.is_focused
        self._title = title
        self._canvas.write(f"\x1b]2;{title}\x07" + "\x07" * is_news)

    def _copy(self, text: str) -> None:
        """Copy a new text to the clipboard if the terminal supports it; the display shows the text in any case."""
        if text != self._copied and self._canvas.is_modern:
            self._canvas.write(f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\x07")
        self._copied = text


def screen_on(canvas: Canvas, options: Options, *, has_motion: bool = False) -> TerminalScreen:
    """Return the screen on a canvas, with the colours and keys of the options."""
    theme = theme_for(options.theme, Depth(canvas.colours), is_on_light=is_on_light(os.environ))
    glyphs = replace(glyphs_of(options), theme=theme)
    screen = TerminalScreen(canvas, glyphs, is_quiet=options.is_quiet, has_motion=has_motion)
    screen.keys = options.keys
    return screen
