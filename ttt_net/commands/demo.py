"""`demo`: a real server and two bots, each a process of its own, play one match while you watch."""

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
from rich.console import Console
from rich.live import Live
from rich.text import Text

from ttt_net import messages as wire
from ttt_net.client import words
from ttt_net.client.display import Display
from ttt_net.client.drawing.board import draw_board
from ttt_net.client.drawing.glyphs import Glyphs, glyphs_for
from ttt_net.client.update import update
from ttt_net.client.world import World
from ttt_net.errors import ConfigurationError, Refusal
from ttt_net.games import find_game
from ttt_net.programs import PLAY, SERVE, beside_us

STRATEGIES = ("alphabeta", "random")
PACE_S = 0.6
"""How long each position stays in a terminal; the bots themselves take milliseconds."""
LONGEST_S = 60
"""How long it is shown at that pace; what is left of a longer match passes in a moment."""
_SIZE = (60, 30)
"""The columns and rows that a board has at most."""
_ROWS_AROUND = 5
"""The lines of a picture besides its board, and the cursor's."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    parser.add_argument("--game", default="tictactoe", help="what they play (default %(default)s)")


def run(args: argparse.Namespace) -> int:
    """Show one match from the first position to how to join in; return 0 if it was played to its end."""
    find_game(args.game)
    console = Console(markup=False, highlight=False, emoji=False)
    with tempfile.TemporaryDirectory(prefix="ttt_net-demo-") as folder, ExitStack() as processes:
        server = processes.enter_context(
            _process("serve", "--host", "127.0.0.1", "--port", "0", "--no-house-bots", "--data", folder, home=folder)
        )
        url = _first_line(server).removeprefix("listening on ")
        console.print(f"A server is listening on {url}.")
        bots = [
            processes.enter_context(
                _process(
                    *("play", url, "--bot", name, "--game", args.game, "--games", "1", "--json"),
                    home=folder,
                    is_heard=name == STRATEGIES[0],
                )
            )
            for name in STRATEGIES
        ]
        console.print(f"Two clients join it, each a process of its own: {' and '.join(STRATEGIES)}.\n")
        display = _show(console, bots[0])
    match = display.match
    if match is None or match.outcome is None:
        raise ConfigurationError("the match was not played to its end; please report this")
    winner = match.outcome.winner
    how = "nobody won" if winner is None else f"{words.name_of(match.players[winner])} won"
    console.print(f"The match is over: {how}. Server and clients are stopped.\n")
    console.print(f"Now you. In one terminal:                  {SERVE}")
    console.print(f"In another, here or on another machine:    {PLAY} [ADDRESS]")
    console.print(f"No opponent? Seat a bot; b plays it:       {PLAY} --bot alphabeta")
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


def _first_line(process: subprocess.Popen[str]) -> str:
    line = _output(process).readline().strip()
    if not line:
        raise ConfigurationError("the server did not start; its reason stands above")
    return line


def _show(console: Console, bot: subprocess.Popen[str]) -> Display:
    """Draw the match from what one of the bots hears, line by line; return the last view."""
    display, until_s = Display(), time.monotonic() + LONGEST_S
    glyphs = glyphs_for(console.encoding, is_ascii=False)
    with Live(console=console, auto_refresh=False, transient=False) if console.is_terminal else ExitStack() as live:
        for line in _output(bot):
            heard = _heard(line)
            if heard is None:
                continue
            display = update(display, heard, 0)
            if not isinstance(heard, wire.Snapshot | wire.Played) or display.match is None:
                continue
            rows = console.height - _ROWS_AROUND if console.is_terminal else _SIZE[1]
            picture = _picture(display.match, min(rows, _SIZE[1]), glyphs)
            if isinstance(live, Live):
                live.update(picture, refresh=True)
                time.sleep(PACE_S if time.monotonic() < until_s else 0)
            else:
                console.print(picture)
    return display


def _heard(line: str) -> wire.AnyServerMessage | None:
    try:
        return wire.decode_server_message(line)
    except Refusal:
        return None  # the summary at the end is no message


def _picture(match: wire.Snapshot, rows: int, glyphs: Glyphs) -> Text:
    ply = match.position.ply
    who = words.pairing(match)
    what = "The first position." if match.last is None else f"Move {ply}: {words.move_name(match, match.last)}"
    watched = Display(World(matches={match.match: structs.replace(match, you=None)}), shown=match.match, cursor=-1)
    board = draw_board(watched, _SIZE[0], rows, glyphs) or []
    return Text("\n").join([Text(who), Text(what), *board, Text()])
