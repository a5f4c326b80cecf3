"""Keep the host's list of words that names and chat may not have, as its file is by now."""

import logging
from collections.abc import Callable
from pathlib import Path

from ttt_net.errors import Code, Refusal
from ttt_net.names.filtered import WordFilter

log = logging.getLogger(__name__)

WORDS_FILE = "filtered-words.txt"
"""The list, in the data folder, if no other is set."""
MAX_BYTES = 500_000


class FilteredWords:
    """The words of a file, one a line; without a file, none. Each change of the file counts within a second."""

    def __init__(self, file: Callable[[], Path | None]) -> None:
        self._file = file
        self._filter = WordFilter()
        self._seen: tuple[Path, int, int] | None = None
        """Which file was read last, and its time and size then."""
        self.look()

    def look(self) -> None:
        """Read the file if it has changed; one that cannot be read leaves the words as they were."""
        path = self._file()
        try:
            found = path.stat() if path is not None else None
        except OSError:
            found = None
        seen = None if path is None or found is None else (path, found.st_mtime_ns, found.st_size)
        if seen != self._seen:
            self._seen = seen
            self._read(path if seen is not None else None)

    def _read(self, path: Path | None) -> None:
        try:
            if path is not None and path.stat().st_size > MAX_BYTES:
                raise ValueError(f"more than {MAX_BYTES:,} bytes")
            lines = path.read_text(encoding="utf-8").splitlines() if path is not None else []
            self._filter = WordFilter(lines)
        except (OSError, ValueError) as error:
            log.error("filtered words stay as they were: %s: %s", path, error)
        else:
            log.warning("filtered words: %d", self._filter.count)

    def has(self, text: str) -> bool:
        """Tell whether one of the words is in a text or a name."""
        return self._filter.has(text)

    def check_name(self, name: str) -> None:
        """Raise `Refusal` if one of the words is in a name."""
        if self.has(name):
            raise Refusal(Code.BAD_NAME, "the host of this server does not want names with such a word in them")

    def check_text(self, text: str) -> None:
        """Raise `Refusal` if one of the words is in what somebody says."""
        if self.has(text):
            raise Refusal(Code.FILTERED, "the host of this server does not want such a word said here")
