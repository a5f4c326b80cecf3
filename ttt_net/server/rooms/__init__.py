"""One match and all who hear it."""
