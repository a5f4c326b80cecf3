"""Read the log of a simulated cluster as it is, and know at every moment what has happened, and who was where."""

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple, cast

from tests.simulation.node_server import NEWER
from ttt_net import messages as wire
from ttt_net.errors import Refusal
from ttt_net.server.cluster.log import Came, MemoryStream, Position, Sat
from ttt_net.server.cluster.replica import Replica
from ttt_net.server.journal import read_match
from ttt_net.server.journal.entries import AppendEvents, RenamePlayer
from ttt_net.server.players import Player


class Flag(NamedTuple):
    """The fall of a flag, as the log has it."""

    node: str
    """Which node let it fall."""
    mover: int
    """The player whose time was used up."""
    at_ms: int
    since_ms: int
    """When the event before was."""
    position: Position
    is_unheard: bool
    """Whether the player had come to another node, and did not hear the match there yet, as far as the log has it."""


class Oracle:
    """A reader of the log whom no fault of a world concerns."""

    def __init__(self, stream: MemoryStream) -> None:
        self._stream = stream
        self.replica = Replica(None, NEWER)
        self.connected: dict[Position, dict[int, str]] = {0: {}}
        """The node of each connected player, after each place of the log."""
        self.names: set[tuple[int | None, str]] = set()
        """Each name that a player was given: an older one may come about after a newer one."""
        self._unheard: dict[int, set[str]] = {}
        """The matches that each player had when they came to their node, and does not hear there yet."""
        self._ends: list[tuple[float, Position]] = []
        """When the log ended where, twice a second and oftener."""

    @property
    def tables(self) -> sqlite3.Connection:
        """The content of the log, as far as it was read."""
        return self.replica.database.connection

    def read(self, now_s: float) -> Iterator[Flag]:
        """Read the log up to its end; yield each flag that fell, at the place at which it did."""
        self._ends.append((now_s, self._stream.end))
        for position in range(self.replica.position + 1, self._stream.end + 1):
            (applied,) = self.replica.apply([(position, self._stream.read(position))])
            done = [outcome for outcome in applied.outcomes or () if not isinstance(outcome.result, Refusal)]
            for outcome in done:
                if isinstance(outcome.entry, AppendEvents):
                    assert applied.batch is not None
                    yield from self._flags(outcome.entry, applied.batch.node, position)
                elif isinstance(outcome.entry, RenamePlayer):
                    self.names.add((outcome.entry.player, outcome.entry.name))
                elif isinstance(outcome.entry, Came):
                    self._unheard[outcome.entry.player] = set(cast(Player, outcome.result).unfinished)
                elif isinstance(outcome.entry, Sat):
                    self._unheard[outcome.entry.player].discard(outcome.entry.match)
            self.connected[position] = connected_to(self.replica) if done else self.connected[position - 1]

    def _flags(self, entry: AppendEvents, node: str, position: Position) -> Iterator[Flag]:
        event = entry.events[-1]
        if isinstance(event, wire.Ended) and event.reason == "time" and event.winner is not None:
            match = read_match(self.tables, event.match)
            mover = match.seats[1 - event.winner]
            is_unheard = event.match in self._unheard.get(mover, ())
            yield Flag(node, mover, event.at_ms, match.events[-2].at_ms, position, is_unheard)

    def end_at(self, at_s: float) -> Position:
        """Return where the log ended at a time, or a moment before."""
        return max((position for ended_s, position in self._ends if ended_s <= at_s), default=0)


def connected_to(replica: Replica) -> dict[int, str]:
    """Return to which node each player is connected, by the tables of one; as `Replica.connected`, and nothing else."""
    rows = replica.database.connection.execute(
        "SELECT player, node FROM connected JOIN players ON id = player WHERE token_hash IS NOT NULL ORDER BY player"
    )
    return dict(rows.fetchall())
