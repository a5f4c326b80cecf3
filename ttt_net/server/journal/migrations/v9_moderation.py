"""Step 9: what moderation needs: sanctions under keyed hashes, reports of players, moderators, who did what."""

import sqlite3

from ttt_net.server.journal.migrations.script import run

_MODERATION = """
ALTER TABLE sanctions RENAME TO sanctions_before;
CREATE TABLE sanctions (
    act TEXT NOT NULL,                  -- ban or mute
    whom TEXT NOT NULL,                 -- a network, player: and an id, or address: or token: and a keyed hash
    shown TEXT NOT NULL,                -- a network; empty where it is about a player
    reason TEXT NOT NULL,
    since_ms INTEGER NOT NULL,
    until_ms INTEGER,                   -- null: for good
    player INTEGER REFERENCES players (id),     -- whom it is about, also when they are forgotten; null: a network
    by TEXT NOT NULL                    -- the moderator; host: the host
) STRICT;
CREATE UNIQUE INDEX sanctions_by_whom ON sanctions (act, whom, coalesce(player, 0));
CREATE INDEX sanctions_by_end ON sanctions (until_ms) WHERE until_ms IS NOT NULL;
CREATE INDEX sanctions_of_player ON sanctions (player) WHERE player IS NOT NULL;
INSERT INTO sanctions SELECT act, whom, shown, reason, since_ms, until_ms, NULL, 'host' FROM sanctions_before
    WHERE whom NOT LIKE 'player:%';
INSERT INTO sanctions SELECT act, whom, '', reason, since_ms, until_ms, CAST(substr(whom, 8) AS INTEGER), 'host'
    FROM sanctions_before WHERE whom LIKE 'player:%';
DROP TABLE sanctions_before;
ALTER TABLE audit ADD COLUMN by TEXT NOT NULL DEFAULT 'host';
CREATE INDEX audit_by_age ON audit (at_ms);
CREATE TABLE moderators (
    name TEXT NOT NULL,
    name_key TEXT PRIMARY KEY,
    token_hash BLOB NOT NULL UNIQUE,
    since_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE reports (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    reporter INTEGER NOT NULL REFERENCES players (id),
    reported INTEGER NOT NULL REFERENCES players (id),
    reason TEXT NOT NULL,               -- chat, name, cheating or other
    text TEXT NOT NULL,                 -- what the reporter wrote
    match TEXT,                         -- null: none
    lines TEXT NOT NULL,                -- JSON: the last lines of chat there, each with a time, a player and a text
    address TEXT NOT NULL,              -- a keyed hash of where the reported came from; empty: not known
    closed_ms INTEGER,                  -- null: open
    closed_by TEXT NOT NULL,
    note TEXT NOT NULL
) STRICT;
CREATE INDEX reports_by_age ON reports (at_ms);
CREATE INDEX reports_of_player ON reports (reported, at_ms);
CREATE INDEX reports_open ON reports (reporter, reported) WHERE closed_ms IS NULL;
"""


def keep_moderation(connection: sqlite3.Connection) -> None:
    """Make the tables, and bring the sanctions of before into theirs."""
    run(connection, _MODERATION)
