"""How players meet, where they sit, and what all the others are told of it."""
