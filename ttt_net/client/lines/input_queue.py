"""Keep typed lines until their time has come."""

from collections import deque
from collections.abc import Callable

from ttt_net.client.commands import Command, Move
from ttt_net.client.controller import Controller
from ttt_net.client.lines.line_renderer import LineRenderer
from ttt_net.client.lines.numbered_menu import NumberedMenu
from ttt_net.client.lines.pending_replies import PendingReplies
from ttt_net.client.lines.phrasebook import CLAIMS, OF_A_MATCH, word_of
from ttt_net.client.screens.screen import Meaning
from ttt_net.client.world import LinkState
from ttt_net.text import clean

MAX_HELD_LINES = 4096
_OF_ANY_TIME = ("help", "repeat", "more")


class InputQueue:
    """Lines in their order; a move waits until it is our turn, and of a person's lines the others go before it.

    Where a program or a file writes them, none goes before another, and each also waits for the answer to the one
    before it, and for a link and a match if it needs them; a hint for our turn, as a move does. `meaning` returns what
    a line comes to.
    """

    def __init__(
        self,
        controller: Controller,
        renderer: LineRenderer,
        pending: PendingReplies,
        menu: NumberedMenu,
        meaning: Callable[[str], Meaning],
        *,
        is_typed: bool,
    ) -> None:
        self._controller = controller
        self._renderer = renderer
        self._pending = pending
        self._menu = menu
        self._meaning = meaning
        self._is_typed = is_typed
        self._lines: deque[str] = deque()

    @property
    def next_word(self) -> str:
        """The first word of the first line; empty where there is no line."""
        return first_word(self._lines[0]) if self._lines else ""

    @property
    def are_done(self) -> bool:
        """Whether no line is left, and nothing that one has asked for is still on its way."""
        return not self._lines and not self._is_answer_due

    def keep(self, line: str) -> str:
        """Put a line behind the others; return what to say of it, if anything."""
        if len(self._lines) >= MAX_HELD_LINES:
            return f"{clean(line, 20)} is left out: {MAX_HELD_LINES} lines wait already."
        self._lines.append(line)
        return (
            f"It is not your turn; {clean(line, 20)} waits for it." if self._is_typed and self._is_early(line) else ""
        )

    def take(self) -> str | None:
        """Take the next line whose time has come; none goes before another, unless a person types."""
        for index, line in enumerate(self._lines):
            if not self._is_early(line):
                del self._lines[index]
                return line
            if not self._is_typed:
                return None
        return None

    @property
    def _is_answer_due(self) -> bool:
        return self._pending.is_answer_due or self._menu.is_waiting

    def _is_early(self, line: str) -> bool:
        word, display = word_of(line), self._controller.display
        is_question = self._renderer.answer(word, display, 0) is not None
        is_of_match = is_question or word in OF_A_MATCH or word in CLAIMS or first_word(line) == "say"
        if not self._is_typed:
            is_over = display.match is None or display.match.outcome is not None
            is_ahead_of_match = is_of_match and is_over and self._pending.is_match_to_come
            if self._is_answer_due or is_ahead_of_match or self._needs_link(line):
                return True
        is_move = not is_of_match and word not in _OF_ANY_TIME and isinstance(self._meaning(line), Move)
        is_for_our_turn = is_move or (word == "hint" and not self._is_typed)
        return is_for_our_turn and not display.may_move and self._pending.is_turn_to_come

    def _needs_link(self, line: str) -> bool:
        """Tell whether a line, but that we leave, has to wait until there is a server to say it to."""
        display = self._controller.display
        return (
            display.has_lobby
            and display.world.link is not LinkState.ONLINE
            and self._meaning(line) is not Command.LEAVE
        )


def first_word(line: str) -> str:
    """Return the first word of a line."""
    return word_of(line).partition(" ")[0]
