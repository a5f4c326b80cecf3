"""What outlives the process: the facts of every match, and who the players are."""

from ttt_net.server.journal.database import Database, StorageError, open_readonly
from ttt_net.server.journal.rating import Changes
from ttt_net.server.journal.sqlite import FORGOTTEN, Journal, Player, Record, finished_matches, read_match

__all__ = [
    "FORGOTTEN",
    "Changes",
    "Database",
    "Journal",
    "Player",
    "Record",
    "StorageError",
    "finished_matches",
    "open_readonly",
    "read_match",
]
