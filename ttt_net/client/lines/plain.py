"""Line by line, for pipes, dumb terminals and screen readers: text out, words in, and not one escape byte."""

import asyncio
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

from ttt_net.client import words
from ttt_net.client.actions import CLAIMS as CLAIM_KINDS
from ttt_net.client.actions import Action, Choose, Do, Move
from ttt_net.client.bindings.phrasebook import CLAIMS, action_of
from ttt_net.client.events import Clicked, Focused, Key, Line, Mail, Pasted, Resized, Stop
from ttt_net.client.lines.telling import Telling
from ttt_net.client.seat import Seat
from ttt_net.client.view import Overlay
from ttt_net.messages import Played
from ttt_net.text import clean

LEAVE_S = 2.0
MAX_HELD_LINES = 256
_MAX_LINE_BYTES = 1024
"""Enough for all that may be said at once, in any script."""
_FULL_S = 0.05


class Plain:
    """A table without a screen: lines are taken in order, and a move waits until it is our turn."""

    def __init__(self, table: Seat, telling: Telling, write: Callable[[str], None], *, is_typed: bool = False) -> None:
        """`is_typed`: whether a person types the lines, and nothing that was written before."""
        self._table = table
        self._is_typed = is_typed
        self._telling = telling
        self._write = write
        self._last: list[str] = []
        """What was said last, to be repeated."""
        self._said: dict[str, str] = {}
        self._lines: deque[str] = deque()
        self._is_input_over = False

    async def play(self, mailbox: asyncio.Queue[Mail]) -> None:
        """Play until the server, the player or the end of the input says farewell."""
        self._tell()
        async with asyncio.TaskGroup() as group:
            link = group.create_task(self._table.connection.run())
            while not self._is_done():
                try:
                    async with asyncio.timeout(LEAVE_S if self._table.view.is_leaving else None):
                        letter = await mailbox.get()
                except TimeoutError:
                    break
                if isinstance(letter, Stop):
                    break
                self._deal_with(letter)
                self._take_lines()
            link.cancel()

    def _is_done(self) -> bool:
        """Tell whether it is over, or nobody is left who could go on with it."""
        view = self._table.view
        is_stuck = view.may_move or (view.match is not None and view.match.outcome is not None)
        return self._table.is_done or (self._is_input_over and not self._lines and is_stuck)

    def _deal_with(self, letter: Mail) -> None:
        match letter:
            case Line(None):
                self._is_input_over = True
            case Line(str(text)):
                if len(self._lines) < MAX_HELD_LINES:
                    self._lines.append(text)
                    if self._is_typed and self._is_early(text):
                        self._write(f"It is not your turn; {clean(text, 20)} waits for it.")
            case Played():
                self._table.hear(letter, _now_ms())
                self._tell([self._move(letter)])
            case Line() | Key() | Resized() | Clicked() | Pasted() | Focused() | Stop():
                return
            case _:
                self._table.hear(letter, _now_ms())
                self._tell()

    def _take_lines(self) -> None:
        """Carry out the lines whose time has come."""
        while not self._table.view.is_leaving and (line := self._next_line()) is not None:
            word = clean(line, 20).lower()
            if self._table.view.overlay is Overlay.LEAVE:
                self._table.do(Do.LEAVE if action_of(line, self._table.view) is Do.LEAVE else Do.BACK)
            elif word == "help":
                self._write(self._telling.help)
            elif word == "repeat":
                self._write("\n".join(self._last))
            elif (answer := self._telling.answer(word, self._table.view, _now_ms())) is not None:
                self._write(answer)
            elif word in CLAIMS:
                self._table.do(Do.CLAIM)
                if self._table.view.overlay is Overlay.CLAIM:  # else there is a notice that says why not
                    self._table.do(Choose(CLAIM_KINDS.index(CLAIMS[word])))
            else:
                self._do(action_of(line, self._table.view))
            self._tell()

    def _next_line(self) -> str | None:
        """Take the next line: a move waits for our turn, and what is behind it waits too, unless a person types."""
        for index, line in enumerate(self._lines):
            if not self._is_early(line):
                del self._lines[index]
                return line
            if not self._is_typed:
                return None
        return None

    def _is_early(self, line: str) -> bool:
        """Tell whether the line is a move that has to wait for our turn."""
        word, view = clean(line, 20).lower(), self._table.view
        is_asked = word in ("help", "repeat", *CLAIMS) or self._telling.answer(word, view, 0) is not None
        is_move = not is_asked and isinstance(action_of(line, view), Move)
        return is_move and not view.may_move and self._is_turn_to_come()

    def _do(self, action: Action | str | None) -> None:
        if isinstance(action, str):
            self._write(action)
        elif action is not None:
            self._table.do(action)
            if self._table.view.overlay is Overlay.CHOICE:
                self._table.do(Do.BACK)

    def _is_turn_to_come(self) -> bool:
        match = self._table.view.match
        return match is None or match.outcome is None or self._table.is_to_go_on

    def _move(self, played: Played) -> str:
        match = self._table.view.match
        if match is None or match.match != played.match:
            return ""
        is_ours = played.side == match.you and not self._table.is_shared
        who = "You" if is_ours else self._telling.name_of(match.players[played.side])
        return f"{who} played {words.move_name(match, played.move)}."

    def _tell(self, news: Sequence[str] = ()) -> None:
        """Write the news, and what is new in the view since the last time."""
        parts = self._telling.parts(self._table.view, is_shared=self._table.is_shared)
        said = [*news, *(text for part, text in parts.items() if text != self._said.get(part))]
        self._said |= {**parts, "notice": ""}  # what is said again is meant again
        self._table.forget_notice()
        if said := [text for text in said if text]:
            self._last = said
        for text in said:
            self._write(text)


def read_lines(mailbox: asyncio.Queue[Mail]) -> None:
    """Deliver what comes in on stdin, from a thread of its own: a pipe, a file or a terminal may all block.

    The thread waits while the mailbox is full, and ends with the process.
    """
    loop = asyncio.get_running_loop()

    def put(line: Line, is_put: threading.Event) -> None:
        if mailbox.full():
            loop.call_later(_FULL_S, put, line, is_put)
        else:
            mailbox.put_nowait(line)
            is_put.set()

    def deliver(text: str | None) -> None:
        is_put = threading.Event()
        with suppress(RuntimeError):  # the loop is gone, and so is all interest in lines
            loop.call_soon_threadsafe(put, Line(text), is_put)
            is_put.wait()

    def read() -> None:
        rest = b""
        while chunk := _read_stdin():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                deliver(line[:_MAX_LINE_BYTES].decode(errors="replace"))
            rest = rest[:_MAX_LINE_BYTES]
        if rest:
            deliver(rest.decode(errors="replace"))
        deliver(None)

    threading.Thread(target=read, name="stdin", daemon=True).start()


def _read_stdin() -> bytes:
    """Return what is there, or nothing at the end; not through `sys.stdin`, whose lock would outlive us at exit."""
    try:
        return os.read(0, 4096)
    except OSError:
        return b""


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000
