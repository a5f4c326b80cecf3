"""Who may play whom, as the house has it: bounds on matches, places of bots, guests, addresses."""

from collections import Counter
from typing import Protocol as Interface

from ttt_net.errors import Code, Refusal
from ttt_net.games.values import is_always_casual
from ttt_net.pairing.seek import Opponents, Seek
from ttt_net.server.accounts.session import Session
from ttt_net.server.admission.client_address import network_of
from ttt_net.server.admission.rate_limiter import RateLimiter
from ttt_net.server.players import PlayerId
from ttt_net.server.settings.limits import Limits


class EligibilityServices(Interface):
    """What it goes by."""

    limits: Limits
    quotas: RateLimiter
    sessions: dict[PlayerId, Session]
    starting: Counter[PlayerId]

    def occupied(self, session: Session) -> int:
        """Return how many matches keep a player busy."""

    def may_begin(self) -> None:
        """Refuse a new match while a restart is counted down to."""

    def is_leaving(self, player: PlayerId) -> bool:
        """Tell whether it is being written down that the player is to be forgotten."""


class Eligibility:
    """Answers by raising `Refusal`, and changes nothing."""

    def __init__(self, house: EligibilityServices) -> None:
        self._house = house

    def may_meet(self, one: Session, other: Session) -> None:
        """Refuse unless both may have one match more, with one another."""
        self.may_play(one, against_bot=other.is_bot)
        self.may_play(other, against_bot=one.is_bot)

    def may_play(self, session: Session, *, against_bot: bool) -> None:
        """Refuse unless the player may have one match more."""
        self._house.may_begin()
        if self._house.is_leaving(session.player):
            raise Refusal(Code.UNKNOWN_PLAYER, f"{session.info.name} is about to be forgotten here")
        self._house.quotas.check("matches", session.player)
        live = len(session.live) + self._house.starting[session.player]
        if live >= self._house.limits.max_live_matches:
            raise Refusal(
                Code.TOO_MANY_MATCHES, f"{session.info.name} has {live} unfinished matches; one has to end first"
            )
        if session.places is None:
            return
        free = self._free_places(session)
        if free <= 0:
            raise Refusal(
                Code.TOO_MANY_MATCHES, f"{session.info.name} plays at most {session.places} at once, and is busy", 5_000
            )
        if against_bot and free <= session.reserved:
            raise Refusal(Code.TOO_MANY_MATCHES, f"what {session.info.name} has free is for people", 5_000)

    def _free_places(self, bot: Session) -> int:
        return (bot.places or 0) - self._house.occupied(bot)

    def must_be_ratable(self, session: Session, games: tuple[str, ...]) -> None:
        """Refuse what cannot be rated."""
        if session.is_guest:
            raise Refusal(Code.ALWAYS_CASUAL, f"{session.info.name} is a guest; `rename` first, to play for ratings")
        if not games:
            raise Refusal(Code.ALWAYS_CASUAL, "a rated seek names its games; not all are rated")
        for game in filter(is_always_casual, games):
            raise Refusal(Code.ALWAYS_CASUAL, f"{game} is never rated: perfect play is too well known")

    def may_be_paired(self, one: Seek, other: Seek) -> bool:
        """Tell whether the house lets two have the match that both seek."""
        may_both = self._has_place(one, other) and self._has_place(other, one)
        return may_both and (not one.is_rated or self._are_elsewhere(one.player, other.player))

    def _has_place(self, one: Seek, other: Seek) -> bool:
        """Tell whether there is a place for what `one` seeks: of a bot, an adjourned match that goes on may take it."""
        if not one.is_bot:
            return True
        try:
            self.may_play(self._house.sessions[one.player], against_bot=other.is_bot)
        except Refusal:
            return False
        return True

    def must_be_elsewhere(self, one: PlayerId, other: PlayerId) -> None:
        """Refuse a rated match of two whom the host takes for one."""
        if not self._are_elsewhere(one, other):
            raise Refusal(Code.ALWAYS_CASUAL, "here two players of one address play without ratings (the host says so)")

    def _are_elsewhere(self, one: PlayerId, other: PlayerId) -> bool:
        """Tell whether the host lets two players have a rated match: where he minds, not if their address is one."""
        if self._house.limits.rated_same_address:
            return True
        sessions = [self._house.sessions.get(player) for player in (one, other)]
        addresses = {network_of(session.connection.address) for session in sessions if session}
        return len(addresses) == len(sessions)

    def welcome_of(self, session: Session, asked: Opponents) -> Opponents:
        """Return whom a seek is for: of a bot all whose free places are reserved, for people."""
        has_place = session.places is None or self._free_places(session) > session.reserved
        return asked if has_place or asked != "any" else "people"
