"""Tell a list once, with numbers to choose from it, where there are only lines.

Nothing lies on anything here: a page is gone as soon as it is told. Its numbers go on meaning what was told with them,
while others come and go, until another list is told or a match of ours begins.
"""

from collections.abc import Sequence
from dataclasses import replace

from ttt_net.client.commands import AnyCommand, Begin, Command, More, Open, Send
from ttt_net.client.controller import Controller
from ttt_net.client.display import Display
from ttt_net.client.screens.lobby import FOLD
from ttt_net.client.screens.registry import SCREENS, rows_of, screen_of
from ttt_net.client.screens.screen import ListQuery, Row
from ttt_net.messages import Ok, ServerMessage
from ttt_net.sdk.events import Answered
from ttt_net.text import clean

MOST = 20
"""So many rows are told at once; the word `more` tells the next."""
_MAX_CELLS = 200


def are_numbers_moves(display: Display) -> bool:
    """Tell whether a number alone is a move, to be made or to be gone to, and chooses nothing."""
    return display.is_live or display.page.screen == "replay"


class NumberedMenu:
    """Holds the list that was asked for until it is here, and the commands that its numbers stand for."""

    def __init__(self) -> None:
        self._asked: ListQuery | None = None
        self._is_granted = False
        """Whether the server has agreed to tell the list."""
        self._choices: list[AnyCommand] = []
        self._untold: list[Row] = []
        self._passed: tuple[ServerMessage | None, ...] = ()
        """What was told already, where another part of it is asked for."""

    @property
    def is_waiting(self) -> bool:
        """Whether a list was asked for that the server has not told yet."""
        return self._asked is not None

    @property
    def has_choices(self) -> bool:
        """Whether a number means something."""
        return bool(self._choices)

    def ask(self, ask: ListQuery, controller: Controller) -> None:
        """Ask the server for what stands on the page; an earlier list that is not here yet is no longer wanted."""
        controller.do(Open(ask.page))
        self._asked = replace(
            ask, page=controller.display.page
        )  # where a game is chosen, with what was wanted the last time
        self._passed = ()
        self._is_granted = False
        controller.do(Command.BACK)

    def ask_further(self, more: More, controller: Controller) -> None:
        """Ask for another part of a long list: older matches, or who comes further down."""
        self._asked = ListQuery(more.page)
        self._passed = tuple(_replies(self._asked, controller.display))
        self._is_granted = False
        controller.do(more)

    def ask_again(self, controller: Controller) -> None:
        """Ask once more on a new link if the list was lost; a question without an answer is sent again anyway."""
        if self._asked is not None and self._is_granted:
            self.ask(self._asked, controller)

    def answered(self, event: Answered) -> None:
        """Take note of whether a question is granted."""
        asked = self._asked
        questions = SCREENS[asked.page.screen].requests(asked.page) if asked is not None else ()
        if any(type(event.request) is type(each) for each in questions):
            self._is_granted = isinstance(event.answer, Ok)
            self._asked = asked if self._is_granted else None

    def forget(self) -> None:
        """Let numbers mean nothing here."""
        self._choices, self._untold = [], []

    def choice(self, number: int) -> AnyCommand | str:
        """Return what the number stands for, or what to say of one that stands for nothing."""
        if 1 <= number <= len(self._choices):
            return self._choices[number - 1]
        numbers = f"1 to {len(self._choices)}" if self._choices else "who, games or matches tells a list with numbers"
        return f"{number} chooses nothing; {numbers}."

    def take(self, controller: Controller, now_ms: int) -> AnyCommand | str | None:
        """Return the list in words, or the command to carry out at once; None as long as it is not here."""
        asked, display = self._asked, controller.display
        if asked is None or any(reply is None or reply in self._passed for reply in _replies(asked, display)):
            return None
        self._asked, self._passed = None, ()
        for request in SCREENS[asked.page.screen].unlisted:
            controller.do(Send(request))
        seen = replace(
            display,
            pages=(*display.pages, asked.page),
            world=replace(display.world, seeking=asked.seek or display.world.seeking or controller.wanted),
        )
        rows = [row for row in rows_of(seen, now_ms) if _is_meant(row, asked)]
        rows = [row for at, row in enumerate(rows) if not (row.is_heading and _is_empty(rows[at + 1 :]))]
        if asked.is_first:
            first = next((row.enter for row in rows if row.enter is not None), None)
            return first or asked.otherwise
        self._choices, self._untold = [], rows
        lines = [clean(line, _MAX_CELLS) for line in _heading(seen)] + self._next_rows()
        if not rows and asked.otherwise:
            lines.append(asked.otherwise)
        if self._choices:
            lines.append("Type choose and a number." if are_numbers_moves(display) else asked.hint)
        return "\n".join(lines)

    def more(self) -> str:
        """Return the next rows of a long list."""
        return "\n".join(self._next_rows()) or "There is no more."

    def _next_rows(self) -> list[str]:
        told, self._untold = self._untold[:MOST], self._untold[MOST:]
        lines = [line for row in told if (line := self._line(row))]
        return [*lines, f"{len(self._untold)} more: type more."] if self._untold else lines

    def _line(self, row: Row) -> str:
        text = clean(", ".join(map(_spoken, filter(None, row.cells))), _MAX_CELLS)
        if row.is_heading:
            return f"{text.partition(':')[0]}:"
        if row.enter is None or row.key.startswith(f"{FOLD}:"):
            return text
        if isinstance(row.enter, Begin):  # is told by `_heading`: where there are only lines, words do it
            return ""
        self._choices.append(row.enter)
        number = str(len(self._choices))
        return f"{number}. {text.removeprefix(f'{int(number) % 10}, ')}"  # a game has its digit already


def _spoken(cell: str) -> str:
    """Return a cell as it is told: a rank is not to be taken for one more number to choose."""
    return f"rank {cell[:-1]}" if cell.endswith(".") and cell[:-1].isdecimal() else cell


def _replies(asked: ListQuery, display: Display) -> list[ServerMessage | None]:
    """Return the replies that the page that was asked for shows, as far as they are here."""
    return [display.world.replies.get(kind) for kind in SCREENS[asked.page.screen].replies]


def _is_meant(row: Row, asked: ListQuery) -> bool:
    if row.is_heading or not asked.kinds:
        return True
    kind, _, name = row.key.partition(":")
    is_named = asked.text in (name.lower(), "") or asked.text in row.cells[0].lower()
    return kind in asked.kinds and is_named


def _is_empty(rows: Sequence[Row]) -> bool:
    """Tell whether nothing stands under a heading."""
    return not rows or rows[0].is_heading


def _heading(seen: Display) -> list[str]:
    screen = screen_of(seen)
    return screen.heading(seen) if screen.heading is not None else [f"{screen.title(seen)}."]
