"""List what can be asked of a match that is over: the one place to add another."""

from ttt_net.client.commands import AnyCommand
from ttt_net.client.screens import analysis, record, replay
from ttt_net.client.screens.screen import MatchAction

ACTIONS: tuple[MatchAction, ...] = (replay.ACTION, analysis.ACTION, record.ACTION)
"""In the order in which hints and help name them."""
WORDS: dict[str, AnyCommand] = {each.word: each.command for each in ACTIONS}
"""What is typed where there are only lines."""
LINES_HELP = f"Against a bot: hint, warnings. After the end: rematch, new, {', '.join(WORDS)}; in a replay: again."
"""How the help for lines tells these words."""
