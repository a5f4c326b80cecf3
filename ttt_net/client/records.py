"""Write matches as records into files: one that a person saves, and all that are played at this keyboard."""

import os
import re
from contextlib import suppress
from pathlib import Path

from ttt_net.client.film import film_of
from ttt_net.errors import Refusal
from ttt_net.games.records import read_records
from ttt_net.messages import RecordReply
from ttt_net.private_files import make_private_folder
from ttt_net.programs import VERBS
from ttt_net.sdk import identity
from ttt_net.text import clean

_MAX_LINES = 2_000
_MAX_COPIES = 100
FILE = "matches.txt"
MAX_BYTES = 2_000_000
"""The largest file; then it becomes the old one, in place of the one before, and a new one begins."""
OLD_FILE = "matches-old.txt"


def records_file() -> Path:
    """Return the path of the file, which need not be there."""
    return identity.home() / FILE


def keep_record(text: str) -> None:
    """Write the record of a match of this keyboard behind the others; a disk that refuses means that it is not kept."""
    path = records_file()
    with suppress(OSError):
        make_private_folder(path.parent)
        if path.exists() and path.stat().st_size + len(text) > MAX_BYTES:
            path.replace(path.with_name(OLD_FILE))
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "ab", buffering=0) as file:  # one write: two clients do not mix their lines
            file.write(f"{text}\n".encode())


def save_record(told: RecordReply, folder: Path | None = None) -> str:
    """Write the record into a new file of the folder, and a picture of the match beside it; return what to say of it.

    No record is overwritten. There is no picture of a game that is not known here.
    """
    folder = folder or Path.cwd()
    name = re.sub(r"[^0-9A-Za-z-]", "", told.match)[:32] or "match"
    text = "".join(f"{clean(line, 200)}\n" for line in told.text.splitlines()[:_MAX_LINES])
    for number in range(1, _MAX_COPIES):
        path = folder / (f"ttt_net-{name}.txt" if number == 1 else f"ttt_net-{name}-{number}.txt")
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            continue
        except OSError as error:
            return f"The match could not be saved: {(error.strerror or 'the disk failed').lower()}."
        film = _save_film(told.text, path.with_suffix(".svg"))
        return f"Saved as {path.name}{film}; {VERBS} analyse --match {path.name} tells where it turned."
    return "The match has been saved here often enough."


def _save_film(text: str, path: Path) -> str:
    """Write the picture of a match, if it can be drawn; return what to say of it."""
    try:
        (record,) = read_records(text)
        path.write_text(film_of(record), encoding="utf-8")
    except (Refusal, ValueError, OSError):
        return ""
    return f", and to show in a browser {path.name}"
