"""The proxies of docs/hosting.md, started with the very files that are printed there: only places are replaced."""

import asyncio
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trustme

from tests.end_to_end.process import ROOT
from tests.patience import PATIENCE_S
from tests.ports import reserved

HOSTING = ROOT / "docs" / "hosting"
NGINX_FRAME = """
worker_processes 1;
daemon off;
pid {folder}/nginx.pid;
error_log stderr warn;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
    uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
    {site}
}}
"""
CADDY_FRAME = """
{{
    admin off
    auto_https off
    default_bind 127.0.0.1
    storage file_system {folder}/storage
}}
{site}
"""


def put(text: str, *places: tuple[str, str]) -> str:
    """Return the text with each place replaced, which must be there once."""
    for old, new in places:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def nginx(folder: Path, port: int, plain: int, backend: int) -> list[str]:
    """Write nginx's configuration; return the command that runs it."""
    site = put(
        (HOSTING / "nginx.conf").read_text(),
        ("listen 80;", f"listen 127.0.0.1:{plain};"),
        ("listen [::]:80;", ""),
        ("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"),
        ("listen [::]:443 ssl;", ""),
        ("/etc/letsencrypt/live/play.example.org/fullchain.pem", f"{folder}/certificate.pem"),
        ("/etc/letsencrypt/live/play.example.org/privkey.pem", f"{folder}/key.pem"),
        ("http://127.0.0.1:8765", f"http://127.0.0.1:{backend}"),
    )
    (folder / "nginx.conf").write_text(NGINX_FRAME.format(folder=folder, site=site))
    return ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")]


def caddy(folder: Path, port: int, plain: int, backend: int) -> list[str]:
    """Write Caddy's configuration, which has no port in clear here; return the command that runs it."""
    certificate = f"tls {folder}/certificate.pem {folder}/key.pem"
    site = put(
        (HOSTING / "Caddyfile").read_text(),
        ("play.example.org {", f"https://play.example.org:{port} {{\n{certificate}"),
        ("127.0.0.1:8765", f"127.0.0.1:{backend}"),
    )
    (folder / "Caddyfile").write_text(CADDY_FRAME.format(folder=folder, site=site))
    return ["caddy", "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]


PROXIES = {"nginx": nginx, "caddy": caddy}


@asynccontextmanager
async def proxied(name: str, folder: Path, backend: int) -> AsyncIterator[tuple[int, trustme.CA]]:
    """Run the proxy in front of a server inside the block; yield its port, and who vouches for its certificate."""
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    authority = certified(folder)
    with reserved() as port, reserved() as plain:
        process = start(PROXIES[name](folder, port, plain, backend), folder)
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not await _answers(port):
                    assert process.poll() is None, (folder / "log").read_text()
                    await asyncio.sleep(0.05)
            yield port, authority
        finally:
            process.terminate()
            await asyncio.to_thread(process.wait, PATIENCE_S)


def certified(folder: Path) -> trustme.CA:
    """Make the folder with a certificate in it; return who vouches for it."""
    folder.mkdir()
    folder.chmod(0o755)  # nginx's workers are another user
    authority = trustme.CA()
    certificate = authority.issue_cert("play.example.org")
    certificate.private_key_pem.write_to_path(folder / "key.pem")
    for part in certificate.cert_chain_pems:
        part.write_to_path(folder / "certificate.pem", append=True)
    return authority


def start(command: list[str], folder: Path) -> subprocess.Popen[bytes]:
    """Start the proxy, with its log in the folder."""
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)


async def _answers(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True
