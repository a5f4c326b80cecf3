"""What outlives the process: the facts of every match, and who the players are."""

from ttt_net.server.journal.database import Database, StorageError, open_readonly
from ttt_net.server.journal.journal import Journal, Question
from ttt_net.server.journal.matches import StoredMatch, finished_matches, read_match, with_names
from ttt_net.server.journal.players import FORGOTTEN, Player, PlayerId, still_playing
from ttt_net.server.journal.rating import Changes

__all__ = [
    "FORGOTTEN",
    "Changes",
    "Database",
    "Journal",
    "Player",
    "PlayerId",
    "Question",
    "StorageError",
    "StoredMatch",
    "finished_matches",
    "open_readonly",
    "read_match",
    "still_playing",
    "with_names",
]
