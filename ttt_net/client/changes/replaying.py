"""Stepping through a finished match: which position is seen, and which ones have to be asked for."""

from dataclasses import replace
from types import MappingProxyType

from msgspec import structs

from ttt_net.client.pages import Kind, Page, ReplayState
from ttt_net.client.view import View
from ttt_net.messages import ReplayRequest, Request

_PAGE = 32
"""Positions that the server tells at a time."""


def begun(view: View) -> tuple[View, tuple[Request, ...]]:
    """Open the finished match that is on the screen at its beginning; of a live one nothing comes."""
    match = view.match
    if match is None or match.outcome is None:
        return replace(view, notice="Only a match that is over can be stepped through."), ()
    positions = (*[None] * len(match.moves), match.position)
    lobby = replace(view.lobby, replayed=ReplayState(match, positions))
    page = Page(Kind.REPLAY, about=match.match)
    return replace(view, lobby=lobby, pages=(*view.pages, page)), (ReplayRequest(0, match=match.match),)


def stepped(view: View, by: int) -> tuple[View, tuple[Request, ...]]:
    """Go so many moves forward (or back), at most to the end, and ask for the positions there if they are missing."""
    replayed, page = view.lobby.replayed, view.page
    if replayed is None:
        return view, ()
    ply = max(0, min(page.ply + by, len(replayed.positions) - 1))
    view = view.with_page(replace(page, ply=ply))
    if replayed.positions[ply] is not None:
        return view, ()
    return view, (ReplayRequest(0, match=page.about, ply=ply // _PAGE * _PAGE),)


def is_position_missing(view: View) -> bool:
    """Tell whether a replay is at a position that the server has not told yet."""
    replayed, page = view.lobby.replayed, view.page
    return page.kind is Kind.REPLAY and replayed is not None and replayed.positions[page.ply] is None


def seen_at(view: View) -> View:
    """Return the view as if the match stood where the replay is; a position that is not there yet is the final one."""
    replayed = view.lobby.replayed
    if replayed is None:
        return view
    ply, match = view.page.ply, replayed.match
    moves = match.moves[:ply]
    position = replayed.positions[ply] or match.position
    match = structs.replace(match, moves=moves, last=moves[-1] if moves else None, position=position, clock=None)
    return replace(view, matches=MappingProxyType({match.match: match}), shown=match.match, pending=None, cursor=-1)
