"""Lessons from positions and matches in plain words: what could have been seen, what decided; knows no terminal."""
