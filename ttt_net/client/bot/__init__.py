"""Strategies as ordinary players, with their search in a separate process."""
