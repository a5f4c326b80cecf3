"""Step 7: the acts of admins say whom they were about by number, so that he can be renamed, and forgotten."""

import re
import sqlite3
import unicodedata

from ttt_net.server.journal.migrations.script import run

_SUBJECTS = """
ALTER TABLE audit ADD COLUMN player INTEGER REFERENCES players (id);    -- whose name stands before `what`; null: none
"""
_NAME = re.compile(r"(.*?)(: | until \d| for good: |$)")
_FORGOTTEN = "deleted"


def keep_subjects(connection: sqlite3.Connection) -> None:
    """Add the number, and take the names out of the acts of before; a name that nobody has now is forgotten."""
    run(connection, _SUBJECTS)
    acts = connection.execute(
        "SELECT id, what FROM audit WHERE act IN ('kick', 'ban', 'unban', 'mute', 'unmute')"
    ).fetchall()
    for act, what in acts:
        found = _NAME.match(what)
        name = found[1] if found else ""
        if "/" in name:  # a network
            continue
        known = connection.execute("SELECT id FROM players WHERE name_key = ?", (_key(name),)).fetchone()
        rest = what[len(name) :]
        connection.execute(
            "UPDATE audit SET player = ?, what = ? WHERE id = ?",
            (known[0], rest, act) if known else (None, _FORGOTTEN + rest, act),
        )


def _key(name: str) -> str:
    """Return what two names share that were taken for the same at this step: see text.name_key."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
