"""Modules that each mode loads, and work that it does not wait for."""

import subprocess
import sys

import pytest

from tests.patience import PATIENCE_S


def loaded(*modules: str) -> set[str]:
    """Return the modules that a process has after it has imported these."""
    command = [sys.executable, "-c", f"import sys, {', '.join(modules)}; print(*sys.modules)"]
    return set(subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=True).stdout.split())


def client(*names: str) -> set[str]:
    return {f"ttt_net.client.{name}" for name in names}


SCREEN = {"prompt_toolkit", *client("terminal.loop", "terminal.painter", "terminal.canvas")}
BOT = {"ttt_net.strategies", *client("bot", "bot_mode")}
NETWORK = {"websockets", "zeroconf", "ttt_net.sdk.client_connection"}


@pytest.mark.parametrize(
    ("modules", "later"),
    [
        (["ttt_net.commands.play"], {"asyncio", "rich.text", "ttt_net.games", *SCREEN, *BOT, *NETWORK}),
        (
            ["ttt_net.commands.play", "ttt_net.client.terminal.canvas"],
            {"prompt_toolkit", "wcwidth", "logging.handlers", "ttt_net.games", *client("display", "screens"), *NETWORK},
        ),
        (["ttt_net.commands.play", "ttt_net.client.menu_controller"], {"prompt_toolkit", *BOT, *NETWORK}),
        (
            ["ttt_net.client.online_play", "ttt_net.client.terminal.loop"],
            {*BOT, *client("lines.line_client", "inquire")},
        ),
        (["ttt_net.client.online_play", "ttt_net.client.lines.line_client"], {*BOT, *SCREEN, *client("inquire")}),
        (["ttt_net.client.bot_mode"], {*SCREEN, *client("lines.line_client", "screens.registry", "inquire")}),
        (["ttt_net.client.inquire"], {*BOT, *SCREEN, *client("lines.line_client")}),
    ],
    ids=lambda value: value[-1].rpartition(".")[2] if isinstance(value, list) else "",
)
def test_a_mode_does_not_load_what_others_need(modules: list[str], later: set[str]) -> None:
    assert later & loaded(*modules, "ttt_net.bootstrap") == set()
    assert "ttt_net.server" not in loaded(*modules)
