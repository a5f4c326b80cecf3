"""Tournaments: their state and direction, the pairings of a round, and standings; knows no socket, clock and database.

Scores are integers in half points: a win is 2, a draw 1. Entrants are numbers assigned by the caller.
"""
