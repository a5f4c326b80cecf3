"""The steps that lead to the tables of the journal, in their order: a file each, since each was released as it is.

A step that has been released is never changed; what comes later is one more step. So a step uses nothing of the
program that may change: it reads facts as plain JSON.
"""

import sqlite3
from collections.abc import Callable

from ttt_net.server.journal.migrations.v1_facts import keep_facts
from ttt_net.server.journal.migrations.v2_results import count_results
from ttt_net.server.journal.migrations.v3_order import keep_order
from ttt_net.server.journal.migrations.v4_sanctions import keep_sanctions
from ttt_net.server.journal.migrations.v5_looks import keep_looks
from ttt_net.server.journal.migrations.v6_ages import keep_ages
from ttt_net.server.journal.migrations.v7_subjects import keep_subjects
from ttt_net.server.journal.migrations.v8_invitations import keep_invitations

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
)
