"""Keep the two players of one match: who is here, and the clock and the timer that follow from it."""

import asyncio
from collections.abc import Callable

from ttt_net.matches.match import Match
from ttt_net.messages import PlayerInfo, Presence, Started, encode
from ttt_net.server.players import PlayerId
from ttt_net.server.rooms.audience import Audience
from ttt_net.server.services import Services
from ttt_net.server.wire.frames import frame

_RETRY_S = 1.0
"""How long after a failure of the disk the match is read again."""
_ARRIVES_S = 2.0
"""For how long a player who has come to another node is waited for, until they hear the match there."""


class Seats:
    """The players of one match by side, known once the match is; time runs while one of them is here."""

    def __init__(self, match: str, services: Services, audience: Audience) -> None:
        self.players: tuple[PlayerId, PlayerId] | None = None
        self._match = match
        self._services = services
        self._audience = audience
        self._timer: asyncio.TimerHandle | None = None

    def taken(self, match: Match, players: tuple[PlayerId, PlayerId]) -> None:
        """Seat the players of a match that was begun or read; the grace of one who is not here begins."""
        self.players = players
        now_ms = self._services.now_ms()
        for side, player in enumerate(players):
            match.absences.expect(side, self._services.abandons.count(player, now_ms))
            if not self.is_present(player):
                match.absences.went(side, now_ms, on_purpose=False)

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
        return self._services.loop.time() - session.connection.opened_s < _ARRIVES_S

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
        """Tell the others whether a player is here."""
        side = self.side_of(player)
        if side is not None:
            away = match.away(side, self._services.now_ms()) if match else None
            told = frame(encode(Presence(self._match, side, online, away)))
            self._audience.tell_players(told, lambda session: session.player != player)
            self._audience.tell_watchers(told)

    def set_clock(self, match: Match, now_ms: int, look: Callable[[], None]) -> None:
        """Let time run while a player is here, and `look` when the running side's will be used up."""
        self.stop_timer()
        if any(self.present()):
            match.run_clock(now_ms)
        else:
            match.halt_clock(now_ms)
        at_ms = match.clock.flag_at_ms() if match.clock and not match.is_over else None
        if at_ms is None:
            return
        if self.lets_flag_fall(match):
            self._timer = self._services.loop.call_later(max(0, at_ms - now_ms) / 1000, look)
        elif self._is_mover_arriving(match):
            self._timer = self._services.loop.call_later(_ARRIVES_S, look)

    def look_later(self, look: Callable[[], None]) -> None:
        """Have a match read again in a while: players who wait for a flag to fall ask for nothing."""
        self.stop_timer()
        self._timer = self._services.loop.call_later(_RETRY_S, look)

    def stop_timer(self) -> None:
        """Let nothing happen by itself."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
