"""The start menu line by line, after a search of two seconds."""

from collections.abc import Callable
from dataclasses import replace

from ttt_net.client.command_line.named import checked_game
from ttt_net.client.finding.address import DEFAULT_URL, Alone, Go, LookOn, Place, Together
from ttt_net.client.finding.local_choices import OPPONENTS, ORDERS, LocalChoices, read_names
from ttt_net.client.finding.menu_controller import Answer
from ttt_net.client.finding.server_list import Destination, ServerList, explanation, read_place
from ttt_net.client.finding.server_search import search_for_a_moment
from ttt_net.client.screens.rules import told
from ttt_net.errors import ConfigurationError
from ttt_net.games.catalogue import NAMES
from ttt_net.messages import RulesReply, RulesRequest
from ttt_net.text import clean

Search = Callable[[LocalChoices], ServerList]
_LEARN = "rules GAME tells how a game is played."


class LineMenu:
    """Asks a person by `ask`, which raises `EOFError` if there is nobody to answer, and tells them by `write`."""

    def __init__(
        self, ask: Callable[[str], str], write: Callable[[str], None], answer: Answer, *, has_drawings: bool = True
    ) -> None:
        """`has_drawings`: whether an example is drawn, besides being told."""
        self._ask, self._write, self._answer = ask, write, answer
        self._has_drawings = has_drawings

    def choose(self, choices: LocalChoices, search: Search = search_for_a_moment) -> tuple[Place, LocalChoices]:
        """Search for two seconds, print what there is with numbers, and return where to go and what was chosen."""
        self._write("Looking for servers on this network, for two seconds ...")
        servers = search(choices)
        for line in server_lines(servers):
            self._write(line)
        rows = numbered(servers)
        while True:
            answer = self._ask("A number, an address or a code, or Enter for 1: ").strip() or "1"
            try:
                if answer.partition(" ")[0].lower() in ("rules", "learn"):
                    self._explain(answer.partition(" ")[2], choices)
                    continue
                if not (answer.isdecimal() and answer.isascii()):
                    return read_place(servers, answer), choices
                if not 1 <= int(answer) <= len(rows):
                    raise ConfigurationError(f"{clean(answer, 10)} is none of the numbers, 1 to {len(rows)}")
                return self._taken(rows[int(answer) - 1], choices)
            except ConfigurationError as error:
                self._write(f"{error}.")

    def _taken(self, row: Destination, choices: LocalChoices) -> tuple[Place, LocalChoices]:
        """Return where a row leads; of a match at this keyboard, after it was asked what is to be played."""
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

    def _explain(self, typed: str, choices: LocalChoices) -> None:
        game = choices.in_game(checked_game(typed)).game if typed else choices.game
        for reply in self._answer(RulesRequest(0, game=game)):
            if isinstance(reply, RulesReply):
                self._write(told(reply, has_drawing=self._has_drawings))
        self._write(f"Others: {', '.join(NAMES)}.")


def read_choices(choices: LocalChoices, text: str) -> LocalChoices:
    """Return the choices with what was typed: a game, a level, who begins, an opponent, or two names with a comma.

    Raises `ConfigurationError` for anything else.
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
        elif word in OPPONENTS:
            bots.append(word)
        elif word not in ("level", "and"):
            rest.append(word)
    if len(bots) == 2:
        choices = replace(choices, watched=(bots[0], bots[1]))
    elif bots:
        choices = replace(choices, strategy=bots[0])
    return choices.in_game(checked_game(" ".join(rest))) if rest else choices


def numbered(servers: ServerList) -> list[Destination]:
    """Return the destinations that have a number where there are only lines: all but the one for typing."""
    return [each for each in servers.destinations if each.url is not None or each.does is not None]


def server_lines(servers: ServerList) -> list[str]:
    """Return the menu where there are only lines: each destination with the number that chooses it."""
    lines = [] if servers.has_found else explanation(servers)
    for number, each in enumerate(numbered(servers), start=1):
        lines.append(f"{number}. {each.name}, {each.detail.replace('  ', ', ')}")
    return [*lines, f"Or: {_LEARN}"]
