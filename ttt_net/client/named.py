"""Parse the words of a command line: a game, an action, an address, a match at this keyboard; suggest similar names.

This module needs the rules of the games, so it is loaded only if the command line names something.
"""

import argparse
import re
from difflib import get_close_matches

from ttt_net.client.address import CODE, COMPUTER, ENGINE_NAME, ENGINE_PREFIX, EVERY_GAME, HUMAN, YOU, Local
from ttt_net.client.remembered import read_names
from ttt_net.errors import ConfigurationError, Refusal
from ttt_net.games import find_game
from ttt_net.games.catalogue import NAMES, outside
from ttt_net.games.notation import read_start, write_position
from ttt_net.text import clean

_MARKS = ("X", "O")
DEEDS = ("host", "local", "help", "version")
"""Words that act like the flags of the same name."""
_PARAMETRIC = re.compile(r"(mnk|connect):\d+x\d+,\d+", re.IGNORECASE | re.ASCII)
_HOST = re.compile(r"[.:/\[\]]|localhost$|^\d+$", re.IGNORECASE)
"""Characters of addresses that occur in no game's name."""
_NEAR = 0.85


def sort_words(given: argparse.Namespace) -> None:
    """Store the words of the command line in `given.url`, `given.game`, or a flag.

    Raises `ConfigurationError` if there are two of a kind, or if a word resembles a game or an action, and so hardly
    means a host.
    """
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
    """Return the game that a word names, in any spelling; None if it names none."""
    if _PARAMETRIC.fullmatch(word):
        return word.lower()
    if _HOST.search(word):
        return None
    return _games().get(_folded(word)) or _added_games().get(_folded(word))


def checked_game(typed: str) -> str:
    """Return the game of `--game`; a name that only a server may know is returned unchanged.

    Raises `ConfigurationError` if the name resembles that of a game.
    """
    game = game_meant(typed)
    if game is not None:
        return game
    near = _near(typed)
    if near is not None and not _is_known(typed):
        raise ConfigurationError(f"--game: there is no game {clean(typed, 40)}; did you mean {near}?")
    return typed


def _check_host(word: str) -> None:
    """Raise `ConfigurationError` for a bare word that resembles a game or an action, and so hardly names a computer."""
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
    """Return the names of the games by all spellings of names and titles."""
    return {_folded(called): name for name in NAMES for called in (find_game(name).title, name)}


def _added_games() -> dict[str, str]:
    """Return the names of games of other packages by all spellings; these are looked up only for unknown words."""
    return {_folded(called): name for name, game in outside().items() for called in (game.title, name)}


def _is_known(name: str) -> bool:
    try:
        find_game(name)
    except Refusal:
        return False
    return True


def _folded(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def local_of(given: argparse.Namespace, game: str) -> Local:
    """Return the requested match at this keyboard. Raises `ConfigurationError` if it is impossible."""
    players = _who(given.x), _who(given.o)
    name, start = _game_and_start(game, given.start)
    names = _names(given.names) if given.names is not None else _usual_names(name, *players)
    return Local(name, players, names, start)


def _who(given: str | None) -> str:
    """Return the player of a side: a person by default; for the computer, the strategy that plays every game."""
    return EVERY_GAME if given is not None and given.lower() == COMPUTER.lower() else given or HUMAN


def match_here(game: str, players: tuple[str, str], names: tuple[str, str] | None = None) -> Local:
    """Return a match of these players, with the usual names unless the given ones differ from the marks.

    Raises `ConfigurationError` if the game is unknown.
    """
    name, _ = _game_and_start(game, None)
    return Local(name, players, names if names not in (None, _MARKS) else _usual_names(name, *players))


def _names(text: str) -> tuple[str, str]:
    try:
        return read_names(text)
    except ConfigurationError as error:
        raise ConfigurationError(f"--names {error}") from None


def _usual_names(name: str, x: str, o: str) -> tuple[str, str]:
    """Return the names of two players without given names.

    People are named by their marks, or `You` and `Player 1` if marks may change in the game. A person's opponent is
    `COMPUTER`; two strategies have their own names, to tell them apart.
    """
    game = find_game(name)
    has_fixed_marks = game.marks(game.initial) == _MARKS and min(game.move_cells) >= 0
    if x == o:
        return _MARKS if has_fixed_marks else ("Player 1", "Player 2")
    x, o = (ENGINE_NAME if who.startswith(ENGINE_PREFIX) else who for who in (x, o))
    if HUMAN not in (x, o):
        return x, o
    of_x, of_o = _MARKS if has_fixed_marks else (YOU, YOU)
    return of_x if x == HUMAN else _opponent(x), of_o if o == HUMAN else _opponent(o)


def _opponent(who: str) -> str:
    return ENGINE_NAME if who == ENGINE_NAME else COMPUTER


def _game_and_start(name: str, start: str | None) -> tuple[str, str | None]:
    try:
        game = find_game(name)
        return game.name, None if start is None else write_position(game, read_start(game, start))
    except Refusal as refusal:
        where = "--game" if start is None else "--start"
        example = "" if start is None else "; docs/games.md tells how positions are written"
        raise ConfigurationError(f"{where}: {refusal}{example}") from None
