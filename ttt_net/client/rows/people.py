"""The rows of the pages about people: a profile, the matches that somebody has played, the ratings of a game."""

from collections.abc import Iterable
from datetime import UTC, datetime

from ttt_net.client import page_words, words
from ttt_net.client.commands import Open, Reopen, Send
from ttt_net.client.display import Display
from ttt_net.client.pages import SPEEDS, Kind, Page, Purpose
from ttt_net.client.rows.lobby import live_match, live_of_others, own_match
from ttt_net.client.rows.row import Row, section
from ttt_net.messages import (
    FinishedMatch,
    HistoryRequest,
    Leader,
    LeaderboardRequest,
    ProfileReply,
    RatingInfo,
    WatchRequest,
)

_WAIT = [Row(("The server is looking it up ...",))]


def profile_rows(display: Display, now_ms: int) -> list[Row]:
    """Return who a player is, and what can be done with him."""
    told = display.world.lobby.profile
    if told is None:
        return _WAIT
    facts = [f"{'Here now' if told.online else 'Not here now'}, known here since {_day(told.since_ms)}."]
    has_played = told.won + told.drawn + told.lost > 0
    facts.append(f"{told.won} won, {told.drawn} drawn, {told.lost} lost." if has_played else "No finished match yet.")
    against = told.against
    if against is not None and against.won + against.drawn + against.lost > 0:
        facts.append(f"Against you: you won {against.won}, drew {against.drawn}, lost {against.lost}.")
    live = [_played_now(display, name) for name in told.live]
    return [
        *(Row((fact,)) for fact in facts),
        Row(("",)),
        *_deeds(told),
        *section("Ratings", [_rating(each) for each in told.ratings]),
        *section("Playing now", live),
    ]


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
    yield Row(("Matches played",), "history", Open(Page(Kind.HISTORY, about=name)))
    if told.against is not None and told.online:
        yield Row(("Challenge",), "challenge", Open(Page(Kind.GAMES, about=name, purpose=Purpose.CHALLENGE)))


def _rating(rating: RatingInfo) -> Row:
    number = words.rating(rating.rating, is_provisional=rating.provisional)
    games = f"{rating.games} game{'s' * (rating.games != 1)}"
    page = Page(Kind.LEADERS, about=rating.game, time=SPEEDS.index(rating.speed))
    cells = (page_words.title_of(rating.game), rating.speed, number, games)
    return Row(cells, f"rating:{rating.game}:{rating.speed}", Open(page))


def history_rows(display: Display, now_ms: int) -> list[Row]:
    """Return the finished matches of a player, and how to come to the older ones."""
    told = display.world.lobby.history
    if told is None:
        return _WAIT
    rows = [_finished(match, told.player.name) for match in told.matches]
    if told.before is not None:
        older = HistoryRequest(0, name=told.player.name, before=told.before)
        rows.append(Row(("Older ones",), "older", Send(older)))
    return rows or [Row(("No match has ended yet.",))]


def _finished(match: FinishedMatch, name: str) -> Row:
    side = 0 if match.players[0].name == name else 1
    if match.winner is None:
        result = "called off" if match.reason == "abort" else "drawn"
    else:
        result = "won" if match.winner == side else "lost"
    kind = ", ".join(["rated"] * match.rated + ["private"] * match.private)
    against = f"against {words.full_label(match.players[1 - side])}"
    cells = (_day(match.at_ms), result, page_words.title_of(match.game), against, kind)
    return Row(cells, f"match:{match.match}", Reopen(match.match))


def leader_rows(display: Display, now_ms: int) -> list[Row]:
    """Return the best at a game and speed, and how to come to the other pages."""
    told = display.world.lobby.leaders
    if told is None:
        return _WAIT
    rows = [_leader(leader) for leader in told.leaders]
    if told.page < told.pages:
        further = LeaderboardRequest(0, game=told.game, speed=told.speed, page=told.page + 1)
        rows.append(Row((f"Further down (page {told.page} of {told.pages})",), "further", Send(further)))
    return rows or [Row(("Nobody has a rating here yet: a rated match gives one.",))]


def _leader(leader: Leader) -> Row:
    player = leader.player
    games = f"{leader.games} game{'s' * (leader.games != 1)}"
    number = words.rating(player.rating, is_provisional=player.provisional)
    cells = (f"{leader.rank}.", words.label_of(player), number, games)
    return Row(cells, f"player:{player.name}", Open(Page(Kind.PROFILE, about=player.name)))


def _day(at_ms: int) -> str:
    """Return the day by UTC; what is no time at all is a dash."""
    try:
        return datetime.fromtimestamp(at_ms / 1000, UTC).date().isoformat()
    except (OverflowError, OSError, ValueError):
        return "-"
