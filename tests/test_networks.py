from hypothesis import given
from hypothesis import strategies as st

from ttt_net.networks import MAX_ADDRESSES, Announcement, read_announcement
from ttt_net.text import clean


def as_heard(announcement: Announcement) -> Announcement | None:
    properties = {key.encode(): value.encode() for key, value in announcement.properties().items()}
    return read_announcement(announcement.port, announcement.addresses, properties)


def test_announcements_are_read_back_unchanged() -> None:
    announcement = Announcement("Friday", 8765, ("192.0.2.1", "198.51.100.7"), 3, 1, "0.1.0", is_secure=True)
    assert as_heard(announcement) == announcement


def test_an_announcement_that_leads_nowhere_is_none() -> None:
    assert read_announcement(None, ["192.0.2.1"], {}) is None
    assert read_announcement(0, ["192.0.2.1"], {}) is None
    assert read_announcement(8765, ["224.0.0.1", "0.0.0.0", "127.0.0.1", "255.255.255.255", "fe80::1", "x"], {}) is None


def test_addresses_are_bounded_and_a_silent_server_has_a_name_all_the_same() -> None:
    read = read_announcement(1, [f"192.0.2.{number}" for number in range(1, 100)], {})
    assert read is not None
    assert len(read.addresses) == MAX_ADDRESSES
    assert read.name == "a server without a name"


@given(
    st.integers(-1, 70_000),
    st.lists(st.ip_addresses().map(str) | st.text(max_size=20)),
    st.dictionaries(
        st.sampled_from([b"name", b"players", b"matches", b"version", b"tls", b"other"]),
        st.none() | st.binary(max_size=255) | st.text(max_size=60).map(lambda text: text.encode(errors="replace")),
    ),
)
def test_any_announcement_is_read_clean_and_bounded(
    port: int, addresses: list[str], properties: dict[bytes, bytes | None]
) -> None:
    read = read_announcement(port, addresses, properties)
    if read is None:
        return
    assert read.name == clean(read.name, 40) != ""
    assert read.version == clean(read.version, 20)
    assert 0 <= read.players <= 1_000_000
    assert 0 <= read.matches <= 1_000_000
    assert 1 <= read.port <= 65_535
    assert 1 <= len(read.addresses) <= MAX_ADDRESSES
