"""Contain faults of what runs by itself: each is logged and counted, and the next turn comes all the same."""

import logging
from collections import Counter
from collections.abc import Callable

from ttt_net.server.metrics import Metrics

log = logging.getLogger(__name__)


class Guard:
    """Lets parts of the server have their turns, each by itself, so that a fault in one costs the others nothing."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._faults: Counter[str] = Counter()

    def attempt(self, part: str, do: Callable[[], object], otherwise: Callable[[], object] | None = None) -> None:
        """Do what `part` has to do, and after a fault in it `otherwise`."""
        try:
            do()
        except Exception:  # noqa: BLE001 - whatever it is, everybody else plays on
            self.note(part)
            if otherwise:
                otherwise()

    def note(self, part: str) -> None:
        """Log and count the exception that is being handled: a fault in `part`.

        One that comes with every turn is logged the 1st, 2nd, 4th, 8th ... time: it shall not fill the disk too.
        """
        self._metrics.faults += 1
        self._faults[part] += 1
        count = self._faults[part]
        if count & (count - 1) == 0:
            log.exception("fault: %s (number %d of its kind)", part, count)
