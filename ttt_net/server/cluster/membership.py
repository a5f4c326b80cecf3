"""Tell the cluster who is connected to this node."""

from collections.abc import Callable
from itertools import count

from ttt_net.errors import Refusal
from ttt_net.server.cluster.entries import Came, Sat, Went
from ttt_net.server.cluster.replicated_ledger import ReplicatedLedger
from ttt_net.server.players import Player, PlayerId


class Membership:
    """What the sessions of this node write into the log, beside what their players do."""

    def __init__(self, ledger: ReplicatedLedger) -> None:
        self._ledger = ledger
        self._serials = count(1)

    @property
    def is_fresh(self) -> bool:
        """Whether this node may answer: it knows all that was in the log a moment ago."""
        return self._ledger.is_fresh

    @property
    def keeps_lobby(self) -> bool:
        """Whether this node pairs the players of all."""
        return self._ledger.is_steward

    def next_serial(self) -> int:
        """Return a number that no other connection of this process has."""
        return next(self._serials)

    def came(self, came: Came, done: Callable[[Player], None], failed: Callable[[Refusal], None]) -> None:
        """Let a player be connected here, and nowhere else; `done` gets them as they are at that moment."""
        self._ledger.append(came, done, failed)

    def sat(self, player: PlayerId, serial: int, match: str) -> None:
        """Let a player hear a match of theirs."""
        self._ledger.append(Sat(player, serial, match), _unheard, _unheard)

    def went(self, player: PlayerId, serial: int, *, on_purpose: bool) -> None:
        """Let a player be connected here no more."""
        self._ledger.append(Went(player, serial, on_purpose), _unheard, _unheard)


def _unheard(_: object) -> None:
    """Do nothing with the answer."""
