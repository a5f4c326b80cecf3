"""Declare the parts of a screen, so that a terminal, plain lines and a screen reader can render every screen."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from ttt_net.client import words
from ttt_net.client.display import AnyCommand, Change, Command, Display, Entry, Page, Step
from ttt_net.client.world import LinkState
from ttt_net.messages import Request, SeekRequest, ServerMessage, Snapshot

Effect = tuple[Display, tuple[Request, ...]]
"""The display after a command, and the requests to send."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of columns, identified by its key; `enter` is its command.

    A row without a command is text: a heading or a sentence.
    """

    cells: tuple[str, ...]
    key: str = ""
    enter: AnyCommand | None = None
    is_heading: bool = False


@dataclass(frozen=True, slots=True)
class KeyHint:
    """A key and its current meaning; a click on it presses `press`, if it is one key."""

    key: str
    label: str
    press: str = ""

    @property
    def text(self) -> str:
        """The words on the screen."""
        return f"{self.key} {self.label}".strip()


@dataclass(frozen=True, slots=True)
class Entrance:
    """The lobby's key that opens a screen, its label in hints, its sentence on the page of keys, its command."""

    key: str
    label: str
    help: str
    command: Callable[[Display], AnyCommand]


@dataclass(frozen=True, slots=True)
class ListQuery:
    """A typed request for a list: the rows of a page with keys of these kinds (empty: all), or only its first row.

    A word of the row must begin with `text`. `seek` gives the terms for bots, if they differ from the last seek.
    `otherwise` is printed for an empty list, `hint` after the list.
    """

    page: Page
    kinds: tuple[str, ...] = ()
    text: str = ""
    seek: SeekRequest | None = None
    is_first: bool = False
    otherwise: str = ""
    hint: str = "Type a number to choose."


Meaning = AnyCommand | ListQuery | str | None
"""The meaning of a typed line: a command, a list, a sentence that says why it is impossible now, or None."""
Word = Callable[[Display, SeekRequest, str], Meaning]
"""Returns the meaning of a typed word, given the last seek and the rest of the line."""
KeyMeaning = AnyCommand | Callable[[Display], AnyCommand | None]
"""A command, or a function that finds it if it depends on the display."""


def _nothing(display: Display) -> str:
    return ""


def _no_rows(display: Display, now_ms: int) -> list[Row]:
    return []


def _no_requests(page: Page) -> tuple[Request, ...]:
    return ()


def _as_it_is(display: Display) -> Display:
    return display


def _as_opened(page: Page, seek: SeekRequest) -> Page:
    return page


def _unmoved(display: Display, request: Request) -> Display:
    return display


def _not_here(display: Display, command: AnyCommand) -> Effect | None:
    return None


def _not_taken(display: Display, typed: str) -> Effect:
    return display, ()


def default_status(display: Display) -> str:
    """Return the open seek in words, or that we are connecting."""
    if display.world.seeking is not None:
        return words.sought(display.world.seeking)
    is_connecting = display.world.link is LinkState.CONNECTING
    return f"Connecting to {display.world.address} ..." if is_connecting else ""


def default_prompt(display: Display, now_ms: int) -> str:
    """Return the latest notice, and the countdown to a restart."""
    return " ".join(filter(None, [words.notice(display), words.restart(display.world, now_ms)]))


def page_before(display: Display, request: Request) -> Display:
    """Return the display after closing a page that has nothing to show."""
    return replace(display, pages=display.pages[:-1]) if len(display.pages) > 1 else display


WAITING = [Row(("The server is looking it up ...",))]
"""The rows of a list that has not arrived yet."""
LEAVE, HELP = KeyHint("q", "leave", "q"), KeyHint("?", "keys", "?")
RULES = KeyHint("?", "rules", "?")
BACK, CHOOSE = KeyHint("Esc", "back", "escape"), KeyHint("Enter", "choose", "c-m")


class KeyHelp(NamedTuple):
    """One line of the page of keys: the keys, and what they do as a sentence."""

    keys: str
    does: str


LISTS_HELP = (
    KeyHelp("arrows j k", "Move. PgUp and PgDn move ten rows."),
    KeyHelp("Tab", "Go to the next section."),
    KeyHelp("Enter, click", "Choose the row."),
)
LEAVING_HELP = (
    KeyHelp("Esc", "Go back."),
    KeyHelp("q, Ctrl-C", "Leave."),
    KeyHelp("Ctrl-Z", "Suspend the client until fg."),
)
BOARD_HELP = KeyHelp("arrows hjkl", "Move the cursor.")


@dataclass(frozen=True, slots=True)
class Screen:
    """One screen, as functions of the display; all of them are pure."""

    name: str
    """The name of the screen in pages and in the registry."""
    title: Callable[[Display], str] = _nothing
    subtitle: Callable[[Display], str] = _nothing
    """The text after the title, if there is room."""
    status: Callable[[Display], str] = default_status
    """One sentence under the title."""
    rows: Callable[[Display, int], list[Row]] = _no_rows
    lines: Callable[[Display, int], list[str]] | None = None
    """Lines to show instead of rows, for a number of columns, if the screen lays them out itself."""
    pictured: Callable[[Display], tuple[Snapshot, str] | None] = lambda display: None
    """The match whose board is drawn beside these lines, or below their first paragraph, and its caption."""
    prompt: Callable[[Display, int], str] = default_prompt
    """The line above the keys unless the player is typing or answering a question."""
    footer: Callable[[Display, int], list[str]] = lambda display, width: []
    """Lines below the rows, if there is room, or instead of them."""
    chart: Callable[[Display], tuple[str, Sequence[int]]] = lambda display: ("", ())
    """A heading, and numbers to draw as bars below the rows, if there is room."""
    requests: Callable[[Page], tuple[Request, ...]] = _no_requests
    """The requests to send when the screen opens."""
    replies: tuple[type[ServerMessage], ...] = ()
    """The types of messages that it shows; opening the screen forgets them, and lines mode waits for them."""
    unlisted: tuple[Request, ...] = ()
    """The requests to send after printing it in lines mode, where nothing is updated."""
    asks_next: Callable[[Display, ServerMessage], tuple[Request, ...]] = lambda display, reply: ()
    """Further requests to send after a reply."""
    prepared: Callable[[Page, SeekRequest], Page] = _as_opened
    """The initial page, given the last seek."""
    refused: Callable[[Display, Request], Display] = _unmoved
    """The display after the server rejected one of its requests."""
    seen: Callable[[Display], Display] = _as_it_is
    """The display to draw instead of the real one."""
    match: Callable[[Display], Snapshot | None] = lambda display: None
    """The match whose board is drawn instead of rows."""
    keys: Mapping[str, KeyMeaning] = field(default_factory=lambda: MappingProxyType({}))
    """Its keys in addition to those of every list; letters are in lower case."""
    command: Callable[[str, Display], AnyCommand | None] | None = None
    """Returns the command of a key, and replaces `keys`."""
    act: Callable[[Display, AnyCommand], Effect | None] = _not_here
    """Returns the effect of a command with a special meaning here; None for others."""
    entry: Entry | None = None
    """The kind of text that every other printable key begins."""
    entered: Callable[[Display, str], Effect] = _not_taken
    """Returns the effect of a typed text."""
    has_short_head: bool = False
    """Whether its title and status use as few lines as possible."""
    is_form: bool = False
    """Whether it closes after a choice."""
    is_in_parts: bool = False
    """Whether its sections are different tables, with columns of their own."""
    hints: Callable[[Display], list[KeyHint]] = lambda display: [BACK, LEAVE, HELP]
    """The keys that matter now, the most important first; the last two are shown at any width."""
    help: Callable[[Display], list[KeyHelp]] = lambda display: [*LISTS_HELP, *LEAVING_HELP]
    """All keys and their meanings."""
    entrance: Entrance | None = None
    words: Mapping[str, Word] = field(default_factory=lambda: MappingProxyType({}))
    """The words that open the screen from the lobby in lines mode."""
    usage: str = ""
    """How the last sentence of the help for lines mode lists these words."""
    heading: Callable[[Display], list[str]] | None = None
    """The lines above its rows in lines mode; None: its title."""


def _always(display: Display) -> bool:
    return True


def _as_before(display: Display, reply: ServerMessage) -> Display:
    return display


def _no_news(match: Snapshot, reply: ServerMessage) -> list[str]:
    return []


@dataclass(frozen=True, slots=True)
class MatchAction:
    """A request about a finished match."""

    word: str
    """Its word in hints and in lines mode."""
    key: str
    """Its letter at the board."""
    command: Change
    """Returns the request, or the reason why it is impossible."""
    request: type[Request]
    reply: type[ServerMessage]
    """The message that follows the `ok`, for which lines mode waits."""
    is_offered: Callable[[Display], bool] = _always
    """Whether the hints mention it after the end."""
    heard: Callable[[Display, ServerMessage], Display] = _as_before
    """The display after the reply."""
    news: Callable[[Snapshot, ServerMessage], list[str]] = _no_news
    """The lines to print for the reply in lines mode, for the shown match."""


def list_hints(screen_hints: Sequence[KeyHint], rows: Sequence[Row]) -> list[KeyHint]:
    """Return the hints of a list; they include Enter only if there is something to choose."""
    has_choice = any(row.enter is not None for row in rows)
    return [*(hint for hint in screen_hints if has_choice or hint.press != "c-m"), LEAVE, HELP]


_FAR = 10
_ON_EVERY_LIST: dict[str, AnyCommand] = {
    "up": Command.UP,
    "down": Command.DOWN,
    "left": Command.LEFT,
    "right": Command.RIGHT,
    "pageup": Step(-_FAR),
    "pagedown": Step(_FAR),
    "home": Step(-1000),
    "end": Step(1000),
    "k": Command.UP,
    "j": Command.DOWN,
    "c-i": Command.SECTION,
    "q": Command.LEAVE,
}


def command_on_list(key: str, display: Display, keys: Mapping[str, KeyMeaning]) -> AnyCommand | None:
    """Return the command of a key on a list, trying the list's own keys first; None if it has none."""
    key = key.lower() if len(key) == 1 else key
    meaning = keys.get(key) or _ON_EVERY_LIST.get(key)
    return meaning(display) if callable(meaning) else meaning


def section(heading: str, rows: Sequence[Row]) -> list[Row]:
    """Return the rows below their heading; empty without rows."""
    return [Row((heading,), is_heading=True), *rows] if rows else []


PICTURE_SIZE = (100, 24)
"""The least columns and rows of a window in which a picture stands beside a list."""


def has_room_for_picture(size: tuple[int, int]) -> bool:
    """Tell whether a picture stands beside a list in a window of this size (columns, rows)."""
    return size[0] >= PICTURE_SIZE[0] and size[1] >= PICTURE_SIZE[1]


def cursor_of(rows: Sequence[Row], key: str, place: int) -> int | None:
    """Return the index of the row at the cursor: the one with the key, or else the nearest to its old place.

    Return None if there is nothing to choose.
    """
    choices = [index for index, row in enumerate(rows) if row.enter is not None]
    if not choices:
        return None
    return next((index for index in choices if rows[index].key == key), min(choices, key=lambda n: abs(n - place)))


def moved(rows: Sequence[Row], index: int, by: int) -> int:
    """Return the selectable row `by` rows further, at most the first or the last."""
    choices = [number for number, row in enumerate(rows) if row.enter is not None]
    return choices[max(0, min(choices.index(index) + by, len(choices) - 1))]


def next_section(rows: Sequence[Row], index: int) -> int:
    """Return the first selectable row below the next heading; after the last heading, start again at the first."""
    heads = [number for number, row in enumerate(rows) if row.is_heading]
    after = [head for head in heads if head > index] + heads
    starts = (number for head in after for number in range(head, len(rows)) if rows[number].enter is not None)
    return next(starts, index)
