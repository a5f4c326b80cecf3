"""`demo`: two bots play over a real server, each in its own process, and the server is killed during the match."""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from queue import SimpleQueue
from threading import Thread
from typing import IO

from msgspec import structs
from rich.console import Console
from rich.live import Live
from rich.text import Text

from ttt_net import messages as wire
from ttt_net.client import words
from ttt_net.client.display import Display
from ttt_net.client.drawing.board import draw_board
from ttt_net.client.drawing.glyphs import Glyphs, glyphs_for
from ttt_net.client.drawing.themes import Depth, theme_for
from ttt_net.client.update import update
from ttt_net.client.world import World
from ttt_net.command_line import PLAY, SERVE, beside_us
from ttt_net.errors import ConfigurationError, Refusal
from ttt_net.games import find_game

BOTS = (("Mia", "6"), ("Leo", "4"))
"""The players' names and levels, far enough apart for a decided match."""
PACE_MS, PLAIN_PACE_MS = 150, 40
"""How long the bots wait before each move, in a terminal and elsewhere."""
WAYS_IN = (
    f"Now you. Against the computer, here:  {PLAY} --local --o computer",
    f"Host friends on this network:         {PLAY} --host",
    f"In a browser, http://localhost:8765/: {SERVE}",
)
"""The commands to try next."""
_ROWS_AROUND = 5
"""The lines of a picture other than its board, including the cursor's."""


def add_demo_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    parser.add_argument("--game", default="connect4", help="what they play (default %(default)s)")


def run_demo(args: argparse.Namespace) -> int:
    """Show one match from the first position to the commands to try next; return 0 if it was played to its end."""
    find_game(args.game)
    console = Console(markup=False, highlight=False, emoji=False)
    is_moving = console.is_terminal and not console.is_dumb_terminal
    with tempfile.TemporaryDirectory(prefix="ttt_net-demo-") as folder, ExitStack() as processes:
        server = _Server(folder, processes)
        console.print(f"A server is listening on {server.url}.")
        pace_ms = PACE_MS if is_moving else PLAIN_PACE_MS
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
        match, proof = _shown(console, bots[0], server, is_moving=is_moving)
    if match is None or match.outcome is None:
        raise ConfigurationError("the match was not played to its end; please report this")
    console.print(f"The match is over. {result_of(match)} Everything has been stopped.\n")
    if proof:
        console.print(f"{proof}\n", style="bold", soft_wrap=True)
    for line in WAYS_IN:
        console.print(line, soft_wrap=True)
    return 0


def _shown(
    console: Console, bot: subprocess.Popen[str], server: "_Server", *, is_moving: bool
) -> tuple[wire.Snapshot | None, str]:
    """Show the match in the terminal, or print its positions one by one; return its end, and the proof."""
    glyphs, rows = glyphs_for(console.encoding, is_ascii=False), console.height - _ROWS_AROUND
    glyphs = replace(glyphs, theme=theme_for(None, Depth(console.color_system if not console.no_color else None)))
    if not is_moving:
        stage = DemoStage(lambda picture, seconds: console.print(picture), glyphs, SIZE[1], is_moving=False)
        return stage.play(_output(bot), server.kill, server.restart), stage.proof
    with Live(console=console, auto_refresh=False) as live:

        def show(picture: Text, seconds: float) -> None:
            live.update(picture, refresh=True)
            time.sleep(seconds)

        stage = DemoStage(show, glyphs, rows, is_moving=True)
        return stage.play(_output(bot), server.kill, server.restart), stage.proof


@contextmanager
def _process(*arguments: str, home: str, is_heard: bool = True) -> Iterator[subprocess.Popen[str]]:
    """Run `python -m ttt_net ARGUMENTS` inside the context, discarding unread output."""
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
    """The server of the demo, which is killed and restarted on the same port with the same journal."""

    def __init__(self, folder: str, processes: ExitStack) -> None:
        self._folder = folder
        self._processes = processes
        self._process = self._started("0")
        self.url = self._first_line()

    def kill(self) -> None:
        """Kill the server without warning, as a power cut does."""
        self._process.kill()
        self._process.wait()

    def restart(self) -> None:
        """Start the server again, and wait until it listens."""
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


KILLED_AT_PLY = 6
"""The server is killed after this many moves; in other games, a shorter match is not interrupted."""
FRAME_S = 0.03
"""How long a falling mark is visible in each row."""
PAUSE_S = 1.2
"""How long a sentence stays so that people can read it."""
FLASHES = 3
FLASH_S = 0.25
SIZE = (60, 30)
"""The maximal columns and rows of a board."""


class DemoStage:
    """Draws a match from its events; `show` is called with each picture and its minimal duration in seconds."""

    def __init__(
        self,
        show: Callable[[Text, float], None],
        glyphs: Glyphs,
        rows: int,
        *,
        is_moving: bool,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self.proof = ""
        """One sentence about the restart and the moves that survived it; empty until the server is back."""
        self._clock_s = clock_s
        self._show = show
        self._glyphs = glyphs
        self._rows = min(rows, SIZE[1])
        self._is_moving = is_moving
        self._display = Display()

    def play(self, lines: Iterable[str], kill: Callable[[], None], restart: Callable[[], None]) -> wire.Snapshot | None:
        """Show the match that a bot's lines of JSON describe, and kill the server in the middle; return its end."""
        is_killed, kept, gone_s = False, -1, 0.0
        for line in _read_ahead(lines, kill):
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
                lost_moves = max(0, kept - len(match.moves))
                is_whole = lost_moves == 0
                told = f"killed after move {kept} (kill -9), back after {gone_s:.1f} s, {lost_moves} moves lost"
                self.proof = f"The proof: {told}."
                lost = "nothing is lost" if is_whole else "moves are missing; please report this"
                self._draw(match, f"The server is back: all {len(match.moves)} moves are there, {lost}.", PAUSE_S)
            elif not isinstance(heard, wire.Ended):
                self._draw(match, _last_move(match))
            if _is_moment(heard) and not is_killed:
                is_killed, kept = True, len(match.moves)
                self._draw(match, "The plug is pulled: the server is killed in mid-match (kill -9) ...", PAUSE_S)
                began_s = self._clock_s()
                restart()
                gone_s = self._clock_s() - began_s
            if isinstance(heard, wire.Ended):
                self._flash(match)
                return match
        return self._display.match

    def _drop(self, before: wire.Snapshot, after: wire.Snapshot) -> None:
        """Let the last mark fall through its column, if marks fall and motion is on."""
        width = after.game.shape[-1]
        cell = after.game.move_cells[after.last] if after.last is not None else -1
        if not self._is_moving or not after.game.gravity or len(after.game.shape) != 2 or cell < 0:
            return
        mark, board = after.position.board[cell], before.position.board
        for place in range(cell % width, cell, width):
            falling = structs.replace(before.position, board=board[:place] + mark + board[place + 1 :], line=[])
            self._draw(structs.replace(before, position=falling, last=None), _last_move(after), FRAME_S)

    def _flash(self, match: wire.Snapshot) -> None:
        """Let the completed line flash, if motion is on."""
        plain = structs.replace(match, position=structs.replace(match.position, line=[]), last=None)
        for _ in range(FLASHES if self._is_moving and match.position.line else 0):
            self._draw(plain, result_of(match), FLASH_S)
            self._draw(match, result_of(match), FLASH_S)

    def _draw(self, match: wire.Snapshot, sentence: str, seconds: float = 0.0) -> None:
        match = structs.replace(match, you=None, position=structs.replace(match.position, legal=[]))
        watched = Display(World(matches={match.match: match}), shown=match.match, cursor=-1)
        board = draw_board(watched, SIZE[0], self._rows, self._glyphs) or []
        picture = Text("\n").join([Text(words.pairing(match)), Text(sentence, style="bold"), *board, Text()])
        self._show(picture, seconds)


def result_of(match: wire.Snapshot) -> str:
    """Return how the match ended, in a watcher's words."""
    return words.result(structs.replace(match, you=None))


def _last_move(match: wire.Snapshot) -> str:
    if match.last is None:
        return "The first position."
    return f"Move {len(match.moves)}: {words.move_name(match, match.last)}"


def _read_ahead(lines: Iterable[str], kill: Callable[[], None]) -> Iterator[str]:
    """Yield the lines, and kill the server as soon as the right line is read, even if pictures lag behind.

    Otherwise, on a busy machine, the bots would finish the match before half of it is drawn.
    """
    read: SimpleQueue[str | None] = SimpleQueue()

    def read_all() -> None:
        is_killed = False
        try:
            for line in lines:
                if not is_killed and _is_moment(_heard(line)):
                    is_killed = True
                    kill()
                read.put(line)
        except ValueError:
            pass  # the demo is over and has closed the lines, but the bot still runs
        finally:
            read.put(None)

    Thread(target=read_all, daemon=True).start()
    while (line := read.get()) is not None:
        yield line


def _is_moment(heard: wire.AnyServerMessage | None) -> bool:
    """Tell whether to kill the server now: after enough moves, in a live match."""
    if not isinstance(heard, wire.Played) or heard.position is None:
        return False
    return heard.ply >= KILLED_AT_PLY and heard.position.to_move is not None


def _heard(line: str) -> wire.AnyServerMessage | None:
    try:
        return wire.decode_server_message(line)
    except Refusal:
        return None  # the final summary is not a message
