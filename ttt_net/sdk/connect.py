"""Open a WebSocket to a server: to the one that was named and no other, within a time, without a word on stderr."""

import logging

from websockets.asyncio.client import connect

from ttt_net.sdk.trust import Trust

MAX_FRAME_BYTES = 2**20
OPEN_TIMEOUT_S = 3.0
PING_INTERVAL_S = 2.0
PING_TIMEOUT_S = 3.0
CLOSE_TIMEOUT_S = 1.0
_SILENT = logging.getLogger("ttt_net.sdk")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False  # what goes wrong is told as events; a line on stderr would tear the screen


class _Direct(connect):
    """A connection to the server that was named: a redirect would take our token to another one."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        """Take a redirect as the refusal that it is."""
        return exc


def open_websocket(url: str, trust: Trust) -> connect:
    """Return the opening of a WebSocket; ask `trust.objection` before the first message."""
    return _Direct(
        url,
        ssl=trust.context(url),
        logger=_SILENT,
        proxy=None,
        compression=None,
        user_agent_header=None,
        max_size=MAX_FRAME_BYTES,
        open_timeout=OPEN_TIMEOUT_S,
        ping_interval=PING_INTERVAL_S,
        ping_timeout=PING_TIMEOUT_S,
        close_timeout=CLOSE_TIMEOUT_S,
    )
