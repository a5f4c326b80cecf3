"""Read the game, the clock and the kind that are typed: `connect4 3+2 rated`."""

import re
from collections.abc import Callable, Collection
from difflib import get_close_matches

from msgspec import structs

from ttt_net.client.commands import Open, Send
from ttt_net.client.display import Display
from ttt_net.client.labels import title_of
from ttt_net.client.pages import Page
from ttt_net.client.screens.screen import Meaning
from ttt_net.clock import TIME_FORM, time_of
from ttt_net.errors import Refusal
from ttt_net.games import find_game
from ttt_net.games.catalogue import NAMES
from ttt_net.games.values import is_always_casual
from ttt_net.messages import ChallengeRequest, InviteRequest, Request, SeekRequest
from ttt_net.text import clean

MAX_NAME_CELLS = 24
LEVELS = "12345678"
_LEVEL = re.compile(r"(?:^|\s)level ?(\w+)", re.IGNORECASE)
_MAX_GAME_CELLS = 40
A_RATED_GAME = "connect4"
"""The game that is meant where none was named or sought."""


def page_about(screen: str) -> Callable[[Display, SeekRequest, str], Meaning]:
    """Return what a word with a player's name behind it means: the page of a screen about them."""
    return lambda display, wanted, rest: Open(Page(screen, about=clean(rest, MAX_NAME_CELLS)))


def in_terms(request: SeekRequest | ChallengeRequest | InviteRequest, terms: str) -> Meaning:
    """Return a request with the terms that are named: game, clock, kind, `level 3` of a bot; the others stay."""
    names = []
    asked = _LEVEL.search(terms)
    if asked is not None and not isinstance(request, InviteRequest):
        if asked[1] not in LEVELS:
            return f"level {clean(asked[1], 20)} is none: 1 to 8."
        request, terms = structs.replace(request, level=int(asked[1])), _LEVEL.sub(" ", terms)
    for word in terms.lower().split():
        if word in ("rated", "casual") and not isinstance(request, InviteRequest):
            request = structs.replace(request, rated=word == "rated", or_casual=False)
        elif word[0].isdecimal() and "+" in word:
            time = time_of(word)
            if time is None:
                return f"{clean(word, 20)} is no clock: {TIME_FORM}."
            request = structs.replace(request, time=time)
        else:
            names.append(word)
    if not names:
        return Send(request)
    game = game_named(" ".join(names))
    if (near := _nearly(game)) is not None:
        return f"{game} is no game; did you mean {near}? games tells which there are."
    if isinstance(request, SeekRequest):
        return Send(structs.replace(request, games=[game]))
    return Send(structs.replace(request, game=game))


def by_default(request: SeekRequest) -> SeekRequest:
    """Return a seek as it is made where nothing is said of ratings: for them, where the other one wants them, too.

    That makes sense between people, in a game with ratings; what is played with bots is played with hints.
    """
    is_for_people = request.opponents == "people" and request.level is None
    may_be_rated = is_for_people and bool(request.games) and not any(map(is_always_casual, request.games))
    return structs.replace(request, rated=may_be_rated, or_casual=may_be_rated)


def as_understood(request: Request, features: Collection[str]) -> Request:
    """Return a request as this server knows it: an older one refuses `or_casual`, and is asked for a casual match."""
    if isinstance(request, SeekRequest | ChallengeRequest) and request.or_casual and "or_casual" not in features:
        return structs.replace(request, rated=False, or_casual=False)
    return request


def game_named(text: str) -> str:
    """Return the game that is meant by its name, its title or its number; any other text stays as it is."""
    if text.isdecimal() and text.isascii() and 1 <= int(text) <= len(NAMES):
        return NAMES[int(text) - 1]
    known = {_folded(called): name for name in NAMES for called in (name, title_of(name))}
    return known.get(_folded(text)) or clean(text.replace(" ", ""), _MAX_GAME_CELLS)


def _folded(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def _nearly(game: str) -> str | None:
    """Return the game whose name was nearly typed; None for a name that is a game, if only on the server."""
    try:
        find_game(game)
    except Refusal:
        return next(iter(get_close_matches(game, NAMES, n=1)), None)
    return None


def game_of(wanted: SeekRequest) -> str:
    """Return the game that was sought last."""
    return wanted.games[0] if wanted.games else A_RATED_GAME
