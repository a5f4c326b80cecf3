"""The certificates and the configuration that docs/cluster.md tells operators to make."""

import json
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.nats_servers import NAMES, NatsServers, make_certificates, nats_server
from tests.patience import PATIENCE_S


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


ADVERTISED = re.compile(r', advertise: "([^"]*)", no_advertise: true')


@pytest.fixture
def by_name(tmp_path: Path) -> Iterator[NatsServers]:
    """Three servers whose certificates vouch for names alone; the second learns of the third by gossip alone."""
    if nats_server() is None:
        pytest.skip("nats-server or openssl is not installed")
    servers = NatsServers(tmp_path)
    make_certificates(tmp_path, ",DNS:localhost")
    files = [tmp_path / f"n{number}.conf" for number in range(3)]
    texts = [file.read_text().replace('advertise: "127.0.0.1:', 'advertise: "localhost:') for file in files]
    routes = [f'"nats-route://node:SECRET@{found[1]}"' for text in texts if (found := ADVERTISED.search(text))]
    for file, text, known in zip(files, texts, (routes[1], routes[0], routes[0]), strict=True):
        file.write_text(re.sub(r"routes: \[.*\]", f"routes: [{known}]", text))
    try:
        yield servers
    finally:
        servers.close()


def announced_by(url: str) -> list[str]:
    """Return the addresses of servers that one announces to a client, before TLS."""
    host, _, port = url.rpartition("@")[2].partition(":")
    with closing(socket.create_connection((host, int(port)), PATIENCE_S)) as client, client.makefile("rb") as lines:
        found: list[str] = json.loads(lines.readline().removeprefix(b"INFO ")).get("connect_urls", [])
        return found


def test_servers_as_printed_gossip_names_and_announce_no_addresses_to_nodes(by_name: NatsServers) -> None:
    by_name.start()
    for number in range(3):
        by_name.kill(number)
        by_name.start_one(number)
        by_name.wait_ready(number)
    until_s = time.monotonic() + PATIENCE_S
    while by_name.neighbours(1) != {"n0", "n2"}:
        assert time.monotonic() < until_s, "the second server has no route to the third"
        time.sleep(0.05)  # of another process: there is nothing to wait on
    lines = [line for number in range(3) for line in (by_name.folder / f"n{number}.log").read_text().splitlines()]
    # A server that is killed may leave a handshake unfinished, which is no matter of its name.
    assert not [line for line in lines if "handshake error" in line.lower() and "certificate" in line.lower()]
    assert [announced_by(url) for url in by_name.urls] == [[], [], []]


def test_without_the_printed_options_servers_announce_addresses_that_no_certificate_names(by_name: NatsServers) -> None:
    for file in by_name.folder.glob("n*.conf"):
        file.write_text(ADVERTISED.sub("", file.read_text()))
    by_name.start()
    until_s = time.monotonic() + PATIENCE_S
    while len(announced := announced_by(by_name.urls[0])) < 3:
        assert time.monotonic() < until_s, "the servers have not met"
        time.sleep(0.05)  # as above
    assert all(address.startswith("127.0.0.1:") for address in announced)
