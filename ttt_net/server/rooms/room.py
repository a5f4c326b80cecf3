"""The order of one match: one request at a time is decided, written down, applied and told, in that order.

While facts are on their way to the disk, further requests for the match wait in its queue. So what is in memory is
what is in the journal, nothing is told that could be lost, and a failed write has nothing to undo.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Protocol as Interface

from msgspec.structs import replace as restruct

from ttt_net.errors import Code, Refusal
from ttt_net.matches import referee
from ttt_net.matches.match import Match
from ttt_net.messages import (
    Adjourned,
    Ended,
    MatchEvent,
    Ok,
    Played,
    PlayerInfo,
    Presence,
    Rated,
    Rematched,
    ResumeRequest,
    Snapshot,
    Started,
    Tookback,
    UnwatchRequest,
    WatchRequest,
    encode,
)
from ttt_net.server.accounts.session import Session
from ttt_net.server.journal import Changes, Journal, StoredMatch
from ttt_net.server.metrics import Metrics
from ttt_net.server.players import PlayerId
from ttt_net.server.rooms.audience import Audience
from ttt_net.server.wire.frames import frame

MAX_WAITING = 8
"""Requests of one player that may wait for one match; he gets an answer to each, so more is a flood."""
MAX_STRANGERS = 32
"""Requests that may wait before one of somebody who does not play, or is not known to, is turned away."""
MAX_TAIL = 32
"""Missed facts that are told one by one; with more, the snapshot alone is shorter, and fits into what may wait."""
MAX_HEARD = 50
"""Finished and watched matches that one session may hear at a time."""
_RETRY_S = 1.0
"""How long after a failure of the disk the match is read again."""

_Asked = tuple[Session, int]
"""Who asked for something, and the id of his request."""
_Onlooking = WatchRequest | UnwatchRequest
RoomRequest = referee.Command | ResumeRequest | _Onlooking


class RoomOwner(Interface):
    """What a table asks of the hall."""

    journal: Journal
    meters: Metrics
    now_ms: Callable[[], int]

    def meter(self, session: Session) -> None:
        """Count a question that takes long to answer; raise `Refusal` to one who asks too much."""

    def check_code(self, session: Session, code: str | None, right: str | None) -> None:
        """Raise `Refusal` unless the session has the code of a private match."""

    def players_of(self, started: Started, seats: tuple[PlayerId, PlayerId]) -> tuple[PlayerInfo, PlayerInfo]:
        """Return who plays a match that is about to start, as they are now."""

    def reserve(self, seats: tuple[PlayerId, PlayerId]) -> Callable[[], None]:
        """Count the next match of two players as about to start; what is returned ends that."""

    def may_rematch(self, table: "MatchRoom") -> None:
        """Raise `Refusal` unless both players are here and free."""

    def desertions(self, player: PlayerId) -> int:
        """Return how many matches the player has deserted of late."""

    def changed(self, table: "MatchRoom", *, slightly: bool = False) -> None:
        """Take note that the row of the match is another; `slightly` if only its moves or watchers have changed."""

    def ended(self, table: "MatchRoom") -> None:
        """Take note that the match is over."""

    def freed(self, table: "MatchRoom") -> None:
        """Take note that the match takes no place any more: it is adjourned."""

    def rated(self, table: "MatchRoom", ratings: Changes) -> None:
        """Take note of what a rated match did to the ratings."""

    def rematched(self, table: "MatchRoom", started: Started) -> None:
        """Seat both players at the next match, which has been written down."""

    def deserted(self, table: "MatchRoom") -> None:
        """Take note that nobody is left at the table, or that there is no such match."""


class MatchRoom:
    """A match with the sessions that hear it. Made with a match, or without one: then it is read from the journal."""

    def __init__(self, match_id: str, owner: RoomOwner) -> None:
        self.id = match_id
        self.match: Match | None = None
        self.seats: tuple[PlayerId, PlayerId] | None = None
        self.audience = Audience(match_id)
        self._owner = owner
        self._waiting: deque[tuple[Session, RoomRequest, int]] = deque()
        """Who waits with what, and since when: a clock is not charged for our disk."""
        self._is_busy = False
        self._flag: asyncio.TimerHandle | None = None

    # Requests.

    def open(self, match: Match, seats: tuple[PlayerId, PlayerId]) -> None:
        """Start with a match that has just been written down, and tell the players, who are seated already."""
        self.match, self.seats = match, seats
        self._note_absences(match)
        for session in self.audience.players.values():
            session.tell(self._snapshot(match, session, self._owner.now_ms()))
        self._settle()  # both may have left while it was being written down

    @property
    def is_listed(self) -> bool:
        """Whether the match belongs on the list of live public matches."""
        return self.match is not None and not self.match.is_over and not self.match.is_private

    @property
    def is_adjourned(self) -> bool:
        """Whether the match waits for both players to be back."""
        return self.match is not None and self.match.is_adjourned

    def has_bot_beside(self, player: PlayerId) -> bool:
        """Tell whether the player's opponent is a bot."""
        assert self.match is not None
        assert self.seats is not None
        return self.match.players[1 - self.seats.index(player)].bot is not None

    def request(self, session: Session, request: RoomRequest) -> None:
        """Carry out a request now, or when its turn comes; it gets exactly one answer."""
        if not self._is_busy and self.match is not None:  # then nobody waits
            self._serve(self.match, session, request, self._owner.now_ms())
            return
        try:
            self._admit(session, request)
        except Refusal as refusal:
            session.refuse(request.id, refusal)
            return
        self._waiting.append((session, request, self._owner.now_ms()))
        if not self._is_busy:
            self._read()

    def _admit(self, session: Session, request: RoomRequest) -> None:
        """Turn away strangers, so that none can keep the players waiting, and whoever asks too much at once."""
        is_player = self._side(session) is not None
        if self.seats is not None and not is_player and not isinstance(request, _Onlooking):
            raise Refusal(Code.NOT_SEATED, f"you are not a player of match {self.id}; nothing was changed")
        waiting = sum(other is session for other, *_ in self._waiting)
        if waiting >= MAX_WAITING or (not is_player and len(self._waiting) >= MAX_STRANGERS):
            raise Refusal(Code.TOO_FAST, f"{len(self._waiting)} requests wait for this match already", 100)

    def leave(self, session: Session) -> None:
        """Take a session whose connection is gone from the audience, and tell the others."""
        if self.audience.watches(session):
            self.audience.leave(session)
            self._tell_watchers()
            self._settle()
        elif self.audience.plays(session):
            self.audience.leave(session)
            side = self._side(session)
            if self.match and side is not None:
                on_purpose = session.connection.left_on_purpose
                self.match.absences.went(side, self._owner.now_ms(), on_purpose=on_purpose)
                self._mind_clock(self.match, self._owner.now_ms())
            if self.match is None or self.match.next is None:  # else both go on to the rematch
                self._tell_presence(session.player, online=False)
            self._settle()

    def rename(self, player: PlayerId, name: str) -> None:
        """Let a player who sits here be called `name` from now on."""
        if self.match and self.seats and player in self.seats:
            self.match.rename(self.seats.index(player), name)

    def is_present(self, player: PlayerId) -> bool:
        """Tell whether the player is here and hears this match."""
        return player in self.audience.players

    def _side(self, session: Session) -> int | None:
        return self.seats.index(session.player) if self.seats and session.player in self.seats else None

    def _serve(self, match: Match, session: Session, request: RoomRequest, came_ms: int) -> None:
        try:
            if isinstance(request, ResumeRequest):
                self._resume(match, session, request)
                return
            if isinstance(request, _Onlooking):
                self._watch(match, session, request)
                return
            flag = referee.flag_fall(match, came_ms)
            if flag:
                self._waiting.appendleft((session, request, came_ms))
                self._commit(match, flag, None)
                return
            facts = referee.decide(match, self._side(session), request, came_ms, session.connection.lag_ms)
            if facts and isinstance(facts[-1], Rematched):
                self._owner.may_rematch(self)
        except Refusal as refusal:
            session.refuse(request.id, refusal)
            return
        if facts:
            self._commit(match, facts, (session, request.id))
        else:
            session.ok(request.id)

    def _resume(self, match: Match, session: Session, request: ResumeRequest) -> None:
        side = self._side(session)
        if side is None:  # it was asked while the match was being read
            raise Refusal(Code.NOT_SEATED, f"you are not a player of match {self.id}; nothing was changed")
        now_ms = self._owner.now_ms()  # one moment for all of it: the clock that is told is the one that is started
        is_new = not self.audience.plays(session)
        if not is_new:
            self._owner.meter(session)  # all of it again costs a hundred times as much as a move
        else:
            self._may_hear(match, session)
            self.seat(session)
            match.absences.returned(side)
            self._mind_clock(match, now_ms)
        session.ok(request.id)
        if request.seq and match.seq - request.seq <= MAX_TAIL:
            session.connection.send(b"".join(frame(encode(fact)) for fact in match.tail(request.seq)))
        session.tell(self._snapshot(match, session, now_ms))
        if is_new:
            self._tell_presence(session.player, online=True)

    def _watch(self, match: Match, session: Session, request: _Onlooking) -> None:
        """Let somebody who does not play hear the match, or hear no more of it."""
        if self._side(session) is not None:
            raise Refusal(Code.NOT_WATCHING, "you play in this match; say resume to see it")
        if isinstance(request, UnwatchRequest):
            if not self.audience.watches(session):
                raise Refusal(Code.NOT_WATCHING, f"you do not watch match {self.id}")
            session.ok(request.id)
            session.tables.discard(self.id)
            self.leave(session)
            return
        if match.is_private:
            self._owner.check_code(session, request.code, match.code)
        self._may_hear(match, session)
        self.audience.watch(session)
        session.tables.add(self.id)
        session.ok(request.id)
        session.tell(self._snapshot(match, session, self._owner.now_ms()))
        self._tell_watchers()

    def _may_hear(self, match: Match, session: Session) -> None:
        """Bound what one session keeps in memory; his own live matches, few enough as it is, are always his."""
        is_own_live = self._side(session) is not None and not match.is_over
        if not is_own_live and len(session.tables) >= MAX_HEARD:
            raise Refusal(Code.TOO_MANY_MATCHES, f"you hear {len(session.tables)} matches; leave one first")

    def _snapshot(self, match: Match, session: Session, now_ms: int) -> Snapshot:
        return match.snapshot(self._side(session), self._present(), now_ms, self.audience.watchers)

    def seat(self, session: Session) -> None:
        """Let a player's session hear this match from now on."""
        self.audience.players[session.player] = session
        session.tables.add(self.id)

    # Facts.

    def _commit(self, match: Match, facts: list[MatchEvent], asked: _Asked | None) -> None:
        self._is_busy = True
        if isinstance(facts[-1], Rematched):
            self._commit_rematch(match, facts, asked)
        else:
            done = partial(self._written, match, facts, asked, time.perf_counter())
            self._owner.journal.append(facts, done, partial(self._fail, asked))

    def _commit_rematch(self, match: Match, facts: list[MatchEvent], asked: _Asked | None) -> None:
        """Write down the last fact of this match and the first of the next, both or neither."""
        now_ms, seats = self._owner.now_ms(), self._next_seats()
        started = referee.rematch(match, now_ms)
        started = restruct(started, players=self._owner.players_of(started, seats))
        release = self._owner.reserve(seats)

        def done(ratings: Changes | None) -> None:
            release()
            self._written(match, facts, asked, time.perf_counter(), ratings)
            self._owner.rematched(self, started)

        def failed(refusal: Refusal) -> None:
            release()
            self._fail(asked, refusal)

        self._owner.journal.append([*facts, started], done, failed, seats)

    def _written(
        self,
        match: Match,
        facts: list[MatchEvent],
        asked: _Asked | None,
        since_s: float,
        ratings: Changes | None,
    ) -> None:
        """Apply and tell what is in the journal now; then go on."""
        self._is_busy = False
        self._apply(match, facts, asked)
        if ratings:
            self._tell_ratings(ratings)
        if isinstance(facts[0], Played):
            self._owner.meters.moves += 1
            self._owner.meters.move_s.observe(time.perf_counter() - since_s)
        self._settle()

    def _next_seats(self) -> tuple[PlayerId, PlayerId]:
        assert self.seats is not None
        return self.seats[1], self.seats[0]

    def _apply(self, match: Match, facts: list[MatchEvent], asked: _Asked | None) -> None:
        told = b""
        for fact in facts:
            match.evolve(fact)
            told += frame(encode(match.told(fact)))
        asker, answer = (asked[0], frame(encode(Ok(asked[1])))) if asked else (None, b"")
        self.audience.tell(told, asker, answer)
        if match.clock:
            now_ms = self._owner.now_ms()
            if isinstance(facts[0], Played | Tookback):
                match.count_from(now_ms)
            self._mind_clock(match, now_ms)
        self._owner.changed(self, slightly=True)
        if isinstance(facts[-1], Ended):
            self._owner.ended(self)
        elif isinstance(facts[-1], Adjourned):
            self._owner.freed(self)

    def _tell_ratings(self, ratings: Changes) -> None:
        self.audience.tell(frame(encode(Rated(self.id, ratings))))
        self._owner.rated(self, ratings)

    def _fail(self, asked: _Asked | None, _: Refusal) -> None:
        """Refuse, and forget the copy in memory: whether or not the write reached the disk, the journal knows."""
        self._is_busy = False
        if asked:
            reason = "the server cannot write to its disk; your request was not carried out, and the match is safe"
            asked[0].refuse(asked[1], Refusal(Code.STORAGE, reason, 1_000))
        self.match = None
        self._read_later()
        self._settle()

    def _read(self) -> None:
        self._stop_flag()
        self._is_busy = True

        def done(record: StoredMatch) -> None:
            try:
                self._open_record(record)
            except Refusal as refusal:  # a match of a game that this program does not know
                failed(refusal)
                return
            self._is_busy = False
            self._settle()

        def failed(refusal: Refusal) -> None:
            self._is_busy = False
            self._refuse_all(refusal)
            self._settle()

        self._owner.journal.read(self.id, done, failed)

    def _open_record(self, record: StoredMatch) -> None:
        self.match, self.seats = Match.from_facts(record.facts), record.seats
        self._note_absences(self.match)
        self._mind_clock(self.match, self._owner.now_ms())

    def _refuse_all(self, refusal: Refusal) -> None:
        if refusal.code is not Code.UNKNOWN_MATCH:
            refusal = Refusal(Code.STORAGE, "the server cannot read its disk; the match is safe, try again", 1_000)
        while self._waiting:
            session, request, _ = self._waiting.popleft()
            session.refuse(request.id, refusal)
        if self.audience:
            self._read_later()

    def _settle(self) -> None:
        """Serve what waits; when there is nothing, and nobody hears the match, let go of it."""
        while self._waiting and not self._is_busy:
            session, request, came_ms = self._waiting.popleft()
            if not session.connection.is_open:
                continue
            if self.match is None:
                self._waiting.appendleft((session, request, came_ms))
                self._read()
                return
            self._serve(self.match, session, request, came_ms)
        if not self.audience and not self._is_busy:
            self._stop_flag()
            self.audience.close()
            self._owner.deserted(self)

    # Presence and time.

    def _present(self) -> tuple[bool, bool]:
        assert self.seats is not None
        return self.is_present(self.seats[0]), self.is_present(self.seats[1])

    def _note_absences(self, match: Match) -> None:
        """Let the grace begin for players who are not here when the match is; less of it for whoever leaves often."""
        assert self.seats is not None
        for side, player in enumerate(self.seats):
            match.absences.expect(side, self._owner.desertions(player))
            if not self.is_present(player):
                match.absences.went(side, self._owner.now_ms(), on_purpose=False)

    def _tell_presence(self, player: PlayerId, *, online: bool) -> None:
        if self.seats and player in self.seats:
            side = self.seats.index(player)
            away = self.match.away(side, self._owner.now_ms()) if self.match else None
            told = frame(encode(Presence(self.id, side, online, away)))
            self.audience.tell_players(told, lambda session: session.player != player)
            self.audience.tell_watchers(told)

    def _tell_watchers(self) -> None:
        self.audience.tell_count()
        self._owner.changed(self, slightly=True)

    def _mind_clock(self, match: Match, now_ms: int) -> None:
        """Let time run while a player is here, and look again when the running side's will be used up."""
        self._stop_flag()
        if any(self._present()):
            match.run_clock(now_ms)
        else:
            match.halt_clock(now_ms)
        at_ms = match.clock.flag_at_ms() if match.clock and not match.is_over else None
        if at_ms is not None:
            wait_s = max(0, at_ms - now_ms) / 1000
            self._flag = asyncio.get_running_loop().call_later(wait_s, self._look_at_flag)

    def _stop_flag(self) -> None:
        if self._flag:
            self._flag.cancel()
            self._flag = None

    def _read_later(self) -> None:
        """Try again in a while: players who wait for a flag to fall ask for nothing."""
        self._stop_flag()
        self._flag = asyncio.get_running_loop().call_later(_RETRY_S, self._look_at_flag)

    def _look_at_flag(self) -> None:
        if self._is_busy:
            return  # a write is under way; what it leads to sets the flag again
        if self.match is None:
            self._read()
            return
        facts = referee.flag_fall(self.match, self._owner.now_ms())
        if facts:
            self._commit(self.match, facts, None)
        else:
            self._mind_clock(self.match, self._owner.now_ms())
