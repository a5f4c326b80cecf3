"""An encrypted server as its host runs it, and a client as a friend starts it."""

import asyncio
import hashlib
import json
import os
import re
import signal
import ssl
import subprocess
import sys
from pathlib import Path

from tests.client.conftest import CLIENT
from tests.client.real_terminal import Terminal
from tests.end_to_end.process import ROOT, command, refused, running
from tests.patience import PATIENCE_S
from tests.ports import reserved
from tests.server.encrypted_peer import Authority
from tests.server.peer import Peer


async def test_a_friend_types_the_command_that_a_self_signed_server_prints(tmp_path: Path) -> None:
    async with running(tmp_path, "--tls-self-signed", scheme="wss") as server:
        assert server.process.stdout is not None
        printed = ""
        while "--tls-fingerprint" not in printed:
            printed += (await server.process.stdout.readline()).decode()
        typed = re.search(r"client\.py (wss://\S+ --tls-fingerprint [0-9a-f]{64})\n", printed)
        assert typed
        assert await bots(tmp_path, *typed[1].split()) == [0, 0]
        wrong = re.sub(r"[0-9a-f]{64}", "0" * 64, typed[1])
        process = await bot(tmp_path, *wrong.split())
        _, complaint = await process.communicate()
        assert process.returncode == 3
        assert b"its certificate has another fingerprint" in complaint


async def test_a_person_confirms_a_compared_fingerprint_once(tmp_path: Path) -> None:
    home = {"TTT_NET_HOME": str(tmp_path / "home"), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}

    def opened(*more: str) -> Terminal:
        return Terminal([address, "--name", "Ann", *more], {**os.environ, **home})

    def left(terminal: Terminal) -> int | None:
        terminal.shows("Games on ")  # what the server calls itself: we are welcome
        terminal.press("q")
        return terminal.ends()

    with reserved() as port:
        async with running(tmp_path / "data", "--tls-self-signed", port=port, scheme="wss") as server:
            address = f"wss://127.0.0.1:{port}"
            certificate = ssl.get_server_certificate(("127.0.0.1", port))
            fingerprint = hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate)).hexdigest()
            server.send(signal.SIGSTOP)  # the answers are typed before the question comes
            ahead = opened("--plain")
            ahead.press("yes\r" * 3)
            server.send(signal.SIGCONT)
            await asyncio.to_thread(ahead.shows, "Is it the same?")
            ahead.press("no\r")
            assert await asyncio.to_thread(ahead.ends) == 3, "what is typed before a question is no answer to it"
            for answer, code in (("", 3), ("yes", 0)):
                terminal = opened()
                asked = await asyncio.to_thread(terminal.shows, "Is it the same?")
                assert "certificate is not trusted (self-signed certificate)" in " ".join(asked.split())
                assert fingerprint in asked.replace(" ", "").replace("\n", "")
                terminal.press(f"{answer}\r")
                assert await asyncio.to_thread(left if answer else Terminal.ends, terminal) == code
            assert await asyncio.to_thread(left, opened()) == 0, "it is asked once"
        async with running(tmp_path / "other", "--tls-self-signed", port=port, scheme="wss"):
            terminal = opened()
            assert await asyncio.to_thread(terminal.ends) == 3, "another certificate is refused, and not asked about"
            assert "another fingerprint" in terminal.picture.replace("\n", "")
            certificate = ssl.get_server_certificate(("127.0.0.1", port))
            given = ("--tls-fingerprint", hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate)).hexdigest())
            for more in (given, ()):
                assert await asyncio.to_thread(left, opened(*more)) == 0, "what the host gave out is remembered instead"


async def test_a_server_that_an_authority_vouched_for_is_not_asked_about_when_none_does(tmp_path: Path) -> None:
    authority, trusted = Authority(tmp_path), tmp_path / "trusted.pem"
    authority.write_authority(trusted)
    home = {"TTT_NET_HOME": str(tmp_path / "home"), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}

    def opened(*more: str) -> Terminal:
        arguments = [f"wss://127.0.0.1:{port}", "--name", "Ann", *more]
        return Terminal(arguments, {**os.environ, **home, "SSL_CERT_FILE": str(trusted)})

    def left(terminal: Terminal) -> int | None:
        terminal.shows("Looking for a person")  # which a server that knows us says
        terminal.press("q")
        return terminal.ends()

    with reserved() as port:
        flags = ["--tls-cert", str(authority.cert), "--tls-key", str(authority.key)]
        async with running(tmp_path / "data", *flags, port=port, scheme="wss"):
            assert await asyncio.to_thread(left, opened()) == 0
        async with running(tmp_path / "data", "--tls-self-signed", port=port, scheme="wss"):
            terminal = opened()
            assert await asyncio.to_thread(terminal.ends) == 3
            said = " ".join(terminal.picture.split())
            assert "This server had a certificate from a trusted authority" in said
            assert "Is it the same?" not in said
            certificate = ssl.get_server_certificate(("127.0.0.1", port))
            given = ("--tls-fingerprint", hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate)).hexdigest())
            for more in (given, ()):
                assert await asyncio.to_thread(left, opened(*more)) == 0, "what the host gave out is good"


async def bots(folder: Path, *address: str) -> list[int | None]:
    """Let two bots play a match; return their exit codes."""
    processes = [await bot(folder, *address) for _ in range(2)]
    for process in processes:
        out, complaint = await process.communicate()
        assert json.loads(out.splitlines()[-1])["games"] == 1, complaint
    return [process.returncode for process in processes]


async def bot(folder: Path, *address: str) -> asyncio.subprocess.Process:
    arguments = [*address, "--bot", "random", "--games", "1", "--opponents", "any", "--json"]
    return await asyncio.create_subprocess_exec(
        sys.executable,
        str(ROOT / "client.py"),
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"TTT_NET_HOME": str(folder / "home")},
    )


async def test_inquiries_report_certificate_errors_too(tmp_path: Path) -> None:
    home = {"TTT_NET_HOME": str(tmp_path / "home"), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    async with running(tmp_path / "data", "--tls-self-signed", scheme="wss") as server:
        question = (f"wss://127.0.0.1:{server.port}", "--leaderboard", "connect4")
        process = await asyncio.create_subprocess_exec(
            *CLIENT, *question, env={**os.environ, **home}, stderr=asyncio.subprocess.PIPE
        )
        _, complaint = await process.communicate()
        assert process.returncode == 3
        assert complaint.startswith(b"client.py: wss://127.0.0.1")
        assert b"its certificate is not trusted" in complaint
        assert b"--tls-fingerprint" in complaint
        terminal = Terminal([*question], {**os.environ, **home})
        await asyncio.to_thread(terminal.shows, "Is it the same?")
        terminal.press("yes\r")
        await asyncio.to_thread(terminal.shows, "ratings at connect4")
        assert await asyncio.to_thread(terminal.ends) == 0


async def test_sighup_reads_the_certificate_again_and_nobody_is_disturbed(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    flags = ["--tls-cert", str(authority.cert), "--tls-key", str(authority.key)]
    async with running(tmp_path / "data", *flags, scheme="wss") as server:
        ann = await Peer.connect(server.url, authority.trusting())
        await ann.hello(name="Ann")
        first = ssl.get_server_certificate(("127.0.0.1", server.port))
        authority.renew()
        server.send(signal.SIGHUP)
        async with asyncio.timeout(PATIENCE_S):
            while await asyncio.to_thread(ssl.get_server_certificate, ("127.0.0.1", server.port)) == first:
                pass
        await ann.ok("ping")
        server.send(signal.SIGTERM)
        assert await ann.close_code() == 1012
        assert await server.exit_code() == 0


def test_a_public_server_does_not_start_without_encryption(tmp_path: Path) -> None:
    assert refused(tmp_path, "--public").startswith("server.py: public: strangers' tokens would go")


async def test_behind_a_proxy_a_public_server_starts(tmp_path: Path) -> None:
    async with running(tmp_path, "--public", "--behind-proxy") as server:
        ann = await server.join("Ann")
        await ann.ok("ping")


def test_a_check_ends_with_a_code_for_scripts(tmp_path: Path) -> None:
    start = command(tmp_path)
    start.insert(2, "check")
    done = subprocess.run([*start, "--public"], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 2
    assert done.stdout.startswith("wrong: public: ")
    file = tmp_path / "server.toml"
    file.write_text("prot = 1")
    done = subprocess.run(
        [*start, "--config", str(file)], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "prot: there is no such setting" in done.stderr
