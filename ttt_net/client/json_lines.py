"""Write received messages for programs: one JSON object a line, and a summary at the end."""

import json
from collections.abc import Awaitable, Callable

from ttt_net.client.events import WorldEvent
from ttt_net.sdk.received import Back, ConnectionEvent, Lost, Retrying, Tally

_DEEPEST = 32


def line_of(frame: str) -> str | None:
    """Return a frame as one line of ASCII, without the token that it may hold; None if it is no message at all."""
    try:
        message = json.loads(frame)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str) or _is_deep(message):
        return None
    if message["type"] == "welcome" and "token" in message:
        message["token"] = ""
    return json.dumps(message, separators=(",", ":"))


def line_of_link(event: WorldEvent) -> str | None:
    """Return what happened to the link as a line; None for any other event, and for all tries but the first."""
    match event:
        case Lost(reason):
            told = {"type": "lost", "reason": reason}
        case Back():
            told = {"type": "back"}
        case Retrying(attempt=1, reason=reason):
            told = {"type": "retrying", "reason": reason}
        case _:
            return None
    return json.dumps(told, separators=(",", ":"))


def summary_line(tally: Tally) -> str:
    """Return the last line: how many games there were, and how they ended."""
    return json.dumps(
        {"type": "summary", "games": tally.games, "won": tally.won, "drawn": tally.drawn, "lost": tally.lost},
        separators=(",", ":"),
    )


def tap_of(write: Callable[[str], None] | None) -> Callable[[str], None] | None:
    """Return what writes each frame as its line, where lines are written."""
    if write is None:
        return None

    def written(frame: str) -> None:
        line = line_of(frame)
        if line is not None:
            write(line)

    return written


def delivering(
    write: Callable[[str], None] | None, deliver: Callable[[WorldEvent], Awaitable[None]]
) -> Callable[[ConnectionEvent], Awaitable[None]]:
    """Return `deliver`, preceded by the line of an event of the link where lines are written."""

    async def written(event: ConnectionEvent) -> None:
        if write is not None and (line := line_of_link(event)) is not None:
            write(line)
        await deliver(event)

    return written


def _is_deep(value: object, depth: int = 0) -> bool:
    if depth > _DEEPEST:
        return True
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_is_deep(each, depth + 1) for each in inner)
