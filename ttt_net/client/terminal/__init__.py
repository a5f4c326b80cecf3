"""Drive the full screen of a terminal: output, keys, and the loop between."""
