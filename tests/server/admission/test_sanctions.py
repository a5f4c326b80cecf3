"""Who is banned, for how long, and which addresses a network covers."""

import pytest

from ttt_net.errors import Refusal
from ttt_net.server.admission.sanctions import Sanction, Sanctions, Subject, network_to_ban

KEY = b"a key"


def ban(whom: str, until_ms: int | None = None) -> Sanction:
    player = int(whom.removeprefix("player:")) if whom.startswith("player:") else None
    return Sanction("ban", whom, whom, "swearing", 0, until_ms, player)


def subject(player: int, token_key: str = "token:none") -> Subject:
    return Subject(player, token_key)


@pytest.mark.parametrize(
    ("text", "network"),
    [
        ("192.0.2.7", "192.0.2.7/32"),
        ("192.0.2.7/24", "192.0.2.0/24"),
        ("2001:db8::7", "2001:db8::/64"),
        ("2001:db8::/48", "2001:db8::/48"),
        ("2001:db8::7/128", "2001:db8::/64"),
        ("Ann", None),
        ("name:192.0.2.7", None),
        ("", None),
    ],
)
def test_a_text_is_a_network_or_a_name(text: str, network: str | None) -> None:
    assert network_to_ban(text) == network


@pytest.mark.parametrize("text", ["0.0.0.0/0", "10.0.0.0/7", "::/0", "2001::/15"])
def test_a_slip_that_would_ban_half_the_world_is_refused(text: str) -> None:
    with pytest.raises(Refusal, match="too wide"):
        network_to_ban(text)


@pytest.mark.parametrize(
    ("whom", "address", "is_banned"),
    [
        ("192.0.2.7/32", "192.0.2.7", True),
        ("192.0.2.7/32", "::ffff:192.0.2.7", True),
        ("192.0.2.7/32", "192.0.2.8", False),
        ("192.0.2.0/24", "192.0.2.200", True),
        ("2001:db8::/64", "2001:db8::9", True),
        ("2001:db8::/64", "2001:db8::9%eth0", True),
        ("2001:db8::/64", "2001:db8:0:1::9", False),
        ("192.0.2.7/32", "unknown", False),
        ("192.0.2.7/32", "", False),
    ],
)
def test_a_banned_network_covers_its_addresses(whom: str, address: str, is_banned: bool) -> None:
    sanctions = Sanctions(lambda: 0, KEY)
    sanctions.add([ban("198.51.100.0/24"), ban(whom), ban("2001:db8:f::/48")])
    assert (sanctions.on_address("ban", address) is not None) is is_banned


def test_a_ban_runs_out_and_can_be_lifted() -> None:
    now = [0]
    sanctions = Sanctions(lambda: now[0], KEY)
    sanctions.add([ban("player:1", 1_000), ban("player:2"), Sanction("mute", "player:3", "Cid", "", 5, None, 3)])
    assert sanctions.on("ban", subject(1), "")
    assert sanctions.on("ban", subject(3), "") is None
    assert sanctions.on("mute", subject(3), "")
    now[0] = 1_000
    assert sanctions.on("ban", subject(1), "") is None
    assert [each.whom for each in sanctions.in_force()] == ["player:3", "player:2"]
    assert sanctions.lift("ban", "player:2", 2)
    assert not sanctions.lift("ban", "player:2", 2)
    assert sanctions.on("ban", subject(2), "") is None


def test_the_one_concerned_is_told_until_when_and_why() -> None:
    assert ban("player:1").sentence() == "you are banned from this server for good: swearing"
    assert ban("player:1", 1_795_254_000_000).sentence().endswith("until 2026-11-21 09:40 UTC: swearing")
