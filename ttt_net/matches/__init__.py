"""Matches: their events, the decisions on requests, and their state as clients hear it. Knows no socket and no disk."""
