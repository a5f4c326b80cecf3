"""Let marks fall and winning lines flash on the screen: which boards are seen for how long after a move. Pure."""

from dataclasses import replace
from typing import NamedTuple

from msgspec import structs

from ttt_net.client.display import Display
from ttt_net.messages import Snapshot

FALL_MS = 35
"""How long a falling mark is seen in each row."""
FLASH_MS = 160
FLASHES = 3
SLOW_MS = 150
"""With a longer way to the server nothing moves: a move comes late enough."""


class MotionFrame(NamedTuple):
    """A board and a completed line, and how long they are seen."""

    ms: int
    board: str
    line: tuple[int, ...]


class Motion(NamedTuple):
    """The picture of a move that is made, from a time on; it ends early when the match goes on."""

    match: str
    ply: int
    began_ms: int
    frames: tuple[MotionFrame, ...]

    def frame(self, display: Display, now_ms: int) -> MotionFrame | None:
        """Return the frame of that time; None if it is over, or is not of what the display shows."""
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
    frames = (*_falling(match), *_flashing(match))
    return Motion(match.match, len(match.moves), now_ms, frames) if frames else None


def in_motion(display: Display, frame: MotionFrame) -> Display:
    """Return the display with the board of a frame in place of its own."""
    match = display.match
    if match is None:
        return display
    position = structs.replace(match.position, board=frame.board, line=list(frame.line))
    is_falling = frame.board != match.position.board
    match = structs.replace(match, position=position, last=None if is_falling else match.last)
    return replace(display, world=display.world.with_match(match))


def _is_board(display: Display) -> bool:
    return display.page.screen == "match"


def _falling(match: Snapshot) -> list[MotionFrame]:
    """Return the last mark in each row above the one that it comes to lie in, where marks fall."""
    if not match.game.gravity or len(match.game.shape) != 2:
        return []
    board, width = match.position.board, match.game.shape[-1]
    cell = match.game.move_cells[match.moves[-1]]
    if not 0 <= cell < len(board):
        return []
    mark, empty = board[cell], board[:cell] + "." + board[cell + 1 :]
    rows = range(cell % width, cell, width)
    return [MotionFrame(FALL_MS, empty[:row] + mark + empty[row + 1 :], ()) for row in rows if empty[row] == "."]


def _flashing(match: Snapshot) -> list[MotionFrame]:
    position = match.position
    if not position.line:
        return []
    without, whole = (
        MotionFrame(FLASH_MS, position.board, ()),
        MotionFrame(FLASH_MS, position.board, tuple(position.line)),
    )
    return [without, whole] * FLASHES
