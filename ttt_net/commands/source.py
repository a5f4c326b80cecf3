"""Where recorded matches come from: files of records."""

from pathlib import Path

from ttt_net.errors import ConfigurationError, Refusal
from ttt_net.games.record import Record
from ttt_net.games.records import read_records

MAX_FILE_BYTES = 20_000_000


def load_records(source: str) -> list[Record]:
    """Return the matches in the file `source`; one that cannot be read raises `ConfigurationError` and says why."""
    path = Path(source)
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise ConfigurationError(f"cannot read {source}: {error.strerror}") from None
    if len(content) > MAX_FILE_BYTES:
        raise ConfigurationError(f"{source} is larger than {MAX_FILE_BYTES} bytes")
    try:
        records = read_records(content.decode())
    except (UnicodeDecodeError, Refusal) as error:
        raise ConfigurationError(f"{source}: {error}") from None
    if not records:
        raise ConfigurationError(f"{source}: there is no record in it")
    return records
