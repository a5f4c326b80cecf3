"""Several servers as one: every write of each goes into one replicated log, and all apply it in its order."""
