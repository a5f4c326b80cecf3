"""Choose a match at this keyboard: game, opponent, strength, side, names; and a game to read the rules of."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from ttt_net.client import labels, words
from ttt_net.client.commands import AnyCommand, Begin, Change, Open, Pick
from ttt_net.client.display import Display
from ttt_net.client.finding.local_choices import OPPONENTS, ORDERS, LocalChoices, read_names
from ttt_net.client.pages import Entry, Page
from ttt_net.client.screens.screen import (
    BACK,
    CHOOSE,
    LEAVING_HELP,
    LISTS_HELP,
    Effect,
    KeyHint,
    KeyMeaning,
    Row,
    Screen,
    cursor_of,
    list_hints,
    section,
)
from ttt_net.client.screens.start_menu import KEYBOARD, row_of, servers_of, with_choices
from ttt_net.errors import ConfigurationError
from ttt_net.games.catalogue import NAMES

Item = TypeVar("Item")
Turn = Callable[[LocalChoices, int], LocalChoices]
"""What comes of a choice that is turned to the next one, or the one before."""


def _next(items: Sequence[Item], item: Item, by: int) -> Item:
    """Return the item so many places further, round and round."""
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
"""What left and right do on each row."""


def _turned(display: Display, *, key: str, by: int) -> Effect:
    turn = _TURNS.get(key)
    return (display, ()) if turn is None else (with_choices(display, turn(servers_of(display).choices, by)), ())


def _turned_here(display: Display, *, by: int) -> Effect:
    """Turn the choice that the cursor is on."""
    rows = _setup_rows(display, 0)
    at = cursor_of(rows, display.page.row, display.page.place)
    return _turned(display, key=rows[at].key if at is not None else "", by=by)


def _told(strategy: str) -> str:
    """Return what a strategy does, and its name, which the command line knows."""
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
            "What is played",
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
    """Take the names of two people; any other text stays to be mended."""
    try:
        names = read_names(typed)
    except ConfigurationError as error:
        return replace(display, notice=str(error), entry=Entry.NAMES, typed=typed), ()
    return with_choices(display, replace(servers_of(display).choices, names=names)), ()


_SETUP_KEYS: dict[str, KeyMeaning] = {
    "left": Change(partial(_turned_here, by=-1)),
    "right": Change(partial(_turned_here, by=1)),
}
_SETUP_HELP = (*LISTS_HELP, "left right   the one before, the next", *LEAVING_HELP)


def _chosen(display: Display, *, game: str) -> Effect:
    """Take the game, and close the list of games."""
    display = replace(display, pages=display.pages[:-1])
    return with_choices(display, servers_of(display).choices.in_game(game)), ()


def _typed_game(display: Display, typed: str) -> Effect:
    """Take a game by its name; any other text stays to be mended."""
    try:
        return _chosen(display, game=typed.strip().lower())
    except ConfigurationError as error:
        return replace(display, notice=str(error), entry=Entry.GAME, typed=typed), ()


def _game_rows(enter: Callable[[str], AnyCommand]) -> list[Row]:
    rows = []
    for number, name in enumerate(NAMES, start=1):
        title, rule = labels.title_and_rule(name)
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
    """Return the fault of the typed text."""
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
