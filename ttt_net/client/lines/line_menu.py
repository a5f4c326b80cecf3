"""Print the start menu line by line, after searching for servers for two seconds."""

from collections.abc import Callable
from dataclasses import replace

from ttt_net.client import words
from ttt_net.client.act import act, opened
from ttt_net.client.address import DEFAULT_URL, Alone, Go, LookOn, Place, Together
from ttt_net.client.client_controller import Answer
from ttt_net.client.display import Display, Move, Page, Send
from ttt_net.client.lines.line_renderer import LineRenderer, puzzle_told
from ttt_net.client.named import checked_game, game_meant
from ttt_net.client.remembered import CALLED, OPPONENTS, ORDERS, Achievements, LocalChoices, read_names
from ttt_net.client.screens.guess_screen import GUESS, guess_words, is_asked, question, verdict
from ttt_net.client.screens.puzzle import PUZZLE
from ttt_net.client.screens.rules_screen import told
from ttt_net.client.server_search import Destination, ServerList, explanation, read_place, search_for_a_moment
from ttt_net.client.update import update
from ttt_net.errors import ConfigurationError
from ttt_net.games.catalogue import NAMES
from ttt_net.messages import PuzzleReply, RulesReply, RulesRequest, SeekRequest
from ttt_net.text import clean

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
