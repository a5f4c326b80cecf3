"""The steps that lead to the tables of the journal, in their order: a file each, since each was released as it is.

A step that has been released is never changed; what comes later is one more step. So a step uses nothing of the
program that may change: it reads facts as plain JSON.
"""

import sqlite3
from collections.abc import Callable

from ttt_net.server.journal.steps.ages import keep_ages
from ttt_net.server.journal.steps.facts import keep_facts
from ttt_net.server.journal.steps.invitations import keep_invitations
from ttt_net.server.journal.steps.looks import keep_looks
from ttt_net.server.journal.steps.order import keep_order
from ttt_net.server.journal.steps.results import count_results
from ttt_net.server.journal.steps.sanctions import keep_sanctions
from ttt_net.server.journal.steps.subjects import keep_subjects

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
