"""Who may come in: connections in all and by address, counted from the moment the kernel hands them over.

One who is over a limit is told so in an HTTP answer with the name of the limit, and when to come back; one who goes on
all the same is dropped without a word.
"""

import contextlib
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple
from typing import Protocol as Interface

from ttt_net.errors import Refusal
from ttt_net.server.admission.client_address import caller_of, coarse, is_among, network_of, networks
from ttt_net.server.admission.rate_limiter import RateLimiter
from ttt_net.server.admission.sanctions import Sanctions
from ttt_net.server.settings.configuration import Configuration

log = logging.getLogger(__name__)

POLITE = 100
"""Connections above the limit that still get an answer."""
POLITE_TO_ONE = 8
"""The same for one address."""


class TurnedAway(NamedTuple):
    """How a connection is answered that may not come in."""

    status: int
    """503 where the server is full, 429 where the address is over a limit, 403 where it is banned."""
    sentence: str
    retry_after_s: int


class Arrival(Interface):
    """What the gate knows of a connection."""

    address: str
    """The address that it comes from."""
    metered_as: str | None
    """What limits of addresses count it under; None for one that they do not apply to."""
    turned_away: TurnedAway | None

    def evict(self, reason: str) -> None:
        """Drop it, for a reason that is counted."""


class ConnectionLimiter:
    """Counts who comes in and leaves; what it refuses is kept with the connection until it can be said."""

    def __init__(
        self, configuration: Configuration, quotas: RateLimiter, sanctions: Sanctions, count_all: Callable[[], int]
    ) -> None:
        self._limits = configuration.limits
        self._proxies = networks(configuration.proxies) if configuration.behind_proxy else ()
        self._unmetered = networks(configuration.limits.unmetered)
        self._quotas = quotas
        self._sanctions = sanctions
        self._count_all = count_all
        self._live: Counter[str] = Counter()
        self._newcomers: dict[Arrival, None] = {}
        self._has_warned = False

    def shut_to(self, peer: str) -> str | None:
        """Return why one more connection from that address would be far too many, or None if it would not."""
        if self._count_all() >= self._limits.max_connections + POLITE:
            return "full"
        if is_among(peer, self._proxies) or is_among(peer, self._unmetered):
            return None
        network = network_of(peer)
        most = self._limits.max_per_address + POLITE_TO_ONE
        return "address" if self._live[network] >= most or self._quotas.is_flooded("openings", network) else None

    def arrive(self, one: Arrival, peer: str) -> None:
        """Count a connection that was just accepted from that address."""
        one.address = peer
        count = self._count_all()
        if count > self._limits.max_connections:
            one.turned_away = _full(503, "the server", "max_connections", self._limits.max_connections)
        self._newcomers[one] = None
        if len(self._newcomers) > self._limits.max_newcomers:
            oldest = next(iter(self._newcomers))
            del self._newcomers[oldest]
            oldest.evict("newcomers")
        if not is_among(peer, self._proxies):  # for whom a proxy speaks, is known with the request
            self._count(one)

    def identify(self, one: Arrival, forwarded: Sequence[str]) -> TurnedAway | None:
        """Return why the connection may not come in, now that its request is there; None if it may."""
        if is_among(one.address, self._proxies):
            one.address = caller_of(one.address, forwarded, self._proxies)
            self._count(one)
        elif forwarded and not self._has_warned:
            self._has_warned = True
            log.warning(
                "X-Forwarded-For from %s, who is no listed proxy, is ignored; see behind_proxy", coarse(one.address)
            )
        return one.turned_away

    def admitted(self, one: Arrival) -> None:
        """Take note that it said an accepted hello."""
        self._newcomers.pop(one, None)

    def flooded(self, one: Arrival) -> None:
        """Take note that it is closed for a flood: an address of many floods is turned away for a while."""
        with contextlib.suppress(Refusal):
            self._quotas.spend_of_address("floods", one.metered_as)

    def leave(self, one: Arrival) -> None:
        """Take note that it is gone."""
        self._newcomers.pop(one, None)
        if one.metered_as is not None:
            self._live[one.metered_as] -= 1
            if not self._live[one.metered_as]:
                del self._live[one.metered_as]

    def _count(self, one: Arrival) -> None:
        self._meter(one)
        ban = self._sanctions.ban_of_address(one.address)
        if ban:
            one.turned_away = TurnedAway(403, ban.sentence(), 0)

    def _meter(self, one: Arrival) -> None:
        if is_among(one.address, self._unmetered):
            return
        network = one.metered_as = network_of(one.address)
        self._live[network] += 1
        most = self._limits.max_per_address
        if self._live[network] > most:
            one.turned_away = _full(429, "your address", "max_per_address", most)
        try:
            self._quotas.check_of_address("floods", network)
            self._quotas.spend_of_address("openings", network)
        except Refusal as refusal:
            one.turned_away = TurnedAway(429, str(refusal), -(-(refusal.retry_after_ms or 0) // 1000))
        if self._live[network] > most + POLITE_TO_ONE or self._quotas.is_flooded("openings", network):
            one.evict("address")


def _full(status: int, what: str, limit: str, most: int) -> TurnedAway:
    return TurnedAway(status, f"{what} has {most:,} connections already (limits.{limit})", 1)
