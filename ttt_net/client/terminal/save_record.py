"""Write the record of a finished match into a file where the client was started."""

import re
from pathlib import Path

from ttt_net.messages import RecordReply
from ttt_net.programs import VERBS
from ttt_net.text import clean

_MAX_LINES = 2_000
_MAX_COPIES = 100


def save_record(told: RecordReply, folder: Path | None = None) -> str:
    """Write the record into a new file of the folder, no other is touched; return what to say of it."""
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
        return f"Saved as {path.name}; {VERBS} analyse --match {path.name} tells where it turned."
    return "The match has been saved here often enough."
