"""Administration: a separate listener that players cannot reach."""
