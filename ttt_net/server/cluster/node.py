"""One server of a cluster: it applies the other nodes' writes too.

Every node has the shared state in memory: who is connected to which node, and the matches that they receive. Beside the
log are the lobby, which one node keeps for all (`shared_lobby`), and messages that are not stored (`node_messages`).
"""

import logging
from collections.abc import Callable
from functools import partial

from ttt_net.errors import Closing
from ttt_net.server.accounts import session_elsewhere
from ttt_net.server.admin.moderation import end_sanction, put_in_force
from ttt_net.server.cluster.log import AnyLoggedEntry, Author, BeginEpoch, Came, DeclareLost, Log, NodeName, Sat, Went
from ttt_net.server.cluster.node_messages import Broadcasts
from ttt_net.server.cluster.replica import EntryOutcome, Replica
from ttt_net.server.cluster.replicated_ledger import NodeHooks, ReplicatedLedger
from ttt_net.server.cluster.shared_lobby import SharedLobby
from ttt_net.server.hub import Hub
from ttt_net.server.journal import entries
from ttt_net.server.journal.database import unheard
from ttt_net.server.online_players import Session
from ttt_net.server.players import Player
from ttt_net.server.wire.connection import RemoteConnection

log = logging.getLogger(__name__)

TICK_S = 0.1
"""How often the node checks pending work."""
ASIDE_S = 60.0
"""How long a disk that was almost full must have room before the node takes part again."""
CUT_OFF_S = 6.0
"""So long after contact ceased to be proven, `STALE_S` after the last proof, the node disconnects its players, who can
continue on another node. An election of NATS, after which they can continue here, takes less: about 6 s in all.
"""


class ClusterNode:
    """Connects a server with its ledger; see the module."""

    def __init__(
        self, hub: Hub, ledger: ReplicatedLedger, stream: Log, replica: Replica, aside_s: float = ASIDE_S
    ) -> None:
        self._hub, self._ledger, self._replica = hub, ledger, replica
        self._services = hub.services
        self._lobby = SharedLobby(hub, ledger, stream)
        self._broadcasts = Broadcasts(hub, ledger.node, stream)
        self._in_touch_s = self._services.loop.time()
        self._aside_s = aside_s
        self._full_s: float | None = None
        """When the disk was last almost full, if that was recent."""
        self.begin_anew: Callable[[], None] = lambda: None
        """Replaces this process with a new one: called when only a snapshot contains the next entries of this node."""

    def start(self) -> None:
        """Take part in the cluster: follow the log from the position of the tables."""
        for node, came, player in self._replica.connected(self._services.wall_ms()):
            if node != self._ledger.node:  # our own were lost with our last process
                self._came(node, came, player)
        for session in list(self._services.players.sessions.values()):
            for match in sorted(session.live):
                self._hub.registry.room(match).seat_elsewhere(session)
        self._broadcasts.start()
        self._lobby.start()
        self._ledger.start(NodeHooks(self._heard, self._began, self._ended, self._refused, lambda: self.begin_anew()))
        self._tick()

    @property
    def unanswered(self) -> int:
        """The number of requests from other nodes to the lobby that this node, as its steward, has not answered yet."""
        return self._lobby.unanswered

    def _tick(self) -> None:
        self._services.loop.call_later(TICK_S, self._tick)
        self._hub.release()
        self._lobby.answer_early()
        self._lobby.forget_answers()
        now_s = self._services.loop.time()
        if self._ledger.is_fresh:
            self._in_touch_s = now_s
        elif now_s - self._in_touch_s > CUT_OFF_S:
            self._in_touch_s = now_s
            self._send_away()
        self._look_at_disk(now_s)
        self._lobby.tell_seeks(now_s)
        self._broadcasts.tell_counts(now_s)
        self._broadcasts.tell_taken()

    def _look_at_disk(self, now_s: float) -> None:
        """Leave players and the lobby to the other nodes while the disk here is almost full."""
        fullness = self._services.disk.fullness
        if fullness is not None:
            self._full_s = now_s
            self._ledger.stand_aside(fullness)
        elif self._full_s is not None and now_s - self._full_s >= self._aside_s:
            self._full_s = None
            self._ledger.stand_aside(None)

    # Writes of the other nodes.

    def _heard(self, outcome: EntryOutcome, author: Author) -> None:
        entry, services = outcome.entry, self._services
        match entry:
            case entries.AppendEvents():
                self._hub.registry.hear(entry, outcome.names, outcome.result)
                for player in entry.seats or ():
                    self._lobby.forget_seek(player)
            case entries.AppendTournament() | entries.BeginBoards():
                self._hub.tournaments.hear(entry, outcome.names)
                for start in entry.starts if isinstance(entry, entries.BeginBoards) else ():
                    for player in start.seats or ():
                        self._lobby.forget_seek(player)
            case Came() | Sat() | Went():
                self._heard_of_player(entry, outcome, author)
            case BeginEpoch() | DeclareLost():
                node = author.node if isinstance(entry, BeginEpoch) else entry.node
                for room in list(self._hub.registry.rooms.values()):
                    room.joining.count_elsewhere(node, 0)
                for player in outcome.result:
                    session = services.players.get(player)
                    if session is not None and self._is_at(session, node):
                        self._excuse(session)
                        self._hub.sessions.end(session)
                self._lobby.look_for_steward()
            case entries.RenamePlayer():
                self._hub.accounts.renamed(entry.player, entry.name)
            case entries.ForgetPlayer():
                self._hub.accounts.forgotten(entry.player, entry.token_key)
            case entries.ForgetGuests():
                for guest in outcome.result:
                    self._hub.accounts.forgotten(guest)
            case entries.KeepInvitation():
                self._hub.lobby.reinstate([entry.invitation])
            case entries.SetBlock():
                self._hub.chat.blocks_changed(entry.player, entry.other, outcome.result)
            case entries.ImposeSanction():
                put_in_force(services, entry.sanctions)
            case entries.AppointModerator() | entries.DismissModerator():
                self._hub.moderators_changed(entry)
            case entries.LiftSanction():
                end_sanction(services, entry.act, entry.whom, entry.player)
            case entries.ForgetSanctions():
                for ended in outcome.result:
                    services.sanctions.ran_out(*ended)
            case _:
                pass  # concerns only the tables

    def _heard_of_player(self, entry: Came | Sat | Went, outcome: EntryOutcome, author: Author) -> None:
        session = self._services.players.get(entry.player)
        is_theirs = session is not None and self._is_at(session, author.node) and session.serial == entry.serial
        if author.node == self._ledger.node:
            if isinstance(entry, Came):  # it was given up, but happened after all
                self._hub.sessions.replaced(entry.player)
                self._ledger.append(Went(entry.player, entry.serial), unheard, unheard)
        elif isinstance(entry, Came):
            self._came(author.node, entry, outcome.result)
        elif session is not None and is_theirs:
            if isinstance(entry, Sat):
                self._hub.registry.room(entry.match).seat_elsewhere(session)
            else:
                assert isinstance(session.connection, RemoteConnection)
                session.connection.left_on_purpose = entry.on_purpose
                self._hub.sessions.end(session)

    def _is_at(self, session: Session, node: NodeName) -> bool:
        return isinstance(session.connection, RemoteConnection) and session.connection.node == node

    def _came(self, node: NodeName, came: Came, player: Player) -> None:
        forward = partial(self._lobby.forward, node, came.player, came.serial)
        now_s = self._services.loop.time()
        connection = RemoteConnection(
            node, came.address, came.player, now_s, forward, self._services.shares, is_metered=came.is_metered
        )
        self._lobby.arrived_elsewhere(came.player)
        session = session_elsewhere(came, player, connection)
        connection.session = session
        self._hub.sessions.begin_elsewhere(session)

    def _excuse(self, session: Session) -> None:
        """Refund the time of this turn to a player whose node was lost: a move of theirs may have been lost."""
        now_ms = self._services.now_ms()
        for match_id in session.rooms:
            room = self._hub.registry.rooms.get(match_id)
            match = room.match if room else None
            if room is None or match is None or match.is_over:
                continue
            if match.game.to_move(match.state) == room.seats.side_of(session.player):
                match.count_from(now_ms)

    def _refused(self, entry: AnyLoggedEntry) -> None:
        """Handle an entry of ours with an unknown outcome that did not happen after all."""
        if isinstance(entry, entries.AppendEvents):
            self._hub.registry.refused(entry)

    # This node's own fate.

    def _began(self) -> None:
        log.info("node %s is one of the cluster, epoch %d", self._ledger.node, self._ledger.epoch)
        self._in_touch_s = self._services.loop.time()

    def _ended(self) -> None:
        self._send_away()
        self._lobby.look_for_steward()

    def _send_away(self) -> None:
        """Close all connections with the code that asks clients to reconnect, if possible to another node."""
        for connection in list(self._services.connections):
            connection.close(Closing.RESTART)
            if isinstance(connection.session, Session):
                self._hub.sessions.end(connection.session)
