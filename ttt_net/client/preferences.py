"""Read the person's preferences for the client from client.toml in their configuration folder.

    theme = "paper"
    game = "connect4"
    sounds = false

    [keys]
    w = "up"

An invalid file is reported before anything starts, in one sentence that says what to change.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec
from platformdirs import user_config_path

from ttt_net.errors import ConfigurationError
from ttt_net.text import clean

FILE = "client.toml"
_MAX_BYTES = 64 * 1024
THEME_NAMES = ("dark", "light", "contrast", "safe", "paper", "neon")
"""The names of the themes; their colours are loaded later."""
_SPECIAL = {
    **{"enter": "c-m", "tab": "c-i", "space": " ", "escape": "escape"},
    **{name: name for name in ("up", "down", "left", "right", "home", "end", "pageup", "pagedown")},
}
"""Keys that have names instead of characters: their names in this file, and in prompt_toolkit."""
_CONTROL = "ctrl-"


class Preferences(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of the file; each setting is optional."""

    theme: str | None = None
    """One of `THEME_NAMES`; None: dark or light, depending on the terminal's background."""
    game: str | None = None
    """The game to play if no other is named."""
    sounds: bool = True
    """Whether the bell rings and the window title changes when the player has something to do."""
    keys: dict[str, str] = {}
    """Keys that replace other keys."""


def path_of_preferences() -> Path:
    """Return the path of the file."""
    return user_config_path("ttt_net", appauthor=False) / FILE


def load_preferences() -> Preferences:
    """Return the preferences of the file, or the defaults without one. Raises `ConfigurationError` if it is invalid."""
    path = path_of_preferences()
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        return Preferences()
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror}") from None
    return read_preferences(content, path)


def read_preferences(content: bytes, path: Path) -> Preferences:
    """Return the preferences of a file, with prompt_toolkit's names of keys.

    Raises `ConfigurationError` if it is invalid.
    """
    import tomllib  # imported here, because only people with such a file need it

    try:
        if len(content) > _MAX_BYTES:
            raise ConfigurationError(f"{path}: more than {_MAX_BYTES:,} bytes")
        found = msgspec.convert(tomllib.loads(content.decode()), Preferences)
    except msgspec.ValidationError as error:
        known = ", ".join(Preferences.__struct_fields__)
        raise ConfigurationError(f"{path}: {_in_words(str(error))}; the settings are {known}") from None
    except ValueError as error:
        raise ConfigurationError(f"{path} is not TOML: {error}; docs/client.md has an example") from None
    theme = checked_theme(found.theme, f"{path}: theme") if found.theme is not None else None
    keys = {_checked_key(key, path): _checked_key(meaning, path) for key, meaning in found.keys.items()}
    return msgspec.structs.replace(found, theme=theme, keys=keys)


def checked_theme(name: str, where: str) -> str:
    """Return the name of a theme.

    Raises `ConfigurationError`, naming the place of the setting, if there is no such theme.
    """
    if name.lower() in THEME_NAMES:
        return name.lower()
    raise ConfigurationError(f"{where} {clean(name, 20)!r}: choose {', '.join(THEME_NAMES[:-1])} or {THEME_NAMES[-1]}")


def meant_key(key: str, keys: Mapping[str, str]) -> str:
    """Return the key that a key replaces; the key itself if it replaces none."""
    return keys.get(key, key)


def _checked_key(name: str, path: Path) -> str:
    lower = name.lower()
    if lower in _SPECIAL:
        return _SPECIAL[lower]
    if len(name) == 1 and name.isprintable():
        return name
    if lower.startswith(_CONTROL) and len(name) == len(_CONTROL) + 1 and lower[-1].isalpha():
        return f"c-{lower[-1]}"
    special = ", ".join(_SPECIAL)
    raise ConfigurationError(f"{path}: keys: {clean(name, 20)!r} is no key; write a character, ctrl-x, or {special}")


def _in_words(error: str) -> str:
    """Return msgspec's sentence with the setting first: `sounds: expected bool, got str`."""
    told, _, place = error.partition(" - at `$.")
    said = told.replace("Object contains unknown field", "unknown setting").replace("`", "")
    return f"{place.rstrip('`')}: {said[:1].lower()}{said[1:]}" if place else said
