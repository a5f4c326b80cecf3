"""External programs as players: start them, enforce limits, exchange lines of text, and never trust them."""
