"""How a match is told line by line: here with boards, for pipes and plain terminals; `speech` tells it for the ear."""

from dataclasses import replace
from typing import Protocol

from ttt_net.client import words
from ttt_net.client.drawing.board import FORMS, draw_board
from ttt_net.client.drawing.glyphs import Glyphs
from ttt_net.client.view import Overlay, View
from ttt_net.messages import PlayerInfo

YES = {"rematch": "rematch", "draw": "draw", "takeback": "takeback"}
"""What is typed to accept an offer."""
NO, CLAIM = "decline", "claim"
QUESTION = "This ends the match. Type quit again to leave, anything else to stay."
_FIRST = "Type a cell, such as 5 or b2; help tells what else."
_NEXT = "Type rematch, new or quit."
_WIDTH, _HEIGHT = 80, 60
_FORMS = tuple(form for form in FORMS if form.columns <= 3)


class Telling(Protocol):
    """A way to tell a view in lines of text."""

    help: str
    """What may be typed."""

    def name_of(self, player: PlayerInfo) -> str:
        """Return how a player is called when he moves."""

    def parts(self, view: View, *, is_shared: bool) -> dict[str, str]:
        """Return all that can be said of a view, part by part, in the order in which it is said."""

    def answer(self, question: str, view: View, now_ms: int) -> str | None:
        """Return the answer to what was typed, if that is a question that this way of telling knows."""


class Boards:
    """Tells with a board after every move."""

    help = (
        "Type a move (5, b2), or: board, draw, takeback, resign, claim, adjourn, rematch, new, accept, decline, "
        "say WORDS, mute, quit, help."
    )

    def __init__(self, glyphs: Glyphs) -> None:
        self._glyphs = glyphs

    def name_of(self, player: PlayerInfo) -> str:
        """Return the name with its bot mark."""
        return words.label_of(player)

    def parts(self, view: View, *, is_shared: bool) -> dict[str, str]:
        """Return what can be said, the board among it."""
        match = view.match
        parts = {"banner": words.banner(view), "notice": words.notice(view), "challenge": challenge(view)}
        if match is not None:
            parts["players"] = words.pairing(match)
            parts["board"] = self._board(view)
            parts["offers"] = words.offers(match, YES, NO)
            parts["absence"] = words.absence(match, match.away.claim_in_ms if match.away else None, CLAIM)
        if view.pending is None:
            parts["status"] = words.status(view)
        if match is not None and match.you is not None:
            parts["next"] = _FIRST if match.outcome is None else _NEXT
        if view.overlay is Overlay.LEAVE:
            parts["question"] = QUESTION
        return parts

    def answer(self, question: str, view: View, now_ms: int) -> str | None:
        """Return the board once more."""
        return self._board(view) if question == "board" else None

    def _board(self, view: View) -> str:
        if view.match is None:
            return "There is no match yet."
        lines = draw_board(replace(view, cursor=-1, pending=None), _WIDTH, _HEIGHT, self._glyphs, _FORMS)
        return "\n".join(line.plain.rstrip() for line in lines) if lines else "The board is too large to print."


def challenge(view: View) -> str:
    """Return how to answer the challenge that waits for it."""
    waiting = view.challenge
    return f"Type accept to play {words.label_of(waiting.by)}, or decline." if waiting is not None else ""
