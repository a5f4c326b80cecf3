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

from rich.console import Console
from rich.live import Live
from rich.text import Text

from ttt_net import messages as wire
from ttt_net.client.drawing.glyphs import glyphs_for
from ttt_net.commands.demo_stage import SIZE, DemoStage, result_of
from ttt_net.errors import ConfigurationError
from ttt_net.games import find_game
from ttt_net.programs import PLAY, SERVE, beside_us

BOTS = (("Mia", "6"), ("Leo", "4"))
"""The players' names and levels: far enough apart that a line is completed."""
PACE_MS, PLAIN_PACE_MS = 150, 40
"""How long the bots wait before each move, in a terminal and elsewhere."""
WAYS_IN = (
    f"Now you. Against the computer, here:  {PLAY} --local --o computer",
    f"Host friends on this network:         {PLAY} --host",
    f"In a browser, http://localhost:8765/: {SERVE}",
)
"""What to try next."""
_ROWS_AROUND = 5
"""The lines of a picture besides its board, and the cursor's."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    parser.add_argument("--game", default="connect4", help="what they play (default %(default)s)")


def run(args: argparse.Namespace) -> int:
    """Show one match from the first position to how to join in; return 0 if it was played to its end."""
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
        match = _shown(console, bots[0], server, is_moving=is_moving)
    if match is None or match.outcome is None:
        raise ConfigurationError("the match was not played to its end; please report this")
    console.print(f"The match is over. {result_of(match)} All of it is stopped.\n")
    for line in WAYS_IN:
        console.print(line, soft_wrap=True)
    return 0


def _shown(console: Console, bot: subprocess.Popen[str], server: "_Server", *, is_moving: bool) -> wire.Snapshot | None:
    """Show the match in the terminal, or print its positions one after the other; return its end."""
    glyphs, rows = glyphs_for(console.encoding, is_ascii=False), console.height - _ROWS_AROUND
    if not is_moving:
        stage = DemoStage(lambda picture, seconds: console.print(picture), glyphs, SIZE[1], is_moving=False)
        return stage.play(_output(bot), server.kill, server.restart)
    with Live(console=console, auto_refresh=False) as live:

        def show(picture: Text, seconds: float) -> None:
            live.update(picture, refresh=True)
            time.sleep(seconds)

        return DemoStage(show, glyphs, rows, is_moving=True).play(_output(bot), server.kill, server.restart)


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
