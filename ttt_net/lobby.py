"""Who would play whom: seeks, challenges and invitations go in, pairings come out. Knows no socket and no match."""

import random
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from ttt_net.clock import TimeControl
from ttt_net.errors import Code, Refusal

Player = int
"""Whoever is to be paired, by the number that the caller knows him by."""

ANY_GAME = "tictactoe"
"""What two players play who would both play anything."""


CHALLENGE_MS = 30_000
"""How long a challenge waits for its answer."""
INVITATION_MS = 3_600_000
"""How long an invitation code is good."""
MAX_CHALLENGES = 5
"""Challenges of one player that may wait at a time."""
CODE_LETTERS = "BCDFGHJKMNPQRTVWXYZ2346789"
CODE_LENGTH = 6
"""26 letters that are not taken for one another, and make no words: 309 million codes."""


@dataclass(frozen=True, slots=True)
class Seek:
    """An offer to play whoever comes. `games` in order of preference; none means whatever the other names."""

    player: Player
    is_bot: bool
    games: tuple[str, ...]
    time: TimeControl | None = None
    opponents: Literal["any", "people", "bots"] = "any"
    number: int = 0
    """What others name it by; the lobby gives it, and never the same twice."""

    def welcomes(self, *, is_bot: bool) -> bool:
        """Tell whether a bot, or a person, is welcome as an opponent."""
        return self.opponents == "any" or (self.opponents == "bots") == is_bot

    def common_game(self, other: "Seek") -> str | None:
        """Return the game that both would play: the first of the other's choices that is also one of ours."""
        if not self.games or not other.games:
            return next(iter(other.games or self.games), ANY_GAME)
        return next((game for game in other.games if game in self.games), None)


@dataclass(frozen=True, slots=True)
class Challenge:
    """An offer to one player, who may accept until `expires_ms`."""

    number: int
    by: Player
    to: Player
    game: str
    time: TimeControl | None
    expires_ms: int


@dataclass(frozen=True, slots=True)
class Invitation:
    """An offer to whoever has the code, once, until `expires_ms`; the match is private."""

    code: str
    by: Player
    game: str
    time: TimeControl | None
    expires_ms: int
    side: Literal[0, 1] | None = None
    """The side of whoever invites; None: by lot."""
    start: str | None = None
    """The position to begin from, if not the usual one."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two players who are to play `game`; `first` moves first. A private match is in no list."""

    game: str
    time: TimeControl | None
    first: Player
    second: Player
    is_private: bool = False
    start: str | None = None


class Lobby:
    """The standing seeks, in order of arrival, the challenges and the invitations.

    Of the seeks, whoever has waited longest is paired first. A player has at most one seek and one invitation, is
    never paired with himself, and none of his seeks and challenges pairs after he has left.
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._standing: dict[Player, Seek] = {}
        self._numbered: dict[int, Seek] = {}
        self._last_seek = 0
        self._challenges: dict[int, Challenge] = {}
        self._last_challenge = 0
        self._invitations: dict[str, Invitation] = {}

    def seek(self, seek: Seek) -> Pairing | None:
        """Pair the seek with the first standing one that fits, or let it stand in place of the player's last."""
        self.withdraw(seek.player)
        for other in self._standing.values():
            if other.time != seek.time or not (
                seek.welcomes(is_bot=other.is_bot) and other.welcomes(is_bot=seek.is_bot)
            ):
                continue
            game = seek.common_game(other)
            if game is None:
                continue
            self.withdraw(other.player)
            return self._paired(seek.player, other.player, game, seek.time)
        self._last_seek += 1
        seek = replace(seek, number=self._last_seek)
        self._standing[seek.player] = self._numbered[seek.number] = seek
        return None

    def accept(self, number: int, player: Player, *, is_bot: bool) -> Pairing:
        """Pair the player with whoever has the seek of that number; his own seek is forgotten."""
        seek = self._numbered.get(number)
        if seek is None:
            raise Refusal(Code.UNKNOWN_SEEK, "that seek is gone; look at the list again")
        if seek.player == player:
            raise Refusal(Code.NOT_YOURSELF, "that is your own seek; somebody else has to accept it")
        if not seek.welcomes(is_bot=is_bot):
            raise Refusal(Code.NOT_WELCOME, f"that seek is for {seek.opponents} only")
        self.withdraw(seek.player)
        self.withdraw(player)
        return self._paired(seek.player, player, next(iter(seek.games), ANY_GAME), seek.time)

    def withdraw(self, player: Player) -> bool:
        """Forget the player's seek; tell whether there was one."""
        seek = self._standing.pop(player, None)
        if seek is not None:
            del self._numbered[seek.number]
        return seek is not None

    @property
    def seeks(self) -> Iterable[Seek]:
        """The standing seeks, the oldest first."""
        return self._numbered.values()

    @property
    def seek_count(self) -> int:
        """How many seeks stand."""
        return len(self._numbered)

    def seek_of(self, player: Player) -> Seek | None:
        """Return the player's standing seek."""
        return self._standing.get(player)

    def challenge(self, by: Player, to: Player, game: str, time: TimeControl | None, now_ms: int) -> Challenge:
        """Let a challenge wait for its answer; it takes the place of an earlier one to the same player."""
        if by == to:
            raise Refusal(Code.NOT_YOURSELF, "you cannot play yourself; name another player")
        mine = [each for each in self._challenges.values() if each.by == by]
        for earlier in mine:
            if earlier.to == to:
                del self._challenges[earlier.number]
                mine.remove(earlier)
        if len(mine) >= MAX_CHALLENGES:
            wait_ms = max(0, min(each.expires_ms for each in mine) - now_ms)
            raise Refusal(Code.TOO_MANY_CHALLENGES, f"{len(mine)} of your challenges wait for an answer", wait_ms)
        self._last_challenge += 1
        challenge = Challenge(self._last_challenge, by, to, game, time, now_ms + CHALLENGE_MS)
        self._challenges[challenge.number] = challenge
        return challenge

    def answer(self, number: int, player: Player, now_ms: int) -> Challenge:
        """Take a challenge off the list that `player`, who made it or got it, answers; return it."""
        challenge = self._challenges.get(number)
        if challenge is None or player not in (challenge.by, challenge.to) or challenge.expires_ms <= now_ms:
            raise Refusal(Code.UNKNOWN_CHALLENGE, "there is no such challenge, or it has expired")
        return self._challenges.pop(number)

    def accepted(self, challenge: Challenge) -> Pairing:
        """Return the pairing that an accepted challenge leads to."""
        return self._paired(challenge.by, challenge.to, challenge.game, challenge.time)

    def expired(self, now_ms: int) -> list[Challenge]:
        """Take off the list, and return, the challenges that nobody has answered in time; forget old invitations."""
        late = [each for each in self._challenges.values() if each.expires_ms <= now_ms]
        for challenge in late:
            del self._challenges[challenge.number]
        self._invitations = {each.code: each for each in self._invitations.values() if each.expires_ms > now_ms}
        return late

    def leave(self, player: Player) -> list[Challenge]:
        """Forget the player's seek, and take off the list and return the challenges by him and to him.

        His invitation stays: whom he has invited may come while his link is down.
        """
        self.withdraw(player)
        gone = [each for each in self._challenges.values() if player in (each.by, each.to)]
        for challenge in gone:
            del self._challenges[challenge.number]
        return gone

    def invite(
        self,
        by: Player,
        game: str,
        time: TimeControl | None,
        now_ms: int,
        side: Literal[0, 1] | None = None,
        start: str | None = None,
    ) -> Invitation:
        """Return a new invitation with a code of its own; it takes the place of the player's last."""
        self._invitations = {each.code: each for each in self._invitations.values() if each.by != by}
        code = ""
        while not code or code in self._invitations:
            code = "".join(self._rng.choices(CODE_LETTERS, k=CODE_LENGTH))
        invitation = Invitation(code, by, game, time, now_ms + INVITATION_MS, side, start)
        self._invitations[code] = invitation
        return invitation

    def invitation(self, code: str, player: Player, now_ms: int) -> Invitation:
        """Return the invitation of that code, if it is good for `player`."""
        invitation = self._invitations.get(code.upper())
        if invitation is None or invitation.expires_ms <= now_ms:
            raise Refusal(
                Code.UNKNOWN_CODE, "no invitation has that code, or it was used or is too old; ask for another"
            )
        if invitation.by == player:
            raise Refusal(Code.NOT_YOURSELF, "that is your own invitation; give the code to a friend")
        return invitation

    def joined(self, invitation: Invitation, player: Player) -> Pairing:
        """Return the pairing that an invitation leads to; it is spent."""
        del self._invitations[invitation.code]
        pairing = self._paired(invitation.by, player, invitation.game, invitation.time, is_private=True)
        sides = (invitation.by, player) if invitation.side == 0 else (player, invitation.by)
        if invitation.side is not None:
            pairing = replace(pairing, first=sides[0], second=sides[1])
        return replace(pairing, start=invitation.start)

    def _paired(
        self, one: Player, other: Player, game: str, time: TimeControl | None, *, is_private: bool = False
    ) -> Pairing:
        first, second = self._rng.sample((one, other), 2)
        return Pairing(game, time, first, second, is_private)
