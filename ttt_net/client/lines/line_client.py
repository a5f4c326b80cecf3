"""Play line by line, in pipes, dumb terminals and screen readers: plain text in and out, without escape sequences.

`LineMenu` prints the start menu, after searching for servers for two seconds.
"""

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from ttt_net.client import words
from ttt_net.client.act import act, opened
from ttt_net.client.address import DEFAULT_URL, Alone, Go, LookOn, Place, Together
from ttt_net.client.client_controller import Answer, Controller
from ttt_net.client.display import (
    AnyCommand,
    Choose,
    Command,
    Display,
    More,
    Move,
    Open,
    Overlay,
    Page,
    Send,
    claims_in,
)
from ttt_net.client.lines.line_renderer import (
    LET_WAIT,
    SERVE_ON,
    BoardRenderer,
    LineRenderer,
    ScreenReader,
    news_of,
    puzzle_told,
    stayed,
    stopped,
)
from ttt_net.client.lines.typed_lines import (
    CLAIMS,
    OF_A_MATCH,
    OF_NO_MATCH,
    InputQueue,
    NumberedMenu,
    PendingReplies,
    are_numbers_moves,
    command_of,
    line_reader,
    word_of,
)
from ttt_net.client.mailbox import (
    Clicked,
    Event,
    Focused,
    Key,
    Line,
    LocalNotice,
    Pasted,
    ReachableAt,
    Resized,
    WorldEvent,
    delivered,
)
from ttt_net.client.named import checked_game, game_meant
from ttt_net.client.options import Options
from ttt_net.client.remembered import CALLED, OPPONENTS, ORDERS, Achievements, LocalChoices, read_names
from ttt_net.client.saved_matches import save_record
from ttt_net.client.screens.guess_screen import GUESS, guess_words, is_asked, question, verdict
from ttt_net.client.screens.puzzle import PUZZLE
from ttt_net.client.screens.registry import ALSO, HELP, WORDS, screen_of
from ttt_net.client.screens.replay_screen import REPLAYS, is_position_missing
from ttt_net.client.screens.replay_screen import WORDS as OF_A_FINISHED_MATCH
from ttt_net.client.screens.rules_screen import told
from ttt_net.client.screens.screen import ListQuery, Meaning
from ttt_net.client.server_search import (
    Destination,
    ServerList,
    explanation,
    read_place,
    search_for_a_moment,
    shareable,
)
from ttt_net.client.update import update
from ttt_net.client.user_io import columns_of_terminal, glyphs_of, writer_of
from ttt_net.client.world import LinkState
from ttt_net.errors import ConfigurationError
from ttt_net.games.catalogue import NAMES
from ttt_net.messages import (
    ChatRequest,
    ClaimKind,
    InvitationReply,
    Ok,
    PuzzleReply,
    RecordReply,
    RulesReply,
    RulesRequest,
    SeekRequest,
    Snapshot,
    UnseekRequest,
    WatchRequest,
    Welcome,
)
from ttt_net.sdk.received import Answered, Back, Stop
from ttt_net.text import clean

LEAVE_S = 2.0
_OF_ONE_MATCH = ("players", "board", "status", "offers")
_AHEAD_S = 2.0
"""How long to wait for a first line that is known to be available."""


class LineClient:
    """Play without a screen: handle lines in order, and keep a move until it is our turn.

    If a program or a file writes the lines, each also waits for the answer to the previous one.
    """

    def __init__(
        self,
        controller: Controller,
        renderer: LineRenderer,
        write: Callable[[str], None],
        *,
        is_typed: bool = False,
        begin_reading: Callable[[], bool] = lambda: False,
    ) -> None:
        """`is_typed`: whether a person types the lines.

        `begin_reading` starts putting lines into the mailbox, and returns whether the first is already available. Lines
        of a program or a file are read only after the login, since another client, under another name, may have to read
        them.
        """
        self._controller = controller
        self._is_typed = is_typed
        self._begin_reading, self._is_reading = begin_reading, False
        self._renderer = renderer
        self._write = write
        self._last: list[str] = []
        """The last printed lines, for `repeat`."""
        self._said: dict[str, str] = {}
        self._shown: str | None = None
        self._is_input_over = False
        self._menu = NumberedMenu()
        self._pending = PendingReplies(controller)
        self._input = InputQueue(controller, renderer, self._pending, self._menu, self._command_of, is_typed=is_typed)
        self._is_list_fresh = self._is_list_cut_off = False
        """Whether nothing was typed since a list was printed, and whether a match or a replay has begun since."""

    async def play(self, mailbox: asyncio.Queue[Event]) -> None:
        """Play until the server, the player or the end of the input ends the session."""
        self._tell()
        if self._is_typed:
            self._read()
        async with asyncio.TaskGroup() as group:
            link = group.create_task(self._controller.connection.run())
            while not (self._controller.is_done or (mailbox.empty() and self._is_left_alone())):
                try:
                    async with asyncio.timeout(LEAVE_S if self._controller.display.is_leaving else None):
                        event = await mailbox.get()
                except TimeoutError:
                    break
                if isinstance(event, Stop):
                    break
                is_ahead = isinstance(event, Welcome) and self._read()
                later = await self._begin_as_told(mailbox) if is_ahead else ()
                for each in (event, *later):
                    self._handle(each)
                if self._is_typed or mailbox.empty():  # otherwise handle the events of the answer first
                    self._take_lines()
            link.cancel()

    def _read(self) -> bool:
        """Begin to read lines if not begun; return whether the first line of a program or a file is available."""
        if self._is_reading:
            return False
        self._is_reading = True
        return self._begin_reading() and not self._is_typed and self._controller.display.has_lobby

    async def _begin_as_told(self, mailbox: asyncio.Queue[Event]) -> Sequence[Event]:
        """Wait for the first line, and do not seek an opponent if that line needs no match.

        Returns the events that arrived before it, to be handled later.
        """
        later: list[Event] = []
        with suppress(TimeoutError):
            async with asyncio.timeout(_AHEAD_S):
                while not isinstance(event := await mailbox.get(), Line | Stop):
                    later.append(event)
            if isinstance(event, Stop):
                self._controller.do(Command.LEAVE)
            self._handle(event)
            if self._input.next_word in (*WORDS, *OF_NO_MATCH):
                self._controller.hold_search()
        return later

    def _is_left_alone(self) -> bool:
        """Tell whether the input has ended and nothing is pending."""
        display = self._controller.display
        if not self._is_input_over or not self._input.are_done:
            return False
        if display.match is None:
            return not self._pending.is_match_to_come
        return display.may_move or display.match.outcome is not None

    def _handle(self, event: Event) -> None:
        match event:
            case Line(None):
                self._is_input_over = True
            case Line(str(text)):
                if sentence := self._input.keep(text):
                    self._write(sentence)
            case Line() | Key() | Resized() | Clicked() | Pasted() | Focused() | Stop():
                return
            case _:
                self._note(event)
                if isinstance(event, InvitationReply):
                    self._note_address()
                self._controller.hear(
                    LocalNotice(save_record(event)) if isinstance(event, RecordReply) else event, _now_ms()
                )
                if isinstance(event, Back) and event.url:
                    self._note_address()
                news = news_of(event, self._controller, self._renderer)
                if news:
                    self._controller.forget_notice()  # these say more
                self._tell(news)
        self._tell_list()

    def _note_address(self) -> None:
        """Look up the address that others type to connect, before it is printed: networks change."""
        self._controller.hear(ReachableAt(shareable(self._controller.display.world.address)), _now_ms())

    def _note(self, event: WorldEvent) -> None:
        """Update the pending replies and the meaning of numbers."""
        self._pending.note(event)
        match event:
            case Answered(request, answer):
                self._menu.answered(event)
                if isinstance(request, ChatRequest) and isinstance(answer, Ok):
                    self._write("Said.")
            case Snapshot(you=int()):
                has_numbers = self._is_list_fresh or self._controller.display.page.screen == "replay"
                self._is_list_cut_off = self._is_typed and has_numbers and event.outcome is None
                self._menu.forget()
            case Welcome():
                self._menu.ask_again(self._controller)

    def _take_lines(self) -> None:
        """Carry out the lines that are due."""
        while not self._controller.display.is_leaving and (line := self._input.take()) is not None:
            self._obey(line)
            self._tell()
            self._tell_list()

    def _obey(self, line: str) -> None:
        word, display = word_of(line), self._controller.display
        was_cut_off = self._is_list_cut_off
        self._is_list_fresh = self._is_list_cut_off = False
        if was_cut_off and display.is_live and word.isdecimal():
            self._write(f"A match has begun, where {word} is a move; type it again to make it.")
        elif display.overlay is Overlay.HOSTING:
            otherwise = Command.SERVE_ON if word == SERVE_ON else Command.BACK
            self._controller.do(Command.LEAVE if self._command_of(line) is Command.LEAVE else otherwise)
        elif display.overlay is Overlay.LEAVE:
            otherwise = Command.LET_WAIT if word == LET_WAIT else Command.BACK
            self._controller.do(Command.LEAVE if self._command_of(line) is Command.LEAVE else otherwise)
        elif display.overlay is Overlay.DRAW:
            self._controller.do(Command.DRAW if word == "draw" else Command.BACK)
        elif word == "help":
            self._write(self._help())
        elif word == "repeat":
            self._write("\n".join(self._last))
        elif word == "more":
            self._write(self._menu.more())
        elif (answer := self._renderer.answer(word, self._seen, _now_ms())) is not None:
            self._write(answer)
        elif word in CLAIMS:
            self._claim(CLAIMS[word])
        else:
            self._do(self._command_of(line))

    def _claim(self, kind: ClaimKind) -> None:
        self._controller.do(Command.CLAIM)
        display = self._controller.display
        if display.overlay is not Overlay.CLAIM or display.match is None:
            return  # a notice says why not
        if kind in claims_in(display.match):
            self._controller.do(Choose(claims_in(display.match).index(kind)))
        else:
            self._controller.do(Command.BACK)
            self._write("A rated match is not adjourned; claim the win or a draw, or wait.")

    def _command_of(self, line: str) -> Meaning:
        """Return the command of a line; in a match of ours a number is a move, unless `choose` precedes it."""
        word = word_of(line)
        number = word.removeprefix("choose ")
        is_list_meant = self._menu.has_choices and not are_numbers_moves(self._controller.display)
        is_choice = number != word or is_list_meant
        if is_choice and number.isdecimal() and number.isascii():
            return self._menu.choice(int(number))
        return command_of(line, self._controller.display, self._controller.wanted)

    @property
    def _seen(self) -> Display:
        """The display to print: in a replay, the match at the shown ply."""
        display = self._controller.display
        return screen_of(display).seen(display) if display.page.screen in REPLAYS else display

    def _do(self, meaning: Meaning) -> None:
        match meaning:
            case None:
                return
            case str(sentence):
                self._write(sentence)
            case ListQuery():
                self._ask(meaning)
            case Open(page):
                self._ask(ListQuery(page))
            case More():
                self._menu.ask_further(meaning, self._controller)
            case _:
                self._act(meaning)

    def _ask(self, ask: ListQuery) -> None:
        self._menu.ask(ask, self._controller)
        if self._controller.display.world.link is LinkState.LOST:
            self._write("You will get that when the connection is back.")

    def _act(self, command: AnyCommand) -> None:
        display, has_match = self._controller.display, self._seen.match is not None
        is_lost = isinstance(command, Send) and not isinstance(command.request, SeekRequest | UnseekRequest)
        watch = command.request if isinstance(command, Send) and isinstance(command.request, WatchRequest) else None
        if is_lost and display.world.link is not LinkState.ONLINE:
            self._write("Not connected to the server; try again when the connection is back.")
        elif watch is not None and display.is_live and not display.world.has_seat(watch.match):
            self._write("You are playing; finish this match first, then watch.")
        elif isinstance(command, Move) and not has_match and command.name.isdecimal():
            self._do(self._menu.choice(int(command.name)))
        elif not has_match and command in OF_A_FINISHED_MATCH.values():
            self._write("There is no match; history lists your finished ones, to choose one by its number.")
        elif not has_match and (isinstance(command, Move) or command in OF_A_MATCH.values()):
            self._write("There is no match; play finds you an opponent.")
        else:
            self._controller.do(command)
            if sentence := stopped(display, self._controller.display) or stayed(
                display, self._controller.display, command
            ):
                self._write(sentence)
            self._answer_overlay()

    def _answer_overlay(self) -> None:
        """Answer the question of an overlay: for a watcher, mute everybody; ask a player for a full command."""
        display = self._controller.display
        if display.overlay is Overlay.MUTE:
            self._controller.do(Choose(0))
        elif display.overlay is Overlay.CHOICE and (match := self._seen.match) is not None:
            self._controller.do(Command.BACK)
            self._write(f"Which? Type {' or '.join(words.move_name(match, move) for move in display.choices)}.")

    def _help(self) -> str:
        display = self._controller.display
        if not display.has_lobby:
            return self._renderer.help_at_home
        if display.match is None:
            return HELP
        return f"{self._renderer.help}\n{ALSO if display.match.outcome is None else HELP}"

    def _tell(self, news: Sequence[str] = ()) -> None:
        """Print the news, and the parts of the display that have changed."""
        display = self._seen
        if display.shown != self._shown:  # print another match from its beginning, even between the same players
            self._shown = display.shown
            self._said = {part: text for part, text in self._said.items() if part not in _OF_ONE_MATCH}
        parts = self._renderer.parts(display)
        if is_position_missing(self._controller.display):
            parts = {**self._said, **{part: parts[part] for part in ("link", "notice")}}
        changed = {part for part, text in parts.items() if text != self._said.get(part)}
        if "board" in changed and display.may_move:
            changed.add("status")  # print whose turn it is below a redrawn board
        said = [*news, *(text for part, text in parts.items() if part in changed)]
        known = {part: text for part, text in self._said.items() if part == "tournament"}  # while it is asked for anew
        self._said = {**known, **parts, "notice": ""}  # print a repeated notice again
        self._controller.forget_notice()
        if said := [text for text in said if text]:
            self._last = said
        for text in said:
            self._write(text)

    def _tell_list(self) -> None:
        """Print the requested list, or carry out the command of its first row, once it has arrived."""
        while (found := self._menu.take(self._controller, _now_ms())) is not None:
            self._is_list_fresh = self._menu.has_choices
            self._do(found)


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000


async def tell(options: Options, controller: Controller, mailbox: asyncio.Queue[Event]) -> None:
    """Print what a controller displays, and pass it the typed lines, until it is done."""
    with delivered(mailbox), line_reader(mailbox) as begin_reading:
        client = LineClient(
            controller,
            renderer_of(options),
            writer_of(options),
            is_typed=sys.stdin.isatty(),
            begin_reading=begin_reading,
        )
        await client.play(mailbox)


def renderer_of(options: Options) -> LineRenderer:
    """Return the line renderer of the options."""
    return ScreenReader() if options.is_spoken else BoardRenderer(glyphs_of(options), columns_of_terminal)


Search = Callable[[LocalChoices], ServerList]
_LEARN, _PUZZLE, _GUESS = "rules", "puzzle", "guess"
_BESIDES = {
    _LEARN: "Learn a game, its rules, with an example",
    _PUZZLE: "Puzzle of the day, find the one good move",
    _GUESS: "Guess the moves, of a match of strong bots",
}
"""Entries that are numbered after the destinations, by the word that does the same."""
_QUESTION = "A number, an address or a code, or Enter for 1: "
_NOT_FOUND = "No server was found on this network; help explains why, and what can be typed."
_HELP = (
    "A number takes its row; Enter takes the first.",
    "connect4, or connect4 6 second: that game against the computer, its level, and who begins.",
    "rules GAME: how it is played. puzzle, then solve MOVE. guess. quit.",
)
_BY_NAME = {name.lower(): strategy for strategy, name in CALLED.items()}
"""The strategies, by the names used for watching two of them."""
_LEAVING = ("quit", "q", "exit", "leave", "bye")


class LineMenu:
    """Asks the person with `ask`, which raises `EOFError` at the end of the input, and prints with `write`."""

    def __init__(
        self,
        ask: Callable[[str], str],
        write: Callable[[str], None],
        answer: Answer,
        renderer: LineRenderer,
        achieved: Achievements,
    ) -> None:
        """`achieved` are the puzzles that were solved before."""
        self._ask, self._write, self._answer = ask, write, answer
        self._renderer = renderer
        self._display = Display(achieved=achieved)

    @property
    def achieved(self) -> Achievements:
        """The puzzles that were solved before or in this menu."""
        return self._display.achieved

    def choose(self, choices: LocalChoices, search: Search = search_for_a_moment) -> tuple[Place | None, LocalChoices]:
        """Search for two seconds, print a numbered list, and return the chosen place and options.

        The place is None if the person leaves.
        """
        self._write("Looking for servers on this network, for two seconds ...")
        servers = search(choices)
        for line in server_lines(servers):
            self._write(line)
        rows: list[Destination | str] = [*numbered(servers), *_BESIDES]
        while True:
            answer = self._ask(_QUESTION).strip() or "1"
            try:
                if answer.isdecimal() and answer.isascii():
                    if not 1 <= int(answer) <= len(rows):
                        raise ConfigurationError(f"{clean(answer, 10)} is none of the numbers, 1 to {len(rows)}")
                    row = rows[int(answer) - 1]
                    if isinstance(row, Destination):
                        return self._taken(row, choices)
                    answer = row
                if answer.lower() in _LEAVING:
                    return None, choices
                if self._is_told(answer, servers, choices):
                    continue
                if game_meant(answer.split()[0]) is not None:
                    choices = read_choices(choices, answer)
                    return choices.alone, choices
                return read_place(servers, answer), choices
            except ConfigurationError as error:
                self._write(f"{str(error).removeprefix('--game: ')}.")

    def _taken(self, row: Destination, choices: LocalChoices) -> tuple[Place, LocalChoices]:
        """Return the destination of a row; for a match at this keyboard, ask for its choices first."""
        match row.does:
            case Alone():
                question = f"Enter plays {row.detail}. Or say what else, as: connect4 6 second. "
                choices = self._changed(choices, question)
                return choices.alone, choices
            case Together():
                question = f"Enter plays {choices.title} as {' and '.join(choices.names)}. Or a game, or two names: "
                choices = self._changed(choices, question)
                return choices.together, choices
            case LookOn():
                choices = self._changed(choices, f"Enter shows {row.detail}. Or a game, or two bots: ")
                return choices.looking_on, choices
            case _:
                return row.does or Go(row.url or DEFAULT_URL), choices

    def _changed(self, choices: LocalChoices, question: str) -> LocalChoices:
        while True:
            try:
                return read_choices(choices, self._ask(question))
            except ConfigurationError as error:
                self._write(f"{error}.")

    def _is_told(self, line: str, servers: ServerList, choices: LocalChoices) -> bool:
        """Answer an inquiry that leads to no destination; return whether the entry was one."""
        word, _, rest = line.partition(" ")
        match word.lower():
            case "help" | "?":
                for sentence in (*explanation(servers), *_HELP):
                    self._write(sentence)
            case "rules" | "learn":
                self._explain(rest, choices)
            case "puzzle" | "solve" | "mistakes":
                self._ask_puzzle(word.lower(), rest.strip())
            case "guess":
                self._guess_moves()
            case _:
                return False
        return True

    def _ask_puzzle(self, word: str, rest: str) -> None:
        """Print the puzzle of the day, or the result of an answer to it."""
        meaning = PUZZLE.words[word](self._display, SeekRequest(0), rest)
        if isinstance(meaning, str):
            self._write(meaning)
        for reply in self._answer(meaning.request) if isinstance(meaning, Send) else ():
            self._display = update(self._display, reply, 0)
            for line in puzzle_told(reply, self._display, self._renderer) if isinstance(reply, PuzzleReply) else ():
                self._write(line)

    def _guess_moves(self) -> None:
        """Let the person guess the moves of matches of strong bots until they stop."""
        display, requests = opened(self._display, Page("guess"))
        while display.page.screen == "guess":
            for reply in (each for request in requests for each in self._answer(request)):
                display = update(display, reply, 0)
            board = self._renderer.answer("board", GUESS.seen(display), 0)
            for line in (words.notice(display), board, verdict(display), question(display)):
                if line:
                    self._write(line)
            meanings = guess_words(display)
            typed = self._ask(f"{'A move, ' * is_asked(display)}{', '.join(meanings)}: ").strip().lower()
            display, requests = act(display, meanings.get(typed) or Move(typed), SeekRequest(0))

    def _explain(self, typed: str, choices: LocalChoices) -> None:
        game = choices.in_game(checked_game(typed)).game if typed else choices.game
        for reply in self._answer(RulesRequest(0, game=game)):
            if isinstance(reply, RulesReply):
                self._write(told(reply, has_drawing=self._renderer.has_drawings))
        self._write(f"Others: {', '.join(NAMES)}.")


def read_choices(choices: LocalChoices, text: str) -> LocalChoices:
    """Return the choices with a typed change: a game, a level, who begins, an opponent, or two names with a comma.

    Raises `ConfigurationError` if it is anything else.
    """
    if "," in text and ":" not in text:
        return replace(choices, names=read_names(text))
    bots: list[str] = []
    rest: list[str] = []
    for word in text.lower().split():
        if word.isdecimal() and word.isascii():
            if choices.at_level(int(word)).level != int(word):
                raise ConfigurationError(f"{clean(word, 10)} is no level; 1 to 8")
            choices = choices.at_level(int(word))
        elif word in ORDERS:
            choices = replace(choices, order=next(each for each in ORDERS if each == word))
        elif word in OPPONENTS or word in _BY_NAME:
            bots.append(_BY_NAME.get(word, word))
        elif word not in ("level", "and"):
            rest.append(word)
    if len(bots) == 2:
        choices = replace(choices, watched=(bots[0], bots[1]))
    elif bots:
        choices = replace(choices, strategy=bots[0])
    return choices.in_game(checked_game(" ".join(rest))) if rest else choices


def numbered(servers: ServerList) -> list[Destination]:
    """Return the destinations that have a number in lines mode: all except the one for typing."""
    return [each for each in servers.destinations if each.url is not None or each.does is not None]


def server_lines(servers: ServerList) -> list[str]:
    """Return the menu in lines mode: each destination with the number that chooses it."""
    why = f"This network cannot be searched ({servers.blocked})." if servers.blocked else _NOT_FOUND
    rows = [f"{each.name}, {each.detail.replace('  ', ', ')}" for each in numbered(servers)]
    lines = [f"{number}. {row}" for number, row in enumerate([*rows, *_BESIDES.values()], start=1)]
    return lines if servers.has_found else [why, *lines]
