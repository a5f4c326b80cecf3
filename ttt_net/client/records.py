"""Write matches into files as records, and list those that were played at this keyboard."""

import json
import os
import re
from contextlib import suppress
from pathlib import Path

from ttt_net.client.film import film_of
from ttt_net.errors import ConfigurationError, Refusal
from ttt_net.games.records import Record, read_each, read_records, result_of
from ttt_net.messages import RecordReply
from ttt_net.private_files import make_private_folder
from ttt_net.programs import VERBS
from ttt_net.sdk import identity
from ttt_net.text import clean, counted, name_key

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


PAGE = 20
_MAX_NAME_CELLS = 20


def lines_of(name: str, page: int, *, is_json: bool) -> list[str]:
    """Return a page of the list, the newest match first, each with the number that chooses it for `replay local`.

    With a name, only the matches of a player who is called so. Raises `ConfigurationError` if the file cannot be read.
    """
    kept = [(number, each) for number, each in enumerate(_kept(), start=1) if isinstance(each, Record)]
    matches = [(number, each) for number, each in kept if not name or _plays(name, each)]
    shown = matches[::-1][PAGE * (page - 1) : PAGE * page]
    if is_json:
        return [json.dumps(_as_json(number, record), separators=(",", ":")) for number, record in shown]
    if not shown:
        return ["There is no such match." if kept else "No match was played to its end at this keyboard yet."]
    pages = -(-len(matches) // PAGE)
    last = f"{VERBS} replay local --number N steps through one of them; this is page {page} of {pages}."
    return [*(_line(number, record) for number, record in shown), last]


def _plays(name: str, record: Record) -> bool:
    return name_key(name) in (name_key(player.name) for player in record.players)


def _kept() -> list[object]:
    try:
        return [*read_each(records_file().read_text(encoding="utf-8", errors="replace"))]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ConfigurationError(f"cannot read {records_file()}: {error.strerror}") from None


def _line(number: int, record: Record) -> str:
    first, second = (clean(player.name, _MAX_NAME_CELLS) for player in record.players)
    date = record.date.isoformat() if record.date is not None else "-"
    reason = f" ({record.outcome.reason})" if record.outcome is not None else ""
    result = f"{first} {result_of(record.outcome)} {second}{reason}"
    return f"{number:>4}  {date}  {record.game}: {result}, {counted(len(record.moves), 'move')}"


def _as_json(number: int, record: Record) -> dict[str, object]:
    return {
        "type": "local",
        "number": number,
        "date": record.date and record.date.isoformat(),
        "game": record.game,
        "players": [player.name for player in record.players],
        "result": result_of(record.outcome),
        "reason": record.outcome and record.outcome.reason.value,
        "plies": len(record.moves),
    }
