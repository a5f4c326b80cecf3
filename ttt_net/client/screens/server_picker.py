"""Choose a server: found, used before or typed; or play the computer here, or start a server."""

from dataclasses import replace
from functools import partial

from ttt_net.client.commands import AnyCommand, Begin, Change, Command, Step
from ttt_net.client.display import Display
from ttt_net.client.finding.address import DEFAULT_URL, Go, Place
from ttt_net.client.finding.server_list import (
    MAX_LEVEL,
    TYPE,
    Destination,
    ServerList,
    explanation,
    read_place,
)
from ttt_net.client.pages import Entry
from ttt_net.client.screens.screen import LEAVE, Effect, KeyHint, Row, Screen, section
from ttt_net.errors import ConfigurationError
from ttt_net.text import clean

_GROUPS = {"found": "On this network", "used": "Used before", "or": "Or"}
LOOKING = "Looking for servers on this network ..."
"""What is shown until something was found, or was not."""
_MAX_NOTICE_CELLS = 160


def _servers(display: Display) -> ServerList:
    assert display.servers is not None, "the screen is opened with a list"
    return display.servers


def _with(display: Display, servers: ServerList) -> Display:
    return replace(display, servers=servers)


def _status(display: Display) -> str:
    servers = _servers(display)
    return "" if servers.has_found or servers.has_looked or servers.is_explained else LOOKING


def _rows(display: Display, now_ms: int) -> list[Row]:
    servers = _servers(display)
    said = [clean(display.notice, _MAX_NOTICE_CELLS)] if display.notice else []
    if servers.is_explained or (servers.has_looked and not servers.has_found):
        said += explanation(servers)
    destinations = servers.destinations
    groups = [
        section(heading, [_row(each) for each in destinations if each.group == group])
        for group, heading in _GROUPS.items()
    ]
    return [
        *(Row((sentence,)) for sentence in said),
        *[Row(("",))] * bool(said),
        *(row for rows in groups for row in rows),
    ]


def _row(each: Destination) -> Row:
    if each.key == TYPE:
        return Row((each.name,), each.key, Begin(Entry.ADDRESS))
    place = each.does or Go(each.url or DEFAULT_URL)
    return Row((each.name, each.detail), each.key, Change(partial(_going, place=place)))


def _going(display: Display, *, place: Place) -> Effect:
    return replace(display, servers=replace(_servers(display), place=place), is_leaving=True), ()


def _with_level(display: Display, *, by: int) -> Effect:
    """Choose a stronger or weaker computer."""
    servers = _servers(display)
    servers = replace(servers, level=min(max(1, servers.level + by), MAX_LEVEL))
    return _with(display, servers).with_page(replace(display.page, row="computer")), ()


def _explained(display: Display) -> Effect:
    servers = _servers(display)
    return _with(display, replace(servers, is_explained=not servers.is_explained)), ()


def _act(display: Display, command: AnyCommand) -> Effect | None:
    if command is Command.BACK:
        return _with(display, replace(_servers(display), is_explained=False)), ()
    return None


def _entered(display: Display, typed: str) -> Effect:
    """Go where the typed text leads; what leads nowhere stays to be mended."""
    try:
        return _going(display, place=read_place(_servers(display), typed))
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
    "?": Change(_explained),
    "q": Command.LEAVE,
}


SCREEN = Screen(
    name="servers",
    title=lambda display: "ttt_net",
    status=_status,
    rows=_rows,
    prompt=lambda display, now_ms: "",
    command=lambda key, display: _KEYS.get(key),
    act=_act,
    entry=Entry.ADDRESS,
    entered=_entered,
    has_short_head=True,
    hints=lambda display: [
        KeyHint("arrows Enter", "choose"),
        KeyHint("type", "an address"),
        KeyHint("?", "more", "?"),
        LEAVE,
    ],
)
