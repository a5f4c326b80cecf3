"""Show who a player is, and what can be done with them."""

from collections.abc import Iterable, Sequence

from ttt_net.client import labels
from ttt_net.client.commands import Open, Send
from ttt_net.client.display import Display
from ttt_net.client.pages import SPEEDS, Page, Purpose
from ttt_net.client.progress import Achievements
from ttt_net.client.screens.game_terms import page_about
from ttt_net.client.screens.lobby_offers import live_match, live_of_others, own_match
from ttt_net.client.screens.screen import (
    BACK,
    CHOOSE,
    WAITING,
    Row,
    Screen,
    day,
    list_hints,
    page_before,
    section,
)
from ttt_net.clock import speed as speed_of
from ttt_net.messages import (
    HistoryReply,
    HistoryRequest,
    ProfileReply,
    ProfileRequest,
    RatingInfo,
    Request,
    ServerMessage,
    WatchRequest,
)
from ttt_net.text import counted

_BARS = "▁▂▃▄▅▆▇█"
_MOST_PAST = 20
"""Matches whose ratings are drawn."""


def _title(display: Display) -> str:
    told = display.world.reply(ProfileReply)
    return labels.full_label(told.player) if told is not None else "Profile"


def _rows(display: Display, now_ms: int) -> list[Row]:
    """Return who a player is, and what can be done with them."""
    told = display.world.reply(ProfileReply)
    if told is None:
        return WAITING
    facts = [f"{'Here now' if told.online else 'Not here now'}, known here since {day(told.since_ms)}."]
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
        *_deeds(told),
        *section("Ratings", [_rating(each, _past_ratings(display, told, each)) for each in told.ratings]),
        *section("Playing now", live),
    ]


def _achieved(achieved: Achievements) -> Iterable[str]:
    """Yield the puzzles that were solved and the levels of bots that were beaten, as sentences."""
    if achieved.solved:
        days = achieved.streak(achieved.solved[-1])
        yield f"Puzzles: {counted(len(achieved.solved), 'day')} solved, {days} in a row up to {achieved.solved[-1]}."
    if achieved.beaten:
        levels = ", ".join(f"{labels.title_of(game)} {level}" for game, level in achieved.beaten.items())
        yield f"Levels beaten: {levels}."


def _played_now(display: Display, name: str) -> Row:
    """Return the way to a match: back to one of ours, or to look on; all that is known of some is the id."""
    if display.world.has_seat(name):
        return own_match(display.world.matches[name])
    known = next((match for match in live_of_others(display) if match.match == name), None)
    return (
        live_match(known)
        if known is not None
        else Row((name, "watch it"), f"live:{name}", Send(WatchRequest(0, match=name)))
    )


def _deeds(told: ProfileReply) -> Iterable[Row]:
    name = told.player.name
    yield Row(("Matches played",), "history", Open(Page("history", about=name)))
    if told.against is not None and told.online:
        yield Row(("Challenge",), "challenge", Open(Page("games", about=name, purpose=Purpose.CHALLENGE)))
    if told.against is not None:
        yield Row(("Report",), "report", Open(Page("report", about=name)))


def _past_ratings(display: Display, told: ProfileReply, rating: RatingInfo) -> list[int]:
    """Return what the rating was before each of the newest rated matches, the oldest first, and what it is now."""
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


def sparkline(numbers: Sequence[int]) -> str:
    """Return numbers as bars beside one another, the least and the most of them a whole bar apart."""
    least, most = min(numbers, default=0), max(numbers, default=0)
    return "".join(_BARS[(number - least) * (len(_BARS) - 1) // max(1, most - least)] for number in numbers)


def history_wanted(display: Display, reply: ServerMessage) -> tuple[Request, ...]:
    """Return the question for the matches by which a rating has changed, once a profile is there that has one."""
    has_rating = isinstance(reply, ProfileReply) and bool(reply.ratings)
    return (HistoryRequest(0, name=display.page.about or None),) if has_rating else ()


def _rating(rating: RatingInfo, past: Sequence[int]) -> Row:
    number = labels.rating(rating.rating, is_provisional=rating.provisional)
    games = f"{rating.games} game{'s' * (rating.games != 1)}"
    page = Page("leaders", about=rating.game, time=SPEEDS.index(rating.speed))
    cells = (labels.title_of(rating.game), rating.speed, number, games, *filter(None, [sparkline(past)]))
    return Row(cells, f"rating:{rating.game}:{rating.speed}", Open(page))


SCREEN = Screen(
    name="profile",
    title=_title,
    rows=_rows,
    requests=lambda page: (ProfileRequest(0, name=page.about or None),),
    replies=(ProfileReply,),
    asks_next=history_wanted,
    refused=page_before,
    hints=lambda display: list_hints([CHOOSE, BACK], _rows(display, 0)),
    words={"profile": page_about("profile")},
    usage="profile NAME",
)
