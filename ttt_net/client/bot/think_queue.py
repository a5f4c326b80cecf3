"""Queue the matches that wait for the engine, each of them once; the one with the least time left comes first."""

import asyncio
from collections.abc import Callable


class ThinkQueue:
    """The names of matches that are to be thought about."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}
        self._is_waiting = asyncio.Event()

    def __len__(self) -> int:
        return len(self._names)

    def add(self, name: str) -> None:
        """Add a match, if it is not waiting already."""
        self._names[name] = None
        self._is_waiting.set()

    async def next(self, left_ms: Callable[[str], float]) -> str:
        """Wait for a match and take it off; of several, the one with the least time left, then the one added first."""
        await self._is_waiting.wait()
        name = min(self._names, key=left_ms)
        del self._names[name]
        if not self._names:
            self._is_waiting.clear()
        return name
