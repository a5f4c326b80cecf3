"""The full screen of a terminal: what is written to it, what is read from it, and the loop between."""
