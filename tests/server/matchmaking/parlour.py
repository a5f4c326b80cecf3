"""A house for tests of the lobby."""

from typing import Any

from tests.server.house import Caller, House
from ttt_net import messages as wire
from ttt_net.server.settings.configuration import Rate

OFTEN = dict.fromkeys(("matches", "challenges", "codes", "registrations", "renames"), Rate(1_000_000))


class Parlour(House):
    """A house whose limits are not reached, and whose clock a test puts forward."""

    def __init__(self, **limits: Any) -> None:
        super().__init__(**{**OFTEN, "unmetered": ("192.0.0.0/16",), **limits})

    def people(self, *names: str, **who: Any) -> list[Caller]:
        """Let people come, and forget what they were told."""
        links = [self.hello(self.caller(f"192.0.{number}.7"), name=name, **who) for number, name in enumerate(names)]
        self.deliver()
        for link in links:
            link.take()
        return links

    def do(self, link: Caller, request: wire.AnyRequest) -> list[str]:
        """Ask, and return the kinds of what was told; the journal does not answer yet."""
        self.ask(link, request)
        return link.take()

    def later(self, ms: int) -> None:
        """Let time pass, and look after the lobby."""
        self.now_ms += ms
        self.loop.run_until(self.loop.time() + ms / 1_000, 1_000_000)
        self.hub.matchmaker.tick()
        self.loop.run_until(self.loop.time() + 0.01, 1_000_000)
        self.deliver()
        assert self.loop.errors == []

    def ask_to_play(self, one: Caller, other: Caller, game: str = "tictactoe", **wish: Any) -> None:
        """Let one challenge the other, who accepts; the match is not written yet."""
        self.ask(one, wire.ChallengeRequest(9, other.known_as.info.name, game, **wish))
        self.ask(other, wire.AnswerRequest(9, other.numbers()[-1], True))

    def begin(self, one: Caller, other: Caller, game: str = "tictactoe", **wish: Any) -> str:
        """Let two play; return the match."""
        self.ask_to_play(one, other, game, **wish)
        self.deliver()
        return shown(one)[-1].match

    def tell(self, link: Caller, request: wire.AnyRequest) -> list[str]:
        """Ask, and return what was told until the journal has answered."""
        link.take()
        self.ask(link, request)
        self.deliver()
        return link.take()

    def play(self, match: str, *links: Caller, plies: int = 1) -> None:
        """Make moves from the first on, with the players in any order."""
        movers = self.by_side(match, *links)
        for ply in range(plies):
            assert "ok" in self.tell(movers[ply % 2], wire.PlayRequest(9, match, ply, ply))

    def by_side(self, match: str, *links: Caller) -> list[Caller]:
        """Return the links of the two players of a match, the one who moves first in front."""
        players = self.hub.registry.rooms[match].seats.both
        return sorted(links, key=lambda link: players.index(link.known_as.player))


def shown(link: Caller) -> list[wire.Snapshot]:
    return [each for each in link.heard if isinstance(each, wire.Snapshot)]


def number_of(link: Caller) -> int:
    return link.known_as.player
