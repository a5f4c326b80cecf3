"""Log a bot's events for the person who hosts it: a line for each notable event, without repetition."""

import time
from collections.abc import Callable

from msgspec.structs import replace

from ttt_net.client import words
from ttt_net.client.mailbox import WorldEvent
from ttt_net.client.world import World, update_world
from ttt_net.errors import Code
from ttt_net.messages import Ended, Notice, Refused, Restarting, SeekRequest, Snapshot, Welcome
from ttt_net.sdk.received import Answered, Back, ConnectionEvent, Lost, Retrying, Tally, follow
from ttt_net.text import clean

FIRST_REMINDER_MS = 60_000
"""The time until the first reminder that the server is unreachable; each later one takes twice as long."""
_NO_NEWS = (Code.TOO_FAST, Code.RESTARTING, Code.UNKNOWN_GAME, Code.BAD_MESSAGE)
"""Refusals of a seek that pass quickly, or that end the bot and are reported then."""


class BotLog:
    """Turns a bot's events into sentences; `hint` is printed once, after the login.

    With `is_for_onlookers`, it describes only the matches between two bots, from a neutral view.
    """

    def __init__(self, hint: str = "", *, is_for_onlookers: bool = False) -> None:
        self._hint = hint
        self._is_for_onlookers = is_for_onlookers
        self._last = ""
        self._away_since_ms: int | None = None
        self._remind_ms = FIRST_REMINDER_MS

    def line_of(self, event: WorldEvent, before: World, after: World, now_ms: int) -> str:
        """Return the line for an event, given the world before and after it; empty if there is nothing to report."""
        said = self._sentence(event, before, after, now_ms)
        if said == self._last and not isinstance(event, Snapshot | Ended):
            return ""
        self._last = said or self._last
        return said

    def _sentence(self, event: WorldEvent, before: World, after: World, now_ms: int) -> str:
        match event:
            case Snapshot() if event.match not in before.matches and event.outcome is None:
                return words.pairing(event)
            case Ended() if event.match in before.matches:
                match = follow(before.matches[event.match], event)  # the client forgets finished ones
                return words.result(replace(match, you=None)) if self._is_for_onlookers else _ended(match, after.tally)
            case _ if self._is_for_onlookers:
                return ""
            case Snapshot() if event.outcome is not None and _was_live(event.match, before):
                return _ended(event, after.tally)
            case Welcome():
                self._away_since_ms, self._remind_ms = None, FIRST_REMINDER_MS
                return _welcomed(event, self._hint) if before.you is None else ""
            case Lost():
                self._away_since_ms = now_ms
                return f"The connection dropped: {clean(event.reason, 80)}. Trying until it is back."
            case Back() if after.you is not None:
                return "Connected again."
            case Retrying():
                return self._retrying(event, after, now_ms)
            case Notice():
                return f"The server says: {clean(event.text, words.MAX_SENTENCE_CELLS)}"
            case Restarting():
                return "The server is restarting."
            case Answered(SeekRequest(), Refused() as refusal) if refusal.code not in _NO_NEWS:
                return f"No opponent can be sought now: {clean(refusal.message, 120)}. Asking again."
            case _:
                return ""

    def _retrying(self, event: Retrying, after: World, now_ms: int) -> str:
        if self._away_since_ms is None:
            self._away_since_ms = now_ms
            return f"No server at {after.address}: {clean(event.reason, 80)}. Trying until there is one."
        away_ms = now_ms - self._away_since_ms
        if away_ms < self._remind_ms:
            return ""
        self._remind_ms *= 2
        return f"Still no server after {words.duration(away_ms)}: {clean(event.reason, 80)}."


class BotReporter:
    """Writes the lines of a bot's log as its events arrive."""

    def __init__(self, url: str, write: Callable[[str], None], hint: str = "") -> None:
        self._world = World(address=url.removeprefix("ws://"))
        self._write, self._log = write, BotLog(hint)

    def notice(self, event: ConnectionEvent) -> None:
        """Write the line for an event, if there is one."""
        before, now_ms = self._world, time.monotonic_ns() // 1_000_000
        self._world = update_world(before, event, now_ms)
        if said := self._log.line_of(event, before, self._world, now_ms):
            self._write(said)
        self._world = self._world.without_ended(None)


def _was_live(name: str, world: World) -> bool:
    match = world.matches.get(name)
    return match is not None and match.outcome is None


def _welcomed(welcome: Welcome, hint: str) -> str:
    server = clean(welcome.server, 40)
    where = f" on {server}" if server else ""
    return f"Playing as {words.label_of(welcome.you)}{where}; Ctrl-C stops it.\n{hint}".strip()


def _ended(match: Snapshot, tally: Tally) -> str:
    whom = words.label_of(match.players[1 - (match.you or 0)])
    return f"Against {whom}: {words.result(match)} So far {score(tally)}."


def score(tally: Tally) -> str:
    """Return wins and losses in words."""
    return f"{tally.won} won, {tally.drawn} drawn, {tally.lost} lost"
