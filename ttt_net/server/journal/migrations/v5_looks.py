"""Step 5: what names look like. Players of before keep theirs, even where two look alike."""

import sqlite3

from ttt_net.names import looks
from ttt_net.server.journal.migrations.script import run

_LOOKS = """
CREATE TABLE looks (                    -- what the names of players look like: see names.looks
    look TEXT NOT NULL,
    player INTEGER NOT NULL REFERENCES players (id),
    PRIMARY KEY (look, player)
) STRICT, WITHOUT ROWID;
CREATE INDEX looks_of_player ON looks (player);
"""


def keep_looks(connection: sqlite3.Connection) -> None:
    """Make the table of looks, and fill it from the names."""
    run(connection, _LOOKS)
    rows = connection.execute("SELECT id, name FROM players WHERE name_key IS NOT NULL").fetchall()
    connection.executemany(
        "INSERT INTO looks (look, player) VALUES (?, ?)",
        [(look, player) for player, name in rows for look in looks(name)],
    )
