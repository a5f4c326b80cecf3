"""Take pictures of the page, light and dark, on a phone and on a desk, and put three of them together for the README.

python docs/write_page_pictures.py FOLDER    all pictures, to be looked at
python docs/write_page_pictures.py --sheets FOLDER    a contact sheet for each kind of screen: every game and state
python docs/write_page_pictures.py           docs/page.png and docs/wall.png alone
"""

import asyncio
import base64
import os
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, Playwright, sync_playwright  # noqa: E402 - the tests are found only from here on

from tests.page.place import PHONE, SMALL_PHONE, Place, Scene, Stage, Visitor  # noqa: E402
from ttt_net import messages as wire  # noqa: E402
from ttt_net.clock import TimeControl  # noqa: E402
from ttt_net.games import find_game  # noqa: E402
from ttt_net.games.catalogue import NAMES  # noqa: E402
from ttt_net.sdk.client import Client, connect  # noqa: E402

DESK: dict[str, Any] = {"viewport": {"width": 1280, "height": 860}}
LOOKS: dict[str, dict[str, Any]] = {
    f"{size}-{colours}": options | {"color_scheme": colours, "reduced_motion": "reduce"}
    for size, options in (("phone", PHONE), ("desk", DESK))
    for colours in ("light", "dark")
}
CONNECT4 = (3, 3, 2, 4, 4, 2, 5, 5, 1, 1, 3)
QUBIC = (21, 42, 22, 37, 26, 5, 41, 16, 63, 48, 0)
ULTIMATE = (40, 30, 0, 10, 41, 33, 20, 60, 39, 27, 1, 3, 9, 28, 4, 12)
CLASS = (
    "Ada",
    "Ben",
    "Cleo",
    "Dan",
    "Eve",
    "Finn",
    "Gus",
    "Hana",
    "Ida",
    "Jan",
    "Kim",
    "Leo",
    "Mo",
    "Noa",
    "Olga",
    "Pau",
)
CLASS_PLIES, CLASS_BOARDS = 8, 6
"""The moves at each board of the second round, and how many boards are not decided at once."""
CHART = (3, 3, 2, 4, 4, 5, 1)


@contextmanager
def server(browser: Browser) -> Iterator[Place]:
    """Run a server on an empty journal inside the block."""
    with tempfile.TemporaryDirectory() as folder, Place(browser, Path(folder)) as place:
        yield place


def play(first: Visitor, second: Visitor, cells: tuple[int, ...]) -> None:
    """Play cells that are still free, by turns."""
    for turn, cell in enumerate(cells):
        mover = (first, second)[turn % 2]
        mover.await_turn()
        target = mover.page.locator(f"#cell-{cell}")
        if "free" not in (target.get_attribute("class") or "") and not mover.page.locator(".gravity").count():
            target = mover.page.locator(".cell.free").first
        target.dispatch_event("click")
        mover.page.locator(".boards.mine").wait_for(state="detached")
        mover.page.locator(".status", has_text="Sending").wait_for(state="detached")


async def hold_round(address: str, told: "queue.Queue[str]", is_seen: threading.Event) -> None:
    """Hold a Swiss of a class up to the middle of its second round; `told` gets its code then."""
    async with AsyncExitStack() as open_clients:
        players = [await open_clients.enter_async_context(connect(f"ws://{address}", name)) for name in CLASS]
        terms = wire.OrganiseRequest(0, "Friday", "swiss", TimeControl(180_000, 2_000), "connect4", pause_s=0)
        code = (await players[0].ask_for(terms, wire.TournamentReply)).tournament
        for player in players:
            await player.ask(wire.EnterRequest(0, code))
        await players[0].ask(wire.DirectRequest(0, code, "start"))
        await asyncio.gather(*(play_rounds(player, number) for number, player in enumerate(players)))
        told.put(code)
        await asyncio.to_thread(is_seen.wait)


async def play_rounds(player: Client, number: int) -> None:
    """Have the first round decided at once, and some boards of the second; play some moves at the others."""
    luck, match, side, is_played = random.Random(number), "", None, False
    async for event in player:
        if isinstance(event, wire.Snapshot) and event.tournament is not None:
            match, side = event.match, event.you
            is_played = event.tournament.round > 1 and event.tournament.board <= CLASS_BOARDS
            if not is_played and side == 1:
                await player.ask(wire.ResignRequest(0, match))
            if not is_played and event.tournament.round > 1:
                return
        if is_played and isinstance(event, wire.Snapshot | wire.Played) and event.match == match:
            position = event.position
            if position is None or position.ply >= CLASS_PLIES or position.to_move is None:
                return
            if position.to_move == side:
                await player.ask(wire.PlayRequest(0, match, position.ply, luck.choice(position.legal)))


def start(command: list[str]) -> subprocess.Popen[bytes]:
    """Start a program that says nothing."""
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603 - our own client


class Album:
    """Keeps the pictures of one look."""

    def __init__(self, browser: Browser, folder: Path, look: str) -> None:
        self._browser = browser
        self._folder = folder
        self._look = look

    def keep(self, visitor: Visitor, name: str) -> None:
        """Take a picture, with the mouse out of it."""
        visitor.page.mouse.move(0, 0)
        visitor.page.screenshot(path=self._folder / f"{name}-{self._look}.png", animations="disabled")

    def match(self, name: str, game: str, cells: tuple[int, ...], *, is_resigned: bool = False) -> None:
        """Take a picture of a match after some moves; with the analysis, if it is resigned then."""
        with server(self._browser) as place:
            first, second = place.pair(game, "3+2", **LOOKS[self._look])
            play(first, second, cells)
            if is_resigned:
                second.press("Resign")
                second.press("Yes, resign")
                first.until("You won")
                if first.page.get_by_role("button", name="Analyse").count():
                    first.press("Analyse")
                    first.page.get_by_role("heading", name="Analysis").wait_for(timeout=90_000)
                    first.page.locator("h1").scroll_into_view_if_needed()
            first.page.locator(".toast").wait_for(state="detached")
            self.keep(first, name)
            if is_resigned:
                first.page.locator(".side").scroll_into_view_if_needed()
                self.keep(first, f"{name}-below")

    def lobby(self) -> None:
        """Take pictures of the lobby with somebody of each kind in it."""
        with server(self._browser) as place:
            command = [sys.executable, str(ROOT / "client.py"), place.address, "--bot"]
            bots = [start([*command, name]) for name in ("alphabeta", "mcts")]
            try:
                cleo = place.visitor().come("Cleo")
                place.pair("connect4", "3+2")
                ann = place.visitor(**LOOKS[self._look])
                ann.page.goto(place.url)
                ann.page.get_by_label("Choose a name").wait_for()
                self.keep(ann, "welcome")
                ann.come("Dora")
                cleo.seek("ultimate", "10+5")
                for text in ("alphabeta", "mcts", "Play Cleo", "Watch"):
                    ann.page.get_by_role("button", name=text).first.wait_for()
                self.keep(ann, "lobby")
                ann.page.get_by_role("heading", name="Play a bot").scroll_into_view_if_needed()
                self.keep(ann, "lobby-below")
            finally:
                for bot in bots:
                    bot.terminate()
                    bot.wait()

    def wall(self) -> None:
        """Take a picture of the wall while a class plays."""
        with server(self._browser) as place:
            told, is_seen = queue.Queue[str](), threading.Event()
            held = threading.Thread(target=asyncio.run, args=(hold_round(place.address, told, is_seen),))
            held.start()
            try:
                visitor = place.visitor(**LOOKS[self._look] | {"viewport": {"width": 960, "height": 540}})
                visitor.page.goto(f"{place.url}/#wall={told.get(timeout=60)}")
                visitor.page.locator(".board-of .boards").nth(CLASS_BOARDS - 1).wait_for()
                self.keep(visitor, "wall")
            finally:
                is_seen.set()
                held.join()


SHEETS: dict[str, dict[str, Any]] = {
    "320": SMALL_PHONE,
    "390-dark": PHONE | {"color_scheme": "dark"},
    "lying": PHONE | {"viewport": {"width": 740, "height": 360}},
    "desk": DESK,
    "320-arabic": SMALL_PHONE | {"locale": "ar"},
    "390-large-text": PHONE,
    "desk-forced-colours": DESK | {"forced_colors": "active"},
}
"""Kinds of screens, each with a contact sheet."""


def match_of(game: str, plies: int | None) -> Scene:
    """Return a match after so many moves at random, or at its end."""
    rules = find_game(game)
    state, luck, cells = rules.initial, random.Random(2), list[int]()
    while not rules.is_terminal(state) and len(cells) != plies:
        first = {rules.move_cells[move]: move for move in reversed(rules.actions(state))}  # as `Scene` plays them
        moves = list(first.values())
        ends = [each for each in moves if rules.is_terminal(rules.result(state, each))]
        move = luck.choice(ends if plies is None and ends else [each for each in moves if each not in ends] or moves)
        cells.append(rules.move_cells[move])
        state = rules.result(state, move)
    return Scene(game, tuple(cells))


def take_sheet(place: Place, kind: str, target: Path) -> None:
    """Put pictures of all games onto one sheet: early in a match, later, and at its end."""
    options = SHEETS[kind]
    sources: list[str] = []
    for game in NAMES:
        for plies in (1, 6, None):
            visitor = place.visitor(**options)
            Stage(visitor, match_of(game, plies).snapshot()).open(f"/m/{game}")
            visitor.page.locator("main.match .cell").first.wait_for()
            if "large" in kind:
                visitor.page.evaluate("document.documentElement.style.fontSize = '200%'")
            shot = visitor.page.screenshot(type="jpeg", animations="disabled", scale="css")
            sources.append(f"data:image/jpeg;base64,{base64.b64encode(shot).decode()}")
            visitor.page.context.close()
    width = options["viewport"]["width"]
    sheet = place.visitor(viewport={"width": 6 * (width // 2 + 8), "height": 600}).page
    images = "".join(f"<img src='{source}' width={width // 2}>" for source in sources)
    sheet.set_content(f"<body style='margin:0;display:flex;flex-wrap:wrap;gap:8px;background:#8a93a6'>{images}")
    sheet.locator("img").last.wait_for()
    sheet.screenshot(path=target, full_page=True)


def take_sheets(folder: Path) -> None:
    """Take all contact sheets."""
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = opened(playwright)
        for kind in SHEETS:
            with server(browser) as place:
                take_sheet(place, kind, folder / f"{kind}.png")
        browser.close()


def together(browser: Browser, pictures: list[Path], target: Path) -> None:
    """Put pictures side by side into one."""
    page = browser.new_page(viewport={"width": 940, "height": 628})
    sources = [f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}" for path in pictures]
    page.set_content(
        "<style>body{margin:0;display:flex;gap:14px;padding:14px;background:#8a93a6}"
        "img{width:294px;border-radius:22px}</style>" + "".join(f"<img src='{source}'>" for source in sources)
    )
    page.locator("img").last.wait_for()
    page.screenshot(path=target)
    page.close()


def opened(playwright: Playwright) -> Browser:
    """Open the Chromium of this machine."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    return playwright.chromium.launch(executable_path=chromium, args=options)


def main(folder: Path, looks: list[str]) -> None:
    """Take the pictures of these looks; with two of them, only what the README and the docs need."""
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = opened(playwright)
        for look in looks:
            album = Album(browser, folder, look)
            album.lobby()
            album.match("match", "connect4", CONNECT4)
            album.match("ultimate", "ultimate", ULTIMATE)
            if look.startswith("desk"):
                album.wall()
            if len(looks) > 1:
                album.match("qubic", "qubic", QUBIC)
                album.match("analysis", "connect4", CHART, is_resigned=True)
        names = ("lobby-phone-light", "match-phone-dark", "ultimate-phone-light")
        pictures = [folder / f"{name}.png" for name in names]
        if len(looks) == 2:
            together(browser, pictures, ROOT / "docs" / "page.png")
            Album(browser, folder, "desk-light").wall()
            shutil.copyfile(folder / "wall-desk-light.png", ROOT / "docs" / "wall.png")
        browser.close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--sheets"]:
        take_sheets(Path(sys.argv[2]))
    elif len(sys.argv) > 1:
        main(Path(sys.argv[1]), list(LOOKS))
    else:
        with tempfile.TemporaryDirectory() as made:
            main(Path(made), ["phone-light", "phone-dark"])
