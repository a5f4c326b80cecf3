"""Pinned fingerprints, and the question before that."""

from pathlib import Path

import pytest

from tests.client.fake_server import fake_server
from tests.server.encrypted_peer import Authority
from ttt_net.client.server_link import is_accepted
from ttt_net.sdk import identity
from ttt_net.sdk.certificate_pinning import FILE, MAX_CERTIFICATES, certificate_at, pin, pinned_fingerprint

HEX = "ab" * 32


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(identity.HOME_VARIABLE, str(tmp_path))
    return tmp_path


def test_a_pin_is_remembered_for_that_host_and_port_alone() -> None:
    assert pinned_fingerprint("example.org:8765") is None
    pin("example.org:8765", HEX)
    assert pinned_fingerprint("example.org:8765") == HEX
    assert pinned_fingerprint("example.org:443") is None
    for number in range(2 * MAX_CERTIFICATES):
        pin(f"h{number}:1", HEX)
    assert pinned_fingerprint("example.org:8765") is None, "of very many the oldest are forgotten"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"example.org:8765": 5}', '{"example.org:8765": "abc"}'])
def test_a_spoilt_file_pins_nothing(home: Path, text: str) -> None:
    (home / FILE).write_text(text)
    assert pinned_fingerprint("example.org:8765") is None
    pin("example.org:8765", HEX)
    assert pinned_fingerprint("example.org:8765") == HEX


@pytest.mark.parametrize(
    ("answer", "is_good"), [("yes", True), (" Y ", True), ("", False), ("no", False), ("a", False)]
)
def test_only_a_yes_takes_the_certificate_that_is_shown(answer: str, *, is_good: bool) -> None:
    written: list[str] = []
    assert is_accepted("wss://h", "it is bad", HEX, lambda question: answer, written.append) is is_good
    assert HEX in "".join(written).replace(" ", "")
    assert written[0].startswith("wss://h: it is bad")


async def test_who_shows_a_certificate_is_told_nothing(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    async with fake_server(tls=authority.certificate.context) as server:
        assert await certificate_at(server.url) == authority.certificate.fingerprint
        assert not server.heard
    assert await certificate_at(server.url) is None
