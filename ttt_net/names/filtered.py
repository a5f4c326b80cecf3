"""Find words that a host forbids, even if disguised by look-alikes, marks, case, spaces or digits.

Each line of the host's file is one word. It matches a whole word; `word*` matches a beginning, `*word*` any part. Text
after `#` is a comment. A search looks up each word of a text in a set, and passes over the text once for each of the
few words with a star.
"""

import logging
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ttt_net.errors import Code, Refusal
from ttt_net.names import LUNATE_SIGMA, looks_as_written

log = logging.getLogger(__name__)

WORDS_FILE = "filtered-words.txt"
"""The default file, in the data folder."""
MAX_BYTES = 500_000
"""The maximal size of the file."""
MAX_WORDS = 5_000
MAX_STARS = 200
"""The maximal number of words with a star: each is searched in every text."""
MAX_LETTERS = 40
"""The maximal length of a word; longer lines are ignored."""
_MAX_CHARACTERS = 600
"""The number of characters of a text to check; no message is longer."""
_TOKEN = re.compile(r"[^\W_]+")
_INNER = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_DIGITS = "0123456789"


class WordFilter:
    """A list of forbidden words."""

    def __init__(self, lines: Iterable[str] = ()) -> None:
        """Read a list, ignoring invalid lines. Raises `ValueError` if it is too long."""
        self._whole: set[str] = set()
        self._beginnings: set[str] = set()
        self._parts: set[str] = set()
        self.count = 0
        """The number of words."""
        for line in lines:
            self._add(line.partition("#")[0].strip())
        if self.count > MAX_WORDS:
            raise ValueError(f"{self.count:,} words; at most {MAX_WORDS:,}")

    def _add(self, word: str) -> None:
        bare = "".join(_TOKEN.findall(_bare(word)))
        if not 1 < len(bare) <= MAX_LETTERS:
            return
        self.count += 1
        has_start, has_end = word.startswith("*"), word.endswith("*")
        kept = self._parts if has_start else self._beginnings if has_end else self._whole
        for written in (bare, bare.upper(), bare.title()):
            kept.update(looks_as_written(written))
        if len(self._parts) + len(self._beginnings) > 6 * MAX_STARS:
            raise ValueError(f"too many words with a star; at most {MAX_STARS}")

    def has(self, text: str) -> bool:
        """Tell whether a text or a name contains one of the words."""
        if not self.count:
            return False
        tokens = dict.fromkeys(_tokens(_bare(text[:_MAX_CHARACTERS])))
        looks = {look for token in tokens for look in looks_as_written(token)}
        if not self._whole.isdisjoint(looks):
            return True
        if self._beginnings and any(look.startswith(tuple(self._beginnings)) for look in looks):
            return True
        whole = "\n".join(looks)
        return any(part in whole for part in self._parts)


def _bare(text: str) -> str:
    """Return the text without the marks on its letters, in the form in which look-alikes are compared."""
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFKD", text.translate(LUNATE_SIGMA))
    return "".join(character for character in parts if unicodedata.category(character) != "Mn")


def _tokens(text: str) -> Iterator[str]:
    """Yield the words of a text, without digits around them, those within `aWordLikeThis`, and letters spelled out."""
    spelled = ""
    for found in _TOKEN.findall(text):
        if len(found) == 1:
            spelled += found
            continue
        if len(spelled) > 1:
            yield spelled
        spelled = ""
        yield found
        core = found.strip(_DIGITS)
        if core and core != found:
            yield core
        if not (core.islower() or core.isupper()):
            yield from _INNER.findall(core)
    if len(spelled) > 1:
        yield spelled


class FilteredWords:
    """The words of a file; without a file, none. The server rereads a changed file within a second."""

    def __init__(self, file: Callable[[], Path | None]) -> None:
        self._file = file
        self._filter = WordFilter()
        self._seen: tuple[Path, int, int] | None = None
        """The file that was last read, with its time and size."""
        self.look()

    def look(self) -> None:
        """Read the file if it has changed; if it cannot be read, keep the words."""
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
        """Tell whether a text or a name contains one of the words."""
        return self._filter.has(text)

    def check_name(self, name: str) -> None:
        """Raise `Refusal` if one of the words is in a name."""
        if self.has(name):
            raise Refusal(Code.BAD_NAME, "the host of this server does not want names with such a word in them")

    def check_text(self, text: str) -> None:
        """Raise `Refusal` if one of the words is in a chat message."""
        if self.has(text):
            raise Refusal(Code.FILTERED, "the host of this server does not allow that word")
