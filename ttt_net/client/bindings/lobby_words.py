"""The words of the lobby, where there are only lines: what each means, with what is typed after it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial

from msgspec import structs

from ttt_net.client.changes.act import request_of
from ttt_net.client.commands import AnyCommand, Command, Open, Send
from ttt_net.client.display import Display
from ttt_net.client.page_words import no_bot, sought, title_of
from ttt_net.client.pages import SPEEDS, Kind, Page, Purpose
from ttt_net.client.words import FINISH_FIRST
from ttt_net.clock import TIME_FORM, time_of
from ttt_net.errors import Refusal
from ttt_net.messages import AnswerRequest, Challenged, ChallengeRequest, InviteRequest, SeekRequest, UnseekRequest
from ttt_net.text import clean

_MAX_NAME_CELLS, _MAX_GAME_CELLS = 24, 40
_A_RATED_GAME = "connect4"


@dataclass(frozen=True, slots=True)
class Ask:
    """A list is wanted, or at once the first thing on it: of a page, the rows with keys of these kinds (none: all).

    `text` has to be in the row, and `seek` is what bots are to play, if it is not what was sought last; `otherwise` is
    said where there is nothing, `hint` after the list.
    """

    page: Page
    kinds: tuple[str, ...] = ()
    text: str = ""
    seek: SeekRequest | None = None
    is_first: bool = False
    otherwise: str = ""
    hint: str = "Type a number to choose."


Meaning = AnyCommand | Ask | str | None
"""What a line comes to: something done or asked for, a sentence that says why it means nothing now, or nothing."""
Word = Callable[[Display, SeekRequest, str], Meaning]
HELP = (
    "play, play connect4 3+2 rated: look for an opponent. games: which there are.\n"
    "bot, bot connect4: play a bot. bots: choose one.\n"
    "who: who is here. challenge NAME GAME. accept, decline.\n"
    "invite GAME: a code for a friend. join CODE: take one up.\n"
    "matches: what is being played. watch NAME: look on. stop: look no more.\n"
    "profile NAME, history NAME, top GAME, quit."
)
"""What may be typed in the lobby."""
ALSO = "Of the lobby: who, matches, watch, profile, history, top; choose and a number takes what a list has."
"""What may be typed besides in a match."""


def challenges(display: Display, *, is_ours: bool) -> list[Challenged]:
    """Return the challenges that stand, those that we made or those that wait for our answer; the oldest first."""
    ours = display.world.you.name if display.world.you is not None else None
    standing = (each.challenge for each in display.world.lobby.challenges)
    return [each for each in standing if (each.by.name == ours) is is_ours]


def _play(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    if display.is_live:
        return FINISH_FIRST
    if not rest:
        return Command.NEW if display.world.seeking is None else sought(display.world.seeking).replace(" ...", ".")
    return _in_terms(structs.replace(wanted, rated=False), rest)


def _bot(display: Display, wanted: SeekRequest, rest: str, *, is_first: bool) -> Meaning:
    meant = _in_terms(display.world.seeking or wanted, rest)
    if not isinstance(meant, Send) or not isinstance(meant.request, SeekRequest):
        return meant
    seek = meant.request
    return Ask(Page(Kind.LOBBY), ("bot",), seek=seek, is_first=is_first, otherwise=no_bot(seek))


def _challenge(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    name, _, terms = rest.partition(" ")
    if not name:
        return "Whom? Type challenge and a name; who tells who is here."
    return _in_terms(ChallengeRequest(0, clean(name, _MAX_NAME_CELLS), _game_of(wanted), wanted.time), terms)


def _invite(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    return _in_terms(InviteRequest(0, _game_of(wanted), wanted.time), rest)


def _game_of(wanted: SeekRequest) -> str:
    return wanted.games[0] if wanted.games else _A_RATED_GAME


def _in_terms(request: SeekRequest | ChallengeRequest | InviteRequest, terms: str) -> Meaning:
    """Return the request for the game, the clock and the kind that are named; what is not named stays as it is."""
    names = []
    for word in terms.lower().split():
        if word in ("rated", "casual") and not isinstance(request, InviteRequest):
            request = structs.replace(request, rated=word == "rated")
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


def game_named(text: str) -> str:
    """Return the game that is meant by its name, its title or its number; what is none of them stays as it is."""
    from ttt_net.games.catalogue import NAMES  # whoever plays what he came for needs no list

    if text.isdecimal() and text.isascii() and 1 <= int(text) <= len(NAMES):
        return NAMES[int(text) - 1]
    known = {_folded(called): name for name in NAMES for called in (name, title_of(name))}
    return known.get(_folded(text)) or clean(text.replace(" ", ""), _MAX_GAME_CELLS)


def _folded(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def _nearly(game: str) -> str | None:
    """Return the game whose name was nearly typed; None for what is a game, if only on the server."""
    from ttt_net.games import find_game
    from ttt_net.games.catalogue import NAMES

    try:
        find_game(game)
    except Refusal:
        return next(iter(get_close_matches(game, NAMES, n=1)), None)
    return None


def _join(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    return Send(request_of(rest)) if rest else "Type join and the code that a friend gave you."


def _watch(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    if "/m/" in rest:
        return Send(request_of(rest))
    whose = f" of {clean(rest, _MAX_NAME_CELLS)}" if rest else ""
    otherwise = f"No match{whose} is being played for all to see."
    return Ask(Page(Kind.LOBBY), ("live",), rest.lower(), is_first=True, otherwise=otherwise)


def _stop(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    """Stop what is looked at or waits, one after the other: what was told last comes first."""
    if display.is_watched:
        return Command.BACK
    if display.world.seeking is not None:
        return Send(UnseekRequest(0))
    if ours := challenges(display, is_ours=True):
        return Send(AnswerRequest(0, challenge=ours[0].challenge, accept=False))
    return "There is nothing to stop; quit leaves."


def _top(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    words = rest.lower().split()
    speed = next((SPEEDS.index(each) for each in SPEEDS if each in words), 0)
    game = " ".join(word for word in words if word not in SPEEDS)
    return Open(Page(Kind.LEADERS, about=game_named(game) if game else _A_RATED_GAME, time=speed))


def _person(display: Display, wanted: SeekRequest, rest: str, *, kind: Kind) -> Meaning:
    return Open(Page(kind, about=clean(rest, _MAX_NAME_CELLS)))


def _always(display: Display, wanted: SeekRequest, rest: str, *, ask: Ask) -> Meaning:
    return ask


_WHO = Ask(Page(Kind.LOBBY), ("challenge", "seek", "bot", "player"), otherwise="Nobody else is here.")
_MATCHES = Ask(Page(Kind.LOBBY), ("own", "live"), otherwise="No match is being played for all to see.")
LOBBY: dict[str, Word] = {
    "play": _play,
    "games": partial(_always, ask=Ask(Page(Kind.GAMES, purpose=Purpose.PLAY))),
    "bot": partial(_bot, is_first=True),
    "bots": partial(_bot, is_first=False),
    "who": partial(_always, ask=replace(_WHO, hint="Type a number to play whoever waits, or to challenge a player.")),
    "challenge": _challenge,
    "invite": _invite,
    "join": _join,
    "matches": partial(_always, ask=replace(_MATCHES, hint="Type a number to watch, or to go on with your own.")),
    "watch": _watch,
    "stop": _stop,
    "profile": partial(_person, kind=Kind.PROFILE),
    "history": partial(_person, kind=Kind.HISTORY),
    "top": _top,
}
"""Each word, and what it means."""
