"""Players that count as one where two of one address may play no rated matches."""

import asyncio
import random
from typing import cast

import pytest

from ttt_net.errors import Refusal
from ttt_net.messages import PlayerInfo
from ttt_net.pairing.seeks import Seek
from ttt_net.server.accounts.online_players import Session
from ttt_net.server.journal import Journal, MemoryLedger
from ttt_net.server.matchmaking.eligibility import Eligibility
from ttt_net.server.services import build_services
from ttt_net.server.settings.configuration import Configuration, Limits
from ttt_net.server.wire.connection import Connection


class Line:
    """A connection from an address."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.metered_as = None


def between(*addresses: str) -> Eligibility:
    """Return who may play whom where two players are connected, who do nothing."""
    settings = Configuration(limits=Limits(rated_same_address=False))
    journal, loop = Journal(MemoryLedger()), cast(asyncio.AbstractEventLoop, None)
    services = build_services(settings, journal, loop, lambda: 0, random.Random(1))
    for number, address in enumerate(addresses):
        services.players.add(Session(cast(Connection, Line(address)), number, PlayerInfo(f"P{number}")))
    return Eligibility(services, {})


@pytest.mark.parametrize(
    ("one", "other", "is_one"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
    ],
)
def test_an_ipv6_customer_is_one_address_however_many_they_have(one: str, other: str, *, is_one: bool) -> None:
    eligibility = between(one, other)
    rated, casual = (
        [Seek(player=player, is_bot=False, games=("connect4",), time=None, is_rated=is_rated) for player in (0, 1)]
        for is_rated in (True, False)
    )
    assert eligibility.may_be_paired(*rated) is not is_one
    assert eligibility.may_be_paired(*casual)
    if is_one:
        with pytest.raises(Refusal, match="one address"):
            eligibility.must_be_elsewhere(0, 1)
    else:
        eligibility.must_be_elsewhere(0, 1)
