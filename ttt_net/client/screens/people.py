"""Show players: a profile, a history of matches, the best of a game, and a report to the host."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from msgspec import structs

from ttt_net.client import words
from ttt_net.client.display import SPEEDS, AnyCommand, Change, Display, More, Open, Page, Purpose, Reopen, Send
from ttt_net.client.remembered import Achievements
from ttt_net.client.screens.offers import (
    A_RATED_GAME,
    MAX_NAME_CELLS,
    game_named,
    live_match,
    live_of_others,
    own_match,
    page_about,
)
from ttt_net.client.screens.screen import (
    BACK,
    CHOOSE,
    LEAVING_HELP,
    LISTS_HELP,
    WAITING,
    Effect,
    Entrance,
    KeyHelp,
    KeyHint,
    KeyMeaning,
    Meaning,
    Row,
    Screen,
    list_hints,
    page_before,
    section,
)
from ttt_net.client.screens.tournament_screen import played_tournament
from ttt_net.clock import speed as speed_of
from ttt_net.games.catalogue import NAMES
from ttt_net.games.rules import is_always_casual
from ttt_net.messages import (
    BlockList,
    BlockRequest,
    BlocksRequest,
    FinishedMatch,
    HistoryReply,
    HistoryRequest,
    Leader,
    LeaderboardReply,
    LeaderboardRequest,
    MuteRequest,
    PlayerInfo,
    ProfileReply,
    ProfileRequest,
    RatingInfo,
    ReportReason,
    ReportRequest,
    Request,
    SeekRequest,
    ServerMessage,
    Side,
    WatchRequest,
)
from ttt_net.text import clean, counted, date_of, name_key

THANKS = "Thank you. The host and the moderators of this server can see it now."
_REASONS: tuple[tuple[ReportReason, str], ...] = (
    ("chat", "Their chat messages"),
    ("name", "Their name"),
    ("cheating", "They cheat"),
    ("other", "Something else"),
)


def report(display: Display) -> AnyCommand:
    """Return the command that opens the screen from a match: about the opponent, or for a watcher, about nobody yet."""
    match = display.match
    about = match.players[1 - match.you].name if match is not None and match.you is not None else ""
    return Open(Page("report", about=about))


def _report_title(display: Display) -> str:
    name = clean(display.page.about, MAX_NAME_CELLS)
    return f"Report {name}" if name else "Report a player"


def _report_rows(display: Display, now_ms: int) -> list[Row]:
    name, match = display.page.about, display.match
    if not name:
        players = [player.name for player in match.players] if match is not None else []
        names = dict.fromkeys([*players, *display.talkers])
        return [Row((clean(each, MAX_NAME_CELLS),), f"who:{each}", Open(Page("report", about=each))) for each in names]
    heard, side = match.match if match is not None else None, display.seat_of(name)
    carried = "It includes the last lines of chat in this match." if heard else "It includes no chat."
    return [
        Row(("The host and the moderators of this server see who reports whom, and for what.",)),
        Row((carried,)),
        Row(("",)),
        *(Row((said,), reason, Send(ReportRequest(0, name, reason, heard, side=side))) for reason, said in _REASONS),
        *([Row(("",)), _block(name, match=heard, side=side)] if _has_blocks(display) else []),
    ]


def _has_blocks(display: Display) -> bool:
    return "blocks" in display.world.features


def _block(name: str, *, on: bool = True, match: str | None = None, side: Side | None = None) -> Row:
    """Return the row that blocks or unblocks a player, by their seat if it is known."""
    said = "Block them: no challenges, no pairing, no chat" if on else "Unblock them"
    seat = match if side is not None else None
    return Row((said,), "block", Send(BlockRequest(0, name=name, on=on, match=seat, side=side)))


def when_blocked(display: Display, request: BlockRequest | MuteRequest) -> Display:
    """Show the result of a request to block or mute, also in a profile and in the list of blocked players."""
    name, world = clean(request.name or "", MAX_NAME_CELLS), display.world
    profile, listed = world.reply(ProfileReply), world.reply(BlockList)
    is_block = isinstance(request, BlockRequest)
    if is_block and profile is not None and name_key(profile.player.name) == name_key(name):
        world = world.with_reply(structs.replace(profile, blocked=request.on))
    if listed is not None and not request.on:
        still_blocked, muted = (
            [each for each in names if each != request.name] for names in (listed.blocked, listed.muted)
        )
        is_everybody = listed.everybody and request.name is not None
        world = world.with_reply(BlockList(still_blocked, muted, is_everybody))
    if request.on:
        said = f"You have blocked {name}: they cannot challenge you, and you do not see what they write."
    elif is_block:
        said = f"You have unblocked {name}."
    else:
        said = f"{name} is no longer muted." if name else "Chat is no longer muted."
    return replace(display, world=world, notice=said if is_block or not request.on else display.notice)


def _blocks_rows(display: Display, now_ms: int) -> list[Row]:
    """Return the rows of blocked and muted players; choosing a row unblocks or unmutes."""
    told = display.world.reply(BlockList)
    if told is None:
        return WAITING
    rows = [
        *(_listed(name, "blocked", BlockRequest(0, name=name, on=False)) for name in told.blocked),
        *(_listed(name, "muted", MuteRequest(0, name=name, on=False)) for name in told.muted),
        *([_listed("everybody", "muted", MuteRequest(0, name=None, on=False))] if told.everybody else []),
    ]
    return [Row(("Choose a player to unmute or unblock them.",)), Row(("",)), *rows] if rows else [Row(("Nobody.",))]


def _listed(name: str, how: str, request: BlockRequest | MuteRequest) -> Row:
    return Row((clean(name, MAX_NAME_CELLS), how), f"{how}:{name}", Send(request))


def _block_word(display: Display, wanted: SeekRequest, rest: str, *, on: bool) -> Meaning:
    name = clean(rest, MAX_NAME_CELLS)
    if not _has_blocks(display):
        return "This server has no list of blocked players."
    return Send(BlockRequest(0, name=name, on=on)) if name else f"Type {'block' if on else 'unblock'} and a name."


BLOCKS = Screen(
    name="blocks",
    title=lambda display: "Blocked and muted players",
    rows=_blocks_rows,
    requests=lambda page: (BlocksRequest(0),),
    replies=(BlockList,),
    refused=page_before,
    hints=lambda display: list_hints([CHOOSE, BACK], _blocks_rows(display, 0)),
    words={
        "block": partial(_block_word, on=True),
        "unblock": partial(_block_word, on=False),
        "blocked": lambda display, wanted, rest: Open(Page("blocks")),
    },
    usage="block NAME, unblock NAME, blocked",
)


def _word(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    if rest:
        return Open(Page("report", about=clean(rest, MAX_NAME_CELLS)))
    return report(display) if display.match is not None else "Type report and a name."


REPORT = Screen(
    name="report",
    title=_report_title,
    rows=_report_rows,
    hints=lambda display: list_hints([CHOOSE, BACK], _report_rows(display, 0)),
    is_form=True,
    words={"report": _word},
    usage="report NAME",
)


_BARS = "▁▂▃▄▅▆▇█"
_MOST_PAST, _LEAST_PAST = 20, 3
"""The number of matches whose ratings are drawn, and the numbers that make a chart."""


def _profile_title(display: Display) -> str:
    told = display.world.reply(ProfileReply)
    return words.full_label(told.player) if told is not None else "Profile"


def _profile_rows(display: Display, now_ms: int) -> list[Row]:
    """Return the rows of a profile: facts about the player, and actions."""
    told = display.world.reply(ProfileReply)
    if told is None:
        return WAITING
    facts = [f"{'Online' if told.online else 'Offline'}, joined on {date_of(told.since_ms)}."]
    has_played = told.won + told.drawn + told.lost > 0
    facts.append(f"{told.won} won, {told.drawn} drawn, {told.lost} lost." if has_played else "No finished match yet.")
    against = told.against
    if against is not None and against.won + against.drawn + against.lost > 0:
        facts.append(f"Against you: you won {against.won}, drew {against.drawn}, lost {against.lost}.")
    if told.against is None:
        facts += _achieved(display.achieved)
    live = [_played_now(display, name) for name in told.live]
    return [
        *(Row((fact,)) for fact in facts),
        Row(("",)),
        *_deeds(display, told),
        *section("Ratings", [_rating(each, _past_ratings(display, told, each)) for each in told.ratings]),
        *section("Playing now", live),
        *section("Tournaments", [played_tournament(each) for each in told.tournaments]),
    ]


def _achieved(achieved: Achievements) -> Iterable[str]:
    """Yield sentences about solved puzzles and beaten levels of bots."""
    if achieved.solved:
        days = achieved.streak(achieved.solved[-1])
        yield f"Puzzles: {counted(len(achieved.solved), 'day')} solved, {days} in a row up to {achieved.solved[-1]}."
    if achieved.beaten:
        levels = ", ".join(f"{words.title_of(game)} {level}" for game, level in achieved.beaten.items())
        yield f"Levels beaten: {levels}."


def _played_now(display: Display, name: str) -> Row:
    """Return the row of a running match: back to our own, or to watch; of some nothing is known."""
    if display.world.has_seat(name):
        return own_match(display.world.matches[name])
    known = next((match for match in live_of_others(display) if match.match == name), None)
    return (
        live_match(known)
        if known is not None
        else Row(("A match", "watch it"), f"live:{name}", Send(WatchRequest(0, match=name)))
    )


def _deeds(display: Display, told: ProfileReply) -> Iterable[Row]:
    name = told.player.name
    yield Row(("Matches played",), "history", Open(Page("history", about=name)))
    if told.against is not None and told.online:
        yield Row(("Challenge",), "challenge", Open(Page("games", about=name, purpose=Purpose.CHALLENGE)))
    if told.against is not None:
        yield Row(("Report",), "report", Open(Page("report", about=name)))
    if told.against is not None and _has_blocks(display):
        yield _block(name, on=not told.blocked)
    elif told.against is None and _has_blocks(display):
        yield Row(("Blocked and muted players",), "blocks", Open(Page("blocks")))


def _past_ratings(display: Display, told: ProfileReply, rating: RatingInfo) -> list[int]:
    """Return the rating before each of the newest rated matches, oldest first, and the current one."""
    history = display.world.reply(HistoryReply)
    if history is None or history.player.name != told.player.name:
        return []
    past = [
        player.rating
        for match in reversed(history.matches)
        if match.rated and match.game == rating.game and speed_of(match.time) == rating.speed
        for player in match.players
        if player.name == told.player.name and player.rating is not None
    ]
    return [*past[-_MOST_PAST:], rating.rating] if past else []


def _chart(display: Display) -> tuple[str, Sequence[int]]:
    """Return the past of the rating at the cursor, or else of the first one that has a past."""
    told = display.world.reply(ProfileReply)
    ratings = told.ratings if told is not None else []
    ratings = sorted(ratings, key=lambda each: f"rating:{each.game}:{each.speed}" != display.page.row)
    drawn = ((each, _past_ratings(display, told, each)) for each in ratings if told is not None)
    return next(
        (
            (f"{words.title_of(each.game)}, {each.speed}: the last {len(past) - 1} rated matches", past)
            for each, past in drawn
            if len(past) >= _LEAST_PAST
        ),
        ("", ()),
    )


def sparkline(numbers: Sequence[int]) -> str:
    """Return numbers as a row of bars, scaled so that the smallest and the largest are a full bar apart."""
    least, most = min(numbers, default=0), max(numbers, default=0)
    return "".join(_BARS[(number - least) * (len(_BARS) - 1) // max(1, most - least)] for number in numbers)


def history_wanted(display: Display, reply: ServerMessage) -> tuple[Request, ...]:
    """Return the request for the matches that changed a rating, once a profile with ratings has arrived."""
    has_rating = isinstance(reply, ProfileReply) and bool(reply.ratings)
    return (HistoryRequest(0, name=display.page.about or None),) if has_rating else ()


def _rating(rating: RatingInfo, past: Sequence[int]) -> Row:
    number = words.rating(rating.rating, is_provisional=rating.provisional)
    matches = counted(rating.games, "match", "matches")
    page = Page("leaders", about=rating.game, time=SPEEDS.index(rating.speed))
    cells = (words.title_of(rating.game), rating.speed, number, matches, *filter(None, [sparkline(past)]))
    return Row(cells, f"rating:{rating.game}:{rating.speed}", Open(page))


PROFILE = Screen(
    name="profile",
    title=_profile_title,
    rows=_profile_rows,
    is_in_parts=True,
    chart=_chart,
    requests=lambda page: (ProfileRequest(0, name=page.about or None),),
    replies=(ProfileReply,),
    asks_next=history_wanted,
    refused=page_before,
    hints=lambda display: list_hints([CHOOSE, BACK], _profile_rows(display, 0)),
    words={"profile": page_about("profile")},
    usage="profile NAME",
)


def _history_title(display: Display) -> str:
    history = display.world.reply(HistoryReply)
    return f"Matches of {words.name_of(history.player)}" if history is not None else "Matches"


def _history_rows(display: Display, now_ms: int) -> list[Row]:
    """Return the rows of a player's finished matches, and the row that leads to older ones."""
    told = display.world.reply(HistoryReply)
    if told is None:
        return WAITING
    rows = [_finished(match, told.player.name, display.world.you) for match in told.matches]
    if told.before is not None:
        older = HistoryRequest(0, name=told.player.name, before=told.before)
        rows.append(Row(("Older matches",), "older", More(Page("history", about=told.player.name), older)))
    return rows or [Row(("No match has ended yet.",))]


def _finished(match: FinishedMatch, name: str, you: PlayerInfo | None) -> Row:
    side = 0 if match.players[0].name == name else 1
    if match.winner is None:
        result = "called off" if match.reason == "abort" else "drawn"
    else:
        result = "won" if match.winner == side else "lost"
    kind = ", ".join(["rated"] * match.rated + ["private"] * match.private)
    against = f"against {words.full_label(match.players[1 - side])}"
    is_ours = you is not None and you.name in (player.name for player in match.players)
    cells = (date_of(match.at_ms), result, words.title_of(match.game), against, kind)
    return Row(cells, f"match:{match.match}", Reopen(match.match, is_ours))


HISTORY = Screen(
    name="history",
    title=_history_title,
    rows=_history_rows,
    requests=lambda page: (HistoryRequest(0, name=page.about or None),),
    replies=(HistoryReply,),
    refused=page_before,
    hints=lambda display: list_hints([CHOOSE, BACK], _history_rows(display, 0)),
    entrance=Entrance("h", "history", "List your finished matches.", lambda display: Open(Page("history"))),
    words={"history": page_about("history")},
    usage="history NAME",
)


def _leaders_title(display: Display) -> str:
    page = display.page
    return f"Leaderboard: {words.title_of(page.about)}, {SPEEDS[page.time]}"


def _status(display: Display) -> str:
    told = display.world.reply(LeaderboardReply)
    return f"Your rank: {told.you}" if told is not None and told.you is not None else ""


def _leaders_rows(display: Display, now_ms: int) -> list[Row]:
    """Return the rows of the best players of a game and speed, and the rows that lead to other pages."""
    told = display.world.reply(LeaderboardReply)
    if told is None:
        return WAITING
    rows = [_leader(leader) for leader in told.leaders]
    if told.page < told.pages:
        further = LeaderboardRequest(0, game=told.game, speed=told.speed, page=told.page + 1)
        rows.append(
            Row(
                (f"Next page ({told.page + 1} of {told.pages})",),
                "further",
                More(Page("leaders", about=told.game, time=SPEEDS.index(told.speed)), further),
            )
        )
    if told.game not in _rated(display, (told.game,)):
        return [Row(("This game is never rated.",))]
    return rows or [Row(("Nobody has a rating here yet. Play a rated match to get one.",))]


def _rated(display: Display, games: Iterable[str]) -> list[str]:
    """Return those of the games that can be rated on this server."""
    added = [game.name for game in display.world.added_games if game.rated]
    return [game for game in games if not is_always_casual(game, added)]


def _leader(leader: Leader) -> Row:
    player = leader.player
    matches = counted(leader.games, "match", "matches")
    number = words.rating(player.rating, is_provisional=player.provisional)
    cells = (f"{leader.rank}.", words.label_of(player), number, matches)
    return Row(cells, f"player:{player.name}", Open(Page("profile", about=player.name)))


def _requests(page: Page) -> tuple[Request, ...]:
    return (LeaderboardRequest(0, game=page.about, speed=SPEEDS[page.time]),)


def _refused(display: Display, request: Request) -> Display:
    """Show a list without rows."""
    if not isinstance(request, LeaderboardRequest):
        return display
    nobody = LeaderboardReply(request.game, request.speed, 1, 1, [], None)
    return replace(display, world=display.world.with_reply(nobody))


def _with_speed(display: Display, *, by: int) -> Effect:
    page = replace(display.page, time=(display.page.time + by) % len(SPEEDS))
    return display.with_page(page), _requests(page)


def _with_game(display: Display) -> Effect:
    games = _rated(display, (*NAMES, *(game.name for game in display.world.added_games)))
    at = games.index(display.page.about) if display.page.about in games else -1
    page = replace(display.page, about=games[(at + 1) % len(games)])
    return display.with_page(page), _requests(page)


_NEXT_SPEED = Change(partial(_with_speed, by=1))
_KEYS: dict[str, KeyMeaning] = {
    "t": _NEXT_SPEED,
    "right": _NEXT_SPEED,
    "left": Change(partial(_with_speed, by=-1)),
    "g": Change(_with_game),
}
_HINTS = (KeyHint("Enter", "profile", "c-m"), BACK, KeyHint("t", "speed", "t"), KeyHint("g", "game", "g"))


def _from_lobby(display: Display) -> AnyCommand:
    """Return the command that opens the leaderboard of the game that is sought, or of one that is rated."""
    sought = display.world.seeking.games if display.world.seeking is not None else []
    return Open(Page("leaders", about=next(iter(_rated(display, sought)), A_RATED_GAME)))


def _top(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    named = rest.lower().split()
    speed = next((SPEEDS.index(each) for each in SPEEDS if each in named), 0)
    game = " ".join(word for word in named if word not in SPEEDS)
    return Open(Page("leaders", about=game_named(game) if game else A_RATED_GAME, time=speed))


LEADERS = Screen(
    name="leaders",
    title=_leaders_title,
    status=_status,
    rows=_leaders_rows,
    requests=_requests,
    replies=(LeaderboardReply,),
    refused=_refused,
    keys=_KEYS,
    hints=lambda display: list_hints(_HINTS, _leaders_rows(display, 0)),
    help=lambda display: [
        *LISTS_HELP,
        KeyHelp("t, left right", "Show another speed."),
        KeyHelp("g", "Show another game."),
        *LEAVING_HELP,
    ],
    entrance=Entrance("l", "leaderboard", "Open the leaderboard.", _from_lobby),
    words={"top": _top},
    usage="top GAME",
    heading=lambda display: [f"{_leaders_title(display)}.", *([f"{_status(display)}."] if _status(display) else [])],
)
