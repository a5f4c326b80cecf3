"""Pair players by seeks, challenges and invitations. Knows no socket and no match."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ttt_net.clock import TimeControl
from ttt_net.errors import Code, Refusal
from ttt_net.pairing.seeks import ANY_GAME, MayMeet, Player, RatingOf, Seek, SeekMatch, StandingSeeks

USUAL_RATING = 1500
"""The rating of all players in games without ratings."""
CHALLENGE_MS = 30_000
"""How long a challenge waits for its answer."""
INVITATION_MS = 3_600_000
"""How long an invitation code is valid."""
MAX_CHALLENGES = 5
"""The maximal number of open challenges per player."""
CODE_LETTERS = "BCDFGHJKMNPQRTVWXYZ2346789"
CODE_LENGTH = 6
"""Letters and digits that are hard to confuse and form no words; six give 309 million codes."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """An offer to one player, who may accept until `expires_ms`."""

    number: int
    by: Player
    to: Player
    game: str
    time: TimeControl | None
    expires_ms: int
    is_rated: bool = False
    level: int | None = None
    """The level requested of a bot; None: its own."""
    side: Literal[0, 1] | None = None
    """The side of the challenger; None: random."""
    start: str | None = None
    """The starting position, if not the usual one."""


@dataclass(frozen=True, slots=True)
class Invitation:
    """An offer to a player with the code, once, until `expires_ms`; the match is private."""

    code: str
    by: Player
    game: str
    time: TimeControl | None
    expires_ms: int
    side: Literal[0, 1] | None = None
    """The side of the inviting player; None: random."""
    start: str | None = None
    """The starting position, if not the usual one."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two players who will play `game`; `first` moves first. A private match is not listed, and has a code."""

    game: str
    time: TimeControl | None
    first: Player
    second: Player
    is_rated: bool = False
    code: str | None = None
    start: str | None = None
    level: int | None = None
    """The level requested of a bot; None: its own."""

    @property
    def is_private(self) -> bool:
        """Whether only players and people with the code may see the match."""
        return self.code is not None


def _all_alike(player: Player, game: str, time: TimeControl | None) -> int:
    return USUAL_RATING


def _any_two(one: Seek, other: Seek) -> bool:
    return True


MayRate = Callable[[Player, Player], bool]
"""Tells whether two players may play rated matches against each other."""


def _any_rated(one: Player, other: Player) -> bool:
    return True


class Lobby:
    """The open seeks, challenges and invitations.

    A player has at most one seek and one invitation, and is never paired with themselves. After a player leaves, their
    seeks and challenges pair nobody, unless the player returns soon.
    """

    def __init__(
        self,
        rng: random.Random,
        rating_of: RatingOf = _all_alike,
        may_meet: MayMeet = _any_two,
        may_rate: MayRate = _any_rated,
    ) -> None:
        self._rating_of, self._may_meet, self._may_rate = rating_of, may_meet, may_rate
        self.seeks = StandingSeeks(rating_of, may_meet)
        self._rng = rng
        self._challenges: dict[int, Challenge] = {}
        self._challenges_of: dict[Player, dict[int, Challenge]] = {}
        """The challenges that each player made or received."""
        self._last_challenge = 0
        self._invitations: dict[str, Invitation] = {}
        self._being_spent: dict[str, Invitation] = {}
        """Invitations whose match is about to begin, by code."""
        self.settled: Callable[[str], object] = lambda _: None
        """Called with a code once its match has begun or failed to begin."""

    def seek(self, seek: Seek, now_ms: int) -> Pairing | None:
        """Pair the seek with the best matching one, or list it in place of the player's previous seek."""
        return self._met(self.seeks.seek(seek, now_ms))

    def accept(self, number: int, player: Player, *, is_bot: bool, is_casual: bool = False) -> Pairing:
        """Pair the player with the owner of a seek by number; withdraw the player's own seek.

        `is_casual`: whether the match is casual if the seek accepts both kinds.
        """
        seek = self.seeks.find(number)
        if seek is None:
            raise Refusal(Code.UNKNOWN_SEEK, "that seek is gone; look at the list again")
        if seek.player == player:
            raise Refusal(Code.NOT_YOURSELF, "that is your own seek; somebody else has to accept it")
        if not seek.welcomes(is_bot=is_bot):
            raise Refusal(Code.NOT_WELCOME, f"that seek is for {seek.opponents} only")
        game = next(iter(seek.games), ANY_GAME)
        if not self.seeks.index.admits(seek, player, game):
            raise Refusal(Code.NOT_WELCOME, f"that seek is for ratings {_range_text(seek)} only")
        is_rated = seek.is_rated and not (is_casual and seek.or_casual)
        pairing = self._paired(seek.player, player, game, seek.time, is_rated=is_rated)
        return replace(pairing, level=seek.level)

    def tick(self, now_ms: int) -> list[Pairing]:
        """Return the pairings that waiting has made possible; call this about once a second."""
        return [self._paired_seeks(match) for match in self.seeks.tick(now_ms)]

    def returned(self, player: Player) -> Pairing | None:
        """List the hidden seek of a returned player again, or pair it with a seek made meanwhile."""
        return self._met(self.seeks.restore(player))

    def look_again(self, player: Player) -> Pairing | None:
        """Pair an open seek, if the obstacle to its pairing is gone."""
        return self._met(self.seeks.look_again(player))

    def rated(self, player: Player) -> Pairing | None:
        """Pair the seek of a player whose rating has changed, if it now fits another."""
        return self._met(self.seeks.rated(player))

    def challenge(
        self,
        by: Player,
        to: Player,
        game: str,
        time: TimeControl | None,
        now_ms: int,
        *,
        is_rated: bool = False,
        level: int | None = None,
        side: Literal[0, 1] | None = None,
        start: str | None = None,
    ) -> Challenge:
        """Open a challenge; it replaces an earlier one to the same player."""
        if by == to:
            raise Refusal(Code.NOT_YOURSELF, "you cannot play yourself; name another player")
        mine = [each for each in self._challenges_of.get(by, {}).values() if each.by == by]
        for earlier in (each for each in mine if each.to == to):
            self._take_off(earlier)
        others = [each for each in mine if each.to != to]
        if len(others) >= MAX_CHALLENGES:
            wait_ms = max(0, min(each.expires_ms for each in others) - now_ms)
            raise Refusal(Code.TOO_MANY_CHALLENGES, f"{len(others)} of your challenges wait for an answer", wait_ms)
        self._last_challenge += 1
        number, expires_ms = self._last_challenge, now_ms + CHALLENGE_MS
        challenge = Challenge(number, by, to, game, time, expires_ms, is_rated, level, side, start)
        self._challenges[challenge.number] = challenge
        for player in (by, to):
            self._challenges_of.setdefault(player, {})[challenge.number] = challenge
        return challenge

    def challenge_of(self, number: int, player: Player, now_ms: int) -> Challenge:
        """Return a challenge that `player`, who made or received it, may answer."""
        challenge = self._challenges.get(number)
        if challenge is None or player not in (challenge.by, challenge.to) or challenge.expires_ms <= now_ms:
            raise Refusal(Code.UNKNOWN_CHALLENGE, "there is no such challenge, or it has expired")
        return challenge

    def answer(self, challenge: Challenge) -> None:
        """Remove an answered challenge from the list."""
        self._take_off(challenge)

    def _take_off(self, challenge: Challenge) -> None:
        del self._challenges[challenge.number]
        for player in (challenge.by, challenge.to):
            del self._challenges_of[player][challenge.number]
            if not self._challenges_of[player]:
                del self._challenges_of[player]

    def accepted(self, challenge: Challenge) -> Pairing:
        """Return the pairing of an accepted challenge; the seeks of both players are withdrawn."""
        pairing = self._paired(challenge.by, challenge.to, challenge.game, challenge.time, is_rated=challenge.is_rated)
        pairing = _seated(pairing, challenge.by, challenge.to, challenge.side)
        return replace(pairing, level=challenge.level, start=challenge.start)

    def expired(self, now_ms: int) -> list[Challenge]:
        """Remove and return the expired challenges."""
        late = [each for each in self._challenges.values() if each.expires_ms <= now_ms]
        for challenge in late:
            self._take_off(challenge)
        return late

    def forget_old(self, now_ms: int) -> None:
        """Forget expired invitations; their times are times of day, as in the journal."""
        self._invitations = {each.code: each for each in self._invitations.values() if each.expires_ms > now_ms}

    def leave(self, player: Player, now_ms: int, *, on_purpose: bool) -> list[Challenge]:
        """Remove and return the challenges by and to the player; forget their seek, or hide it for a while.

        Their invitation stays: the friend may join while they are disconnected.
        """
        if on_purpose:
            self.seeks.withdraw(player)
        else:
            self.seeks.hide(player, now_ms)
        gone = list(self._challenges_of.get(player, {}).values())
        for challenge in gone:
            self._take_off(challenge)
        return gone

    def part(self, one: Player, other: Player) -> list[Challenge]:
        """Remove and return the challenges between two players."""
        between = [each for each in self._challenges_of.get(one, {}).values() if other in (each.by, each.to)]
        for challenge in between:
            self._take_off(challenge)
        return between

    def take_back(self, by: Player) -> list[Challenge]:
        """Remove and return the challenges that a player has made."""
        mine = [each for each in self._challenges_of.get(by, {}).values() if each.by == by]
        for challenge in mine:
            self._take_off(challenge)
        return mine

    def invite(
        self,
        by: Player,
        game: str,
        time: TimeControl | None,
        now_ms: int,
        side: Literal[0, 1] | None = None,
        start: str | None = None,
    ) -> Invitation:
        """Return a new invitation with its code; it becomes valid when it is journaled, see `reinstate`."""
        code = ""
        while not code or code in self._invitations:
            code = "".join(self._rng.choices(CODE_LETTERS, k=CODE_LENGTH))
        return Invitation(code, by, game, time, now_ms + INVITATION_MS, side, start)

    def reinstate(self, invitations: Sequence[Invitation]) -> None:
        """Make journaled invitations valid, each in place of the player's previous one.

        Skip those whose match is about to begin, which the journal does not contain yet.
        """
        good = [each for each in invitations if each.code not in self._being_spent]
        players = {each.by for each in good}
        others = [each for each in self._invitations.values() if each.by not in players]
        self._invitations = {each.code: each for each in (*others, *good)}

    def unspent(self, code: str) -> None:
        """Make an invitation valid again whose match failed to begin.

        Do nothing if the player has made another one meanwhile, or was deleted.
        """
        invitation = self._being_spent.pop(code, None)
        if invitation is not None and all(each.by != invitation.by for each in self._invitations.values()):
            self._invitations[code] = invitation
        self.settled(code)

    def is_being_spent(self, code: str) -> bool:
        """Tell whether a match with this code is about to begin."""
        return code.upper() in self._being_spent

    def uninvite(self, player: Player) -> None:
        """Cancel the invitation of a deleted player, if there is one."""
        self._invitations = {each.code: each for each in self._invitations.values() if each.by != player}
        self._being_spent = {each.code: each for each in self._being_spent.values() if each.by != player}

    def spent(self, code: str) -> None:
        """Forget an invitation whose match has begun."""
        self._invitations.pop(code, None)
        self._being_spent.pop(code, None)
        self.settled(code)

    def hand_over(self) -> None:
        """Forget all seeks and challenges, because another node keeps the lobby now; invitations are in the journal."""
        last = self.last_number
        self.seeks = StandingSeeks(self._rating_of, self._may_meet)
        self._challenges.clear()
        self._challenges_of.clear()
        self.count_on(last)

    @property
    def last_number(self) -> int:
        """The highest number given to a seek or a challenge."""
        return max(self.seeks.last_number, self._last_challenge)

    def count_on(self, number: int) -> None:
        """Continue the numbers of seeks and challenges after `number`, the last one of another node."""
        self.seeks.last_number = max(self.seeks.last_number, number)
        self._last_challenge = max(self._last_challenge, number)

    def is_code(self, code: str, now_ms: int) -> bool:
        """Tell whether an invitation has this code."""
        invitation = self._invitations.get(code.upper())
        return invitation is not None and invitation.expires_ms > now_ms

    def offered(self, code: str) -> Invitation:
        """Return the invitation with this code, which must exist."""
        return self._invitations[code.upper()]

    def invitation(self, code: str, player: Player, now_ms: int) -> Invitation:
        """Return the invitation with this code, if it is valid for `player`."""
        invitation = self._invitations.get(code.upper())
        if invitation is None or invitation.expires_ms <= now_ms:
            raise Refusal(
                Code.UNKNOWN_CODE, "no invitation has that code, or it was used or is too old; ask for another"
            )
        if invitation.by == player:
            raise Refusal(Code.NOT_YOURSELF, "that is your own invitation; give the code to a friend")
        return invitation

    def joined(self, invitation: Invitation, player: Player) -> Pairing:
        """Return the pairing of an invitation, and withdraw the seeks of both players.

        The invitation is then invalid, until it is `spent` or `unspent`.
        """
        self._being_spent[invitation.code] = self._invitations.pop(invitation.code)
        pairing = self._paired(invitation.by, player, invitation.game, invitation.time)
        pairing = _seated(pairing, invitation.by, player, invitation.side)
        return replace(pairing, start=invitation.start, code=invitation.code)

    def _met(self, match: SeekMatch | None) -> Pairing | None:
        return match and self._paired_seeks(match)

    def _paired_seeks(self, match: SeekMatch) -> Pairing:
        seek, found, game = match
        is_rated = seek.is_rated and found.is_rated
        if is_rated and seek.or_casual and found.or_casual:
            is_rated = self._may_rate(seek.player, found.player)
        first, second = self._rng.sample((seek.player, found.player), 2)
        return Pairing(game, seek.time, first, second, is_rated, level=seek.level or found.level)

    def _paired(
        self, one: Player, other: Player, game: str, time: TimeControl | None, *, is_rated: bool = False
    ) -> Pairing:
        """Return a pairing with random sides, and withdraw the seeks of both players."""
        self.seeks.withdraw(one)
        self.seeks.withdraw(other)
        first, second = self._rng.sample((one, other), 2)
        return Pairing(game, time, first, second, is_rated)


def _seated(pairing: Pairing, by: Player, other: Player, side: Literal[0, 1] | None) -> Pairing:
    """Return a pairing in which `by` has the requested side, if any."""
    if side is None:
        return pairing
    return replace(pairing, first=by, second=other) if side == 0 else replace(pairing, first=other, second=by)


def _range_text(seek: Seek) -> str:
    if seek.max_rating is None:
        return f"from {seek.min_rating}"
    return f"{seek.min_rating or 0} to {seek.max_rating}"
