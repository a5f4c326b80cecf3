"""Show the start menu: servers found, used before or typed; play, rules and a puzzle at this keyboard."""

from dataclasses import replace
from functools import partial

from ttt_net.client.commands import AnyCommand, Begin, Change, Command, Open, Step
from ttt_net.client.display import Display
from ttt_net.client.finding.address import DEFAULT_URL, Go, Place
from ttt_net.client.finding.local_choices import LocalChoices
from ttt_net.client.finding.server_list import (
    COMPUTER,
    TYPE,
    Destination,
    ServerList,
    explanation,
    read_place,
)
from ttt_net.client.pages import Entry, Page
from ttt_net.client.screens.screen import LEAVE, Effect, KeyHint, Row, Screen, cursor_of, section
from ttt_net.errors import ConfigurationError
from ttt_net.text import clean

KEYBOARD = "At this keyboard"
"""The heading above what needs no server."""
_GROUPS = {"found": "On this network", "used": "Used before", "keyboard": KEYBOARD, "or": "With friends"}
LOOKING = "Looking for servers on this network ..."
"""What is shown until something was found, or was not."""
_NOTHING_FOUND = "No server here yet; ? tells why."
_MAX_NOTICE_CELLS = 160
SETUP = Open(Page("setup"))
"""Opens what is played at this keyboard."""
_BESIDES = [
    Row(("Another game, opponent or side",), "setup", SETUP),
    Row(("Learn a game", "its rules, with an example"), "learn", Open(Page("learn"))),
    Row(("Puzzle of the day", "find the one good move"), "puzzle", Open(Page("puzzle"))),
]
"""What stands at this keyboard besides the matches."""


def servers_of(display: Display) -> ServerList:
    """Return the servers, and what was chosen here."""
    assert display.servers is not None, "the screen is opened with a list"
    return display.servers


def with_choices(display: Display, choices: LocalChoices) -> Display:
    """Return the display after something was chosen to be played here."""
    return replace(display, servers=replace(servers_of(display), choices=choices))


def going(display: Display, *, place: Place) -> Effect:
    """Go there."""
    return replace(display, servers=replace(servers_of(display), place=place), is_leaving=True), ()


def row_of(each: Destination) -> Row:
    """Return the row of a destination; choosing it leads there."""
    if each.key == TYPE:
        return Row((each.name,), each.key, Begin(Entry.ADDRESS))
    place = each.does or Go(each.url or DEFAULT_URL)
    return Row((each.name, each.detail), each.key, Change(partial(going, place=place)))


def _with(display: Display, servers: ServerList) -> Display:
    return replace(display, servers=servers)


def _status(display: Display) -> str:
    servers = servers_of(display)
    if servers.has_found or servers.is_explained:
        return ""
    return _NOTHING_FOUND if servers.has_looked else LOOKING


def _rows(display: Display, now_ms: int) -> list[Row]:
    servers = servers_of(display)
    said = [clean(display.notice, _MAX_NOTICE_CELLS)] if display.notice else []
    if servers.is_explained:
        said += [*explanation(servers), "Tab changes what is played here, left and right how well the computer plays."]
    destinations = servers.destinations
    groups = [
        section(
            heading,
            [
                *(row_of(each) for each in destinations if each.group == group),
                *_BESIDES * (group == "keyboard"),
            ],
        )
        for group, heading in _GROUPS.items()
    ]
    return [
        *(Row((sentence,)) for sentence in said),
        *[Row(("",))] * bool(said),
        *(row for rows in groups for row in rows),
    ]


def _with_level(display: Display, *, by: int) -> Effect:
    """Choose a stronger or weaker computer."""
    choices = servers_of(display).choices
    display = with_choices(display, choices.at_level(choices.level + by))
    return display.with_page(replace(display.page, row=COMPUTER)), ()


def _prompt(display: Display, now_ms: int) -> str:
    """Return how well the computer plays, while its row is the one that is chosen: a narrow row has no room for it."""
    servers = servers_of(display)
    rows = _rows(display, 0)
    at = cursor_of(rows, display.page.row, display.page.place)
    if at is None or rows[at].key != COMPUTER:
        return ""
    choices = servers.choices
    return f"Level {choices.level}, {choices.strength_in_words}; left and right change it."


def _explained(display: Display) -> Effect:
    servers = servers_of(display)
    return _with(display, replace(servers, is_explained=not servers.is_explained)), ()


def _act(display: Display, command: AnyCommand) -> Effect | None:
    if command is Command.BACK:
        return _with(display, replace(servers_of(display), is_explained=False)), ()
    return None


def _entered(display: Display, typed: str) -> Effect:
    """Go where the typed text leads; what leads nowhere stays to be mended."""
    try:
        return going(display, place=read_place(servers_of(display), typed))
    except ConfigurationError as error:
        return replace(display, notice=str(error), entry=Entry.ADDRESS, typed=typed), ()


_FAR, _ALL = 10, 1000
_KEYS: dict[str, AnyCommand] = {
    "up": Command.UP,
    "down": Command.DOWN,
    "pageup": Step(-_FAR),
    "pagedown": Step(_FAR),
    "home": Step(-_ALL),
    "end": Step(_ALL),
    "left": Change(partial(_with_level, by=-1)),
    "right": Change(partial(_with_level, by=1)),
    "c-i": SETUP,
    "?": Change(_explained),
    "q": Command.LEAVE,
}


SCREEN = Screen(
    name="start",
    title=lambda display: "ttt_net",
    status=_status,
    rows=_rows,
    prompt=_prompt,
    command=lambda key, display: _KEYS.get(key),
    act=_act,
    entry=Entry.ADDRESS,
    entered=_entered,
    has_short_head=True,
    hints=lambda display: [
        KeyHint("arrows Enter", "choose"),
        KeyHint("Tab", "change the game", "c-i"),
        KeyHint("type", "an address"),
        KeyHint("?", "more", "?"),
        LEAVE,
    ],
)
