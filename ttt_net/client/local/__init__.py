"""Matches at this keyboard, on a server of one's own."""
