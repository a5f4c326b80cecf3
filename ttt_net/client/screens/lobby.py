"""Show the lobby: own matches first, then challenges, people who wait, free bots, players, and live matches."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from msgspec import structs

from ttt_net.client import labels, sharing
from ttt_net.client.commands import AnyCommand, Begin, Change, Command, Open, Send
from ttt_net.client.display import Display
from ttt_net.client.pages import Entry, Page, Purpose
from ttt_net.client.screens.game_terms import MAX_NAME_CELLS, in_terms
from ttt_net.client.screens.lobby_list import (
    FOLD,
    LONG_SECTIONS,
    PUZZLE,
    filter_begun,
    lobby_rows,
    order_changed,
)
from ttt_net.client.screens.lobby_offers import (
    challenge_to,
    challenges,
    chosen_bot,
    live_of_others,
    no_bot,
    request_of,
    suggested_bot,
    waiting_people,
)
from ttt_net.client.screens.screen import (
    HELP,
    LEAVE,
    LEAVING_HELP,
    LISTS_HELP,
    Effect,
    Entrance,
    KeyHint,
    KeyMeaning,
    ListQuery,
    Meaning,
    Row,
    Screen,
    Word,
    command_on_list,
    cursor_of,
    default_prompt,
    default_status,
)
from ttt_net.client.world import LinkState
from ttt_net.messages import (
    AnswerRequest,
    Challenged,
    LiveList,
    LobbyRequest,
    PlayerInfo,
    PlayerList,
    SeekList,
    SeekRequest,
    UnseekRequest,
    WatchRequest,
)
from ttt_net.text import clean


def _title(display: Display) -> str:
    return "Lobby" if display.has_lobby else "ttt_net"


def _status(display: Display) -> str:
    if not display.has_lobby:
        return "Setting up the board ..."
    world = display.world
    if world.link is LinkState.ONLINE and display.is_arriving:
        return "One moment ..."
    if world.link is LinkState.ONLINE and world.seeking is None:
        also = "; z is the puzzle of the day" if "puzzle" in world.features else ""
        return f"Welcome, {labels.name_of(world.you)}. p finds you an opponent{also}." if world.you is not None else ""
    suggested = suggested_bot(display, world.seeking) if world.seeking is not None else None
    if world.seeking is not None and suggested is not None:
        bot = labels.full_label(PlayerInfo(suggested.name, suggested.bot, suggested.level))
        return f"Nobody yet for {labels.some_games(world.seeking.games)}: b plays {bot}."
    return default_status(display)


def _footer(display: Display, width: int) -> list[str]:
    """Return what one who hosts tells their friends; nothing for others once there is something to choose."""
    return sharing.company_hint(display, width)


def _chosen(display: Display) -> tuple[str, str]:
    """Return what kind of row the cursor is on, and which one."""
    rows = lobby_rows(display, 0)
    at = cursor_of(rows, display.page.row, display.page.place)
    kind, _, name = rows[at].key.partition(":") if at is not None else ("", "", "")
    return kind, name


def _watch_chosen(display: Display) -> AnyCommand | None:
    """Return how to watch the match that is chosen, or else the first: the featured one."""
    live = live_of_others(display)
    chosen = next((match for match in live if ("live", match.match) == _chosen(display)), None)
    match = chosen or next(iter(live), None)
    return Send(WatchRequest(0, match=match.match)) if match is not None else None


def _profile(display: Display) -> AnyCommand | None:
    """Return how to see who the player is whom the row is about."""
    kind, name = _chosen(display)
    match kind:
        case "own":
            name = labels.opponent_of(display.world.matches[name]).name
        case "challenge":
            challenges = (each.challenge for each in display.world.lobby.challenges)
            name = next((_other_of(display, each) for each in challenges if str(each.challenge) == name), "")
        case "seek":
            name = next((seek.by.name for seek in waiting_people(display) if str(seek.seek) == name), "")
        case "live":
            return None
    return Open(Page("profile", about=name)) if name else None


def _other_of(display: Display, challenge: Challenged) -> str:
    is_ours = display.world.you is not None and challenge.by.name == display.world.you.name
    return challenge.to.name if is_ours else challenge.by.name


def _answer(display: Display, *, is_accepted: bool) -> Effect:
    """Answer the challenge that is chosen, or else the oldest one to us; what we have made ourselves is taken back."""
    ours = display.world.you.name if display.world.you is not None else None
    waiting = [each.challenge for each in display.world.lobby.challenges]
    chosen = next((each for each in waiting if f"challenge:{each.challenge}" == display.page.row), None)
    challenge = chosen or display.world.challenge
    if challenge is None or (is_accepted and challenge.by.name == ours):
        return replace(display, notice="Nobody challenges you at the moment."), ()
    return display, (AnswerRequest(0, challenge=challenge.challenge, accept=is_accepted),)


def _play_at(display: Display, *, level: int) -> Effect:
    """Challenge a bot that plays at a level."""
    if display.world.seeking is None:
        return replace(display, notice="p first: what would you play?"), ()
    seek = structs.replace(display.world.seeking, level=level)
    bot = chosen_bot(display, seek)
    if bot is None:
        return replace(display, notice=f"No bot is free at level {level} now."), ()
    return display, (challenge_to(bot, seek),)


_VERBS = {
    FOLD: "show them",
    "own": "go on",
    "bot": "play",
    "invitation": "show code",
    "seek": "play",
    "player": "challenge",
    "live": "watch",
    PUZZLE: "open",
}
_CROWDED = 12
"""From more rows on, a hint says how to find one."""
_ACCEPT = KeyHint("Enter", "accept", "c-m")


def _verb_of(row: Row) -> str:
    """Return what Enter does with a row."""
    if isinstance(row.enter, Send) and isinstance(row.enter.request, AnswerRequest):
        return "accept" if row.enter.request.accept else "take back"
    return _VERBS.get(row.key.split(":")[0], "choose")


def _hints(display: Display, *, entrances: Sequence[Entrance]) -> list[KeyHint]:
    world = display.world
    if not display.has_lobby:
        return [LEAVE]
    if world.link is LinkState.CONNECTING:
        return [*[KeyHint("Esc", "servers", "escape")] * display.has_server_picker, LEAVE, HELP]
    hints = []
    rows = lobby_rows(display, 0)
    at = cursor_of(rows, display.page.row, display.page.place)
    if at is not None:
        hints.append(KeyHint("Enter", _verb_of(rows[at]), "c-m"))
    if world.challenge is not None:
        hints += [] if hints == [_ACCEPT] else [KeyHint("a", "accept", "a")]
        hints.append(KeyHint("d", "decline", "d"))
    if any(row.key.startswith("bot:") for row in rows):
        hints.append(KeyHint("b", "bot", "b"))
    if world.seeking is not None:
        hints.append(KeyHint("Esc", "stop", "escape"))
    hints += [KeyHint("/", "find", "/")] if len(rows) > _CROWDED else []
    hints += [KeyHint("p", "play", "p"), KeyHint("i", "invite", "i"), KeyHint("c", "code", "c")]
    if world.seeking is None and display.has_server_picker:
        hints.append(KeyHint("Esc", "servers", "escape"))
    if live_of_others(display):
        hints.append(KeyHint("w", "watch", "w"))
    hints.append(KeyHint("v", "profile", "v"))
    return [*hints, *(KeyHint(each.key, each.label, each.key) for each in entrances), LEAVE, HELP]


def _bot(display: Display, wanted: SeekRequest, rest: str, *, is_first: bool) -> Meaning:
    meant = in_terms(display.world.seeking or wanted, rest)
    if not isinstance(meant, Send) or not isinstance(meant.request, SeekRequest):
        return meant
    seek = meant.request
    return ListQuery(_WHOLE, ("bot",), seek=seek, is_first=is_first, otherwise=no_bot(seek))


def _act(display: Display, command: AnyCommand) -> Effect | None:
    """Show all rows again before a step back means anything else."""
    if command is Command.BACK and display.page.filter:
        return display.with_page(replace(display.page, filter="")), ()
    return None


def _prompt(display: Display, now_ms: int) -> str:
    """Return the notice, or that only some rows are shown, or in another order."""
    only = [f"Only: {clean(display.page.filter, labels.MAX_CODE)} (Esc: all)"] if display.page.filter else []
    order = ["strongest first (s: as before)"] if display.page.is_by_strength else []
    seen = ", ".join([*only, *order])
    return default_prompt(display, now_ms) or seen[:1].upper() + seen[1:]


def _join(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    return Send(request_of(rest)) if rest else "Type join and the code that a friend gave you."


def _watch(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    if "/m/" in rest:
        return Send(request_of(rest))
    whose = f" of {clean(rest, MAX_NAME_CELLS)}" if rest else ""
    otherwise = f"No match{whose} is being played for all to see."
    return ListQuery(_WHOLE, ("live",), rest.lower(), is_first=True, otherwise=otherwise)


def _stop(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    """Stop watching, a search or a challenge, one after the other."""
    if display.is_watched:
        return Command.BACK
    if display.world.seeking is not None:
        return Send(UnseekRequest(0))
    if ours := challenges(display, is_ours=True):
        return Send(AnswerRequest(0, challenge=ours[0].challenge, accept=False))
    return "There is nothing to stop; quit leaves."


def _some(display: Display, wanted: SeekRequest, rest: str, *, ask: ListQuery) -> Meaning:
    """Ask for the rows of the lobby that have the words that are typed; with `strongest`, the strongest first."""
    words_typed = rest.split()
    is_by_strength = _STRONGEST in words_typed
    typed = " ".join(word for word in words_typed if word != _STRONGEST)
    page = replace(ask.page, filter=clean(typed, labels.MAX_CODE), is_by_strength=is_by_strength)
    otherwise = f"Nothing here has {page.filter}." if page.filter else ask.otherwise
    return replace(ask, page=page, otherwise=otherwise)


_WHOLE = Page("lobby", unfolded=LONG_SECTIONS)
_WHO = ListQuery(
    _WHOLE,
    ("challenge", "seek", "bot", "player", FOLD),
    otherwise="Nobody else is here.",
    hint="Type a number to play someone who waits, or to challenge a player.",
)
_MATCHES = ListQuery(
    _WHOLE,
    ("own", "live"),
    otherwise="No match is being played for all to see.",
    hint="Type a number to watch, or to go on with your own.",
)
_STRONGEST = "strongest"


_KEYS: dict[str, KeyMeaning] = {
    "p": Open(Page("games", purpose=Purpose.PLAY)),
    "i": Open(Page("games", purpose=Purpose.INVITE)),
    "c": Begin(Entry.CODE),
    "/": Change(filter_begun),
    "s": Change(order_changed),
    "b": Command.BOT,
    "a": Change(partial(_answer, is_accepted=True)),
    "d": Change(partial(_answer, is_accepted=False)),
    "o": Open(Page("profile")),
    "w": _watch_chosen,
    "v": _profile,
    **{str(level): Change(partial(_play_at, level=level)) for level in range(1, 9)},
}


def _command(key: str, display: Display, *, keys: dict[str, KeyMeaning]) -> AnyCommand | None:
    if not display.has_lobby:
        return Command.LEAVE if key.lower() == "q" else None
    return command_on_list(key, display, keys)


def _help(display: Display, *, entrances: Sequence[Entrance]) -> list[str]:
    if not display.has_lobby:
        return list(LEAVING_HELP)
    opened = f"{' '.join(each.key for each in entrances):<13}{', '.join(each.help for each in entrances)}"
    return [
        *LISTS_HELP,
        "p b 1-8      play: a game; a bot, of a level",
        "i c          invite; type a code",
        "a d          accept, decline a challenge",
        "/ s          only some, the strongest first",
        "w            watch a match",
        "v o          that player, yourself",
        opened,
        "Esc          stop looking; back",
        *LEAVING_HELP[1:],
    ]


_WORDS: dict[str, Word] = {
    "bot": partial(_bot, is_first=True),
    "bots": partial(_bot, is_first=False),
    "who": partial(_some, ask=_WHO),
    "join": _join,
    "matches": partial(_some, ask=_MATCHES),
    "watch": _watch,
    "stop": _stop,
}


LINES_HELP = (
    "play, play connect4 3+2 rated: look for an opponent. games: which there are.\n"
    "bot, bot connect4 level 3: play a bot. bots: choose one.\n"
    "who, who gomoku strongest: who is here, of all or some. challenge NAME GAME. accept, decline.\n"
    "invite GAME: a code for a friend. join CODE: take one up.\n"
    "matches: what is being played. watch NAME: look on. stop: look no more."
)
"""What may be typed in the lobby, but for the words that other screens add."""


def lobby_screen(entrances: Sequence[Entrance]) -> Screen:
    """Return the lobby, with a key for each of the screens that are opened from it."""
    keys = {**_KEYS, **{each.key: each.command for each in entrances}}
    return Screen(
        name="lobby",
        title=_title,
        status=_status,
        rows=lobby_rows,
        footer=_footer,
        requests=lambda page: (LobbyRequest(0, on=True),),
        replies=(SeekList, PlayerList, LiveList),
        unlisted=(LobbyRequest(0, on=False),),
        prompt=_prompt,
        act=_act,
        command=partial(_command, keys=keys),
        hints=partial(_hints, entrances=entrances),
        help=partial(_help, entrances=entrances),
        words=_WORDS,
        heading=lambda display: [],
    )
