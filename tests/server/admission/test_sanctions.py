"""Bans, their durations, and the addresses that a network covers."""

import pytest

from ttt_net.errors import Code, Refusal
from ttt_net.messages import Sanctioned
from ttt_net.server.admission.sanctions import Act, Sanction, Sanctions, Subject, network_to_ban

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
        ("10.0.0.0/8", "10.0.0.0/8"),
        ("2001::/16", "2001::/16"),
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


def test_sanctioned_players_see_the_end_and_the_reason() -> None:
    assert ban("player:1").sentence() == "you are banned from this server for good: swearing"
    assert ban("player:1", 1_795_254_000_000).sentence().endswith("until 2026-11-21 09:40 UTC: swearing")


def test_an_address_goes_by_a_hash_that_needs_the_key_and_covers_its_64() -> None:
    sanctions, others = Sanctions(lambda: 0, KEY), Sanctions(lambda: 0, b"another key")
    key = sanctions.key_of_address("2001:db8::7")
    assert key is not None
    assert key == sanctions.key_of_address("2001:db8::ffff:1")
    assert key != sanctions.key_of_address("2001:db8:0:1::7")
    assert key != others.key_of_address("2001:db8::7")
    assert "2001" not in key
    assert sanctions.key_of_address("192.0.2.7") == sanctions.key_of_address("::ffff:192.0.2.7")
    assert sanctions.key_of_address("unknown") is None
    sanctions.add([Sanction("ban", key, "Ann", "", 0, None, 1)])
    assert sanctions.on_address("ban", "2001:db8::abcd")
    assert sanctions.on_address("ban", "2001:db8:0:1::abcd") is None
    assert sanctions.on_address("mute", "2001:db8::abcd") is None


def test_a_new_decision_takes_the_place_of_all_of_its_kind_for_the_player() -> None:
    sanctions = Sanctions(lambda: 0, KEY)
    key = str(sanctions.key_of_address("192.0.2.7"))
    first = ban("player:1")
    sanctions.impose([first, first._replace(whom=key)])
    sanctions.impose([first._replace(act="mute"), first._replace(until_ms=5)])
    assert sanctions.on_address("ban", "192.0.2.7") is None
    assert {(each.act, each.whom, each.until_ms) for each in sanctions.in_force()} == {
        ("mute", "player:1", None),
        ("ban", "player:1", 5),
    }
    assert sanctions.lift("ban", "", 1)
    assert [each.act for each in sanctions.in_force()] == ["mute"]


def test_sanctions_that_expired_before_a_newer_one_are_dropped_even_if_the_clock_is_behind() -> None:
    sanctions = Sanctions(lambda: 0, KEY)
    sanctions.impose([ban("player:1", 5), ban("player:2", 7)])
    sanctions.impose([ban("player:3")._replace(since_ms=6)])
    assert [each.player for each in sanctions.in_force()] == [3, 2]


def test_a_deleted_player_is_banned_by_their_token_without_a_name() -> None:
    sanctions = Sanctions(lambda: 0, KEY)
    token_key = sanctions.key_of_token(b"hash")
    sanctions.impose([ban("player:1")])
    sanctions.forgotten(1, token_key)
    sanctions.renamed(1, "deleted")
    assert sanctions.on("ban", subject(1), "") is None
    assert sanctions.on("ban", subject(2, token_key), "")
    assert sanctions.on_token("ban", token_key)
    assert [each.title for each in sanctions.in_force()] == ["deleted #1"]


@pytest.mark.parametrize(
    ("act", "reason", "until_ms", "sentence", "left_ms"),
    [
        ("ban", "", None, "you are banned from this server for good", None),
        ("ban", "spam", 60_000, "you are banned from this server until 1970-01-01 00:01 UTC: spam", 59_000),
        ("mute", "", 500, "you are not allowed to chat on this server until 1970-01-01 00:00 UTC", 1),
    ],
)
def test_a_sanction_says_what_it_forbids_and_for_how_long(
    act: Act, reason: str, until_ms: int | None, sentence: str, left_ms: int | None
) -> None:
    sanction = Sanction(act, "player:1", "Ann", reason, 0, until_ms, 1)
    refusal = sanction.refusal(1_000)
    assert (refusal.code, str(refusal), refusal.retry_after_ms) == (
        Code.BANNED if act == "ban" else Code.MUTED,
        sentence,
        left_ms,
    )
    assert sanction.message(1_000, lifted=True) == Sanctioned(act, left_ms, reason, True)


def test_nothing_is_read_or_missing_at_the_start() -> None:
    sanctions = Sanctions(lambda: 0, KEY)
    assert (sanctions.are_read, sanctions.are_missing) == (False, False)


def test_an_address_of_another_node_stands_for_itself_and_for_its_network() -> None:
    sanctions = Sanctions(lambda: 0, KEY)
    key = sanctions.key_of_address("192.0.2.7")
    assert key is not None
    assert sanctions.key_of_address(key) == key
    networks = [sanctions.key_of_network(each) for each in ("192.0.2.7", "192.0.2.200", "192.0.3.7", key, "evil")]
    assert networks[0] == networks[1]
    assert len({*networks}) == 4
    assert all(networks[:-1])
    assert networks[-1] == ""


def test_sanctions_that_expired_by_another_nodes_clock_are_dropped() -> None:
    sanctions = Sanctions(lambda: 5, KEY)
    old, other = ban("player:1", until_ms=10), ban("player:2", until_ms=10)
    for each in (old, other):
        sanctions.add([each, each._replace(act="mute")])
    sanctions.ran_out("ban", "player:1", 1)
    assert {(each.act, each.whom) for each in sanctions.in_force()} == {
        ("mute", "player:1"), ("ban", "player:2"), ("mute", "player:2"),
    }  # fmt: skip
    sanctions.impose([ban("player:3")._replace(since_ms=10)])
    assert [each.whom for each in sanctions.in_force()] == ["player:3"]


def test_of_several_banned_networks_each_holds_and_each_is_lifted_alone() -> None:
    sanctions = Sanctions(lambda: 0, KEY)
    whom = ["192.0.2.0/24", "198.51.100.0/24", "2001:db8::/48"]
    sanctions.add([ban(each) for each in whom])
    sanctions.add([ban(whom[0])._replace(act="mute")])
    addresses = ["192.0.2.7", "198.51.100.7", "2001:db8::7"]
    assert all(sanctions.on_address("ban", each) for each in addresses)
    assert sanctions.lift("ban", whom[0], None)
    assert not sanctions.lift("ban", whom[0], None)
    assert [bool(sanctions.on_address("ban", each)) for each in addresses] == [False, True, True]
    assert sanctions.on_address("mute", addresses[0])
