"""The tables of the house: who is seated where, and what a table asks of everybody else."""

from collections import Counter
from collections.abc import Callable
from typing import Protocol as Interface

from ttt_net import messages as wire
from ttt_net.errors import Code, Refusal
from ttt_net.games import Reason
from ttt_net.matches.match import Match
from ttt_net.server.accounts.online_players import OnlinePlayers
from ttt_net.server.accounts.session import Session
from ttt_net.server.admission.rate_limiter import RateLimiter
from ttt_net.server.journal import Changes, Journal, with_names
from ttt_net.server.matchmaking.abandon_history import AbandonHistory
from ttt_net.server.matchmaking.lobby_feed import LobbyFeed
from ttt_net.server.matchmaking.matchmaker import Matchmaker
from ttt_net.server.metrics import Metrics
from ttt_net.server.players import PlayerId
from ttt_net.server.rooms.room import MatchRoom


class RegistryServices(Interface):
    """What the hall asks of the hub."""

    journal: Journal
    meters: Metrics
    quotas: RateLimiter
    now_ms: Callable[[], int]
    sessions: dict[PlayerId, Session]
    starting: Counter[PlayerId]
    roster: OnlinePlayers
    noticeboard: LobbyFeed

    def may_begin(self) -> None:
        """Refuse a new match while a restart is counted down to, or under way."""


class MatchRegistry:
    """The owner of the tables, one for each match that somebody hears."""

    def __init__(self, house: RegistryServices, reception: Matchmaker) -> None:
        self.journal = house.journal
        self.meters = house.meters
        self.now_ms = house.now_ms
        self.tables: dict[str, MatchRoom] = {}
        self._house = house
        self._reception = reception
        self._noticeboard = house.noticeboard
        self._deserters = AbandonHistory()

    def seat(self, started: wire.Started, seats: tuple[PlayerId, PlayerId]) -> None:
        """Open the table of a match that has been written down, and seat those of its players who are here."""
        table = self._table(started.match)  # whoever guessed the id of a rematch may have come to it already
        match = Match(started)
        self.meters.matches += 1
        for side, player in enumerate(seats):
            session = self._house.sessions.get(player)
            if session:
                match.rename(side, session.info.name)  # he may have come again, and taken another since
                self._reception.withdraw(session)
                self._noticeboard.unsubscribe(session)
                self._leave_finished(session)
                session.live.add(table.id)
                self._house.roster.moved(session)
                table.seat(session)
        self._noticeboard.changed("players", "live")
        table.open(match, seats)

    def fetched(self, session: Session, match_id: str) -> MatchRoom:
        """Return the table of a match that has to be read: a question to the disk, but for a live match of his own."""
        if match_id not in session.live:
            self.meter(session)
        return self._table(match_id)

    def meter(self, session: Session) -> None:
        """Count a question that takes long to answer; refuse one who asks too much."""
        self._house.quotas.spend("inquiries", session.player, session.connection.metered_as)

    def _table(self, match_id: str) -> MatchRoom:
        """Return the table of a match, of which there is one at a time."""
        table = self.tables.get(match_id)
        if table is None:
            table = self.tables[match_id] = MatchRoom(match_id, self)
        return table

    def live_of(self, session: Session) -> list[str]:
        """Return the ids of his public live matches."""
        return [match for match in sorted(session.live) if match in self.tables and self.tables[match].is_listed]

    def occupied(self, session: Session) -> int:
        """Return how many matches keep a player busy: all that go on, or are about to, but for the adjourned ones."""
        tables = (self.tables.get(match_id) for match_id in session.live)
        going_on = sum(table is None or not table.is_adjourned for table in tables)
        return self._house.starting[session.player] + going_on

    def desertions(self, player: PlayerId) -> int:
        """Return how many matches the player has deserted of late."""
        return self._deserters.count(player, self.now_ms())

    def changed(self, table: MatchRoom, *, slightly: bool = False) -> None:
        """Have the list of live matches told anew."""
        self._noticeboard.changed("live", slightly=slightly)

    def ended(self, table: MatchRoom) -> None:
        """Count the match as finished for both."""
        self._noticeboard.changed("players", "live")
        assert table.match is not None
        is_abandoned = table.match.outcome is not None and table.match.outcome.reason is Reason.ABANDON
        for side, player in enumerate(table.seats or ()):
            if is_abandoned and table.match.absences.of(side):
                self._deserters.deserted(player, self.now_ms())
            session = self._house.sessions.get(player)
            if session:
                session.live.discard(table.id)
                self._house.roster.moved(session)
        self.freed(table)

    def freed(self, table: MatchRoom) -> None:
        """Let bots that have a place more be found by those who wait."""
        sessions = [self._house.sessions.get(player) for player in table.seats or ()]
        for session in sessions:
            if session and session.is_bot:
                self._reception.freed(session)

    def rated(self, table: MatchRoom, ratings: Changes) -> None:
        """Let both players have their new ratings."""
        assert table.match is not None
        for player, change in zip(table.seats or (), ratings, strict=True):
            session = self._house.sessions.get(player)
            if session:
                session.rated(table.match.game.name, table.match.time, change)

    def rematched(self, table: MatchRoom, started: wire.Started) -> None:
        """Seat both players, sides swapped, at the next match."""
        assert table.match is not None
        assert table.seats is not None
        first, second = table.match.players
        self.seat(with_names(started, second.name, first.name), (table.seats[1], table.seats[0]))

    def deserted(self, table: MatchRoom) -> None:
        """Forget a table that nobody sits at; the journal has the match."""
        if self.tables.get(table.id) is table:
            del self.tables[table.id]
            self._noticeboard.changed("live")

    def check_code(self, session: Session, code: str | None, right: str | None) -> None:
        """Refuse whoever lacks the code of a private match; it is tried as slowly as that of an invitation."""
        if code is None:
            raise Refusal(Code.NOT_PUBLIC, "that match is private; whoever plays in it can tell you its code")
        self._reception.invitations.meter_code(session, is_right=right is not None and code.strip().upper() == right)

    def players_of(
        self, started: wire.Started, seats: tuple[PlayerId, PlayerId]
    ) -> tuple[wire.PlayerInfo, wire.PlayerInfo]:
        """Return who plays a match that is about to start, as they are now."""
        first, second = (self._house.sessions[player].info_at(started.game, started.time) for player in seats)
        return first, second

    def reserve(self, seats: tuple[PlayerId, PlayerId]) -> Callable[[], None]:
        """Count the next match of two players as about to start; what is returned ends that."""
        first, second = (self._house.sessions[player] for player in seats)
        return self._reception.reserve(first, second)

    def may_rematch(self, table: MatchRoom) -> None:
        """Refuse a rematch unless both players are at the table still, and may have one match more."""
        self._house.may_begin()
        for player in table.seats or ():
            session = self._house.sessions.get(player)
            if session is None or not table.is_present(player):
                raise Refusal(Code.OPPONENT_GONE, "your opponent has left or plays elsewhere")
            self._reception.eligibility.may_play(session, against_bot=table.has_bot_beside(player))

    def leave(self, session: Session, match_id: str) -> None:
        """Let the session hear no more of a match."""
        session.tables.discard(match_id)
        table = self.tables.get(match_id)
        if table:
            table.leave(session)

    def _leave_finished(self, session: Session) -> None:
        for match_id in list(session.tables):
            table = self.tables.get(match_id)
            is_player = table is not None and session.player in (table.seats or ())
            if is_player and match_id not in session.live:
                self.leave(session, match_id)
