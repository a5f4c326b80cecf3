"""The rows of every page that is a list: what stands on it, in order, and what each row stands for."""

from collections.abc import Callable

from ttt_net.client import page_words, words
from ttt_net.client.commands import Begin, Send
from ttt_net.client.display import Display
from ttt_net.client.pages import SPEEDS, TIMES, Entry, Kind, Page, Purpose
from ttt_net.client.rows.lobby import lobby_rows
from ttt_net.client.rows.people import history_rows, leader_rows, profile_rows
from ttt_net.client.rows.row import Row
from ttt_net.messages import (
    ChallengeRequest,
    HistoryRequest,
    InviteRequest,
    LeaderboardRequest,
    LobbyRequest,
    ProfileRequest,
    ReplayRequest,
    Request,
    SeekRequest,
)


def rows_of(display: Display, now_ms: int) -> list[Row]:
    """Return the rows of the page that is seen; none for a page that is no list."""
    rows = _ROWS.get(display.page.kind)
    return rows(display, now_ms) if rows is not None else []


def request_for(page: Page, game: str) -> Request:
    """Return what choosing that game on the page asks for."""
    time = TIMES[page.time]
    match page.purpose:
        case Purpose.PLAY:
            return SeekRequest(0, [game], time, page.opponents, rated=page.is_rated)
        case Purpose.CHALLENGE:
            return ChallengeRequest(0, name=page.about, game=game, time=time, rated=page.is_rated)
        case Purpose.INVITE:
            return InviteRequest(0, game=game, time=time)


def asks(page: Page) -> tuple[Request, ...]:
    """Return what a page has to ask for when it is opened."""
    match page.kind:
        case Kind.LOBBY:
            return (LobbyRequest(0, on=True),)
        case Kind.PROFILE:
            return (ProfileRequest(0, name=page.about or None),)
        case Kind.HISTORY:
            return (HistoryRequest(0, name=page.about or None),)
        case Kind.LEADERS:
            return (LeaderboardRequest(0, game=page.about, speed=SPEEDS[page.time]),)
        case Kind.REPLAY:
            return (ReplayRequest(0, match=page.about),)
        case _:
            return ()


def _games(display: Display, now_ms: int) -> list[Row]:
    """Return the games to choose from, and last the way to name another one."""
    from ttt_net.games.catalogue import NAMES  # no other page needs the rules' own list

    page = display.page
    rows = []
    for number, name in enumerate(page.games or NAMES, start=1):
        digit = str(number % 10) if number <= 10 else ""
        title, rule = page_words.title_and_rule(name)
        rows.append(Row((digit, title, rule), f"game:{name}", Send(request_for(page, name))))
    other = Row(("", "Another", "by its name, such as mnk:7x7,4 or connect4+swap"), "other", Begin(Entry.GAME))
    return [*rows, other]


def _invitation(display: Display, now_ms: int) -> list[Row]:
    invitation = display.world.lobby.invitation
    if invitation is None:
        return [Row(("The invitation has been used, or was taken back.",))]
    wanted = page_words.terms(invitation.game, invitation.time, is_rated=False)
    return [
        *(Row((line,)) for line in page_words.large_code(invitation.code)),
        Row(("A friend types:",)),
        Row((f"  {words.join_command(display, invitation.code)}",)),
        Row((f"or opens {page_words.join_link(display, invitation.code)}",)),
        Row(("or presses c in the lobby and types the code.",)),
        Row(("",)),
        Row((f"It is for one private match: {wanted}.",)),
    ]


_ROWS: dict[Kind, Callable[[Display, int], list[Row]]] = {
    Kind.LOBBY: lobby_rows,
    Kind.GAMES: _games,
    Kind.INVITATION: _invitation,
    Kind.PROFILE: profile_rows,
    Kind.HISTORY: history_rows,
    Kind.LEADERS: leader_rows,
}
