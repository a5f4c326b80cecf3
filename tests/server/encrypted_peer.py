"""A client over TLS and a bare socket, which reads only what the test asks it to."""

import datetime
import ssl
from pathlib import Path

import trustme

from tests.server.peer import RawPeer
from ttt_net.server.settings.listening import Certificate


class Authority:
    """A certificate of a test's own authority, in files, and what trusts it."""

    def __init__(self, folder: Path, *names: str, is_expired: bool = False) -> None:
        self.cert, self.key = folder / "cert.pem", folder / "key.pem"
        self._authority = trustme.CA()
        self.renew(*names, is_expired=is_expired)
        self.certificate = Certificate(self.cert, self.key)

    def renew(self, *names: str, is_expired: bool = False) -> None:
        """Write another certificate over the one before."""
        now = datetime.datetime.now(datetime.UTC)
        ends = now - datetime.timedelta(days=1) if is_expired else now + datetime.timedelta(days=100)
        issued = self._authority.issue_cert(*(names or ("127.0.0.1", "localhost")), not_after=ends)
        issued.private_key_pem.write_to_path(self.key)
        with self.cert.open("wb") as file:
            for blob in issued.cert_chain_pems:
                file.write(blob.bytes())

    def write_authority(self, file: Path) -> None:
        """Write what vouches for the certificate, as a machine keeps those that it trusts."""
        self._authority.cert_pem.write_to_path(file)

    def trusting(self) -> ssl.SSLContext:
        """Return what a client needs that trusts the authority."""
        context = ssl.create_default_context()
        self._authority.configure_trust(context)
        return context


class EncryptedPeer(RawPeer):
    """A bare client that speaks TLS."""

    _incoming: ssl.MemoryBIO
    _outgoing: ssl.MemoryBIO
    _tls: ssl.SSLObject

    @classmethod
    async def start(cls, port: int, context: ssl.SSLContext, receive_buffer: int | None = None) -> "EncryptedPeer":
        """Connect and perform the handshake of TLS."""
        peer = cls((await RawPeer.connect(port, receive_buffer)).socket)
        peer._incoming, peer._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        peer._tls = context.wrap_bio(peer._incoming, peer._outgoing, server_hostname="127.0.0.1")
        while True:
            try:
                peer._tls.do_handshake()
            except ssl.SSLWantReadError:
                await peer._push()
                peer._incoming.write(await super().receive(peer))
            else:
                await peer._push()
                return peer

    async def send(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self._tls.write(rest) :]
        await self._push()

    async def _push(self) -> None:
        await super().send(self._outgoing.read())

    async def receive(self) -> bytes:
        while True:
            try:
                return self._tls.read(65_536)
            except ssl.SSLWantReadError:
                data = await super().receive()
                if not data:
                    return b""
                self._incoming.write(data)
            except ssl.SSLZeroReturnError:
                return b""
