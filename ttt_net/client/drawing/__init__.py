"""A view as a screen of text; pure."""
