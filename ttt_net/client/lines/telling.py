"""How a match is told line by line: here with boards, for pipes and plain terminals; `speech` tells it for the ear."""

from dataclasses import replace
from typing import Protocol

from ttt_net.client import page_words, words
from ttt_net.client.bindings.lobby_words import challenges
from ttt_net.client.drawing.board import FORMS, draw_board
from ttt_net.client.drawing.glyphs import Glyphs
from ttt_net.client.view import Link, Overlay, View
from ttt_net.messages import Challenged, PlayerInfo

YES = {"rematch": "rematch", "draw": "draw", "takeback": "takeback"}
"""What is typed to accept an offer."""
NO, CLAIM = "decline", "claim"
QUESTION = "This ends the match. Type quit again to leave, anything else to stay."
_FIRST = "Type a cell, such as 5 or b2; help tells what else."
_NEXT = "Type rematch, new or quit; help tells what else."
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
        parts = {"link": link(view), "notice": words.notice(view), **around(view)}
        if match is not None:
            parts["players"] = words.pairing(match)
            parts["board"] = self._board(view)
            parts["offers"] = words.offers(match, YES, NO)
            parts["absence"] = words.absence(match, match.away.claim_in_ms if match.away else None, CLAIM)
        if view.pending is None:
            parts["status"] = status(view)
        if match is not None and match.you is not None:
            parts["next"] = _FIRST if match.outcome is None else _NEXT
        elif match is None:
            parts["next"] = meanwhile(view)
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


def around(view: View) -> dict[str, str]:
    """Return what of the others matters at any time: challenges, whom we look for, and which bots would play us."""
    ours = next(iter(challenges(view, is_ours=True)), None)
    parts = {"challenge": _challenge(view), "challenged": _challenged(ours)}
    return {**parts, "sought": _sought(view), "suggestion": _suggestion(view)}


def link(view: View) -> str:
    """Return what is the matter with the link; the same however often it is tried."""
    if view.link is Link.LOST:
        return f"The link is lost; {'your match is safe' if view.is_live else 'please wait'}."
    if view.link is Link.CONNECTING:
        return f"No answer from {view.address} yet." if view.attempt else f"Connecting to {view.address}."
    return ""


def status(view: View) -> str:
    """Return in one sentence what is the matter now."""
    if view.match is not None:
        return words.result(view.match) or words.status(view)
    if view.seeking is not None or view.link is not Link.ONLINE:
        return ""
    return "You are in the lobby, and look for nobody." if view.has_lobby else "Connected."


def _challenge(view: View) -> str:
    waiting = view.challenge
    return f"Type accept to play {words.label_of(waiting.by)}, or decline." if waiting is not None else ""


def _challenged(ours: Challenged | None) -> str:
    if ours is None:
        return ""
    wanted = page_words.terms(ours.game, ours.time, is_rated=ours.rated)
    return f"You challenge {words.label_of(ours.to)}: {wanted}. Type stop to take it back."


def _suggestion(view: View) -> str:
    suggestion = view.around.suggestion
    if view.seeking is None or suggestion is None or not suggestion.bots:
        return ""
    bot = suggestion.bots[0]
    name = words.full_label(PlayerInfo(bot.name, bot.bot, bot.level))
    others = len(suggestion.bots) - 1
    if not others:
        return f"Nobody else waits yet. {name} would play you: type bot, or wait on."
    more = f"{others} more bot{'s' * (others > 1)}"
    return f"Nobody else waits yet. {name} and {more} would play you: type bot, bots to choose one, or wait on."


def _sought(view: View) -> str:
    if view.seeking is None or view.is_live or view.link is not Link.ONLINE:
        return ""
    return f"{page_words.sought(view.seeking).removesuffix(' ...')}."


def meanwhile(view: View) -> str:
    """Return what can be done in the lobby, while one waits or does not."""
    if not view.has_lobby or view.link is not Link.ONLINE:
        return ""
    if view.seeking is not None:
        return "Meanwhile type who, games, bot, invite, matches or stop; help tells more."
    return "Type play to find an opponent, bot to play one, or who to hear who is here; help tells more."
