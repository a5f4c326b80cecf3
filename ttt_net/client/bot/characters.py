"""Describe the house bots: the players that a server seats by itself, so that nobody is alone on it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Character:
    """A house bot: the name it goes by, what it is in a word or two, the level it plays at, and how it plays."""

    name: str
    label: str
    level: int
    """From 1 to 8; each of them also plays at any other that is asked for."""
    about: str


CHARACTERS = (
    Character("Mia", "beginner", 1, "learns the rules, and is easily surprised"),
    Character("Tom", "casual player", 3, "sees a line of their own, and often yours"),
    Character("Nora", "club player", 5, "blocks in time, and waits for a slip"),
    Character("Viktor", "expert", 6, "makes two threats at once if you let it happen"),
    Character("Sophia", "master", 8, "plays as well as this machine can"),
)
