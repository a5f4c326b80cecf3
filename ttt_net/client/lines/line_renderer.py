"""How a match is told line by line: here with boards, for pipes and plain terminals; `speech` tells it for the ear."""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from ttt_net.client import page_words, words
from ttt_net.client.bindings.lobby_words import challenges
from ttt_net.client.drawing.board import FORMS, draw_board
from ttt_net.client.drawing.glyphs import Glyphs
from ttt_net.client.pages import Kind
from ttt_net.client.view import LinkState, Overlay, View
from ttt_net.messages import Challenged, PlayerInfo, Snapshot

YES = {"rematch": "rematch", "draw": "draw", "takeback": "takeback"}
"""What is typed to accept an offer."""
NO, CLAIM = "decline", "claim"
QUESTION = "This ends the match. Type quit again to leave, anything else to stay."
_FIRST = "Type a cell, such as 5 or b2; help tells what else."
_NEXT = "Type rematch, new or quit; help tells what else."
_SEEN = "Type replay to step through it, or stop; help tells what else."
_IN_REPLAY = "Type next, back, the number of a move, first, last or stop."
_WIDTH, _HEIGHT = 80, 60
_FORMS = tuple(form for form in FORMS if form.columns <= 3)


class LineRenderer(Protocol):
    """A way to tell a view in lines of text."""

    help: str
    """What may be typed."""

    def name_of(self, player: PlayerInfo) -> str:
        """Return how a player is called when he moves."""

    def parts(self, view: View, *, is_shared: bool) -> dict[str, str]:
        """Return all that can be said of a view, part by part, in the order in which it is said."""

    def answer(self, question: str, view: View, now_ms: int) -> str | None:
        """Return the answer to what was typed, if that is a question that this way of telling knows."""


class BoardRenderer:
    """Tells with a board after every move."""

    help = (
        "Type a move (5, b2), or: board, info, draw, takeback, resign, claim, adjourn, accept, decline, say WORDS, "
        "mute, quit, help. After the end: rematch, new, replay, analyse, save."
    )

    def __init__(self, glyphs: Glyphs, columns: Callable[[], int | None] = lambda: None) -> None:
        """`columns` returns how wide lines may be at the moment; None: as wide as they usually are."""
        self._glyphs = glyphs
        self._columns = columns

    def name_of(self, player: PlayerInfo) -> str:
        """Return the name with its bot mark."""
        return words.label_of(player)

    def parts(self, view: View, *, is_shared: bool) -> dict[str, str]:
        """Return what can be said, the board among it."""
        match = view.match
        seen = {"players": words.pairing(match), "board": self._board(view)} if match is not None else {}
        return parts_of(view, seen, status(view), _FIRST, _NEXT)

    def answer(self, question: str, view: View, now_ms: int) -> str | None:
        """Return the board once more, or what else there is to know."""
        if question == "info":
            return info(view)
        return self._board(view) if question == "board" else None

    def _board(self, view: View) -> str:
        if view.match is None:
            return "There is no match yet."
        width = self._columns() or _WIDTH
        lines = draw_board(replace(view, cursor=-1, pending=None), width, _HEIGHT, self._glyphs, _FORMS)
        return "\n".join(line.plain.rstrip() for line in lines) if lines else "The board is too large to print."


def parts_of(view: View, seen: dict[str, str], status: str, first: str, over: str) -> dict[str, str]:
    """Return all that is told of a view, in order, with what is `seen` of its match and its `status`.

    `first` says what can be typed in a match of ours, `over` after it.
    """
    match = view.match
    parts = {"link": link(view), "notice": words.notice(view), **lobby_parts(view), **seen}
    if view.page.kind is Kind.REPLAY and match is not None:
        return {**parts, "status": retold(view, match), "next": _IN_REPLAY}
    if match is not None:
        parts["offers"] = words.offers(match, YES, NO)
        parts["absence"] = words.absence(match, match.away.claim_in_ms if match.away else None, CLAIM)
    if view.pending is None:
        parts["status"] = status
    if match is None:
        parts["next"] = meanwhile(view)
    else:
        parts["after"] = after(view, match)
        if match.you is not None:
            parts["next"] = first if match.outcome is None else over
        elif match.outcome is not None:
            parts["next"] = _SEEN
    if view.overlay is Overlay.LEAVE:
        parts["question"] = QUESTION
    return parts


def lobby_parts(view: View) -> dict[str, str]:
    """Return what of the others matters at any time: challenges, whom we look for, and which bots would play us."""
    ours = next(iter(challenges(view, is_ours=True)), None)
    parts = {"challenge": _challenge(view), "challenged": _challenged(ours)}
    elsewhere = words.elsewhere(view.elsewhere, "new")
    return {**parts, "elsewhere": elsewhere, "sought": _sought(view), "suggestion": _suggestion(view)}


def after(view: View, match: Snapshot) -> str:
    """Return what the end of a match has changed: the score of its series, and the ratings."""
    if match.outcome is None:
        return ""
    said = [words.series(match)] if any(match.score) else []
    ratings = ", ".join(words.new_ratings(view, match))
    return ". ".join([*said, *[f"Ratings: {ratings}"] * bool(ratings)]) + "." * bool(said or ratings)


def info(view: View) -> str:
    """Return what else is known of the match, and the moves that were made."""
    match = view.match
    if match is None:
        return "There is no match yet."
    moves = ", ".join(words.move_name(match, move) for move in match.moves)
    return ". ".join([*words.facts(view, match), f"Moves so far: {moves}" if moves else "No move was made yet"]) + "."


def link(view: View) -> str:
    """Return what is the matter with the link; the same however often it is tried."""
    if view.link is LinkState.LOST:
        return f"The link is lost; {'your match is safe' if view.is_live else 'please wait'}."
    if view.link is LinkState.CONNECTING:
        return f"No answer from {view.address} yet." if view.attempt else f"Connecting to {view.address}."
    return ""


def status(view: View) -> str:
    """Return in one sentence what is the matter now."""
    if view.match is not None:
        return words.result(view.match) or words.status(view)
    if view.seeking is not None or view.link is not LinkState.ONLINE or view.is_arriving:
        return ""
    if view.lobby.invitation is not None:
        return "You wait for the friend who has your code."
    return "You are in the lobby, and look for nobody." if view.has_lobby else "Connected."


def retold(view: View, match: Snapshot) -> str:
    """Return where a replay is, and what an engine says of the move there."""
    return " ".join([*page_words.step(view, match).split("  "), page_words.verdict(view, match)]).rstrip()


def _challenge(view: View) -> str:
    waiting = view.challenge
    return f"Type accept to play {words.label_of(waiting.by)}, or decline." if waiting is not None else ""


def _challenged(ours: Challenged | None) -> str:
    if ours is None:
        return ""
    wanted = page_words.terms(ours.game, ours.time, is_rated=ours.rated)
    return f"You challenge {words.label_of(ours.to)}: {wanted}. Type stop to take it back."


def _suggestion(view: View) -> str:
    suggestion = view.lobby.suggestion
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
    if view.seeking is None or view.is_live or view.link is not LinkState.ONLINE:
        return ""
    return f"{page_words.sought(view.seeking).removesuffix(' ...')}."


def meanwhile(view: View) -> str:
    """Return what can be done in the lobby, while one waits or does not."""
    if not view.has_lobby or view.link is not LinkState.ONLINE or view.is_arriving:
        return ""
    if view.seeking is not None:
        return "Meanwhile type who, games, bot, invite, matches or stop; help tells more."
    return "Type play to find an opponent, bot to play one, or who to hear who is here; help tells more."
