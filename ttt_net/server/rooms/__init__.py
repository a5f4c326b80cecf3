"""Rooms: one match each, with the sessions that hear it."""
