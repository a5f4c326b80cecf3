"""Show the start menu: servers (found, used before, or typed), and matches, rules and a puzzle at this keyboard."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from ttt_net.client import words
from ttt_net.client.address import DEFAULT_URL, Go, Place
from ttt_net.client.display import AnyCommand, Begin, Change, Command, Display, Entry, Open, Page, Pick, Step
from ttt_net.client.remembered import OPPONENTS, ORDERS, LocalChoices, read_names
from ttt_net.client.screens.screen import (
    BACK,
    CHOOSE,
    LEAVE,
    LEAVING_HELP,
    LISTS_HELP,
    Effect,
    KeyHelp,
    KeyHint,
    KeyMeaning,
    Row,
    Screen,
    cursor_of,
    list_hints,
    section,
)
from ttt_net.client.server_search import COMPUTER, TYPE, Destination, ServerList, explanation, read_place
from ttt_net.errors import ConfigurationError
from ttt_net.games.catalogue import NAMES
from ttt_net.text import clean

KEYBOARD = "At this keyboard"
"""The heading above entries that need no server."""
_GROUPS = {"found": "On this network", "used": "Used before", "keyboard": KEYBOARD, "or": "With friends"}
LOOKING = "Looking for servers on this network ..."
"""The status during the search."""
_NOTHING_FOUND = "No server here yet; ? explains why."
_MAX_NOTICE_CELLS = 160
OPEN_SETUP = Open(Page("setup"))
"""The row that opens the setup of a match at this keyboard."""
_BESIDES = [
    Row(("Another game, opponent or side",), "setup", OPEN_SETUP),
    Row(("Learn a game", "its rules, with an example"), "learn", Open(Page("learn"))),
    Row(("Puzzle of the day", "find the one good move"), "puzzle", Open(Page("puzzle"))),
    Row(("Guess the moves", "of a match of strong bots"), "guess", Open(Page("guess"))),
]
"""The entries at this keyboard other than matches."""


def servers_of(display: Display) -> ServerList:
    """Return the list of servers, which includes the choices for this keyboard."""
    assert display.servers is not None, "the screen is opened with a list"
    return display.servers


def with_choices(display: Display, choices: LocalChoices) -> Display:
    """Return the display with other choices for this keyboard."""
    return replace(display, servers=replace(servers_of(display), choices=choices))


def going(display: Display, *, place: Place) -> Effect:
    """Leave the menu for a place."""
    return replace(display, servers=replace(servers_of(display), place=place), is_leaving=True), ()


def row_of(each: Destination) -> Row:
    """Return the row of a destination."""
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
    """Return how well the computer plays while the cursor is on its row, which may be too narrow to say it."""
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
    """Go to the typed place; keep an invalid text for correction."""
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
    "c-i": OPEN_SETUP,
    "?": Change(_explained),
    "q": Command.LEAVE,
}


START = Screen(
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


Item = TypeVar("Item")
Turn = Callable[[LocalChoices, int], LocalChoices]
"""Returns the choices with one of them switched to its next or previous value."""


def _next(items: Sequence[Item], item: Item, by: int) -> Item:
    """Return the item a number of places further, cyclically."""
    return items[(items.index(item) + by) % len(items)] if item in items else items[0]


def _turned_watched(choices: LocalChoices, by: int, *, side: int) -> LocalChoices:
    watched = list(choices.watched)
    watched[side] = _next(tuple(OPPONENTS), watched[side], by)
    return replace(choices, watched=(watched[0], watched[1]))


_TURNS: dict[str, Turn] = {
    "game": lambda choices, by: choices.in_game(_next(NAMES, choices.game, by)),
    "opponent": lambda choices, by: replace(choices, strategy=_next(tuple(OPPONENTS), choices.strategy, by)),
    "strength": lambda choices, by: choices.at_level(choices.level + by),
    "order": lambda choices, by: replace(choices, order=_next(ORDERS, choices.order, by)),
    "x": partial(_turned_watched, side=0),
    "o": partial(_turned_watched, side=1),
}
"""The meaning of left and right on each row."""


def _turned(display: Display, *, key: str, by: int) -> Effect:
    turn = _TURNS.get(key)
    return (display, ()) if turn is None else (with_choices(display, turn(servers_of(display).choices, by)), ())


def _turned_here(display: Display, *, by: int) -> Effect:
    """Switch the choice at the cursor to its next or previous value."""
    rows = _setup_rows(display, 0)
    at = cursor_of(rows, display.page.row, display.page.place)
    return _turned(display, key=rows[at].key if at is not None else "", by=by)


def _told(strategy: str) -> str:
    """Return the description of a strategy and its name on the command line."""
    return f"{OPPONENTS[strategy]} ({strategy})"


def _setup_rows(display: Display, now_ms: int) -> list[Row]:
    servers = servers_of(display)
    chosen = servers.choices
    further = {key: Change(partial(_turned, key=key, by=1)) for key in _TURNS}
    matches = [row_of(each) for each in servers.destinations if each.group == "keyboard"]
    level = f"{chosen.strength}, {chosen.strength_in_words}"
    x, o = chosen.watched_names
    return [
        *section(
            "The match",
            [
                Row(("Game", chosen.title), "game", Open(Page("choose", row=f"game:{chosen.game}"))),
                Row(("Opponent", _told(chosen.strategy)), "opponent", further["opponent"]),
                Row(("Strength", level), "strength", further["strength"]),
                Row(("Side", chosen.order_in_words), "order", further["order"]),
                Row(("Two people", f"{chosen.names[0]} and {chosen.names[1]}"), "names", Begin(Entry.NAMES)),
                Row(("Bot X", f"{x}: {_told(chosen.watched[0])}"), "x", further["x"]),
                Row(("Bot O", f"{o}: {_told(chosen.watched[1])}"), "o", further["o"]),
            ],
        ),
        *section("Play", matches),
    ]


def _named(display: Display, typed: str) -> Effect:
    """Set the names of two people; keep an invalid text for correction."""
    try:
        names = read_names(typed)
    except ConfigurationError as error:
        return replace(display, notice=str(error), entry=Entry.NAMES, typed=typed), ()
    return with_choices(display, replace(servers_of(display).choices, names=names)), ()


_SETUP_KEYS: dict[str, KeyMeaning] = {
    "left": Change(partial(_turned_here, by=-1)),
    "right": Change(partial(_turned_here, by=1)),
}
_SETUP_HELP = (*LISTS_HELP, KeyHelp("left right", "Change the choice at the cursor."), *LEAVING_HELP)


def _chosen(display: Display, *, game: str) -> Effect:
    """Set the game, and close the list of games."""
    display = replace(display, pages=display.pages[:-1])
    return with_choices(display, servers_of(display).choices.in_game(game)), ()


def _typed_game(display: Display, typed: str) -> Effect:
    """Set the game by name; keep an unknown name for correction."""
    try:
        return _chosen(display, game=typed.strip().lower())
    except ConfigurationError as error:
        return replace(display, notice=str(error), entry=Entry.GAME, typed=typed), ()


def _game_rows(enter: Callable[[str], AnyCommand]) -> list[Row]:
    rows = []
    for number, name in enumerate(NAMES, start=1):
        title, rule = words.title_and_rule(name)
        rows.append(Row((str(number % 10) if number <= 10 else "", title, rule), f"game:{name}", enter(name)))
    return rows


def _choice(name: str) -> AnyCommand:
    return Change(partial(_chosen, game=name))


def _explanation(name: str) -> AnyCommand:
    return Open(Page("rules", about=name))


_ANOTHER = Row(("", "Another", "by its name, such as mnk:7x7,4 or connect4+swap"), "other", Begin(Entry.GAME))


def _digits(enter: Callable[[str], AnyCommand]) -> dict[str, KeyMeaning]:
    return {row.cells[0]: Pick(row.key) for row in _game_rows(enter)}


def _notice(display: Display) -> str:
    """Return the error of the typed text."""
    return words.notice(display)


SETUP = Screen(
    name="setup",
    title=lambda display: KEYBOARD,
    status=_notice,
    rows=_setup_rows,
    keys=_SETUP_KEYS,
    entered=_named,
    has_short_head=True,
    hints=lambda display: list_hints([CHOOSE, BACK, KeyHint("left right", "change")], _setup_rows(display, 0)),
    help=lambda display: list(_SETUP_HELP),
)
CHOOSE_GAME = Screen(
    name="choose",
    title=lambda display: "Choose a game",
    status=_notice,
    rows=lambda display, now_ms: [*_game_rows(_choice), _ANOTHER],
    keys=_digits(_choice),
    entered=_typed_game,
    has_short_head=True,
    hints=lambda display: list_hints([CHOOSE, BACK], _game_rows(_choice)),
)
LEARN = Screen(
    name="learn",
    title=lambda display: "Learn a game",
    status=lambda display: "",
    rows=lambda display, now_ms: _game_rows(_explanation),
    keys=_digits(_explanation),
    has_short_head=True,
    hints=lambda display: list_hints([KeyHint("Enter", "read", "c-m"), BACK], _game_rows(_explanation)),
)
