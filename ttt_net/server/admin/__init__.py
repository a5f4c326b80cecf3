"""Administration: a listener of its own, out of the players' reach."""
