"""What a player says at a match, and whom he does not want to hear."""

from dataclasses import replace

from ttt_net.client.changes.act_match import Effect
from ttt_net.client.view import Overlay, View
from ttt_net.messages import ChatRequest, MuteRequest, Phrase, Request


def chat(view: View, *, text: str | None = None, phrase: Phrase | None = None) -> tuple[Request, ...]:
    """Return what to say at the match that is shown; nothing where there is none."""
    match = view.match
    return (ChatRequest(0, match=match.match, text=text, phrase=phrase),) if match is not None else ()


def ask_whom_to_mute(view: View) -> Effect:
    """Hear no more of the opponent, or hear him again; where one only watches, ask who of the talkers is meant."""
    match = view.match
    if match is None:
        return view, ()
    if match.you is not None:
        return _toggled(view, match.players[1 - match.you].name)
    if not view.talkers and not view.is_deaf:
        return replace(view, notice="Nobody has said anything here yet."), ()
    return replace(view, overlay=Overlay.MUTE), ()


def muted(view: View, index: int) -> Effect:
    """Mute whom the list has at that place, or hear him again: everybody comes first, then the talkers."""
    names = view.talkers
    if index > len(names):
        return view, ()
    view = replace(view, overlay=Overlay.NONE)
    if index > 0:
        return _toggled(view, names[index - 1])
    is_on = not view.is_deaf
    notice = "You hear no chat now; the same again lets you hear it." if is_on else "You hear the chat again."
    return replace(view, is_deaf=is_on, notice=notice), (MuteRequest(0, name=None, on=is_on),)


def _toggled(view: View, name: str) -> Effect:
    is_on = name not in view.muted
    notice = f"You hear no more of {name}; the same again lets you hear it." if is_on else f"You hear {name} again."
    return replace(view, muted=view.muted ^ {name}, notice=notice), (MuteRequest(0, name=name, on=is_on),)
