"""Previews of links in chats: who plays what, and the board as a picture; nothing of private matches."""

import re
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from tests.server.running import running
from ttt_net.games.catalogue import NAMES, find_game
from ttt_net.server.settings.configuration import Configuration
from ttt_net.server.wire.previews import draw_board

image = pytest.importorskip("PIL.Image", reason="needs Pillow: the extra previews")
PUBLIC = Configuration(public_url="wss://play.example.org")


def tags(page: bytes) -> dict[str, str]:
    """Return the tags for previews of a page."""
    found = re.findall(r'<meta (?:property|name)="(og:title|og:image|twitter:card)" content="([^"]*)"', page.decode())
    return {name: unescape(text) for name, text in found}


def opened(body: bytes) -> Any:
    return image.open(BytesIO(body)).convert("RGB")


async def test_a_link_to_a_match_names_the_players_and_shows_the_board_as_it_is(tmp_path: Path) -> None:
    async with running(tmp_path, configuration=PUBLIC) as server:
        first, _, match = await server.pair(games=["connect4"])
        told = tags((await server.fetch(f"/m/{match}"))[2])
        assert re.fullmatch(r"\w+ – \w+: Connect Four", told["og:title"])
        assert told["og:image"] == f"https://play.example.org/pictures/m/{match}.png?0"
        assert told["twitter:card"] == "summary_large_image"
        path = told["og:image"].removeprefix("https://play.example.org")
        status, headers, before = await server.fetch(path)
        assert (status, headers["Content-Type"]) == (200, "image/png")
        assert headers["Cross-Origin-Resource-Policy"] == "cross-origin"
        assert opened(before).size == (600, 315)
        await first.ask("play", match=match, ply=0, move=38)
        moved = tags((await server.fetch(f"/m/{match}"))[2])
        assert moved["og:image"].endswith(".png?1"), "a chat that keeps pictures gets the new one"
        assert (await server.fetch(path))[2] != before


async def test_nothing_is_told_of_private_and_unknown_matches(tmp_path: Path) -> None:
    async with running(tmp_path, configuration=PUBLIC) as server:
        host, guest = await server.join("Ann"), await server.join("Ben")
        await host.ask("invite", game="tictactoe")
        code = (await host.hear("invitation"))["code"]
        await guest.ask("join", code=code)
        private = (await host.hear("snapshot"))["match"]
        usual = tags((await server.fetch("/"))[2])
        for match in (private, "k3V9pCD5"):
            assert tags((await server.fetch(f"/m/{match}"))[2]) == usual
            assert (await server.fetch(f"/pictures/m/{match}.png"))[0] == 404


async def test_a_link_of_an_invitation_shows_the_board_of_its_game(tmp_path: Path) -> None:
    async with running(tmp_path, configuration=PUBLIC) as server:
        told = tags((await server.fetch("/j?gomoku+swap"))[2])
        assert told["og:title"] == "You are invited to a match: Gomoku with swap"
        status, _, body = await server.fetch(told["og:image"].removeprefix("https://play.example.org"))
        assert (status, opened(body).size) == (200, (600, 315))
        usual = tags((await server.fetch("/j"))[2])
        for text in ("nonsense", "mnk:1x1,40", "<b>", "a" * 60):
            assert tags((await server.fetch(f"/j?{text}"))[2]) == usual
            assert (await server.fetch(f"/pictures/j/{text}.png"))[0] in (400, 404)


@pytest.mark.parametrize("name", NAMES)
def test_every_game_has_a_picture_with_its_first_middle_and_last_cell(name: str) -> None:
    game = find_game(name)
    cells = len(set(game.move_cells) - {-1})
    empty = draw_board(name, "." * cells, ())
    rows = ("." * cell + mark + "." * (cells - cell - 1) for cell in (0, cells // 2, cells - 1) for mark in "XO")
    assert len({empty, *(draw_board(name, row, ()) for row in rows)}) == 7
    assert len(empty) < 20_000
