"""`play`, and client.py: a client, with its own server if requested."""

from collections.abc import Sequence
from contextlib import AbstractContextManager

from ttt_net.client import client_main
from ttt_net.client.address import Served
from ttt_net.client.options import Options


def main(argv: Sequence[str] | None = None) -> int:
    """Run a client and return its exit code."""
    return client_main.main(argv, _serve)


def _serve(options: Options) -> AbstractContextManager[Served]:
    from ttt_net.commands import host  # joining a remote server needs fewer modules than hosting

    return host.serve(options)
