"""Look up what the host and moderators ask for: sanctions, reports of players, notes, moderators. Writes nothing.

Names are those that players have now; one who is forgotten is called so.
"""

import json
import sqlite3
from typing import NamedTuple

from ttt_net.errors import Code, Refusal
from ttt_net.messages import ReportReason
from ttt_net.server.admission.sanctions import Sanction
from ttt_net.server.journal.entries import AuditNote
from ttt_net.server.players import PlayerId


class SpokenLine(NamedTuple):
    """A line of chat, as a report shows it."""

    at_ms: int
    name: str
    text: str


class PlayerReport(NamedTuple):
    """A player's report of another."""

    number: int
    at_ms: int
    reporter: str
    reported: str
    reason: ReportReason
    text: str
    match: str | None
    lines: tuple[SpokenLine, ...]
    closed_ms: int | None
    """None while it is open."""
    closed_by: str
    note: str
    """The moderator's finding."""
    player: PlayerId
    """The number of the reported."""


class Moderator(NamedTuple):
    """One whom the host lets moderate."""

    name: str
    token_hash: bytes
    since_ms: int


_REPORTS = (
    "SELECT number, at_ms, one.name, other.name, reason, text, match, lines, closed_ms, closed_by, note, other.id"
    " FROM reports JOIN players AS one ON one.id = reporter JOIN players AS other ON other.id = reported"
)


def read_reports(connection: sqlite3.Connection, has_closed: bool, most: int) -> list[PlayerReport]:
    """Return reports without their lines: open ones, the oldest first, then the newest that were closed."""
    rows = connection.execute(f"{_REPORTS} WHERE closed_ms IS NULL ORDER BY number LIMIT ?", (most,)).fetchall()
    if has_closed and len(rows) < most:
        rows += connection.execute(
            f"{_REPORTS} WHERE closed_ms IS NOT NULL ORDER BY number DESC LIMIT ?", (most - len(rows),)
        ).fetchall()
    return [PlayerReport._make((*row[:7], (), *row[8:])) for row in rows]


def read_report(connection: sqlite3.Connection, number: int) -> PlayerReport:
    """Return a report. Raises `Refusal` if there is none of that number."""
    row = connection.execute(f"{_REPORTS} WHERE number = ?", (number,)).fetchone()
    if row is None:
        raise Refusal(Code.BAD_MESSAGE, f"there is no report {number}, or it was too old to keep")
    kept = json.loads(row[7])
    players = sorted({player for _, player, _ in kept})
    query = "SELECT id, name FROM players WHERE id IN (SELECT value FROM json_each(?))"
    names = dict(connection.execute(query, (json.dumps(players),)))
    lines = tuple(SpokenLine(at_ms, names[player], text) for at_ms, player, text in kept)
    return PlayerReport._make((*row[:7], lines, *row[8:]))


def reported_address(connection: sqlite3.Connection, player: PlayerId) -> str | None:
    """Return the keyed hash of the address that a player came from at their newest report; None if there is none."""
    row = connection.execute(
        "SELECT address FROM reports WHERE reported = ? AND address <> '' ORDER BY at_ms DESC, number DESC LIMIT 1",
        (player,),
    ).fetchone()
    return None if row is None else str(row[0])


def read_moderators(connection: sqlite3.Connection) -> list[Moderator]:
    """Return all moderators, by name."""
    rows = connection.execute("SELECT name, token_hash, since_ms FROM moderators ORDER BY name_key")
    return [Moderator(*row) for row in rows]


def read_sanctions(connection: sqlite3.Connection) -> list[Sanction]:
    """Return all sanctions; those of players under the names that they have now."""
    rows = connection.execute(
        "SELECT act, whom, coalesce(name, shown), reason, since_ms, until_ms, player, by FROM sanctions"
        " LEFT JOIN players ON players.id = player"
    )
    return [Sanction(*row) for row in rows]


def read_notes(connection: sqlite3.Connection, last: int) -> list[AuditNote]:
    """Return the last notes of the audit log, the oldest first, with the names that players have now."""
    rows = connection.execute(
        "SELECT at_ms, act, coalesce(name, '') || what, player, by FROM audit LEFT JOIN players ON players.id = player"
        " ORDER BY audit.id DESC LIMIT ?",
        (last,),
    )
    return [AuditNote(*row) for row in reversed(rows.fetchall())]
