"""Draw a display as a screen of text; pure."""
