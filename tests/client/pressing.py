"""A display after events, commands and keys, with no terminal and no server."""

from tests.client.samples import welcome
from ttt_net.client.act import act, command_for
from ttt_net.client.display import AnyCommand, Display
from ttt_net.client.drawing.draw import draw
from ttt_net.client.drawing.glyphs import BOXES
from ttt_net.client.mailbox import WorldEvent
from ttt_net.client.screens.registry import rows_of
from ttt_net.client.update import update
from ttt_net.client.world import World
from ttt_net.messages import Request, SeekRequest

SEEK = SeekRequest(0, ["tictactoe"], opponents="people")


def seen(*events: WorldEvent, at_ms: int = 0, address: str = "localhost:8765") -> Display:
    """Return the display of somebody who was welcomed, and heard these events."""
    display = Display(World(address=address))
    for event in (welcome(), *events):
        display = update(display, event, at_ms)
    return display


def lobby(*events: WorldEvent) -> Display:
    return seen(*events, address="192.168.1.20:8765")


def done(display: Display, *commands: AnyCommand) -> tuple[Display, tuple[Request, ...]]:
    """Return the display after the commands, and what the last of them says."""
    requests: tuple[Request, ...] = ()
    for command in commands:
        display, requests = act(display, command, SEEK)
    return display, requests


def pressed(display: Display, *keys: str) -> tuple[Display, tuple[Request, ...]]:
    """Return the display after the keys, and what the last of them says."""
    requests: tuple[Request, ...] = ()
    for key in keys:
        command = command_for(key, display)
        assert command is not None, key
        display, requests = act(display, command, SEEK)
    return display, requests


def keys_of(display: Display) -> list[str]:
    return [row.key for row in rows_of(display, 0) if row.enter is not None]


def drawn(display: Display, size: tuple[int, int] = (80, 24)) -> str:
    return draw(display, size, 0, BOXES).plain
