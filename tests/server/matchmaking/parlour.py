"""A house for tests of the lobby."""

from typing import Any

from tests.server.accounts.house import Caller, House
from ttt_net import messages as wire
from ttt_net.server.settings.setting import Rate

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
