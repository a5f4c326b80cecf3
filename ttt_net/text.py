"""Sanitize text of strangers, when it arrives and again when it is drawn; measure, compare and format."""

import unicodedata
from datetime import UTC, datetime
from functools import lru_cache

_BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Characters that count as letters and marks but are invisible."""
_MAX_MARKS = 2
"""The maximal number of combining marks on a letter; real names need no more, and stacks of marks cover other lines."""
_MAX_CHARACTERS_PER_CELL = 4


def clean(text: str, max_cells: int) -> str:
    """Return `text` without characters that move a cursor, reorder, hide or pile up, at most `max_cells` wide.

    It keeps letters, digits, punctuation and symbols with at most two combining marks each, and single
    spaces between them, in NFC. Dropped: control, format (bidi and zero-width), surrogate, private, unassigned
    and line-separating characters, variation selectors, and blanks that count as letters.
    """
    if text.isascii() and text.isprintable():
        return " ".join(text[: max_cells * _MAX_CHARACTERS_PER_CELL * 2].split())[:max_cells].rstrip()
    kept: list[str] = []
    marks = 0
    for character in text[: max_cells * _MAX_CHARACTERS_PER_CELL * 2]:
        category = unicodedata.category(character)
        if category[0] == "Z" or character in "\t\n\r":
            if kept and kept[-1] != " ":
                kept.append(" ")
        elif category[0] == "M":
            if marks < _MAX_MARKS and kept and kept[-1] != " " and _is_visible_mark(character):
                kept.append(character)
                marks += 1
            continue
        elif category[0] != "C" and character not in _BLANKS and _cells(character) > 0:
            kept.append(character)
        marks = 0
    return _cut(unicodedata.normalize("NFC", "".join(kept)), max_cells).strip()


@lru_cache(maxsize=4096)
def _cells(character: str) -> int:
    """Return how many cells a character takes, 0 if it is no letter, sign or mark."""
    if " " <= character <= "~":
        return 1
    from wcwidth import wcswidth, wcwidth  # imported here, because ASCII text does not need its tables

    cells = wcwidth(character)
    if cells == 0 and unicodedata.category(character)[0] == "M":
        cells = wcswidth(f"a{character}") - 1  # some combining marks take a cell, but only beside a letter
    return max(0, cells)


def _is_visible_mark(character: str) -> bool:
    is_selector = "\ufe00" <= character <= "\ufe0f" or "\u180b" <= character <= "\u180f" or character >= "\U000e0100"
    return not is_selector and character not in _BLANKS


def width(text: str) -> int:
    """Return the width of a text in cells of a terminal."""
    return sum(map(_cells, text))


def _cut(text: str, max_cells: int) -> str:
    cells = 0
    for index, character in enumerate(text):
        cells += _cells(character)
        if cells > max_cells:
            return text[:index]
    return text


def counted(number: int, one: str, more: str = "") -> str:
    """Return a number with its noun: `1 fact`, `2,000 facts`; `more` is an irregular plural."""
    return f"{number:,} {one if number == 1 else more or f'{one}s'}"


def date_of(at_ms: int, form: str = "%Y-%m-%d") -> str:
    """Return a time of a stranger in UTC, by default its day; a dash for an impossible one."""
    try:
        return datetime.fromtimestamp(at_ms / 1000, UTC).strftime(form)
    except (OverflowError, OSError, ValueError):
        return "-"


def as_cell(text: str) -> str:
    """Return the text as a cell that no spreadsheet interprets as a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def name_key(name: str) -> str:
    """Return the key that names share if people would confuse them: compatibility form, ignoring case."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
