"""Line by line, for pipes, dumb terminals and screen readers: text out, words in, and not one escape byte."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from ttt_net.client import words
from ttt_net.client.actions import CLAIMS as CLAIM_KINDS
from ttt_net.client.actions import Action, Choose, Do, Move, Open, Say
from ttt_net.client.bindings.lobby_words import ALSO, HELP, LOBBY, Ask, Meaning
from ttt_net.client.bindings.phrasebook import CLAIMS, OF_A_FINISHED_MATCH, OF_A_MATCH, action_of, word_of
from ttt_net.client.changes.replaying import is_position_missing, seen_at
from ttt_net.client.events import Answered, Clicked, Event, Focused, Kept, Key, Line, Mail, Pasted, Resized, Stop
from ttt_net.client.lines.awaited import Awaited
from ttt_net.client.lines.held import HeldLines
from ttt_net.client.lines.news import news_of, stayed, stopped
from ttt_net.client.lines.numbered import Numbered, are_numbers_moves
from ttt_net.client.lines.telling import Telling
from ttt_net.client.pages import Kind
from ttt_net.client.seat import Seat
from ttt_net.client.terminal.keepsake import kept
from ttt_net.client.view import Link, Overlay, View
from ttt_net.messages import (
    ChatRequest,
    HistoryRequest,
    LeaderboardRequest,
    Ok,
    RecordReply,
    Refused,
    SeekRequest,
    Snapshot,
    UnseekRequest,
    WatchRequest,
    Welcome,
)

LEAVE_S = 2.0
_OF_ONE_MATCH = ("players", "board", "status", "offers")
_AHEAD_S = 2.0
"""How long a first line may take that is known to be there."""


class Plain:
    """A table without a screen: lines are taken in order, and a move waits until it is our turn.

    Where a program or a file writes them, each line also waits for the answer to the one before it.
    """

    def __init__(
        self,
        table: Seat,
        telling: Telling,
        write: Callable[[str], None],
        *,
        is_typed: bool = False,
        is_ahead: bool = False,
    ) -> None:
        """`is_typed`: whether a person types the lines; `is_ahead`: whether the first is there before we begin."""
        self._table = table
        self._is_typed = is_typed
        self._is_ahead = is_ahead and not is_typed
        self._telling = telling
        self._write = write
        self._last: list[str] = []
        """What was said last, to be repeated."""
        self._said: dict[str, str] = {}
        self._shown: str | None = None
        self._is_input_over = False
        self._numbered = Numbered()
        self._awaited = Awaited(table)
        self._held = HeldLines(table, telling, self._awaited, self._numbered, self._action_of, is_typed=is_typed)
        self._is_list_fresh = self._is_list_cut_off = False
        """Whether nothing was typed since a list was told, and whether a match has begun then, or in a replay."""

    async def play(self, mailbox: asyncio.Queue[Mail]) -> None:
        """Play until the server, the player or the end of the input says farewell."""
        self._tell()
        if self._is_ahead:
            await self._begin_as_told(mailbox)
        async with asyncio.TaskGroup() as group:
            link = group.create_task(self._table.connection.run())
            while not (self._table.is_done or (mailbox.empty() and self._is_left_alone())):
                try:
                    async with asyncio.timeout(LEAVE_S if self._table.view.is_leaving else None):
                        letter = await mailbox.get()
                except TimeoutError:
                    break
                if isinstance(letter, Stop):
                    break
                self._deal_with(letter)
                if self._is_typed or mailbox.empty():  # else what came with an answer is not heard yet
                    self._take_lines()
            link.cancel()

    async def _begin_as_told(self, mailbox: asyncio.Queue[Mail]) -> None:
        """Look for nobody unasked where the first line is a word of the lobby."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_AHEAD_S):
                letter = await mailbox.get()
            if isinstance(letter, Stop):
                self._table.do(Do.LEAVE)
                return
            self._deal_with(letter)
            if self._table.view.has_lobby and self._held.next_word in LOBBY:
                self._table.do(Say(UnseekRequest(0)))
            self._take_lines()

    def _is_left_alone(self) -> bool:
        """Tell whether nothing more will be typed, and nothing is awaited that needs no typing."""
        view = self._table.view
        if not self._is_input_over or not self._held.are_done:
            return False
        if view.match is None:
            return not self._awaited.is_match_to_come
        return view.may_move or view.match.outcome is not None

    def _deal_with(self, letter: Mail) -> None:
        match letter:
            case Line(None):
                self._is_input_over = True
            case Line(str(text)):
                if sentence := self._held.keep(text):
                    self._write(sentence)
            case Line() | Key() | Resized() | Clicked() | Pasted() | Focused() | Stop():
                return
            case _:
                self._note(letter)
                self._table.hear(Kept(kept(letter)) if isinstance(letter, RecordReply) else letter, _now_ms())
                news = news_of(letter, self._table, self._telling)
                if news:
                    self._table.forget_notice()  # they say more
                self._tell(news)
        self._tell_list()

    def _note(self, event: Event) -> None:
        """Take note of what is still to be told, and of what numbers mean."""
        self._awaited.note(event)
        match event:
            case Answered(request, Refused()):
                self._numbered.refused(request)
            case Answered(ChatRequest(), Ok()):
                self._write("Said.")
            case Snapshot(you=int()):
                has_numbers = self._is_list_fresh or self._table.view.page.kind is Kind.REPLAY
                self._is_list_cut_off = self._is_typed and has_numbers and event.outcome is None
                self._numbered.forget()
            case Welcome():
                self._numbered.ask_again(self._table)

    def _take_lines(self) -> None:
        """Carry out the lines whose time has come."""
        while not self._table.view.is_leaving and (line := self._held.take()) is not None:
            self._obey(line)
            self._tell()
            self._tell_list()

    def _obey(self, line: str) -> None:
        word, view = word_of(line), self._table.view
        was_cut_off = self._is_list_cut_off
        self._is_list_fresh = self._is_list_cut_off = False
        if was_cut_off and view.is_live and word.isdecimal():
            self._write(f"A match has begun, where {word} is a move; type it again to make it.")
        elif view.overlay is Overlay.LEAVE:
            self._table.do(Do.LEAVE if self._action_of(line) is Do.LEAVE else Do.BACK)
        elif word == "help":
            self._write(self._help())
        elif word == "repeat":
            self._write("\n".join(self._last))
        elif word == "more":
            self._write(self._numbered.more())
        elif (answer := self._telling.answer(word, self._seen, _now_ms())) is not None:
            self._write(answer)
        elif word in CLAIMS:
            self._table.do(Do.CLAIM)
            if self._table.view.overlay is Overlay.CLAIM:  # else there is a notice that says why not
                self._table.do(Choose(CLAIM_KINDS.index(CLAIMS[word])))
        else:
            self._do(self._action_of(line))

    def _action_of(self, line: str) -> Meaning:
        """Return what a line comes to; in a match of ours a number is a move, unless `choose` stands before it."""
        word = word_of(line)
        number = word.removeprefix("choose ")
        is_list_meant = self._numbered.has_choices and not are_numbers_moves(self._table.view)
        is_choice = number != word or is_list_meant
        if is_choice and number.isdecimal() and number.isascii():
            return self._numbered.choice(int(number))
        return action_of(line, self._table.view, self._table.wanted)

    @property
    def _seen(self) -> View:
        """What is told: of a match that is stepped through, how it stood there."""
        view = self._table.view
        return seen_at(view) if view.page.kind is Kind.REPLAY else view

    def _do(self, meaning: Meaning) -> None:
        match meaning:
            case None:
                return
            case str(sentence):
                self._write(sentence)
            case Ask():
                self._ask(meaning)
            case Open(page):
                self._ask(Ask(page))
            case Say(HistoryRequest() | LeaderboardRequest() as request):
                self._numbered.ask_further(request, self._table)
            case _:
                self._act(meaning)

    def _ask(self, ask: Ask) -> None:
        self._numbered.ask(ask, self._table)
        if self._table.view.link is Link.LOST:
            self._write("That is told when the link is back.")

    def _act(self, action: Action) -> None:
        view = self._table.view
        is_lost = isinstance(action, Say) and not isinstance(action.request, SeekRequest | UnseekRequest)
        watch = action.request if isinstance(action, Say) and isinstance(action.request, WatchRequest) else None
        if is_lost and view.link is not Link.ONLINE:
            self._write("There is no link to the server at the moment; try again when it is back.")
        elif watch is not None and view.is_live and not view.has_seat(watch.match):
            self._write("You play; finish this match first, then look on.")
        elif isinstance(action, Move) and view.match is None and action.name.isdecimal():
            self._do(self._numbered.choice(int(action.name)))
        elif view.match is None and action in OF_A_FINISHED_MATCH:
            self._write("There is no match; history lists your finished ones, to choose one by its number.")
        elif view.match is None and (isinstance(action, Move) or action in OF_A_MATCH.values()):
            self._write("There is no match; play finds you an opponent.")
        else:
            self._table.do(action)
            if sentence := stopped(view, self._table.view) or stayed(view, self._table.view, action):
                self._write(sentence)
            self._answer_overlay()

    def _answer_overlay(self) -> None:
        """Answer what a list over the board would ask: who looks on hears nobody any more, a player says it in full."""
        view = self._table.view
        if view.overlay is Overlay.MUTE:
            self._table.do(Choose(0))
        elif view.overlay is Overlay.CHOICE and view.match is not None:
            match = view.match
            self._table.do(Do.BACK)
            self._write(f"Which? Type {' or '.join(words.move_name(match, move) for move in view.choices)}.")

    def _help(self) -> str:
        view = self._table.view
        if view.match is None:
            return HELP if view.has_lobby else self._telling.help
        more = ALSO if view.match.outcome is None else HELP
        return "\n".join([self._telling.help, *[more] * view.has_lobby])

    def _tell(self, news: Sequence[str] = ()) -> None:
        """Write the news, and what is new in the view since the last time."""
        view = self._seen
        if view.shown != self._shown:  # another match is told from its beginning, even between the same two
            self._shown = view.shown
            self._said = {part: text for part, text in self._said.items() if part not in _OF_ONE_MATCH}
        parts = self._telling.parts(view, is_shared=self._table.is_shared)
        if is_position_missing(self._table.view):
            parts = {**self._said, **{part: parts[part] for part in ("link", "notice")}}
        said = [*news, *(text for part, text in parts.items() if text != self._said.get(part))]
        self._said = {**parts, "notice": ""}  # what is said again is meant again
        self._table.forget_notice()
        if said := [text for text in said if text]:
            self._last = said
        for text in said:
            self._write(text)

    def _tell_list(self) -> None:
        """Write the list that was asked for, or do what is first on it, once it is there."""
        while (found := self._numbered.take(self._table, _now_ms())) is not None:
            self._is_list_fresh = self._numbered.has_choices
            self._do(found)


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000
