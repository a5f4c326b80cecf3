"""Draw docs/client.svg, the picture in the README, with the client's own code: `make docs`. A test compares it."""

import io
import re
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI

from ttt_net import messages as wire
from ttt_net.client.draw import draw
from ttt_net.client.glyphs import BOXES
from ttt_net.client.update import update
from ttt_net.client.view import Link, View
from ttt_net.clock import TimeControl
from ttt_net.match import Match

PICTURE = Path(__file__).parent / "client.svg"
SIZE = (72, 24)
MOVES = (38, 31, 37, 36, 39, 40, 30, 24)


def main() -> None:
    """Write the picture."""
    PICTURE.write_text(picture(), encoding="utf-8")


def picture() -> str:
    """Return a client in the middle of a match as SVG, without fonts from elsewhere."""
    console = Console(record=True, width=SIZE[0], file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(draw(_view(), SIZE, 0, BOXES))
    svg = console.export_svg(title="python client.py", theme=MONOKAI, unique_id="ttt-net")
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return svg.replace("Fira Code", "DejaVu Sans Mono, Menlo, Consolas")


def _view() -> View:
    """Return what Ann sees, playing Connect Four against a bot."""
    players = (wire.PlayerInfo("Ann"), wire.PlayerInfo("alphabeta", "alphabeta"))
    time = TimeControl(initial_ms=180_000, increment_ms=2_000)
    match = Match(wire.Started(match="k3V9pQ7x", seq=1, at_ms=0, game="connect4", players=players, time=time))
    view = View(address="192.168.1.20:8765", link=Link.ONLINE)
    view = update(view, wire.Welcome(wire.PROTOCOL, "Ann's lobby", players[0], []), 0)
    view = update(view, match.snapshot(0, (True, True), 0), 0)
    for ply, move in enumerate(MOVES):
        for fact in match.decide(ply % 2, wire.Play(1, match.id, ply, move), ply * 1_500):
            match.evolve(fact)
            view = update(view, match.told(fact), 0)
    return view


if __name__ == "__main__":
    main()
