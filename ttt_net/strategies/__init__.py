"""Minds that choose a move: one file per idea, side by side, to be compared; knows rules and nothing else."""

from ttt_net.strategies.catalogue import NAMES, find_strategy
from ttt_net.strategies.strategy import Choice, Counts, Limit, Strategy

__all__ = ["NAMES", "Choice", "Counts", "Limit", "Strategy", "find_strategy"]
