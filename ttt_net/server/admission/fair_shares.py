"""Charge computing time to the peers who cause it, and share it fairly.

The currency is measured milliseconds of the event loop's thread and of the journal's. Each address may use
`limits.work`; a player may use a fraction of that, the networks around an IPv6 address a multiple, and all addresses
together `ALL_TOGETHER`. Moves and pings are charged too, but never refused: once a share is nearly used up, each of its
connections rests after a request until the time that was used has come back.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Protocol

from ttt_net.errors import Code, Refusal
from ttt_net.server.admission.rate_limiter import Bucket
from ttt_net.server.settings.configuration import Limits, Rate

MAX_ACCOUNTS = 20_000
"""The number of stored accounts of addresses, and of players.

The least recently used one is dropped, and so is full again.
"""
SETTLED_MS = 1.0
"""The debt of an address, or of a player, before it is charged, so that a cheap request costs three additions."""
TURNS_AFTER_MS = 2.0
"""Once an address has used this much of its share, its connections take turns: one per iteration of the event loop.

Until then, one iteration handles everything that two hundred connections have sent.
"""
TURN_MS = 0.5
"""After this time, a turn begins no further request."""
READ_MS = 0.015
"""The cost of one read in the kernel and the event loop, before anything is measured."""
MS_PER_MB = 20.0
"""The price of bytes sent over HTTP: at 25 ms a second, an address receives 1.25 MB a second."""
PLAYERS_SHARE = 1 / 4
"""The fraction of an address's share for one of its players, so that one pupil leaves something to the class."""
WIDER = (2, 4)
"""How many shares of an address the /56 and the /48 around an IPv6 /64 may use."""
LEFT = 1 / 100
"""The fraction of a share that moves and pings leave to other requests: its connections rest while there is less."""
MOST_REST_MS = 2_000
"""The longest rest of a connection: so two hundred connections may take 0.25 ms each time."""
ALL_TOGETHER = Rate(3_000, 5.0)
"""The milliseconds for all addresses together; beyond that, only those with half of their share left are served."""


class Share(Bucket):
    """The computing time that one address, network or player may use."""

    __slots__ = ("is_heavy", "owed_ms")

    def __init__(self, rate: Rate, now_ms: int) -> None:
        super().__init__(rate, now_ms)
        self.owed_ms = 0.0
        """The cost that is not charged yet, if this is the widest network of several addresses."""
        self.is_heavy = False
        """Whether recent use was so high that connections have to take turns."""

    def use(self, now_ms: int, ms: float) -> None:
        """Use milliseconds."""
        self.take(now_ms, ms)
        self.is_heavy = self.used(now_ms) > TURNS_AFTER_MS


class Account:
    """The shares of one address and of the networks around it, which other addresses use too."""

    __slots__ = ("owed_ms", "shares", "wider")

    def __init__(self, shares: Sequence[Share], wider: Sequence[str] = ()) -> None:
        self.shares = shares
        """The shares of the address and of the networks around it, nearest first."""
        self.wider = wider
        """The networks around it."""
        self.owed_ms = 0.0
        """The total cost of its connections that is not charged yet."""

    def owe_together(self, ms: float) -> bool:
        """Add to the debt of the widest network; return whether it is large enough to be charged.

        The addresses of one IPv6 network share their debt, so they take turns as early as a single address would.
        """
        widest = self.shares[-1]
        widest.owed_ms += ms
        return widest.owed_ms > SETTLED_MS

    @property
    def is_heavy(self) -> bool:
        """Whether recent use was so high that its connections have to take turns."""
        shares = self.shares
        return shares[0].is_heavy or (len(shares) > 1 and any(share.is_heavy for share in shares))


class Payer(Protocol):
    """A connection, which pays for the work that it causes."""

    @property
    def account(self) -> Account | None:
        """The account of its address; None if it is not metered."""

    player: int | None
    """The player, after `hello`."""
    owed_ms: float
    """The measured time that is not charged to the player yet."""

    def charge(self, ms: float) -> None:
        """Charge measured milliseconds, now or when enough have accumulated."""


class FairShares:
    """The accounts of all addresses and players.

    `clock_s` measures, in seconds: the CPU time of the event loop's thread. By default everything is free, as in
    simulations.
    """

    def __init__(
        self,
        limits: Limits,
        now_ms: Callable[[], int],
        clock_s: Callable[[], float] = lambda: 0.0,
        most: int = MAX_ACCOUNTS,
    ) -> None:
        self.clock_s = clock_s
        self.payer: Payer | None = None
        """The connection whose request, or whose answer from the journal, is being handled."""
        self._limits = limits
        self._now_ms = now_ms
        self._most = most
        self._accounts: OrderedDict[str, Account] = OrderedDict()
        self._shares: OrderedDict[int | str, Share] = OrderedDict()
        """The shares of players, by number, and of wider networks."""
        self._all = Bucket(ALL_TOGETHER, 0)  # always full

    def account_of(self, network: str, wider: Sequence[str] = ()) -> Account:
        """Return the account of an address, linked to the `wider` networks around it, nearest first."""
        account = self._accounts.get(network)
        if account is None:
            account = self._accounts[network] = Account((self._share(1), *self._around(wider)), wider)
            if len(self._accounts) > self._most:
                self._accounts.popitem(last=False)
        else:
            self._accounts.move_to_end(network)
        return account

    def charge(self, payer: Payer, ms: float) -> None:
        """Charge measured milliseconds to a connection, now or when enough have accumulated."""
        account = payer.account
        if account is not None:
            payer.owed_ms += ms
            account.owed_ms += ms
            is_due = account.owed_ms > SETTLED_MS or payer.owed_ms > SETTLED_MS
            if (account.wider and account.owe_together(ms)) or is_due:
                self.settle(payer)

    def charge_all(self, payers: Collection[Payer], since_s: float) -> None:
        """Charge the time since `since_s`, by `clock_s`, to these connections in equal parts.

        The sender of a request that is being handled does not pay for that time.
        """
        if payers:
            ms = (self.clock_s() - since_s) * 1000
            for payer in payers:
                self.charge(payer, ms / len(payers))
            if self.payer is not None:
                self.charge(self.payer, -ms)

    def settle(self, payer: Payer) -> None:
        """Charge a connection's debt to its player, and its address's debt to that address and its networks."""
        own_ms, payer.owed_ms = payer.owed_ms, 0.0
        account, now_ms = payer.account, self._now_ms()
        if account is None:
            return
        ms, account.owed_ms = account.owed_ms, 0.0
        self._all.take(now_ms, ms)
        *nearer, widest = account.shares
        for share in nearer:
            share.use(now_ms, ms)
        if nearer:
            ms, widest.owed_ms = widest.owed_ms, 0.0
        widest.use(now_ms, ms)
        if payer.player is not None:
            self._kept(payer.player, PLAYERS_SHARE).take(now_ms, own_ms)

    def check(self, payer: Payer) -> None:
        """Reject a request, other than a move or a ping, of a peer whose share is used up, and say when to retry."""
        account = payer.account
        if account is None or not account.is_heavy:  # no share of a light account is nearly used up
            return
        now_ms = self._now_ms()
        wait_ms = max(share.wait_ms(now_ms) for share in account.shares)
        if wait_ms:
            raise _spent("your address has", self._limits.work, wait_ms)
        wait_ms = self._own_wait_ms(payer, now_ms)
        if wait_ms:
            raise _spent("you have", self._rate(PLAYERS_SHARE), wait_ms)
        if self._busy_ms(account, now_ms):
            raise Refusal(Code.TOO_FAST, "the server is busy, and your address has used half of its share", 1_000)

    def rest_ms(self, payer: Payer) -> int:
        """Return how many milliseconds not to read a connection after serving it: until each share has some `LEFT`.

        All connections of an address together then use no more than comes back. A peer who sends rarely has rested
        before the next request, so only those who send more than their neighbours wait.
        """
        account = payer.account
        if account is None or not account.is_heavy:
            return 0
        now_ms, left = self._now_ms(), LEFT * self._limits.work.count
        wait_ms = max(share.wait_ms(now_ms, left) for share in account.shares)
        own_wait_ms = self._own_wait_ms(payer, now_ms, left * PLAYERS_SHARE)
        return min(MOST_REST_MS, max(wait_ms, own_wait_ms, self._busy_ms(account, now_ms)))

    def _own_wait_ms(self, payer: Payer, now_ms: int, tokens: float = 1.0) -> int:
        """Return how long until the player's share has so much left; 0 without a player."""
        return 0 if payer.player is None else self._kept(payer.player, PLAYERS_SHARE).wait_ms(now_ms, tokens)

    def _busy_ms(self, account: Account, now_ms: int) -> int:
        """Return how long the server only serves addresses that have used less of their share; 0 if it serves all."""
        return self._all.wait_ms(now_ms) if account.shares[0].wait_ms(now_ms, self._limits.work.count / 2) else 0

    def is_overdrawn(self, network: str, wider: Sequence[str] = ()) -> bool:
        """Tell whether an address, or a network around it, has overdrawn half a share: then nothing new may begin."""
        account, now_ms = self._accounts.get(network), self._now_ms()
        shares = (account.shares[0] if account else None, *(self._shares.get(each) for each in wider))
        too_much = 1.5 * self._limits.work.count
        return any(
            share is not None and share.used(now_ms) > too_much * times
            for share, times in zip(shares, (1, *WIDER), strict=False)
        )

    def limits_changed(self) -> None:
        """Restart the counting, because a bucket keeps the rate that it was created with."""
        self._shares.clear()
        for account in self._accounts.values():  # which connections keep
            account.shares = (self._share(1), *self._around(account.wider))

    def _around(self, wider: Sequence[str]) -> Iterator[Share]:
        return (self._kept(each, times) for each, times in zip(wider, WIDER, strict=False))

    def _kept(self, key: int | str, times: float) -> Share:
        """Return the share of a player or of a wider network."""
        share = self._shares.get(key)
        if share is None:
            share = self._shares[key] = self._share(times)
            if len(self._shares) > self._most:
                self._shares.popitem(last=False)
        else:
            self._shares.move_to_end(key)
        return share

    def _share(self, times: float) -> Share:
        return Share(self._rate(times), self._now_ms())

    def _rate(self, times: float) -> Rate:
        return Rate(max(1, round(self._limits.work.count * times)), self._limits.work.period_s)


def _spent(who: str, work: Rate, wait_ms: int) -> Refusal:
    sentence = f"{who} used {work.count} ms of the server's time within {work.period_s:g} s"
    return Refusal(Code.TOO_FAST, f"{sentence} (limits.work); moves are still taken", wait_ms)
