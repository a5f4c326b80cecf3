"""Several servers as one: all write to one replicated log, and all apply its entries in the same order."""
