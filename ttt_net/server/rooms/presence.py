"""Keep the two players of one match: who is here, and the clock and the timer that follow from it.

A clock runs if and only if a player is here, whether or not somebody watches.
"""

import asyncio
from collections.abc import Callable, Iterator

from ttt_net.clock import SIDES
from ttt_net.matches import referee
from ttt_net.matches.match import Match
from ttt_net.messages import PlayerInfo, Presence, Started, encode
from ttt_net.server.players import PlayerId
from ttt_net.server.rooms.audience import Audience
from ttt_net.server.services import Services
from ttt_net.server.wire.frames import frame

_RETRY_S = 1.0
"""How long after a failure of the disk the match is read again."""
_ARRIVES_MS = 2_000
"""For how long a player who has come to another node is waited for, until they hear the match there."""


class Seats:
    """The players of one match by side, known once the match is; time runs while one of them is here."""

    def __init__(self, match: str, services: Services, audience: Audience) -> None:
        self.players: tuple[PlayerId, PlayerId] | None = None
        self.is_abandoned = False
        """Whether nobody plays the match on: both players are away, or one for longer than their grace."""
        self._match = match
        self._services = services
        self._audience = audience
        self._timer: asyncio.TimerHandle | None = None

    def taken(self, match: Match, players: tuple[PlayerId, PlayerId]) -> None:
        """Seat the players of a match that was begun or read; the grace of an absent player begins."""
        self.players = players
        now_ms = self._services.now_ms()
        for side, player in enumerate(players):
            match.absences.expect(side, self._services.abandons.count(player, now_ms))
            if not self.is_present(player):
                match.absences.went(side, now_ms, on_purpose=False)

    def hold_bot_place(self, match: Match) -> None:
        """Count the place of a bot for the address of the person who plays it, if both are here."""
        assert self.players is not None
        sessions = [self._services.players.get(player) for player in self.players if self.is_present(player)]
        people = [session for session in sessions if session is not None and not session.is_bot]
        if len(sessions) == 2 and len(people) == 1 and not match.is_over:
            self._services.players.bot_places.hold(self._match, people[0].connection.metered_as)

    def side_of(self, player: PlayerId) -> int | None:
        """Return the side of a player; None for somebody who does not play."""
        return self.players.index(player) if self.players and player in self.players else None

    def is_present(self, player: PlayerId) -> bool:
        """Tell whether the player is here and hears this match."""
        return player in self._audience.players or player in self._audience.elsewhere

    def lets_flag_fall(self, match: Match) -> bool:
        """Tell whether this node decides that the running side's time is used up.

        That is where the player sits: their time is counted from when they were told, to their request. Where they are
        nowhere, it is their opponent's node; but not while they are on their way to a node, or to theirs once more.
        """
        if self.players is None or match.clock is None or match.clock.running is None:
            return False
        mover, other = self.players[match.clock.running], self.players[1 - match.clock.running]
        here, elsewhere = self._audience.players, self._audience.elsewhere
        is_nowhere = mover not in elsewhere and not self._is_mover_arriving(match)
        return mover in here or (is_nowhere and other in here)

    def _is_mover_arriving(self, match: Match) -> bool:
        """Tell whether the player to move has just come to another node, and does not hear the match there yet."""
        if self.players is None or match.clock is None or match.clock.running is None:
            return False
        mover = self.players[match.clock.running]
        session = self._services.players.get(mover)
        if session is None or not session.is_elsewhere or mover in self._audience.elsewhere:
            return False
        return self._services.loop.time() - session.connection.opened_s < _ARRIVES_MS / 1000

    def present(self) -> tuple[bool, bool]:
        """Return who is here, by side."""
        assert self.players is not None
        return self.is_present(self.players[0]), self.is_present(self.players[1])

    def swapped(self) -> tuple[PlayerId, PlayerId]:
        """Return the players of a rematch by side."""
        assert self.players is not None
        return self.players[1], self.players[0]

    def both_here(self, started: Started) -> tuple[PlayerInfo, PlayerInfo]:
        """Return who plays a rematch, as they are now."""
        first, second = (
            self._services.players.sessions[player].info_for(started.game, started.time, known.level)
            for player, known in zip(self.swapped(), started.players, strict=True)
        )
        return first, second

    def tell(self, match: Match | None, player: PlayerId, *, online: bool) -> None:
        """Send to all others whether a player is here."""
        side = self.side_of(player)
        if side is not None:
            away = match.away(side, self._services.now_ms()) if match else None
            told = frame(encode(Presence(self._match, side, online, away)))
            self._audience.tell_players(told, lambda session: session.player != player)
            self._audience.tell_watchers(told)

    def set_clock(self, match: Match, now_ms: int, look: Callable[[], None]) -> None:
        """Run the clock while a player is here, and call `look` when a time or a grace will be used up."""
        self.stop_timer()
        if any(self.present()):
            match.run_clock(now_ms)
        else:
            match.halt_clock(now_ms)
        if self.is_abandoned != match.is_abandoned(now_ms):
            self.is_abandoned = not self.is_abandoned
            self._services.feed.changed("live", slightly=True)
        looks_ms = () if match.is_over else self._looks_ms(match, now_ms)
        next_ms = min((at_ms for at_ms in looks_ms if at_ms is not None), default=None)
        if next_ms is not None:
            self._timer = self._services.loop.call_later(max(0, next_ms - now_ms) / 1000, look)

    def _looks_ms(self, match: Match, now_ms: int) -> Iterator[int | None]:
        """Yield when something may be due without a request; None for what will not be."""
        flag_ms = match.clock.flag_at_ms() if match.clock else None
        if flag_ms is not None and self.lets_flag_fall(match):
            yield flag_ms
        elif flag_ms is not None and self._is_mover_arriving(match):
            yield now_ms + _ARRIVES_MS
        if not self.is_abandoned:
            yield from (absence.claim_at_ms for side in SIDES if (absence := match.absences.of(side)) is not None)
        if self.frees_seat(match):
            yield referee.forsaken_at_ms(match)

    def frees_seat(self, match: Match) -> bool:
        """Tell whether this node ends a match whose player left a bot waiting: the node where the bot is connected."""
        assert self.players is not None
        return any(
            match.players[side].bot is not None and player in self._audience.players
            for side, player in enumerate(self.players)
        )

    def take_up(self, match: Match) -> bool:
        """End an adjournment once both players are here; return whether one has ended."""
        self.hold_bot_place(match)
        has_ended = match.is_adjourned and all(self.present())
        if has_ended:
            match.take_up()
        return has_ended

    def look_later(self, look: Callable[[], None]) -> None:
        """Read the match again in a while: players who wait for a flag to fall send no request."""
        self.stop_timer()
        self._timer = self._services.loop.call_later(_RETRY_S, look)

    def stop_timer(self) -> None:
        """Cancel the timer."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
