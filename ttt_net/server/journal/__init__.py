"""The durable storage: the events of every match, and the players.

A write is an entry (`entries`), ordered by a `Ledger`, carried out by `apply`. A read is a query (`queries`): the
server's own are answered in the same order, those of players by the `archive` beside the writes.
"""

from ttt_net.server.journal.archive import Archive, Asker, PastQuestion
from ttt_net.server.journal.database import JOURNAL_FILE, Database, open_readonly
from ttt_net.server.journal.entries import Changes
from ttt_net.server.journal.journal import Failed, Journal, token_hash
from ttt_net.server.journal.ledger import LocalLedger, MemoryLedger
from ttt_net.server.journal.queries import StoredMatch, finished_matches, read_match, with_names

__all__ = [
    "JOURNAL_FILE",
    "Archive",
    "Asker",
    "Changes",
    "Database",
    "Failed",
    "Journal",
    "LocalLedger",
    "MemoryLedger",
    "PastQuestion",
    "StoredMatch",
    "finished_matches",
    "open_readonly",
    "read_match",
    "token_hash",
    "with_names",
]
