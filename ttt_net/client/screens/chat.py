"""Say something at a match, in a phrase or in words, and choose whom not to hear."""

from dataclasses import replace

from ttt_net.client.display import Display, Overlay
from ttt_net.client.screens.screen import Effect
from ttt_net.messages import MAX_NAME_CELLS, ChatRequest, MuteRequest, Phrase, Request
from ttt_net.text import clean

PHRASES: tuple[Phrase, ...] = (
    *("hello", "good_luck", "well_played", "good_game"),
    *("thanks", "sorry", "oops", "one_moment"),
)
"""What can be said with one digit, in the order of the digits."""


def phrases() -> list[str]:
    """Return each phrase with its digit."""
    return [f"{number} {phrase_in_words(phrase)}" for number, phrase in enumerate(PHRASES, start=1)]


def phrase_in_words(phrase: Phrase) -> str:
    """Return a phrase as it is typed."""
    return phrase.replace("_", " ")


def phrase_of(text: str) -> Phrase | None:
    """Return the phrase that was typed in full, whatever the case and the marks at its end; None for other words."""
    typed = text.strip(" .!").lower()
    return next((phrase for phrase in PHRASES if phrase_in_words(phrase) == typed), None)


def whom_to_mute(display: Display) -> list[str]:
    """Return whom one can mute, each with the digit for it: everybody, then those who have talked."""
    names = [f"{number}: {clean(name, MAX_NAME_CELLS)}" for number, name in enumerate(display.talkers, start=2)]
    is_muted = [name in display.muted for name in display.talkers]
    said = [f"{name} (muted)" if mute else name for name, mute in zip(names, is_muted, strict=True)]
    return ["Mute", f"1: everybody{' (muted)' * display.is_deaf}", *said]


def chat(display: Display, *, text: str | None = None, phrase: Phrase | None = None) -> tuple[Request, ...]:
    """Return what to say at the match that is shown; nothing where there is none."""
    match = display.match
    return (ChatRequest(0, match=match.match, text=text, phrase=phrase),) if match is not None else ()


def ask_whom_to_mute(display: Display) -> Effect:
    """Hear no more of the opponent, or hear them again; where one only watches, ask who of the talkers is meant."""
    match = display.match
    if match is None:
        return display, ()
    if match.you is not None:
        return _toggled(display, match.players[1 - match.you].name)
    if not display.talkers and not display.is_deaf:
        return replace(display, notice="Nobody has said anything here yet."), ()
    return replace(display, overlay=Overlay.MUTE), ()


def muted(display: Display, index: int) -> Effect:
    """Mute the player at that place of the list, or hear them again: everybody comes first, then the talkers."""
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
