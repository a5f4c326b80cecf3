"""Pairings of a simulated world, by laws of its own: nobody against what they seek.

Requests to the lobby are observed from outside, with all standing seeks: its replies must suit both. At last
everybody seeks once more, and either plays or stands with what they asked for.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from ttt_net import messages as wire
from ttt_net.games import game_name
from ttt_net.pairing.lobby import Challenge, Lobby, Pairing
from ttt_net.pairing.seeks import BANDS, Seek
from ttt_net.server.online_players import Session

if TYPE_CHECKING:
    from tests.simulation.peer import Peer
    from tests.simulation.server import SimulatedServer
    from tests.simulation.stage import Stage

_WIDEST_S = BANDS[-1][0] / 1000 + 1.0
"""After how long all who fit are found, however far apart ratings are."""
_NEAR = BANDS[0][1]
"""How far apart two ratings may be from the first moment on."""


class Pairings:
    """Holds the lobbies of a world to what players asked of them."""

    def __init__(self, stage: "Stage") -> None:
        self._stage = stage
        self.agreed: dict[int, wire.SeekRequest] = {}
        """The last seek of each peer that was answered with `ok`, by their number."""

    def watch(self, server: "SimulatedServer") -> None:
        """Look at all that the lobby of a server answers to seeks."""
        lobby = server.hub.lobby
        lobby.accepted = partial(self._accepted, server, lobby.accepted)  # type: ignore[method-assign]
        lobby.challenge = partial(self._challenged, server, lobby.challenge)  # type: ignore[method-assign]
        for name in ("seek", "accept", "tick", "returned", "look_again", "rated"):
            setattr(lobby, name, partial(self._asked, server, lobby, name, getattr(lobby, name)))

    def _asked(self, server: "SimulatedServer", lobby: Lobby, name: str, real: Any, *args: Any, **more: Any) -> Any:
        standing = {seek.player: seek for seek in (*lobby.seeks, *lobby.seeks.hidden())}
        if name == "seek":
            standing[args[0].player] = args[0]
        accepted = lobby.seeks.find(args[0]) if name == "accept" else None
        answer = real(*args, **more)
        for pairing in answer if isinstance(answer, list) else [answer] if answer else []:
            faults = list(
                _faults(server, standing[pairing.first], standing[pairing.second], pairing)
                if accepted is None
                else _faults_of_one(server, accepted, args[1], pairing)
            )
            self._stage.claim(not faults, f"{pairing} is not as it was sought: {faults}")
        if name == "seek" and not answer:
            self._must_wait(server, lobby, args[0])
        return answer

    def _must_wait(self, server: "SimulatedServer", lobby: Lobby, seek: Seek) -> None:
        """Hold that nobody stands whom this seek, which met nobody, could have met."""
        for other in lobby.seeks:
            is_alone = other.player == seek.player or not (may_play(server, seek) and may_play(server, other))
            self._stage.claim(is_alone or not could_meet(server, seek, other), f"{seek} does not meet {other}")

    def _challenged(
        self, server: "SimulatedServer", real: Callable[..., Challenge], by: int, to: int, *args: Any, **more: Any
    ) -> Challenge:
        challenge = real(by, to, *args, **more)
        self._must_be_welcome(server, challenge)
        return challenge

    def _must_be_welcome(self, server: "SimulatedServer", challenge: Challenge) -> None:
        sessions = server.hub.services.players.sessions
        is_blocked = have_blocked(sessions[challenge.by], sessions[challenge.to])
        self._stage.claim(not is_blocked, f"{challenge} stands, and one has blocked the other")

    def _accepted(self, server: "SimulatedServer", real: Callable[[Challenge], Pairing], asked: Challenge) -> Pairing:
        self._must_be_welcome(server, asked)
        pairing = real(asked)
        sides = {0: (asked.by, asked.to), 1: (asked.to, asked.by)}
        is_at_side = asked.side is None or (pairing.first, pairing.second) == sides[asked.side]
        wanted = (asked.game, asked.time, asked.is_rated, asked.level, asked.start)
        is_as_asked = wanted == (pairing.game, pairing.time, pairing.is_rated, pairing.level, pairing.start)
        is_usual = asked.side is None and asked.level is None and asked.start is None
        may_be = is_usual or not pairing.is_rated
        self._stage.claim(is_at_side and is_as_asked and may_be, f"{asked} led to {pairing}")
        return pairing

    def seek_at_last(self) -> None:
        """Let everybody seek: who is told `ok` plays then, or their seek stands on each node as they made it."""
        stage = self._stage
        self.agreed.clear()
        newest = stage.truth.execute("SELECT coalesce(max(number), 0) FROM matches").fetchone()
        for peer in stage.peers:
            if peer.is_welcome and peer.bot is None:  # our own bots seek by themselves
                peer.say(peer.seeking())
        stage.wait(_WIDEST_S)
        stage.settle()
        for peer in stage.peers:
            asked, player = self.agreed.get(peer.number), stage.player_of(peer.token)
            query = "SELECT 1 FROM matches WHERE number > ? AND ? IN (first, second)"
            if asked is None or peer.bot is not None or stage.truth.execute(query, (*newest, player)).fetchone():
                continue
            for server in stage.running:
                seek = server.hub.listing.standing().of(player or 0)
                self._stage.claim(seek is not None, f"the seek of {peer.name} does not stand at {server.machine}")
                assert seek is not None
                self._stage.claim(_is_as_asked(peer, seek, asked), f"{peer.name} asked for {asked}, {seek} stands")


def have_blocked(one: Session, other: Session) -> bool:
    """Tell whether one of two players has blocked the other."""
    return bool(one.blocks.get(other.player) or other.blocks.get(one.player))


def _is_as_asked(peer: "Peer", seek: Seek, asked: wire.SeekRequest) -> bool:
    is_kind = seek.is_rated == asked.rated or (asked.or_casual and not seek.is_rated)
    is_for = seek.opponents == asked.opponents or (peer.is_bot and seek.opponents == "people")
    games = tuple(dict.fromkeys(game_name(name) for name in asked.games))
    said = (games, asked.time, asked.min_rating, asked.max_rating, asked.level)
    return is_kind and is_for and said == (seek.games, seek.time, seek.min_rating, seek.max_rating, seek.level)


def _faults(server: "SimulatedServer", one: Seek, other: Seek, pairing: Pairing) -> Iterator[str]:
    """Yield what is wrong with a pairing that came of two seeks."""
    yield from _faults_of_one(server, one, other.player, pairing)
    yield from _faults_of_one(server, other, one.player, pairing)
    if one.time != other.time:
        yield "the times differ"


def _faults_of_one(server: "SimulatedServer", seek: Seek, other: int, pairing: Pairing) -> Iterator[str]:
    """Yield what a pairing with that player has that the seek did not ask for."""
    sessions = server.hub.services.players.sessions
    opponent, own = sessions[other], sessions[seek.player]
    if {seek.player, other} != {pairing.first, pairing.second}:
        yield "others are paired"
    if have_blocked(own, opponent):
        yield "one has blocked the other"
    if pairing.time != seek.time or (seek.games and pairing.game not in seek.games):
        yield "another game, or time"
    if seek.opponents != "any" and (seek.opponents == "bots") != opponent.is_bot:
        yield f"the opponent is not one of {seek.opponents}"
    rating = opponent.rating_at(pairing.game, pairing.time)
    if not (seek.min_rating or 0) <= rating <= (5_000 if seek.max_rating is None else seek.max_rating):
        yield f"the opponent has {rating}"
    if pairing.is_rated and (not seek.is_rated or own.is_guest or opponent.is_guest):
        yield "it is rated"
    if pairing.is_rated and seek.or_casual and own.is_bot != opponent.is_bot:
        yield "it is rated, and one of them is a bot"
    if not pairing.is_rated and seek.is_rated and not seek.or_casual:
        yield "it is casual"
    plays_it = opponent.any_level or opponent.info.level == seek.level
    if seek.level is not None and (pairing.is_rated or (opponent.is_bot and not plays_it)):
        yield "the bot does not play at that level"


def may_play(server: "SimulatedServer", seek: Seek) -> bool:
    """Tell whether a person who seeks may have one more match."""
    services = server.hub.services
    session = services.players.sessions[seek.player]
    busy = len(session.live) + services.players.starting[seek.player]
    is_bot = session.places is not None or seek.is_bot
    return services.shutdown.lets_begin and not is_bot and busy < services.limits.max_live_matches


def could_meet(server: "SimulatedServer", one: Seek, other: Seek) -> bool:
    """Tell whether the seeks of two people suit each other, so that they cannot both go on standing."""
    sessions = server.hub.services.players.sessions
    both = (one, other)
    services = server.hub.services
    if services.aborts.are_apart(one.player, other.player, services.now_ms()):
        return False
    if have_blocked(sessions[one.player], sessions[other.player]):
        return False
    if one.time != other.time or any(seek.opponents == "bots" for seek in both):
        return False
    kinds = [{True, False} if seek.is_rated and seek.or_casual else {seek.is_rated} for seek in both]
    common = kinds[0] & kinds[1]
    if not common or (common == {True} and not server.hub.services.configuration.rates_same_address):
        return False
    for game in set(one.games) & set(other.games):
        ratings = [sessions[seek.player].rating_at(game, one.time) for seek in both]
        is_near = abs(ratings[0] - ratings[1]) <= _NEAR
        if is_near and all(seek.admits(ratings[1 - index]) for index, seek in enumerate(both)):
            return True
    return False
