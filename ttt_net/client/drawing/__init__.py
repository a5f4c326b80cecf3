"""A display as a screen of text; pure."""
