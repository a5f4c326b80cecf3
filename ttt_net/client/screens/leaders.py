"""Rank the best players at a game and speed."""

from dataclasses import replace
from functools import partial

from ttt_net.client import labels
from ttt_net.client.commands import AnyCommand, Change, More, Open
from ttt_net.client.display import Display
from ttt_net.client.pages import SPEEDS, Page
from ttt_net.client.screens.game_terms import A_RATED_GAME, game_named
from ttt_net.client.screens.screen import (
    BACK,
    LEAVING_HELP,
    LISTS_HELP,
    WAITING,
    Effect,
    Entrance,
    KeyHint,
    KeyMeaning,
    Meaning,
    Row,
    Screen,
    list_hints,
)
from ttt_net.games.catalogue import NAMES
from ttt_net.messages import Leader, LeaderboardReply, LeaderboardRequest, Request, SeekRequest


def _title(display: Display) -> str:
    page = display.page
    return f"The best at {labels.title_of(page.about)}, {SPEEDS[page.time]}"


def _status(display: Display) -> str:
    told = display.world.reply(LeaderboardReply)
    return f"Your rank: {told.you}" if told is not None and told.you is not None else ""


def _rows(display: Display, now_ms: int) -> list[Row]:
    """Return the best at a game and speed, and how to come to the other pages."""
    told = display.world.reply(LeaderboardReply)
    if told is None:
        return WAITING
    rows = [_leader(leader) for leader in told.leaders]
    if told.page < told.pages:
        further = LeaderboardRequest(0, game=told.game, speed=told.speed, page=told.page + 1)
        rows.append(
            Row(
                (f"Further down (page {told.page} of {told.pages})",),
                "further",
                More(Page("leaders", about=told.game, time=SPEEDS.index(told.speed)), further),
            )
        )
    return rows or [Row(("Nobody has a rating here yet: a rated match gives one.",))]


def _leader(leader: Leader) -> Row:
    player = leader.player
    games = f"{leader.games} game{'s' * (leader.games != 1)}"
    number = labels.rating(player.rating, is_provisional=player.provisional)
    cells = (f"{leader.rank}.", labels.label_of(player), number, games)
    return Row(cells, f"player:{player.name}", Open(Page("profile", about=player.name)))


def _requests(page: Page) -> tuple[Request, ...]:
    return (LeaderboardRequest(0, game=page.about, speed=SPEEDS[page.time]),)


def _refused(display: Display, request: Request) -> Display:
    """Show that nobody has a rating there."""
    if not isinstance(request, LeaderboardRequest):
        return display
    nobody = LeaderboardReply(request.game, request.speed, 1, 1, [], None)
    return replace(display, world=display.world.with_reply(nobody))


def _with_speed(display: Display, *, by: int) -> Effect:
    page = replace(display.page, time=(display.page.time + by) % len(SPEEDS))
    return display.with_page(page), _requests(page)


def _with_game(display: Display) -> Effect:
    at = NAMES.index(display.page.about) if display.page.about in NAMES else -1
    page = replace(display.page, about=NAMES[(at + 1) % len(NAMES)])
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
    """Return how to see the best at the game that was last sought."""
    games = display.world.seeking.games if display.world.seeking is not None else []
    return Open(Page("leaders", about=games[0] if games else A_RATED_GAME))


def _top(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    named = rest.lower().split()
    speed = next((SPEEDS.index(each) for each in SPEEDS if each in named), 0)
    game = " ".join(word for word in named if word not in SPEEDS)
    return Open(Page("leaders", about=game_named(game) if game else A_RATED_GAME, time=speed))


SCREEN = Screen(
    name="leaders",
    title=_title,
    status=_status,
    rows=_rows,
    requests=_requests,
    replies=(LeaderboardReply,),
    refused=_refused,
    keys=_KEYS,
    hints=lambda display: list_hints(_HINTS, _rows(display, 0)),
    help=lambda display: [*LISTS_HELP, "t left right another speed", "g            another game", *LEAVING_HELP],
    entrance=Entrance("l", "leaders", "the best", _from_lobby),
    words={"top": _top},
    usage="top GAME",
    heading=lambda display: [f"{_title(display)}.", *([f"{_status(display)}."] if _status(display) else [])],
)
