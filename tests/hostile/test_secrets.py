"""Secrets that nobody may find: tokens in files, logs, arguments and figures, and on the wire what is for others."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.end_to_end.process import ROOT, Process, running
from tests.patience import PATIENCE_S
from tests.server.admin.attended import attended
from tests.server.peer import HANDSHAKE, Peer, RawPeer
from tests.server.running import running as serving

EVIL = '\n{"level":"error","message":"planted"}\r\x1b[2J\x1b]0;title\x07\x9b31m\u202e\u2028'
"""Ends a line, looks like a line, moves the cursor, sets a title, in eight bits too, and turns the reading around."""


async def everything_said(server: Process) -> list[str]:
    """Have players do a bit of everything; return their tokens and a private code."""
    ann, bob = await server.join("Ann"), await Peer.connect(server.url)
    refused = await bob.ask("hello", protocols=[1], name=f"Bob{EVIL}", bot=EVIL, client=EVIL)
    assert all(character.isprintable() for character in refused["message"])
    await bob.hello(name="Bob", bot=EVIL, client=EVIL)
    for peer in (ann, bob):
        await peer.ok("seek", games=["tictactoe"])
    match = (await ann.hear("snapshot"))["match"]
    await bob.hear("snapshot")
    await ann.ask("chat", match=match, text=EVIL)
    await ann.ok("abort", match=match)
    await ann.ok("invite", game="tictactoe")
    code = (await ann.hear("invitation"))["code"]
    again = await Peer.connect(server.url)
    await again.hello(token=ann.token)
    wrong = await Peer.connect(server.url)
    stolen = "A" * 43
    assert await wrong.refused("hello", protocols=[1], token=stolen) == "unknown_token"
    await wrong.socket.send(f'{{"type":"hello","id":1,"token":"{stolen}')
    for line in (b"GET /?token=" + ann.token.encode() + b" HTTP/1.1\r\n\r\n", opening(EVIL.encode())):
        raw = await RawPeer.connect(server.port)
        await raw.send(line)
        assert await raw.status() in (200, 400, 403, 404, None)
        raw.close()
    return [ann.token, bob.token, stolen, code]


def opening(evil: bytes) -> bytes:
    """Return an opening whose headers hold what a log should not."""
    value = evil.replace(b"\r", b"").replace(b"\n", b"")
    lines = (b"Origin: " + value, b"User-Agent: " + value, b"X-Forwarded-For: " + value)
    return HANDSHAKE.removesuffix(b"\r\n") + b"\r\n".join(lines) + b"\r\n\r\n"


@pytest.mark.parametrize("form", ["plain", "json"])
async def test_no_token_is_in_files_logs_or_arguments_and_the_log_is_whole(tmp_path: Path, form: str) -> None:
    log = tmp_path / "log"
    with log.open("wb") as errors:
        flags = ("--log-format", form, "--log-level", "debug")
        async with running(tmp_path / "data", *flags, errors=errors) as server:
            secrets = await everything_said(server)
            seen = of_process(server.process.pid)
            server.send(signal.SIGTERM)
            assert server.process.stdout is not None
            seen.append(await server.process.stdout.read())
            assert await server.exit_code() == 0
    files = [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"journal.sqlite"}
    seen.append(log.read_bytes())
    *tokens, code = secrets
    assert not [place for place in seen if code.encode() in place], "it waits for a friend in the journal alone"
    seen += [path.read_bytes() for path in files]
    for token in tokens:
        assert not [place for place in seen if token.encode() in place]
    for path in files:
        assert path.stat().st_mode & 0o077 == 0, f"{path.name} is for others to read"
    check_log(log.read_text(), form)


def of_process(pid: int) -> list[bytes]:
    """Return what others on the machine may see of a process: its arguments and its environment."""
    proc = Path(f"/proc/{pid}")
    return [(proc / name).read_bytes() for name in ("cmdline", "environ")] if proc.exists() else []


def check_log(text: str, form: str) -> None:
    """Check that each line is one of the server's own, and that a terminal obeys none of it."""
    assert text, "at this level something is logged"
    assert all(character.isprintable() or character == "\n" for character in text)
    for line in text.splitlines():
        if form == "json":
            assert json.loads(line)["message"] != "planted"
        else:
            assert line.startswith(("20", "    ")), line


async def test_metrics_contain_no_token_and_no_name_as_a_label(tmp_path: Path) -> None:
    pytest.importorskip("prometheus_client")
    async with attended(tmp_path) as each:
        first, second, match = await each.server.pair("Ann", "Bob")
        await first.ok("resign", match=match)
        status, text = await each.http("/metrics", each.authorization)
        assert status == 200
        for secret in (first.token, second.token, match, "Ann", "Bob", each.listener.token):
            assert secret not in text


async def test_the_client_has_its_token_in_private_files_and_nowhere_else(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with serving(tmp_path / "data") as server:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(ROOT / "client.py"),
            f"127.0.0.1:{server.port}",
            "--bot",
            "random",
            "--json",
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=os.environ | {"TTT_NET_HOME": str(home)},
        )
        try:
            assert process.stdout is not None
            async with asyncio.timeout(PATIENCE_S):
                line = await process.stdout.readline()
                while b'"welcome"' not in line:
                    assert line, "it ended"
                    line = await process.stdout.readline()
                line += await process.stdout.readline()  # the answer to what it said once the token was kept
            files = [*home.iterdir()]
            (token,) = {json.loads(file.read_text())["token"] for file in files if file.suffix == ".json"}
            assert not [file for file in files if file.stat().st_mode & 0o077]
            assert home.stat().st_mode & 0o077 == 0
            assert not [place for place in of_process(process.pid) if token.encode() in place]
        finally:
            process.terminate()
            out, errors = await process.communicate()
        assert token.encode() not in line + out + errors, "nor in what --json repeats of what was heard"


async def test_nobody_receives_messages_for_others(tmp_path: Path) -> None:
    """Watchers and lobby subscribers receive no token, no address, no code and nothing about private matches."""
    async with serving(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        first, second, public = await server.pair("Carl", "Dora")
        eve = await server.join("Eve")
        await eve.ok("lobby", on=True)
        await eve.ok("watch", match=public)
        await ann.ok("invite", game="tictactoe")
        code = (await ann.hear("invitation"))["code"]
        await bob.ok("join", code=code)
        private = (await bob.hear("snapshot"))["match"]
        await first.ok("play", match=public, ply=0, move=4)
        await ann.ok("who")
        for asked in ("who", "matches", "profile", "history", "leaderboard"):
            fields = {"profile": {"name": "Ann"}, "history": {"name": "Ann"}, "leaderboard": {"game": "tictactoe"}}
            await eve.ask(asked, **fields.get(asked, {}))
        await refused_everything(eve, private)
        server.tick(3.0)
        await eve.ok("ping")
        heard = json.dumps(list(eve.heard))
        secrets = [peer.token for peer in (ann, bob, first, second)] + [code, private, "127.0.0.1", str(tmp_path)]
        assert [secret for secret in secrets if secret in heard] == []
        assert public in heard


async def refused_everything(peer: Peer, match: str) -> None:
    """Ask for whatever there is to ask of a match that one has no business with."""
    for type_, fields in (
        ("watch", {}),
        ("resume", {"seq": 0}),
        ("play", {"ply": 0, "move": 0}),
        ("resign", {}),
        ("abort", {}),
        ("offer", {"kind": "draw"}),
        ("offer", {"kind": "rematch"}),
        ("decline", {"kind": "draw"}),
        ("claim", {"kind": "win"}),
        ("chat", {"text": "hello"}),
        ("replay", {}),
        ("record", {}),
    ):
        assert (await peer.ask(type_, match=match, **fields))["type"] == "refused", type_
    peer.heard = type(peer.heard)(each for each in peer.heard if each["type"] != "refused")


async def test_nobody_moves_for_another(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        first, second, match = await server.pair()
        eve = await server.join("Eve")
        await eve.ok("watch", match=match)
        for type_, fields in (
            ("play", {"ply": 0, "move": 0}),
            ("resign", {}),
            ("abort", {}),
            ("offer", {"kind": "draw"}),
            ("offer", {"kind": "takeback"}),
            ("decline", {"kind": "draw"}),
            ("claim", {"kind": "win"}),
        ):
            assert await eve.refused(type_, match=match, **fields) in ("not_seated", "illegal_move"), type_
        assert await second.refused("play", match=match, ply=0, move=0) == "not_your_turn"
        await first.play(match, (first, 4), (second, 0))
        assert (await first.resume(match))["moves"] == [4, 0]


async def test_two_clients_with_one_token_take_turns_and_harm_only_themselves(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        first, second, match = await server.pair()
        token, last = first.token, first
        for turn in range(20):
            peer = await server.connect()
            await peer.hello(token=token)
            assert await last.close_code() == 4001
            await peer.resume(match)
            last = peer
            if turn % 5 == 0 and turn < 15:
                ply = turn // 5
                await (peer, second)[ply % 2].ok("play", match=match, ply=ply, move=ply)
        assert len(server.sessions) == 2
        assert (await second.resume(match))["moves"] == [0, 1, 2]


INJECTIONS = [
    "'; DROP TABLE facts; --",
    '" OR 1=1 --',
    "Robert'); DELETE FROM players;--",
    "%00",
    "\\",
    "NULL",
    "1e999",
    "../../etc/passwd",
    "{{7*7}}",
    "${jndi:ldap://x}",
    "<script>alert(1)</script>",
    "A" * 200,
]


@pytest.mark.parametrize("text", INJECTIONS)
async def test_chat_is_never_executed_as_sql(tmp_path: Path, text: str) -> None:
    async with serving(tmp_path) as server:
        await server.join("Ann")
        peer = await server.connect()
        if (await peer.ask("hello", protocols=[1], name=text, bot=text))["type"] == "refused":
            await peer.hello(name="Eve")
        for type_, fields in (
            ("seek", {"games": [text[:40]]}),
            ("challenge", {"name": text}),
            ("join", {"code": text}),
            ("resume", {"match": text, "seq": 0}),
            ("watch", {"match": text}),
            ("rename", {"name": text}),
            ("profile", {"name": text}),
            ("history", {"name": text, "game": text, "before": text}),
            ("leaderboard", {"game": text[:40]}),
            ("replay", {"match": text}),
            ("record", {"match": text}),
            ("forget", {"name": text}),
        ):
            answer = await peer.ask(type_, **fields)
            assert answer["type"] == "ok" or answer["code"] != "storage", (type_, answer)
        assert (await server.pair("Carl", "Dora"))[2]
    async with serving(tmp_path) as server:
        peer = await server.connect()
        assert await peer.refused("hello", protocols=[1], name="Ann") == "name_taken", "she is there still"
