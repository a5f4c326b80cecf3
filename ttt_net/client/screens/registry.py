"""List all screens, and delegate to the visible one. Add new screens here."""

from ttt_net.client.display import AnyCommand, Display
from ttt_net.client.screens.guess_screen import GUESS
from ttt_net.client.screens.lobby_screen import LINES_HELP, lobby_screen
from ttt_net.client.screens.match_screen import MATCH
from ttt_net.client.screens.offers import GAMES, INVITATION
from ttt_net.client.screens.people import BLOCKS, HISTORY, LEADERS, PROFILE, REPORT
from ttt_net.client.screens.puzzle import PUZZLE
from ttt_net.client.screens.replay_screen import REPLAY
from ttt_net.client.screens.rules_screen import RULES_PAGE
from ttt_net.client.screens.screen import Row, Screen, Word, command_on_list
from ttt_net.client.screens.start_menu import CHOOSE_GAME, LEARN, SETUP, START
from ttt_net.client.screens.tournament_screen import CORRECT, END, ORGANISE, REMOVE, TOURNAMENT, TOURNAMENTS, WITHDRAW

_BESIDES = (
    *(GAMES, INVITATION, PROFILE, HISTORY, LEADERS, REPORT, BLOCKS, MATCH, REPLAY, GUESS, PUZZLE, RULES_PAGE),
    *(TOURNAMENT, TOURNAMENTS, WITHDRAW, ORGANISE, END, REMOVE, CORRECT),
    *(START, SETUP, CHOOSE_GAME, LEARN),
)
LOBBY = lobby_screen([each.entrance for each in _BESIDES if each.entrance is not None])
SCREENS: dict[str, Screen] = {each.name: each for each in (LOBBY, *_BESIDES)}
"""Each screen by its name."""
WORDS: dict[str, Word] = {word: meaning for each in SCREENS.values() for word, meaning in each.words.items()}
"""The words of the lobby in lines mode, with their meanings."""
_USAGES = [each.usage for each in SCREENS.values() if each.usage]
HELP = f"{LINES_HELP}\n{', '.join([*_USAGES, 'quit'])}."
"""The help of the lobby in lines mode."""
_ASKING = ", ".join(usage.partition(" ")[0].rstrip(",") for usage in _USAGES)
ALSO = f"Of the lobby: who, matches, watch, {_ASKING}; choose and a number takes what a list has."
"""The help for further words in a match."""


def screen_of(display: Display) -> Screen:
    """Return the visible screen."""
    return SCREENS[display.page.screen]


def rows_of(display: Display, now_ms: int) -> list[Row]:
    """Return the rows of the visible screen; empty if it is not a list."""
    return screen_of(display).rows(display, now_ms)


def command_on_screen(key: str, display: Display) -> AnyCommand | None:
    """Return the command of a key on the visible screen, or None."""
    screen = screen_of(display)
    return screen.command(key, display) if screen.command is not None else command_on_list(key, display, screen.keys)
