"""Measure by pings how long a message and its answer are on the network. Knows no socket: times go in."""

import math

_HEARD_ANYWAY = 5
"""So many times as rarely the way is measured to a peer that keeps saying something: a ping costs what a move does."""


class Heartbeat:
    """The pings of one connection: when the next is due, and what the answers tell of the way.

    The first is due as soon as somebody asks, for there is a player then, whose clock may run soon.
    """

    __slots__ = ("_answered_ms", "_asked_s", "_waits_since_s")

    def __init__(self) -> None:
        self._asked_s = -math.inf
        """When the last ping was sent."""
        self._waits_since_s: float | None = None
        """The same, while there is no answer."""
        self._answered_ms = 0

    def is_due(self, now_s: float, heard_s: float, after_s: float) -> bool:
        """Tell whether to ping a peer that was last heard at `heard_s`: after such a silence, and rarely without it."""
        if self._waits_since_s is not None:
            return False
        silent_s, asked_ago_s = now_s - max(self._asked_s, heard_s), now_s - self._asked_s
        return silent_s > after_s or asked_ago_s > after_s * _HEARD_ANYWAY

    def asked(self, now_s: float) -> None:
        """Note that a ping was sent."""
        self._waits_since_s = self._asked_s = now_s

    def answered(self, now_s: float) -> int:
        """Note that a pong came; return how long the way is in milliseconds, in the mean of the last."""
        if self._waits_since_s is not None:
            way_ms = int((now_s - self._waits_since_s) * 1000)
            self._answered_ms = way_ms if self._answered_ms == 0 else (7 * self._answered_ms + 3 * way_ms) // 10
            self._waits_since_s = None
        return self._answered_ms

    def excuse(self, late_s: float) -> None:
        """Take a time in which this process stood still out of the way and the silence."""
        self._asked_s += late_s
        if self._waits_since_s is not None:
            self._waits_since_s += late_s
