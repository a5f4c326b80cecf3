"""Tournaments: pairings of a round, and standings. Pure functions; nothing of the server uses them yet.

Scores are integers in half points: a win is 2, a draw 1. Entrants are numbers that the caller gives out.
"""
