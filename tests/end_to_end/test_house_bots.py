"""A server seats bots by itself, so that nobody is alone on it."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.end_to_end.process import ROOT, send
from tests.patience import PATIENCE_S
from tests.server.encrypted_peer import Authority
from tests.server.peer import Message, Peer
from tests.server.running import until
from ttt_net.client.bot.house import CHARACTERS
from ttt_net.server.announcing import ServerAddress
from ttt_net.server.house_bots import house_bots

NAMES = {character.name for character in CHARACTERS}


@asynccontextmanager
async def serving(folder: Path, *more: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """Run a server with house bots; yield its process and address."""
    words = [str(ROOT / "server.py"), "--host", "127.0.0.1", "--port", "0", "--data", str(folder), *more]
    environment = {**os.environ, "TTT_NET_HOUSE_BOTS": "yes"}
    process = await asyncio.create_subprocess_exec(
        sys.executable, *words, stdout=asyncio.subprocess.PIPE, env=environment
    )
    try:
        assert process.stdout is not None
        line = await process.stdout.readline()
        async with asyncio.timeout(2 * PATIENCE_S):
            yield process, line.decode().removeprefix("listening on ").strip()
    finally:
        if process.returncode is None:
            send(process, signal.SIGTERM)
        await process.wait()


async def bots_here(ann: Peer, names: set[str]) -> dict[str, Message]:
    """Wait until exactly those bots are listed; return their rows."""
    await ann.ok("lobby", on=True)
    while True:
        rows = {row["name"]: row for row in (await ann.hear("players"))["players"] if row.get("bot")}
        if rows.keys() == names:
            await ann.ok("lobby", on=False)
            return rows


async def ends(process: int) -> None:
    """Wait until a process that is not ours has ended."""
    try:
        watched = os.pidfd_open(process)
    except ProcessLookupError:
        return
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(watched, ended.set)
    try:
        async with asyncio.timeout(PATIENCE_S):
            await ended.wait()
    finally:
        asyncio.get_running_loop().remove_reader(watched)
        os.close(watched)


def house_process(server: int) -> int:
    """Return the number of the process that the server has started."""
    (child,) = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    return int(child)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="asks the kernel for the children of a process")
async def test_house_bots_play_at_any_level_come_back_when_they_die_and_go_with_the_server(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, url):
        ann = await Peer.connect(url)
        await ann.hello(name="Ann")
        rows = await bots_here(ann, NAMES)
        assert rows["Mia"]["any_level"]
        assert [rows[each.name]["level"] for each in CHARACTERS] == [each.level for each in CHARACTERS]

        await ann.ok("challenge", name="Mia", game="tictactoe", level=7)
        match = await ann.hear("snapshot")
        assert match["players"][1 - match["you"]]["level"] == 7
        if match["you"] == 0:
            await ann.ok("play", match=match["match"], ply=0, move=0)
            await ann.hear("played", match=match["match"], ply=1)
        await ann.hear("played", match=match["match"], ply=1 + (match["you"] == 0))

        first = house_process(server.pid)
        os.kill(first, signal.SIGKILL)
        for is_here in (False, True):
            await ann.hear("presence", match=match["match"], online=is_here)
        await bots_here(ann, NAMES)
        second = house_process(server.pid)
        assert second != first
        assert os.getpriority(os.PRIO_PROCESS, second) > os.getpriority(os.PRIO_PROCESS, server.pid)
        await ann.close()
        send(server, signal.SIGTERM)
        assert await server.wait() == 0
        await ends(second)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="asks the kernel for the children of a process")
async def test_a_bot_plays_a_house_bot_by_challenge_and_by_seek_and_others_say_that_they_do_not(tmp_path: Path) -> None:
    async with serving(tmp_path) as (_, url):
        bot = await Peer.connect(url)
        await bot.hello(name="Zed", bot="random", places=2)
        await bots_here(bot, {*NAMES, "Zed"})
        assert await bot.refused("challenge", name="Sophia", game="tictactoe") == "not_welcome"
        await bot.ok("challenge", name="Mia", game="tictactoe", level=3)
        match = await bot.hear("snapshot")
        assert match["players"][1 - match["you"]] == {"name": "Mia", "bot": "beginner", "level": 3}
        await bot.ok("seek", games=["connect4"], opponents="bots")
        other = await bot.hear("snapshot")
        assert [player["name"] for player in other["players"]][1 - other["you"]] == "Mia"


async def test_house_bots_do_not_outlive_a_server_that_is_killed(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, url):
        ann = await Peer.connect(url)
        await ann.hello(name="Ann")
        await bots_here(ann, NAMES)
        house = house_process(server.pid)
        send(server, signal.SIGKILL)
        await server.wait()
        await ends(house)
        await ann.close()


async def test_a_server_with_tls_has_them_too_and_they_keep_their_names(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    tls = ("--tls-cert", str(authority.cert), "--tls-key", str(authority.key))
    for _ in range(2):
        async with serving(tmp_path / "data", *tls) as (_, url):
            ann = await Peer.connect(url, authority.trusting())
            await ann.hello()
            await bots_here(ann, NAMES)
            await ann.close()


async def test_failed_bots_are_restarted_but_dismissed_ones_are_not(tmp_path: Path) -> None:
    where = ServerAddress("a test", "127.0.0.1", 1, tmp_path)
    log = tmp_path / "log"
    script = f"open({str(log)!r}, 'a').write('x'); import sys; sys.exit(len(open({str(log)!r}).read()) < 3)"
    async with house_bots(where, tmp_path, None, (sys.executable, "-c", script), (0.0,)):
        await until(lambda: log.exists() and log.read_text() == "xxx")
    assert log.read_text() == "xxx"


async def test_programs_of_a_file_play_beside_the_house_bots(tmp_path: Path) -> None:
    engine = tmp_path / "first.py"
    engine.write_text(
        "import sys\nfor line in sys.stdin:\n    word, *rest = line.split()\n"
        "    if word == 'legal': first = rest[0]\n"
        "    print('ttiok' if word == 'tti' else f'bestmove {first}' if word == 'go' else 'info', flush=True)\n"
    )
    file = tmp_path / "engines.toml"
    file.write_text(
        f'[[engine]]\nname = "Ada"\ncommand = "{sys.executable} {engine}"\nseat = {{about = "the first"}}\n'
    )
    async with serving(tmp_path, "--house-engines", str(file)) as (_, url):
        ann = await Peer.connect(url)
        await ann.hello(name="Ann")
        rows = await bots_here(ann, NAMES | {"Ada"})
        assert rows["Ada"]["about"] == "the first"
        await ann.ok("challenge", name="Ada", game="connect4")
        match = await ann.hear("snapshot")
        if match["you"] == 0:
            await ann.ok("play", match=match["match"], ply=0, move=38)
            await ann.hear("played", match=match["match"], ply=1)
        await ann.hear("played", match=match["match"], ply=1 + (match["you"] == 0))
        await ann.close()
