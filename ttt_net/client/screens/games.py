"""Choose a game, clock and kind of match: to find an opponent, challenge a player or invite a friend by a code."""

from dataclasses import replace
from functools import partial

from msgspec import structs

from ttt_net.client import words
from ttt_net.client.display import TIMES, AnyCommand, Begin, Change, Command, Display, Entry, Page, Pick, Purpose, Send
from ttt_net.client.screens.offers import MAX_NAME_CELLS, by_default, game_of, in_terms
from ttt_net.client.screens.screen import (
    BACK,
    CHOOSE,
    HELP,
    LEAVE,
    LEAVING_HELP,
    LISTS_HELP,
    Effect,
    KeyHint,
    KeyMeaning,
    ListQuery,
    Meaning,
    Row,
    Screen,
    default_status,
    list_hints,
)
from ttt_net.games.catalogue import NAMES
from ttt_net.messages import MAX_NAME_CELLS as MAX_SHOWN_NAME_CELLS
from ttt_net.messages import ChallengeRequest, InviteRequest, PlayerList, Request, SeekRequest
from ttt_net.text import clean


def _invitation_status(display: Display) -> str:
    return default_status(display) if display.world.lobby.invitation is None else "Waiting for your friend ..."


def _invitation_rows(display: Display, now_ms: int) -> list[Row]:
    invitation = display.world.lobby.invitation
    if invitation is None:
        return [Row(("The invitation has been used, or was taken back.",))]
    wanted = words.terms(invitation.game, invitation.time, is_rated=False)
    return [
        *(Row((line,)) for line in _large_code(invitation.code)),
        Row(("A friend types:",)),
        Row((f"  {words.join_command(display, invitation.code)}",)),
        Row((f"or opens {words.join_link(display, invitation.code)}",)),
        Row(("or presses c in the lobby and types the code.",)),
        Row(("",)),
        Row((f"It is for one private match: {wanted}.",)),
    ]


def _large_code(code: str) -> list[str]:
    """Return an invitation code to be read out from across the room."""
    letters = clean(code, words.MAX_CODE)
    rule = "+---" * len(letters) + "+"
    return [rule, "".join(f"| {letter} " for letter in letters) + "|", rule]


INVITATION = Screen(
    name="invitation",
    title=lambda display: "Invitation",
    status=_invitation_status,
    rows=_invitation_rows,
    keys={"y": Command.COPY},
    hints=lambda display: [KeyHint("y", "copy", "y"), BACK, LEAVE, HELP],
    help=lambda display: ["y            copy the line to send", *LEAVING_HELP],
)


_RATED = KeyHint("r", "rated", "r")
_KINDS = {None: "yes, or casual", True: "yes", False: "no"}
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
    kind = "" if page.purpose is Purpose.INVITE else f"   Rated: {_KINDS[page.is_rated]}"
    return f"Clock: {words.clock_name(time) if time is not None else 'none'}{kind}"


def _rows(display: Display, now_ms: int) -> list[Row]:
    """Return the games to choose from, and last the way to name another one."""
    page = display.page
    rows = []
    for number, name in enumerate(page.games or NAMES, start=1):
        digit = str(number % 10) if number <= 10 else ""
        title, rule = words.title_and_rule(name)
        rows.append(Row((digit, title, rule), f"game:{name}", Send(request_for(page, name))))
    other = Row(("", "Another", "by its name, such as mnk:7x7,4 or connect4+swap"), "other", Begin(Entry.GAME))
    return [*rows, other]


def request_for(page: Page, game: str) -> Request:
    """Return what choosing that game on the page asks for."""
    time = TIMES[page.time]
    match page.purpose:
        case Purpose.PLAY:
            seek = SeekRequest(0, [game], time, page.opponents, rated=bool(page.is_rated))
            return by_default(seek) if page.is_rated is None else seek
        case Purpose.CHALLENGE:
            rated, or_casual = page.is_rated is not False, page.is_rated is None
            return ChallengeRequest(0, name=page.about, game=game, time=time, rated=rated, or_casual=or_casual)
        case Purpose.INVITE:
            return InviteRequest(0, game=game, time=time)


def _prepared(page: Page, seek: SeekRequest) -> Page:
    """Choose what was asked for the last time, but for a game that the page comes with."""
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
"""The command that chooses the next clock."""
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
        return Send(by_default(meant.request))
    return meant


def _challenge(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    name, terms = _name_and_terms(display, rest)
    if not name:
        return "Whom? Type challenge and a name; who tells who is here."
    challenge = ChallengeRequest(
        0, clean(name, MAX_NAME_CELLS), game_of(wanted), wanted.time, rated=True, or_casual=True
    )
    return in_terms(challenge, terms)


def _name_and_terms(display: Display, rest: str) -> tuple[str, str]:
    """Return the name that is typed first, and the rest: in quotes, or of somebody who is here, it may have spaces."""
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
        "1-9 0 Enter  choose a game; or click",
        "t left right another clock",
        "r            rated, or not, or as they like",
        *LEAVING_HELP,
    ],
    words={"play": _play, "games": _listed, "challenge": _challenge, "invite": _invite},
    heading=_heading,
)
