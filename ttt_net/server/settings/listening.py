"""Listen on a socket, load the certificate for it, and list the addresses of this machine.

The certificate comes from files, which may be replaced while the server runs, or is self-signed.
"""

import contextlib
import datetime
import errno
import hashlib
import ipaddress
import logging
import os
import socket
import ssl
from collections.abc import MutableMapping
from pathlib import Path

from ttt_net.errors import ConfigurationError
from ttt_net.private_files import write_private
from ttt_net.server.settings.configuration import Tls

_FIRST_INHERITED = 3
"""The number of the first socket that a service manager hands over: SD_LISTEN_FDS_START."""
_FIRST_FREE_PORT = 1024
"""Ports below this one are usually reserved for root."""
BACKLOG = 1024
"""The backlog of connections; the usual 100 would reject a rush for a second."""


def listen(host: str | None, port: int, flag: str = "--port") -> socket.socket:
    """Return a listening socket on `host` (None: all interfaces, IPv4 and IPv6); port 0 picks a free one.

    Raises `ConfigurationError` if that fails; it names the flag that chooses another.
    """
    if not 0 <= port <= 65_535:  # some systems would take the port modulo 65,536
        raise ConfigurationError(f"port {port} is out of range; ports are 0 to 65535")
    try:
        if host is None and socket.has_dualstack_ipv6():
            return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=BACKLOG)
        family, _, _, _, address = socket.getaddrinfo(
            host or "0.0.0.0",  # noqa: S104 - the server is for the whole network
            port,
            type=socket.SOCK_STREAM,
            flags=socket.AI_PASSIVE,
        )[0]
        return socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except (OSError, UnicodeError) as error:  # for a name that no DNS could have
        where = f"port {port}" if host is None else f"{host}:{port}"
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            raise ConfigurationError(
                f"{where} is taken, perhaps by a server that runs already; choose another with {flag}"
            ) from None
        advice = _advice(error, host, port, "--host" if flag == "--port" else flag)
        raise ConfigurationError(f"cannot listen on {where}: {advice}") from None


def _advice(error: OSError | UnicodeError, host: str | None, port: int, flag: str) -> str:
    """Return what a system error about an address means, and what to do."""
    if isinstance(error, socket.gaierror | UnicodeError):
        return f"there is no address of that name; name one of this machine's own with {flag}"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"this machine has no address {host}; name one of its own with {flag}"
    if error.errno == errno.EACCES and 0 < port < _FIRST_FREE_PORT:
        return f"this user may not use ports below {_FIRST_FREE_PORT}; choose another, and let a proxy in front have it"
    return error.strerror or str(error)


def inherited(environment: MutableMapping[str, str]) -> socket.socket | None:
    """Return the listening socket that the service manager has opened for this process; None if there is none.

    This is systemd's protocol (sd_listen_fds(3)): while a server restarts, the manager keeps the socket open, and new
    connections wait in the kernel. The variables are removed from the environment, because no child needs them. Raises
    `ConfigurationError` if the server cannot serve on that socket.
    """
    process, count = environment.pop("LISTEN_PID", ""), environment.pop("LISTEN_FDS", "")
    environment.pop("LISTEN_FDNAMES", None)
    if process != str(os.getpid()):
        return None
    if count != "1":
        raise ConfigurationError(f"the service manager hands over {count or 'no'} sockets; one is served")
    try:
        listening = socket.socket(fileno=_FIRST_INHERITED)
    except OSError as error:
        raise ConfigurationError(f"what the service manager hands over is no socket: {error.strerror}") from None
    is_stream = listening.family in (socket.AF_INET, socket.AF_INET6) and listening.type == socket.SOCK_STREAM
    if not is_stream or not listening.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        raise ConfigurationError("the socket that the service manager hands over listens to no TCP port")
    listening.set_inheritable(False)
    return listening


def display(host: str, port: int) -> str:
    """Return host and port as in a URL, IPv6 in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def local_addresses() -> list[str]:
    """Return the addresses of this machine on its networks, the one of the default route first; IPv4 only."""
    import ifaddr  # imported after the start: it takes a while, and not every server needs it

    found: list[str] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, contextlib.suppress(OSError):
        # This looks up the route to a documentation address and sends nothing. It fails without a network.
        probe.connect(("192.0.2.1", 9))
        found.append(probe.getsockname()[0])
    with contextlib.suppress(OSError):
        found += [str(each.ip) for adapter in ifaddr.get_adapters() for each in adapter.ips if each.is_IPv4]
    return [address for address in dict.fromkeys(found) if not address.startswith("127.")]


log = logging.getLogger(__name__)

_SELF_SIGNED_DAYS = 365
RENEW_DAYS = 30
_PEM_START = "-----BEGIN CERTIFICATE-----"
_PEM_END = "-----END CERTIFICATE-----"


class Certificate:
    """The certificate in use; `reload` changes `context` for new connections only."""

    def __init__(self, cert: Path, key: Path) -> None:
        self._cert = cert
        self._key = key
        self.context = load(cert, key)
        self.fingerprint = fingerprint_of(cert)
        """Identifies the certificate for clients that cannot trust its issuer."""

    def reload(self) -> bool:
        """Read the files again; if they are unusable, log that and keep the current certificate."""
        try:
            context, fingerprint = load(self._cert, self._key), fingerprint_of(self._cert)
        except ConfigurationError as error:
            log.error("the certificate in use stays: %s", error)
            return False
        self.context, self.fingerprint = context, fingerprint
        log.warning("the certificate was read again: SHA-256 %s", self.fingerprint)
        return True


def certificate_for(tls: Tls, folder: Path) -> Certificate | None:
    """Return the configured certificate, or None. Raises `ConfigurationError` if it cannot be loaded."""
    if tls.self_signed:
        if tls.cert or tls.key:
            raise ConfigurationError("tls.self_signed makes a certificate of its own; leave tls.cert and tls.key out")
        return Certificate(*self_signed(folder))
    if tls.cert and tls.key:
        return Certificate(tls.cert, tls.key)
    if tls.is_on:
        raise ConfigurationError("tls.cert and tls.key belong together; one of them is missing")
    return None


def load(cert: Path, key: Path) -> ssl.SSLContext:
    """Return the TLS context for a certificate. Raises `ConfigurationError` if a file is unusable."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("ECDHE+AESGCM:ECDHE+CHACHA20")  # of TLS 1.2; those of 1.3 are all good
    context.options |= ssl.OP_NO_RENEGOTIATION  # a client could cause unlimited work
    context.set_alpn_protocols(["http/1.1"])
    for name, path in (("tls.cert", cert), ("tls.key", key)):
        try:
            path.read_bytes()
        except OSError as error:
            raise ConfigurationError(f"{name}: cannot read {path}: {error.strerror}") from None
    try:
        context.load_cert_chain(cert, key, password=_no_password)
    except ssl.SSLError as error:
        why = "the key is that of another certificate" if error.reason == "KEY_VALUES_MISMATCH" else "no PEM"
        raise ConfigurationError(f"tls.cert {cert} and tls.key {key}: {why}") from None
    return context


def _no_password() -> str:
    raise ConfigurationError("tls.key: the key is encrypted; a server that starts by itself needs one that is not")


def fingerprint_of(cert: Path) -> str:
    """Return the SHA-256 of the first certificate in the file, as pairs of hexadecimal digits."""
    text = cert.read_text(encoding="ascii", errors="replace")
    if _PEM_START not in text:  # OpenSSL silently accepts others, such as X509 CERTIFICATE
        raise ConfigurationError(f"tls.cert: {cert} has no {_PEM_START}")
    pem = text[text.index(_PEM_START) : text.index(_PEM_END) + len(_PEM_END)]
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest()


def expires(cert: Path) -> datetime.datetime:
    """Return when the first certificate in the file expires."""
    from cryptography import x509

    end: datetime.datetime = x509.load_pem_x509_certificate(cert.read_bytes()).not_valid_after_utc
    return end


def self_signed(folder: Path) -> tuple[Path, Path]:
    """Return the files of a self-signed certificate; create them unless they are valid for a while."""
    cert, key = folder / "self-signed.pem", folder / "self-signed.key"
    try:
        if not _is_good(cert, key):
            _make(cert, key)
    except ImportError:
        raise ConfigurationError("tls.self_signed needs the package cryptography: pip install 'ttt_net[tls]'") from None
    except OSError as error:
        raise ConfigurationError(f"cannot write {cert}: {error.strerror}") from None
    return cert, key


def _is_good(cert: Path, key: Path) -> bool:
    """Tell whether both files exist, belong together and are valid for a while."""
    if not (cert.exists() and key.exists()):
        return False
    try:
        load(cert, key)  # a power cut may happen between writing the two files
        return expires(cert) > _in_days(RENEW_DAYS)
    except (ConfigurationError, ValueError):
        return False


def _make(cert: Path, key: Path) -> None:
    """Create a key on the curve P-256, and a certificate for the names and addresses of this machine."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "ttt_net, self-signed")])
    hosts: list[x509.GeneralName] = [x509.DNSName(each) for each in dict.fromkeys(("localhost", socket.gethostname()))]
    hosts += [x509.IPAddress(ipaddress.ip_address(each)) for each in ("127.0.0.1", "::1", *local_addresses())]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_in_days(-1))
        .not_valid_after(_in_days(_SELF_SIGNED_DAYS))
        .add_extension(x509.SubjectAlternativeName(hosts), critical=False)
        .sign(private, hashes.SHA256())
    )
    secret = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    write_private(key, secret)
    write_private(cert, made.public_bytes(serialization.Encoding.PEM), mode=0o644)


def _in_days(days: int) -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=days)
