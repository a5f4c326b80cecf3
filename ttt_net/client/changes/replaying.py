"""Stepping through a finished match: which position is seen, and which ones have to be asked for."""

from dataclasses import replace
from types import MappingProxyType

from msgspec import structs

from ttt_net.client.display import Display, ReplayState
from ttt_net.client.pages import Kind, Page
from ttt_net.messages import ReplayRequest, Request

_PAGE = 32
"""Positions that the server tells at a time."""


def begun(display: Display) -> tuple[Display, tuple[Request, ...]]:
    """Open the finished match that is on the screen at its beginning; of a live one nothing comes."""
    match = display.match
    if match is None or match.outcome is None:
        return replace(display, notice="Only a match that is over can be stepped through."), ()
    positions = (*[None] * len(match.moves), match.position)
    page = Page(Kind.REPLAY, about=match.match)
    display = replace(display, pages=(*display.pages, page), replay=ReplayState(match, positions))
    return display, (ReplayRequest(0, match=match.match),)


def stepped(display: Display, by: int) -> tuple[Display, tuple[Request, ...]]:
    """Go so many moves forward (or back), at most to the end, and ask for the positions there if they are missing."""
    replayed, page = display.replay, display.page
    if replayed is None:
        return display, ()
    ply = max(0, min(page.ply + by, len(replayed.positions) - 1))
    display = display.with_page(replace(page, ply=ply))
    if replayed.positions[ply] is not None:
        return display, ()
    return display, (ReplayRequest(0, match=page.about, ply=ply // _PAGE * _PAGE),)


def is_position_missing(display: Display) -> bool:
    """Tell whether a replay is at a position that the server has not told yet."""
    replayed, page = display.replay, display.page
    return page.kind is Kind.REPLAY and replayed is not None and replayed.positions[page.ply] is None


def seen_at(display: Display) -> Display:
    """Return the display with the match as it stood at the move of the replay; a missing position is the final one."""
    replayed = display.replay
    if replayed is None:
        return display
    ply, match = display.page.ply, replayed.match
    moves = match.moves[:ply]
    position = replayed.positions[ply] or match.position
    match = structs.replace(match, moves=moves, last=moves[-1] if moves else None, position=position, clock=None)
    return replace(
        display,
        shown=match.match,
        pending=None,
        cursor=-1,
        world=replace(display.world, matches=MappingProxyType({match.match: match})),
    )
