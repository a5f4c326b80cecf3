"""Load recorded matches for other verbs, from files of records or the journal of a server on this machine."""

import argparse
import contextlib
import re
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from ttt_net.client.saved_matches import records_file
from ttt_net.errors import ConfigurationError, Refusal, StorageError
from ttt_net.games.records import Record, read_each
from ttt_net.matches.match import record_of
from ttt_net.server.journal import JOURNAL_FILE, open_readonly, read_match
from ttt_net.server.settings.configuration import DEFAULT_DATA

T = TypeVar("T")
MATCH_ID = re.compile(r"[0-9A-Za-z]{8}(-[0-9]{1,6})?", re.ASCII)
"""The form of match ids."""
MAX_FILE_BYTES = 20_000_000
LOCAL = "local"
"""The source name for the file of matches played at this keyboard."""


def add_data(parser: argparse.ArgumentParser) -> None:
    """Add the option for the folder of the server's journal."""
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA, help="the server's folder (default %(default)s)")


def load_records(source: str, data: Path) -> list[Record]:
    """Return the matches in the file `source`, or the match with this id in the journal of the folder `data`.

    `-` is standard input. Raises `ConfigurationError` if anything cannot be found or read.
    """
    records = load_each(source, data)
    for each in records:
        if isinstance(each, Refusal):
            raise ConfigurationError(f"{source}: {each}")
    return [each for each in records if isinstance(each, Record)]


def load_each(source: str, data: Path) -> list[Record | Refusal]:
    """Return the same matches, with a refusal in place of each record that cannot be read."""
    path = records_file() if source == LOCAL else Path(source)
    if source != "-" and not path.exists() and MATCH_ID.fullmatch(source):
        return [look_up(data, source, record_in)]
    try:
        with contextlib.nullcontext(sys.stdin.buffer) if source == "-" else path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        if source == LOCAL:
            raise ConfigurationError(f"no match was played to its end at this keyboard yet: {path}") from None
        if isinstance(error, FileNotFoundError) and source.isalnum():
            sentence = f"{source} is neither a file nor the id of a match, which has 8 characters"
            raise ConfigurationError(sentence) from None
        raise ConfigurationError(f"cannot read {source}: {error.strerror}") from None
    if len(content) > MAX_FILE_BYTES:
        raise ConfigurationError(f"{source} is larger than {MAX_FILE_BYTES} bytes")
    try:
        records = read_each(content.decode())
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{source}: {error}") from None
    if not records:
        raise ConfigurationError(f"{source}: there is no record in it")
    return records


def chosen(records: list[Record], number: int | None, source: str) -> Record:
    """Return the record with a number, counted from 1; without a number, the only one, or the newest at this keyboard.

    Raises `ConfigurationError` if no such record exists.
    """
    if number is None and source == LOCAL:
        number = len(records)
    if number is None and len(records) > 1:
        raise ConfigurationError(f"{source} holds {len(records)} records; choose one with --number")
    number = 1 if number is None else number
    if not 1 <= number <= len(records):
        raise ConfigurationError(f"--number {number}: the file holds the records 1 to {len(records)}")
    return records[number - 1]


def look_up(data: Path, match: str, read: Callable[[sqlite3.Connection, str], T]) -> T:
    """Return what `read` finds of a match in the journal of the folder `data`.

    Raises `ConfigurationError` if it is not there, or cannot be read.
    """
    with closing(open_readonly(data / JOURNAL_FILE)) as connection:
        try:
            return read(connection, match)
        except StorageError as error:
            raise ConfigurationError(error.cause) from None
        except Refusal:
            sentence = f"there is no file and no match {match}; matches are looked up in {data}"
            raise ConfigurationError(sentence) from None


def record_in(connection: sqlite3.Connection, match: str) -> Record:
    """Return the record of a match in a journal."""
    return record_of(read_match(connection, match).events)
