"""Write the log on standard error: one record is one line, whatever is in it, as text or as JSON.

Names and messages of strangers are not logged; where a library's message may repeat them, the line is made
safe to print. Lines of one kind are limited, so that a flood of peers is no flood of lines.
"""

import json
import logging
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime

FORMATS = ("plain", "json")
LEVELS = ("debug", "info", "warning", "error")
MOST_PER_S = 10
"""Lines of one kind in a second; how many were left out is said with the next."""


def set_up(form: str, level: str) -> None:
    """Let all loggers write so from now on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else PlainFormatter())
    handler.addFilter(Sparing())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # Below INFO it writes down all that is sent, tokens too; with INFO, two lines for every connection.
    logging.getLogger("websockets").setLevel(logging.WARNING)


class PlainFormatter(logging.Formatter):
    """`2026-11-21 12:00:00.123 WARNING hub: text`; of a fault, the traceback in the lines below, each indented."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as lines that cannot be taken for others."""
        at = f"{_moment(record):%Y-%m-%d %H:%M:%S}.{int(record.msecs):03d}"
        lines = [f"{at} {record.levelname} {record.name.removeprefix('ttt_net.')}: {_printable(record.getMessage())}"]
        if record.exc_info:
            lines += [f"    {_printable(line)}" for line in self.formatException(record.exc_info).splitlines()]
        return "\n".join(lines)


class JsonFormatter(logging.Formatter):
    """One JSON object a line: `at`, `level`, `logger`, `message`, and of a fault its `traceback`."""

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
    """Lets few lines of one kind pass in a second; faults always."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._second = 0
        self._passed: dict[tuple[str, str], int] = {}
        self._left_out: dict[tuple[str, str], int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether the record is to be written; the next of its kind says how many were not."""
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
    """Return the text with what a terminal would act on, or not show, written as an escape."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )
