"""Serve one match: decide, journal, apply and send one request at a time, in this order.

While events are being written to the disk, further requests for the match wait in its queue. So memory equals the
journal, nothing is sent that could be lost, and a failed write has nothing to undo.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import assert_never

from msgspec.structs import replace as restruct

from ttt_net.errors import Code, Overtaken, Refusal, UnknownOutcomeError
from ttt_net.matches import referee
from ttt_net.matches.match import FirstMoves, Match
from ttt_net.messages import (
    AbortRequest,
    Adjourned,
    Ended,
    MatchEvent,
    Ok,
    Played,
    PlayerRenamed,
    Rated,
    Rematched,
    ResignRequest,
    ResumeRequest,
    Room,
    Started,
    Tookback,
    UnwatchRequest,
    WatchRequest,
    encode,
)
from ttt_net.server.journal import Asker, Changes, PastQuestion, StoredMatch
from ttt_net.server.journal.entries import ChatLine
from ttt_net.server.journal.past import ArchivedMatch
from ttt_net.server.journal.queries import FinishedQuery
from ttt_net.server.online_players import Session
from ttt_net.server.players import PlayerId
from ttt_net.server.rooms.audience import Audience, Joining, Seats
from ttt_net.server.services import Services
from ttt_net.server.wire.frames import frame

MAX_WAITING = 8
"""The maximal number of a player's waiting requests to a match; each gets an answer, so more are a flood."""
MAX_STRANGERS = 32
"""The maximal number of waiting requests when a request of a non-player is accepted."""
_Watching = WatchRequest | UnwatchRequest
RoomRequest = referee.Command | ResumeRequest | _Watching
"""The requests that concern one match."""
MAX_DECISIONS = 4
"""How often to decide one request when other nodes of a cluster write first."""


_MOVING = Played | Tookback
"""The events that start the other side's clock."""

# Moves are compared with `type(event) is Ended`, because `isinstance` on structs takes half a microsecond.

_Asked = tuple[Session, referee.Command, int]
"""A request with its session, and the time when it arrived."""


@dataclass(frozen=True, slots=True)
class RoomHooks:
    """The functions of the match registry that a room calls."""

    may_rematch: Callable[["MatchRoom"], None]
    """Raises `Refusal` unless both players are connected and free."""
    reserve: Callable[[tuple[PlayerId, PlayerId]], Callable[[], None]]
    """Counts the next match of two players as about to start; call the result to end this."""
    seated: Callable[["MatchRoom"], None]
    """Called when the players of the match become known."""
    committed: Callable[["MatchRoom", Ended | Adjourned | Started, PlayerId | None], None]
    """Called after an event was sent that concerns more than the match; `Started` is that of the rematch."""
    rated: Callable[[Sequence[PlayerId]], None]
    """Called with players whose ratings changed after their match."""
    let_go: Callable[["MatchRoom"], None]
    """Called when nobody receives the match any longer, or no match has this id."""


class MatchRoom:
    """A match with its sessions. Created without a match, it reads the match from the journal."""

    def __init__(self, match_id: str, services: Services, hooks: RoomHooks) -> None:
        self.id = match_id
        self.known: Match | None = None
        """The match, perhaps without its newest moves: enough for its players, game and time."""
        self._unapplied: list[tuple[Played, int]] = []
        """Moves of other nodes that nobody here has needed yet, with the times when they arrived."""
        self.audience = Audience(match_id, services.loop, services.shares, self._shown)
        self.seats = Seats(match_id, services, self.audience)
        self.joining = Joining(match_id, services, self.seats, self.audience)
        self._services = services
        self._hooks = hooks
        self._waiting: deque[tuple[Session, RoomRequest, int]] = deque()
        """Waiting requests with their times of arrival, so that clocks are not charged for our disk."""
        self.said: dict[Room, deque[ChatLine]] = {}
        """The last lines of chat by players and by watchers, for reports; they are dropped with the room."""
        self._renamed: dict[PlayerId, str] = {}
        """New names of players while the match is not in memory, since it may be read with their old ones."""
        self._decisions = 0
        """How often the current request was decided before."""
        self._begin_ms: int | None = None
        """The time for each first move, if a tournament keeps the match in memory until it is over."""
        self.is_busy = False
        """Whether a write or a read is pending; requests wait meanwhile."""

    def _shown(self) -> bytes:
        assert self.match is not None, "a match that is watched is in memory"
        return self.joining.shown(self.match, self._services.now_ms())

    @property
    def match(self) -> Match | None:
        """The match with all its events; None while it is not in memory."""
        if self._unapplied:
            self._catch_up()
        return self.known

    @match.setter
    def match(self, match: Match | None) -> None:
        self.known = match
        self._unapplied.clear()

    @property
    def is_live(self) -> bool:
        """Whether the match is in memory and not over."""
        return self.known is not None and not self.known.is_over

    @property
    def is_listed(self) -> bool:
        """Whether the match belongs on the list of live public matches: it is played, and not abandoned."""
        return (
            self.known is not None
            and not self.known.is_over
            and not self.known.is_private
            and not self.seats.is_abandoned
        )

    @property
    def newest_ms(self) -> int:
        """The time of the newest event of a match in memory."""
        assert self.known is not None
        return self._unapplied[-1][0].at_ms if self._unapplied else self.known.events[-1].at_ms

    @property
    def is_adjourned(self) -> bool:
        """Whether the match waits until both players are back."""
        return self.match is not None and self.match.is_adjourned

    def has_bot_beside(self, player: PlayerId) -> bool:
        """Tell whether the player's opponent is a bot."""
        side = self.seats.side_of(player)
        assert self.match is not None
        assert side is not None
        return self.match.players[1 - side].bot is not None

    def open(
        self,
        match: Match,
        players: tuple[PlayerId, PlayerId],
        here: Iterable[Session],
        begin_ms: int | None = None,
    ) -> None:
        """Open a match that was just written: seat the connected players in `here`, and send it to them.

        With `begin_ms`, keep the match in memory, as `hold` does.
        """
        self._begin_ms = begin_ms
        for session in here:
            self.joining.seat(session)
        self.match = match
        self._take_seats(match, players)
        self.seats.hold_bot_place(match)
        self.seats.set_clock(match, self._services.now_ms(), self.look_at_clock)
        self._expect_moves(match)
        self.joining.show(match, self._services.now_ms())
        self._settle()  # both may have left while it was being journaled

    def _take_seats(self, match: Match, players: tuple[PlayerId, PlayerId]) -> None:
        self.seats.taken(match, players)
        self._hooks.seated(self)

    def hold(self, begin_ms: int) -> None:
        """Keep a tournament match in memory until it is over, so that its time runs even without sessions.

        Each player has `begin_ms` for the first move, from now on.
        """
        self._begin_ms = begin_ms
        if self.match is not None:
            self._expect_moves(self.match)
        elif not self.is_busy:
            self._read()

    def _expect_moves(self, match: Match) -> None:
        if self._begin_ms is not None:
            now_ms = self._services.now_ms()
            match.first_moves = FirstMoves(self._begin_ms, now_ms)
            self.seats.set_clock(match, now_ms, self.look_at_clock)

    @property
    def _is_held(self) -> bool:
        return self._begin_ms is not None and not (self.match is not None and self.match.is_over)

    def seat_elsewhere(self, session: Session) -> None:
        """Seat a player who is on another node, and notify everybody here."""
        self.joining.seat(session)
        if self.match is None:
            if not self.is_busy:
                self._read()
            return
        side, now_ms = self.seats.side_of(session.player), self._services.now_ms()
        assert side is not None, "only players take a seat"
        self.match.absences.returned(side, now_ms)
        has_gone_on = self.seats.take_up(self.match)
        self.seats.set_clock(self.match, now_ms, self.look_at_clock)
        if has_gone_on:
            self.joining.show_again(self.match, session, now_ms)
        self.seats.tell(self.match, session.player, online=True)

    def leave(self, session: Session, *, is_replaced: bool = False) -> None:
        """Remove a disconnected session from the audience, and notify the others.

        `is_replaced`: a new connection of the player replaced it.
        """
        if self.audience.watches(session):
            self.audience.leave(session)
            self.joining.tell_watchers()
            self._settle()
        elif self.audience.plays(session) or self.audience.plays_elsewhere(session):
            self.audience.leave(session)
            match = self.match
            if match is None or match.next is None:  # otherwise both continue in the rematch
                if match is not None:
                    side, now_ms = self.seats.side_of(session.player), self._services.now_ms()
                    assert side is not None, "only players take a seat"
                    on_purpose = session.connection.left_on_purpose and not is_replaced
                    match.absences.went(side, now_ms, on_purpose=on_purpose, is_replaced=is_replaced)
                    self.seats.set_clock(match, now_ms, self.look_at_clock)
                self.seats.tell(match, session.player, online=False)
            self._settle()

    def rename(self, player: PlayerId, name: str) -> None:
        """Change the name of a player, if they sit here, and send it to the players and watchers."""
        if self.match is None:
            self._renamed[player] = name
        side = self.seats.side_of(player)
        if side is not None:
            if self.match is not None:
                self.match.rename(side, name)
            self.audience.tell(frame(encode(PlayerRenamed(self.id, side, name))))

    # Requests.

    def request(self, session: Session, request: RoomRequest, came_ms: int | None = None) -> None:
        """Carry out a request now or in turn; it gets exactly one answer.

        `came_ms`: when it arrived, if not now.
        """
        if came_ms is None:
            came_ms = self._services.now_ms()
        match = None if self.is_busy else self.match
        if match is not None:  # nobody waits then
            self._serve(match, session, request, came_ms)
            return
        try:
            self._admit(session, request)
        except Refusal as refusal:
            session.refuse(request.id, refusal)
            return
        self._waiting.append((session, request, came_ms))
        if not self.is_busy:
            self._read()

    def _admit(self, session: Session, request: RoomRequest) -> None:
        """Reject non-players who would keep the players waiting, and sessions with too many requests."""
        is_player = self.seats.side_of(session.player) is not None
        if self.seats.players is not None and not is_player and not isinstance(request, _Watching):
            raise Refusal(Code.NOT_SEATED, f"you are not a player of match {self.id}; nothing was changed")
        waiting = sum(other is session for other, *_ in self._waiting)
        if waiting >= MAX_WAITING or (not is_player and len(self._waiting) >= MAX_STRANGERS):
            raise Refusal(Code.TOO_FAST, f"{len(self._waiting)} requests wait for this match already", 100)

    def _serve(self, match: Match, session: Session, request: RoomRequest, came_ms: int) -> None:
        try:
            if isinstance(request, referee.Command):
                self._decide(match, session, request, came_ms)
                return
            match request:
                case ResumeRequest():
                    self.joining.resume(match, session, request, self.look_at_clock)
                case WatchRequest():
                    self.joining.watch(match, session, request)
                case UnwatchRequest():
                    self.joining.unwatch(session, request)
                    self.leave(session)
                case _:
                    assert_never(request)
        except Refusal as refusal:
            session.refuse(request.id, refusal)

    def _decide(self, match: Match, session: Session, command: referee.Command, came_ms: int) -> None:
        services, connection = self._services, session.connection
        at_ms = match.next_at_ms(services.wall_ms())
        flag = referee.flag_fall(match, came_ms, at_ms)
        if flag and self.seats.lets_flag_fall(match):
            self._waiting.appendleft((session, command, came_ms))
            self._commit(match, flag, None)
            return
        side = self.seats.side_of(session.player)
        events = referee.decide(match, side, command, came_ms, connection.lag_ms, at_ms)
        if not events:
            session.ok(command.id)
            return
        if type(events[-1]) is Rematched:
            self._hooks.may_rematch(self)
        services.disk.may_write()
        services.rate_limiter.write(connection.metered_as, len(events))
        self._commit(match, events, (session, command, came_ms))

    # Events.

    def _commit(self, match: Match, events: list[MatchEvent], asked: _Asked | None) -> None:
        self.is_busy = True
        if type(events[-1]) is Rematched:
            self._commit_rematch(match, events, asked)
        else:
            done = partial(self._written, match, events, asked, self._services.stopwatch_s())
            self._services.journal.append(events, done, partial(self._fail, match, asked))

    def _commit_rematch(self, match: Match, events: list[MatchEvent], asked: _Asked | None) -> None:
        """Journal the last event of this match and the first of the next, both or neither."""
        started = referee.rematch(match, events[-1].at_ms)
        started = restruct(started, players=self.seats.both_here(started))
        players = self.seats.swapped()
        release = self._hooks.reserve(players)

        def done(ratings: Changes | None) -> None:
            release()
            self._written(match, events, asked, self._services.stopwatch_s(), ratings)
            self._hooks.committed(self, started, None)

        def failed(refusal: Refusal) -> None:
            release()
            self._fail(match, asked, refusal)

        self._services.journal.append([*events, started], done, failed, players)

    def _written(
        self,
        match: Match,
        events: list[MatchEvent],
        asked: _Asked | None,
        since_s: float,
        ratings: Changes | None,
    ) -> None:
        """Apply and send the journaled events, then continue."""
        self.is_busy = False
        self._decisions = 0
        self._apply(match, events, asked)
        if ratings:
            self._tell_ratings(match, ratings)
        if isinstance(events[0], Played):
            self._services.metrics.moves += 1
            self._services.metrics.move_s.observe(self._services.stopwatch_s() - since_s)
        self._settle()

    def _apply(self, match: Match, events: list[MatchEvent], asked: _Asked | None) -> None:
        told = b""
        for event in events:
            match.evolve(event)
            told += frame(encode(match.told(event)))
        asker, answer = (asked[0], frame(encode(Ok(asked[1].id)))) if asked else (None, b"")
        self.audience.tell(told, asker, answer)
        if match.clock:
            now_ms = self._services.now_ms()
            if isinstance(events[0], _MOVING):
                match.count_from(now_ms)
            self.seats.set_clock(match, now_ms, self.look_at_clock)
        self._services.feed.changed("live", slightly=True)
        last = events[-1]
        if type(last) is Ended or type(last) is Adjourned:
            self._hooks.committed(self, last, self._ended_by(match, asked))

    def _ended_by(self, match: Match, asked: _Asked | None) -> PlayerId | None:
        """Return the player who resigned or left the match, as far as this node knows."""
        away = [player for side, player in enumerate(self.seats.both) if match.absences.of(side) is not None]
        if len(away) == 1:
            return away[0]
        return asked[0].player if asked and isinstance(asked[1], AbortRequest | ResignRequest) else None

    def _tell_ratings(self, match: Match, ratings: Changes) -> None:
        self.audience.tell(frame(encode(Rated(self.id, ratings))))
        for player, change in zip(self.seats.both, ratings, strict=True):
            session = self._services.players.get(player)
            if session:
                session.rated(match.game.name, match.time, change)
        self._services.feed.changed("seeks", "players")  # which show ratings
        self._hooks.rated(self.seats.both)

    def hear(self, events: Sequence[MatchEvent], ratings: Changes | None) -> None:
        """Apply and send events that another node has written, perhaps during a write of our own.

        A match that is loaded from the journal later already has them. While nobody here receives the match, moves are
        only kept, and the match leaves the memory with its end.
        """
        assert self.known is not None, "the registry counts the end of a match that is not in memory"
        if self._is_elsewhere(self.known):
            last = events[-1]
            if type(last) is Ended:
                self._end_elsewhere(self.known, last, ratings)
                return
            if type(last) is Played:  # which is written alone
                self._unapplied.append((last, self._services.now_ms()))
                self._services.feed.changed("live", slightly=True)
                return
        match = self.match
        if match is None:
            return
        new = [event for event in events if event.seq > match.seq]
        if new:
            self._apply(match, new, None)
            if ratings:
                self._tell_ratings(match, ratings)
            self._settle()

    def _is_elsewhere(self, match: Match) -> bool:
        """Tell whether a live match has both players on other nodes, and no watcher and no running time here."""
        return (
            not self.audience.players
            and not self.audience.watchers_here
            and not self.is_busy
            and not match.absences
            and not match.is_over
            and self._begin_ms is None
        )

    def _catch_up(self) -> None:
        """Apply the moves that nobody here had needed, each at the time when it arrived."""
        match, moves = self.known, self._unapplied
        assert match is not None, "moves are kept for a match in memory"
        self._unapplied = []
        try:
            for event, now_ms in moves:
                if event.seq > match.seq:
                    match.evolve(event)
                    match.count_from(now_ms)
        except Exception as error:  # noqa: BLE001 - a fault of the rules here; readers use the journal
            self.known = None
            fault = {"message": f"fault while applying moves to match {self.id}", "exception": error}
            self._services.loop.call_exception_handler(fault)

    def _end_elsewhere(self, match: Match, event: Ended, ratings: Changes | None) -> None:
        """End a match that nobody here receives, and drop it without applying its moves."""
        self._hooks.committed(self, event, None)
        if ratings:
            self._tell_ratings(match, ratings)
        self.seats.stop_timer()
        self.match = None

    def _fail(self, match: Match, asked: _Asked | None, refusal: Refusal) -> None:
        """Decide an overtaken request again; otherwise reject it and drop the copy in memory, as the journal is right.

        In a cluster the copy stays: if the write succeeds after all, it arrives like that of another node.
        """
        self.is_busy = False
        if isinstance(refusal, Overtaken) and self._decisions < MAX_DECISIONS:
            self._decisions += 1
            if asked:
                self._waiting.appendleft(asked)
            else:
                self.seats.set_clock(match, self._services.now_ms(), self.look_at_clock)
            self._settle()
            return
        self._decisions = 0
        if asked:
            if refusal.code is Code.STORAGE and not isinstance(refusal, UnknownOutcomeError):
                reason = "the server cannot write to its disk; your request was not carried out, and the match is safe"
                refusal = Refusal(Code.STORAGE, reason, 1_000)
            asked[0].refuse(asked[1].id, refusal)
        if self._services.membership is None:
            self.match = None
        self.seats.look_later(self.look_at_clock)
        self._settle()

    def _read(self) -> None:
        """Read the match: beside the writes for a non-player's finished match, else in order with them."""
        self.is_busy = True

        def found(archived: ArchivedMatch) -> None:
            if self.match is None:  # otherwise it has begun meanwhile
                self._open_read(*archived)
            self.is_busy = False
            self._settle()

        def done(record: StoredMatch) -> None:
            try:
                match = Match.from_events(record.events)
            except Refusal as refusal:  # a match of a game that this server does not know
                failed(refusal)
                return
            found(ArchivedMatch(record.seats, match))

        def failed(refusal: Refusal) -> None:
            self.is_busy = False
            if self.match is None:
                self._refuse_all(refusal)
            self._settle()

        def not_found(refusal: Refusal) -> None:
            if refusal.code in (Code.NOT_FINISHED, Code.UNKNOWN_MATCH):  # it may be about to begin
                self._services.journal.read(self.id, done, failed)
            else:
                failed(refusal)

        session = self._waiting[0][0] if self._waiting else None
        if session is None or self.seats.players is not None or self.id in session.live:
            self._services.journal.read(self.id, done, failed)
            return
        asker = Asker(session.player, session.connection.metered_as)
        try:
            self._services.archive.ask(PastQuestion(FinishedQuery(self.id), asker, found, not_found))
        except Refusal as refusal:
            failed(refusal)

    def _open_read(self, seats: tuple[PlayerId, PlayerId], match: Match) -> None:
        self.match = match
        self._take_seats(match, seats)
        for player, name in self._renamed.items():
            side = self.seats.side_of(player)
            if side is not None:
                match.rename(side, name)
        self._renamed.clear()
        self.seats.take_up(self.match)
        self.seats.set_clock(self.match, self._services.now_ms(), self.look_at_clock)
        self._expect_moves(self.match)
        if self.is_listed:
            self._services.feed.changed("live")

    def _refuse_all(self, refusal: Refusal) -> None:
        if refusal.code not in (Code.UNKNOWN_MATCH, Code.BUSY, Code.UNKNOWN_GAME, Code.GAME_FAULT):
            refusal = Refusal(Code.STORAGE, "the server cannot read its disk; the match is safe, try again", 1_000)
        while self._waiting:
            session, request, _ = self._waiting.popleft()
            session.refuse(request.id, refusal)
        self.seats.look_later(self.look_at_clock)

    def _settle(self) -> None:
        """Serve waiting requests. If there are none and nobody receives the match, unload it."""
        while self._waiting and not self.is_busy:
            session, request, came_ms = self._waiting.popleft()
            if not session.connection.is_open:
                continue
            if self.match is None:
                self._waiting.appendleft((session, request, came_ms))
                self._read()
                return
            self._serve(self.match, session, request, came_ms)
        if not self.audience and not self.is_busy and not self._is_held:
            self.seats.stop_timer()
            self._hooks.let_go(self)

    def look_at_clock(self) -> None:
        """End the match if a flag falls or a bot has waited too long, or read it again; the timer calls this."""
        if self.is_busy:
            return  # a write is pending, and its result sets the timer again
        if self.match is None:
            self._read()
            return
        membership = self._services.membership
        if membership is not None and not membership.is_fresh:
            self.seats.look_later(self.look_at_clock)  # a pending entry of the log may have stopped the clock
            return
        now_ms, at_ms = self._services.now_ms(), self.match.next_at_ms(self._services.wall_ms())
        events: list[MatchEvent] = []
        if self.seats.lets_flag_fall(self.match):
            events = referee.flag_fall(self.match, now_ms, at_ms)
        if not events and self.audience.players:  # the node of a bot that waits ends the match
            events = referee.forsaken(self.match, now_ms, at_ms)
        if not events and self.seats.watches_time(self.match, self.match.game.to_move(self.match.state)):
            events = referee.no_show(self.match, now_ms, at_ms)
        if events:
            self._commit(self.match, events, None)
        else:
            self.seats.set_clock(self.match, now_ms, self.look_at_clock)
