"""Read typed lines, keep them until their time has come, and find the command that each means.

A thread reads standard input, since a pipe, a file or a terminal may block. Lines that arrive when the client takes no
more are left to the next question. A list is printed once, with numbers to choose from. Its numbers keep their meaning
until another list is printed or a match of ours begins, while the listed players come and go.
"""

import asyncio
import os
import select
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from difflib import get_close_matches

from ttt_net.client.client_controller import Controller
from ttt_net.client.display import AnyCommand, Begin, Command, Display, More, Move, Open, Send, Step
from ttt_net.client.lines.line_renderer import LineRenderer
from ttt_net.client.mailbox import Event, Line, WorldEvent, post
from ttt_net.client.screens.board_play import PHRASES, chat, phrase_in_words, phrase_of, quick_moves
from ttt_net.client.screens.lobby_screen import FOLD
from ttt_net.client.screens.match_screen import WORDS as OF_A_LIVE_MATCH
from ttt_net.client.screens.offers import challenges
from ttt_net.client.screens.registry import SCREENS, WORDS, rows_of, screen_of
from ttt_net.client.screens.replay_screen import ACTIONS
from ttt_net.client.screens.replay_screen import REPLAY_WORDS as OF_A_REPLAY
from ttt_net.client.screens.replay_screen import WORDS as OF_A_FINISHED_MATCH
from ttt_net.client.screens.rules_screen import asked_for
from ttt_net.client.screens.screen import ListQuery, Meaning, Row
from ttt_net.client.words import name_of
from ttt_net.client.world import LinkState
from ttt_net.messages import (
    AbortRequest,
    AcceptRequest,
    AnalyseRequest,
    AnalysisReply,
    AnswerRequest,
    ChallengeAccepted,
    Challenged,
    ChallengeRequest,
    ClaimKind,
    Ended,
    HintReply,
    HintRequest,
    InvitationReply,
    InviteRequest,
    JoinRequest,
    Ok,
    PuzzleReply,
    PuzzleRequest,
    Request,
    ResignRequest,
    ResumeRequest,
    RulesReply,
    RulesRequest,
    SeekRequest,
    ServerMessage,
    Snapshot,
    WatchRequest,
    Welcome,
)
from ttt_net.sdk.received import Answered
from ttt_net.text import clean

MOST = 20
"""The number of rows printed at once; `more` prints the next ones."""
_MAX_CELLS = 200


def are_numbers_moves(display: Display) -> bool:
    """Tell whether a number alone is a move, to be made or to be gone to, and chooses nothing."""
    return display.is_live or display.page.screen == "replay"


class NumberedMenu:
    """Keeps a requested list until it arrives, and the commands of its numbers."""

    def __init__(self) -> None:
        self._asked: ListQuery | None = None
        self._is_granted = False
        """Whether the server has agreed to tell the list."""
        self._choices: list[AnyCommand] = []
        self._untold: list[Row] = []
        self._passed: tuple[ServerMessage | None, ...] = ()
        """The replies that were already printed, while another part of the list is requested."""

    @property
    def is_waiting(self) -> bool:
        """Whether a requested list has not arrived yet."""
        return self._asked is not None

    @property
    def has_choices(self) -> bool:
        """Whether a number means something."""
        return bool(self._choices)

    def ask(self, ask: ListQuery, controller: Controller) -> None:
        """Request the content of the page; an earlier list that has not arrived is dropped."""
        controller.do(Open(ask.page))
        self._asked = replace(ask, page=controller.display.page)  # where a game is chosen, starting from the last seek
        self._passed = ()
        self._is_granted = False
        controller.do(Command.BACK)

    def ask_further(self, more: More, controller: Controller) -> None:
        """Request another part of a long list: older matches, or lower ranks."""
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
        """Make numbers meaningless here."""
        self._choices, self._untold = [], []

    def choice(self, number: int) -> AnyCommand | str:
        """Return the command of the number, or what to print for an invalid one."""
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
        if isinstance(row.enter, Begin):  # printed by `_heading`: in lines, words do it
            return ""
        self._choices.append(row.enter)
        number = str(len(self._choices))
        return f"{number}. {text.removeprefix(f'{int(number) % 10}, ')}"  # a game has its digit already


def _spoken(cell: str) -> str:
    """Return a cell for printing: a rank must not look like a number to choose."""
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


_STDIN = 0
"""Read as a file: the lock of `sys.stdin` would outlive us at exit."""
_MAX_LINE_BYTES = 1024
"""Enough for the longest message, in any script."""
_FULL_S = 0.05
_END_S = 1.0


@contextmanager
def line_reader(mailbox: asyncio.Queue[Event], source: int = _STDIN) -> Iterator[Callable[[], bool]]:
    """Yield a function that begins to deliver lines, until the context ends.

    It returns whether something can be read already, if only the end of the lines.
    """
    stopped, stop = os.pipe()
    reader = _Reader(mailbox, source, stopped)

    def begin() -> bool:
        is_ahead = _is_readable(source)
        reader.thread.start()
        return is_ahead

    try:
        yield begin
    finally:
        os.close(stop)
        if reader.thread.is_alive():
            reader.thread.join(_END_S)  # where a console cannot be waited for together with `stop`, it outlives us
        if not reader.thread.is_alive():
            os.close(stopped)


def _is_readable(source: int) -> bool:
    with suppress(OSError, ValueError):  # Windows: only sockets can be looked at
        return bool(select.select([source], [], [], 0)[0])
    return False


class _Reader:
    """Puts lines into a mailbox, each when there is room for it; then their end."""

    def __init__(self, mailbox: asyncio.Queue[Event], source: int, stopped: int) -> None:
        self.thread = threading.Thread(target=self._read, name="stdin", daemon=True)
        self._mailbox = mailbox
        self._loop = asyncio.get_running_loop()
        self._source, self._stopped = source, stopped

    def _read(self) -> None:
        rest = b""
        while chunk := self._next_chunk():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                if not self._deliver(line[:_MAX_LINE_BYTES].decode(errors="replace")):
                    return
            rest = rest[:_MAX_LINE_BYTES]
        if chunk is None:
            return
        if rest:
            self._deliver(rest.decode(errors="replace"))
        self._deliver(None)

    def _next_chunk(self) -> bytes | None:
        """Return the bytes that are there, none at the end, or None once nobody takes lines any more."""
        with suppress(OSError, ValueError):
            if self._stopped in select.select([self._source, self._stopped], [], [])[0]:
                return None
        with suppress(OSError):
            return os.read(self._source, 4096)
        return b""

    def _deliver(self, text: str | None) -> bool:
        """Wait until the mailbox has taken it; tell whether it has."""
        is_put = threading.Event()
        try:
            self._loop.call_soon_threadsafe(self._put, Line(text), is_put)
        except RuntimeError:  # the loop is gone, and so is all interest in lines
            return False
        while not is_put.wait(_FULL_S):
            if self._loop.is_closed() or _is_readable(self._stopped):
                return False
        return True

    def _put(self, line: Line, is_put: threading.Event) -> None:
        if post(self._mailbox, line):
            is_put.set()
        else:
            self._loop.call_later(_FULL_S, self._put, line, is_put)


MAX_SAID_CELLS = 140
MAX_WORD_CELLS = 20
OF_A_MATCH: dict[str, AnyCommand] = {**OF_A_LIVE_MATCH, **OF_A_FINISHED_MATCH}
"""Words without a meaning before there is a match; the same holds for `say` and the claims."""
_LEAVING = ("quit", "q", "exit", "leave", "bye")
_RULES = ("rules", "?")
_OTHERS = ("rules", "accept", "decline", "new", "say", "help", "repeat", "board", "info", "choose", "more")
_ACCEPTED = {"rematch": Command.REMATCH, "draw": Command.DRAW, "takeback": Command.TAKE_BACK}
"""The commands that accept an offer: an offer of the same kind accepts the opponent's."""
CLAIMS: dict[str, ClaimKind] = {"claim": "win", "claim win": "win", "claim draw": "draw", "adjourn": "adjourn"}


def word_of(line: str) -> str:
    """Return the line as a word."""
    return clean(line, MAX_WORD_CELLS).lower()


def command_of(line: str, display: Display, wanted: SeekRequest) -> Meaning:
    """Return the command of a line; `wanted` is the last seek, which is repeated if the line says no more."""
    word, _, rest = clean(line, 2 * MAX_SAID_CELLS).partition(" ")
    word, rest, whole = word.lower(), rest.strip(), word_of(line)
    if display.page.screen == "replay" and (step := _step(whole, display.page.ply)) is not None:
        return step
    if word in _RULES:
        return asked_for(display, display.world.seeking or wanted, rest)
    if word in WORDS:
        return WORDS[word](display, wanted, rest) if display.has_lobby else "There is no lobby here."
    match word:
        case "":
            return None
        case "new":
            return Command.NEW
        case "accept" | "decline":
            return _answered(display, rest, is_accepted=word == "accept")
        case "say":
            return _said(display, rest)
        case _ if whole in _LEAVING:
            return Command.LEAVE
        case _:
            return OF_A_MATCH.get(whole) or (
                Move(whole) if _is_like_a_move(whole, display) else _unknown(whole, display)
            )


def _step(word: str, ply: int) -> AnyCommand | None:
    """Return the ply that a word of a replay leads to; a number means after that move."""
    is_number = word.isdecimal() and word.isascii()
    return Step(int(word) - ply) if is_number else OF_A_REPLAY.get(word)


def _said(display: Display, text: str) -> AnyCommand | str:
    """Return the chat message of a line: a phrase, or, if the host allows it, any words."""
    phrase = phrase_of(text)
    said = chat(display, phrase=phrase) if phrase is not None else chat(display, text=clean(text, MAX_SAID_CELLS))
    if not said:
        return "Type say and your words, while there is a match."
    if phrase is None and not (text and display.world.may_write):
        words = "your words, or " if display.world.may_write else ""
        return f"Type say and {words}one of these: {', '.join(map(phrase_in_words, PHRASES))}."
    return Send(said[0])


def _is_like_a_move(word: str, display: Display) -> bool:
    """Return whether a word may be a move; before the moves are known, any word with a digit may."""
    if display.match is None:
        return word == "swap" or any(map(str.isdecimal, word))
    is_named = word in (name.lower() for name in display.match.game.move_names)
    return is_named or (word.isdecimal() and bool(quick_moves(display.match)))


def _unknown(word: str, display: Display) -> AnyCommand | str:
    """Return the nearest word to a typed one; where there is none, and it is our turn, which moves there are."""
    if word in OF_A_REPLAY:
        return f"{word} is for a replay; once a match is over, replay begins one."
    steps = OF_A_REPLAY if display.page.screen == "replay" else ()
    near = get_close_matches(word, (*OF_A_MATCH, *CLAIMS, *_LEAVING, *_OTHERS, *WORDS, *steps), n=1)
    if near:
        return f'I don\'t know "{word}". Did you mean {near[0]}?'
    return Move(word) if display.may_move else f'I don\'t know "{word}". Type help to see the words that you can type.'


def _answered(display: Display, name: str, *, is_accepted: bool) -> AnyCommand | str:
    """Answer what waits for an answer: an offer in the match first, then the oldest challenge, or that of a player."""
    offers = display.match.offers if display.match is not None and not name else []
    theirs = next((offer for offer in offers if display.match is not None and offer.side != display.match.you), None)
    if is_accepted and theirs is not None:
        return _ACCEPTED[theirs.kind]
    if not is_accepted and offers:
        return Command.DECLINE
    waiting = challenges(display, is_ours=False)
    chosen = next((each for each in waiting if not name or name_of(each.by).lower() == name.lower()), None)
    if chosen is None:
        return "Nothing waits for your answer."
    return Send(AnswerRequest(0, challenge=chosen.challenge, accept=is_accepted))


class PendingReplies:
    """Tracks requests until their results arrive."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._due: type[ServerMessage] | None = None
        """The reply that the server has promised and not sent yet."""
        self._is_brief = False
        """Whether the analysis that was asked for is only to be a lesson."""

    def note(self, event: WorldEvent) -> None:
        """Record an acknowledgement or an event of the server."""
        is_first = isinstance(event, AnalysisReply) and event.partial and not self._is_brief  # the whole one follows
        if self._due is not None and isinstance(event, (self._due, Welcome)) and not is_first:
            self._due = None
        if isinstance(event, ChallengeAccepted):
            self._due = Snapshot
        if isinstance(event, Answered) and isinstance(event.answer, Ok):
            self._due = _promised(event.request) or self._due
            self._is_brief = isinstance(event.request, AnalyseRequest) and event.request.brief

    @property
    def is_answer_due(self) -> bool:
        """Whether a requested reply, a move, or the end after a move has not arrived yet."""
        is_asking, display = self._controller.connection.is_asking, self._controller.display
        is_ending = (
            display.match is not None and display.match.outcome is None and display.match.position.to_move is None
        )
        return is_asking or display.pending is not None or self._due is not None or is_ending

    @property
    def is_turn_to_come(self) -> bool:
        """Whether a match is live, or another one will start."""
        match = self._controller.display.match
        return (match is not None and match.outcome is None) or self.is_match_to_come

    @property
    def is_match_to_come(self) -> bool:
        """Whether anything pending leads to a match."""
        display = self._controller.display
        if not display.has_lobby:
            return display.match is None or self._controller.is_to_go_on
        is_offered = display.world.lobby.invitation is not None or bool(challenges(display, is_ours=True))
        is_coming = self._due is Snapshot or (display.world.watching is not None and display.match is None)
        return display.world.link is not LinkState.ONLINE or self._controller.is_to_go_on or is_offered or is_coming


def _promised(request: Request) -> type[ServerMessage] | None:
    """Return what comes after the `ok` to a request, if anything does."""
    match request:
        case AcceptRequest() | JoinRequest() | AnswerRequest(accept=True) | WatchRequest() | ResumeRequest():
            return Snapshot
        case InviteRequest():
            return InvitationReply
        case ChallengeRequest():
            return Challenged
        case RulesRequest():
            return RulesReply
        case HintRequest():
            return HintReply
        case PuzzleRequest():
            return PuzzleReply
        case ResignRequest() | AbortRequest():
            return Ended
        case _:
            return next((each.reply for each in ACTIONS if isinstance(request, each.request)), None)


MAX_HELD_LINES = 4096
_OF_ANY_TIME = ("help", "repeat", "more")
OF_NO_MATCH = (*_OF_ANY_TIME, *_RULES, *_LEAVING)
"""Words that need no match, besides those of the lobby."""


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
