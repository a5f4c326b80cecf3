"""Write ttt_net/names/alike.txt from Unicode's confusables, as the package `confusable-homoglyphs` has them.

Run it as `python -m tests.names.write_alike` after an update of that package. Stored looks in journals are then those
of the older table: add a step to the journal's schema that works them out anew.
"""

import importlib
import unicodedata
from pathlib import Path

from ttt_net.names import SCRIPTS

PATH = Path(__file__).parent.parent.parent / "ttt_net" / "names" / "alike.txt"
HEAD = "# Characters that look alike, a class a line, as code points; the first stands for all. See alike.py."


def main() -> None:
    PATH.write_text(content(), encoding="ascii")


def content() -> str:
    """Return what the file has to be."""
    lines = {" ".join(map(_points, row)) for row in rows()}
    return "\n".join([HEAD, *sorted(lines)]) + "\n"


def rows() -> list[list[str]]:
    """Return the classes: stand-in first, then what looks like it."""
    table = importlib.import_module("confusable_homoglyphs.confusables").confusables_data
    pairs = {(_bare(one), _bare(each["c"])) for one, others in table.items() for each in others}
    stand_in_of: dict[str, str] = {}

    def found(character: str) -> str:
        while stand_in_of.setdefault(character, character) != character:
            character = stand_in_of[character]
        return character

    for one, other in sorted(pairs):
        if len(one) == len(other) == 1:
            first, second = sorted((found(one), found(other)), key=_rank)
            stand_in_of[second] = first
    classes: dict[str, list[str]] = {}
    for character in sorted(stand_in_of):
        if may_be_in_a_name(character):
            classes.setdefault(found(character), []).append(character)
    single = []
    for members in classes.values():
        first = min(members, key=_rank)
        if len(members) > 1:
            single.append([first, *(each for each in members if each != first)])
    several = [
        [other, one]
        for one, other in sorted(pairs)
        if may_be_in_a_name(one) and len(other) > 1 and all(map(may_be_in_a_name, other)) and len(other) == 2
    ]
    return single + several


def may_be_in_a_name(character: str) -> bool:
    if len(character) != 1:
        return False
    if character in "0123456789_-":
        return True
    script = unicodedata.name(character, "").replace("-", " ").partition(" ")[0]
    is_letter = unicodedata.category(character)[0] in "LM" and script in {*SCRIPTS, "IDEOGRAPHIC", "COMBINING"}
    return is_letter and unicodedata.normalize("NFKC", character) == character


def _rank(character: str) -> tuple[bool, bool, bool, str]:
    """Latin letters, small ones first, stand for a class before digits, and those before all else."""
    return not character.isascii(), not character.isalpha(), not character.islower(), character


def _bare(text: str) -> str:
    return text.replace("\u200e", "")


def _points(text: str) -> str:
    return "+".join(f"{ord(character):04X}" for character in text)


if __name__ == "__main__":
    main()
