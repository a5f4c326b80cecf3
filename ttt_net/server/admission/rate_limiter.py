"""Limit rates: token buckets by player and by address, in bounded memory."""

from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Mapping
from itertools import product
from typing import get_args

from ttt_net.errors import Code, Refusal
from ttt_net.server.settings.configuration import AddressAct, Limits, PlayerAct, Rate

_OF_ADDRESSES = frozenset(get_args(AddressAct))
_ALL_ACTS = (*get_args(PlayerAct), *get_args(AddressAct))
_OF_CROWDS = {"registrations": 2, "openings": 20}
"""How often each player of a crowd may do what is limited for addresses: a page opens up to six connections."""
TOLD = frozenset(
    {"registrations", "renames", "wrong_codes", "codes", "reports", "blocks", "lessons"}
    | {"challenges", "tournaments", "matches", "writes", "bytes"}
)
"""Limits that the nodes of a cluster count together; other limits protect a single node."""
MAX_BUCKETS = 20_000
"""The number of buckets; the least recently used one is dropped, and so is full again."""
_MB = 1_000_000
_DAY_S = 86_400.0
_KEPT_FOR_MOVES = 1 / 4
"""The fraction of an address's write allowance that new matches leave for running ones."""
EVENT_BYTES = 150
"""Approximate bytes of an event in the journal, with its share of partly filled pages."""
MATCH_BYTES = 500
"""Bytes for the start and the end of a match, for each of its players."""
_ROUNDED_OFF_MS = 1e-6
"""More than the rounding error of sums; without it, a client that waits as requested is sometimes 1 ms early."""


class Bucket:
    """A token bucket: each action takes a token, tokens are refilled at the rate, and a full bucket allows a burst."""

    __slots__ = ("_at_ms", "_most", "_per_ms", "_tokens")

    def __init__(self, rate: Rate, now_ms: int) -> None:
        self._most = self._tokens = float(rate.count)
        self._per_ms = rate.per_s / 1000
        self._at_ms = now_ms

    def take(self, now_ms: int, tokens: float = 1.0) -> int:
        """Take tokens and return 0, or return the milliseconds until there are enough; a failed attempt costs too."""
        left = self._tokens + (now_ms - self._at_ms) * self._per_ms  # as `_tokens_at`, without a call for each message
        if left > self._most:
            left = self._most
        self._tokens = left = left - tokens
        self._at_ms = now_ms
        if left >= 0:
            return 0
        self._tokens = max(left, -self._most - 1.0)
        return self.wait_ms(now_ms)

    def wait_ms(self, now_ms: int, tokens: float = 1.0) -> int:
        """Return the milliseconds until this many tokens are available; 0 if they are now."""
        missing = tokens - self._tokens_at(now_ms)
        return 0 if missing <= 0 else int(missing / self._per_ms + _ROUNDED_OFF_MS) + 1

    def has_one(self, now_ms: int) -> bool:
        """Tell whether a token is available, without the arithmetic of `wait_ms`."""
        return self._tokens + (now_ms - self._at_ms) * self._per_ms >= 1.0

    def used(self, now_ms: int) -> float:
        """Return how many tokens a full bucket has more; with a debt, this exceeds its capacity."""
        return self._most - self._tokens_at(now_ms)

    def resize(self, rate: Rate, now_ms: int) -> None:
        """Change the rate; used tokens stay used, but a lower rate makes no new debt."""
        used, debt = self.used(now_ms), min(0.0, self._tokens_at(now_ms))
        self._most, self._per_ms = float(rate.count), rate.per_s / 1000
        self._tokens, self._at_ms = max(self._most - used, debt), now_ms

    @property
    def is_flooded(self) -> bool:
        """Whether the debt is as large as the burst: the client ignores refusals."""
        return self._tokens < -self._most

    def _tokens_at(self, now_ms: int) -> float:
        return min(self._most, self._tokens + (now_ms - self._at_ms) * self._per_ms)


class RateLimiter:
    """The buckets of all players and addresses. An address of None is not metered."""

    def __init__(self, limits: Limits, now_ms: Callable[[], int], most: int = MAX_BUCKETS) -> None:
        self._limits = limits
        self._now_ms = now_ms
        self._most = most
        self._buckets: OrderedDict[tuple[str, int | str | None], Bucket] = OrderedDict()
        self._crowds: dict[str, int] = {}
        self.untold: Counter[tuple[str, int | str]] | None = None
        """Used amounts of `TOLD` limits, by player or address, for the other nodes; None without a cluster."""

    def crowds_are(self, crowds: Mapping[str, int]) -> None:
        """Raise the limits of these addresses to those of this many players, where the usual ones are lower."""
        changed = crowds.items() ^ self._crowds.items()
        self._crowds = dict(crowds)
        for (address, _), act in product(changed, _ALL_ACTS):
            bucket = self._buckets.get((act, address))
            if bucket is not None:
                bucket.resize(self._rate(act, address), self._now_ms())

    def crowd_of(self, address: str) -> int:
        """Return how many players of an address the limits have to suffice for; 0: the usual limits apply."""
        return self._crowds.get(address, 0)

    def tell(self, act: str, player: int) -> None:
        """Let the other nodes of a cluster count an action of a player that only this one saw."""
        if self.untold is not None:
            self.untold[act, player] += 1

    def taken_elsewhere(self, act: str, holder: int | str, count: float) -> None:
        """Count the use of a player, or an address, on another node of the cluster."""
        self._bucket(act, holder).take(self._now_ms(), count)

    def spend(self, act: PlayerAct, player: int, address: str | None) -> None:
        """Count one action of a player.

        Raises `Refusal`, with the limit and when to retry, if the limit is exceeded.
        """
        self._take(act, player, "for one player")
        self.share(act, address)

    def check(self, act: PlayerAct, player: int) -> None:
        """Reject what the next `spend` would reject because of the player alone, without counting."""
        self._check(act, player, "for one player")

    def share(self, act: PlayerAct, address: str | None, times: int = 1) -> None:
        """Count an action against the limit for all players of an address, many times that of one."""
        if address is not None:
            self._take(act, address, "for one address", times)

    def check_share(self, act: PlayerAct, address: str | None) -> None:
        """Reject what the next `share` would reject, without counting."""
        self._check(act, address, "for one address")

    def spend_of_address(self, act: AddressAct, address: str | None) -> None:
        """Count one act of an address."""
        if address is not None:
            self._take(act, address, "for one address")

    def check_of_address(self, act: AddressAct, address: str | None) -> None:
        """Reject what the next `spend_of_address` would reject, without counting."""
        self._check(act, address, "for one address")

    def may_write(self, address: str | None, *, is_new: bool = False) -> None:
        """Reject events, or with `is_new` matches, of an address that has used up its journal bytes of the day."""
        bucket = self._buckets.get(("bytes", address))
        if bucket is None:
            return
        least = self._limits.daily_mb * _MB * _KEPT_FOR_MOVES if is_new else 1.0
        wait_ms = bucket.wait_ms(self._now_ms(), least)
        if wait_ms:
            what = "new matches" if is_new else "moves"
            sentence = f"no more {what}: {self._limits.daily_mb} MB were written down for one address within a day"
            raise Refusal(Code.TOO_FAST, f"{sentence} (limits.daily_mb)", wait_ms)

    def write(self, address: str | None, events: int) -> None:
        """Count the journal bytes of an address's events. Raises `Refusal` if they exceed its limit."""
        if address is None:
            return
        kept, now_ms = self._bucket("bytes", address), self._now_ms()
        if not kept.has_one(now_ms):
            self.may_write(address)
        self._take("writes", address, "for one address")
        self._count_bytes(kept, address, EVENT_BYTES * events, now_ms)

    def wrote(self, address: str | None, count: int) -> None:
        """Count journal bytes of an address; once over its limit, the next are rejected."""
        if address is not None:
            self._count_bytes(self._bucket("bytes", address), address, count, self._now_ms())

    def _count_bytes(self, kept: Bucket, address: str, count: int, now_ms: int) -> None:
        kept.take(now_ms, count)
        if self.untold is not None:
            self.untold["bytes", address] += count

    def try_code(self, player: int, address: str | None, *, is_right: bool) -> None:
        """Count one attempt at a code. Raises `Refusal` if the code is wrong or the attempts are used up."""
        self.spend("codes", player, address)
        self.check_of_address("wrong_codes", address)
        if not is_right:
            self.spend_of_address("wrong_codes", address)
            raise Refusal(Code.UNKNOWN_CODE, "no invitation has that code, or it was used or is too old; ask again")

    def rates_changed(self, limits: Collection[str]) -> None:
        """Restart the counting of these limits, because a bucket keeps the rate that it was created with."""
        acts = {"bytes" if name == "daily_mb" else name for name in limits}
        for key in list(self._buckets):
            if key[0] in acts or "players_per_address" in limits:
                del self._buckets[key]

    def is_flooded(self, act: AddressAct, address: str) -> bool:
        """Tell whether the address ignored refusals and continued for as long as its whole burst."""
        bucket = self._buckets.get((act, address))
        if bucket is None:
            return False
        bucket.take(self._now_ms(), 0.0)  # refill for the time since
        return bucket.is_flooded

    def __len__(self) -> int:
        """Return the number of buckets."""
        return len(self._buckets)

    def _check(self, act: str, holder: int | str | None, whose: str) -> None:
        bucket = self._buckets.get((act, holder))
        wait_ms = bucket.wait_ms(self._now_ms()) if bucket else 0
        if wait_ms:
            raise _too_many(act, self._rate(act, holder), whose, wait_ms)

    def _take(self, act: str, holder: int | str, whose: str, times: int = 1) -> None:
        wait_ms = self._bucket(act, holder).take(self._now_ms(), times)
        if wait_ms:
            raise _too_many(act, self._rate(act, holder), whose, wait_ms)
        if self.untold is not None and act in TOLD:
            self.untold[act, holder] += times

    def _rate(self, act: str, holder: int | str | None) -> Rate:
        """Return the rate of a player, or of all players of an address together."""
        if act == "bytes":
            return Rate(self._limits.daily_mb * _MB, _DAY_S)
        rate: Rate = getattr(self._limits, act)
        if not isinstance(holder, str):
            return rate
        crowd = self._crowds.get(holder, 0)
        if act in _OF_ADDRESSES:
            return Rate(max(rate.count, _OF_CROWDS.get(act, 0) * crowd), rate.period_s)
        return Rate(rate.count * max(self._limits.players_per_address, crowd), rate.period_s)

    def _bucket(self, act: str, holder: int | str) -> Bucket:
        key = (act, holder)
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = Bucket(self._rate(act, holder), self._now_ms())
            if len(self._buckets) > self._most:
                self._buckets.popitem(last=False)
        else:
            self._buckets.move_to_end(key)
        return bucket


def _too_many(act: str, rate: Rate, whose: str, wait_ms: int) -> Refusal:
    return Refusal(Code.TOO_FAST, f"too many {act.replace('_', ' ')}: {rate} {whose} (limits.{act})", wait_ms)
