"""What a player says at a match, and whom he does not want to hear."""

from dataclasses import replace

from ttt_net.client.changes.act_match import Effect
from ttt_net.client.display import Display, Overlay
from ttt_net.messages import ChatRequest, MuteRequest, Phrase, Request


def chat(display: Display, *, text: str | None = None, phrase: Phrase | None = None) -> tuple[Request, ...]:
    """Return what to say at the match that is shown; nothing where there is none."""
    match = display.match
    return (ChatRequest(0, match=match.match, text=text, phrase=phrase),) if match is not None else ()


def ask_whom_to_mute(display: Display) -> Effect:
    """Hear no more of the opponent, or hear him again; where one only watches, ask who of the talkers is meant."""
    match = display.match
    if match is None:
        return display, ()
    if match.you is not None:
        return _toggled(display, match.players[1 - match.you].name)
    if not display.talkers and not display.is_deaf:
        return replace(display, notice="Nobody has said anything here yet."), ()
    return replace(display, overlay=Overlay.MUTE), ()


def muted(display: Display, index: int) -> Effect:
    """Mute whom the list has at that place, or hear him again: everybody comes first, then the talkers."""
    names = display.talkers
    if index > len(names):
        return display, ()
    display = replace(display, overlay=Overlay.NONE)
    if index > 0:
        return _toggled(display, names[index - 1])
    is_on = not display.is_deaf
    notice = "You hear no chat now; the same again lets you hear it." if is_on else "You hear the chat again."
    return replace(display, is_deaf=is_on, notice=notice), (MuteRequest(0, name=None, on=is_on),)


def _toggled(display: Display, name: str) -> Effect:
    is_on = name not in display.muted
    notice = f"You hear no more of {name}; the same again lets you hear it." if is_on else f"You hear {name} again."
    return replace(display, muted=display.muted ^ {name}, notice=notice), (MuteRequest(0, name=name, on=is_on),)
