"""Decide what a player may be called, and which names people would take for one another. Knows no player."""

from ttt_net.names.alike import looks
from ttt_net.names.policy import RULE, checked_name, fitting_name, is_like_an_office

__all__ = ["RULE", "checked_name", "fitting_name", "is_like_an_office", "looks"]
