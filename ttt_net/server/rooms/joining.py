"""Let sessions hear a match: players who resume it, and watchers; who may, how many, and what they are told."""

from collections.abc import Callable

from ttt_net.errors import Code, Refusal
from ttt_net.matches.match import Match
from ttt_net.messages import ResumeRequest, Snapshot, UnwatchRequest, WatchRequest, encode
from ttt_net.server.accounts.session import Session
from ttt_net.server.rooms.audience import Audience
from ttt_net.server.rooms.presence import Seats
from ttt_net.server.services import Services
from ttt_net.server.wire.frames import frame

MAX_TAIL = 32
"""Missed events that are told one by one; with more, the snapshot alone is shorter, and fits into what may wait."""
MAX_HEARD = 50
"""Finished and watched matches that one session may hear at a time; those of an address, many times as many."""


class Joining:
    """How sessions come to the audience of one match."""

    def __init__(self, match_id: str, services: Services, seats: Seats, audience: Audience) -> None:
        self._id, self._services, self._seats, self._audience = match_id, services, seats, audience

    def seat(self, session: Session) -> None:
        """Let a player's session hear the match from now on."""
        self._audience.seat(session)
        session.enter(self._id)

    def resume(self, match: Match, session: Session, request: ResumeRequest, look_at_clock: Callable[[], None]) -> None:
        """Let a player hear the match again, after the events that they have. Raises `Refusal` if they may not.

        Their grace ends.
        """
        side = self._seats.side_of(session.player)
        if side is None:  # it was asked while the match was being read
            raise Refusal(Code.NOT_SEATED, f"you are not a player of match {self._id}; nothing was changed")
        now_ms = self._services.now_ms()  # one moment for all of it: the clock that is told is the one that is started
        is_new = not self._audience.plays(session)
        if not is_new:  # all of it again costs a hundred times as much as a move
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
        """Let a session watch the match from now on. Raises `Refusal` if it may not."""
        self._must_not_play(session)
        if match.is_private:
            self._check_code(session, request.code, match.code)
        self._may_hear(match, session)
        self._audience.watch(session)
        session.enter(self._id)
        session.ok(request.id)
        session.tell(self.snapshot(match, session, self._services.now_ms()))
        self.tell_watchers()

    def unwatch(self, session: Session, request: UnwatchRequest) -> None:
        """Tell a watcher, still in the audience, that they hear it no more. Raises `Refusal` if they do not watch."""
        self._must_not_play(session)
        if not self._audience.watches(session):
            raise Refusal(Code.NOT_WATCHING, f"you do not watch match {self._id}")
        session.ok(request.id)
        session.exit(self._id)

    def snapshot(self, match: Match, session: Session, now_ms: int) -> Snapshot:
        """Return the whole match, as the session may see it."""
        side = self._seats.side_of(session.player)
        return match.snapshot(side, self._seats.present(), now_ms, self._audience.counted())

    def show_again(self, match: Match, back: Session, now_ms: int) -> None:
        """Send the match as it is now to all but the player who is `back`: its adjournment has ended."""
        for player, session in self._audience.players.items():
            if player != back.player:
                session.tell(self.snapshot(match, session, now_ms))
        watched = match.snapshot(None, self._seats.present(), now_ms, self._audience.counted())
        self._audience.tell_watchers(frame(encode(watched)))

    def count_elsewhere(self, node: str, watchers: int) -> None:
        """Take note of how many watch on another node."""
        if self._audience.watching_elsewhere.get(node, 0) != watchers:
            self._audience.watching_elsewhere[node] = watchers
            if not watchers:
                del self._audience.watching_elsewhere[node]
            self._audience.tell_count()
            self._services.feed.changed("live", slightly=True)

    def tell_watchers(self) -> None:
        """Tell how many watch: here now, the lists of the lobby and other nodes soon."""
        if self._services.membership is not None:
            self._services.membership.recounted[self._id] = None
        self._audience.tell_count()
        self._services.feed.changed("live", slightly=True)

    def _must_not_play(self, session: Session) -> None:
        if self._seats.side_of(session.player) is not None:
            raise Refusal(Code.NOT_WATCHING, "you play in this match; say resume to see it")

    def _check_code(self, session: Session, code: str | None, right: str | None) -> None:
        """Refuse sessions without the code of a private match; it is tried as slowly as that of an invitation."""
        if code is None:
            raise Refusal(Code.NOT_PUBLIC, "that match is private; its players can tell you its code")
        is_right = right is not None and code.strip().upper() == right
        self._services.rate_limiter.try_code(session.player, session.connection.metered_as, is_right=is_right)

    def _may_hear(self, match: Match, session: Session) -> None:
        """Bound what one session keeps in memory; its own live matches, few enough as it is, are never refused."""
        is_own_live = self._seats.side_of(session.player) is not None and not match.is_over
        if not is_own_live and len(session.rooms) >= MAX_HEARD:
            raise Refusal(Code.TOO_MANY_MATCHES, f"you hear {len(session.rooms)} matches; leave one first")
        address = session.connection.metered_as
        if match.is_over and address is not None:
            heard = sum(len(each.rooms) for each in self._services.players.of_address(address))
            if heard >= MAX_HEARD * self._services.limits.players_per_address:
                raise Refusal(Code.TOO_MANY_MATCHES, f"those of your address hear {heard:,} matches; leave one first")
