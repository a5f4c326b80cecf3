"""Programs of others as players: started, held to limits, asked for moves by lines of text, and never trusted."""
