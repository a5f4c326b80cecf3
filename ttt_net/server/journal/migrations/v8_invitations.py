"""Step 8: invitations, so that a code that a friend was told is good after a restart."""

import sqlite3

from ttt_net.server.journal.migrations.script import run

_INVITATIONS = """
CREATE TABLE invitations (
    player INTEGER PRIMARY KEY REFERENCES players (id),     -- who invites; he has one at a time
    code TEXT NOT NULL,
    game TEXT NOT NULL,
    time TEXT,                          -- JSON; null: no clock
    expires_ms INTEGER NOT NULL,
    side INTEGER,                       -- the one that he takes; null: by lot
    start TEXT                          -- the position to begin from; null: the usual one
) STRICT;
"""


def keep_invitations(connection: sqlite3.Connection) -> None:
    """Make their table."""
    run(connection, _INVITATIONS)
