"""Tell what a word of the command line names: a game, something to do, or an address; with near matches."""

import argparse
import re
from difflib import get_close_matches

from ttt_net.client.finding.address import CODE
from ttt_net.errors import ConfigurationError, Refusal
from ttt_net.text import clean

DEEDS = ("host", "local", "help")
"""Words that do what the flags of the same name do."""
_PARAMETRIC = re.compile(r"(mnk|connect):\d+x\d+,\d+", re.IGNORECASE | re.ASCII)
_HOST = re.compile(r"[.:/\[\]]|localhost$|^\d+$", re.IGNORECASE)
"""What no game has in its name, and addresses do."""
_NEAR = 0.85


def sort_words(given: argparse.Namespace) -> None:
    """Put the words of the command line where they belong: `given.url`, `given.game`, or a flag.

    Raises `ConfigurationError` for two of a kind, and for what is nearly a game or a deed: no host is meant by it.
    """
    given.url = None
    for word in given.words:
        deed = word.lower()
        if deed in DEEDS:
            setattr(given, deed, True)
        elif (game := game_meant(word)) is not None:
            if given.game is not None:
                raise ConfigurationError(f"{clean(word, 40)}: there can be only one game")
            given.game = game
        else:
            _check_host(word)
            if given.url is not None:
                raise ConfigurationError(f"{clean(word, 40)}: there can be only one address")
            given.url = word


def game_meant(word: str) -> str | None:
    """Return the game that a word names, however it is written; None if it names none."""
    if _PARAMETRIC.fullmatch(word):
        return word.lower()
    if _HOST.search(word):
        return None
    return _games().get(_folded(word))


def checked_game(typed: str) -> str:
    """Return the game of `--game`; what only a server knows stays as it is.

    Raises `ConfigurationError` for what is nearly the name of a game.
    """
    game = game_meant(typed)
    if game is not None:
        return game
    near = _near(typed)
    if near is not None and not _is_known(typed):
        raise ConfigurationError(f"--game: there is no game {clean(typed, 40)}; did you mean {near}?")
    return typed


def _check_host(word: str) -> None:
    """Raise `ConfigurationError` for a bare word that is nearly a game or a deed, and so hardly a computer's name."""
    if _HOST.search(word) or CODE.fullmatch(word):
        return
    near = next(iter(get_close_matches(word.lower(), DEEDS, 1, _NEAR)), None) or _near(word)
    if near is not None:
        shown = clean(word, 40)
        raise ConfigurationError(f"{shown}: did you mean {near}? A computer of that name is {shown}:8765")


def _near(word: str) -> str | None:
    games = _games()
    return next((games[each] for each in get_close_matches(_folded(word), games, 1, _NEAR)), None)


def _games() -> dict[str, str]:
    """Return the names of the games, by how names and titles may be written."""
    from ttt_net.client.words import title_of  # only where a game was named, or may have been
    from ttt_net.games.catalogue import NAMES

    return {_folded(called): name for name in NAMES for called in (title_of(name), name)}


def _is_known(name: str) -> bool:
    from ttt_net.games import find_game

    try:
        find_game(name)
    except Refusal:
        return False
    return True


def _folded(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))
