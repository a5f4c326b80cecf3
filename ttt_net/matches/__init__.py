"""One play of a game: its facts, what may follow from a request, and how it is told. Knows no socket and no disk."""
