"""What can be typed where there are only lines: each word and what it does, whatever is on the page."""

from ttt_net.client.actions import Action, Do, Move, Say
from ttt_net.client.changes.act_chat import chat
from ttt_net.client.view import View
from ttt_net.messages import Answer, ClaimKind
from ttt_net.text import clean

MAX_SAID_CELLS = 140
_WORDS = {
    "rematch": Do.REMATCH,
    "resign": Do.RESIGN,
    "draw": Do.DRAW,
    "takeback": Do.TAKE_BACK,
    "mute": Do.MUTE,
    "new": Do.NEW,
    **dict.fromkeys(("quit", "q", "exit", "leave", "bye"), Do.LEAVE),
}
_ACCEPTED = {"rematch": Do.REMATCH, "draw": Do.DRAW, "takeback": Do.TAKE_BACK}
"""Who accepts an offer offers the same."""
CLAIMS: dict[str, ClaimKind] = {"claim": "win", "claim win": "win", "claim draw": "draw", "adjourn": "adjourn"}


def action_of(line: str, view: View) -> Action | str | None:
    """Return what a line means: an action, a sentence that says why it means nothing now, or None if it is empty."""
    word, _, rest = clean(line, 2 * MAX_SAID_CELLS).partition(" ")
    match word.lower():
        case "":
            return None
        case "accept" if not rest:
            return _answered(view, is_accepted=True)
        case "decline" if not rest:
            return _answered(view, is_accepted=False)
        case "say":
            said = chat(view, text=clean(rest, MAX_SAID_CELLS)) if rest else ()
            return Say(said[0]) if said else "Type say and your words, while there is a match."
        case _:
            whole = clean(line, 20).lower()
            return _WORDS.get(whole) or Move(whole)


def _answered(view: View, *, is_accepted: bool) -> Action | str:
    """Answer what waits for an answer: an offer in the match first, then the oldest challenge."""
    offers = view.match.offers if view.match is not None else []
    theirs = next((offer for offer in offers if view.match is not None and offer.side != view.match.you), None)
    if is_accepted and theirs is not None:
        return _ACCEPTED[theirs.kind]
    if not is_accepted and offers:
        return Do.DECLINE
    if view.challenge is not None:
        return Say(Answer(0, challenge=view.challenge.challenge, accept=is_accepted))
    return "Nothing waits for your answer."
