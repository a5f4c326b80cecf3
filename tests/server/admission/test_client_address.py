"""Clients behind a proxy, and addresses that count as one; anybody can write headers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_net.server.admission.client_address import (
    UNKNOWN,
    caller_of,
    coarse,
    is_among,
    network_at,
    network_of,
    networks,
    shown,
    wider_networks,
)

PROXIES = networks(["10.0.0.1", "10.0.0.2", "fd00::/8"])


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
        ("", UNKNOWN),
        ("192.0.2", UNKNOWN),
        ("evil", UNKNOWN),
    ],
)
def test_an_address_counts_by_itself_or_by_its_64_bits(address: str, network: str) -> None:
    assert network_of(address) == network


@pytest.mark.parametrize(
    ("peer", "forwarded", "caller"),
    [
        ("192.0.2.7", ["198.51.100.1"], "192.0.2.7"),  # no proxy of ours: whatever it says is ignored
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("::ffff:10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["127.0.0.1, 198.51.100.1"], "198.51.100.1"),  # what the client wrote stands to the left
        ("10.0.0.1", ["127.0.0.1", "198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["198.51.100.1, 10.0.0.2"], "198.51.100.1"),  # two proxies of ours
        ("10.0.0.1", ["evil, 198.51.100.1, fd00::7, 10.0.0.2"], "198.51.100.1"),
        ("10.0.0.1", ["10.0.0.2"], "10.0.0.2"),  # a proxy that calls for itself
        ("10.0.0.1", ["198.51.100.1:4711"], "198.51.100.1"),
        ("10.0.0.1", ["[2001:db8::1]:4711"], "2001:db8::1"),
        ("10.0.0.1", ["[2001:db8::1]"], "2001:db8::1"),
        ("10.0.0.1", ["2001:db8::1"], "2001:db8::1"),
        ("10.0.0.1", [""], UNKNOWN),
        ("10.0.0.1", ["evil"], UNKNOWN),
        ("10.0.0.1", ["198.51.100.1, evil"], UNKNOWN),
        ("10.0.0.1", ["unknown"], UNKNOWN),
        ("10.0.0.1", ["198.51.100.1\r\nX: y"], UNKNOWN),
        ("10.0.0.1", ["198.51.100.1 198.51.100.2"], UNKNOWN),
        ("10.0.0.1", ["1.2.3.4," * 5_000 + "198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["10.0.0.2," * 5_000 + "10.0.0.2"], "10.0.0.2"),
        ("10.0.0.1", ["٣.2.3.4"], UNKNOWN),
    ],
)
def test_the_caller_is_the_rightmost_address_that_is_no_proxy_of_ours(
    peer: str, forwarded: list[str], caller: str
) -> None:
    assert caller_of(peer, forwarded, PROXIES) == caller


@given(st.lists(st.text("0123456789abcdef.:,[] %\x00é", max_size=60), max_size=4))
def test_output_of_a_client_never_names_the_caller(written: list[str]) -> None:
    """A proxy adds the true address at the end, in a value of its own or after a comma."""
    assert caller_of("10.0.0.1", [*written, "198.51.100.1"], PROXIES) == "198.51.100.1"
    assert caller_of("10.0.0.1", [", ".join([*written, "198.51.100.1"])], PROXIES) == "198.51.100.1"
    assert caller_of("192.0.2.7", written, PROXIES) == "192.0.2.7"
    caller_of("10.0.0.1", written, PROXIES)


@pytest.mark.parametrize(
    ("address", "logged", "for_people", "around"),
    [
        ("192.0.2.7", "192.0.2.0/24", "192.0.2.7", ()),
        ("::ffff:192.0.2.7", "192.0.2.0/24", "192.0.2.7", ()),
        ("2001:db8:1:2::3", "2001:db8:1::/48", "2001:db8:1:2::3", ("2001:db8:1::/56", "2001:db8:1::/48")),
        ("fe80::1%eth0", "fe80::/48", "fe80::1", ("fe80::/56", "fe80::/48")),
        ("evil", UNKNOWN, "evil", ()),
    ],
)
def test_an_address_is_logged_coarsely_shown_plainly_and_lies_in_wider_networks(
    address: str, logged: str, for_people: str, around: tuple[str, ...]
) -> None:
    assert (coarse(address), shown(address), wider_networks(address)) == (logged, for_people, around)


@pytest.mark.parametrize(
    ("address", "version", "length", "network"),
    [
        ("192.0.2.7", 4, 24, "192.0.2.0/24"),
        ("192.0.2.7", 6, 24, None),
        ("2001:db8:1:2::3", 6, 32, "2001:db8::/32"),
        ("2001:db8:1:2::3", 4, 32, None),
        ("evil", 4, 8, None),
        ("evil", 6, 16, None),
    ],
)
def test_a_network_of_an_address_is_of_its_own_version(
    address: str, version: int, length: int, network: str | None
) -> None:
    found = network_at(address, version, length)
    assert (None if found is None else str(found)) == network


@pytest.mark.parametrize(
    ("address", "is_in"),
    [("10.0.0.1", True), ("10.0.0.3", False), ("fd00::9", True), ("fe00::9", False), ("evil", False)],
)
def test_an_address_is_among_networks_if_one_of_them_has_it(address: str, *, is_in: bool) -> None:
    assert is_among(address, PROXIES) is is_in
    assert not is_among(address, [])


def test_networks_are_read_from_texts_and_one_that_is_none_is_named() -> None:
    assert [str(network) for network in networks(["10.0.0.1", "fd00::/8"])] == ["10.0.0.1/32", "fd00::/8"]
    with pytest.raises(ValueError, match="evil"):
        networks(["10.0.0.1", "evil"])
