"""Ask for the record of a finished match, which the loop writes into a file."""

from dataclasses import replace

from ttt_net.client.commands import Change
from ttt_net.client.display import Display
from ttt_net.client.screens.screen import Effect, MatchAction
from ttt_net.messages import RecordReply, RecordRequest


def _save(display: Display) -> Effect:
    if display.match is None or display.match.outcome is None:
        return replace(display, notice="Only a match that is over can be saved."), ()
    return display, (RecordRequest(0, match=display.match.match),)


ACTION = MatchAction(word="save", key="w", command=Change(_save), request=RecordRequest, reply=RecordReply)
