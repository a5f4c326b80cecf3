"""Step 6: when guests were last here, and until when ratings are settled: both go stale with time alone."""

import sqlite3

from ttt_net.server.journal.migrations.script import run

_AGES = """
ALTER TABLE players ADD COLUMN seen_ms INTEGER NOT NULL DEFAULT 0;  -- when a guest was last here, to the hour
UPDATE players SET seen_ms = 1000 * unixepoch() WHERE is_guest;     -- nobody knows; so now
CREATE INDEX guests_by_age ON players (seen_ms) WHERE is_guest;
ALTER TABLE ratings ADD COLUMN settled_until_ms INTEGER;            -- null: provisional; see ratings.settled_until_ms
UPDATE ratings SET settled_until_ms = CAST(
    rated_ms + 345600000 * (12100 - deviation * deviation) / (volatility * volatility * 173.7178 * 173.7178) AS INTEGER
) WHERE deviation <= 110;
CREATE INDEX settled_ratings ON ratings (settled_until_ms) WHERE settled_until_ms IS NOT NULL;
"""


def keep_ages(connection: sqlite3.Connection) -> None:
    """Add both, and fill them as well as can be told."""
    run(connection, _AGES)
