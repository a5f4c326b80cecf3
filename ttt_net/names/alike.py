"""Find the look of a name: two names that people confuse have a look in common.

Source: Unicode Technical Standard #39, Unicode Security Mechanisms, section 4 (skeletons). The characters that look
alike are in alike.txt, the part of Unicode's confusables.txt that names can be made of: a class of them a line, as
code points. tests/names/write_alike.py writes it.
"""

import unicodedata
from functools import lru_cache
from pathlib import Path


def looks(name: str) -> frozenset[str]:
    """Return what a name looks like as it is written, and without regard to case.

    Capitals look like other characters than small letters do: I like l, but i like the Cyrillic letter. A space is
    easily overlooked, so that names which differ in spaces alone look the same.
    """
    return frozenset(looks_as_written(name))


def looks_as_written(name: str) -> tuple[str, str]:
    """Return what a name looks like as it is written, then without regard to case."""
    return _skeleton(name), _skeleton(name.casefold())


LUNATE_SIGMA = str.maketrans("ϲϹ", "cC")
"""Compatibility forms turn these letters into ordinary sigmas, which look different."""


def _skeleton(name: str) -> str:
    once = _stand_ins(name.replace(" ", "").translate(LUNATE_SIGMA)).casefold()
    return _stand_ins(once)  # a capital that stands for its class may, as a small letter, be in another


def _stand_ins(text: str) -> str:
    """Return the text with each character replaced by the one that stands for all that look like it."""
    classes = _classes()
    return "".join(classes.get(character, character) for character in unicodedata.normalize("NFD", text))


@lru_cache(maxsize=1)
def _classes() -> dict[str, str]:
    lines = Path(__file__).with_name("alike.txt").read_text(encoding="ascii").splitlines()
    found: dict[str, str] = {}
    for line in lines:
        if line.startswith("#"):
            continue
        stand_in, *others = ("".join(chr(int(point, 16)) for point in each.split("+")) for each in line.split())
        found |= dict.fromkeys(others, stand_in)
    return found
