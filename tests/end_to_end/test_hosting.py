"""The instructions of docs/hosting.md: proxies in front of a real server, and the service's file."""

import asyncio
import json
import re
import shutil
import signal
import ssl
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect

from tests.end_to_end.process import ROOT, Process, running, start
from tests.end_to_end.proxies import HOSTING, PROXIES, proxied, put
from tests.patience import PATIENCE_S
from tests.server.peer import Peer, RawPeer
from ttt_net.__main__ import main
from ttt_net.server.check import faults
from ttt_net.server.settings.listening import listen
from ttt_net.server.settings.sources import read_order

FOR_PROXIES = ("--public", "--behind-proxy", "--no-announce")


class Outside:
    """The way in from the Internet: through the proxy, from an address of the caller's choosing."""

    def __init__(self, port: int, context: ssl.SSLContext) -> None:
        self.port = port
        self._context = context

    async def join(self, name: str, address: str, **more: Any) -> Peer:
        peer = Peer(
            await connect(
                f"wss://play.example.org:{self.port}/",
                host="127.0.0.1",
                port=self.port,
                local_addr=(address, 0),
                ssl=self._context,
                proxy=None,
                compression=None,
                ping_interval=None,
                open_timeout=PATIENCE_S,
                **more,
            )
        )
        await peer.hello(name=name)
        return peer


async def players(data: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """Return the address of each player, as the admin sees it."""
    capsys.readouterr()
    assert await asyncio.to_thread(main, ["admin", "--data", str(data), "--json", "players"]) == 0
    return {row["name"]: row["address"] for row in json.loads(capsys.readouterr().out)["players"]}


@pytest.mark.parametrize("name", PROXIES)
async def test_a_match_is_played_through_the_proxy_and_callers_keep_their_addresses(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with (
        running(tmp_path / "data", *FOR_PROXIES) as server,
        proxied(name, tmp_path / "proxy", server.port) as (port, authority),
    ):
        context = ssl.create_default_context()
        authority.configure_trust(context)
        outside = Outside(port, context)
        ann = await outside.join("Ann", "127.0.0.2")
        liar = {"X-Forwarded-For": "198.51.100.7", "Origin": f"https://play.example.org:{port}"}
        bob = await outside.join("Bob", "127.0.0.3", additional_headers=liar)
        assert await players(tmp_path / "data", capsys) == {"Ann": "127.0.0.2", "Bob": "127.0.0.3"}
        await a_whole_match(ann, bob)
        with pytest.raises(Exception, match="403"):
            await outside.join("Eve", "127.0.0.4", additional_headers={"Origin": "https://evil.example"})
        await asyncio.to_thread(main, ["admin", "--data", str(tmp_path / "data"), "ban", "127.0.0.3", "lying"])
        assert await bob.close_code() == 4005
        with pytest.raises(Exception, match="403"):
            await outside.join("Bob-again", "127.0.0.3")
        await restarted_in_mid_play(server, ann)


ODD = {
    "a POST": (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}", {405}),
    "a GET with a body": (b"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}", {413}),
    "a large body": (b"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 9999\r\n\r\n" + bytes(9_999), {413}),
    "a body in chunks": (
        b"GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        {411, 413},
    ),
    "LF alone": (b"GET / HTTP/1.1\nHost: h\n\n", {200}),  # which nginx puts right
    "a long header": (b"GET / HTTP/1.1\r\nHost: h\r\nX: " + b"x" * 15_000 + b"\r\n\r\n", {400, 431}),
    "many headers": (b"GET / HTTP/1.1\r\nHost: h\r\n" + b"X: %s\r\n" % (b"y" * 900) * 30 + b"\r\n", {400, 431}),
    "no request": (b"hello\r\n\r\n", {400}),
}
"""Invalid requests, and the reply of nginx or through it: never 502, and never none."""


async def test_invalid_requests_are_answered_through_nginx_too(tmp_path: Path) -> None:
    async with (
        running(tmp_path / "data", *FOR_PROXIES) as server,
        proxied("nginx", tmp_path / "proxy", server.port) as (port, authority),
    ):
        context = ssl.create_default_context()
        authority.configure_trust(context)
        found = {}
        for what, (request, _) in ODD.items():
            reader, writer = await asyncio.open_connection(
                "127.0.0.1", port, ssl=context, server_hostname="play.example.org"
            )
            writer.write(request)
            async with asyncio.timeout(PATIENCE_S):
                head = (await reader.readline()).split()
            found[what] = int(head[1]) if len(head) > 1 else None
            writer.transport.abort()
        assert {what: status for what, status in found.items() if status not in ODD[what][1]} == {}


async def test_nginx_redirects_unencrypted_requests_to_the_encrypted_page(tmp_path: Path) -> None:
    async with running(tmp_path / "data", *FOR_PROXIES) as server, proxied("nginx", tmp_path / "proxy", server.port):
        plain = re.search(r"listen 127\.0\.0\.1:(\d+);", (tmp_path / "proxy" / "nginx.conf").read_text())
        assert plain
        caller = await RawPeer.connect(int(plain[1]))
        await caller.send(b"GET /j/K7QMX2 HTTP/1.1\r\nHost: play.example.org\r\n\r\n")
        head = await caller.read_head()
        caller.close()
        assert head.startswith(b"HTTP/1.1 301 ")
        assert b"\r\nLocation: https://play.example.org/j/K7QMX2" in head


async def a_whole_match(ann: Peer, bob: Peer) -> None:
    for peer in (ann, bob):
        await peer.ok("seek", games=["tictactoe"])
    snapshots = [await peer.hear("snapshot") for peer in (ann, bob)]
    first, second = (ann, bob) if snapshots[0]["you"] == 0 else (bob, ann)
    match = snapshots[0]["match"]
    for ply, move in enumerate((0, 3, 1, 4, 2)):
        await (first, second)[ply % 2].ok("play", match=match, ply=ply, move=move)
        await (second, first)[ply % 2].hear("played", ply=ply + 1)
    for peer in (first, second):
        assert (await peer.hear("ended"))["reason"] == "line"


async def restarted_in_mid_play(server: Process, ann: Peer) -> None:
    """The code that says "come back" reaches the client through the proxy."""
    server.send(signal.SIGTERM)
    assert await ann.close_code() == 1012
    assert await server.exit_code() == 0


HANDED_OVER = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ |= {"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid())}
os.execv(sys.argv[2], sys.argv[2:])
"""
"""A stand-in for systemd between fork and exec: the open port is descriptor 3, and variables say for whom."""


@pytest.mark.parametrize("name", PROXIES)
async def test_nobody_is_refused_while_the_server_restarts_behind_the_proxy_on_a_port_that_stays_open(
    name: str, tmp_path: Path
) -> None:
    with listen("127.0.0.1", 0) as port:
        port.set_inheritable(True)
        inside = [sys.executable, "-c", HANDED_OVER, str(port.fileno())]
        backend = port.getsockname()[1]
        async with proxied(name, tmp_path / "proxy", backend) as (public, authority):
            context = ssl.create_default_context()
            authority.configure_trust(context)
            outside = Outside(public, context)
            for turn in range(3):
                server = await start(tmp_path / "data", *FOR_PROXIES, inside=inside, pass_fds=(port.fileno(),))
                assert server.port == backend, "its own --port is not listened on"
                guest = await outside.join(f"Late{turn}", "127.0.0.2")
                server.send(signal.SIGTERM)
                assert await guest.close_code() == 1012
                assert await server.exit_code() == 0
                async with asyncio.TaskGroup() as tasks:  # they come while there is no server at all
                    waiting = [tasks.create_task(outside.join(f"Early{turn}{n}", "127.0.0.3")) for n in range(10)]
                    server = await start(tmp_path / "data", *FOR_PROXIES, inside=inside, pass_fds=(port.fileno(),))
                for each in waiting:
                    await each.result().ok("ping")
                server.send(signal.SIGKILL)
                await server.exit_code()


@pytest.mark.parametrize("name", PROXIES)
async def test_a_silent_link_is_kept_open_by_the_servers_pings(name: str, tmp_path: Path) -> None:
    """Longer than the server's patience with a silent peer: pings and pongs find their way through the proxy."""
    async with (
        running(
            tmp_path / "data", *FOR_PROXIES, "--limits-ping-after-s", "0.2", "--limits-dead-after-s", "5"
        ) as server,
        proxied(name, tmp_path / "proxy", server.port) as (port, authority),
    ):
        context = ssl.create_default_context()
        authority.configure_trust(context)
        ann = await Outside(port, context).join("Ann", "127.0.0.2")
        await asyncio.sleep(6)  # what is waited for is the proxy's patience: nothing happens, so there is no event
        await ann.ok("ping")


def test_the_printed_configuration_is_one_and_is_found_fit_for_strangers(tmp_path: Path) -> None:
    file = tmp_path / "server.toml"
    printed = put((HOSTING / "server.toml").read_text(), ("/var/lib/ttt_net", str(tmp_path / "data")))
    file.write_text(printed)
    assert ["public_url: " in line for line in faults(read_order(["--config", str(file)], {}).configuration)] == [True]
    file.write_text(put(printed, ("play.example.org", "play.lobby.example")))
    configuration = read_order(["--config", str(file)], {}).configuration
    assert configuration.public
    assert configuration.behind_proxy
    checked = subprocess.run(
        [sys.executable, str(ROOT / "server.py"), "check", "--config", str(file), "--port", "0"],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    complaints = [line for line in checked.stdout.splitlines() if "as root" not in line]  # as a test may be run
    assert (complaints, checked.stderr) == ([], "")


def installed(root: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run the script on a machine whose commands only write down that they were called."""
    clone = root / "opt" / "ttt_net"
    if not clone.exists():
        shutil.copytree(HOSTING, clone / "docs" / "hosting")
        stub = f'#!/bin/sh\necho "$(basename "$0")" "$@" >> {root}/called\n'
        for command in ("apt-get", "systemctl", "certbot", "nginx", "python3"):
            (root / "bin").mkdir(exist_ok=True)
            (root / "bin" / command).write_text(stub)
            (root / "bin" / command).chmod(0o755)
        pip = clone / ".venv" / "bin" / "pip"
        pip.parent.mkdir(parents=True)
        pip.write_text(stub)
        pip.chmod(0o755)
    environment = {"PATH": f"{root / 'bin'}:/usr/bin:/bin", "DESTDIR": str(root)}
    script = [str(clone / "docs" / "hosting" / "install.sh"), *arguments]
    return subprocess.run(script, capture_output=True, text=True, env=environment, timeout=PATIENCE_S, check=False)


@pytest.mark.parametrize("proxy", ["nginx", "caddy"])
def test_the_script_installs_a_lobby_and_leaves_its_settings_alone_the_second_time(proxy: str, tmp_path: Path) -> None:
    done = installed(tmp_path, "club.example.net", proxy)
    assert done.returncode == 0, done.stderr
    assert "https://club.example.net" in done.stdout
    settings = tmp_path / "etc" / "ttt_net" / "server.toml"
    assert read_order(["--config", str(settings)], {}).configuration.public_url == "wss://club.example.net"
    for name in ("ttt_net.service", "ttt_net.socket"):
        assert (tmp_path / "etc" / "systemd" / "system" / name).read_text() == (HOSTING / name).read_text()
    called = (tmp_path / "called").read_text()
    assert f"pip install --quiet --no-deps {tmp_path}/opt/ttt_net[host]\n" in called
    assert "systemctl enable --now ttt_net.socket ttt_net\n" in called
    assert called.endswith(f"systemctl reload {proxy}\n")
    site = tmp_path / "etc" / ("nginx/sites-enabled/ttt_net" if proxy == "nginx" else "caddy/Caddyfile")
    assert "club.example.net" in site.read_text()
    assert "play.example.org" not in site.read_text()
    settings.write_text(settings.read_text() + "retention_days = 90\n")
    before = site.read_text()
    assert installed(tmp_path, "club.example.net", proxy).returncode == 0
    assert "retention_days" in settings.read_text()
    assert site.read_text() == before


def test_the_script_refuses_what_it_cannot_install(tmp_path: Path) -> None:
    for arguments, words in (
        (["a;b"], "no domain name"),
        (["a.example", "apache"], "not nginx or caddy"),
        ([], "usage"),
    ):
        refused = installed(tmp_path, *arguments)
        assert (refused.returncode, words in refused.stderr) == (2, True), arguments
    (tmp_path / "opt" / "ttt_net").rename(tmp_path / "opt" / "elsewhere")
    script = str(tmp_path / "opt" / "elsewhere" / "docs" / "hosting" / "install.sh")
    moved = subprocess.run(
        [script, "a.example"],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "DESTDIR": str(tmp_path)},
        check=False,
    )
    assert (moved.returncode, "clone into /opt/ttt_net" in moved.stderr) == (2, True)
    assert not (tmp_path / "called").exists()


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The service's file, with a program that is there."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    file = tmp_path / "ttt_net.service"
    file.write_text(put((HOSTING / "ttt_net.service").read_text(), ("/opt/ttt_net/.venv/bin/python", sys.executable)))
    shutil.copy(HOSTING / "ttt_net.socket", tmp_path)
    return file


def test_the_services_file_has_no_mistake(unit: Path) -> None:
    verified = subprocess.run(
        ["systemd-analyze", "verify", str(unit), str(unit.with_suffix(".socket"))],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    complaints = [line for line in (verified.stdout + verified.stderr).splitlines() if "ttt_net" in line]
    assert (verified.returncode, complaints) == (0, [])


def test_the_services_file_shuts_the_server_in(unit: Path) -> None:
    """systemd's own figure for how exposed a service is, in tenths; below 20 it says `OK`."""
    rated = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=20", str(unit)],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert rated.returncode == 0, rated.stdout[-300:]


@pytest.mark.parametrize(
    "name",
    [
        *(
            "ttt_net.service",
            "ttt_net.socket",
            "server.toml",
            "install.sh",
            "nginx.conf",
            "Caddyfile",
            "requirements.lock",
            "licences.md",
        ),
        *("container/Dockerfile", "container/compose.yaml", "monitoring/alerts.yaml", "monitoring/dashboard.json"),
    ],
)
def test_each_file_is_named_in_the_page(name: str) -> None:
    assert f"(hosting/{name})" in (ROOT / "docs" / "hosting.md").read_text()
