"""The three example packages, installed with pip as a stranger would, on a real server and over the protocol alone."""

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.end_to_end.process import ROOT, send
from tests.patience import PATIENCE_S
from tests.server.peer import Message, Peer

EXAMPLES = ("hex", "othello", "pente")
ENDS = {"hex": {"connection"}, "othello": {"discs", "draw"}, "pente": {"line", "capture", "draw"}}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the packages into a folder of their own; return it."""
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--no-index"]
    packages = [str(ROOT / "examples" / name) for name in EXAMPLES]
    subprocess.run([*pip, "--target", str(folder), *packages], check=True, timeout=300)
    return folder


@asynccontextmanager
async def serving(data: Path, added: Path | None) -> AsyncIterator[str]:
    """Run a server that sees the packages in `added`; yield its address."""
    environment = {**os.environ, "TTT_NET_HOUSE_BOTS": "no", "PYTHONPATH": str(added or "")}
    words = [str(ROOT / "server.py"), "--host", "127.0.0.1", "--port", "0", "--data", str(data)]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *words, stdout=asyncio.subprocess.PIPE, env=environment
    )
    try:
        assert process.stdout is not None
        line = await process.stdout.readline()
        async with asyncio.timeout(2 * PATIENCE_S):
            yield line.decode().removeprefix("listening on ").strip()
    finally:
        if process.returncode is None:
            send(process, signal.SIGTERM)
        await process.wait()


async def play_to_the_end(players: list[Peer], snapshot: Message, luck: random.Random) -> tuple[Message, int]:
    """Let both players make random legal moves; return the end, and the number of moves."""
    match, position = snapshot["match"], snapshot["position"]
    plies = 0
    while True:
        side, move = position["to_move"], luck.choice(position["legal"])
        await players[side].say("play", match=match, ply=position["ply"], move=move)
        for player in players:
            position = (await player.hear("played", match=match, ply=plies + 1))["position"]
        plies += 1
        if position["to_move"] is None:
            return await players[0].hear("ended", match=match), plies


@pytest.mark.parametrize("game", EXAMPLES)
async def test_a_game_of_a_package_is_played_explained_and_recorded(game: str, installed: Path, tmp_path: Path) -> None:
    luck = random.Random(game)
    async with serving(tmp_path / "data", installed) as url:
        ann, ben = await Peer.connect(url), await Peer.connect(url)
        welcome = await ann.hello(name="Ann")
        await ben.hello(name="Ben")
        assert game in [added["name"] for added in welcome["games"]]
        await ann.ok("challenge", name="Ben", game=game)
        challenge = await ben.hear("challenged")
        await ben.ok("answer", challenge=challenge["challenge"], accept=True)
        snapshots = [await player.hear("snapshot") for player in (ann, ben)]
        players = sorted((ann, ben), key=lambda player: snapshots[(ann, ben).index(player)]["you"])
        ended, plies = await play_to_the_end(players, snapshots[0], luck)
        assert ended["reason"] in ENDS[game]
        await ann.ok("rules", game=game)
        assert (await ann.hear("rules"))["goal"]
        await ann.ok("record", match=snapshots[0]["match"])
        record = (await ann.hear("record"))["text"]
        assert f"Game: {game}\n" in record
        assert f"Reason: {ended['reason']}\n" in record
        assert f"\n{plies}. " in record


async def test_a_server_without_the_package_still_starts_and_refuses_its_matches_alone(
    installed: Path, tmp_path: Path
) -> None:
    async with serving(tmp_path / "data", installed) as url:
        ann, ben = await Peer.connect(url), await Peer.connect(url)
        await ann.hello(name="Ann")
        await ben.hello(name="Ben")
        await ann.ok("challenge", name="Ben", game="othello")
        await ben.ok("answer", challenge=(await ben.hear("challenged"))["challenge"], accept=True)
        match = (await ann.hear("snapshot"))["match"]
        token = ann.token
    async with serving(tmp_path / "data", None) as url:
        again, carl = await Peer.connect(url), await Peer.connect(url)
        welcome = await again.hello(name="Ann", token=token)
        await carl.hello(name="Carl")
        assert "games" not in welcome
        assert welcome["matches"] == [match]
        refused = await again.answer(await again.say("resume", match=match, seq=0))
        assert (refused["type"], refused["code"]) == ("refused", "unknown_game"), refused
        await again.ok("challenge", name="Carl", game="connect4")
        await carl.ok("answer", challenge=(await carl.hear("challenged"))["challenge"], accept=True)
        assert (await again.hear("snapshot"))["game"]["name"] == "connect4"
