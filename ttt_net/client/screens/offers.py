"""Choose a game, clock and kind of match: to find an opponent, challenge a player or invite a friend by a code.

The lobby offers waiting people, free bots and challenges; players type terms such as `connect4 3+2 rated`.
"""

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from difflib import get_close_matches
from functools import partial

from msgspec import structs

from ttt_net.client import words
from ttt_net.client.display import (
    TIMES,
    AnyCommand,
    Begin,
    Change,
    Command,
    Display,
    Entry,
    Open,
    Page,
    Pick,
    Purpose,
    Send,
    Show,
)
from ttt_net.client.screens.screen import (
    BACK,
    CHOOSE,
    HELP,
    LEAVE,
    LEAVING_HELP,
    LISTS_HELP,
    Effect,
    KeyHelp,
    KeyHint,
    KeyMeaning,
    ListQuery,
    Meaning,
    Row,
    Screen,
    default_status,
    list_hints,
)
from ttt_net.client.words import title_of
from ttt_net.clock import TIME_FORM, time_of
from ttt_net.errors import Refusal
from ttt_net.games import find_game
from ttt_net.games.catalogue import NAMES
from ttt_net.games.rules import is_always_casual
from ttt_net.messages import MAX_NAME_CELLS as MAX_SHOWN_NAME_CELLS
from ttt_net.messages import (
    AddedGame,
    Challenged,
    ChallengeRequest,
    InviteRequest,
    JoinRequest,
    ListedPlayer,
    LiveList,
    LiveMatch,
    PlayerList,
    Request,
    SeekInfo,
    SeekList,
    SeekRequest,
    Snapshot,
    WatchRequest,
)
from ttt_net.text import clean

AT_ITS_BEST = 9
"""The sort key of a bot without a level, which plays as well as it can: after all levels."""


MAX_ID = 32
"""The maximal length of a match id."""


def waiting_people(display: Display) -> list[SeekInfo]:
    """Return the seeks of other people, longest waiting first."""
    told = display.world.reply(SeekList)
    seeks = told.seeks if told is not None else []
    ours = display.world.you.name if display.world.you is not None else None
    return [each for each in seeks if each.by.name != ours and each.by.bot is None]


def live_of_others(display: Display) -> list[LiveMatch]:
    """Return the matches that we can watch: all except our own."""
    told = display.world.reply(LiveList)
    live = told.matches if told is not None else []
    return [each for each in live if not display.world.has_seat(each.match)]


def own_match(match: Snapshot) -> Row:
    """Return the row that leads back to a match of ours, and says whether we have something to do there."""
    if match.outcome is not None:
        state = "it is over"
    elif match.adjourned:
        state = "adjourned"
    else:
        state = "your turn" if match.you == match.position.to_move else "their turn"
    against = words.label_of(words.opponent_of(match))
    cells = (words.title_of(match.game.name), f"against {against}", state)
    return Row(cells, f"own:{match.match}", Show(match.match))


def free_bots(display: Display, seek: SeekRequest) -> list[ListedPlayer]:
    """Return the free bots for a person's seek of a single game, weakest first.

    If the seek has a level, bots that usually play at it come before bots that play at any. The list of players is up
    to date, but only a part of a large crowd, so the server's suggestions are used too.
    """
    players, suggestion, met = display.world.reply(PlayerList), display.world.lobby.suggestion, _just_met(display)
    bots = [each for each in players.players if _plays(each, seek, met)] if players is not None else []
    if suggestion is not None and (players is None or players.online > len(players.players)):
        bots += suggestion.bots
    unique = {bot.name: bot for bot in bots}.values()
    of_other_level = {bot.name: seek.level not in (None, bot.level) for bot in unique}
    return sorted(unique, key=lambda bot: (of_other_level[bot.name], bot.level or AT_ITS_BEST, bot.name))


def _just_met(display: Display) -> tuple[str, str] | None:
    """Return the opponent and the game of our finished match: a bot may be about to seek its next one."""
    match = display.match
    if match is None or match.you is None or match.outcome is None:
        return None
    return words.opponent_of(match).name, match.game.name


def _plays(player: ListedPlayer, seek: SeekRequest, met: tuple[str, str] | None) -> bool:
    game = seek.games[0]
    is_of_level = seek.level is None or player.any_level or player.level == seek.level
    if player.bot is None or player.free == 0 or not is_of_level:
        return False
    return (player.name, game) == met if player.seeking is None else not player.seeking or game in player.seeking


def challenge_to(bot: ListedPlayer, seek: SeekRequest) -> ChallengeRequest:
    """Return the challenge that asks a bot for the game of the seek."""
    level = seek.level if bot.any_level and seek.level != bot.level else None
    # matches at a chosen level are never rated, and matches with bots have hints by default
    rated = seek.rated and not seek.or_casual and level is None
    return ChallengeRequest(0, name=bot.name, game=seek.games[0], time=seek.time, rated=rated, level=level)


def live_match(match: LiveMatch) -> Row:
    """Return the row of another people's match, to watch."""
    first, second = (words.full_label(structs.replace(each, level=None)) for each in match.players)
    facts = [f"move {match.ply + 1}", *["featured"] * match.featured, *["rated"] * match.rated]
    if match.time is not None:
        facts.append(words.clock_name(match.time))
    if match.watchers:
        facts.append(f"{match.watchers} watching")
    row = (f"{first} - {second}", words.title_of(match.game), ", ".join(facts))
    return Row(row, f"live:{match.match}", Send(WatchRequest(0, match=match.match)))


def challenges(display: Display, *, is_ours: bool) -> list[Challenged]:
    """Return the open challenges, either ours or those to us; the oldest first."""
    ours = display.world.you.name if display.world.you is not None else None
    standing = (each.challenge for each in display.world.lobby.challenges)
    return [each for each in standing if (each.by.name == ours) is is_ours]


def chosen_bot(display: Display, seek: SeekRequest) -> ListedPlayer | None:
    """Return the chosen bot, or else the server's suggestion, or the first bot that plays the games of the seek.

    If the seek has a level, a bot that usually plays at it comes before one that plays at any.
    """
    bots = free_bots(display, seek)
    chosen = (bot for bot in bots if display.page.row in (f"bot:{bot.name}", f"player:{bot.name}"))
    of_level = (bot for bot in bots if seek.level is not None and bot.level == seek.level)
    return next(chosen, None) or next(of_level, None) or suggested_bot(display, seek) or next(iter(bots), None)


def suggested_bot(display: Display, seek: SeekRequest) -> ListedPlayer | None:
    """Return the first bot of the server's suggestion, which is the nearest in strength, if it is still free."""
    suggestion = display.world.lobby.suggestion
    names = [bot.name for bot in suggestion.bots] if suggestion is not None else []
    free = {bot.name: bot for bot in free_bots(display, seek)}
    return next((free[name] for name in names if name in free), None)


def no_bot(seek: SeekRequest) -> str:
    """Return the sentence that no bot is free for the games and level of the seek."""
    if seek.level is not None:
        return f"No bot is free at level {seek.level} now."
    return f"No bot is free for {words.some_games(seek.games)} now."


def request_of(text: str) -> Request:
    """Return the request for a code or a link: `/j#CODE` and `CODE` join a match, `/m/ID#CODE` watches it."""
    _, is_link, place = text.rpartition("/m/")
    if is_link:
        name, _, code = place.partition("#")
        return WatchRequest(0, match=name[:MAX_ID] or "?", code=code[: words.MAX_CODE] or None)
    return JoinRequest(0, code=re.split("[/#]", text)[-1].upper()[: words.MAX_CODE])


MAX_NAME_CELLS = 24
LEVELS = "12345678"
_LEVEL = re.compile(r"(?:^|\s)level ?(\w+)", re.IGNORECASE)
_MAX_GAME_CELLS = 40
A_RATED_GAME = "connect4"
"""The game to use if none was named or sought."""


def page_about(screen: str) -> Callable[[Display, SeekRequest, str], Meaning]:
    """Return the command of a word followed by a player's name: open the screen about that player."""
    return lambda display, wanted, rest: Open(Page(screen, about=clean(rest, MAX_NAME_CELLS)))


def in_terms(request: SeekRequest | ChallengeRequest | InviteRequest, terms: str) -> Meaning:
    """Return a request with the named terms: game, clock, kind, `level 3` of a bot; other terms stay unchanged."""
    names = []
    asked = _LEVEL.search(terms)
    if asked is not None and not isinstance(request, InviteRequest):
        if asked[1] not in LEVELS:
            return f"level {clean(asked[1], 20)} is not one of 1 to 8."
        request, terms = structs.replace(request, level=int(asked[1])), _LEVEL.sub(" ", terms)
    for word in terms.lower().split():
        if word in ("rated", "casual") and not isinstance(request, InviteRequest):
            request = structs.replace(request, rated=word == "rated", or_casual=False)
        elif word[0].isdecimal() and "+" in word:
            time = time_of(word)
            if time is None:
                return f"{clean(word, 20)} is not a clock: {TIME_FORM}."
            request = structs.replace(request, time=time)
        else:
            names.append(word)
    if not names:
        return Send(request)
    game = game_named(" ".join(names))
    if (near := _nearly(game)) is not None:
        return f"there is no game {game}; did you mean {near}? games lists them."
    if isinstance(request, SeekRequest):
        return Send(structs.replace(request, games=[game]))
    return Send(structs.replace(request, game=game))


def by_default(request: SeekRequest, added: Iterable[AddedGame] = ()) -> SeekRequest:
    """Return a seek with the default kind: rated if the other player wants that too.

    This applies to people in games with ratings; matches with bots have hints instead. `added` are the games that other
    packages add to the server.
    """
    rated = {game.name for game in added if game.rated}
    is_for_people = request.opponents == "people" and request.level is None
    may_be_rated = (
        is_for_people and bool(request.games) and not any(is_always_casual(game, rated) for game in request.games)
    )
    return structs.replace(request, rated=may_be_rated, or_casual=may_be_rated)


def as_understood(request: Request, features: Collection[str]) -> Request:
    """Return a request that this server understands: older ones reject `or_casual`, so ask them for a casual match."""
    if isinstance(request, SeekRequest | ChallengeRequest) and request.or_casual and "or_casual" not in features:
        return structs.replace(request, rated=False, or_casual=False)
    return request


def game_named(text: str) -> str:
    """Return the game of a name, title or number; return any other text unchanged."""
    if text.isdecimal() and text.isascii() and 1 <= int(text) <= len(NAMES):
        return NAMES[int(text) - 1]
    known = {_folded(called): name for name in NAMES for called in (name, title_of(name))}
    return known.get(_folded(text)) or clean(text.replace(" ", ""), _MAX_GAME_CELLS)


def _folded(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def _nearly(game: str) -> str | None:
    """Return the game with a similar name; None if the text is the name of a game, here or on the server."""
    try:
        find_game(game)
    except Refusal:
        return next(iter(get_close_matches(game, NAMES, n=1)), None)
    return None


def game_of(wanted: SeekRequest) -> str:
    """Return the game of the last seek."""
    return wanted.games[0] if wanted.games else A_RATED_GAME


def _invitation_status(display: Display) -> str:
    return default_status(display) if display.world.lobby.invitation is None else "Waiting for your friend ..."


def _invitation_rows(display: Display, now_ms: int) -> list[Row]:
    invitation = display.world.lobby.invitation
    if invitation is None:
        return [Row(("The invitation has been used or withdrawn.",))]
    wanted = words.terms(invitation.game, invitation.time, is_rated=False)
    return [
        Row((" ".join(clean(invitation.code, words.MAX_CODE)),), is_heading=True),
        Row(("",)),
        Row(("A friend types:",)),
        Row((f"  {words.join_command(display, invitation.code)}",)),
        Row((f"or opens {words.join_link(display, invitation.code)}",)),
        Row(("or presses c in the lobby and types the code.",)),
        Row(("",)),
        Row((f"It is for one private match: {wanted}.",)),
    ]


INVITATION = Screen(
    name="invitation",
    title=lambda display: "Invitation",
    status=_invitation_status,
    rows=_invitation_rows,
    keys={"y": Command.COPY},
    hints=lambda display: [KeyHint("y", "copy", "y"), BACK, LEAVE, HELP],
    help=lambda display: [KeyHelp("y", "Copy the line to send to your friend."), *LEAVING_HELP],
)


_RATED = KeyHint("r", "rated", "r")
_KINDS = {None: words.RATED_OR_CASUAL, True: "rated", False: "casual"}
"""The words for each choice, in the order of the key."""
_VERBS = {Purpose.PLAY: "play", Purpose.INVITE: "invite"}


def _title(display: Display) -> str:
    page = display.page
    if page.purpose is Purpose.CHALLENGE:
        return f"Challenge {clean(page.about, MAX_SHOWN_NAME_CELLS)}"
    return "Invite a friend" if page.purpose is Purpose.INVITE else "Choose a game"


def _status(display: Display) -> str:
    page = display.page
    time = TIMES[page.time]
    kind = "" if page.purpose is Purpose.INVITE else f"   Match: {_KINDS[page.is_rated]}"
    return f"Clock: {words.clock_name(time) if time is not None else 'none'}{kind}"


def _rows(display: Display, now_ms: int) -> list[Row]:
    """Return the rows of games to choose from, and finally the row for naming another one."""
    page = display.page
    rows = []
    added = {clean(game.name, _MAX_GAME_CELLS): game for game in display.world.added_games}
    for number, name in enumerate(page.games or (*NAMES, *added), start=1):
        digit = str(number % 10) if number <= 10 else ""
        title, rule = words.title_and_rule(name)
        if name in added:
            title, rule = clean(added[name].title, _MAX_GAME_CELLS), clean(added[name].rule, words.MAX_SENTENCE_CELLS)
        rows.append(Row((digit, title, rule), f"game:{name}", Send(request_for(page, name, added.values()))))
    other = Row(("", "Another", "by its name, such as mnk:7x7,4 or connect4+swap"), "other", Begin(Entry.GAME))
    return [*rows, other]


def request_for(page: Page, game: str, added: Iterable[AddedGame]) -> Request:
    """Return the request that choosing this game on the page sends; `added` are the games of other packages."""
    time = TIMES[page.time]
    match page.purpose:
        case Purpose.PLAY:
            seek = SeekRequest(0, [game], time, page.opponents, rated=bool(page.is_rated))
            return by_default(seek, added) if page.is_rated is None else seek
        case Purpose.CHALLENGE:
            rated, or_casual = page.is_rated is not False, page.is_rated is None
            return ChallengeRequest(0, name=page.about, game=game, time=time, rated=rated, or_casual=or_casual)
        case Purpose.INVITE:
            return InviteRequest(0, game=game, time=time)


def _prepared(page: Page, seek: SeekRequest) -> Page:
    """Choose the last options again, with the game of the page, if it has one."""
    time = TIMES.index(seek.time) if seek.time in TIMES else 0
    row = page.row or (f"game:{seek.games[0]}" if seek.games else "")
    return replace(page, row=row, time=time, opponents=seek.opponents)


def _with_clock(display: Display, *, by: int) -> Effect:
    page = display.page
    return display.with_page(replace(page, time=(page.time + by) % len(TIMES))), ()


def _with_kind(display: Display) -> Effect:
    kinds = list(_KINDS)
    following = kinds[(kinds.index(display.page.is_rated) + 1) % len(kinds)]
    return display.with_page(replace(display.page, is_rated=following)), ()


def _numbered(display: Display, *, digit: str) -> AnyCommand | None:
    return next((Pick(row.key) for row in _rows(display, 0) if row.cells[0] == digit), None)


NEXT_CLOCK = Change(partial(_with_clock, by=1))
"""The command that switches to the next clock."""
_KEYS: dict[str, KeyMeaning] = {
    "t": NEXT_CLOCK,
    "right": NEXT_CLOCK,
    "left": Change(partial(_with_clock, by=-1)),
    "r": Change(_with_kind),
    **{digit: partial(_numbered, digit=digit) for digit in "1234567890"},
}


def _hints(display: Display) -> list[KeyHint]:
    rated = [] if display.page.purpose is Purpose.INVITE else [_RATED]
    return list_hints([CHOOSE, BACK, KeyHint("t", "clock", "t"), *rated], _rows(display, 0))


def _play(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    if display.is_live:
        return words.FINISH_FIRST
    if not rest:
        return (
            Command.NEW if display.world.seeking is None else words.sought(display.world.seeking).replace(" ...", ".")
        )
    meant = in_terms(structs.replace(wanted, rated=True, or_casual=True), rest)
    if isinstance(meant, Send) and isinstance(meant.request, SeekRequest) and meant.request.or_casual:
        return Send(by_default(meant.request, display.world.added_games))
    return meant


def _challenge(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    name, terms = _name_and_terms(display, rest)
    if not name:
        return "Type challenge and a name; who lists the players here."
    challenge = ChallengeRequest(
        0, clean(name, MAX_NAME_CELLS), game_of(wanted), wanted.time, rated=True, or_casual=True
    )
    return in_terms(challenge, terms)


def _name_and_terms(display: Display, rest: str) -> tuple[str, str]:
    """Return the leading name, and the rest. Names in quotes, and names of connected players, may contain spaces."""
    if rest.startswith('"') and '"' in rest[1:]:
        name, _, terms = rest[1:].partition('"')
        return name.strip(), terms.strip()
    told = display.world.reply(PlayerList)
    typed = rest.lower() + " "
    here = [row.name for row in (told.players if told else ()) if typed.startswith(row.name.lower() + " ")]
    name = max(here, key=len, default="") or rest.partition(" ")[0]
    return name, rest[len(name) :].strip()


def _invite(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    return in_terms(InviteRequest(0, game_of(wanted), wanted.time), rest)


def _listed(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    return ListQuery(Page("games", purpose=Purpose.PLAY))


def _heading(display: Display) -> list[str]:
    page = display.page
    verb = _VERBS.get(page.purpose, f"challenge {page.about}")
    status = _status(display).replace("   ", ". ")
    return [f"{_title(display)}. {status}. Another game, clock or kind: {verb} mnk:7x7,4 3+2 rated."]


GAMES = Screen(
    name="games",
    title=_title,
    status=_status,
    rows=_rows,
    prepared=_prepared,
    keys=_KEYS,
    is_form=True,
    hints=_hints,
    help=lambda display: [
        LISTS_HELP[0],
        KeyHelp("Enter, click", "Choose the game."),
        KeyHelp("1-9  0", "Choose the game with this number."),
        KeyHelp("t, left right", "Change the clock."),
        KeyHelp("r", "Ask for a rated match, a casual one, or either."),
        *LEAVING_HELP,
    ],
    words={"play": _play, "games": _listed, "challenge": _challenge, "invite": _invite},
    heading=_heading,
)
