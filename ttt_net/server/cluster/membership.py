"""Tell the cluster who is connected to this node."""

from collections.abc import Callable
from itertools import count
from typing import NamedTuple

from ttt_net.errors import Refusal
from ttt_net.server.cluster.log import Came, Sat, Went
from ttt_net.server.cluster.replicated_ledger import ReplicatedLedger
from ttt_net.server.journal.database import unheard
from ttt_net.server.players import Player, PlayerId


class NodeFigures(NamedTuple):
    """How a node stands in its cluster."""

    node: str
    epoch: int
    is_member: bool
    is_steward: bool
    """Whether it keeps the lobby."""
    members: int
    """How many nodes may write, as far as it knows."""
    position: int
    """Up to which place of the log it has applied all."""
    lag: int
    """Places of the log that it knows of and has not applied."""
    silence_s: float
    """For how long it has had no proof of contact with the log."""
    refused: int
    """Entries of its own that were refused, since others came first or it was declared lost."""


class Membership:
    """Entries about the sessions of this node, besides the acts of their players."""

    def __init__(self, ledger: ReplicatedLedger) -> None:
        self._ledger = ledger
        self._serials = count(1)
        self.recounted: dict[str, None] = {}
        """The matches that more or fewer watch here than the other nodes were told."""

    @property
    def is_fresh(self) -> bool:
        """Whether this node may answer: it knows all that was in the log a moment ago."""
        return self._ledger.is_fresh

    @property
    def is_aside(self) -> bool:
        """Whether this node leaves players to the others, since its disk is almost full."""
        return self._ledger.aside is not None and not self._ledger.is_member

    @property
    def keeps_lobby(self) -> bool:
        """Whether this node pairs the players of all."""
        return self._ledger.is_steward

    def urls(self) -> list[str]:
        """Return where players reach the nodes."""
        return self._ledger.peers.urls()

    def known_urls(self) -> list[str]:
        """Return where players reach, or reached, all nodes that there were."""
        return self._ledger.peers.known_urls()

    def figures(self) -> NodeFigures:
        """Return how this node stands in the cluster."""
        ledger, members = self._ledger, self._ledger.peers.members()
        return NodeFigures(
            ledger.node, ledger.epoch, ledger.is_member, ledger.is_steward, len(members), ledger.position,
            ledger.contact.lag, ledger.contact.silence_s, ledger.refused,
        )  # fmt: skip

    def next_serial(self) -> int:
        """Return a number that no other connection of this process has."""
        return next(self._serials)

    def came(self, came: Came, done: Callable[[Player], None], failed: Callable[[Refusal], None]) -> None:
        """Let a player be connected here, and nowhere else; `done` gets them as they are at that moment."""
        self._ledger.append(came, done, failed)

    def sat(self, player: PlayerId, serial: int, match: str) -> None:
        """Let a player hear a match of theirs."""
        self._ledger.append(Sat(player, serial, match), unheard, unheard)

    def went(self, player: PlayerId, serial: int, *, on_purpose: bool) -> None:
        """Let a player be connected here no more."""
        self._ledger.append(Went(player, serial, on_purpose), unheard, unheard)
