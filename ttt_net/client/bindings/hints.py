"""What a line of keys consists of."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hint:
    """A key and what it does now; a click on it presses `press`, where there is one key to press."""

    key: str
    label: str
    press: str = ""

    @property
    def text(self) -> str:
        """The words on the screen."""
        return f"{self.key} {self.label}".strip()


HANG_UP = ("c-c", "<sigint>")
"""The keys that leave at once."""
LEAVE, HELP = Hint("q", "leave", "q"), Hint("?", "keys", "?")
