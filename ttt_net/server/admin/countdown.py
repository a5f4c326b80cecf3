"""The end that an admin asked for: everybody sees how long it is until then, and no match begins any more."""

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol as Interface

log = logging.getLogger(__name__)

TOLD_AT_S = (3_600, 1_800, 900, 600, 300, 120, 60, 30, 10, 5)
"""With so much left it is said again."""
_LAST_WORD_S = 0.2
"""An end at once comes so much later: whoever asked for it hears first that it comes."""


class CountdownServices(Interface):
    """What the countdown asks of the hub."""

    def count_down(self, left_ms: int) -> None:
        """Tell everybody how long it is until the restart; begin no match from now on."""

    def stay(self) -> None:
        """Tell everybody that there is no restart; begin matches again."""


class Countdown:
    """At most one at a time; a new one takes the place of the last. At its end `stop` is called."""

    def __init__(self, house: CountdownServices, stop: Callable[[], None]) -> None:
        self._house = house
        self._stop = stop
        self._next: asyncio.TimerHandle | None = None
        self._ends_s: float | None = None

    @property
    def left_s(self) -> float | None:
        """The seconds that are left, or None while nothing is counted down."""
        return None if self._ends_s is None else max(0.0, self._ends_s - asyncio.get_running_loop().time())

    def begin(self, in_s: float) -> None:
        """Count down from `in_s` seconds."""
        log.warning("drain: the server ends in %g s and begins no more matches", in_s)
        self._cancel()
        self._ends_s = asyncio.get_running_loop().time() + in_s
        if in_s:
            self._tell(in_s)
        else:
            self._next = asyncio.get_running_loop().call_later(_LAST_WORD_S, self._tell, 0)

    def call_off(self) -> bool:
        """Go on as if nothing had been said; tell whether there was anything to call off."""
        was_on = self._ends_s is not None
        self._cancel()
        if was_on:
            log.warning("drain: called off")
            self._house.stay()
        return was_on

    def _cancel(self) -> None:
        if self._next:
            self._next.cancel()
        self._next = self._ends_s = None

    def _tell(self, left_s: float) -> None:
        if not left_s:
            self._stop()
            return
        self._house.count_down(int(left_s * 1000))
        following = next((mark for mark in TOLD_AT_S if mark < left_s), 0)
        self._next = asyncio.get_running_loop().call_later(left_s - following, self._tell, following)
