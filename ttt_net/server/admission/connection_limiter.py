"""Limit connections, in total and by address, from the moment the kernel hands them over.

The limiter answers a connection slightly over a limit by HTTP, with the name of the limit and when to retry. It drops
connections far over a limit without an answer.

The acceptor takes a few connections per iteration of the event loop, and a limited number per second. An event loop's
own server would take all waiting connections at once, perhaps a thousand, and create a protocol and a transport for
each while all players wait. The other connections wait in the kernel, at no cost.
"""

import asyncio
import contextlib
import logging
import socket
import struct
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Sized
from contextlib import contextmanager

from ttt_net.errors import Closing, Refusal
from ttt_net.server.admission.client_address import (
    Network,
    caller_of,
    coarse,
    is_among,
    network_of,
    networks,
    wider_networks,
)
from ttt_net.server.admission.fair_shares import WIDER, FairShares
from ttt_net.server.admission.rate_limiter import Bucket, RateLimiter
from ttt_net.server.admission.sanctions import Sanctions
from ttt_net.server.metrics import Dropped
from ttt_net.server.settings.configuration import Configuration, Rate
from ttt_net.server.wire.connection import Connection
from ttt_net.server.wire.http import TurnedAway

log = logging.getLogger(__name__)

POLITE = 100
"""Connections above the limit that still get an answer."""
POLITE_TO_ONE = 8
"""The same for one address."""
RESERVED = 1 / 20
"""Places above the limit, as a fraction of it, for players who return to an unfinished match."""
RESERVED_TO_ONE = 4
"""Connections of one address that may use reserved places before their `hello`."""
_OF_CROWD = 2
"""Connections for each player of a crowd: pages that load have several."""
MODEST = 10
"""Connections that each address may keep: idle ones are dropped only from addresses with more."""
_LOOKED_AFTER_MS = 100
"""How long to skip the search for a connection to drop after it found none, because it examines all of them."""
MOST_TAKEN = 4
"""The maximal number of connections accepted in one iteration of the event loop."""
MOST_LOOKED_AT = 32
"""The maximal number of connections examined in one iteration: dropping one immediately costs a tenth."""
_REST_S = 0.5
"""The pause after the system ran out of resources, since it would fail again immediately."""
_LEAST_REST_S = 0.01
"""The minimal pause after too many connections, so that several can be accepted together after it."""
_RESET = struct.pack("ii", 1, 0)


class ConnectionLimiter:
    """Counts connections as they open and close; keeps a refusal with its connection until it can be sent."""

    def __init__(
        self,
        configuration: Configuration,
        rate_limiter: RateLimiter,
        shares: FairShares,
        sanctions: Sanctions,
        connections: Sized,
        is_idle: Callable[[Connection], bool],
        now_ms: Callable[[], int],
        *,
        is_hashing: bool = False,
    ) -> None:
        self._limits = configuration.limits
        self._proxies = networks(configuration.proxies) if configuration.behind_proxy else ()
        self._unmetered: Sequence[Network] = ()
        self.limits_changed()
        self._rate_limiter = rate_limiter
        self._shares = shares
        self._sanctions = sanctions
        self._connections = connections
        self._is_hashing = is_hashing
        """Whether to count addresses by keyed hash, as other nodes of a cluster do."""
        self._is_idle = is_idle
        """Tells whether dropping a connection harms neither a match nor a seek."""
        self._now_ms = now_ms
        self._none_until_ms = [0, 0]
        """When to search again for a connection to drop: any idle one, or only one that is not open yet."""
        self._live: Counter[str] = Counter()
        """By address, and by the networks around it."""
        self._of_address: dict[str, dict[Connection, None]] = {}
        self._reserve: dict[Connection, None] = {}
        """Connections in reserved places that have not sent `hello`."""
        self._newcomers: dict[Connection, None] = {}
        self._has_warned = False

    def limits_changed(self) -> None:
        """Read the unmetered networks again, for future connections."""
        self._unmetered = networks(self._limits.unmetered)

    def count_of(self, network: str) -> int:
        """Return how many connections come from a network that is metered."""
        return self._live[network]

    def shut_to(self, peer: str) -> Dropped | None:
        """Return why one more connection from an address would be far too many, or None."""
        network = self._holder(peer)
        if len(self._connections) >= self._limits.max_connections + self._reserved + POLITE:
            unopened = self._to_drop(network, only_unopened=True)
            if unopened is None:
                return "full"
            unopened.evict("full")
        if is_among(peer, self._proxies) or is_among(peer, self._unmetered):
            return None
        most = max(self._limits.max_per_address, _OF_CROWD * self._rate_limiter.crowd_of(network)) + POLITE_TO_ONE
        if self._live[network] >= most or self._rate_limiter.is_flooded("openings", network):
            return "address"
        return "work" if self._shares.is_overdrawn(network, wider_networks(peer)) else None

    def arrive(self, one: Connection, peer: str) -> None:
        """Count a connection that was just accepted from an address."""
        one.address = peer
        one.lacks_place = len(self._connections) > self._limits.max_connections
        self._newcomers[one] = None
        if len(self._newcomers) > self._limits.max_newcomers:
            oldest = next(iter(self._newcomers))
            del self._newcomers[oldest]
            oldest.evict("newcomers")
        if not is_among(peer, self._proxies):  # a proxy names the client in the request
            self._count(one)

    def identify(self, one: Connection, forwarded: Sequence[str]) -> TurnedAway | None:
        """Return why a connection is rejected after its request has arrived; None if it is accepted."""
        if is_among(one.address, self._proxies):
            one.address = caller_of(one.address, forwarded, self._proxies)
            self._count(one)
        elif forwarded and not self._has_warned:
            self._has_warned = True
            log.warning(
                "X-Forwarded-For from %s, who is no listed proxy, is ignored; see behind_proxy", coarse(one.address)
            )
        if one.lacks_place and one.turned_away is None and one not in self._reserve:
            self._find_place(one)
        return one.turned_away

    def _find_place(self, one: Connection) -> None:
        """Drop a connection of the largest address, or wait in a reserved place for the player's name."""
        idle = self._to_drop(one.metered_as)
        if idle is not None:
            idle.close(Closing.FULL)
            idle.abort()
            one.lacks_place = False
        elif len(self._connections) <= self._limits.max_connections + self._reserved and self._may_wait(one):
            self._reserve[one] = None
        else:
            one.turned_away = self.full()

    def full(self) -> TurnedAway:
        """Return the response to a connection without a place."""
        return _full(503, "the server", "max_connections", self._limits.max_connections)

    @property
    def _reserved(self) -> int:
        return max(1, round(self._limits.max_connections * RESERVED))

    def _may_wait(self, one: Connection) -> bool:
        waiting = sum(other.metered_as == one.metered_as for other in self._reserve)
        return one.metered_as is None or waiting < RESERVED_TO_ONE

    def _to_drop(self, comer: str | None, *, only_unopened: bool = False) -> Connection | None:
        """Return a connection of the address with the most, unless that is the address of the new one.

        It is the oldest idle one; without any, or with `only_unopened`, the oldest that is not a WebSocket yet.
        """
        if self._now_ms() < self._none_until_ms[only_unopened]:
            return None
        address, held = max(self._of_address.items(), key=lambda each: len(each[1]), default=("", {}))
        if len(held) > MODEST and address != comer:
            idle = (each for each in held if each.is_open and self._is_idle(each) and not only_unopened)
            unopened = (each for each in held if not each.is_open and not each.is_closing)
            found = next(idle, None) or next(unopened, None)
            if found is not None:
                return found
        self._none_until_ms[only_unopened] = self._now_ms() + _LOOKED_AFTER_MS
        return None

    def admitted(self, one: Connection) -> None:
        """Stop counting a connection as a newcomer: its `hello` was accepted."""
        self._newcomers.pop(one, None)
        self._reserve.pop(one, None)
        one.lacks_place = False

    def flooded(self, one: Connection) -> None:
        """Count a flood; an address with many is rejected for a while."""
        with contextlib.suppress(Refusal):
            self._rate_limiter.spend_of_address("floods", one.metered_as)

    def leave(self, one: Connection) -> None:
        """Stop counting a closed connection."""
        self._newcomers.pop(one, None)
        self._reserve.pop(one, None)
        if one.metered_as is not None:
            held = self._of_address[one.metered_as]
            del held[one]
            if not held:
                del self._of_address[one.metered_as]
            for network in (one.metered_as, *wider_networks(one.address)):
                self._live[network] -= 1
                if not self._live[network]:
                    del self._live[network]

    def _holder(self, address: str) -> str:
        """Return the address that limits apply to."""
        key = self._sanctions.key_of_address(address) if self._is_hashing else None
        return network_of(address) if key is None else key

    def _count(self, one: Connection) -> None:
        self._meter(one)
        ban = self._sanctions.on_address("ban", one.address)
        if ban:
            one.turned_away = TurnedAway(403, ban.sentence(), 0)

    def _meter(self, one: Connection) -> None:
        if is_among(one.address, self._unmetered):
            return
        network = one.metered_as = self._holder(one.address)
        self._of_address.setdefault(network, {})[one] = None
        wider = wider_networks(one.address)
        one.account = self._shares.account_of(network, wider)
        least = _OF_CROWD * self._rate_limiter.crowd_of(network)
        most = max(self._limits.max_per_address, least)
        for each, times in zip((network, *wider), (1, *WIDER), strict=False):
            self._live[each] += 1
            most_here = max(self._limits.max_per_address * times, least)
            if self._live[each] > most_here:
                one.turned_away = _full(429, "your address", "max_per_address", most_here)
        try:
            self._rate_limiter.check_of_address("floods", network)
            self._rate_limiter.spend_of_address("openings", network)
        except Refusal as refusal:
            one.turned_away = TurnedAway(429, str(refusal), -(-(refusal.retry_after_ms or 0) // 1000))
        if self._live[network] > most + POLITE_TO_ONE or self._rate_limiter.is_flooded("openings", network):
            one.evict("address")


def _full(status: int, what: str, limit: str, most: int) -> TurnedAway:
    return TurnedAway(status, f"{what} has {most:,} connections already (limits.{limit})", 1)


class Acceptor:
    """Accepts the connections of one listening socket."""

    def __init__(
        self,
        listening: socket.socket,
        tasks: asyncio.TaskGroup,
        protocols: Callable[[], asyncio.BaseProtocol],
        is_shut_to: Callable[[str], bool],
        arrivals: Rate,
        now_ms: Callable[[], int],
    ) -> None:
        self._listening = listening
        self._tasks = tasks
        self._protocols = protocols
        self._is_shut_to = is_shut_to
        self._arrivals = Bucket(arrivals, now_ms())
        self._now_ms = now_ms
        self._loop = asyncio.get_running_loop()
        self._resting: asyncio.TimerHandle | None = None

    @contextmanager
    def accepting(self) -> Iterator[None]:
        """Accept connections inside the block. Its end closes the socket, which resets waiting connections."""
        self._listening.setblocking(False)
        self._start()
        try:
            yield
        finally:
            if self._resting is None:
                self._loop.remove_reader(self._listening)
            else:
                self._resting.cancel()
            self._listening.close()

    def _start(self) -> None:
        self._resting = None
        self._loop.add_reader(self._listening, self._take_some)

    def _rest(self, seconds: float) -> None:
        self._loop.remove_reader(self._listening)
        self._resting = self._loop.call_later(seconds, self._start)

    def _take_some(self) -> None:
        """Accept the connections of one iteration of the loop."""
        taken, now_ms = 0, self._now_ms()
        for _ in range(MOST_LOOKED_AT):
            wait_ms = self._arrivals.wait_ms(now_ms)
            if wait_ms:
                self._rest(max(wait_ms / 1000, _LEAST_REST_S))
                return
            try:
                one, address = self._listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:  # no descriptor, no memory
                log.error("cannot take connections: %s", error.strerror)
                self._rest(_REST_S)
                return
            if self._is_shut_to(address[0]):
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)  # the kernel forgets it at once too
                one.close()
                continue
            one.setblocking(False)
            self._arrivals.take(now_ms)
            self._tasks.create_task(self._hand_over(one))
            taken += 1
            if taken == MOST_TAKEN:
                return

    async def _hand_over(self, one: socket.socket) -> None:
        """Register the socket with the event loop."""
        try:
            await self._loop.connect_accepted_socket(self._protocols, one)
        except OSError:  # it has already disconnected
            one.close()
