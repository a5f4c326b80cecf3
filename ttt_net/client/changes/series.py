"""From a match that one watches to the next one of its series."""

from dataclasses import replace

from ttt_net.client.display import Display, Overlay
from ttt_net.client.pages import Entry, Kind
from ttt_net.messages import Rematched, Request, UnwatchRequest, WatchRequest


def is_next_to_watch(display: Display) -> bool:
    """Tell whether the match that we watch has led to another one."""
    return display.is_watched and display.match is not None and display.match.next is not None


def leads_on(display: Display, fact: Rematched) -> bool:
    """Tell whether to go on to the next match by ourselves: whoever reads or writes something is left in peace."""
    is_seen = display.page.kind is Kind.MATCH and display.overlay is Overlay.NONE and display.entry is Entry.MOVE
    return is_seen and display.world.watching == display.shown == fact.match and is_next_to_watch(display)


def followed(display: Display) -> tuple[Display, tuple[Request, ...]]:
    """Ask for the next match in place of the one that is watched; a private series keeps its code."""
    match = display.match
    if match is None or match.next is None:
        return display, ()
    heard = (UnwatchRequest(0, match=match.match),) if display.world.watching == match.match else ()
    display = replace(display, left=None, world=replace(display.world, watching=match.next))
    return display, (*heard, WatchRequest(0, match=match.next, code=display.world.watch_code))
