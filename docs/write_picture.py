"""Draw docs/client.svg and docs/lobby.svg with the client's own code: `make docs`. A test compares them."""

import io
import re
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI

from ttt_net import messages as wire
from ttt_net.client.display import Display
from ttt_net.client.drawing.board import without_targets
from ttt_net.client.drawing.draw import draw
from ttt_net.client.drawing.glyphs import BOXES
from ttt_net.client.update import update
from ttt_net.client.world import LinkState, World
from ttt_net.clock import TimeControl
from ttt_net.matches.match import Match
from ttt_net.matches.referee import decide

FOLDER = Path(__file__).parent
SIZE = (84, 24)
MOVES = (38, 31, 37, 36, 39, 40, 30, 24)
ANN, BEN = wire.PlayerInfo("Ann", rating=1512), wire.PlayerInfo("Ben", rating=1490, provisional=True)
BOT = wire.PlayerInfo("alphabeta", "alphabeta", level=5)
BLITZ = TimeControl(initial_ms=180_000, increment_ms=2_000)


def main() -> None:
    """Write the pictures."""
    for name, drawn in pictures().items():
        (FOLDER / name).write_text(drawn, encoding="utf-8")


def pictures() -> dict[str, str]:
    """Return what Ann sees of the lobby, and in the middle of a match, as SVG by the name of the file."""
    return {"client.svg": _picture(_match()), "lobby.svg": _picture(_lobby())}


def _picture(display: Display) -> str:
    """Return a view as SVG, without fonts from elsewhere."""
    console = Console(record=True, width=SIZE[0], file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(without_targets(draw(display, SIZE, 0, BOXES)))
    svg = console.export_svg(title="python client.py", theme=MONOKAI, unique_id="ttt-net")
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return svg.replace("Fira Code", "DejaVu Sans Mono, Menlo, Consolas")


def _welcomed() -> Display:
    display = Display(World(address="192.168.1.20:8765", link=LinkState.ONLINE, latency_ms=3))
    return update(display, wire.Welcome(wire.PROTOCOL, "Ann's lobby", ANN, []), 0)


def _match() -> Display:
    """Return what Ann sees, playing Connect Four against Ben."""
    match = Match(wire.Started("k3V9pQ7x", 1, 0, "connect4", (ANN, BEN), BLITZ, rated=True))
    display = update(_welcomed(), match.snapshot(0, (True, True), 0), 0)
    for ply, move in enumerate(MOVES):
        for event in decide(match, ply % 2, wire.PlayRequest(1, match.id, ply, move), ply * 1_500):
            match.evolve(event)
            display = update(display, match.told(event), 0)
    display = update(display, wire.Watching(match.id, 2), 0)
    display = update(display, wire.Chatted(match.id, "players", BEN, "Good luck!", "good_luck"), 0)
    return replace(display, notice="")


def _lobby() -> Display:
    """Return what Ann sees while nobody plays her yet."""
    heard: tuple[wire.AnyServerMessage, ...] = (
        wire.Challenged(5, BEN, ANN, "connect4", 30_000, BLITZ, rated=True),
        wire.SeekList(1, [wire.SeekInfo(7, wire.PlayerInfo("Cleo", rating=1710), ["ultimate"], BLITZ, rated=True)]),
        wire.PlayerList(
            5,
            [
                wire.ListedPlayer("alphabeta", "alphabeta", 1, [], 5, 4, 3),
                wire.ListedPlayer("Ben"),
                wire.ListedPlayer("Cleo", seeking=["ultimate"]),
                wire.ListedPlayer("Dan", playing=1),
            ],
        ),
        wire.LiveList(1, [wire.LiveMatch("m9", "gomoku", (wire.PlayerInfo("Dan"), BOT), 12, 3, None, featured=True)]),
    )
    display = _welcomed()
    display = replace(display, world=replace(display.world, seeking=wire.SeekRequest(0, ["tictactoe"])))
    for message in heard:
        display = update(display, message, 0)
    return display


if __name__ == "__main__":
    main()
