"""The players and watchers of one match: who is present, who may join, and what each receives.

Players receive events immediately, and watchers after them in order, a hundred per iteration of the event loop. Each
watcher's address pays for it; while their connection has to rest, they wait, and then receive the match as it is. The
clock runs if and only if a player is present, with or without watchers.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator

from msgspec.structs import replace as restruct

from ttt_net.clock import SIDES
from ttt_net.errors import Code, Refusal
from ttt_net.matches import referee
from ttt_net.matches.match import Match
from ttt_net.messages import (
    PlayerInfo,
    Presence,
    ResumeRequest,
    Snapshot,
    Started,
    UnwatchRequest,
    Watching,
    WatchRequest,
    encode,
)
from ttt_net.server.admission.fair_shares import FairShares, Payer
from ttt_net.server.online_players import Session
from ttt_net.server.players import PlayerId
from ttt_net.server.services import Services
from ttt_net.server.wire.frames import frame

CROWD = 100
"""The number of watchers to send to in one iteration of the event loop."""
LATE_S = 1.0
"""How long watchers wait whose connections have to rest, before these are looked at again."""
COUNT_S = 0.5
"""The shortest time between two watcher counts, so that a whole class joining sends one and not thirty."""
_RETRY_S = 1.0
"""The wait after a failure of the disk before the match is read again."""
_ARRIVES_MS = 2_000
"""How long to wait for a player who has moved to another node to resume the match there."""
MAX_TAIL = 32
"""The most missed events that are sent one by one.

Beyond it, only the snapshot is sent, which is shorter and fits into the output limit.
"""
MAX_HEARD = 50
"""The maximal number of finished and watched matches per session; an address may follow many times as many."""


def _everybody(session: Session) -> bool:
    return True


class Audience:
    """The sessions that receive one match, and the events that some of them still have to receive."""

    def __init__(
        self, match: str, loop: asyncio.AbstractEventLoop, shares: FairShares, shown: Callable[[], bytes]
    ) -> None:
        """`shown` returns the frame of the match as it is, for watchers."""
        self.players: dict[PlayerId, Session] = {}
        """The players who are connected to this server."""
        self.elsewhere: dict[PlayerId, Session] = {}
        """The players who follow the match on another node of the cluster, which sends them its events."""
        self.watching_elsewhere: dict[str, int] = {}
        """The number of watchers on each other node of a cluster, if any."""
        self._match = match
        self._loop = loop
        self._shares = shares
        self._shown = shown
        self._watchers: dict[PlayerId, tuple[Session, int]] = {}
        """Each watcher, and the number of frames sent before they joined."""
        self._late: dict[PlayerId, Session] = {}
        """The watchers who receive nothing until their connections have rested."""
        self._catching_up: asyncio.TimerHandle | None = None
        self._queue: deque[tuple[int, bytes, deque[Session]]] = deque()
        self._told = 0
        self._told_count = 0
        self._counting: asyncio.TimerHandle | None = None

    def __bool__(self) -> bool:
        return bool(self.players or self.elsewhere or self.watchers_here)

    @property
    def is_telling(self) -> bool:
        """Whether some frames are not sent to all watchers yet."""
        return bool(self._queue)

    @property
    def watchers(self) -> int:
        """The number of watchers on all nodes of a cluster."""
        return self.watchers_here + sum(self.watching_elsewhere.values())

    def counted(self) -> int:
        """Return the number of watchers for a snapshot; if it has changed, everybody gets it soon."""
        if self.watchers != self._told_count:
            self._told_count = -1
        return self.watchers

    @property
    def watchers_here(self) -> int:
        """The number of watchers on this server."""
        return len(self._watchers) + len(self._late)

    def plays(self, session: Session) -> bool:
        """Return whether the session receives the match as a player."""
        return self.players.get(session.player) is session

    def seat(self, session: Session) -> None:
        """Send the match to the session as to a player."""
        (self.elsewhere if session.is_elsewhere else self.players)[session.player] = session

    def plays_elsewhere(self, session: Session) -> bool:
        """Return whether the session receives the match as a player on another node."""
        return self.elsewhere.get(session.player) is session

    def watches(self, session: Session) -> bool:
        """Return whether the session receives the match as a watcher."""
        watcher = self._watchers.get(session.player)
        return (watcher[0] if watcher else self._late.get(session.player)) is session

    def watch(self, session: Session) -> None:
        """Send events to the session from now on."""
        self._late.pop(session.player, None)
        self._watchers[session.player] = session, self._told

    def leave(self, session: Session) -> None:
        """Stop sending to the session."""
        if self.plays(session):
            del self.players[session.player]
        elif self.plays_elsewhere(session):
            del self.elsewhere[session.player]
        elif self.watches(session):
            self._watchers.pop(session.player, None)
            self._late.pop(session.player, None)

    def tell(self, frames: bytes, asker: Session | None = None, answer: bytes = b"") -> None:
        """Send frames to everybody in the match. The requester gets the reply first, even after leaving."""
        for session in self.players.values():
            if session is asker:
                session.connection.send(answer + frames)
                asker = None
            else:
                session.connection.send(frames)
        if asker:
            asker.connection.send(answer)
        self.tell_watchers(frames)

    def tell_players(self, frames: bytes, hears: Callable[[Session], bool] = _everybody) -> None:
        """Send to the players who want it."""
        for session in self.players.values():
            if hears(session):
                session.connection.send(frames)

    def tell_watchers(self, frames: bytes, hears: Callable[[Session], bool] = _everybody) -> None:
        """Send to the current watchers: to the first of them immediately, unless some still lag behind."""
        if self._watchers:  # most matches have none
            self._told += 1
            hearers = deque(session for session, _ in self._watchers.values() if hears(session))
            self._queue.append((self._told, frames, hearers))
            if len(self._queue) == 1:
                self._tell_some()

    def _tell_some(self) -> None:
        number, frames, hearers = self._queue[0]
        shares, told = self._shares, list[Payer]()
        began_s = shares.clock_s()
        for _ in range(min(CROWD, len(hearers))):
            session = hearers.popleft()
            watcher = self._watchers.get(session.player)
            if watcher is None or watcher[1] >= number:  # gone, or shown the match since, perhaps in another session
                continue
            if shares.rest_ms(session.connection):
                self._put_off(session)
            else:
                session.connection.send(frames)
                told.append(session.connection)
        shares.charge_all(told, began_s)
        if not hearers:
            self._queue.popleft()
        if self._queue:
            self._loop.call_soon(self._tell_some)

    def _put_off(self, session: Session) -> None:
        """Send nothing to a watcher until their connection has rested."""
        del self._watchers[session.player]
        self._late[session.player] = session
        if self._catching_up is None:
            self._catching_up = self._loop.call_later(LATE_S, self._catch_up)

    def _catch_up(self) -> None:
        """Send the match as it is to late watchers whose connections have rested."""
        shares = self._shares
        began_s = shares.clock_s()
        back = [session for session in self._late.values() if not shares.rest_ms(session.connection)][:CROWD]
        shown = self._shown() if back else b""
        for session in back:
            self.watch(session)
            session.connection.send(shown)
        shares.charge_all([session.connection for session in back], began_s)
        self._catching_up = self._loop.call_later(LATE_S, self._catch_up) if self._late else None

    def tell_count(self) -> None:
        """Send the number of watchers, now or within half a second."""
        if self._counting is None and self.watchers != self._told_count:
            self._told_count = self.watchers
            self.tell(frame(encode(Watching(self._match, self.watchers))))
            self._counting = self._loop.call_later(COUNT_S, self._count_again)

    def _count_again(self) -> None:
        self._counting = None
        self.tell_count()


class Seats:
    """The players of a loaded match by side; time runs while one of them is present."""

    def __init__(self, match: str, services: Services, audience: Audience) -> None:
        self.players: tuple[PlayerId, PlayerId] | None = None
        self.is_abandoned = False
        """Whether the match is abandoned: both players are away, or one for longer than their grace."""
        self._match = match
        self._services = services
        self._audience = audience
        self._timer: asyncio.TimerHandle | None = None
        self._due_ms: int | None = None
        """The time of play that the timer waits for; None without one, or if it only waits to look again."""

    @property
    def both(self) -> tuple[PlayerId, PlayerId]:
        """The players of a match that has been read."""
        assert self.players is not None
        return self.players

    def taken(self, match: Match, players: tuple[PlayerId, PlayerId]) -> None:
        """Seat the players of a match that was begun or read; the grace of an absent player begins."""
        self.players = players
        now_ms = self._services.now_ms()
        for side, player in enumerate(players):
            match.absences.expect(side, self._services.abandons.count(player, now_ms))
            if not self.is_present(player):
                match.absences.went(side, now_ms, on_purpose=False)

    def hold_bot_place(self, match: Match) -> None:
        """Count the bot's place for the address of its human opponent, if both are present."""
        sessions = [self._services.players.sessions[player] for player in self.both if self.is_present(player)]
        people = [session for session in sessions if not session.is_bot]
        if len(sessions) == 2 and len(people) == 1 and not match.is_over:
            self._services.players.bot_places.hold(self._match, people[0].connection.metered_as)

    def side_of(self, player: PlayerId) -> int | None:
        """Return the side of a player, or None if they do not play here."""
        return self.players.index(player) if self.players and player in self.players else None

    def is_present(self, player: PlayerId) -> bool:
        """Return whether the player is connected and receives this match."""
        return player in self._audience.players or player in self._audience.elsewhere

    def lets_flag_fall(self, match: Match) -> bool:
        """Tell whether this node decides that the running side's time has run out.

        See `watches_time`.
        """
        if match.clock is None or match.clock.running is None:
            return False
        return self.watches_time(match, match.clock.running)

    def watches_time(self, match: Match, side: int) -> bool:
        """Tell whether this node decides that the time of a side is over.

        It is the node of that player, because their time counts from their notification to their request. If they are
        not connected, it is the opponent's node, or the steward in a tournament, except while the player is moving
        between nodes.
        """
        mover, other = self.both[side], self.both[1 - side]
        here, elsewhere = self._audience.players, self._audience.elsewhere
        if mover in here:
            return True
        if mover in elsewhere or self._is_arriving(mover):
            return False
        return other in here if match.tournament is None else self._services.keeps_lobby

    def _is_arriving(self, mover: PlayerId) -> bool:
        """Return whether a player has just reached another node and has not resumed the match there yet."""
        session = self._services.players.get(mover)
        if session is None or not session.is_elsewhere:
            return False
        return self._services.loop.time() - session.connection.opened_s < _ARRIVES_MS / 1000

    def present(self) -> tuple[bool, bool]:
        """Return which sides are present."""
        assert self.players is not None
        return self.is_present(self.players[0]), self.is_present(self.players[1])

    def swapped(self) -> tuple[PlayerId, PlayerId]:
        """Return the players of a rematch by side."""
        assert self.players is not None
        return self.players[1], self.players[0]

    def both_here(self, started: Started) -> tuple[PlayerInfo, PlayerInfo]:
        """Return both players, with their current state, for a rematch."""
        first, second = (
            self._services.players.sessions[player].info_for(started.game, started.time, known.level)
            for player, known in zip(self.swapped(), started.players, strict=True)
        )
        return first, second

    def tell(self, match: Match | None, player: PlayerId, *, online: bool) -> None:
        """Send a player's presence to all others."""
        side = self.side_of(player)
        if side is not None:
            away = match.away(side, self._services.now_ms()) if match else None
            told = frame(encode(Presence(self._match, side, online, away)))
            self._audience.tell_players(told, lambda session: session.player != player)
            self._audience.tell_watchers(told)

    def set_clock(self, match: Match, now_ms: int, look: Callable[[], None]) -> None:
        """Run the clock while a player is present, and call `look` when a time or a grace runs out."""
        if any(self.present()) or match.first_moves is not None:
            match.run_clock(now_ms)
        else:
            match.halt_clock(now_ms)
        if self.is_abandoned != match.is_abandoned(now_ms):
            self.is_abandoned = not self.is_abandoned
            self._services.feed.changed("live", slightly=True)
        looks_ms = () if match.is_over else self._looks_ms(match, now_ms)
        next_ms = min((at_ms for at_ms in looks_ms if at_ms is not None), default=None)
        if next_ms is None:
            self.stop_timer()
        elif self._due_ms is None or self._due_ms > next_ms:
            self._wait((next_ms - now_ms) / 1000, look)
            self._due_ms = next_ms
        # otherwise an earlier timer is set, after which `look` sets the next: cheaper than a new one for each move

    def _looks_ms(self, match: Match, now_ms: int) -> Iterator[int | None]:
        """Yield the times at which an event may be due without a request; None: never."""
        assert self.players is not None
        mover = match.game.to_move(match.state)
        flag_ms = match.clock.flag_at_ms() if match.clock else None
        timed_ms = [each for each in (flag_ms, match.first_move_due_ms) if each is not None]
        if timed_ms:
            if self.watches_time(match, mover):
                yield min(timed_ms)
            elif self._is_arriving(self.players[mover]):
                yield now_ms + _ARRIVES_MS
        if match.absences:
            if not self.is_abandoned:
                yield from (absence.claim_at_ms for side in SIDES if (absence := match.absences.of(side)) is not None)
            if self._audience.players:  # a bot that waits, if the one who is here is a bot
                yield referee.forsaken_at_ms(match)

    def take_up(self, match: Match) -> bool:
        """End an adjournment once both players are present; return whether one has ended."""
        self.hold_bot_place(match)
        has_ended = match.is_adjourned and all(self.present())
        if has_ended:
            match.take_up()
        return has_ended

    def look_later(self, look: Callable[[], None]) -> None:
        """Check the match again later, because players who wait for a flag to fall send nothing."""
        self._wait(_RETRY_S, look)

    def _wait(self, delay_s: float, look: Callable[[], None]) -> None:
        self.stop_timer()
        self._timer = self._services.loop.call_later(max(0, delay_s), self._fire, look)

    def _fire(self, look: Callable[[], None]) -> None:
        self._due_ms = None
        look()

    def stop_timer(self) -> None:
        """Cancel the timer."""
        self._due_ms = None
        if self._timer:
            self._timer.cancel()


class Joining:
    """How sessions come to the audience of one match."""

    def __init__(self, match_id: str, services: Services, seats: Seats, audience: Audience) -> None:
        self._id, self._services, self._seats, self._audience = match_id, services, seats, audience

    def seat(self, session: Session) -> None:
        """Start sending the match to a player's session."""
        self._audience.seat(session)
        session.enter(self._id)

    def resume(self, match: Match, session: Session, request: ResumeRequest, look_at_clock: Callable[[], None]) -> None:
        """Send a player the events that they missed, and the match from now on. Raises `Refusal` if they may not.

        Their grace ends.
        """
        side = self._seats.side_of(session.player)
        if side is None:  # it was requested while the match was being read
            raise Refusal(Code.NOT_SEATED, f"you are not a player of match {self._id}; nothing was changed")
        now_ms = self._services.now_ms()  # one time for both, so that the clock sent is the clock started
        is_new = not self._audience.plays(session)
        if not is_new:  # sending everything again costs a hundred times as much as a move
            self._services.rate_limiter.spend("inquiries", session.player, session.connection.metered_as)
        else:
            self._may_hear(match, session)
            self.seat(session)
            if self._services.membership is not None:
                self._services.membership.sat(session.player, session.serial, self._id)
            match.absences.returned(side, now_ms)
            has_gone_on = self._seats.take_up(match)
            self._seats.set_clock(match, now_ms, look_at_clock)
            if has_gone_on:
                self.show_again(match, session, now_ms)
        session.ok(request.id)
        if request.seq and match.seq - request.seq <= MAX_TAIL:
            session.connection.send(b"".join(frame(encode(event)) for event in match.tail(request.seq)))
        session.tell(self.snapshot(match, session, now_ms))
        if is_new:
            self._seats.tell(match, session.player, online=True)

    def watch(self, match: Match, session: Session, request: WatchRequest) -> None:
        """Start sending the match to a watcher. Raises `Refusal` if they may not watch."""
        if self._seats.side_of(session.player) is not None:
            raise Refusal(Code.NOT_WATCHING, "you play in this match; say resume to see it")
        if match.is_private:
            self._check_code(session, request.code, match.code)
        self._may_hear(match, session)
        self._audience.watch(session)
        session.enter(self._id)
        session.ok(request.id, self.snapshot(match, session, self._services.now_ms()))
        self.tell_watchers()

    def unwatch(self, session: Session, request: UnwatchRequest) -> None:
        """Stop sending to a watcher. Raises `Refusal` if they do not watch."""
        if not self._audience.watches(session):
            raise Refusal(Code.NOT_WATCHING, f"you do not watch match {self._id}")
        session.ok(request.id)
        session.exit(self._id)

    def snapshot(self, match: Match, session: Session, now_ms: int) -> Snapshot:
        """Return the snapshot of the match for a session."""
        side = self._seats.side_of(session.player)
        return match.snapshot(side, self._seats.present(), now_ms, self._audience.counted())

    def show(self, match: Match, now_ms: int) -> None:
        """Send the match to its players here; if both are, they see the same, except for their side."""
        players = self._audience.players
        if not players:
            return
        shown = self.snapshot(match, next(iter(players.values())), now_ms)
        for player, session in players.items():
            session.tell(restruct(shown, you=self._seats.side_of(player)))

    def show_again(self, match: Match, back: Session, now_ms: int) -> None:
        """Send the current snapshot to everybody except the player who is `back`: the adjournment has ended."""
        for player, session in self._audience.players.items():
            if player != back.player:
                session.tell(self.snapshot(match, session, now_ms))
        self._audience.tell_watchers(self.shown(match, now_ms))

    def shown(self, match: Match, now_ms: int) -> bytes:
        """Return the frame of the match as it is, for watchers."""
        return frame(encode(match.snapshot(None, self._seats.present(), now_ms, self._audience.counted())))

    def count_elsewhere(self, node: str, watchers: int) -> None:
        """Record the number of watchers on another node."""
        if self._audience.watching_elsewhere.get(node, 0) != watchers:
            self._audience.watching_elsewhere[node] = watchers
            if not watchers:
                del self._audience.watching_elsewhere[node]
            self._audience.tell_count()
            self._services.feed.changed("live", slightly=True)

    def tell_watchers(self) -> None:
        """Send the number of watchers: here now, to the lists of the lobby and other nodes soon."""
        if self._services.membership is not None:
            self._services.membership.recounted[self._id] = None
        self._audience.tell_count()
        self._services.feed.changed("live", slightly=True)

    def _check_code(self, session: Session, code: str | None, right: str | None) -> None:
        """Reject sessions without the code of a private match; attempts are limited like those of invitations."""
        if code is None:
            raise Refusal(Code.NOT_PUBLIC, "that match is private; its players can tell you its code")
        is_right = code.strip().upper() == right
        self._services.rate_limiter.try_code(session.player, session.connection.metered_as, is_right=is_right)

    def _may_hear(self, match: Match, session: Session) -> None:
        """Limit the matches that one session keeps in memory. Its own live matches are few, and never rejected."""
        is_own_live = self._seats.side_of(session.player) is not None and not match.is_over
        if not is_own_live and len(session.rooms) >= MAX_HEARD:
            raise Refusal(Code.TOO_MANY_MATCHES, f"you hear {len(session.rooms)} matches; leave one first")
        address = session.connection.metered_as
        if match.is_over and address is not None:
            heard = sum(len(each.rooms) for each in self._services.players.of_address(address))
            if heard >= MAX_HEARD * self._services.limits.players_per_address:
                raise Refusal(Code.TOO_MANY_MATCHES, f"those of your address hear {heard:,} matches; leave one first")
