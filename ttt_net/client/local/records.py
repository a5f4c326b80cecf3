"""Keep the matches of this keyboard as records, in one file of the client's folder, the newest last."""

import os
from contextlib import suppress
from pathlib import Path

from ttt_net.games.records import write_record
from ttt_net.matches.match import Match, record_of
from ttt_net.private_files import make_private_folder
from ttt_net.sdk import identity

FILE = "matches.txt"
MAX_BYTES = 2_000_000
"""The largest file; then it becomes the old one, in place of the one before, and a new one begins."""
OLD_FILE = "matches-old.txt"


def records_file() -> Path:
    """Return the path of the file, which need not be there."""
    return identity.home() / FILE


def keep_match(match: Match) -> None:
    """Write a match that has ended behind the others; a disk that refuses means only that it is not kept.

    One that was called off is not kept.
    """
    if not match.moves or match.outcome is None or match.outcome.reason == "abort":
        return
    text = write_record(record_of(match.events))
    path = records_file()
    with suppress(OSError):
        make_private_folder(path.parent)
        if path.exists() and path.stat().st_size + len(text) > MAX_BYTES:
            path.replace(path.with_name(OLD_FILE))
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "a", encoding="utf-8") as file:  # one write: two clients do not mix their lines
            file.write(text + "\n")
