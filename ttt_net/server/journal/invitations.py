"""Invitations that wait for a friend, in the journal: one of each player, until it is used or too old."""

import sqlite3

import msgspec

from ttt_net.clock import TimeControl
from ttt_net.messages import encode
from ttt_net.pairing.lobby import Invitation


def keep_invitation(connection: sqlite3.Connection, invitation: Invitation, now_ms: int) -> None:
    """Write an invitation down in place of the player's last, and forget those that are too old."""
    connection.execute("DELETE FROM invitations WHERE expires_ms <= ?", (now_ms,))
    time = None if invitation.time is None else encode(invitation.time).decode()
    connection.execute(
        "INSERT OR REPLACE INTO invitations (player, code, game, time, expires_ms, side, start)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            invitation.by,
            invitation.code,
            invitation.game,
            time,
            invitation.expires_ms,
            invitation.side,
            invitation.start,
        ),
    )


def spend_invitation(connection: sqlite3.Connection, code: str) -> None:
    """Forget the invitation of that code, whose match is written down in the same transaction."""
    connection.execute("DELETE FROM invitations WHERE code = ?", (code,))


def read_invitations(connection: sqlite3.Connection, now_ms: int) -> list[Invitation]:
    """Return the invitations that are good still."""
    rows = connection.execute(
        "SELECT code, player, game, time, expires_ms, side, start FROM invitations WHERE expires_ms > ?", (now_ms,)
    )
    return [
        Invitation(code, by, game, None if time is None else msgspec.json.decode(time, type=TimeControl), *rest)
        for code, by, game, time, *rest in rows
    ]
