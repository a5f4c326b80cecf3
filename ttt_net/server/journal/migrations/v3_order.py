"""Step 3: facts in the order of writing. Side by side with their matches, each was on a page of its own."""

import sqlite3

from ttt_net.server.journal.migrations.script import run
from ttt_net.server.journal.migrations.v2_results import COUNTING

_ORDER = """
CREATE TABLE new_matches (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    first INTEGER NOT NULL REFERENCES players (id),
    second INTEGER NOT NULL REFERENCES players (id),
    started_ms INTEGER NOT NULL,
    is_over INTEGER NOT NULL DEFAULT 0,
    game TEXT NOT NULL,
    time TEXT,                          -- JSON; null: no clock
    is_rated INTEGER NOT NULL DEFAULT 0,
    is_private INTEGER NOT NULL DEFAULT 0,
    ended_ms INTEGER,
    winner INTEGER,                     -- 0 or 1; null: nobody
    reason TEXT,
    plies INTEGER
) STRICT;
INSERT INTO new_matches
    (id, first, second, started_ms, is_over, game, time, is_rated, is_private, ended_ms, winner, reason, plies)
SELECT id, first, second, started_ms, is_over, game, time, is_rated, is_private, ended_ms, winner, reason, plies
    FROM matches ORDER BY started_ms, id;
CREATE TABLE new_facts (                -- in the order of writing, so that a commit touches few pages
    id INTEGER PRIMARY KEY,
    match INTEGER NOT NULL REFERENCES matches (number),
    seq INTEGER NOT NULL,
    fact BLOB NOT NULL,                 -- JSON, as messages.py writes it
    UNIQUE (match, seq)
) STRICT;
INSERT INTO new_facts (match, seq, fact)
SELECT number, seq, fact FROM facts JOIN new_matches ON new_matches.id = facts.match ORDER BY number, seq;
DROP TABLE facts;
DROP TABLE matches;
ALTER TABLE new_matches RENAME TO matches;
ALTER TABLE new_facts RENAME TO facts;
CREATE INDEX live_of_first ON matches (first) WHERE NOT is_over;
CREATE INDEX live_of_second ON matches (second) WHERE NOT is_over;
CREATE TRIGGER facts_are_numbered_without_a_gap BEFORE INSERT ON facts
WHEN NEW.seq <> 1 + (SELECT coalesce(max(seq), 0) FROM facts WHERE match = NEW.match)
BEGIN SELECT raise(ABORT, 'the journal expects another fact number'); END;
"""


def keep_order(connection: sqlite3.Connection) -> None:
    """Copy matches and facts into tables of that order."""
    run(connection, _ORDER)
    run(connection, COUNTING)
