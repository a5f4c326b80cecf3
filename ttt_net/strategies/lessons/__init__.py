"""Lessons from positions and matches in plain words: visible chances and decisive moves. Knows no terminal."""
