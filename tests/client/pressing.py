"""A view after keys were pressed, with no terminal and no server."""

from tests.client.samples import welcome
from ttt_net.client.bindings.keys import command_for
from ttt_net.client.changes.act import act
from ttt_net.client.changes.update import update
from ttt_net.client.events import WorldEvent
from ttt_net.client.rows.page import rows_of
from ttt_net.client.view import View
from ttt_net.messages import Request, SeekRequest

SEEK = SeekRequest(0, ["tictactoe"], opponents="people")


def lobby(*events: WorldEvent) -> View:
    view = View(address="192.168.1.20:8765")
    for event in (welcome(), *events):
        view = update(view, event, 0)
    return view


def pressed(view: View, *keys: str) -> tuple[View, tuple[Request, ...]]:
    """Return the view after the keys, and what the last of them says."""
    requests: tuple[Request, ...] = ()
    for key in keys:
        command = command_for(key, view)
        assert command is not None, key
        view, requests = act(view, command, SEEK)
    return view, requests


def keys_of(view: View) -> list[str]:
    return [row.key for row in rows_of(view, 0) if row.enter is not None]
