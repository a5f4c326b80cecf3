"""`demo`: two bots play over a real server, each a process of its own; the server is killed in mid-match and back.

In a terminal marks fall and the winning line flashes; elsewhere every position is printed.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import IO

from msgspec import structs
from rich.console import Console, RenderableType
from rich.live import Live
from rich.text import Text

from ttt_net import messages as wire
from ttt_net.client import words
from ttt_net.client.display import Display
from ttt_net.client.drawing.board import draw_board
from ttt_net.client.drawing.glyphs import glyphs_for
from ttt_net.client.update import update
from ttt_net.client.world import World
from ttt_net.errors import ConfigurationError, Refusal
from ttt_net.games import find_game
from ttt_net.programs import PLAY, SERVE, beside_us

BOTS = (("Mia", "6"), ("Leo", "4"))
"""The players' names and levels: far enough apart that a line is completed."""
KILLED_AT_PLY = 6
"""The server is killed once so many moves are made; a shorter match of another game is played without that."""
PACE_MS, PLAIN_PACE_MS = 150, 40
"""How long the bots wait before each move, in a terminal and elsewhere."""
FRAME_S = 0.03
"""How long a falling mark is seen in each row."""
PAUSE_S = 1.2
"""How long a sentence stays that has to be read."""
FLASHES = 3
_FLASH_S = 0.25
_SIZE = (60, 30)
"""The columns and rows that a board has at most."""
_ROWS_AROUND = 5
"""The lines of a picture besides its board, and the cursor's."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    parser.add_argument("--game", default="connect4", help="what they play (default %(default)s)")


def run(args: argparse.Namespace) -> int:
    """Show one match from the first position to how to join in; return 0 if it was played to its end."""
    find_game(args.game)
    console = Console(markup=False, highlight=False, emoji=False)
    stage = _Stage(console)
    with tempfile.TemporaryDirectory(prefix="ttt_net-demo-") as folder, ExitStack() as processes:
        server = _Server(folder, processes)
        console.print(f"A server is listening on {server.url}.")
        pace_ms = PACE_MS if stage.is_moving else PLAIN_PACE_MS
        bots = [
            processes.enter_context(
                _process(
                    *("play", server.url, "--bot", "alphabeta", "--level", level, "--name", name),
                    *("--game", args.game, "--games", "1", "--pace", str(pace_ms), "--json"),
                    home=folder,
                    is_heard=name == BOTS[0][0],
                )
            )
            for name, level in BOTS
        ]
        console.print(f"Two clients join it, each a process of its own: {' and '.join(name for name, _ in BOTS)}.\n")
        match = stage.show(bots[0], server)
    if match is None or match.outcome is None:
        raise ConfigurationError("the match was not played to its end; please report this")
    console.print(f"The match is over. {_result(match)} All of it is stopped.\n")
    console.print(f"Now you. Against the computer, here:  {PLAY} --local --o alphabeta", soft_wrap=True)
    console.print(f"Host friends on this network:         {PLAY} --host", soft_wrap=True)
    console.print(f"In a browser, http://localhost:8765/: {SERVE}", soft_wrap=True)
    return 0


@contextmanager
def _process(*arguments: str, home: str, is_heard: bool = True) -> Iterator[subprocess.Popen[str]]:
    """Run `python -m ttt_net ARGUMENTS` for as long as the context lasts; what nobody hears goes nowhere."""
    command = [sys.executable, "-m", "ttt_net", *arguments]
    environment = {**beside_us(os.environ), "TTT_NET_HOME": home, "PYTHONUNBUFFERED": "1"}
    output = subprocess.PIPE if is_heard else subprocess.DEVNULL
    with subprocess.Popen(command, stdout=output, text=True, env=environment) as process:  # noqa: S603 - ours
        try:
            yield process
        finally:
            process.terminate()


def _output(process: subprocess.Popen[str]) -> IO[str]:
    assert process.stdout is not None, "its output is piped"
    return process.stdout


class _Server:
    """The server of the demo, which is killed and comes back on its port, with its journal."""

    def __init__(self, folder: str, processes: ExitStack) -> None:
        self._folder = folder
        self._processes = processes
        self._process = self._started("0")
        self.url = self._first_line()

    def kill(self) -> None:
        """End it as a power cut does, without a word."""
        self._process.kill()
        self._process.wait()

    def restart(self) -> None:
        """Start it again where it was, and wait until it listens."""
        self._process = self._started(self.url.rpartition(":")[2])
        self._first_line()

    def _started(self, port: str) -> subprocess.Popen[str]:
        where = ("--host", "127.0.0.1", "--port", port, "--data", self._folder)
        return self._processes.enter_context(_process("serve", *where, "--no-house-bots", home=self._folder))

    def _first_line(self) -> str:
        line = _output(self._process).readline().strip()
        if not line:
            raise ConfigurationError("the server did not start; its reason stands above")
        return line.removeprefix("listening on ")


class _Stage:
    """Where the match is shown: moving pictures in a terminal, one after the other elsewhere."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.is_moving = console.is_terminal and not console.is_dumb_terminal
        self._glyphs = glyphs_for(console.encoding, is_ascii=False)
        self._live: Live | None = None
        self._display = Display()

    def show(self, bot: subprocess.Popen[str], server: _Server) -> wire.Snapshot | None:
        """Show the match from what one of the bots hears, and kill the server in the middle; return its end."""
        if not self.is_moving:
            return self._show_all(bot, server)
        with Live(console=self._console, auto_refresh=False) as self._live:
            return self._show_all(bot, server)

    def _show_all(self, bot: subprocess.Popen[str], server: _Server) -> wire.Snapshot | None:
        is_killed, kept = False, -1
        for line in _output(bot):
            heard = _heard(line)
            if heard is None:
                continue
            before = self._display.match
            if isinstance(heard, wire.Played) and before is not None and heard.seq <= before.seq:
                continue
            self._display = update(self._display, heard, 0)
            match = self._display.match
            if match is None or not isinstance(heard, wire.Snapshot | wire.Played | wire.Ended):
                continue
            if isinstance(heard, wire.Played) and before is not None:
                self._drop(before, match)
            if isinstance(heard, wire.Snapshot) and kept >= 0:
                is_whole = len(match.moves) >= kept
                lost = "nothing is lost" if is_whole else "moves are missing; please report this"
                self._draw(match, f"The server is back: all {len(match.moves)} moves are there, {lost}.", PAUSE_S)
            elif not isinstance(heard, wire.Ended):
                self._draw(match)
            if (
                not is_killed
                and not match.position.line
                and match.outcome is None
                and len(match.moves) >= KILLED_AT_PLY
            ):
                is_killed, kept = True, len(match.moves)
                server.kill()
                self._draw(match, "The plug is pulled: the server is killed in mid-match (kill -9) ...", PAUSE_S)
                server.restart()
            if isinstance(heard, wire.Ended):
                self._flash(match)
                return match
        return self._display.match

    def _drop(self, before: wire.Snapshot, after: wire.Snapshot) -> None:
        """Let the last mark fall through its column, where marks fall and pictures move."""
        width = after.game.shape[-1]
        cell = after.game.move_cells[after.last] if after.last is not None else -1
        if not self.is_moving or not after.game.gravity or len(after.game.shape) != 2 or cell < 0:
            return
        mark, board = after.position.board[cell], before.position.board
        for place in range(cell % width, cell, width):
            falling = structs.replace(before.position, board=board[:place] + mark + board[place + 1 :], line=[])
            self._draw(structs.replace(before, position=falling, last=after.last), "", FRAME_S)

    def _flash(self, match: wire.Snapshot) -> None:
        """Let the completed line come and go, where pictures move."""
        plain = structs.replace(match, position=structs.replace(match.position, line=[]), last=None)
        for _ in range(FLASHES if self.is_moving and match.position.line else 0):
            self._draw(plain, _result(match), _FLASH_S)
            self._draw(match, _result(match), _FLASH_S)

    def _draw(self, match: wire.Snapshot, sentence: str = "", seconds: float = 0.0) -> None:
        rows = self._console.height - _ROWS_AROUND if self.is_moving else _SIZE[1]
        picture = self._picture(match, min(rows, _SIZE[1]), sentence)
        if self._live is None:
            self._console.print(picture)
            return
        self._live.update(picture, refresh=True)
        time.sleep(seconds)

    def _picture(self, match: wire.Snapshot, rows: int, sentence: str) -> RenderableType:
        if not sentence:
            last = "The first position." if match.last is None else f": {words.move_name(match, match.last)}"
            sentence = last if match.last is None else f"Move {len(match.moves)}{last}"
        watched = Display(World(matches={match.match: structs.replace(match, you=None)}), shown=match.match, cursor=-1)
        board = draw_board(watched, _SIZE[0], rows, self._glyphs) or []
        return Text("\n").join([Text(words.pairing(match)), Text(sentence, style="bold"), *board, Text()])


def _result(match: wire.Snapshot) -> str:
    """Return how the match ended, as who looks on is told."""
    return words.result(structs.replace(match, you=None))


def _heard(line: str) -> wire.AnyServerMessage | None:
    try:
        return wire.decode_server_message(line)
    except Refusal:
        return None  # the summary at the end is no message
