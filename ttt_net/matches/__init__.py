"""Matches: their events, the decisions on requests, and their state as sent to clients. Knows no socket and no disk."""
