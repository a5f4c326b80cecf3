"""What outlives the process: the events of every match, and who the players are."""

from ttt_net.server.journal.database import Database, StorageError, open_readonly
from ttt_net.server.journal.journal import Failed, Journal
from ttt_net.server.journal.matches import StoredMatch, finished_matches, read_match, with_names
from ttt_net.server.journal.rating import Changes

__all__ = [
    "Changes",
    "Database",
    "Failed",
    "Journal",
    "StorageError",
    "StoredMatch",
    "finished_matches",
    "open_readonly",
    "read_match",
    "with_names",
]
