"""Let connections take turns, where more has come than may be acted on at once. Knows no sockets."""

import asyncio
from collections import deque
from collections.abc import Callable


class TurnQueue:
    """Let those who have much to be read take turns: one turn in each pass of the event loop.

    So what one connection or two hundred of them have sent at once delays another by one turn at most, however much
    it is. One that is not done in its turn joins again, behind the others.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: deque[Callable[[], None]] = deque()

    def __len__(self) -> int:
        """Return how many wait for their turn."""
        return len(self._waiting)

    def join(self, take_turn: Callable[[], None]) -> None:
        """Have `take_turn` called once, in one of the next passes of the running event loop."""
        self._waiting.append(take_turn)
        if len(self._waiting) == 1:
            self._loop.call_soon(self._pass)

    def _pass(self) -> None:
        take_turn = self._waiting[0]
        try:
            take_turn()
        finally:
            self._waiting.popleft()
            if self._waiting:
                self._loop.call_soon(self._pass)
