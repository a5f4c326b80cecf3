"""List what can be asked of a match that is over: the one place to add another."""

from dataclasses import replace

from ttt_net.client.commands import AnyCommand, Change
from ttt_net.client.display import Display
from ttt_net.client.screens import analysis, replay
from ttt_net.client.screens.screen import Effect, MatchAction
from ttt_net.messages import RecordReply, RecordRequest


def _save(display: Display) -> Effect:
    """Ask for the record, which the loop writes into a file."""
    if display.match is None or display.match.outcome is None:
        return replace(display, notice="Only a match that is over can be saved."), ()
    return display, (RecordRequest(0, match=display.match.match),)


SAVE = MatchAction(word="save", key="w", command=Change(_save), request=RecordRequest, reply=RecordReply)
ACTIONS: tuple[MatchAction, ...] = (replay.ACTION, analysis.ACTION, SAVE)
"""In the order in which hints and help name them."""
WORDS: dict[str, AnyCommand] = {each.word: each.command for each in ACTIONS}
"""What is typed where there are only lines."""
LINES_HELP = f"Against a bot: hint, warnings. After the end: rematch, new, {', '.join(WORDS)}; in a replay: again."
"""How the help for lines tells these words."""
