"""Load the server's certificate: from files, which may be replaced while it runs, or one of its own making."""

import datetime
import hashlib
import ipaddress
import logging
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path

from ttt_net.errors import ConfigurationError
from ttt_net.private_files import write_private
from ttt_net.server.settings.addresses import local_addresses
from ttt_net.server.settings.setting import setting

log = logging.getLogger(__name__)

_SELF_SIGNED_DAYS = 365
RENEW_DAYS = 30
_PEM_START = "-----BEGIN CERTIFICATE-----"
_PEM_END = "-----END CERTIFICATE-----"


@dataclass(frozen=True, slots=True)
class Tls:
    """How the server encrypts; with none of it, it does not."""

    cert: Path | None = setting(None, "certificate chain as PEM; read again on SIGHUP", is_common=True, is_live=False)
    key: Path | None = setting(None, "private key of the certificate as PEM", is_common=True, is_live=False)
    self_signed: bool = setting(
        False,
        "make a self-signed certificate and print its fingerprint, for a trial",
        is_common=True,
        is_live=False,
    )

    @property
    def is_on(self) -> bool:
        """Whether connections are encrypted."""
        return self.cert is not None or self.key is not None or self.self_signed


class Certificate:
    """The certificate in use. `context` is that of connections to come; `reload` leaves those that stand alone."""

    def __init__(self, cert: Path, key: Path) -> None:
        self._cert = cert
        self._key = key
        self.context = load(cert, key)
        self.fingerprint = fingerprint_of(cert)
        """Identifies the certificate for clients that cannot trust its issuer."""

    def reload(self) -> bool:
        """Read the files again; if they are no good, keep the certificate that there is, and say so in the log."""
        try:
            context, fingerprint = load(self._cert, self._key), fingerprint_of(self._cert)
        except ConfigurationError as error:
            log.error("the certificate in use stays: %s", error)
            return False
        self.context, self.fingerprint = context, fingerprint
        log.warning("the certificate was read again: SHA-256 %s", self.fingerprint)
        return True


def certificate_for(tls: Tls, folder: Path) -> Certificate | None:
    """Return the certificate that is asked for, or None. Raises `ConfigurationError` if it cannot be."""
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
    """Return what encrypts connections with that certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("ECDHE+AESGCM:ECDHE+CHACHA20")  # of TLS 1.2; those of 1.3 are all good
    context.options |= ssl.OP_NO_RENEGOTIATION  # a client could make us work without end
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
    if _PEM_START not in text:  # OpenSSL takes others, such as X509 CERTIFICATE, and says nothing of them
        raise ConfigurationError(f"tls.cert: {cert} has no {_PEM_START}")
    pem = text[text.index(_PEM_START) : text.index(_PEM_END) + len(_PEM_END)]
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest()


def expires(cert: Path) -> datetime.datetime:
    """Return when the first certificate in the file ends to be good."""
    from cryptography import x509

    end: datetime.datetime = x509.load_pem_x509_certificate(cert.read_bytes()).not_valid_after_utc
    return end


def self_signed(folder: Path) -> tuple[Path, Path]:
    """Return the files of a certificate of our own, made now unless there is one that is good for a while yet."""
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
    """Tell whether there is a certificate of our own that is good for a while yet, and its key."""
    if not (cert.exists() and key.exists()):
        return False
    try:
        load(cert, key)  # they are two files: a power cut may come between them
        return expires(cert) > _in_days(RENEW_DAYS)
    except (ConfigurationError, ValueError):
        return False


def _make(cert: Path, key: Path) -> None:
    """Write a key of the curve P-256, and a certificate of it for the names and addresses of this machine."""
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
