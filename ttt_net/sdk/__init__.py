"""Play on a server from a program: `play` for a bot of ten lines, `connect` for everything else.

The names of this module are public: docs/developing/public-api.txt lists them with their signatures, and they follow
semantic versioning. Each is loaded on first use, so a program pays only for what it uses.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ttt_net.errors import Code as Code
    from ttt_net.errors import ConfigurationError as ConfigurationError
    from ttt_net.errors import Refusal as Refusal
    from ttt_net.errors import TttNetError as TttNetError
    from ttt_net.sdk.bots import BotGame as BotGame
    from ttt_net.sdk.bots import BotMatch as BotMatch
    from ttt_net.sdk.bots import BotPosition as BotPosition
    from ttt_net.sdk.bots import Turn as Turn
    from ttt_net.sdk.bots import TurnClock as TurnClock
    from ttt_net.sdk.client import Client as Client
    from ttt_net.sdk.client import DisconnectedError as DisconnectedError
    from ttt_net.sdk.client import connect as connect
    from ttt_net.sdk.client_session import BotProfile as BotProfile
    from ttt_net.sdk.playing import play as play
    from ttt_net.sdk.received import Tally as Tally
    from ttt_net.sdk.received import follow as follow

_HOMES = {
    "errors": ("Code", "ConfigurationError", "Refusal", "TttNetError"),
    "sdk.bots": ("BotGame", "BotMatch", "BotPosition", "Turn", "TurnClock"),
    "sdk.client": ("Client", "DisconnectedError", "connect"),
    "sdk.client_session": ("BotProfile",),
    "sdk.playing": ("play",),
    "sdk.received": ("Tally", "follow"),
}
PUBLIC = tuple(sorted(name for names in _HOMES.values() for name in names))
"""The public names."""


def __getattr__(name: str) -> object:
    """Load a public name from its module. Raises `AttributeError` if the name does not exist."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"ttt_net.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *PUBLIC})
