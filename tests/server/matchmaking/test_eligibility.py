"""Whom the house takes for one, where two of one address may play no rated matches."""

from collections import Counter
from typing import cast

import pytest

from ttt_net.errors import Refusal
from ttt_net.messages import PlayerInfo
from ttt_net.pairing.seek import Seek
from ttt_net.server.accounts.session import Session
from ttt_net.server.admission.rate_limiter import RateLimiter
from ttt_net.server.matchmaking.eligibility import Eligibility
from ttt_net.server.settings.limits import Limits
from ttt_net.server.wire.connection import Connection


class Line:
    """A connection from an address."""

    def __init__(self, address: str) -> None:
        self.address = address


class Place:
    """A server with two players, who do nothing."""

    limits = Limits(rated_same_address=False)
    quotas = RateLimiter(limits, lambda: 0)

    def __init__(self, *addresses: str) -> None:
        self.starting: Counter[int] = Counter()
        self.sessions = {
            number: Session(cast(Connection, Line(address)), number, PlayerInfo(f"P{number}"))
            for number, address in enumerate(addresses)
        }

    def occupied(self, session: Session) -> int:
        return 0

    def may_begin(self) -> None:
        pass

    def is_leaving(self, player: int) -> bool:
        return False


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
def test_an_ipv6_customer_is_one_address_however_many_he_has(one: str, other: str, *, is_one: bool) -> None:
    eligibility = Eligibility(Place(one, other))
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
