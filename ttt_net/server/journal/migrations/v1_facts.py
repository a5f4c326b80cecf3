"""Step 1: players, matches, facts."""

import sqlite3

from ttt_net.server.journal.migrations.script import run

_FACTS = """
CREATE TABLE players (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL UNIQUE,      -- see text.name_key
    token_hash BLOB NOT NULL UNIQUE,    -- SHA-256; the token itself is never kept
    created_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE matches (
    id TEXT PRIMARY KEY,
    first INTEGER NOT NULL REFERENCES players (id),
    second INTEGER NOT NULL REFERENCES players (id),
    started_ms INTEGER NOT NULL,
    is_over INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX live_of_first ON matches (first) WHERE NOT is_over;
CREATE INDEX live_of_second ON matches (second) WHERE NOT is_over;
CREATE TABLE facts (
    match TEXT NOT NULL REFERENCES matches (id),
    seq INTEGER NOT NULL,
    fact BLOB NOT NULL,                 -- JSON, as messages.py writes it
    PRIMARY KEY (match, seq)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER facts_are_numbered_without_a_gap BEFORE INSERT ON facts
WHEN NEW.seq <> 1 + (SELECT coalesce(max(seq), 0) FROM facts WHERE match = NEW.match)
BEGIN SELECT raise(ABORT, 'the journal expects another fact number'); END;
"""


def keep_facts(connection: sqlite3.Connection) -> None:
    """Make the tables of players, matches and facts."""
    run(connection, _FACTS)
