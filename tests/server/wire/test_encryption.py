"""TLS: play goes on as without it, and so do all the bounds that hold a bad peer."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.patience import BUSY_S
from tests.server.encrypted_peer import Authority, EncryptedPeer
from tests.server.peer import HANDSHAKE, PING, Peer, RawPeer, client_frame, said
from tests.server.running import Server, running, until
from ttt_net.errors import ConfigurationError
from ttt_net.server.settings import listening as certificates
from ttt_net.server.settings.configuration import Configuration, Limits, Rate, Tls
from ttt_net.server.settings.listening import certificate_for, fingerprint_of
from ttt_net.server.wire.connection import Connection
from ttt_net.server.wire.encryption import TlsLayer
from ttt_net.server.wire.frames import frame

FAST = Limits(messages=Rate(1_000_000), dead_after_s=600, stalled_s=600)


@contextlib.asynccontextmanager
async def encrypted(folder: Path, limits: Limits | None = None) -> AsyncIterator[tuple[Server, Authority]]:
    """Run a server with a certificate of a test's own authority."""
    authority = Authority(folder)
    async with running(folder / "data", limits, authority=authority) as server:
        yield server, authority


async def test_a_match_is_played_over_tls(tmp_path: Path) -> None:
    async with encrypted(tmp_path) as (server, _):
        one, other = await server.join("Ann"), await server.join("Bob")
        first, second, match = await server.match(one, other)
        await first.play(match, (first, 0), (second, 3), (first, 1), (second, 4), (first, 2))
        assert (await second.hear("ended", match=match))["winner"] == 0
        await first.close()
        assert first.socket.close_code == 1000
        await until(lambda: len(server.connections) == 1)


@pytest.mark.parametrize("suites", ["AES128-GCM-SHA256", "ECDHE+AES:!AESGCM:!AESCCM", "AES128-SHA"])
async def test_suites_without_forward_secrecy_and_with_cbc_are_not_spoken(tmp_path: Path, suites: str) -> None:
    async with encrypted(tmp_path) as (server, authority):
        context = authority.trusting()
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers(suites)
        with pytest.raises(ssl.SSLError):
            await Peer.connect(server.url, context)
        context.set_ciphers("ECDHE+AESGCM")
        await (await Peer.connect(server.url, context)).close()


async def test_a_public_server_with_its_own_certificate_sends_hsts(tmp_path: Path) -> None:
    for is_public in (True, False):
        (tmp_path / str(is_public)).mkdir()
        authority = Authority(tmp_path / str(is_public))
        tls = Tls(cert=authority.cert, key=authority.key)
        configuration = Configuration(name="test", public=is_public, tls=tls)
        async with running(tmp_path / str(is_public), configuration=configuration, authority=authority) as server:
            peer = await server.raw()
            await peer.send(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert (b"Strict-Transport-Security: max-age=31536000" in await peer.read_head()) is is_public


async def test_a_client_that_does_not_know_the_authority_stays_away(tmp_path: Path) -> None:
    async with encrypted(tmp_path) as (server, _):
        with pytest.raises(ssl.SSLCertVerificationError):
            await Peer.connect(server.url, ssl.create_default_context())
        await until(lambda: not server.connections)


async def test_a_reloaded_certificate_serves_new_connections_and_keeps_the_others(tmp_path: Path) -> None:
    async with encrypted(tmp_path) as (server, authority):
        ann = await server.join("Ann")
        old = authority.certificate.fingerprint
        authority.renew()
        assert authority.certificate.reload()
        bob = await server.join("Bob")
        assert [shown(peer) == old for peer in (ann, bob)] == [True, False]
        assert shown(bob) == authority.certificate.fingerprint
        await ann.ok("ping")


async def test_a_certificate_that_is_no_good_leaves_the_one_that_there_is(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with encrypted(tmp_path) as (server, authority):
        old = authority.certificate.fingerprint
        authority.key.write_text("not a key")
        assert not authority.certificate.reload()
        assert "the certificate in use stays" in caplog.text
        assert shown(await server.join("Ann")) == old


def shown(peer: Peer) -> str:
    """Return the fingerprint of the certificate that the client was shown."""
    import hashlib

    der = peer.socket.transport.get_extra_info("ssl_object").getpeercert(binary_form=True)
    return hashlib.sha256(der).hexdigest()


async def test_a_handshake_of_tls_that_is_silent_drips_or_never_ends_is_cut(tmp_path: Path) -> None:
    async with encrypted(tmp_path, Limits(handshake_s=60)) as (server, _):
        silent, dripping, endless = [await server.plain() for _ in range(3)]
        await until(lambda: len(server.connections) == 3)
        await dripping.send(b"\x16\x03\x01\x02")
        # A record that says it is a ClientHello of 65,535 bytes, and more records of it than a handshake may have.
        await endless.send(b"\x16\x03\x01\x40\x00\x01\x00\xff\xff" + bytes(0x4000 - 4) + b"\x16\x03\x01\x40\x00" * 2)
        assert await endless.read_to_end() in (b"", b"\x15\x03\x01\x00\x02\x02\x2f", b"\x15\x03\x03\x00\x02\x02\x2f")
        await until(lambda: len(server.connections) == 2)
        server.tick(server.hub.limits.handshake_s / 2)
        assert len(server.connections) == 2
        server.tick(server.hub.limits.handshake_s + 0.1)
        assert await silent.read_to_end() == await dripping.read_to_end() == b""
        await until(lambda: not server.connections)


async def test_tls_without_an_opening_of_websocket_is_cut_in_time_too(tmp_path: Path) -> None:
    async with encrypted(tmp_path) as (server, authority):
        peer = await EncryptedPeer.start(server.port, authority.trusting())
        server.tick(server.hub.limits.handshake_s + 0.1)
        assert await peer.read_to_end() == b""
        peer.close()


async def test_a_kept_connection_over_tls_on_which_nothing_more_is_asked_is_closed_and_no_fault(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with encrypted(tmp_path, Limits(handshake_s=60)) as (server, _):
        peer = await server.raw()
        await peer.send(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        await peer.read_head()
        server.tick(61)
        assert await peer.read_to_end() == b"ok\n"
        assert not server.hub.metrics.endings
        assert "fault" not in caplog.text


async def test_connections_count_before_the_handshake_of_tls(tmp_path: Path) -> None:
    async with encrypted(tmp_path, Limits(unmetered=(), max_per_address=2)) as (server, _):
        peers = [await server.plain() for _ in range(20)]
        await until(lambda: server.hub.metrics.endings["address"] == 10)
        assert await peers[-1].read_to_end() == b""


async def test_plain_http_is_answered_that_the_port_uses_tls(tmp_path: Path) -> None:
    async with encrypted(tmp_path) as (server, _):
        peer = await server.plain()
        await peer.send(HANDSHAKE)
        answer = await peer.read_to_end()
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert answer.endswith(b"use https:// or wss://\n")


@pytest.mark.parametrize("sent", [b"\0" * 100, b"\x16\x03\x01\x00\x05hello", b"SSH-2.0-x\r\n"])
async def test_rubbish_ends_the_connection_and_nothing_else(tmp_path: Path, sent: bytes) -> None:
    async with encrypted(tmp_path) as (server, _):
        peer = await server.plain()
        await peer.send(sent)
        await peer.read_to_end()
        peer.close()
        await until(lambda: not server.connections)
        await server.join("Ann")


async def test_bytes_that_do_not_decrypt_end_the_connection(tmp_path: Path) -> None:
    async with encrypted(tmp_path) as (server, authority):
        peer = await EncryptedPeer.start(server.port, authority.trusting())
        await peer.hello("Mallory")
        await RawPeer.send(peer, b"\x17\x03\x03\x00\x20" + bytes(32))
        while await RawPeer.receive(peer):
            pass
        peer.close()
        await until(lambda: not server.connections)


async def stalled(server: Server, authority: Authority, name: str) -> tuple[EncryptedPeer, Connection]:
    """Return a player who has stopped to read, with as much unread as the kernel takes, and the server's end."""
    peer = await EncryptedPeer.start(server.port, authority.trusting(), receive_buffer=4_096)
    await peer.hello(name)
    connection = server.connection_of(name)
    while connection.is_open and not connection.is_behind:
        connection.send(frame(b"x" * 1_000))
    return peer, connection


def held(connection: Connection) -> int:
    """Return how many bytes wait for the peer, in any place of ours."""
    assert isinstance(connection.transport, TlsLayer)
    return connection.transport.get_write_buffer_size()


@pytest.mark.parametrize("size", [1, 100, 1_000, 4_000, 60_000])
async def test_a_stopped_reader_holds_at_most_64_kib_and_is_gone_in_time(tmp_path: Path, size: int) -> None:
    async with encrypted(tmp_path, FAST) as (server, authority):
        peer, connection = await stalled(server, authority, "Mallory")
        most = 0
        while connection.is_open:
            connection.send(frame(b"x" * size))
            most = max(most, held(connection))
        assert most <= 65_536 + 200, "and what encryption adds to the last frame"
        server.tick(server.hub.limits.closing_s + 0.1)
        await until(lambda: not server.connections)
        peer.close()


async def test_a_reader_that_catches_up_is_kept_and_misses_nothing(tmp_path: Path) -> None:
    async with encrypted(tmp_path, FAST) as (server, authority):
        peer, connection = await stalled(server, authority, "Ann")
        for number in range(60):
            connection.send(frame(b'{"type":"filler","n":%d}' % number))
        connection.send(frame(b'{"type":"mark"}'))
        heard = [frame_[1] async for frame_ in frames(peer)]
        assert [heard[-61 + number] for number in range(60)] == [b'{"type":"filler","n":%d}' % n for n in range(60)]
        await until(lambda: not connection.is_behind)
        assert connection.is_open
        peer.close()


async def frames(peer: EncryptedPeer) -> AsyncIterator[tuple[int, bytes]]:
    """Yield frames up to the mark."""
    while found := await peer.read_frame():
        yield found
        if b"mark" in found[1]:
            return


async def test_pings_without_reading_the_pongs_do_not_fill_the_memory(tmp_path: Path) -> None:
    async with encrypted(tmp_path, FAST) as (server, authority):
        peer, connection = await stalled(server, authority, "Mallory")
        most = 0
        with contextlib.suppress(ConnectionError):
            while connection in server.connections:
                await peer.send(client_frame(PING, bytes(125)) * 100)
                most = max(most, held(connection))
        assert most <= 2 * 65_536 + 262_144, "one read of the event loop on top"
        peer.close()
        await server.join("Ann")


async def test_twenty_stopped_readers_do_not_keep_the_server_from_ending(tmp_path: Path) -> None:
    peers = []
    async with asyncio.timeout(None) as end:
        async with encrypted(tmp_path, FAST) as (server, authority):
            peers += [(await stalled(server, authority, f"Mallory-{number}"))[0] for number in range(20)]
            ann = await server.join("Ann")
            end.reschedule(asyncio.get_running_loop().time() + 5 + BUSY_S)
    assert await ann.close_code() == 1012
    assert server.connections == set()
    for peer in peers:
        peer.close()


async def test_a_connection_that_is_gone_leaves_nothing_for_the_collector(tmp_path: Path) -> None:
    import gc
    import weakref

    async with encrypted(tmp_path) as (server, authority):
        peer = await EncryptedPeer.start(server.port, authority.trusting())
        await peer.hello("Ann")
        await peer.send(said("ping", 2))
        await peer.hear("ok")
        connection = server.connection_of("Ann")
        gone = weakref.ref(connection.transport.get_extra_info("ssl_object"))
        gc.disable()
        try:
            del connection
            peer.close()
            await until(lambda: not server.connections)
            await server.flushed()  # the journal's last answer knew the connection
            await until(lambda: gone() is None)
        finally:
            gc.enable()


def test_a_self_signed_certificate_is_made_once_and_its_key_is_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = certificate_for(Tls(self_signed=True), tmp_path)
    assert made is not None
    assert (tmp_path / "self-signed.key").stat().st_mode & 0o777 == 0o600
    again = certificate_for(Tls(self_signed=True), tmp_path)
    assert again is not None
    assert made.fingerprint == again.fingerprint == fingerprint_of(tmp_path / "self-signed.pem")
    monkeypatch.setattr(certificates, "RENEW_DAYS", 400)
    late = certificate_for(Tls(self_signed=True), tmp_path)
    assert late is not None
    assert late.fingerprint != made.fingerprint, "one that ends soon is made anew"


@pytest.mark.parametrize(
    ("tls", "complaint"),
    [
        (Tls(cert=Path("a")), "tls.cert and tls.key belong together; one of them is missing"),
        (Tls(key=Path("a")), "tls.cert and tls.key belong together; one of them is missing"),
        (Tls(cert=Path("a"), key=Path("b"), self_signed=True), "leave tls.cert and tls.key out"),
        (Tls(cert=Path("/nowhere/a"), key=Path("b")), "tls.cert: cannot read /nowhere/a: No such file or directory"),
    ],
)
def test_invalid_certificates_are_rejected_in_one_line(tmp_path: Path, tls: Tls, complaint: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        certificate_for(tls, tmp_path)
    assert complaint in str(raised.value)


def test_a_key_of_another_certificate_and_an_encrypted_one_are_refused(tmp_path: Path) -> None:
    from cryptography.hazmat.primitives import serialization

    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    one, two = Authority(tmp_path / "one"), Authority(tmp_path / "two")
    with pytest.raises(ConfigurationError, match="the key is that of another certificate"):
        certificate_for(Tls(cert=one.cert, key=two.key), tmp_path)
    with pytest.raises(ConfigurationError, match="no PEM"):
        certificate_for(Tls(cert=one.key, key=one.key), tmp_path)
    key = serialization.load_pem_private_key(one.key.read_bytes(), None)
    one.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    with pytest.raises(ConfigurationError, match=r"tls\.key: the key is encrypted"):
        certificate_for(Tls(cert=one.cert, key=one.key), tmp_path)
    assert tmp_path.exists()


@pytest.mark.parametrize("label", ["X509 CERTIFICATE", "TRUSTED CERTIFICATE"])
def test_a_certificate_under_another_label_is_refused_and_leaves_the_one_that_there_is(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, label: str
) -> None:
    authority = Authority(tmp_path)
    certificate, before = authority.certificate, (authority.certificate.context, authority.certificate.fingerprint)
    authority.renew()
    authority.cert.write_text(authority.cert.read_text().replace("CERTIFICATE", label))
    assert not certificate.reload()
    assert (certificate.context, certificate.fingerprint) == before
    assert "BEGIN CERTIFICATE" in caplog.text
    with pytest.raises(ConfigurationError, match="BEGIN CERTIFICATE"):
        certificate_for(Tls(cert=authority.cert, key=authority.key), tmp_path)
