"""Show the lobby: own matches, challenges, seeks, free bots, players and live matches, with long lists folded.

A typed text filters the rows; the strongest players can be listed first.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from ttt_net.client import words
from ttt_net.client.display import (
    AnyCommand,
    Begin,
    Change,
    Command,
    Display,
    Entry,
    Open,
    Page,
    PlayBot,
    Purpose,
    Send,
)
from ttt_net.client.screens.offers import (
    AT_ITS_BEST,
    MAX_NAME_CELLS,
    challenge_to,
    challenges,
    free_bots,
    in_terms,
    live_match,
    live_of_others,
    no_bot,
    own_match,
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
    KeyHelp,
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
    section,
)
from ttt_net.client.screens.tournament_screen import entered_name, tournament_rows
from ttt_net.client.world import LinkState, World
from ttt_net.messages import (
    AcceptRequest,
    AnswerRequest,
    Challenged,
    ListedPlayer,
    LiveList,
    LiveMatch,
    LobbyRequest,
    PlayerInfo,
    PlayerList,
    SeekInfo,
    SeekList,
    SeekRequest,
    TournamentList,
    UnseekRequest,
    UnwatchRequest,
    WatchRequest,
)
from ttt_net.text import clean, counted

PUZZLE = "puzzle"
"""The key of its row, and the name of its screen."""
FOLD = "more"
"""The kind of row that unfolds a section."""
LONG_SECTIONS = frozenset({"seek", "bot", "player", "live"})
"""The kinds of rows that are folded if there are many."""
_BUSY = "busy"
_MOST_ROWS = 10
"""Longer sections are folded, so that the next one is visible."""
_ROWS_OF_FOLDED = 8
_OFFER = "Play a bot right away: press b"
_OFFER_OF_LEVELS = f"{_OFFER}, or 1-8"
"""The label of a bot with its level; both fit a window of 40 columns."""


def lobby_rows(display: Display, now_ms: int) -> list[Row]:
    """Return the rows of the lobby; with a filter, only rows that contain its words."""
    wanted = filter_of(display).lower().split()
    if not wanted:
        return _sections(display, now_ms)
    whole = display.with_page(replace(display.page, unfolded=LONG_SECTIONS | {_BUSY}))
    rows = [row for row in _sections(whole, now_ms) if row.is_heading or _has(row, wanted)]
    found = [row for row, after in zip(rows, [*rows[1:], None], strict=True) if not _is_bare(row, after)]
    return found or [Row((f"Nothing in the lobby has {clean(filter_of(display), words.MAX_CODE)}.",))]


def filter_of(display: Display) -> str:
    """Return the words of the filter, typed or being typed."""
    return display.typed if display.entry is Entry.FILTER else display.page.filter


def filter_begun(display: Display) -> Effect:
    """Begin to type the filter, or continue with the current one."""
    page = replace(display.page, filter="", row="", place=0)
    return replace(display.with_page(page), entry=Entry.FILTER, typed=display.page.filter), ()


def order_changed(display: Display) -> Effect:
    """List the strongest first, or return to the usual order."""
    return display.with_page(replace(display.page, is_by_strength=not display.page.is_by_strength, row="", place=0)), ()


def _has(row: Row, wanted: Sequence[str]) -> bool:
    text = " ".join(row.cells).lower()
    return all(word in text for word in wanted)


def _is_bare(row: Row, after: Row | None) -> bool:
    """Tell whether a row is a heading without rows below it."""
    return row.is_heading and (after is None or after.is_heading)


@dataclass(frozen=True, slots=True)
class _Crowd:
    """How a page shows a long section: how much of it, and in which order."""

    page: Page

    def section(self, kind: str, heading: str, rows: Sequence[Row], count: int = 0) -> list[Row]:
        """Return the rows under their heading, the last of a long list folded into one; `count`: how many there are."""
        is_folded = kind not in self.page.unfolded and len(rows) > _MOST_ROWS
        if is_folded and count > len(rows):
            heading += f" ({count})"
        if not is_folded:
            return section(heading, rows)
        rest = f"{len(rows) - _ROWS_OF_FOLDED} more"
        return section(heading, [*rows[:_ROWS_OF_FOLDED], _fold(kind, rest)])

    def busy_bots(self, bots: Sequence[Row]) -> Sequence[Row]:
        """Return the rows of busy bots, folded into one if there are several."""
        if len(bots) < 2 or _BUSY in self.page.unfolded:
            return bots
        return [_fold(_BUSY, f"{counted(len(bots), 'bot')} without a free place")]


def _fold(kind: str, text: str) -> Row:
    return Row((text,), f"{FOLD}:{kind}", Change(partial(_unfolded, kind=kind)))


def _unfolded(display: Display, *, kind: str) -> Effect:
    """Unfold a section; the cursor stays in place, on the first unfolded row."""
    return display.with_page(replace(display.page, unfolded=display.page.unfolded | {kind}, row="")), ()


def _sections(display: Display, now_ms: int) -> list[Row]:
    told, live = display.world.reply(PlayerList), display.world.reply(LiveList)
    players = told.players if told is not None else []
    ours = display.world.you.name if display.world.you is not None else None
    seek, crowd = display.world.seeking, _Crowd(display.page)
    free = free_bots(display, seek) if seek is not None else []
    bots = {each.name: _bot_row(each, seek) for each in _in_order(display, free, _strength_of_bot)} if seek else {}
    waiting = _in_order(display, waiting_people(display), lambda each: each.by.rating or 0)
    named = {ours, *bots, *(each.by.name for each in waiting)}
    others = [each for each in players if each.name not in named]
    offer = _OFFER_OF_LEVELS if any(each.any_level for each in free) else _OFFER
    watched = [live_match(each) for each in _in_order(display, live_of_others(display), _strength_of_match)]
    return [
        *section(
            "Your matches", [own_match(match) for match in display.world.matches.values() if match.you is not None]
        ),
        *section("Challenges", [*_challenges(display, ours, now_ms), *_invited(display, now_ms)]),
        *section("Tournaments", _tournaments(display)),
        *crowd.section("seek", "Waiting for an opponent", [_seek_row(each) for each in waiting]),
        *crowd.section("bot", offer, list(bots.values())),
        *_others(display, others, told.online if told is not None else 0),
        *crowd.section("live", "Being played", watched, live.count if live else 0),
        *section("By yourself", _puzzle(display)),
    ]


def _others(display: Display, players: Sequence[ListedPlayer], online: int) -> list[Row]:
    """Return the section of the other connected players: people first, busy bots last."""
    crowd, sorted_players = _Crowd(display.page), _in_order(display, players, _strength)
    busy = [_player_row(each) for each in sorted_players if _is_busy(each)]
    people = [_player_row(each) for each in sorted_players if each.bot is None]
    free = [each for each in sorted_players if each.bot is not None and not _is_busy(each)]
    if not display.page.is_by_strength:
        free.sort(key=_strength_of_bot)
    bots = [_player_row(each) for each in free]
    listed, folded = crowd.section("player", "Players", [*people, *bots], online), crowd.busy_bots(busy)
    return [*listed, *folded] if listed else section("Players", folded)


_Listed = TypeVar("_Listed")


def _in_order(display: Display, items: Sequence[_Listed], strength: Callable[[_Listed], int]) -> list[_Listed]:
    """Return the items in their usual order, or the strongest first if chosen."""
    if not display.page.is_by_strength:
        return list(items)
    return sorted(items, key=strength, reverse=True)


def _strength(player: ListedPlayer) -> int:
    return player.rating or player.level or 0


def _strength_of_bot(bot: ListedPlayer) -> int:
    return bot.level or AT_ITS_BEST


def _strength_of_match(match: LiveMatch) -> int:
    return sum(player.rating or 0 for player in match.players)


def _is_busy(player: ListedPlayer) -> bool:
    return player.bot is not None and (player.free == 0 or (player.places is None and player.playing > 0))


def _tournaments(display: Display) -> list[Row]:
    """Return the tournaments that can be entered or followed."""
    told = display.world.reply(TournamentList)
    return tournament_rows(told.tournaments, has_ended=False) if told is not None else []


def _puzzle(display: Display) -> list[Row]:
    """Return the row that opens the puzzle of the day, if the server has one."""
    if "puzzle" not in display.world.features:
        return []
    solved = display.achieved.solved
    days = display.achieved.streak(solved[-1]) if solved else 0
    in_a_row = [f"{counted(days, 'day')} in a row up to {solved[-1]}"] if solved else []
    return [Row(("Puzzle of the day", "press z", *in_a_row), PUZZLE, Open(Page(PUZZLE)))]


def _challenges(display: Display, ours: str | None, now_ms: int) -> Iterable[Row]:
    for each in display.world.lobby.challenges:
        challenge = each.challenge
        wanted = words.terms(challenge.game, challenge.time, is_rated=challenge.rated)
        left = words.duration(each.left_ms(now_ms))
        is_ours = challenge.by.name == ours
        other = words.label_of(challenge.to if is_ours else challenge.by)
        who = f"you challenged {other}" if is_ours else f"{other} challenges you"
        answer = AnswerRequest(0, challenge=challenge.challenge, accept=not is_ours)
        yield Row((who, wanted, f"{left} left"), f"challenge:{challenge.challenge}", Send(answer))


def _invited(display: Display, now_ms: int) -> Iterable[Row]:
    """Yield the row of the open invitation, so that its code can be looked up again."""
    invitation = display.world.lobby.invitation
    if invitation is None:
        return
    left_ms = invitation.expires_in_ms - max(0, now_ms - display.world.lobby.invited_at_ms)
    if left_ms > 0:
        wanted = words.terms(invitation.game, invitation.time, is_rated=False)
        left = f"code {clean(invitation.code, words.MAX_CODE)}, {words.duration(left_ms)} left"
        yield Row(("you invited a friend", wanted, left), "invitation:", Open(Page("invitation")))


def _bot_row(bot: ListedPlayer, seek: SeekRequest) -> Row:
    challenge = challenge_to(bot, seek)
    label = words.full_label(PlayerInfo(bot.name, bot.bot, bot.level))
    about = clean(bot.about or "", words.MAX_ABOUT_CELLS)
    wanted = words.terms(challenge.game, challenge.time, is_rated=challenge.rated)  # those of our seek, above the list
    return Row((label, about or wanted), f"bot:{bot.name}", Send(challenge))


def _seek_row(seek: SeekInfo) -> Row:
    games = words.some_games(seek.games)
    how = words.clock_name(seek.time) if seek.time is not None else "no clock"
    how += f", {words.RATED_OR_CASUAL}" if seek.rated and seek.or_casual else ", rated" * seek.rated
    if seek.min_rating is not None or seek.max_rating is not None:
        how += f", {seek.min_rating or 0} to {seek.max_rating}" if seek.max_rating else f", from {seek.min_rating}"
    cells, key = (words.full_label(seek.by), games, how), f"seek:{seek.seek}"
    if len(seek.games) == 1:
        return Row(cells, key, Send(AcceptRequest(0, seek=seek.seek)))
    page = Page("games", about=seek.by.name, purpose=Purpose.CHALLENGE, games=tuple(seek.games))
    return Row(cells, key, Open(page))  # a player of several games is challenged to one of them


def _player_row(player: ListedPlayer) -> Row:
    name = words.full_label(PlayerInfo(player.name, player.bot, player.level, player.rating))
    doing = []
    if player.seeking is not None:
        doing.append(f"{'seeks' if player.seeking else 'plays'} {words.some_games(player.seeking)}")
    if player.playing:
        doing.append(f"in {counted(player.playing, 'match', 'matches')}")
    if player.places is not None and player.free == 0:
        doing.append("no place free")
    games = tuple(player.seeking or ())
    wanted = f"game:{games[0]}" if len(games) == 1 else ""
    games = games if player.bot is not None else ()  # a person may be challenged to any game
    page = Page("games", wanted, about=player.name, purpose=Purpose.CHALLENGE, games=games)
    return Row((name, ", ".join(doing)), f"player:{player.name}", Open(page))


def _title(display: Display) -> str:
    return "Lobby" if display.has_lobby else "ttt_net"


def _own_matches(world: World) -> str:
    """Return whether a match of ours waits for us; empty if none is being played."""
    ours = (match for match in world.matches.values() if match.you is not None and not match.adjourned)
    live = [match for match in ours if match.outcome is None]
    mine = next((match for match in live if match.position.to_move == match.you), None)
    if mine is not None:
        return f"{words.name_of(words.opponent_of(mine))} waits for your move."
    return "Your match continues." if live else ""


def _status(display: Display) -> str:
    if not display.has_lobby:
        return "Setting up the board ..."
    world = display.world
    if world.link is LinkState.ONLINE and display.is_arriving:
        return "One moment ..."
    if world.link is LinkState.ONLINE and world.seeking is None and (entered := entered_name(world)):
        return f"You play in {entered}: your next match begins by itself. t shows the tournament."
    if world.link is LinkState.ONLINE and world.seeking is None and (own := _own_matches(world)):
        return own
    if world.link is LinkState.ONLINE and world.seeking is None:
        free = _bots_with_time(display)
        also = f", b{' or 1-8' * any(each.any_level for each in free)} a bot" if free else ""
        also += ", z the puzzle of the day" if "puzzle" in world.features else ""
        return f"Welcome, {words.name_of(world.you)}. p finds an opponent{also}." if world.you is not None else ""
    suggested = suggested_bot(display, world.seeking) if world.seeking is not None else None
    if world.seeking is not None and suggested is not None:
        bot = words.full_label(PlayerInfo(suggested.name, suggested.bot, suggested.level))
        return f"Nobody yet. Press b to play {words.some_games(world.seeking.games)} against {bot}."
    return default_status(display)


def _footer(display: Display, width: int) -> list[str]:
    """Return what a host has to send to friends; for others, empty once there is something to choose."""
    return words.company_hint(display, width)


def _chosen(display: Display) -> tuple[str, str]:
    """Return the kind and the key of the row at the cursor."""
    rows = lobby_rows(display, 0)
    at = cursor_of(rows, display.page.row, display.page.place)
    kind, _, name = rows[at].key.partition(":") if at is not None else ("", "", "")
    return kind, name


def _watch_chosen(display: Display) -> AnyCommand | None:
    """Return the command to watch the chosen match, or else the first one, which is featured."""
    live = live_of_others(display)
    chosen = next((match for match in live if ("live", match.match) == _chosen(display)), None)
    match = chosen or next(iter(live), None)
    return Send(WatchRequest(0, match=match.match)) if match is not None else None


def _profile(display: Display) -> AnyCommand | None:
    """Return the command that opens the profile of the row's player."""
    kind, name = _chosen(display)
    match kind:
        case "own":
            name = words.opponent_of(display.world.matches[name]).name
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
    """Answer the chosen challenge, or else the oldest one to us; withdraw our own if chosen."""
    ours = display.world.you.name if display.world.you is not None else None
    waiting = [each.challenge for each in display.world.lobby.challenges]
    chosen = next((each for each in waiting if f"challenge:{each.challenge}" == display.page.row), None)
    challenge = chosen or display.world.challenge
    if challenge is None or (is_accepted and challenge.by.name == ours):
        return replace(display, notice="Nobody challenges you at the moment."), ()
    return display, (AnswerRequest(0, challenge=challenge.challenge, accept=is_accepted),)


_VERBS = {
    FOLD: "show them",
    "own": "go on",
    "bot": "play",
    "invitation": "show code",
    "seek": "play",
    "player": "challenge",
    "live": "watch",
    "tournament": "open",
    PUZZLE: "open",
}
_CROWDED = 12
"""With more rows, a hint says how to find one."""
_CROWD = 100
"""With more players online, the featured match is not watched for its picture."""
_ACCEPT = KeyHint("Enter", "accept", "c-m")


def _bots_with_time(display: Display) -> list[ListedPlayer]:
    """Return the listed bots that have a free place."""
    told = display.world.reply(PlayerList)
    return [each for each in told.players if each.bot is not None and not _is_busy(each)] if told is not None else []


def featured_watched(display: Display, *, has_room: bool) -> Effect:
    """Watch the featured match as a picture beside the lists; the next one when it is no longer listed.

    A match of ours is a better picture. The end of a match stays visible while no other match is being played; a match
    that was abandoned does not. In a crowd there is no picture, because the server would send every move to all of it.
    """
    world, pictured = display.world, display.featured
    listed = [each.match for each in live_of_others(display)]
    if world.link is not LinkState.ONLINE:
        return display, ()
    told = world.reply(PlayerList)
    is_crowded = told is not None and told.online > _CROWD
    is_wanted = has_room and not is_crowded and display.page.screen != "match" and not world.has_unfinished_match
    if pictured is None:
        if not is_wanted or display.page.screen != "lobby" or world.watching is not None or not listed:
            return display, ()
        world = replace(world, watching=listed[0], watch_code=None)
        return replace(display, featured=listed[0], world=world), (WatchRequest(0, match=listed[0]),)
    match = world.matches.get(pictured)
    is_over = match is not None and match.outcome is not None
    if is_wanted and (pictured in listed or (is_over and not listed)):
        return display, ()
    requests = (UnwatchRequest(0, match=pictured),) if world.watching == pictured else ()
    return replace(display.in_world(world.without_match(pictured)), featured=None), requests


def _verb_of(row: Row) -> str:
    """Return the verb of Enter on a row."""
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
    if any(row.key.startswith("bot:") for row in rows) or (world.seeking is None and _bots_with_time(display)):
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
    """Let a step back first remove the filter."""
    if command is Command.BACK and display.page.filter:
        return display.with_page(replace(display.page, filter="")), ()
    return None


def _prompt(display: Display, now_ms: int) -> str:
    """Return the notice, or the sentence that a filter or another order is active."""
    only = [f"Only: {clean(display.page.filter, words.MAX_CODE)} (Esc: all)"] if display.page.filter else []
    order = ["strongest first (s: as before)"] if display.page.is_by_strength else []
    seen = ", ".join([*only, *order])
    return default_prompt(display, now_ms) or seen[:1].upper() + seen[1:]


def _join(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    return Send(request_of(rest)) if rest else "Type join and the code that a friend gave you."


def _watch(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    if "/m/" in rest:
        return Send(request_of(rest))
    whose = f" of {clean(rest, MAX_NAME_CELLS)}" if rest else ""
    numbered = " To choose from a list, type only the number." if rest.isdecimal() else ""
    otherwise = f"No match{whose} is being played in public.{numbered}"
    return ListQuery(_WHOLE, ("live",), rest.lower(), is_first=True, otherwise=otherwise)


def _stop(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    """Stop watching, a seek or a challenge, in this order."""
    if display.is_watched:
        return Command.BACK
    if display.world.seeking is not None:
        return Send(UnseekRequest(0))
    if ours := challenges(display, is_ours=True):
        return Send(AnswerRequest(0, challenge=ours[0].challenge, accept=False))
    return "There is nothing to stop; quit leaves."


def _some(display: Display, wanted: SeekRequest, rest: str, *, ask: ListQuery) -> Meaning:
    """Show only the rows of the lobby with the typed words; with `strongest`, the strongest first."""
    words_typed = rest.split()
    is_by_strength = _STRONGEST in words_typed
    typed = " ".join(word for word in words_typed if word != _STRONGEST)
    page = replace(ask.page, filter=clean(typed, words.MAX_CODE), is_by_strength=is_by_strength)
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
    otherwise="No match is being played in public.",
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
    **{str(level): PlayBot(level) for level in range(1, 9)},
}


def _command(key: str, display: Display, *, keys: dict[str, KeyMeaning]) -> AnyCommand | None:
    if not display.has_lobby:
        return Command.LEAVE if key.lower() == "q" else None
    return command_on_list(key, display, keys)


def _help(display: Display, *, entrances: Sequence[Entrance]) -> list[KeyHelp]:
    if not display.has_lobby:
        return list(LEAVING_HELP)
    return [
        *LISTS_HELP,
        KeyHelp("p", "Choose a game, and look for an opponent."),
        KeyHelp("b", "Play a bot at once. 1 to 8 choose its level."),
        KeyHelp("Esc", "Stop looking for an opponent, or go back."),
        KeyHelp("i", "Invite a friend to a private match."),
        KeyHelp("c", "Enter a friend's code, or a tournament's."),
        KeyHelp("a  d", "Accept or decline a challenge."),
        KeyHelp("w", "Watch the selected match, or the featured one."),
        KeyHelp("/", "Show only rows with the words that you type."),
        KeyHelp("s", "List the strongest first, or restore the order."),
        KeyHelp("v  o", "Open the selected player's profile, or yours."),
        *(KeyHelp(each.key, each.help) for each in entrances),
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
    "play, play connect4 3+2 rated: look for an opponent. games: list the games.\n"
    "bot, bot connect4 level 3: play a bot. bots: choose one.\n"
    "who, who gomoku strongest: list the players here. challenge NAME GAME. accept, decline.\n"
    "invite GAME: get a code for a friend. join CODE: use a code.\n"
    "matches: list live matches. watch NAME: watch one. stop: stop watching, or looking for an opponent."
)
"""The lobby's own words, without those that other screens add."""


def lobby_screen(entrances: Sequence[Entrance]) -> Screen:
    """Return the lobby, with a key for each screen that it opens."""
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
