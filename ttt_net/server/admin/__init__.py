"""Administration: a separate listener, out of the players' reach."""
