"""Start matches and keep their rooms: seat the players, and handle the consequences of a match's end."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby, islice
from operator import attrgetter
from typing import assert_never

from ttt_net import messages as wire
from ttt_net.clock import SIDES
from ttt_net.errors import UNKNOWN, Closing, Code, Refusal, StorageError, UnknownOutcomeError
from ttt_net.games import Reason, find_game
from ttt_net.matches.match import Match
from ttt_net.pairing.lobby import Challenge, Lobby, Pairing
from ttt_net.server.admission.rate_limiter import MATCH_BYTES
from ttt_net.server.journal import Changes, StoredMatch, with_names
from ttt_net.server.journal.entries import AppendEvents
from ttt_net.server.matchmaking.eligibility import Eligibility
from ttt_net.server.online_players import Session
from ttt_net.server.players import PlayerId
from ttt_net.server.rooms.room import MatchRoom, RoomHooks
from ttt_net.server.services import Services

_ID_LETTERS = "23456789abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"
"""The letters of match ids, without easily confused ones."""
_ID_LENGTH = 8
OPENED_AT_ONCE = 20
"""The number of matches to open in one iteration of the event loop: a room takes about 40 us."""
Start = tuple[wire.Started, tuple[PlayerId, PlayerId]]
"""The start of a match, with its players by side."""

log = logging.getLogger(__name__)

_MATCH_OF = attrgetter("match")


class MatchRegistry:
    """The rooms, one for each match with an audience."""

    def __init__(self, services: Services, rooms: dict[str, MatchRoom], eligibility: Eligibility, lobby: Lobby) -> None:
        self.rooms = rooms
        self._services = services
        self._eligibility = eligibility
        self._lobby = lobby
        self._beginning: list[Session] = []
        """The players whose match is about to start; some may have left or reconnected meanwhile."""
        self.on_ended: Callable[[str, wire.Ended], None] = lambda match, ended: None
        """Called with the end of each tournament match, and of others that are not in memory, once it is journaled."""
        self.on_renamed: Callable[[PlayerId, str], None] = lambda player, name: None
        """Called with the new name of a player."""
        self._unseated: dict[str, MatchRoom] = {}
        """Rooms whose players are unknown until their match is read."""
        self._unopened: dict[str, tuple[Start | None, int]] = {}
        """Tournament matches to open soon, or to read if they began before, each with the time for its first moves."""
        self._rooms_of: dict[PlayerId, dict[str, MatchRoom]] = {}
        """The rooms of each player's matches."""
        self._hooks = RoomHooks(
            self._may_rematch, self._reserve_rematch, self._seated, self._committed, self._rated, self._let_go
        )

    # Beginning a match.

    def start(self, pairing: Pairing) -> None:
        """Journal the start of a paired match, then seat both players. Their seeks have been withdrawn.

        It spends the invitation, if any; if the write fails, the invitation is valid again. If the outcome is unknown,
        neither happens until `hear` or `refused` is called.
        """
        services = self._services
        services.feed.changed("seeks", "players")
        first, second = (services.players.sessions[player] for player in (pairing.first, pairing.second))
        started = wire.Started(
            match=self.new_id(),
            seq=1,
            at_ms=services.wall_ms(),
            game=pairing.game,
            players=(
                first.info_for(pairing.game, pairing.time, pairing.level),
                second.info_for(pairing.game, pairing.time, pairing.level),
            ),
            time=pairing.time,
            private=pairing.is_private,
            rated=pairing.is_rated,
            code=pairing.code,
            start=pairing.start,
            rules=find_game(pairing.game).face.version,
        )
        players = (pairing.first, pairing.second)
        release = self._reserve(first, second)
        person = second if first.is_bot else first
        if first.is_bot != second.is_bot:
            services.players.bot_places.hold(started.match, person.connection.metered_as)

        def done(_: Changes | None) -> None:
            release()
            if started.code is not None:
                self._lobby.spent(started.code)
            self._seat(with_names(started, first.info.name, second.info.name), players)

        def refused(refusal: Refusal) -> None:
            release()
            services.players.bot_places.free(started.match)
            if started.code is not None and not isinstance(refusal, UnknownOutcomeError):
                self._lobby.unspent(started.code)
            for session in (first, second):  # their seeks are spent; after reconnecting, they seek again
                if isinstance(refusal, UnknownOutcomeError):
                    session.connection.close(Closing.RESTART, UNKNOWN)
                elif isinstance(refusal, StorageError):
                    session.connection.close(Closing.FAULT, "the server cannot write to its disk")
                else:
                    session.connection.close(Closing.RESTART, "the match could not begin; ask again")

        services.journal.append([started], done, refused, players)

    def begin_boards(self, starts: Sequence[Start], begin_ms: int) -> None:
        """Seat the players of journaled tournament matches, and keep the rooms until they are over.

        A few open immediately, and the others in further iterations of the event loop, or when somebody needs them.
        """
        self._open_soon({start[0].match: (start, begin_ms) for start in starts})

    def hold_boards(self, matches: Iterable[str], begin_ms: int) -> None:
        """Keep the rooms of tournament matches until they are over; the time for first moves begins again."""
        self._open_soon({match: (None, begin_ms) for match in matches if match not in self._unopened})

    def _open_soon(self, boards: Mapping[str, tuple[Start | None, int]]) -> None:
        is_opening = bool(self._unopened)
        self._unopened.update(boards)
        if not is_opening:
            self._open_some()

    def _open_some(self) -> None:
        for match in list(islice(self._unopened, OPENED_AT_ONCE)):
            self._open(match)
        if self._unopened:
            self._services.turns.join(self._open_some, "tournaments")

    def _open(self, match: str) -> None:
        start, begin_ms = self._unopened.pop(match)
        if start is None:
            self.room(match).hold(begin_ms)
        else:
            self._seat_if_known(*start, begin_ms)

    def new_id(self) -> str:
        """Return an id for a new match."""
        return "".join(self._services.rng.choices(_ID_LETTERS, k=_ID_LENGTH))

    def hear(self, entry: AppendEvents, names: Mapping[PlayerId, str], ratings: Changes | None) -> None:
        """Apply entries about matches from another node of the cluster to memory.

        `names` has those of the players of a match that starts.
        """
        for match_id, group in groupby(entry.events, key=_MATCH_OF):
            events = list(group)
            first = events[0]
            if isinstance(first, wire.Started):
                assert entry.seats is not None, "a match starts with its seats"
                if first.code is not None:
                    self._lobby.spent(first.code)
                self._seat_if_known(with_names(first, *(names[player] for player in entry.seats)), entry.seats)
                continue
            if match_id in self._unopened:
                self._open(match_id)
            room = self.rooms.get(match_id)
            if room is not None and room.known is not None:
                room.hear(events, ratings)
            elif isinstance(events[-1], wire.Ended):
                self._ended_unread(match_id, ratings)
                self.on_ended(match_id, events[-1])

    def refused(self, entry: AppendEvents) -> None:
        """Make invitations valid again whose matches, with an unknown outcome, did not begin after all."""
        for event in entry.events:
            if isinstance(event, wire.Started) and event.previous is None and event.code is not None:
                self._lobby.unspent(event.code)

    def renamed(self, player: PlayerId, name: str) -> None:
        """Rename a player in their matches, including those that are about to start or are being read."""
        self.on_renamed(player, name)
        for match, (start, begin_ms) in self._unopened.items():
            if start is not None:
                started, players = start
                sides = zip(players, started.players, strict=True)
                names = [name if seat == player else info.name for seat, info in sides]
                self._unopened[match] = (with_names(started, *names), players), begin_ms
        for room in (*self._unseated.values(), *self._rooms_of.get(player, {}).values()):
            room.rename(player, name)
        for session in self._beginning:
            if session.player == player:
                session.rename(name)

    def withdraw(self, *players: PlayerId) -> None:
        """Withdraw the seeks of players who are playing or about to be deleted."""
        if sum(self._lobby.seeks.withdraw(player) for player in players):
            self._services.feed.changed("seeks", "players")

    def _end_challenges(self, players: Sequence[Session]) -> None:
        """End the challenges between the players of a match that begins, and those that people among them have made.

        Otherwise the next acceptance would begin a second match beside it. Bots say by their places what they can play.
        """
        if len(players) == len(SIDES):
            for challenge in self._lobby.part(*(session.player for session in players)):
                self.tell_both(challenge, wire.ChallengeAccepted(challenge.number))
        for session in players:
            for challenge in self._lobby.take_back(session.player) if not session.is_bot else ():
                self.tell_both(challenge, wire.ChallengeOver(challenge.number, "expired"))

    def tell_both(self, challenge: Challenge, told: wire.AnyServerMessage) -> None:
        """Send both players of a challenge how it ended."""
        for player in (challenge.by, challenge.to):
            session = self._services.players.get(player)
            if session:
                session.tell(told)

    def _reserve(self, *players: Session) -> Callable[[], None]:
        """Count a match that is about to start for its players and their limits. Return the function that ends this."""
        self._end_challenges(players)
        starting = self._services.players.starting
        self._beginning += players
        for session in players:
            starting[session.player] += 1
            with suppress(Refusal):  # which applies to their next request
                self._services.rate_limiter.spend("matches", session.player, None)
            with suppress(Refusal):
                self._services.rate_limiter.share("writes", session.connection.metered_as)
            self._services.rate_limiter.wrote(session.connection.metered_as, MATCH_BYTES)

        def release() -> None:
            for session in players:
                self._beginning.remove(session)
                starting[session.player] -= 1
                if not starting[session.player]:
                    del starting[session.player]

        return release

    def _seat_if_known(
        self, started: wire.Started, players: tuple[PlayerId, PlayerId], begin_ms: int | None = None
    ) -> None:
        """Seat the players of a match that another node may have begun; without its game here, only log that."""
        try:
            self._seat(started, players, begin_ms)
        except Refusal as refusal:  # this node lacks the game, or has other rules
            log.error("the match %s of another node cannot be opened here: %s", started.match, refusal)

    def _seat(self, started: wire.Started, players: tuple[PlayerId, PlayerId], begin_ms: int | None = None) -> None:
        """Open the room of a journaled match, and seat its connected players."""
        services = self._services
        match = Match(started)
        room = self.room(started.match)  # somebody may have guessed the id of a rematch and already joined
        services.metrics.matches += 1
        here = {side: session for side, player in enumerate(players) if (session := services.players.get(player))}
        self.withdraw(*(session.player for session in here.values()))
        self._end_challenges(tuple(here.values()))
        for side, session in here.items():
            match.rename(side, session.info.name)  # they may have reconnected, and taken another since
            self._leave_finished(session)
            session.began(room.id)
            services.players.moved(session)
            services.feed.unsubscribe(session)
        services.feed.changed("players", "live")
        room.open(match, players, here.values(), begin_ms)

    # Rooms.

    def room(self, match_id: str) -> MatchRoom:
        """Return the room of a match, creating it if necessary."""
        if match_id in self._unopened:
            self._open(match_id)
        room = self.rooms.get(match_id)
        if room is None:
            room = self.rooms[match_id] = MatchRoom(match_id, self._services, self._hooks)
            self._unseated[match_id] = room
        return room

    def _seated(self, room: MatchRoom) -> None:
        """Index a room by its players, who are now known."""
        self._unseated.pop(room.id, None)
        for player in room.seats.both:
            self._rooms_of.setdefault(player, {})[room.id] = room

    def fetched(self, session: Session, match_id: str) -> MatchRoom:
        """Return the room of a match that must be read: a query, unless it is the player's own live match."""
        if match_id not in session.live:
            self._services.rate_limiter.spend("inquiries", session.player, session.connection.metered_as)
        return self.room(match_id)

    def live_of(self, session: Session) -> list[str]:
        """Return the ids of their public live matches."""
        return [match for match in sorted(session.live) if match in self.rooms and self.rooms[match].is_listed]

    def leave(self, session: Session, match_id: str, *, is_replaced: bool = False) -> None:
        """Remove the session from a match; `is_replaced`: a new connection of the player replaced it."""
        session.exit(match_id)
        room = self.rooms.get(match_id)
        if room:
            room.leave(session, is_replaced=is_replaced)

    def _leave_finished(self, session: Session) -> None:
        for match_id in list(session.rooms):
            room = self.rooms.get(match_id)
            is_player = room is not None and room.seats.side_of(session.player) is not None
            if is_player and match_id not in session.live:
                self.leave(session, match_id)

    # Hooks of the rooms.

    def _may_rematch(self, room: MatchRoom) -> None:
        """Raise `Refusal` unless both players are still connected and may play one more match."""
        for player in room.seats.both:
            if not room.seats.is_present(player):
                raise Refusal(Code.OPPONENT_GONE, "your opponent has left or plays elsewhere")
            session = self._services.players.sessions[player]
            self._eligibility.may_play(session, against_bot=room.has_bot_beside(player))
        if self._services.players.have_blocked(*room.seats.both):
            raise Refusal(Code.NOT_WELCOME, "there is no rematch between you two; play somebody else")

    def _reserve_rematch(self, players: tuple[PlayerId, PlayerId]) -> Callable[[], None]:
        self.withdraw(*players)
        return self._reserve(*(self._services.players.sessions[player] for player in players))

    def _committed(
        self, room: MatchRoom, event: wire.Ended | wire.Adjourned | wire.Started, by: PlayerId | None
    ) -> None:
        assert room.known is not None
        match event:
            case wire.Ended() | wire.Adjourned():
                self._services.players.bot_places.free(room.id)
                if isinstance(event, wire.Ended):
                    self._ended(room, room.known, event, by)
                    if room.known.tournament is not None:
                        self.on_ended(room.id, event)
                self._look_again(room.seats.both)
            case wire.Started():
                first, second = room.known.players
                self._seat(with_names(event, second.name, first.name), room.seats.swapped())
            case _:
                assert_never(event)

    def _ended(self, room: MatchRoom, match: Match, ended: wire.Ended, by: PlayerId | None) -> None:
        """Count the match as finished for both; `by` is the player who resigned or left it, if any."""
        services, now_ms = self._services, self._services.now_ms()
        services.feed.changed("players", "live")
        players = room.seats.both
        if ended.reason == Reason.ABORT and all(player.bot is None for player in match.players):
            services.aborts.part(*players, now_ms)
            if by is not None:
                services.aborts.add(by, now_ms)
                if match.absences.of(players.index(by)) is None:  # absences are known on every node
                    services.rate_limiter.tell("aborts", by)
        for side, player in enumerate(players):
            if ended.reason == Reason.ABANDON and match.absences.of(side):
                services.abandons.add(player, now_ms)
            session = services.players.get(player)
            if session:
                session.finished(room.id)
                services.players.moved(session)

    def _ended_unread(self, match_id: str, ratings: Changes | None) -> None:
        """Count a match as finished whose events are not in memory here."""
        services = self._services
        services.players.bot_places.free(match_id)
        ended = [session for session in services.players.sessions.values() if match_id in session.live]
        for session in ended:
            session.finished(match_id)
            services.players.moved(session)
        services.feed.changed("players", "live")
        if ratings:
            services.journal.read(match_id, partial(self._rate, ratings), _unread)
        self._look_again([session.player for session in ended])

    def _rate(self, ratings: Changes, record: StoredMatch) -> None:
        match = Match.from_events(record.events)
        for player, change in zip(record.seats, ratings, strict=True):
            session = self._services.players.get(player)
            if session is not None:
                session.rated(match.game.name, match.time, change)
        self._services.feed.changed("seeks", "players")
        self._rated(record.seats)

    def _rated(self, players: Iterable[PlayerId]) -> None:
        """Match the seeks of players again whose ratings have changed."""
        for player in players if self._services.shutdown.lets_begin else ():
            pairing = self._lobby.rated(player)
            if pairing:
                self.start(pairing)

    def _look_again(self, players: Iterable[PlayerId]) -> None:
        """Match the seeks of bots again that have a free place."""
        for session in [self._services.players.get(player) for player in players]:
            if session and session.is_bot:
                pairing = self._lobby.look_again(session.player)
                if pairing:
                    self.start(pairing)

    def _let_go(self, room: MatchRoom) -> None:
        """Drop an empty room; the journal has the match."""
        if self.rooms.get(room.id) is room:
            del self.rooms[room.id]
            self._unseated.pop(room.id, None)
            for player in room.seats.players or ():
                of_player = self._rooms_of[player]
                del of_player[room.id]
                if not of_player:
                    del self._rooms_of[player]
            self._services.players.bot_places.free(room.id)
            self._services.feed.changed("live")


def _unread(_: Refusal) -> None:
    """Ignore unreadable ratings until the player reconnects: the journal has them."""
