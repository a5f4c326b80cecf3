"""Declare what runs a server of our own, for everybody or for this keyboard alone."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

from ttt_net.client.command_line.options import Options


class Served(NamedTuple):
    """A server of our own: its address, and where its journal is, if that outlives it."""

    url: str
    journal: str | None = None


Serve = Callable[[Options], AbstractContextManager[Served]]
"""Runs a server of our own for as long as the context lasts."""
