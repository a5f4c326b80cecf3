"""From a match that one watches to the next one of its series."""

from dataclasses import replace

from ttt_net.client.pages import Entry, Kind
from ttt_net.client.view import Overlay, View
from ttt_net.messages import Rematched, Request, UnwatchRequest, WatchRequest


def is_next_to_watch(view: View) -> bool:
    """Tell whether the match that we watch has led to another one."""
    return view.is_watched and view.match is not None and view.match.next is not None


def leads_on(view: View, fact: Rematched) -> bool:
    """Tell whether to go on to the next match by ourselves: whoever reads or writes something is left in peace."""
    is_seen = view.page.kind is Kind.MATCH and view.overlay is Overlay.NONE and view.entry is Entry.MOVE
    return is_seen and view.watching == view.shown == fact.match and is_next_to_watch(view)


def followed(view: View) -> tuple[View, tuple[Request, ...]]:
    """Ask for the next match in place of the one that is watched; a private series keeps its code."""
    match = view.match
    if match is None or match.next is None:
        return view, ()
    heard = (UnwatchRequest(0, match=match.match),) if view.watching == match.match else ()
    view = replace(view, watching=match.next, left=None)
    return view, (*heard, WatchRequest(0, match=match.next, code=view.watch_code))
