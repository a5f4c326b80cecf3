"""Where a server is: addresses, what announces itself, what was used before, and a person who chooses."""
