"""Validate names of players, and compute the look of a name: names that people confuse share a look.

A name has 2 to 20 characters of one script, digits, inner spaces, `_` and `-`; some are reserved.
`made_up_name` makes names for guests, such as guest-blue-fox, which nobody can register: `guest` is reserved.

Source of the looks: Unicode Technical Standard #39, Unicode Security Mechanisms, section 4 (skeletons). The characters
that look alike are in alike.txt, the part of Unicode's confusables.txt with characters allowed in names: one class per
line, as code points. tests/names/write_alike.py writes it.
"""

import random
import re
import unicodedata
from functools import lru_cache
from pathlib import Path

from ttt_net.errors import Code, Refusal
from ttt_net.text import clean, width


def looks(name: str) -> frozenset[str]:
    """Return the looks of a name: as written, and ignoring case.

    Capitals look like other characters than small letters do: I like l, but i like the Cyrillic letter. A space is
    easily overlooked, so names that differ only in spaces look the same.
    """
    return frozenset(looks_as_written(name))


def looks_as_written(name: str) -> tuple[str, str]:
    """Return the look of a name as written, then its look ignoring case."""
    if name.isascii():  # most names; this takes a quarter of the time
        as_written, ignoring_case = _looks_of_ascii()
        return name.translate(as_written), name.translate(ignoring_case)
    return _skeleton(name), _skeleton(name.casefold())


@lru_cache(maxsize=1)
def _looks_of_ascii() -> tuple[dict[int, str], dict[int, str]]:
    """Return the look of each ASCII character, as written and ignoring case; ASCII text looks like its characters."""
    characters = list(map(chr, range(128)))
    return (
        {ord(character): _skeleton(character) for character in characters},
        {ord(character): _skeleton(character.casefold()) for character in characters},
    )


LUNATE_SIGMA = str.maketrans("ϲϹ", "cC")
"""Compatibility forms turn these letters into ordinary sigmas, which look different."""


def _skeleton(name: str) -> str:
    once = _stand_ins(name.replace(" ", "").translate(LUNATE_SIGMA)).casefold()
    return _stand_ins(once)  # a capital may represent its class, and be in another one in lower case


def _stand_ins(text: str) -> str:
    """Return the text with each character replaced by the representative of its class."""
    return unicodedata.normalize("NFD", text).translate(_classes())


@lru_cache(maxsize=1)
def _classes() -> dict[int, str]:
    """Return the representative of each character, by code point; ASCII is complete, since a miss is slower."""
    lines = Path(__file__).with_name("alike.txt").read_text(encoding="ascii").splitlines()
    found = {point: chr(point) for point in range(128)}
    for line in lines:
        if line.startswith("#"):
            continue
        stand_in, *others = line.split()
        text = "".join(chr(int(point, 16)) for point in stand_in.split("+"))
        found |= dict.fromkeys((int(point, 16) for point in others), text)
    return found


LEAST, MOST = 2, 20
RULE = f"{LEAST} to {MOST} letters of one script, digits, single inner spaces, _ or -, beginning with a letter or digit"
"""The rule for names in words; each refusal repeats it. A letter two cells wide counts twice towards the most."""
_PLAIN = re.compile(rf"[0-9A-Za-z][0-9A-Za-z _-]{{{LEAST - 1},{MOST - 1}}}")
"""Names in plain Latin letters, which obey the rule without further checks. Most names match."""

SCRIPTS = frozenset({
    "LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "HEBREW", "ARABIC", "THAANA", "DEVANAGARI", "BENGALI", "GURMUKHI",
    "GUJARATI", "ORIYA", "TAMIL", "TELUGU", "KANNADA", "MALAYALAM", "SINHALA", "THAI", "LAO", "TIBETAN", "MYANMAR",
    "GEORGIAN", "HANGUL", "ETHIOPIC", "KHMER", "HIRAGANA", "KATAKANA", "BOPOMOFO", "CJK",
})  # fmt: skip
"""The scripts in everyday use (Unicode Standard Annex #31, table 5), by the word that the names of their letters begin
with; this needs only Python's own tables."""
_WRITTEN_TOGETHER = (
    frozenset({"CJK", "HIRAGANA", "KATAKANA"}),
    frozenset({"CJK", "HANGUL"}),
    frozenset({"CJK", "BOPOMOFO"}),
)
"""Japanese, Korean and Chinese are each written in several, which count as one (UTS #39, section 5.1)."""
_JOINERS = " _-"
_DIGITS = "0123456789"
_OFFICES = [
    "admin", "administrator", "root", "owner", "host", "operator", "moderator", "mod", "staff", "support", "help",
    "official", "system", "server", "ttt_net", "moderation", "administration", "moderators", "mods", "admins",
    "sysadmin", "moderador", "modérateur", "moderateur", "administrador", "administrateur",
    "модератор", "модераторы", "модерация", "админ", "админы", "администратор", "администрация", "адмін",
    "管理员", "管理員", "管理者", "管理人", "版主", "官方", "站长", "站長", "客服", "運営",
    "운영자", "관리자", "مشرف", "المشرف",
]  # fmt: skip
_TITLES = {
    "admin", "administrator", "administration", "moderator", "mod", "moderation", "staff", "official", "moderators",
    "mods", "admins", "sysadmin", "moderador", "moderateur", "administrador", "administrateur",
    *(word for word in _OFFICES if not word.isascii()), "guest",
}  # fmt: skip
"""Words that a name may not even have as one of its words: `Mod Anna`, `ModAnna`, `guest-blue-fox`."""
_WITHOUT_SPACES = tuple(word for word in _OFFICES if word[0] >= "\u3000")
"""Offices in scripts that are written without spaces; a name may not contain them at all."""
RESERVED = [
    *_OFFICES, "bot", "guest", "anonymous", "unknown", "nobody", "everybody",
    "everyone", "all", "any", "none", "null", "deleted", "you", "me",
]  # fmt: skip
"""Words that a name must not look like."""
_MAX_TYPED_CELLS = 80
_MAX_TYPED = 100
"""The number of characters to examine: more than the letters and marks of any name in any form."""


def checked_name(text: str) -> str:
    """Return the name in its stored form. Raises `Refusal`, with the rule, if it is not allowed."""
    name = _cleaned(text)
    fault = _fault(name)
    if fault:
        raise Refusal(Code.BAD_NAME, f"{fault}; a name is {RULE}")
    return name


def is_like_an_office(text: str) -> bool:
    """Tell whether a word of a text, or all of it, looks like the name of an office: admin, moderator, server."""
    words = dict.fromkeys([*_words(text), text.replace(" ", "")])
    return any(_reserved_word(word) in _OFFICES for word in words) or _office_within(text) is not None


def fitting_name(text: str) -> str | None:
    """Return the allowed name nearest to a typed text, or None if none would be recognizable."""
    typed = _cleaned(text)
    if not _fault(typed):
        return typed
    kept = ""
    for character in typed:
        if character in " ." and (not kept or kept[-1] in _JOINERS):
            continue
        joined = "-" if character == "." else character
        if (kept or _may_be_first(joined)) and not _letters_fault(kept + joined) and width(kept + joined) <= MOST:
            kept += joined
    kept = _cleaned(kept).rstrip(_JOINERS)  # removed characters may have separated marks that now combine
    letters = sum(unicodedata.category(character)[0] in "LN" for character in typed)
    if 2 * len(kept) < min(letters, MOST):
        return None
    if len(kept) == 1:
        kept += "-1"
    return None if _fault(kept) else kept


def _cleaned(text: str) -> str:
    """Return the text in the form in which names are compared: compatibility forms may need another cleaning."""
    once = clean(text[:_MAX_TYPED], _MAX_TYPED_CELLS)
    return once if once.isascii() else clean(unicodedata.normalize("NFKC", once)[:_MAX_TYPED], _MAX_TYPED_CELLS)


def _fault(name: str) -> str | None:
    """Return why a name is not allowed, in words."""
    if _PLAIN.fullmatch(name):
        return _word_fault(name)
    if sum(not _is_mark(character) for character in name) < LEAST:
        return f"{name!r} is too short" if name else "a name cannot be empty"
    if width(name) > MOST:
        return f"{name[:MOST]!r}... is too long"
    if not _may_be_first(name[0]):
        return f"{name!r} begins with {name[0]!r}"
    return _letters_fault(name) or _word_fault(name)


def _letters_fault(name: str) -> str | None:
    scripts: set[str] = set()
    for character in name:
        if character in _JOINERS or character in _DIGITS or _is_common_mark(character):
            continue
        script = _script(character)
        if script is None:
            return f"{character!r} cannot be in a name"
        scripts.add(script)
        if len(scripts) > 1 and not any(scripts <= together for together in _WRITTEN_TOGETHER):
            return f"{character!r} is of another script than the letters before it"
    return None


def _word_fault(name: str) -> str | None:
    word = _reserved_word(name)
    if word is None:
        parts = (part for part in _words(name) if part != name)
        word = next((found for part in parts if (found := _reserved_word(part)) in _TITLES), None)
    word = word or _office_within(name)
    return f"{name!r} is reserved, as is all that looks like {word!r}" if word else None


def _words(text: str) -> list[str]:
    """Return the words of a text, including those within `aWordLikeThis`."""
    parts = text.replace("-", " ").replace("_", " ").split()
    if not any(map(str.isupper, text[1:])):
        return parts
    spaced = "".join(
        f" {one}" if before.islower() and one.isupper() else one for before, one in zip(" " + text, text, strict=False)
    )
    return [*parts, *(part for part in spaced.replace("-", " ").replace("_", " ").split() if part not in parts)]


def _office_within(text: str) -> str | None:
    """Return the office that a text contains in a script without spaces between words; None if there is none."""
    if text.isascii():
        return None
    bare = _without_joiners(text)
    return next((word for word in _WITHOUT_SPACES if word in bare), None)


def _without_joiners(text: str) -> str:
    return text.replace(" ", "").replace("_", "").replace("-", "")


def _reserved_word(name: str) -> str | None:
    """Return the reserved word that a name looks like, if there is one."""
    bare, reserved = _without_joiners(name), _reserved()
    core = bare.strip(_DIGITS)
    if not core:
        return None  # digits alone look like no reserved word
    looks_of_bare = looks_as_written(bare)
    if core == bare:
        found = [reserved[look] for look in looks_of_bare if look in reserved]
        return found[0][1] if found else None
    before = len(bare) - len(bare.lstrip(_DIGITS))
    for look, of_core in dict.fromkeys(zip(looks_of_bare, looks_as_written(core), strict=True)):
        # A digit before or after may be part of the word, or not: a11, all1. What a digit looks like is one letter.
        found = [
            reserved[look[start:end]]
            for start in range(before + 1)
            for end in range(before + len(of_core), len(look) + 1)
            if look[start:end] in reserved
        ]
        if found:
            return min(found)[1]
    return None


@lru_cache(maxsize=1)
def _reserved() -> dict[str, tuple[int, str]]:
    """Return the reserved words with their ranks, by their looks.

    Words are compared in lower case, in upper case, and with one capital.
    """
    bare = {word: word.replace("_", "") for word in RESERVED}
    words = {
        look: word
        for word, letters in bare.items()
        for written in (letters, letters.upper(), letters.title())
        for look in sorted(looks(written))
    }
    return {look: (rank, word) for rank, (look, word) in enumerate(words.items())}


def _may_be_first(character: str) -> bool:
    return character in _DIGITS or (_script(character) is not None and not _is_mark(character))


@lru_cache(maxsize=4096)
def _script(character: str) -> str | None:
    """Return the script of a letter or mark, None for all else."""
    if unicodedata.category(character)[0] not in "LM":
        return None
    first = unicodedata.name(character, "").replace("-", " ").partition(" ")[0]
    script = "CJK" if first == "IDEOGRAPHIC" else first
    return script if script in SCRIPTS else None


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "M"


def _is_common_mark(character: str) -> bool:
    return unicodedata.category(character) == "Mn" and unicodedata.name(character, "").startswith("COMBINING ")


_KINDS = (
    "agile amber azure blue bold brave brisk calm clear cool coral eager early fancy fast fine glad gold grand "
    "great green happy ivory jade jolly keen kind light lucky merry mild mint neat noble olive proud quick quiet "
    "rapid ready red royal ruby sandy sharp shiny smart snowy sunny swift teal tidy tiny vivid warm white wise "
    "witty "
)
_ANIMALS = (
    "bear bee bison camel cat cod crane crow deer dove duck eagle eland emu fawn finch fox frog gecko gnu goose "
    "hare hawk heron horse ibex ibis jay kiwi koala lark lemur lion llama lynx macaw mole moose mouse newt okapi "
    "orca otter owl panda puma quail raven robin seal shark sole stork swan swift tapir tiger trout tuna whale wolf "
    "wren zebra "
)
KINDS, ANIMALS = tuple(_KINDS.split()), tuple(_ANIMALS.split())
"""Words of five letters at most: with two digits, a name has the twenty cells that names may have."""
_DIGITS_BY_MISSES = (0, 1, 2, 7, 8, 9)
"""The number of digits, by how many names were taken before; a name with seven digits or more has no words."""
_WITHOUT_WORDS = 7
TRIES = len(_DIGITS_BY_MISSES)
"""The number of names to try."""


def made_up_name(dice: random.Random, misses: int) -> str:
    """Return a name for a guest after `misses` names that were taken: rarer each time."""
    digits = _DIGITS_BY_MISSES[misses]
    words = [] if digits >= _WITHOUT_WORDS else [dice.choice(KINDS), dice.choice(ANIMALS)]
    number = [str(dice.randrange(10 ** (digits - 1), 10**digits))] if digits else []
    return "-".join(["guest", *words, *number])
