"""Rooms: one match each, with the sessions that receive its events."""
