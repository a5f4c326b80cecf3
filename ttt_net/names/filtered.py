"""Find words that a host does not want, also as they are disguised: by look-alikes, marks, case, spaces and digits.

A line of a list is one word. It is found as a whole word; `word*` as the beginning of one, `*word*` anywhere. Text
after `#` is a comment. Finding costs a look into a set for each word of a text, and one pass over it for each word with
a star, of which there are few.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from ttt_net.names.alike import looks_as_written

MAX_WORDS = 5_000
MAX_STARS = 200
"""Of the words, so many may have a star: each is looked for in every text."""
MAX_LETTERS = 40
"""The longest word that is kept; a longer one is no word."""
_MAX_CHARACTERS = 600
"""The most characters of a text that are checked; no message here is longer."""
_TOKEN = re.compile(r"[^\W_]+")
_INNER = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_DIGITS = "0123456789"


class WordFilter:
    """A list of words that are not wanted."""

    def __init__(self, lines: Iterable[str] = ()) -> None:
        """Read a list, without lines that are no words. Raises `ValueError` if it is too long."""
        self._whole: set[str] = set()
        self._beginnings: set[str] = set()
        self._parts: set[str] = set()
        self.count = 0
        """How many words are in it."""
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
        """Tell whether one of the words is in a text or a name."""
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
    parts = unicodedata.normalize("NFKD", text)
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
