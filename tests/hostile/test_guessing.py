"""Codes and names: what guessing pays, in numbers and in a server that runs."""

import random
from pathlib import Path

from tests.server.peer import Peer
from tests.server.running import running
from ttt_net.names import looks
from ttt_net.pairing.lobby import CODE_LENGTH, CODE_LETTERS
from ttt_net.server.settings.configuration import Limits

DAY_S = 86_400
LIVE_CODES = 1_000
ADDRESSES = 256
"""Of one /24."""


def test_a_day_of_guessing_from_256_addresses_finds_less_than_one_of_a_thousand_codes() -> None:
    codes = len(CODE_LETTERS) ** CODE_LENGTH
    rate = Limits().wrong_codes
    tries = ADDRESSES * (rate.count + DAY_S * rate.per_s)
    assert tries * LIVE_CODES / codes < 1.0


async def test_a_guesser_with_many_names_gets_as_many_tries_as_one(tmp_path: Path) -> None:
    rng = random.Random(1)
    async with running(tmp_path, Limits(unmetered=())) as server:
        ann = await server.join("Ann")
        await ann.ok("invite", game="tictactoe")
        code = (await ann.hear("invitation"))["code"]
        tried = 0
        for number in range(12):
            eve = await server.join(f"Eve{number}")
            while await eve.refused("join", code=guess(rng, code)) == "unknown_code":
                tried += 1
        assert tried == server.hub.limits.wrong_codes.count


def guess(rng: random.Random, code: str) -> str:
    """Return another code."""
    tried = "".join(rng.choices(CODE_LETTERS, k=CODE_LENGTH))
    return tried if tried != code else "BBBBBB"


async def test_nobody_gets_a_name_that_looks_like_a_taken_one(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        await server.join("Magnus")
        taken = looks("Magnus")
        for double in ("magnus", "MAGNUS", "Ｍａｇｎｕｓ", "Mаgnus", "Magnuѕ", "Mag\u200bnus", "Rnagnus"):
            peer: Peer = await server.connect()
            code = await peer.refused("hello", protocols=[1], name=double)
            assert code in ("name_taken", "bad_name"), double
            await peer.close()
        assert taken


async def test_nobody_gets_a_name_like_those_of_hosts(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        for name in ("admin", "Admin", "ADM1N", "аdmin", "server", "moderator", "system"):
            peer = await server.connect()
            assert await peer.refused("hello", protocols=[1], name=name) == "bad_name", name
            await peer.close()


async def test_no_bot_gets_a_label_like_those_of_hosts(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        labels = (
            "MODERATOR",
            "mоderator",
            "the ADM1N",
            "server-bot",
            "o f f i c i a l",
            "alphabeta",
            "mcts by Ann",
            "",
        )
        shown = []
        for number, label in enumerate(labels):
            peer = await server.connect()
            shown.append((await peer.hello(name=f"Robo{number}", bot=label))["you"]["bot"])
        assert shown == ["bot"] * 5 + ["alphabeta", "mcts by Ann", "bot"]
