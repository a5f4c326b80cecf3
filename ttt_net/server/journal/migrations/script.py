"""Run the statements of a step."""

import sqlite3


def run(connection: sqlite3.Connection, script: str) -> None:
    """Run the statements of a script one by one: `executescript` would commit first."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            connection.execute(pending)
            pending = ""
