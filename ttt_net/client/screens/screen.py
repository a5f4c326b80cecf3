"""Declare what a screen is made of, so that a terminal, plain lines and a screen reader can render any of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import MappingProxyType

from ttt_net.client import words
from ttt_net.client.display import AnyCommand, Change, Command, Display, Entry, Page, Step
from ttt_net.client.world import LinkState
from ttt_net.messages import Request, SeekRequest, ServerMessage, Snapshot

Effect = tuple[Display, tuple[Request, ...]]
"""The display after a command, and what to say to the server."""


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
    """The key of the lobby that opens a screen, what the hint and the help say of it, and the command."""

    key: str
    label: str
    help: str
    command: Callable[[Display], AnyCommand]


@dataclass(frozen=True, slots=True)
class ListQuery:
    """A typed request for a list: the rows of a page with keys of these kinds (none: all), or its first one at once.

    `text` must be in the row. `seek` is what bots are to play, if it is not the last seek. `otherwise` is printed for
    an empty list, `hint` after the list.
    """

    page: Page
    kinds: tuple[str, ...] = ()
    text: str = ""
    seek: SeekRequest | None = None
    is_first: bool = False
    otherwise: str = ""
    hint: str = "Type a number to choose."


Meaning = AnyCommand | ListQuery | str | None
"""The meaning of a typed line: a command, a list, a sentence that says why it means nothing now, or nothing."""
Word = Callable[[Display, SeekRequest, str], Meaning]
"""Returns the meaning of a typed word, given the last search and the rest of the line."""
KeyMeaning = AnyCommand | Callable[[Display], AnyCommand | None]
"""A command, or what finds it where it depends on the display."""


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
    """Return the search that stands, or that we are connecting."""
    if display.world.seeking is not None:
        return words.sought(display.world.seeking)
    is_connecting = display.world.link is LinkState.CONNECTING
    return f"Connecting to {display.world.address} ..." if is_connecting else ""


def default_prompt(display: Display, now_ms: int) -> str:
    """Return the newest notice, and the countdown to a restart."""
    return " ".join(filter(None, [words.notice(display), words.restart(display.world, now_ms)]))


def page_before(display: Display, request: Request) -> Display:
    """Return the display with the page closed that has nothing to show."""
    return replace(display, pages=display.pages[:-1]) if len(display.pages) > 1 else display


def day(at_ms: int) -> str:
    """Return the day by UTC; a dash for a number that is no time."""
    try:
        return datetime.fromtimestamp(at_ms / 1000, UTC).date().isoformat()
    except (OverflowError, OSError, ValueError):
        return "-"


WAITING = [Row(("The server is looking it up ...",))]
"""The rows of a list that is not here yet."""
LEAVE, HELP = KeyHint("q", "leave", "q"), KeyHint("?", "keys", "?")
RULES = KeyHint("?", "rules", "?")
BACK, CHOOSE = KeyHint("Esc", "back", "escape"), KeyHint("Enter", "choose", "c-m")
LISTS_HELP = (
    "arrows jk    move; PgUp PgDn far",
    "Tab          the next section",
    "Enter click  choose the row",
)
LEAVING_HELP = ("Esc          back", "q  Ctrl-C    leave; Ctrl-Z suspends")


@dataclass(frozen=True, slots=True)
class Screen:
    """One screen, as functions of the display; all of them are pure."""

    name: str
    """By which pages and the registry know it."""
    title: Callable[[Display], str] = _nothing
    subtitle: Callable[[Display], str] = _nothing
    """The text behind the title, where there is room."""
    status: Callable[[Display], str] = default_status
    """One sentence under the title."""
    rows: Callable[[Display, int], list[Row]] = _no_rows
    lines: Callable[[Display, int], list[str]] | None = None
    """Lines to read in place of the rows, of at most so many columns, where it makes them itself."""
    prompt: Callable[[Display, int], str] = default_prompt
    """The line above the keys when nothing is being typed or asked."""
    footer: Callable[[Display, int], list[str]] = lambda display, width: []
    """Lines below the rows, where there is room, or instead of them."""
    requests: Callable[[Page], tuple[Request, ...]] = _no_requests
    """The requests to send when the screen is opened."""
    replies: tuple[type[ServerMessage], ...] = ()
    """The messages that it shows; they are forgotten when it is opened, and awaited where there are only lines."""
    unlisted: tuple[Request, ...] = ()
    """The requests to send once it was printed in lines mode, where nothing is kept up to date."""
    asks_next: Callable[[Display, ServerMessage], tuple[Request, ...]] = lambda display, reply: ()
    """The further requests to send after a reply."""
    prepared: Callable[[Page, SeekRequest], Page] = _as_opened
    """The page as it opens, given the last seek."""
    refused: Callable[[Display, Request], Display] = _unmoved
    """The display after one of its requests was refused."""
    seen: Callable[[Display], Display] = _as_it_is
    """The display that is drawn in place of the real one."""
    match: Callable[[Display], Snapshot | None] = lambda display: None
    """The match whose board is drawn in place of rows."""
    keys: Mapping[str, KeyMeaning] = field(default_factory=lambda: MappingProxyType({}))
    """Its keys besides those of every list; letters in lower case."""
    command: Callable[[str, Display], AnyCommand | None] | None = None
    """Returns the meaning of a key, in place of all of `keys`."""
    act: Callable[[Display, AnyCommand], Effect | None] = _not_here
    """Returns the effect of a command with a special meaning here; None for others."""
    entry: Entry | None = None
    """The entry that every other printable key begins."""
    entered: Callable[[Display, str], Effect] = _not_taken
    """Returns the effect of a typed text."""
    has_short_head: bool = False
    """Whether its title and status take no more lines than they have to."""
    is_form: bool = False
    """Whether it closes once something was chosen."""
    hints: Callable[[Display], list[KeyHint]] = lambda display: [BACK, LEAVE, HELP]
    """The keys that matter now, the most needed first; the last two stay whatever the width."""
    help: Callable[[Display], list[str]] = lambda display: [*LISTS_HELP, *LEAVING_HELP]
    """Every key and its meaning."""
    entrance: Entrance | None = None
    words: Mapping[str, Word] = field(default_factory=lambda: MappingProxyType({}))
    """The words that open the screen from the lobby in lines mode."""
    usage: str = ""
    """How the last sentence of the help for lines tells these words."""
    heading: Callable[[Display], list[str]] | None = None
    """The lines above its rows where there are only lines; None: its title."""


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
    """The word in hints, and in lines mode."""
    key: str
    """Its letter at the board."""
    command: Change
    """Asks for it, or says why it cannot be had."""
    request: type[Request]
    reply: type[ServerMessage]
    """The message that follows the `ok`, for which lines wait."""
    is_offered: Callable[[Display], bool] = _always
    """Whether the hints name it after the end."""
    heard: Callable[[Display, ServerMessage], Display] = _as_before
    """The display after the reply."""
    news: Callable[[Snapshot, ServerMessage], list[str]] = _no_news
    """The lines to print for the reply in lines mode, for the shown match."""


def list_hints(screen_hints: Sequence[KeyHint], rows: Sequence[Row]) -> list[KeyHint]:
    """Return the hints of a list; Enter is among them only where there is something to choose."""
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
    """Return what a key means on a list, its own keys first; None when it means nothing."""
    key = key.lower() if len(key) == 1 else key
    meaning = keys.get(key) or _ON_EVERY_LIST.get(key)
    return meaning(display) if callable(meaning) else meaning


def section(heading: str, rows: Sequence[Row]) -> list[Row]:
    """Return the rows under their heading; nothing if there are none."""
    return [Row((heading,), is_heading=True), *rows] if rows else []


def cursor_of(rows: Sequence[Row], key: str, place: int) -> int | None:
    """Return the index of the row that the cursor is on: the one with the key, or else the next one to its old place.

    None where there is nothing to choose.
    """
    choices = [index for index, row in enumerate(rows) if row.enter is not None]
    if not choices:
        return None
    return next((index for index in choices if rows[index].key == key), min(choices, key=lambda n: abs(n - place)))


def moved(rows: Sequence[Row], index: int, by: int) -> int:
    """Return the row `by` rows to choose from there, at most the first or the last."""
    choices = [number for number, row in enumerate(rows) if row.enter is not None]
    return choices[max(0, min(choices.index(index) + by, len(choices) - 1))]


def next_section(rows: Sequence[Row], index: int) -> int:
    """Return the first row to choose under the next heading, after the last one that under the first."""
    heads = [number for number, row in enumerate(rows) if row.is_heading]
    after = [head for head in heads if head > index] + heads
    starts = (number for head in after for number in range(head, len(rows)) if rows[number].enter is not None)
    return next(starts, index)
