"""What a player does, and what comes of it: an action changes his own part of the view, or becomes requests.

The requests have id 0; the connection numbers them.
"""

from dataclasses import dataclass, replace
from enum import Enum

from ttt_net.client.events import Answered
from ttt_net.client.moves import layers_of, legal_at, quick_moves
from ttt_net.client.view import Link, Overlay, View
from ttt_net.client.words import move_name
from ttt_net.errors import Code
from ttt_net.messages import (
    Abort,
    Claim,
    ClaimKind,
    Decline,
    Offer,
    OfferKind,
    Play,
    Refused,
    Resign,
    Said,
    Seek,
)

_MAX_TYPED = 12


class Do(Enum):
    """An action that needs no more words."""

    UP = (0, -1)
    DOWN = (0, 1)
    LEFT = (-1, 0)
    RIGHT = (1, 0)
    PLACE = "place"
    MOVES = "moves"
    REMATCH = "rematch"
    DRAW = "draw"
    TAKE_BACK = "take back"
    CLAIM = "claim"
    DECLINE = "decline"
    RESIGN = "resign"
    NEW = "new"
    LEAVE = "leave"
    HELP = "help"
    ASIDE = "aside"
    BACK = "back"
    ERASE = "erase"


@dataclass(frozen=True, slots=True)
class Type:
    """More characters of what is being written."""

    text: str


@dataclass(frozen=True, slots=True)
class Choose:
    """The `index`-th of the moves that are listed to choose from, counted from 0."""

    index: int


@dataclass(frozen=True, slots=True)
class Move:
    """A move by its name, whole."""

    name: str


@dataclass(frozen=True, slots=True)
class Quick:
    """A move by one digit: the column where marks fall, the cell in reading order on a small board."""

    digit: int


@dataclass(frozen=True, slots=True)
class Point:
    """A cell was pointed at: the cursor goes there, and a mark if it may."""

    cell: int


CLAIMS: tuple[ClaimKind, ...] = ("win", "draw", "adjourn")
"""What may be claimed, in the order of the list."""
_OFFERS: dict[Do, OfferKind] = {Do.REMATCH: "rematch", Do.DRAW: "draw", Do.TAKE_BACK: "takeback"}
Action = Do | Type | Choose | Move | Quick | Point
Step = tuple[View, tuple[Said, ...]]


def act(view: View, action: Action, seek: Seek) -> Step:
    """Return the view after the action and what to say to the server; `seek` is what `Do.NEW` asks for."""
    if view.overlay is Overlay.LEAVE and action not in (Do.LEAVE, Do.PLACE):
        return replace(view, overlay=Overlay.NONE, notice=""), ()
    view = replace(view, notice="")
    match action:
        case Do.UP | Do.DOWN | Do.LEFT | Do.RIGHT:
            return _moved_cursor(view, *action.value), ()
        case Do.PLACE:
            return _leave(view) if view.overlay is Overlay.LEAVE else _place(view)
        case Do.MOVES:
            return _list_moves(view), ()
        case Do.REMATCH | Do.DRAW | Do.TAKE_BACK:
            return _offer(view, _OFFERS[action])
        case Do.CLAIM:
            return _ask_claim(view), ()
        case Do.DECLINE:
            return _decline(view)
        case Do.RESIGN:
            return _resign(view)
        case Do.NEW:
            return _new(view, seek)
        case Do.LEAVE:
            return _leave(view)
        case Do.HELP:
            return replace(view, overlay=Overlay.NONE if view.overlay is Overlay.HELP else Overlay.HELP), ()
        case Do.ASIDE:
            return replace(view, overlay=Overlay.NONE if view.overlay is Overlay.ASIDE else Overlay.ASIDE), ()
        case Do.BACK:
            return replace(view, overlay=Overlay.NONE, typed=""), ()
        case Do.ERASE:
            return replace(view, typed=view.typed[:-1]), ()
        case Type(text):
            return replace(view, typed=(view.typed + text)[:_MAX_TYPED]), ()
        case Choose(index):
            return _choose(view, index)
        case Move(name):
            return _play_named(view, name)
        case Quick(digit):
            return _play_quick(view, digit)
        case Point(cell):
            return _place(replace(view, cursor=cell, typed="", overlay=Overlay.NONE))


def answered(view: View, event: Answered) -> tuple[Said, ...]:
    """Return what to say after an answer: whoever leaves too late to call the match off resigns it."""
    is_too_late = isinstance(event.answer, Refused) and event.answer.code == Code.TOO_LATE
    if view.is_leaving and is_too_late and isinstance(event.request, Abort):
        return (Resign(0, match=event.request.match),)
    return ()


def _moved_cursor(view: View, dx: int, dy: int) -> View:
    """Move over the board as it is drawn: right of a layer comes the next, unless marks fall from layer to layer."""
    match = view.match
    if match is None:
        return view
    height, width = match.game.shape[-2:]
    layers = 1 if match.game.gravity else layers_of(match)
    z, rest = divmod(view.cursor, height * width)
    y, x = divmod(rest, width)
    column = (z * width + x + dx) % (layers * width)
    y = (y + dy) % height
    return replace(view, cursor=(column // width * height + y) * width + column % width, typed="")


def _place(view: View) -> Step:
    if view.typed:
        return _play_named(replace(view, typed=""), view.typed)
    if view.match is None:
        return view, ()
    return _one_of(view, legal_at(view.match, view.cursor), "That cell is not free.")


def _one_of(view: View, moves: tuple[int, ...], otherwise: str) -> Step:
    if not view.may_move:
        return _not_now(view), ()
    if not moves:
        return replace(view, notice=otherwise), ()
    if len(moves) == 1:
        return _play(view, moves[0])
    return replace(view, overlay=Overlay.CHOICE, choices=moves), ()


def _list_moves(view: View) -> View:
    """Show the moves that have no cell, or all of the few that there are."""
    if view.match is None or not view.may_move:
        return _not_now(view)
    legal = view.match.position.legal
    free = tuple(move for move in legal if view.match.game.move_cells[move] < 0)
    choices = free or tuple(legal)[:9]
    return replace(view, overlay=Overlay.CHOICE, choices=choices)


def _play(view: View, move: int) -> Step:
    match = view.match
    if match is None or not view.may_move:
        return _not_now(view), ()
    play = Play(0, match=match.match, ply=match.position.ply, move=move)
    cell = match.game.move_cells[move]
    view = replace(view, cursor=cell if cell >= 0 else view.cursor)
    return replace(view, pending=play, typed="", overlay=Overlay.NONE, choices=()), (play,)


def _play_named(view: View, name: str) -> Step:
    match = view.match
    if match is None or not view.may_move:
        return _not_now(view), ()
    moves = tuple(move for move in match.position.legal if match.game.move_names[move].lower() == name.lower())
    if moves:
        return _one_of(view, moves, "")
    if name.isdecimal() and len(name) == 1 and quick_moves(match):
        return _play_quick(view, int(name))
    known = name.lower() in (written.lower() for written in match.game.move_names)
    why = "is not possible now" if known else "is no move here"
    some = ", ".join(move_name(match, move) for move in match.position.legal[:9])
    return replace(view, notice=f"{name} {why}; possible: {some}{' ...' if len(match.position.legal) > 9 else ''}"), ()


def _play_quick(view: View, digit: int) -> Step:
    if view.match is None:
        return view, ()
    moves = quick_moves(view.match)
    if digit not in moves:
        return replace(view, notice=f"{digit} is no place here."), ()
    return _one_of(view, moves[digit], f"{digit} is not free.")


def _not_now(view: View) -> View:
    if view.match is None:
        return view
    if view.match.outcome is not None:
        return replace(view, notice="The match is over.")
    return replace(view, notice="Your last move is on its way." if view.pending else "It is not your turn.")


def _offer(view: View, kind: OfferKind) -> Step:
    match = view.match
    if match is None:
        return view, ()
    if kind == "rematch" and match.outcome is None:
        return replace(view, notice="A rematch can be offered when the match is over."), ()
    if kind != "rematch" and match.outcome is not None:
        return replace(view, notice="The match is over."), ()
    return view, (Offer(0, match=match.match, kind=kind),)


def _ask_claim(view: View) -> View:
    match = view.match
    if match is None or match.outcome is not None or match.away is None or match.away.side == match.you:
        return replace(view, notice="Your opponent is here; there is nothing to claim.")
    return replace(view, overlay=Overlay.CLAIM)


def _choose(view: View, index: int) -> Step:
    if view.match is not None and view.overlay is Overlay.CLAIM and index < len(CLAIMS):
        return replace(view, overlay=Overlay.NONE), (Claim(0, match=view.match.match, kind=CLAIMS[index]),)
    if view.overlay is Overlay.CHOICE and index < len(view.choices):
        return _play(view, view.choices[index])
    return view, ()


def _decline(view: View) -> Step:
    match = view.match
    if match is None or not match.offers:
        return replace(view, notice="There is no offer."), ()
    return view, tuple(Decline(0, match=match.match, kind=offer.kind) for offer in match.offers[:1])


def _resign(view: View) -> Step:
    if view.match is None or not view.is_live:
        return replace(view, notice="There is no match to resign."), ()
    return view, (Resign(0, match=view.match.match),)


def _new(view: View, seek: Seek) -> Step:
    if view.is_live:
        return replace(view, notice="Finish this match first, or leave it with q."), ()
    waiting = next((name for name, match in view.matches.items() if match.outcome is None), None)
    if waiting is not None:
        return replace(view, shown=waiting, typed="", overlay=Overlay.NONE), ()
    if view.seeking is not None:
        return view, ()
    return replace(view, seeking=seek, overlay=Overlay.NONE), (seek,)


def _leave(view: View) -> Step:
    match = view.match
    if match is None or not view.is_live:
        return replace(view, is_leaving=True), ()
    if view.overlay is not Overlay.LEAVE:
        return replace(view, overlay=Overlay.LEAVE, typed=""), ()
    if view.link is not Link.ONLINE:
        return replace(view, is_leaving=True), ()
    end = Abort(0, match=match.match) if match.position.ply < 2 else Resign(0, match=match.match)
    return replace(view, is_leaving=True, overlay=Overlay.NONE), (end,)
