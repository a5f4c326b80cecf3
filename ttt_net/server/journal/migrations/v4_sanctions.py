"""Step 4: whom the host has banned or muted, what his admins did, and which matches are old."""

import sqlite3

from ttt_net.server.journal.migrations.script import run

_SANCTIONS = """
CREATE TABLE sanctions (
    act TEXT NOT NULL,                  -- ban or mute
    whom TEXT NOT NULL,                 -- a network, or player: and an id
    shown TEXT NOT NULL,
    reason TEXT NOT NULL,
    since_ms INTEGER NOT NULL,
    until_ms INTEGER,                   -- null: for good
    PRIMARY KEY (act, whom)
) STRICT, WITHOUT ROWID;
CREATE TABLE audit (
    id INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    act TEXT NOT NULL,
    what TEXT NOT NULL
) STRICT;
CREATE INDEX matches_by_end ON matches (ended_ms) WHERE is_over;    -- those two are for forgetting old matches
CREATE INDEX results_of_match ON results (match);
"""


def keep_sanctions(connection: sqlite3.Connection) -> None:
    """Make the tables of sanctions and of the audit log, and two indexes."""
    run(connection, _SANCTIONS)
