"""The certificates that docs/cluster.md tells operators to make."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.nats_servers import NAMES, make_certificates


def pythons() -> list[str]:
    """Return all supported versions on this machine. Some are names that lead to nothing, and do not run."""
    found = {sys.executable, *filter(None, (shutil.which(f"python3.{minor}") for minor in range(11, 20)))}
    return [each for each in sorted(found) if subprocess.run([each, "-c", ""], stderr=subprocess.PIPE).returncode == 0]


HANDSHAKE = """
import ssl, sys
certificate, key, authority, name = sys.argv[1:]
server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=authority)
server.verify_mode = ssl.CERT_REQUIRED
server.load_cert_chain(certificate, key)
client = ssl.create_default_context(cafile=authority)
client.load_cert_chain(certificate, key)
for context in (server, client):
    context.verify_flags |= ssl.VERIFY_X509_STRICT
to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
sides = [
    client.wrap_bio(to_client, to_server, server_hostname=name),
    server.wrap_bio(to_server, to_client, server_side=True),
]
for side in (*sides, *sides, *sides):
    try:
        side.do_handshake()
    except ssl.SSLWantReadError:
        pass
print(*(side.version() for side in sides), bool(sides[1].getpeercert()))
"""


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_the_printed_recipe_makes_certificates_that_every_python_accepts_strictly(tmp_path: Path) -> None:
    make_certificates(tmp_path)
    for python in pythons():
        for name in NAMES:
            done = subprocess.run(
                [python, "-c", HANDSHAKE, f"{name}.pem", f"{name}.key", "ca.pem", name],
                cwd=tmp_path, capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert (done.stdout, done.stderr) == ("TLSv1.3 TLSv1.3 True\n", ""), python
