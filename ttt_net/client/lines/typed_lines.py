"""Read typed lines, queue them until they are due, and parse their commands.

A thread reads standard input, since a pipe, a file or a terminal may block. When the client takes no more lines, the
remaining ones are left for the next question. A list is printed once, with numbers to choose from. Its numbers keep
their meaning, even if listed players leave, until another list is printed or a match of ours begins.
"""

import asyncio
import os
import re
import select
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from difflib import get_close_matches

from ttt_net import messages
from ttt_net.client.client_controller import Controller
from ttt_net.client.display import AnyCommand, Begin, Command, Display, More, Move, Open, Send, Step
from ttt_net.client.lines.line_renderer import LineRenderer
from ttt_net.client.mailbox import Event, Line, WorldEvent, post
from ttt_net.client.screens.board_play import PHRASES, chat, phrase_in_words, phrase_of, quick_moves
from ttt_net.client.screens.guess_screen import guess_words
from ttt_net.client.screens.lobby_screen import FOLD
from ttt_net.client.screens.match_screen import WORDS as OF_A_LIVE_MATCH
from ttt_net.client.screens.offers import challenges
from ttt_net.client.screens.registry import SCREENS, WORDS, rows_of, screen_of
from ttt_net.client.screens.replay_screen import ACTIONS, REPLAYS
from ttt_net.client.screens.replay_screen import REPLAY_WORDS as OF_A_REPLAY
from ttt_net.client.screens.replay_screen import WORDS as OF_A_FINISHED_MATCH
from ttt_net.client.screens.rules_screen import asked_for
from ttt_net.client.screens.screen import ListQuery, Meaning, Row
from ttt_net.client.words import name_of
from ttt_net.client.world import LinkState
from ttt_net.sdk.received import Answered
from ttt_net.text import clean

MOST = 20
"""The number of rows printed at once; `more` prints the next ones."""
_MAX_CELLS = 200


def are_numbers_moves(display: Display) -> bool:
    """Tell whether a bare number is a move, to make or to jump to, instead of a choice from a list."""
    return display.is_live or display.page.screen in REPLAYS


class NumberedMenu:
    """Tracks a requested list until it arrives, and the commands of its numbers."""

    def __init__(self) -> None:
        self._asked: ListQuery | None = None
        self._is_granted = False
        """Whether the server has accepted the request."""
        self._choices: list[AnyCommand] = []
        self._untold: list[Row] = []
        self._passed: tuple[messages.ServerMessage | None, ...] = ()
        """The replies already printed when another part of the list is requested."""

    @property
    def is_waiting(self) -> bool:
        """Whether a requested list has not arrived yet."""
        return self._asked is not None

    @property
    def has_choices(self) -> bool:
        """Whether a number means something."""
        return bool(self._choices)

    def ask(self, ask: ListQuery, controller: Controller) -> None:
        """Request the content of the page; drop an earlier list that has not arrived."""
        controller.do(Open(ask.page))
        self._asked = replace(ask, page=controller.display.page)  # choosing a game starts from the last seek
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
        """Repeat the request on a new connection if the list was lost; unanswered requests are repeated anyway."""
        if self._asked is not None and self._is_granted:
            self.ask(self._asked, controller)

    def answered(self, event: Answered) -> None:
        """Record whether the server accepted the request."""
        asked = self._asked
        questions = SCREENS[asked.page.screen].requests(asked.page) if asked is not None else ()
        if any(type(event.request) is type(each) for each in questions):
            self._is_granted = isinstance(event.answer, messages.Ok)
            self._asked = asked if self._is_granted else None

    def forget(self) -> None:
        """Forget the list, so that numbers choose nothing."""
        self._choices, self._untold = [], []

    def choice(self, number: int) -> AnyCommand | str:
        """Return the command of the number, or what to print for an invalid one."""
        if 1 <= number <= len(self._choices):
            return self._choices[number - 1]
        numbers = f"1 to {len(self._choices)}" if self._choices else "who, games or matches tells a list with numbers"
        return f"{number} chooses nothing; {numbers}."

    def take(self, controller: Controller, now_ms: int) -> AnyCommand | str | None:
        """Return the list in words, or the command to carry out immediately; None until it has arrived."""
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
        if isinstance(row.enter, Begin):  # printed by `_heading`: in lines mode, words choose it
            return ""
        self._choices.append(row.enter)
        number = str(len(self._choices))
        return f"{number}. {text.removeprefix(f'{int(number) % 10}, ')}"  # games already have digits


def _spoken(cell: str) -> str:
    """Return a cell for printing, so that a rank does not look like a number to choose."""
    return f"rank {cell[:-1]}" if cell.endswith(".") and cell[:-1].isdecimal() else cell


def _replies(asked: ListQuery, display: Display) -> list[messages.ServerMessage | None]:
    """Return the received replies that the requested page shows."""
    return [display.world.replies.get(kind) for kind in SCREENS[asked.page.screen].replies]


def _is_meant(row: Row, asked: ListQuery) -> bool:
    if row.is_heading or not asked.kinds:
        return True
    kind, _, name = row.key.partition(":")
    end = r"(?!\w)" if asked.text.isdecimal() else ""  # `watch 1` does not mean a name with a 1 in it
    begins = re.compile(rf"(?<!\w){re.escape(asked.text)}{end}")
    is_named = asked.text in (name.lower(), "") or begins.search(row.cells[0].lower()) is not None
    return kind in asked.kinds and is_named


def _is_empty(rows: Sequence[Row]) -> bool:
    """Tell whether a heading has no rows."""
    return not rows or rows[0].is_heading


def _heading(seen: Display) -> list[str]:
    screen = screen_of(seen)
    return screen.heading(seen) if screen.heading is not None else [f"{screen.title(seen)}."]


_STDIN = 0
"""Read as a raw file: a thread that blocks at exit would hold the lock of `sys.stdin`."""
_MAX_LINE_BYTES = 1024
"""Enough bytes for the longest message in any script."""
_FULL_S = 0.05
_END_S = 1.0


@contextmanager
def line_reader(mailbox: asyncio.Queue[Event], source: int = _STDIN) -> Iterator[Callable[[], bool]]:
    """Yield a function that starts to deliver lines until the context ends.

    It returns whether something can be read immediately, which may be the end of the input.
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
            reader.thread.join(_END_S)  # a console that cannot be polled together with `stop` keeps the thread alive
        if not reader.thread.is_alive():
            os.close(stopped)


def _is_readable(source: int) -> bool:
    with suppress(OSError, ValueError):  # Windows can poll only sockets
        return bool(select.select([source], [], [], 0)[0])
    return False


class _Reader:
    """Puts lines into a mailbox when there is room, and then the end of the input."""

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
        """Return the available bytes, empty at the end, or None if nobody takes lines any more."""
        with suppress(OSError, ValueError):
            if self._stopped in select.select([self._source, self._stopped], [], [])[0]:
                return None
        with suppress(OSError):
            return os.read(self._source, 4096)
        return b""

    def _deliver(self, text: str | None) -> bool:
        """Wait until the mailbox takes the line; return whether it did."""
        is_put = threading.Event()
        try:
            self._loop.call_soon_threadsafe(self._put, Line(text), is_put)
        except RuntimeError:  # the loop is closed
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
"""Words that mean nothing without a match, as do `say` and the claims."""
_LEAVING = ("quit", "q", "exit", "leave", "bye")
_RULES = ("rules", "?")
_OTHERS = ("rules", "accept", "decline", "new", "say", "help", "repeat", "board", "info", "choose", "more")
_ACCEPTED = {"rematch": Command.REMATCH, "draw": Command.DRAW, "takeback": Command.TAKE_BACK}
"""The commands that accept an offer: an offer of the same kind accepts the opponent's."""
CLAIMS: dict[str, messages.ClaimKind] = {"claim": "win", "claim win": "win", "claim draw": "draw", "adjourn": "adjourn"}


def word_of(line: str) -> str:
    """Return the line as a normalized word."""
    return clean(line, MAX_WORD_CELLS).lower()


def command_of(line: str, display: Display, wanted: messages.SeekRequest) -> Meaning:
    """Return the command of a line; `wanted` is the last seek, which a line without details repeats."""
    word, _, rest = clean(line, 2 * MAX_SAID_CELLS).partition(" ")
    word, rest, whole = word.lower(), rest.strip(), word_of(line)
    if display.page.screen == "replay" and (step := _step(whole, display.page.ply)) is not None:
        return step
    if display.page.screen == "guess" and (guessing := guess_words(display).get(whole)) is not None:
        return guessing
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
    """Return the ply of a word in a replay; a number means the position after that move."""
    is_number = word.isdecimal() and word.isascii()
    return Step(int(word) - ply) if is_number else OF_A_REPLAY.get(word)


def _said(display: Display, text: str) -> AnyCommand | str:
    """Return the chat message of a line: a phrase, or any words if the host allows it."""
    phrase = phrase_of(text)
    said = chat(display, phrase=phrase) if phrase is not None else chat(display, text=clean(text, MAX_SAID_CELLS))
    if not said:
        return "Type say and your words, while there is a match."
    if phrase is None and not (text and display.world.may_write):
        words = "your words, or " if display.world.may_write else ""
        return f"Type say and {words}one of these: {', '.join(map(phrase_in_words, PHRASES))}."
    return Send(said[0])


def _is_like_a_move(word: str, display: Display) -> bool:
    """Return whether a word may be a move; while the moves are unknown, any word with a digit may."""
    if display.match is None:
        return word == "swap" or any(map(str.isdecimal, word))
    is_named = word in (name.lower() for name in display.match.game.move_names)
    return is_named or (word.isdecimal() and bool(quick_moves(display.match)))


def _unknown(word: str, display: Display) -> AnyCommand | str:
    """Suggest the nearest known word; if there is none and it is our turn, list the legal moves."""
    if word in OF_A_REPLAY:
        return f"{word} is for a replay; once a match is over, replay begins one."
    steps = OF_A_REPLAY if display.page.screen == "replay" else ()
    near = get_close_matches(word, (*OF_A_MATCH, *CLAIMS, *_LEAVING, *_OTHERS, *WORDS, *steps), n=1)
    if near:
        return f'I don\'t know "{word}". Did you mean {near[0]}?'
    return Move(word) if display.may_move else f'I don\'t know "{word}". Type help to see the words that you can type.'


def _answered(display: Display, name: str, *, is_accepted: bool) -> AnyCommand | str:
    """Answer an offer in the match first, then the oldest challenge, or the challenge of a named player."""
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
    return Send(messages.AnswerRequest(0, challenge=chosen.challenge, accept=is_accepted))


class PendingReplies:
    """Tracks requests until their results arrive."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._due: type[messages.ServerMessage] | None = None
        """The reply that the server has promised but not sent yet."""
        self._is_brief = False
        """Whether the requested analysis is only for a lesson."""

    def note(self, event: WorldEvent) -> None:
        """Update the pending replies after an answer or event of the server."""
        # the complete one follows
        is_first = isinstance(event, messages.AnalysisReply) and event.partial and not self._is_brief
        if self._due is not None and isinstance(event, (self._due, messages.Welcome)) and not is_first:
            self._due = None
        if isinstance(event, messages.TournamentReply) and event.tournament == self._controller.display.world.joined:
            self._due = None  # the code was that of a tournament, where a match begins later
        if isinstance(event, messages.ChallengeAccepted):
            self._due = messages.Snapshot
        if isinstance(event, Answered) and isinstance(event.answer, messages.Ok):
            self._due = _promised(event.request) or self._due
            self._is_brief = isinstance(event.request, messages.AnalyseRequest) and event.request.brief

    @property
    def is_answer_due(self) -> bool:
        """Whether a requested reply, a move, or the end after a move is still due."""
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
        is_coming = self._due is messages.Snapshot or (display.world.watching is not None and display.match is None)
        return display.world.link is not LinkState.ONLINE or self._controller.is_to_go_on or is_offered or is_coming


def _promised(request: messages.Request) -> type[messages.ServerMessage] | None:
    """Return the message that follows the `ok` to a request, if any."""
    match request:
        case (
            messages.AcceptRequest()
            | messages.JoinRequest()
            | messages.AnswerRequest(accept=True)
            | messages.WatchRequest()
            | messages.ResumeRequest()
        ):
            return messages.Snapshot
        case messages.InviteRequest():
            return messages.InvitationReply
        case messages.ChallengeRequest():
            return messages.Challenged
        case messages.RulesRequest():
            return messages.RulesReply
        case messages.HintRequest():
            return messages.HintReply
        case messages.PuzzleRequest():
            return messages.PuzzleReply
        case messages.StudyRequest():
            return messages.StudyReply
        case messages.ResignRequest() | messages.AbortRequest():
            return messages.Ended
        case _:
            return next((each.reply for each in ACTIONS if isinstance(request, each.request)), None)


MAX_HELD_LINES = 4096
_OF_ANY_TIME = ("help", "repeat", "more")
OF_NO_MATCH = (*_OF_ANY_TIME, *_RULES, *_LEAVING)
"""Words that need no match, in addition to those of the lobby."""


class InputQueue:
    """Queued lines, in order. A move waits until it is our turn; a person's other lines may overtake it.

    Lines of a program or a file never overtake each other. Each also waits for the answer to the previous one, and for
    a connection and a match if it needs them; a hint waits for our turn, as a move does. `meaning` returns the command
    of a line.
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
        """The first word of the first line; empty without lines."""
        return first_word(self._lines[0]) if self._lines else ""

    @property
    def are_done(self) -> bool:
        """Whether no line is left and nothing requested by one is pending."""
        return not self._lines and not self._is_answer_due

    def keep(self, line: str) -> str:
        """Append a line; return the notice about it, if any."""
        if len(self._lines) >= MAX_HELD_LINES:
            return f"{clean(line, 20)} is left out: {MAX_HELD_LINES} lines wait already."
        self._lines.append(line)
        return (
            f"It is not your turn; {clean(line, 20)} waits for it." if self._is_typed and self._is_early(line) else ""
        )

    def take(self) -> str | None:
        """Remove and return the next line that is due; only a person's lines may overtake others."""
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
        is_for_our_turn = (is_move and display.page.screen != "guess") or (word == "hint" and not self._is_typed)
        return is_for_our_turn and not display.may_move and self._pending.is_turn_to_come

    def _needs_link(self, line: str) -> bool:
        """Tell whether a line has to wait for a connection; only leaving never does."""
        display = self._controller.display
        return (
            display.has_lobby
            and display.world.link is not LinkState.ONLINE
            and self._meaning(line) is not Command.LEAVE
        )


def first_word(line: str) -> str:
    """Return the first word of a line."""
    return word_of(line).partition(" ")[0]
