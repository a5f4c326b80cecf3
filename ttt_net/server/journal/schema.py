"""The tables of the journal, as the steps that lead to them: a new file takes all, an older one those that it lacks."""

import logging
import sqlite3
from pathlib import Path

from ttt_net.errors import ConfigurationError
from ttt_net.server.journal import migrations

log = logging.getLogger(__name__)

SCHEMA_VERSION = len(migrations.STEPS)


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Take the steps that the file lacks, each in a transaction of its own; a newer file raises `ConfigurationError`.

    Foreign keys must not be enforced meanwhile: a step may put a new table in the place of an old one.
    """
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found > SCHEMA_VERSION:
        raise ConfigurationError(
            f"{path} was written by a newer ttt_net (schema {found}, this program knows {SCHEMA_VERSION}); upgrade"
        )
    for version, step in enumerate(migrations.STEPS[found:], found + 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            step(connection)
            connection.execute(f"PRAGMA user_version = {version}")
            connection.execute("COMMIT")
        except BaseException:  # what is half done is undone, whatever stopped it
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        if found:
            log.warning("brought %s to schema %d", path, version)
