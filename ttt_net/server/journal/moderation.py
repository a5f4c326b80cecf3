"""What the host has decided and done, in the journal: sanctions, and a log of every act of an admin."""

import sqlite3
from typing import NamedTuple, cast

from ttt_net.server.admission.sanctions import Act, Sanction
from ttt_net.text import name_key

MAX_NOTES = 100_000
"""The oldest acts beyond these are forgotten."""


class AuditNote(NamedTuple):
    """One act of an admin. If it was about a player, `what` follows his name, which is not written down."""

    at_ms: int
    act: str
    what: str
    player: int | None = None


def read_sanctions(connection: sqlite3.Connection) -> list[Sanction]:
    """Return all sanctions; those of players under the names that they have now."""
    rows = connection.execute(
        "SELECT act, whom, coalesce(name, shown), reason, since_ms, until_ms FROM sanctions"
        " LEFT JOIN players ON whom LIKE 'player:%' AND id = CAST(substr(whom, 8) AS INTEGER)"
    )
    return [Sanction(*row) for row in rows]


def keep_sanction(connection: sqlite3.Connection, sanction: Sanction) -> None:
    """Write a sanction down, and forget those that have run out."""
    connection.execute("DELETE FROM sanctions WHERE until_ms <= ?", (sanction.since_ms,))
    connection.execute("INSERT OR REPLACE INTO sanctions VALUES (?, ?, ?, ?, ?, ?)", sanction)


def lift_sanction(connection: sqlite3.Connection, act: Act, whom: str) -> None:
    """Forget a sanction."""
    connection.execute("DELETE FROM sanctions WHERE act = ? AND whom = ?", (act, whom))


def find_player(connection: sqlite3.Connection, name: str) -> tuple[int, str] | None:
    """Return id and name of the player whom that name belongs to."""
    row = connection.execute("SELECT id, name FROM players WHERE name_key = ?", (name_key(name),)).fetchone()
    return cast("tuple[int, str] | None", row)


def write_note(connection: sqlite3.Connection, note: AuditNote) -> None:
    """Add an act to the log."""
    connection.execute("INSERT INTO audit (at_ms, act, what, player) VALUES (?, ?, ?, ?)", note)
    connection.execute("DELETE FROM audit WHERE id <= (SELECT max(id) FROM audit) - ?", (MAX_NOTES,))


def read_notes(connection: sqlite3.Connection, last: int) -> list[AuditNote]:
    """Return the last acts, the oldest first, with the names that players have now."""
    rows = connection.execute(
        "SELECT at_ms, act, coalesce(name, '') || what, player FROM audit LEFT JOIN players ON players.id = player"
        " ORDER BY audit.id DESC LIMIT ?",
        (last,),
    )
    return [AuditNote(*row) for row in reversed(rows.fetchall())]
