"""List the steps that lead to the journal's tables, in order: a new file takes all, an older one those it lacks.

Each is a file of its own, for it was released as it is and is never changed; what comes later is one more step. So a
step uses nothing of the program that may change: it reads events as plain JSON.
"""

import logging
import sqlite3
from collections.abc import Callable
from pathlib import Path

from ttt_net.errors import ConfigurationError
from ttt_net.server.journal.migrations.v1_facts import keep_facts
from ttt_net.server.journal.migrations.v2_results import count_results
from ttt_net.server.journal.migrations.v3_order import keep_order
from ttt_net.server.journal.migrations.v4_sanctions import keep_sanctions
from ttt_net.server.journal.migrations.v5_looks import keep_looks
from ttt_net.server.journal.migrations.v6_ages import keep_ages
from ttt_net.server.journal.migrations.v7_subjects import keep_subjects
from ttt_net.server.journal.migrations.v8_invitations import keep_invitations
from ttt_net.server.journal.migrations.v9_moderation import keep_moderation

log = logging.getLogger(__name__)

Step = Callable[[sqlite3.Connection], None]

STEPS: tuple[Step, ...] = (
    keep_facts,
    count_results,
    keep_order,
    keep_sanctions,
    keep_looks,
    keep_ages,
    keep_subjects,
    keep_invitations,
    keep_moderation,
)

SCHEMA_VERSION = len(STEPS)


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Take the steps that the file lacks, each in its transaction. Raises `ConfigurationError` if the file is newer.

    Foreign keys must not be enforced meanwhile: a step may put a new table in the place of an old one.
    """
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found > SCHEMA_VERSION:
        raise ConfigurationError(
            f"{path} was written by a newer ttt_net (schema {found}, this program knows {SCHEMA_VERSION}); upgrade"
        )
    for version, step in enumerate(STEPS[found:], found + 1):
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
