"""A client identifies itself only to servers that it trusts, and pins the certificates that a person accepted."""

import asyncio
import json
import random
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import pytest

from tests.client.fake_server import FakeServer, fake_server
from tests.sdk.linked import Client, client_of
from tests.server.encrypted_peer import Authority
from ttt_net.client.options import parse
from ttt_net.client.server_link import is_accepted
from ttt_net.client.server_search import shareable
from ttt_net.errors import ConfigurationError
from ttt_net.sdk import identity
from ttt_net.sdk import trust as trusts
from ttt_net.sdk.client_connection import ReconnectLimits, certificate_at
from ttt_net.sdk.received import Farewell, Parting
from ttt_net.sdk.trust import FILE, IN_CLEAR, MAX_CERTIFICATES, Trust, is_local, pin, pinned_fingerprint, trust_of

HEX = "ab" * 32
PATIENT = ReconnectLimits(None, None)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.9.9.9",
        "::1",
        "10.1.2.3",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.1.1",
        "fe80::1",
        "fe80::1%eth0",
        "fd12::1",
        "::ffff:192.168.1.1",
    ],
)
def test_the_local_network_is_local(address: str) -> None:
    assert is_local(address)


def test_an_address_of_this_machine_is_local_of_any_kind() -> None:
    with socket.create_server(("", 0)) as listening:
        host, _, _ = shareable(f"localhost:{listening.getsockname()[1]}").rpartition(":")
    assert is_local(host), "the server prints this one for friends, and who runs it tries it first"


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "172.32.0.1",
        "172.15.0.1",
        "192.169.0.1",
        "100.64.0.1",
        "192.0.2.1",
        "2001:db8::1",
        "::ffff:8.8.8.8",
        "localhost",
        "10.0.0",
        "10.0.0.1.example.org",
        "0.0.0.0",
        "::",
    ],
)
def test_all_else_is_not(address: str) -> None:
    assert not is_local(address)


class Routes:
    """A machine with one IPv6 address beyond the local network, as its sockets show it."""

    def __init__(self, family: int, kind: int) -> None:
        self._family, self._own = family, ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def connect(self, address: tuple[str, int]) -> None:
        if self._family != socket.AF_INET6:
            raise OSError
        self._own = "2001:db8::7%eth0"

    def getsockname(self) -> tuple[str, int, int, int]:
        return self._own, 9, 0, 0


def test_an_ipv6_address_of_this_machine_is_local_and_others_that_it_reaches_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trusts, "socket", SimpleNamespace(**{**vars(socket), "socket": Routes}))
    assert is_local("2001:db8::7")
    assert not is_local("2001:db8::8")
    assert not is_local("198.51.100.7")


class Transport:
    """A connection of which little is known."""

    def __init__(self, **known: object) -> None:
        self._known = known

    def get_extra_info(self, what: str) -> Any:
        return self._known.get(what)


@pytest.mark.parametrize(
    ("trust", "known", "objection"),
    [
        (Trust(), {}, IN_CLEAR),
        (Trust(), {"peername": ("192.168.1.7", 1)}, None),
        (Trust(is_insecure=True), {}, None),
        (Trust(), {"ssl_object": SimpleNamespace()}, None),
        (
            Trust(HEX),
            {"ssl_object": SimpleNamespace(getpeercert=lambda *, binary_form: None)},
            "its certificate has another fingerprint",
        ),
    ],
)
def test_a_peer_without_an_address_or_a_certificate_is_not_trusted(
    trust: Trust, known: dict[str, object], objection: str | None
) -> None:
    found = trust.objection(Transport(**known))  # type: ignore[arg-type]
    assert found == objection or (found and objection and found.startswith(objection))


def test_an_address_without_a_host_is_left_to_the_connection() -> None:
    assert trust_of("ws://", None, is_insecure=False) == Trust()


def test_a_public_address_in_clear_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(ConfigurationError) as raised:
        parse(["198.51.100.7"])
    assert str(raised.value) == f"ws://198.51.100.7:8765: {IN_CLEAR}"
    assert parse(["198.51.100.7", "--insecure"]).trust == Trust(is_insecure=True)
    assert parse(["wss://198.51.100.7"]).trust == Trust()
    assert parse(["192.168.1.7"]).trust == Trust()
    assert parse(["play.example.org"]).trust == Trust(), "for a name, it is seen who answers"


def test_a_fingerprint_is_read_as_people_write_it_and_comes_back_in_the_command() -> None:
    colons = ":".join(["AB"] * 32)
    options = parse(["wss://play.example.org", "--tls-fingerprint", colons])
    assert options.trust == Trust(HEX)
    assert options.command == f"python client.py wss://play.example.org --tls-fingerprint {HEX}"
    for wrong in ("", "ab", HEX + "a", "x" * 64, "SHA256:" + HEX, HEX + "\x1b[2J"):
        with pytest.raises(ConfigurationError, match="64 hexadecimal digits") as raised:
            parse(["wss://play.example.org", "--tls-fingerprint", wrong])
        assert "\x1b" not in str(raised.value)
    with pytest.raises(ConfigurationError, match="for encrypted servers"):
        trust_of("ws://127.0.0.1", HEX, is_insecure=False)


async def farewell(server: FakeServer, trust: Trust | None = None) -> Farewell:
    """Let a client with a token try, and return its farewell; the server must not hear a word."""
    async with client_of(server, PATIENT, "secret", trust) as client:
        ending = await client.comes_to(Farewell)
        assert ending.why is Parting.DISTRUSTED, "there is nothing wrong with the address or a firewall"
    assert not server.heard
    return ending


async def test_an_untrusted_certificate_is_refused_and_a_fingerprint_helps(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    async with fake_server(tls=authority.certificate.context) as server:
        ending = await farewell(server)
        assert ending.sentence.startswith("its certificate is not trusted (")
        assert "--tls-fingerprint" in ending.sentence
        fingerprint = authority.certificate.fingerprint
        async with client_of(server, PATIENT, "secret", Trust(fingerprint)):
            assert (await (await server.accepts()).lets_in()).token == "secret"


async def test_nothing_is_sent_to_a_certificate_with_another_fingerprint(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    async with fake_server(tls=authority.certificate.context) as server:
        ending = await farewell(server, Trust(HEX))
        shown = authority.certificate.fingerprint
        assert ending.sentence.startswith(f"its certificate has another fingerprint, {shown}; ask its host")


@pytest.mark.parametrize("names", [("other.example",), ("127.0.0.2",)])
async def test_a_certificate_of_somebody_else_is_refused(
    tmp_path: Path, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority(tmp_path, *names)
    monkeypatch.setattr(trusts, "checking", authority.trusting)
    async with fake_server(tls=authority.certificate.context) as server:
        assert "IP address mismatch" in (await farewell(server)).sentence


async def test_an_expired_certificate_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = Authority(tmp_path, is_expired=True)
    monkeypatch.setattr(trusts, "checking", authority.trusting)
    async with fake_server(tls=authority.certificate.context) as server:
        assert "certificate has expired" in (await farewell(server)).sentence


async def test_a_certificate_that_the_system_trusts_needs_no_confirmation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority(tmp_path)
    monkeypatch.setattr(trusts, "checking", authority.trusting)
    async with fake_server(tls=authority.certificate.context) as server, client_of(server, PATIENT, "secret"):
        assert (await (await server.accepts()).lets_in()).token == "secret"


async def test_no_token_is_sent_in_clear_to_a_name_beyond_the_local_network(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trusts, "is_local", lambda address: False)
    async with fake_server() as server:
        assert (await farewell(server)).sentence == IN_CLEAR
    async with fake_server() as server, client_of(server, PATIENT, "secret", Trust(is_insecure=True)):
        assert (await (await server.accepts()).lets_in()).token == "secret"


Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def answered(*lines: str) -> str:
    """Return what a client says of a server that answers its opening with these lines."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write("\r\n".join(lines).encode())
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        client = Client(f"ws://127.0.0.1:{port}", ReconnectLimits(0, 0), "secret")
        await client.connection.run()
        return (await client.comes_to(Farewell)).sentence


async def test_a_redirect_is_not_followed() -> None:
    async with fake_server() as elsewhere:
        said = await answered("HTTP/1.1 302 Found", f"Location: {elsewhere.url}", "Content-Length: 0", "", "")
        assert said == "the server there is not a ttt_net server"
        assert not elsewhere.heard


async def test_a_servers_refusal_is_shown_without_control_characters() -> None:
    text = "Content-Type: text/plain"
    assert await answered("HTTP/1.1 429 Slow", text, "Content-Length: 7", "", "\x1b[2J\x07no") == "[2Jno"
    assert await answered("HTTP/1.1 503 Full", text, "Content-Length: 9", "", "come back") == "come back"
    assert await answered("HTTP/1.1 503 Full", "Content-Length: 4", "", "<p/>") == "the server is not ready (HTTP 503)"
    said = await answered("HTTP/1.1 400 No", text, "Content-Length: 16", "", "write https://\r\n")
    assert said == "the server there refused the connection: write https://"


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
def test_only_a_yes_accepts_the_shown_certificate(answer: str, *, is_good: bool) -> None:
    written: list[str] = []
    assert is_accepted("wss://h", "it is bad", HEX, lambda question: answer, written.append) is is_good
    assert HEX in "".join(written).replace(" ", "")
    assert written[0].startswith("wss://h: it is bad")


async def test_reading_a_certificate_sends_nothing(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    async with fake_server(tls=authority.certificate.context) as server:
        assert await certificate_at(server.url) == authority.certificate.fingerprint
        assert not server.heard
    assert await certificate_at(server.url) is None


@pytest.mark.parametrize("seed", range(3))
def test_pins_are_as_in_a_list_of_the_newest(home: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr(trusts, "MAX_CERTIFICATES", 3)
    rng, kept = random.Random(seed), dict[str, str]()

    def pinned(server: str, value: str) -> None:
        kept.pop(server, None)
        kept[server] = value
        if len(kept) > 3:
            del kept[next(iter(kept))]

    for _ in range(200):
        server, fingerprint = rng.choice("abcde"), rng.choice([HEX, "cd" * 32])
        match rng.randrange(3):
            case 0:
                pin(server, fingerprint)
                pinned(server, fingerprint)
            case 1:
                trusts.note_vouched(server)
                if kept.get(server) != "vouched":
                    pinned(server, "vouched")
            case _:
                trusts.replace_pin(server, fingerprint)
                if kept.get(server, fingerprint) != fingerprint:
                    pinned(server, fingerprint)
        assert list(json.loads((home / FILE).read_text()).items() if kept else ()) == list(kept.items())
        for each in "abcde":
            assert trusts.was_vouched(each) == (kept.get(each) == "vouched")
            assert pinned_fingerprint(each) == (None if kept.get(each) == "vouched" else kept.get(each))
