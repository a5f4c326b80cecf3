"""Write the log on standard error, and notify the service manager (systemd's `sd_notify` protocol).

Each record is one line, as text or as JSON. Names and messages of strangers are not logged; lines are escaped because a
library's message may repeat them. The rate of lines of one kind is limited, so that a flood of peers does not flood the
log.
"""

import asyncio
import json
import logging
import os
import socket
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

log = logging.getLogger(__name__)

MOST_PER_S = 10
"""Lines of one kind per second; the next one says how many were dropped."""
EXTENSION_S = 90.0
"""How long a start may take after each sign of progress."""
_EVERY_S = 5.0
"""The minimal time between two forwarded signs of progress."""


def set_up(form: str, level: str) -> None:
    """Set the format and the level of all loggers."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else PlainFormatter())
    handler.addFilter(Sparing())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # Below INFO, the library logs everything that is sent, including tokens; with INFO, two lines per connection.
    logging.getLogger("websockets").setLevel(logging.WARNING)


class PlainFormatter(logging.Formatter):
    """`2026-11-21 12:00:00.123 WARNING hub: text`; for an error, followed by the indented traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as lines; no part of it can imitate a new record."""
        at = f"{_moment(record):%Y-%m-%d %H:%M:%S}.{int(record.msecs):03d}"
        lines = [f"{at} {record.levelname} {record.name.removeprefix('ttt_net.')}: {_printable(record.getMessage())}"]
        if record.exc_info:
            lines += [f"    {_printable(line)}" for line in self.formatException(record.exc_info).splitlines()]
        return "\n".join(lines)


class JsonFormatter(logging.Formatter):
    """One JSON object per line: `at`, `level`, `logger`, `message`, and for an error its `traceback`."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line."""
        entry = {
            "at": _moment(record).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry)


class Sparing(logging.Filter):
    """Limits the lines of one kind per second, but passes every error."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._second = 0
        self._passed: dict[tuple[str, str], int] = {}
        self._left_out: dict[tuple[str, str], int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether to write the record. The next one of its kind says how many were dropped."""
        if record.exc_info:
            return True
        second = int(self._clock())
        if second != self._second:
            self._second = second
            self._passed.clear()
        kind = (record.name, str(record.msg))
        count = self._passed[kind] = self._passed.get(kind, 0) + 1
        if count > MOST_PER_S:
            self._left_out[kind] = self._left_out.get(kind, 0) + 1
            return False
        left_out = self._left_out.pop(kind, 0)
        if left_out:
            record.msg, record.args = f"{record.getMessage()} (and {left_out} more like it before)", ()
        return True


def _moment(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)


def _printable(text: str) -> str:
    """Return the text with control and invisible characters escaped."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )


def notify(state: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Send a state to the service manager, if there is one, and return whether that worked; never wait or raise."""
    address = environment.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")) or not hasattr(socket, "AF_UNIX"):
        return False
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            sender.connect(address.replace("@", "\0", 1) if address.startswith("@") else address)
            sender.send(state.encode())
    except OSError as error:
        log.warning("cannot notify the service manager: %s", error)
        return False
    return True


def is_managed(environment: Mapping[str, str] = os.environ) -> bool:
    """Tell whether a service manager runs this process, and restarts it on request.

    systemd sets `INVOCATION_ID` for each of its services. Shells in a desktop's terminals inherit it too, so it is
    ignored if standard input is a terminal.
    """
    if "NOTIFY_SOCKET" in environment:
        return True
    has_terminal = sys.stdin is not None and sys.stdin.isatty()
    return "INVOCATION_ID" in environment and not has_terminal


class StartExtension:
    """Asks the service manager for more time to start while the start makes progress."""

    def __init__(
        self, environment: Mapping[str, str] = os.environ, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._environment, self._now_s = environment, now_s
        self._next_s = now_s() + _EVERY_S

    def __call__(self) -> None:
        """Report progress; each report extends the start by `EXTENSION_S`, and a hanging start is not extended."""
        now_s = self._now_s()
        if now_s >= self._next_s:
            self._next_s = now_s + _EVERY_S
            notify(f"EXTEND_TIMEOUT_USEC={EXTENSION_S * 1_000_000:.0f}", self._environment)


def watchdog_s(environment: Mapping[str, str] = os.environ) -> float | None:
    """Return the interval in seconds between keep-alive messages, half of the service manager's limit; None: never."""
    if environment.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    try:
        return int(environment["WATCHDOG_USEC"]) / 2_000_000
    except (KeyError, ValueError):
        return None


async def keep_alive(status: Callable[[], str]) -> None:
    """Send keep-alive messages to the service manager while the event loop runs."""
    every_s = watchdog_s()
    while every_s:
        notify(f"WATCHDOG=1\nSTATUS={status()}")
        await asyncio.sleep(every_s)
